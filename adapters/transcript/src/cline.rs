//! Cline: no tool of its own for the list, but a parameter `task_progress` on any call, a Markdown checklist.
//! It is reported as a call of a tool of this name, behind the call that it rides on.
//!
//! A blank one changes nothing, so it is no call. The list is the client's as soon as the call that carries it
//! was let through; where that failed or was denied, so did this.

use serde_json::Value;

use crate::chat::element;
use crate::skim::{member, text};

/// The parameter's name.
pub(crate) const TOOL: &str = "task_progress";

/// The arguments of the call that rides on one with this input.
pub(crate) fn in_input(input: &[u8]) -> Option<String> {
    member(input, TOOL.as_bytes()).and_then(text).and_then(|list| arguments(&list))
}

/// The arguments of the call that rides on one that was written as an element.
pub(crate) fn in_element(inner: &str) -> Option<String> {
    element(inner, TOOL).and_then(|(list, _)| arguments(list))
}

fn arguments(list: &str) -> Option<String> {
    (!list.trim().is_empty()).then(|| format!("{{\"{TOOL}\":{}}}", Value::from(list)))
}

/// Whether the result of a call says that it was let through and did not fail.
pub(crate) fn ran(result: &str) -> bool {
    !["The user denied", "The tool execution failed", "Tool ["].iter().any(|words| result.starts_with(words))
}

/// Whether a text asks for an update of the list.
pub(crate) fn is_reminder(text: &str) -> bool {
    text.trim_start().starts_with("# TODO LIST UPDATE REQUIRED")
}
