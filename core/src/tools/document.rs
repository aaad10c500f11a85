//! The one value that a text holds, and what may stand around it (C2, C12).

use super::literal::{Fault, Node, is_json, parse};
use super::mended::{Mend, Mended};
use crate::refusal::Refusal;

/// What a call would look like, for the refusal of a text that can't be read.
#[derive(Clone, Copy)]
pub(super) struct Wanted {
    pub(super) words: &'static str,
    pub(super) example: &'static str,
}

/// The value of a text; white space alone is null.
pub(super) fn document<'a>(text: &'a str, wanted: Wanted, mended: &mut Mended) -> Result<Node<'a>, Refusal> {
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    if text.is_empty() {
        return Ok(Node::Null);
    }
    let first = parse(text);
    let starts_with_words = match &first {
        Err(fault) => *fault == Fault::NotALiteral,
        Ok((node, after)) => !after.trim().is_empty() && !node.is_meant(),
    };
    let (before, value) = text.split_at(if starts_with_words { start(text) } else { 0 });
    let found = if before.is_empty() { first } else { parse(value) };
    let (node, after) = found.map_err(|fault| match fault {
        Fault::EndsEarly => Refusal::EndsEarly { example: wanted.example },
        Fault::NotALiteral => Refusal::Unreadable { wanted: wanted.words },
    })?;
    if !before.is_empty() || !after.trim().is_empty() {
        // Noise is looked over where a call was meant; an empty list is never made of it.
        if !is_prose(before) || !is_prose(after) || !node.is_meant() {
            return Err(Refusal::Unreadable { wanted: wanted.words });
        }
        mended.add(Mend::Noise);
    }
    let (value, _) = value.split_at(value.len() - after.len());
    if !is_json(value) {
        mended.add(Mend::Literal);
    }
    Ok(node)
}

/// Where the value begins among words: at a bracket, or at the quotes before it where they are why its inside
/// is escaped.
fn start(text: &str) -> usize {
    let (before, value) = text.split_at(text.find(['[', '{']).unwrap_or_default());
    match parse(value) {
        Err(Fault::NotALiteral) => before.trim_end_matches(['"', '\'', '\\']).len(),
        Ok(_) | Err(Fault::EndsEarly) => before.len(),
    }
}

/// Whether a text is a value or was meant to be one, and no checklist: a box alone reads as an empty list.
pub(super) fn is_value(text: &str) -> bool {
    let text = text.trim();
    let mut starts = text.chars().filter(|c| !c.is_whitespace());
    match (starts.next(), starts.next()) {
        (Some('{'), _) | (Some('['), Some('{' | '[' | '"' | '\'')) => true,
        (Some('"' | '\'' | '[' | '('), _) => parse(text)
            .is_ok_and(|(node, after)| after.is_empty() && (node.is_meant() || matches!(node, Node::Text(_)))),
        _ => false,
    }
}

/// Whether nothing but closing markup stands behind the value (C2).
pub(super) fn ends_in_markup(text: &str) -> bool {
    let (_, after) = text.split_at(text.rfind(['}', ']']).map_or(0, |at| at + 1));
    text.trim_start().starts_with(['{', '[']) && after.trim().starts_with("</") && after.trim().ends_with('>')
}

/// Words, a fence or closing markup: nothing that could be a second value.
fn is_prose(text: &str) -> bool {
    !text.contains(['[', ']', '{', '}'])
}
