use alloc::string::String;
use core::fmt;

use crate::list::Passed;

/// Why a call was refused. Its text names the field, what came, what is wanted, and an example (C14).
/// The list is as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// A write without its list, or a call without its id.
    #[error("{field} is missing. Wanted: {wanted}.")]
    Missing {
        /// The field.
        field: &'static str,
        /// What is wanted, with an example.
        wanted: &'static str,
    },
    /// A value of a kind that can't be read.
    #[error("{field}: got {came}. Wanted: {wanted}.")]
    Kind {
        /// The field.
        field: Field,
        /// What came: its kind, not its bytes.
        came: &'static str,
        /// What is wanted, with an example.
        wanted: &'static str,
    },
    /// The arguments stop before their value is complete. They are never closed for the model (C12).
    #[error(
        "arguments: they end early, inside a value. Nothing was changed. Send the whole call again, e.g. {example}"
    )]
    EndsEarly {
        /// A complete call.
        example: &'static str,
    },
    /// The arguments are neither JSON nor a literal.
    #[error("arguments: got text that is not JSON. Nothing was changed. Wanted: {wanted}.")]
    Unreadable {
        /// What is wanted, with an example.
        wanted: &'static str,
    },
    /// A word that is no status (C7).
    #[error(
        "{0}.status: got a word that is no status. Wanted: pending, in_progress, blocked, completed, cancelled or deleted."
    )]
    Status(Field),
    /// An item without content (C13).
    #[error(
        "{0}: the content is blank. Wanted: what is to be done, e.g. {{\"content\":\"Run the tests\"}}; a known id may come without."
    )]
    Blank(Field),
    /// No item has that id.
    #[error("No item has this id. {0}")]
    UnknownId(KnownIds),
    /// An update that names nothing to change (L2).
    #[error(
        "The update names nothing to change. Wanted: at least one field beside the id, e.g. {{\"taskid\":\"1\",\"status\":\"completed\"}}."
    )]
    NothingToChange,
    /// A limit was passed (L10).
    #[error(
        "Too large: {value} {what}, the limit is {limit}. Nothing was changed. Merge or shorten items and send the call again."
    )]
    Limit {
        /// What was counted.
        what: &'static str,
        /// The limit.
        limit: usize,
        /// What came.
        value: usize,
    },
    /// More than one item in progress, under a policy that refuses it (L11).
    #[error("{0} items would be in progress. Wanted: one at a time; set the others to pending or completed.")]
    SeveralInProgress(usize),
    /// A sub-agent's write in a session that is not shared (A7).
    #[error("This task list belongs to the main agent and can only be read here. Report what you did in your answer.")]
    NotShared,
    /// The user changed the list after the model last saw it (L13). The text carries the whole list.
    #[error(
        "The user changed the list since you last saw it, so it was not replaced. This is the list now; send your call again on top of it:"
    )]
    Edited,
}

/// Where in the arguments something stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// A key of the arguments.
    Key(&'static str),
    /// An element of the list, counted from 0.
    Element(usize),
    /// A key of an element of the list.
    ElementKey(usize, &'static str),
    /// The arguments as a whole.
    Arguments,
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(key) => f.write_str(key),
            Self::Element(index) => write!(f, "todos[{index}]"),
            Self::ElementKey(index, key) => write!(f, "todos[{index}].{key}"),
            Self::Arguments => f.write_str("arguments"),
        }
    }
}

/// The ids there are, as far as they fit into a refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownIds(pub(crate) String);

impl KnownIds {
    const BYTES: usize = 200;

    pub(crate) fn of<'a>(ids: impl IntoIterator<Item = &'a str>) -> Self {
        let mut text = String::new();
        let mut ids = ids.into_iter();
        while let Some(id) = ids.next() {
            let fits = text.len() + id.len() + 2 <= Self::BYTES;
            if !fits {
                let _ = fmt::Write::write_fmt(&mut text, format_args!(" and {} more", ids.count() + 1));
                break;
            }
            text.push_str(if text.is_empty() { "The ids there are: " } else { ", " });
            text.push_str(id);
        }
        if text.is_empty() {
            text.push_str("The list is empty");
        }
        text.push('.');
        Self(text)
    }
}

impl fmt::Display for KnownIds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<Passed> for Refusal {
    fn from(passed: Passed) -> Self {
        Self::Limit { what: passed.what, limit: passed.limit, value: passed.value }
    }
}

/// The kind of a JSON value, for a refusal.
pub(crate) fn kind_of_json(json: &str) -> &'static str {
    match json.trim_start().bytes().next() {
        Some(b'"') => "text",
        Some(b'[') => "a list",
        Some(b'{') => "an object",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        Some(_) => "a number",
        None => "nothing",
    }
}
