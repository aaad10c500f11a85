//! The one value that a text holds, and what may stand around it (C2, C12).

use serde_json::value::RawValue;

use super::literal::{Fault, Node, parse};
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
    let (before, value) = match parse(text) {
        Err(Fault::NotALiteral) => text.split_at(text.find(['[', '{']).unwrap_or_default()),
        Ok(_) | Err(Fault::EndsEarly) => ("", text),
    };
    let (node, after) = parse(value).map_err(|fault| match fault {
        Fault::EndsEarly => Refusal::EndsEarly { example: wanted.example },
        Fault::NotALiteral => Refusal::Unreadable { wanted: wanted.words },
    })?;
    if !before.is_empty() || !after.trim().is_empty() {
        // Noise is looked over where a call was meant; an empty list is never made of it.
        if !is_prose(before) || !is_prose(after) || !node.holds_something() {
            return Err(Refusal::Unreadable { wanted: wanted.words });
        }
        mended.add(Mend::Noise);
    }
    let (value, _) = value.split_at(value.len() - after.len());
    if serde_json::from_str::<&RawValue>(value).is_err() {
        mended.add(Mend::Literal);
    }
    Ok(node)
}

/// Words, a fence or closing markup: nothing that could be a second value.
fn is_prose(text: &str) -> bool {
    !text.contains(['[', ']', '{', '}'])
}
