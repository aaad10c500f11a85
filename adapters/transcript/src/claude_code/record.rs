//! The parts of a record that matter, as the text that they are. All else is stepped over.

use std::borrow::Cow;

use memchr::memmem;
use session_todo::Tool;

use crate::records::is_json;
use crate::skim::{Members, descend_elements, elements, member, text, value};

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
    /// Its length in bytes: another record may stand on the same line.
    length: usize,
}

impl<'a> Record<'a> {
    /// The record that a text begins with, and what stands behind it; none where it is damaged.
    pub(super) fn of(whole: &'a [u8]) -> Option<(Self, &'a [u8])> {
        if !whole.starts_with(b"{") {
            return None;
        }
        let mut record = Self::default();
        let mut members = Members::of(whole);
        while let Some(key) = members.key() {
            if key == b"message" {
                record.message = members.descend(Message::read)?;
                continue;
            }
            let value = members.value()?;
            match key {
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
        record.length = whole.len() - behind.len();
        Some((record, behind))
    }

    /// A response with one call or none, as its record tells it before what it says and what a foreign tool is
    /// called with; none where that is not enough.
    pub(super) fn opening(whole: &'a [u8], call: bool) -> Option<Self> {
        let mut is_sidechain = None;
        let mut members = Members::of(whole);
        loop {
            match members.key()? {
                b"isSidechain" => is_sidechain = Some(members.value()? == b"true"),
                b"message" => {
                    let message = members.descend(|text| Message::opening(text, call))?;
                    let (message, is_sidechain) = (Some(message), is_sidechain?);
                    return Some(Self { kind: Kind::Assistant, message, is_sidechain, ..Self::default() });
                }
                _ => drop(members.value()?),
            }
        }
    }

    /// Whether it is JSON, where it calls a tool of the list's: the little that matters is validated, the rest
    /// is only looked at (R7).
    pub(super) fn is_sound(&self, whole: &[u8]) -> bool {
        let matters = self.kind == Kind::Assistant && self.message.as_ref().is_some_and(Message::calls_list);
        let text = whole.get(..self.length).unwrap_or_default();
        !matters || is_json(text)
    }
}

/// Where the next record may begin behind a damaged one: behind a NUL run or another's end, where it begins as
/// only records do, and behind words at any brace.
pub(super) fn next_record(damaged: &[u8]) -> Option<&[u8]> {
    let is_words = !damaged.starts_with(b"{");
    let starts = memmem::find_iter(damaged, b"{\"").filter(|at| *at > 0);
    let is_record = |at: usize| damaged.get(at..).is_some_and(|text| text.starts_with(b"{\"parentUuid\":"));
    let mut starts = starts.filter(|at| is_words || matches!(damaged.get(at - 1), Some(0 | b'}')) || is_record(*at));
    let at = starts.find(|at| damaged.get(*at..).is_some_and(|text| Members::of(text).key().is_some()))?;
    damaged.get(at..)
}

/// The text without the NUL bytes that it begins with, if it does.
pub(super) fn without_nul(text: &[u8]) -> Option<&[u8]> {
    let nul = text.iter().take_while(|byte| **byte == 0).count();
    text.get(nul..).filter(|_| nul > 0).map(<[u8]>::trim_ascii_start)
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

    /// What tells whose response it is, and the one call in it.
    fn opening(whole: &'a [u8], call: bool) -> Option<(Self, &'a [u8])> {
        let (mut message, mut role): (Self, &[u8]) = (Self::default(), b"");
        let mut members = Members::of(whole);
        while call || message.id.is_empty() || message.model.is_empty() || role.is_empty() {
            match members.key()? {
                b"id" => message.id = members.value()?,
                b"model" => message.model = members.value()?,
                b"role" => role = members.value()?,
                b"content" if call => {
                    let call = members.descend(Block::opening)?;
                    message.blocks.push(call);
                    break;
                }
                b"content" => return None,
                _ => drop(members.value()?),
            }
        }
        let is_told = !message.is_made_up() && !message.model.is_empty() && role == b"\"assistant\"";
        is_told.then_some((message, b""))
    }

    /// Whether the client made it up, and no model answered (R9).
    pub(super) fn is_made_up(&self) -> bool {
        !self.id.starts_with(b"\"") || self.model == b"\"<synthetic>\""
    }

    /// Whether it calls a tool of the list's.
    fn calls_list(&self) -> bool {
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

    /// The first block, where it is a call of a foreign tool.
    fn opening(blocks: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let [mut kind, mut id, mut name]: [&[u8]; 3] = [b""; 3];
        let mut members = Members::of(blocks.strip_prefix(b"[")?);
        while kind.is_empty() || id.is_empty() || name.is_empty() {
            match members.key()? {
                b"type" => kind = members.value()?,
                b"id" => id = members.value()?,
                b"name" => name = members.value()?,
                _ => return None,
            }
        }
        let is_foreign = text(name).is_some_and(|name| Tool::named(&name).is_none() && !starts_agent(&name));
        (kind == b"\"tool_use\"" && is_foreign).then_some((Self::ToolUse { id, name, input: b"" }, b""))
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

/// Whether a tool starts a sub-agent.
pub(super) fn starts_agent(name: &str) -> bool {
    matches!(name, "Agent" | "Task")
}

/// A result's text, or that of its first block.
pub(super) fn first_text(content: &[u8]) -> Option<Cow<'_, str>> {
    if content.starts_with(b"\"") {
        return text(content);
    }
    elements(content).next().and_then(|block| member(block, b"text")).and_then(text)
}

/// What the client recorded of a result beside its text.
#[derive(Default)]
pub(super) struct Reply<'a> {
    pub(super) failed: bool,
    /// Whether a sub-agent was started and not waited for.
    pub(super) launched: bool,
    pub(super) task_id: Option<Cow<'a, str>>,
    /// The subject that the client made of a call without one.
    pub(super) subject: Option<Cow<'a, str>>,
    pub(super) agent_id: Option<Cow<'a, str>>,
    /// The list before a `TodoWrite`.
    pub(super) old_todos: Option<&'a [u8]>,
    /// The list of a `TaskList`.
    pub(super) tasks: Option<&'a [u8]>,
}

impl<'a> Reply<'a> {
    /// A text in this place is an error's. Each key is read for itself: a foreign tool may put anything there.
    pub(super) fn of(json: &'a [u8]) -> Self {
        let mut reply = Self { failed: json.starts_with(b"\""), ..Self::default() };
        let mut members = Members::of(json);
        while let Some(key) = members.key() {
            let Some(value) = members.value() else { break };
            match key {
                b"success" => reply.failed = value == b"false",
                b"status" => reply.launched = value == b"\"async_launched\"",
                b"agentId" => reply.agent_id = text(value),
                b"oldTodos" => reply.old_todos = Some(value),
                b"tasks" => reply.tasks = Some(value),
                b"task" => {
                    reply.task_id = member(value, b"id").and_then(id);
                    reply.subject = member(value, b"subject").and_then(text);
                }
                _ => {}
            }
        }
        reply
    }
}

/// An id: a text, or a number's text.
fn id(value: &[u8]) -> Option<Cow<'_, str>> {
    let number = || std::str::from_utf8(value).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    text(value).or_else(|| number().map(Cow::Borrowed))
}
