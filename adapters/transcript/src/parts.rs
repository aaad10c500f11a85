//! The parts of a message in the manner of Gemini's API: calls of functions, and what came of them.

use std::borrow::Cow;

use session_todo::Outcome;

use crate::skim::{Members, elements, member, text};

/// A part that matters.
pub(crate) enum Part<'a> {
    Call { id: &'a [u8], name: Cow<'a, str>, arguments: &'a [u8] },
    Response { id: &'a [u8], response: &'a [u8] },
}

impl<'a> Part<'a> {
    /// The parts of a content, in order.
    pub(crate) fn all(content: &'a [u8]) -> impl Iterator<Item = Self> {
        member(content, b"parts").into_iter().flat_map(elements).filter_map(Self::of)
    }

    fn of(part: &'a [u8]) -> Option<Self> {
        let mut members = Members::of(part);
        while let Some(key) = members.key() {
            let value = members.value()?;
            match key {
                b"functionCall" => return Self::call(value),
                b"functionResponse" => {
                    let response = member(value, b"response").unwrap_or_default();
                    return Some(Self::Response { id: id(value)?, response });
                }
                _ => {}
            }
        }
        None
    }

    fn call(call: &'a [u8]) -> Option<Self> {
        let name = text(member(call, b"name")?)?;
        Some(Self::Call { id: id(call)?, name, arguments: member(call, b"args").unwrap_or(b"{}") })
    }
}

/// The API names a call and its response alike where it gives no id.
fn id(part: &[u8]) -> Option<&[u8]> {
    member(part, b"id").or_else(|| member(part, b"name"))
}

/// How a call ended, as a client's word for it says; none while it has not.
pub(crate) fn by_status(status: &[u8]) -> Option<Outcome<'static>> {
    match status {
        b"\"success\"" => Some(Outcome::Ran { id: None }),
        b"\"error\"" | b"\"cancelled\"" => Some(Outcome::Failed),
        _ => None,
    }
}

/// How a call ended, as its response says: Qwen Code's list does not flag what it could not write (R1).
pub(crate) fn by_response(response: &[u8]) -> Outcome<'static> {
    let says_failed = |output: &[u8]| text(output).is_some_and(|text| text.starts_with("Failed to modify todos"));
    match member(response, b"output") {
        Some(output) if !says_failed(output) && member(response, b"error").is_none() => Outcome::Ran { id: None },
        _ => Outcome::Failed,
    }
}
