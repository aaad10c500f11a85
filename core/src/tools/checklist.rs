//! A Markdown checklist (C5).

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

use super::{Entry, Mark};
use crate::list::within;
use crate::refusal::Refusal;
use crate::{Status, limits};

/// The items of a checklist; none where the text is none.
///
/// A line has a box, or is an item that is pending; headings and fences are no items. Literal `\\n` are
/// line breaks where the text has no others and two boxes or more.
pub(super) fn entries(text: &str) -> Result<Option<Vec<Entry<'static>>>, Refusal> {
    let text = text.trim();
    let broken: Cow<'_, str> =
        if is_escaped(text) { Cow::Owned(text.replace("\\n", "\n")) } else { Cow::Borrowed(text) };
    if !broken.lines().any(|line| boxed(line).is_some()) {
        return Ok(None);
    }
    let items = broken.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(['#', '`']));
    within("items in one call", items.clone().count(), limits::ITEMS)?;
    Ok(Some(items.map(|line| boxed(line).unwrap_or_else(|| entry(unbulleted(line), Status::Pending))).collect()))
}

/// A line with a box.
pub(super) fn boxed(line: &str) -> Option<Entry<'static>> {
    let (sign, content) = unbulleted(line.trim()).strip_prefix('[')?.split_once(']')?;
    let status = match sign {
        " " | "" | "pending" => Status::Pending,
        "x" | "X" | "completed" => Status::Completed,
        "-" | "~" | ">" | "in_progress" => Status::InProgress,
        "blocked" => Status::Blocked,
        "cancelled" => Status::Cancelled,
        _ => return None,
    };
    let content = content.strip_prefix(' ')?.trim();
    (!content.is_empty()).then(|| entry(content, status))
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

fn entry(content: &str, status: Status) -> Entry<'static> {
    Entry { content: Some(Cow::Owned(String::from(content))), mark: Some(Mark::Set(status)), ..Entry::default() }
}
