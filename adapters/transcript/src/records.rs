//! The records of a line, and the texts in them.

use std::borrow::Cow;

use memchr::memmem;

use crate::lines::Line;
use crate::skim::{elements, member, text};
use crate::{Found, Sink};

/// Reads the record that a text begins with, and says what stands behind it; none where it is damaged.
pub(crate) type Read<'r, 'a> = &'r mut dyn FnMut(&'a [u8], Sink<'_>) -> Option<&'a [u8]>;

/// Hands on each record of a line. A damaged one is reported, and the rest is read from where another record
/// begins like the line does (R7).
pub(crate) fn records<'a>(line: &Line<'a>, found: Sink<'_>, read: Read<'_, 'a>) {
    let whole = line.bytes;
    let is_whole = whole.ends_with(b"}");
    if !whole.starts_with(b"{") || !is_whole {
        let why = if whole.starts_with(b"{") { "the record is cut off" } else { "not a record" };
        found(Found::Skipped(line.skipped(0, why)));
    }
    let mut rest = whole;
    while rest.starts_with(b"{") {
        let at = whole.len() - rest.len();
        rest = if let Some(behind) = read(rest, found) {
            behind.trim_ascii_start()
        } else {
            if is_whole {
                found(Found::Skipped(line.skipped(at, "not a record")));
            }
            next_like(whole, rest)
        };
    }
}

/// The next place where the first key of the line opens an object. In a text its quotes would be escaped.
fn next_like<'a>(whole: &[u8], rest: &'a [u8]) -> &'a [u8] {
    let Some(key) = whole.iter().position(|byte| *byte == b':').and_then(|end| whole.get(..end)) else {
        return b"";
    };
    let behind = rest.get(1..).unwrap_or_default();
    memmem::find(behind, key).and_then(|at| behind.get(at..)).unwrap_or_default()
}

/// The record that a text begins with, and what stands behind it; none where it is damaged. The little that
/// matters is validated, the rest is only looked at (R7).
pub(crate) fn sound<'a, R>(
    text: &'a [u8],
    record: impl Fn(&'a [u8]) -> Option<(R, &'a [u8])>,
    matters: impl Fn(&R) -> bool,
) -> Option<(R, &'a [u8])> {
    let (record, behind) = record(text)?;
    let whole = text.get(..text.len() - behind.len())?;
    (!matters(&record) || is_json(whole)).then_some((record, behind))
}

/// Whether a text is one JSON value throughout.
pub(crate) fn is_json(text: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(text).is_ok()
}

/// A string's text. What is none in JSON's eyes, as with half a surrogate pair, is handed on as it stands.
pub(crate) fn text_or_raw(value: &[u8]) -> String {
    text(value).map_or_else(|| String::from_utf8_lossy(value).into_owned(), Cow::into_owned)
}

/// A text, that of the first of several blocks, or that in an object.
pub(crate) fn first_text(value: &[u8]) -> Option<Cow<'_, str>> {
    match value.first()? {
        b'"' => text(value),
        b'[' => elements(value).find_map(|block| member(block, b"text")).and_then(text),
        _ => [&b"content"[..], b"output", b"text"].iter().find_map(|key| member(value, key)).and_then(text),
    }
}
