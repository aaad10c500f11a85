//! The parts of a record that matter, as the text that they are. All else is stepped over.

use std::borrow::Cow;

use memchr::memmem;
use serde::Deserialize;
use session_todo::Tool;

use crate::skim::{Members, descend_elements, elements, text, value};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Kind {
    Assistant,
    User,
    Progress,
    Attachment,
    System,
    #[default]
    Other,
}

impl Kind {
    pub(super) fn of(value: &[u8]) -> Self {
        match value {
            b"\"assistant\"" => Self::Assistant,
            b"\"user\"" => Self::User,
            b"\"progress\"" => Self::Progress,
            b"\"attachment\"" => Self::Attachment,
            b"\"system\"" => Self::System,
            _ => Self::Other,
        }
    }
}

#[derive(Default)]
pub(super) struct Record<'a> {
    pub(super) kind: Kind,
    pub(super) subtype: &'a [u8],
    pub(super) is_sidechain: bool,
    pub(super) is_api_error: &'a [u8],
    pub(super) message: Option<Message<'a>>,
    pub(super) tool_use_result: &'a [u8],
    pub(super) attachment: &'a [u8],
    pub(super) data: &'a [u8],
    pub(super) todos: &'a [u8],
    /// Whether another record stands on the same line.
    pub(super) glued: bool,
}

impl<'a> Record<'a> {
    /// The record that a text begins with, and what stands behind it; none where it is damaged. As soon as
    /// its kind is known, `can_pass` may say that it holds nothing that matters.
    pub(super) fn of(whole: &'a [u8], can_pass: impl Fn(&[u8]) -> bool) -> Option<(Self, &'a [u8])> {
        let mut record = Self::default();
        let mut members = Members::of(whole);
        while let Some(key) = members.key() {
            if key == b"message" {
                record.message = members.descend(Message::read)?;
                continue;
            }
            let value = members.value()?;
            match key {
                b"type" if can_pass(value) => return Some((Self::default(), next_record(whole))),
                b"type" => record.kind = Kind::of(value),
                b"subtype" => record.subtype = value,
                b"isSidechain" => record.is_sidechain = value == b"true",
                b"isApiErrorMessage" => record.is_api_error = value,
                b"toolUseResult" => record.tool_use_result = value,
                b"attachment" => record.attachment = value,
                b"data" => record.data = value,
                b"todos" => record.todos = value,
                _ => {}
            }
        }
        let behind = members.behind()?;
        record.glued = !behind.trim_ascii().is_empty();
        Some((record, behind))
    }
}

/// Where another record begins on the line of one that is passed over. Inside a string the quote would be
/// escaped, inside an array there would be a comma.
fn next_record(whole: &[u8]) -> &[u8] {
    memmem::find(whole, b"}{\"").and_then(|at| whole.get(at + 1..)).unwrap_or_default()
}

#[derive(Default)]
pub(super) struct Message<'a> {
    pub(super) id: &'a [u8],
    model: &'a [u8],
    /// Its calls and results; none where the content is a text.
    pub(super) blocks: Vec<Block<'a>>,
}

pub(super) enum Block<'a> {
    ToolUse { id: &'a [u8], name: &'a [u8], input: &'a [u8] },
    ToolResult { id: &'a [u8], is_error: bool, content: &'a [u8] },
}

impl<'a> Message<'a> {
    /// The message that a text begins with, and what stands behind it.
    fn read(whole: &'a [u8]) -> Option<(Option<Self>, &'a [u8])> {
        if !whole.starts_with(b"{") {
            let (_, behind) = value(whole)?;
            return Some((None, behind));
        }
        let mut message = Self::default();
        let mut members = Members::of(whole);
        while let Some(key) = members.key() {
            match key {
                b"id" => message.id = members.value()?,
                b"model" => message.model = members.value()?,
                b"content" => message.blocks = members.descend(Block::read_all)?,
                _ => drop(members.value()?),
            }
        }
        members.behind().map(|behind| (Some(message), behind))
    }

    /// Whether the client made it up, and no model answered (R9).
    pub(super) fn is_made_up(&self) -> bool {
        !self.id.starts_with(b"\"") || self.model == b"\"<synthetic>\""
    }

