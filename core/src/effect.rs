use alloc::string::String;

use serde::{Deserialize, Serialize};

/// What the loop has to do about an event. At most one comes of each, so there is no queue to drain
/// and no order to get wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// The answer to one call of a list tool.
    ReturnToolResult(ToolResult),
    /// Text that rides on the request that is about to leave.
    AppendSystemReminder(Reminder),
    /// The list, for the context that follows a compaction.
    InjectCompactSnapshot(Snapshot),
}

/// The answer to one call of a list tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    /// What the caller reads.
    pub text: String,
    /// Whether the call was refused. A refused call leaves the list as it was (L8).
    pub is_error: bool,
}

/// A reminder, a note about a change that the model did not make itself, or both as one text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reminder {
    /// Where the text belongs in the request.
    pub lane: Lane,
    /// The whole text, with its tags.
    pub text: String,
    /// How many items the reminder lists; none where the text is a note alone.
    pub items: Option<usize>,
}

/// Where a reminder is put, and whether it stays there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lane {
    /// A new item at the end of the history, kept. If a person's message that was not sent yet is last,
    /// before its words.
    History,
    /// At the end of the last message that a person wrote, in the outgoing copy only. Not for models
    /// that bind their thinking to the exact messages before it: there the text would be gone in the
    /// next request, and an injected message that is gone later breaks it (E1).
    LastUserMessage,
    /// A text block after the last tool result that is about to be sent, kept; on a request without one,
    /// as [`Lane::History`].
    ToolResult,
}

/// The list as a compaction carries it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The whole text. Its fenced block is valid JSON and a valid argument of `todo_write` (A4).
    pub text: String,
    /// How many items the block holds.
    pub items: usize,
}
