//! The parts of a record that matter. All else is looked over, not kept.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Record<'a> {
    #[serde(rename = "type", borrow, default)]
    pub(super) kind: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) subtype: Option<Cow<'a, str>>,
    #[serde(default)]
    pub(super) is_sidechain: Option<bool>,
    #[serde(default)]
    pub(super) is_meta: Option<bool>,
    #[serde(default)]
    pub(super) is_api_error_message: Option<bool>,
    #[serde(borrow, default)]
    session_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    leaf_uuid: Option<&'a RawValue>,
    #[serde(borrow, default)]
    snapshot: Option<&'a RawValue>,
    #[serde(borrow, default)]
    message: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tool_use_result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    attachment: Option<&'a RawValue>,
}

#[derive(Deserialize)]
pub(super) struct Message<'a> {
    #[serde(borrow, default)]
    pub(super) id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    model: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
}

/// A content block: what a call and a result have, each of which may be absent.
#[derive(Deserialize)]
struct RawBlock<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tool_use_id: Option<Cow<'a, str>>,
    #[serde(default)]
    is_error: Option<bool>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
}

pub(super) enum Block<'a> {
    ToolUse { id: Cow<'a, str>, name: Cow<'a, str>, input: &'a RawValue },
    ToolResult { tool_use_id: Cow<'a, str>, is_error: bool, content: Option<Content<'a>> },
}

/// A result's content: a text, or blocks.
pub(super) struct Content<'a>(&'a RawValue);

/// What the client recorded of a result beside its text.
#[derive(Default)]
pub(super) struct ToolReply<'a> {
    pub(super) failed: bool,
    pub(super) task_id: Option<Cow<'a, str>>,
    pub(super) agent_id: Option<Cow<'a, str>>,
}

impl<'a> Record<'a> {
    pub(super) const fn is_claude_code(&self) -> bool {
        self.kind.is_some() && (self.session_id.is_some() || self.leaf_uuid.is_some() || self.snapshot.is_some())
    }

    pub(super) fn message(&self) -> Option<Result<Message<'a>, &'static str>> {
        let message = self.message?;
        Some(serde_json::from_str(message.get()).map_err(|_| "the message is not one"))
    }

    pub(super) fn is_reminder(&self) -> bool {
        #[derive(Deserialize)]
        struct Attachment<'a> {
            #[serde(rename = "type", borrow, default)]
            kind: Cow<'a, str>,
        }
        let attachment = self.attachment.and_then(|json| serde_json::from_str::<Attachment<'_>>(json.get()).ok());
        attachment.is_some_and(|attachment| matches!(&*attachment.kind, "task_reminder" | "todo_reminder"))
    }

    /// A text in this place is an error's.
    pub(super) fn reply(&self) -> ToolReply<'a> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Reply<'a> {
            #[serde(default)]
            success: Option<bool>,
            #[serde(borrow, default)]
            task: Option<Task<'a>>,
            #[serde(borrow, default)]
            agent_id: Option<Cow<'a, str>>,
        }
        #[derive(Deserialize)]
        struct Task<'a> {
            #[serde(borrow)]
            id: Cow<'a, str>,
        }
        let Some(json) = self.tool_use_result else { return ToolReply::default() };
        if json.get().starts_with('"') {
            return ToolReply { failed: true, ..ToolReply::default() };
        }
        match serde_json::from_str::<Reply<'_>>(json.get()) {
            Ok(Reply { success, task, agent_id }) => {
                ToolReply { failed: success == Some(false), task_id: task.map(|task| task.id), agent_id }
            }
            // A foreign tool's reply may hold anything under these keys.
            Err(_) => ToolReply::default(),
        }
    }
}

impl<'a> Message<'a> {
    /// Whether the client made it up, and no model answered (R9).
    pub(super) fn is_made_up(&self) -> bool {
        self.id.is_none() || self.model.as_deref() == Some("<synthetic>")
    }

    /// Its content blocks; none where the content is a text.
    pub(super) fn blocks(&self) -> impl Iterator<Item = Block<'a>> {
        let blocks = self.content.and_then(|json| serde_json::from_str::<Vec<&'a RawValue>>(json.get()).ok());
        blocks.unwrap_or_default().into_iter().filter_map(Block::of)
    }
}

impl<'a> Block<'a> {
    fn of(json: &'a RawValue) -> Option<Self> {
        let RawBlock { kind, id, name, input, tool_use_id, is_error, content } =
            serde_json::from_str(json.get()).ok()?;
        match &*kind {
            "tool_use" => Some(Self::ToolUse { id: id?, name: name?, input: input? }),
            "tool_result" => Some(Self::ToolResult {
                tool_use_id: tool_use_id?,
                is_error: is_error == Some(true),
                content: content.map(Content),
            }),
            _ => None,
        }
    }
}

impl Content<'_> {
    /// Its text, or that of its first block.
    pub(super) fn first_text(&self) -> Option<Cow<'_, str>> {
        #[derive(Deserialize)]
        struct Text<'a> {
            #[serde(borrow)]
            text: Cow<'a, str>,
        }
        if self.0.get().starts_with('"') {
            return serde_json::from_str::<String>(self.0.get()).ok().map(Cow::Owned);
        }
        let blocks: Vec<Text<'_>> = serde_json::from_str(self.0.get()).ok()?;
        blocks.into_iter().next().map(|block| block.text)
    }
}
