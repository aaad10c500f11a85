//! JSON text, taken apart without being copied, and put together without touching what was there.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// The text of a JSON string; none for any other value. A lone surrogate becomes a replacement character:
/// models write them, and a call is not lost for that.
pub(crate) fn text(json: &RawValue) -> Option<Cow<'_, str>> {
    let inner = json.get().strip_prefix('"')?.strip_suffix('"')?;
    if !inner.contains('\\') {
        return Some(Cow::Borrowed(inner));
    }
    let bytes = serde_json::Deserializer::from_str(json.get()).deserialize_bytes(Bytes).ok()?;
    Some(Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()))
}

struct Bytes;

impl Visitor<'_> for Bytes {
    type Value = Vec<u8>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a string")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
        Ok(bytes.to_vec())
    }
}

/// The elements of an array; none for any other value.
pub(crate) fn elements(json: &RawValue) -> Option<Vec<&RawValue>> {
    serde_json::from_str(json.get()).ok()
}

/// A field in whose place providers may send `null`.
pub(crate) fn nullable<'de, T: Deserialize<'de> + Default, D: Deserializer<'de>>(json: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(json)?.unwrap_or_default())
}

/// A text as a JSON string.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A value that we wrote ourselves.
pub(crate) fn raw(json: String) -> Box<RawValue> {
    // What we wrote is JSON: the other way is never taken.
    RawValue::from_string(json).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// `whole` with `new` put in at the given byte of `part`, which is a slice of it.
pub(crate) fn insert(whole: &str, part: &str, at: usize, new: &str) -> Option<String> {
    let at = part.as_ptr().addr().checked_sub(whole.as_ptr().addr())? + at;
    let (before, after) = whole.split_at_checked(at)?;
    Some([before, new, after].concat())
}

/// `whole` with `new` in the place of `part`, which is a slice of it.
pub(crate) fn replace(whole: &str, part: &str, new: &str) -> Option<String> {
    let at = part.as_ptr().addr().checked_sub(whole.as_ptr().addr())?;
    Some([whole.get(..at)?, new, whole.get(at + part.len()..)?].concat())
}

/// The object `whole` with this role, where it names none.
pub(crate) fn with_role(whole: &RawValue, role: &str) -> Box<RawValue> {
    let members: HashMap<Cow<'_, str>, &RawValue> = serde_json::from_str(whole.get()).unwrap_or_default();
    let role = quoted(role);
    let named = match members.get("role") {
        Some(there) if matches!(there.get(), "null" | "\"\"") => replace(whole.get(), there.get(), &role),
        None if !members.is_empty() => insert(whole.get(), whole.get(), 1, &format!(r#""role":{role},"#)),
        Some(_) | None => None,
    };
    named.map_or_else(|| whole.to_owned(), raw)
}

/// `whole` with an element put into the array `part`, before the one of this index, else last.
pub(crate) fn insert_element(whole: &str, part: &RawValue, index: usize, new: &str) -> Option<String> {
    let there = elements(part)?;
    match there.get(index) {
        Some(next) => insert(whole, next.get(), 0, &format!("{new},")),
        None if there.is_empty() => insert(whole, part.get(), 1, new),
        None => insert(whole, part.get(), part.get().len() - 1, &format!(",{new}")),
    }
}

/// `whole` with words put before or after those of the JSON string `part`.
pub(crate) fn insert_words(whole: &str, part: &RawValue, first: bool, words: &str) -> Option<String> {
    let json = part.get();
    let is_text = json.len() >= 2 && json.starts_with('"');
    let (at, words) = match first {
        _ if json == "\"\"" => (1, words.to_owned()),
        true => (1, format!("{words}\n\n")),
        false => (json.len() - 1, format!("\n\n{words}")),
    };
    let quoted = quoted(&words);
    insert(whole, json, at, quoted.get(1..quoted.len() - 1)?).filter(|_| is_text)
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize)]
    struct Both<'a> {
        #[serde(borrow)]
        a: &'a RawValue,
        #[serde(borrow)]
        b: &'a RawValue,
    }

    fn value(json: &str) -> &RawValue {
        serde_json::from_str(json).expect("the test's own JSON")
    }

    #[test]
    fn texts() {
        assert_eq!(text(value(r#""a\n\"b""#)).as_deref(), Some("a\n\"b"));
        assert_eq!(text(value(r#""\ud800x""#)).as_deref(), Some("\u{fffd}\u{fffd}\u{fffd}x"));
        assert_eq!(text(value("1")), None);
    }

    #[test]
    fn what_was_there_keeps_its_bytes() {
        let whole = r#"{ "a": [1.0,  2e5 ], "b": "x\u0041" }"#;
        let Both { a, b } = serde_json::from_str(whole).expect("the test's own JSON");
        assert_eq!(insert_element(whole, a, 1, "7").as_deref(), Some(r#"{ "a": [1.0,  7,2e5 ], "b": "x\u0041" }"#));
        assert_eq!(insert_element(whole, a, 9, "7").as_deref(), Some(r#"{ "a": [1.0,  2e5 ,7], "b": "x\u0041" }"#));
        assert_eq!(
            insert_words(whole, b, false, "\"").as_deref(),
            Some(r#"{ "a": [1.0,  2e5 ], "b": "x\u0041\n\n\"" }"#)
        );
        assert_eq!(insert_words(whole, b, true, "<").as_deref(), Some(r#"{ "a": [1.0,  2e5 ], "b": "<\n\nx\u0041" }"#));
        assert_eq!(insert_words(whole, a, true, "<"), None);
        let empty = value("[ ]");
        assert_eq!(insert_element(empty.get(), empty, 0, "7").as_deref(), Some("[7 ]"));
    }
}
