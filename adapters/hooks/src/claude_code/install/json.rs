//! Small changes to JSON text. All but the change stays as it is, byte for byte: spaces, order, numbers.

use std::fmt;
use std::ops::Range;

use serde::Serialize;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::ser::{PrettyFormatter, Serializer};
use serde_json::value::RawValue;

/// An object's members or an array's elements, each with the place of its value in the text.
pub(super) struct Container {
    /// Between the brackets.
    inside: Range<usize>,
    pub(super) entries: Vec<Entry>,
    is_object: bool,
}

pub(super) struct Entry {
    /// None in an array.
    pub(super) key: Option<String>,
    pub(super) value: Range<usize>,
}

/// Why a text can't be changed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unfit {
    #[error(
        "it is not plain JSON: {0}. Wanted: plain JSON, since from settings with comments or trailing commas the \
         client itself takes nothing"
    )]
    Syntax(String),
    #[error("{0} is not {1}")]
    Kind(&'static str, &'static str),
    #[error("it names {0:?} twice")]
    Twice(String),
    #[error("it has another server named {0}, which install did not write")]
    Taken(&'static str),
}

/// The entries of the object or array at this place.
pub(super) fn container(text: &str, place: &Range<usize>) -> Option<Result<Container, Unfit>> {
    let whole = text.get(place.clone())?;
    let (raw, is_object) = match whole.trim_start().as_bytes().first()? {
        b'{' => (serde_json::from_str::<Members<'_>>(whole).map(|Members(entries)| entries), true),
        b'[' => (
            serde_json::from_str::<Vec<&RawValue>>(whole).map(|raw| raw.into_iter().map(|raw| (None, raw)).collect()),
            false,
        ),
        _ => return None,
    };
    Some(
        raw.map_err(|error| Unfit::Syntax(error.to_string()))
            .and_then(|raw| placed(text, whole, place, raw, is_object)),
    )
}

fn placed(
    text: &str,
    whole: &str,
    place: &Range<usize>,
    raw: Vec<(Option<String>, &RawValue)>,
    is_object: bool,
) -> Result<Container, Unfit> {
    let mut entries: Vec<Entry> = Vec::with_capacity(raw.len());
    for (key, raw) in raw {
        if key.is_some() && entries.iter().any(|entry| entry.key == key) {
            return Err(Unfit::Twice(key.unwrap_or_default()));
        }
        // Each value is a piece of the text, so where it stands is a difference.
        let start = raw.get().as_ptr().addr() - text.as_ptr().addr();
        entries.push(Entry { key, value: start..start + raw.get().len() });
    }
    let start = place.start + (whole.len() - whole.trim_start().len()) + 1;
    let end = place.start + whole.trim_end().len() - 1;
    Ok(Container { inside: start..end, entries, is_object })
}

impl Container {
    pub(super) fn get(&self, key: &str) -> Option<&Range<usize>> {
        self.entries.iter().find(|entry| entry.key.as_deref() == Some(key)).map(|entry| &entry.value)
    }

    /// The text with one entry more, at the end. `depth` is how deep the entry stands.
    pub(super) fn with(&self, text: &str, style: &Style, depth: usize, key: Option<&str>, value: &Value) -> String {
        let mut entry = key.map(|key| format!("{}:{}", Value::from(key), style.space())).unwrap_or_default();
        entry.push_str(&style.print(value, depth));
        let line = style.line(depth);
        if let Some(last) = self.entries.last() {
            return splice(text, last.value.end..last.value.end, &format!(",{line}{entry}"));
        }
        let close = style.line(depth.saturating_sub(1));
        splice(text, self.inside.start..self.inside.start, &format!("{line}{entry}{close}"))
    }

    /// The text without one of the entries, and without the comma that it needed.
    pub(super) fn without(&self, text: &str, at: usize) -> String {
        let Some(entry) = self.entries.get(at) else { return text.to_owned() };
        let before = at.checked_sub(1).and_then(|before| self.entries.get(before));
        let cut = match (before, self.entries.get(at + 1)) {
            (Some(before), _) => before.value.end..entry.value.end,
            (None, Some(next)) => self.start_of(text, entry)..self.start_of(text, next),
            (None, None) => self.inside.clone(),
        };
        splice(text, cut, "")
    }

    /// Where an entry begins, its key included.
    fn start_of(&self, text: &str, entry: &Entry) -> usize {
        if !self.is_object {
            return entry.value.start;
        }
        // Back over the colon and the key: no quote stands between them.
        let before = text.get(..entry.value.start).unwrap_or_default();
        let end = before.rfind('"').unwrap_or_default();
        let mut start = end;
        while let Some(quote) = before.get(..start).and_then(|before| before.rfind('"')) {
            start = quote;
            let escapes =
                before.get(..quote).unwrap_or_default().bytes().rev().take_while(|&byte| byte == b'\\').count();
            if escapes % 2 == 0 {
                break;
            }
        }
        start
    }
}

/// The text with something else at this place.
pub(super) fn splice(text: &str, place: Range<usize>, with: &str) -> String {
    let (before, after) = (text.get(..place.start).unwrap_or_default(), text.get(place.end..).unwrap_or_default());
    [before, with, after].concat()
}

/// How a text is laid out, as its first line shows.
pub(super) struct Style {
    /// The line break; none where all is one line.
    newline: &'static str,
    indent: String,
}

impl Style {
    pub(super) fn of(text: &str) -> Self {
        let newline = match text {
            _ if text.contains("\r\n") => "\r\n",
            _ if text.contains('\n') || text.trim() == "{}" => "\n",
            _ => "",
        };
        let second = text.lines().find(|line| line.starts_with([' ', '\t']) && !line.trim().is_empty());
        let indent = second.map_or("  ", |line| line.get(..line.len() - line.trim_start().len()).unwrap_or("  "));
        Self { newline, indent: indent.to_owned() }
    }

    fn space(&self) -> &'static str {
        if self.newline.is_empty() { "" } else { " " }
    }

    fn line(&self, depth: usize) -> String {
        if self.newline.is_empty() { String::new() } else { format!("{}{}", self.newline, self.indent.repeat(depth)) }
    }

    fn print(&self, value: &Value, depth: usize) -> String {
        if self.newline.is_empty() {
            return value.to_string();
        }
        let mut out = Vec::new();
        let formatter = PrettyFormatter::with_indent(self.indent.as_bytes());
        // Into memory, and of strings: this never fails.
        let _ = value.serialize(&mut Serializer::with_formatter(&mut out, formatter));
        String::from_utf8(out).unwrap_or_default().replace('\n', &self.line(depth))
    }
}

/// An object's members in the order written.
struct Members<'a>(Vec<(Option<String>, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = Members<'de>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some((key, value)) = map.next_entry::<String, &RawValue>()? {
                    members.push((Some(key), value));
                }
                Ok(Members(members))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<Self::Value, A::Error> {
                Err(A::Error::custom("an array, and an object is wanted"))
            }
        }
        from.deserialize_map(Each)
    }
}