    /// Whether it calls a tool of the list's.
    pub(super) fn calls_list(&self) -> bool {
        let is_list = |name: &[u8]| text(name).is_some_and(|name| Tool::named(&name).is_some());
        self.blocks.iter().any(|block| matches!(block, Block::ToolUse { name, .. } if is_list(name)))
    }
}

impl<'a> Block<'a> {
    /// The blocks of a content, and what stands behind it.
    fn read_all(whole: &'a [u8]) -> Option<(Vec<Self>, &'a [u8])> {
        if whole.starts_with(b"[") {
            return descend_elements(whole, Self::read);
        }
        value(whole).map(|(_, behind)| (Vec::new(), behind))
    }

    /// The block that a text begins with, if it is one of these, and what stands behind it.
    fn read(whole: &'a [u8]) -> Option<(Option<Self>, &'a [u8])> {
        if !whole.starts_with(b"{") {
            return value(whole).map(|(_, behind)| (None, behind));
        }
        let mut members = Members::of(whole);
        let [mut kind, mut id, mut name, mut input, mut result, mut is_error, mut content]: [&[u8]; 7] = [b""; 7];
        while let Some(key) = members.key() {
            let value = members.value()?;
            match key {
                b"type" => kind = value,
                b"id" => id = value,
                b"name" => name = value,
                b"input" => input = value,
                b"tool_use_id" => result = value,
                b"is_error" => is_error = value,
                b"content" => content = value,
                _ => {}
            }
        }
        let block = match kind {
            b"\"tool_use\"" if !id.is_empty() && !name.is_empty() => Some(Self::ToolUse { id, name, input }),
            b"\"tool_result\"" if !result.is_empty() => {
                Some(Self::ToolResult { id: result, is_error: is_error == b"true", content })
            }
            _ => None,
        };
        members.behind().map(|behind| (block, behind))
    }
}

/// A result's text, or that of its first block.
pub(super) fn first_text(content: &[u8]) -> Option<Cow<'_, str>> {
    if content.starts_with(b"\"") {
        return text(content);
    }
    elements(content).next().and_then(|block| crate::skim::member(block, b"text")).and_then(text)
}

/// What the client recorded of a result beside its text.
#[derive(Default)]
pub(super) struct Reply<'a> {
    pub(super) failed: bool,
    pub(super) task_id: Option<Cow<'a, str>>,
    /// The subject that the client made of a call without one.
    pub(super) subject: Option<Cow<'a, str>>,
    pub(super) agent_id: Option<Cow<'a, str>>,
    /// The list before a `TodoWrite`.
    pub(super) old_todos: Option<&'a serde_json::value::RawValue>,
    /// The list of a `TaskList`.
    pub(super) tasks: Option<&'a serde_json::value::RawValue>,
}

impl<'a> Reply<'a> {
    /// A text in this place is an error's; what a foreign tool puts there is nothing.
    pub(super) fn of(json: &'a [u8]) -> Self {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Known<'a> {
            #[serde(default)]
            success: Option<bool>,
            #[serde(borrow, default)]
            task: Option<Task<'a>>,
            #[serde(borrow, default)]
            agent_id: Option<Cow<'a, str>>,
            #[serde(borrow, default)]
            old_todos: Option<&'a serde_json::value::RawValue>,
            #[serde(borrow, default)]
            tasks: Option<&'a serde_json::value::RawValue>,
        }
        #[derive(Deserialize)]
        struct Task<'a> {
            #[serde(borrow)]
            id: Cow<'a, str>,
            #[serde(borrow, default)]
            subject: Option<Cow<'a, str>>,
        }
        if json.starts_with(b"\"") {
            return Self { failed: true, ..Self::default() };
        }
        let Ok(Known { success, task, agent_id, old_todos, tasks }) = serde_json::from_slice(json) else {
            return Self::default();
        };
        let (task_id, subject) = task.map_or((None, None), |task| (Some(task.id), task.subject));
        Self { failed: success == Some(false), task_id, subject, agent_id, old_todos, tasks }
    }
}
