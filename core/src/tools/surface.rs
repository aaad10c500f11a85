//! What one tool is under one name: the schema is printed from it, and the reader asks it (C15).

use alloc::string::String;

use super::Tool;
use super::dialect;
use crate::Status;

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
        if let Some(tool) = name.strip_prefix("mcp__").and_then(|name| name.split_once("__")) {
            return dialect::exact(tool.1);
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

    /// Whether a call without a list reads, where this is the word of its command (C11).
    pub(crate) fn reads(&self, word_of: impl Fn(&str) -> Option<String>) -> bool {
        self.keys.iter().any(|key| match key.kind {
            Kind::ItemsOrRead(_) => true,
            Kind::Command { words: [read, _], absent_reads } => match word_of(key.name) {
                Some(word) => word == read,
                None => absent_reads,
            },
            _ => false,
        })
    }

    /// Whether its command says that it reads, whatever list stands beside it.
    pub(crate) fn asks_to_read(&self, word_of: impl Fn(&str) -> Option<String>) -> bool {
        self.keys.iter().any(|key| match key.kind {
            Kind::Command { words: [read, _], .. } => word_of(key.name).is_some_and(|word| word == read),
            _ => false,
        })
    }
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
