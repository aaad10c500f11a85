//! A Markdown checklist (C5).

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

use super::fields::mark;
use super::{Entry, Mark};
use crate::list::within;
use crate::refusal::{Field, Refusal};
use crate::shown::is_blank;
use crate::{Status, limits};

/// The items of a checklist; none where the text is none.
///
/// A line with a box is an item, and so is another line, which is pending; headings, fences, closing markup
/// and lines that end in a colon are none. Literal `\\n` are line breaks where the text has no others and two
/// boxes or more. A sign that is no status refuses the call (C7).
pub(super) fn entries(text: &str) -> Result<Option<Vec<Entry<'static>>>, Refusal> {
    let text = text.trim();
    let broken: Cow<'_, str> =
        if is_escaped(text) { Cow::Owned(text.replace("\\n", "\n")) } else { Cow::Borrowed(text) };
    if !broken.lines().any(|line| boxed(line).is_some()) {
        return Ok(None);
    }
    let items = broken.lines().map(str::trim).filter(|line| is_item(line));
    within("items in one call", items.clone().count(), limits::ITEMS)?;
    items.enumerate().map(|(index, line)| item(index, line)).collect::<Result<_, _>>().map(Some)
}

fn is_item(line: &str) -> bool {
    let is_title = line.ends_with(':') && unbulleted(line) == line && !line.starts_with('[');
    !is_blank(line) && !line.starts_with(['#', '`', '<']) && !is_title
}

fn item(index: usize, line: &str) -> Result<Entry<'static>, Refusal> {
    let (mark, content) = match opened(line) {
        Some((sign, content)) => (mark_of(sign).ok_or(Refusal::Status(Field::Element(index)))?, content),
        None => (Mark::Set(Status::Pending), unbulleted(line)),
    };
    if is_blank(content) {
        return Err(Refusal::Blank(Field::Element(index)));
    }
    Ok(entry(content.trim(), mark))
}

/// A line with a box and a content.
pub(super) fn boxed(line: &str) -> Option<Entry<'static>> {
    let (sign, content) = opened(line)?;
    mark_of(sign).filter(|_| !is_blank(content)).map(|mark| entry(content.trim(), mark))
}

/// What stands in the box that a line begins with, and behind it. A link's text is no box.
fn opened(line: &str) -> Option<(&str, &str)> {
    let (sign, content) = unbulleted(line.trim()).strip_prefix('[')?.split_once(']')?;
    (sign.len() <= LONGEST_SIGN && !content.starts_with(['(', '['])).then_some((sign, content))
}

/// `in_progress` with a space to spare on each side.
const LONGEST_SIGN: usize = 13;

fn mark_of(sign: &str) -> Option<Mark> {
    match sign.trim() {
        "" => Some(Mark::Set(Status::Pending)),
        "-" | "~" | ">" => Some(Mark::Set(Status::InProgress)),
        word => mark(word),
    }
}

/// Whether the whole text is one line with line breaks written out.
fn is_escaped(text: &str) -> bool {
    !text.contains('\n') && text.split("\\n").filter(|line| boxed(line).is_some()).nth(1).is_some()
}

/// The line without `-`, `*`, `+` or a number before it.
fn unbulleted(line: &str) -> &str {
    if let Some(rest) = line.strip_prefix(['-', '*', '+']) {
        return if rest.starts_with(' ') { rest.trim_start() } else { line };
    }
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let after = rest.strip_prefix(['.', ')']).filter(|after| rest.len() < line.len() && after.starts_with(' '));
    after.map_or(line, str::trim_start)
}

fn entry(content: &str, mark: Mark) -> Entry<'static> {
    Entry { content: Some(Cow::Owned(String::from(content))), mark: Some(mark), ..Entry::default() }
}
