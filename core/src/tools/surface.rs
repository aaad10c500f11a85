//! What one tool is under one name: the schema is printed from it, and the reader asks it (C15).

use alloc::string::String;

use super::Tool;
use super::dialect;
use crate::Status;
use crate::refusal::{Field, Refusal};

/// One tool under one name.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Surface {
    pub(crate) name: &'static str,
    pub(crate) tool: Tool,
    /// When to use it, and when not to.
    pub(crate) description: &'static str,
    /// The keys of the arguments: the schema is printed from them, and the reader asks them for the list.
    pub(crate) keys: &'static [Key],
    pub(crate) answer: Answer,
}

/// A key of a published schema.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) required: bool,
    /// Empty where the name says it all.
    pub(crate) description: &'static str,
}

/// What a key takes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Number,
    Word(&'static [&'static str]),
    Texts,
    /// The whole list, as items with these keys.
    Items(&'static [Key]),
    /// The whole list, as a Markdown checklist.
    Checklist,
    /// The whole list, or null to read it.
    ItemsOrRead(&'static [Key]),
    /// What is asked for: the first word reads, the second writes. Absent, it reads where it says so.
    Command {
        words: [&'static str; 2],
        absent_reads: bool,
    },
}

/// How an answer shows the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Lines with ids, statuses in our words.
    Lines,
    /// Lines with these words for pending, in progress and completed.
    Worded([&'static str; 3]),
    /// A Markdown checklist.
    Checklist,
    /// Boxes without bullets and ids, as a policy asks for them.
    Boxes,
}

impl Surface {
    /// The surface of this name: as it is, behind `mcp__server__`, and of our own tools also behind a plain
    /// `server_`, so that `fetch_todos` is nobody's write.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        if let Some(surface) = dialect::exact(name) {
            return Some(surface);
        }
        if let Some((server, tool)) = name.strip_prefix("mcp__").and_then(|name| name.rsplit_once("__")) {
            return dialect::exact(tool).filter(|_| !server.is_empty());
        }
        dialect::OURS.into_iter().find(|surface| {
            name.strip_suffix(surface.name).is_some_and(|server| server.len() > 1 && server.ends_with('_'))
        })
    }

    /// The key under which it takes the whole list.
    pub(crate) fn list_key(&self) -> &'static str {
        let takes_list = |key: &&Key| matches!(key.kind, Kind::Items(_) | Kind::ItemsOrRead(_) | Kind::Checklist);
        self.keys.iter().find(takes_list).map_or("todos", |key| key.name)
    }

    /// What its command asks for, where this is the command's word (C11).
    pub(crate) fn asked(&self, word_of: impl Fn(&str) -> Option<String>) -> Result<Asked, Refusal> {
        for key in self.keys {
            let Kind::Command { words: [read, write], absent_reads } = key.kind else { continue };
            return match word_of(key.name).map(|word| word.trim().to_ascii_lowercase()).as_deref() {
                None if absent_reads => Ok(Asked::ReadUnlessListed),
                None => Ok(Asked::Write),
                Some(word) if word == read => Ok(Asked::Read),
                Some(word) if word == write => Ok(Asked::Write),
                Some(_) => Err(Refusal::Kind { field: Field::Key(key.name), came: "another word", wanted: COMMANDS }),
            };
        }
        let reads = self.keys.iter().any(|key| matches!(key.kind, Kind::ItemsOrRead(_)));
        Ok(if reads { Asked::ReadUnlessGiven } else { Asked::Write })
    }

    /// Whether a command says what is asked for.
    pub(crate) fn has_command(&self) -> bool {
        self.keys.iter().any(|key| matches!(key.kind, Kind::Command { .. }))
    }

    /// Whether this is a key of its own.
    pub(crate) fn has_key(&self, name: &str) -> bool {
        self.keys.iter().any(|key| key.name == name)
    }
}

const COMMANDS: &str = "read or write; view or plan";

/// What a call of a whole-list tool asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    Write,
    Read,
    /// A read, but where a list with items is given.
    ReadUnlessListed,
    /// A read, but where any list is given.
    ReadUnlessGiven,
}

impl Answer {
    /// The word for a status in an answer.
    pub(crate) const fn word(self, status: Status) -> &'static str {
        match (self, status) {
            (Self::Worded([pending, _, _]), Status::Pending) => pending,
            (Self::Worded([_, in_progress, _]), Status::InProgress) => in_progress,
            (Self::Worded([_, _, completed]), Status::Completed) => completed,
            _ => status.as_str(),
        }
    }
}
