//! Roo Code: `update_todo_list`, whose list is a Markdown checklist, and the list as it stands in each
//! message of the user's.
//!
//! | what | where |
//! |---|---|
//! | a call | a `tool_use` block, or `<update_todo_list><todos>…` in a response's text |
//! | how it ended | `Todo list updated …`, or the list as a person changed it; all else failed |
//! | the list as it stood, and a reminder | a table in the message's `<environment_details>` |

use serde_json::Value;

use crate::chat::element;
use crate::{Family, Found, Recorded, Sink};

/// The tool's name.
pub(crate) const TOOL: &str = "update_todo_list";

const EDITED: &str = "User edits todo:";

/// The arguments of a call that was written as an element.
pub(crate) fn arguments(inner: &str) -> String {
    let list = element(inner, "todos").map_or("", |(list, _)| list);
    format!("{{\"todos\":{}}}", Value::from(list))
}

/// Whether a result says that the list was changed.
pub(crate) fn ran(result: &str) -> bool {
    result.starts_with("Todo list updated") || result.starts_with(EDITED)
}

/// The list as a person changed it before it was taken.
pub(crate) fn edited(result: &str) -> Option<String> {
    let lines = result.strip_prefix(EDITED)?.lines();
    Some(listed(lines.filter_map(|line| {
        let (sign, content) = line.trim().strip_prefix('[')?.split_once("] ")?;
        let status = match sign {
            "x" => "completed",
            "-" => "in_progress",
            _ => "pending",
        };
        Some((content.to_owned(), status.to_owned()))
    })))
}

/// Whether a text is the client's own account of where things stand.
pub(crate) fn is_environment(text: &str) -> bool {
    text.starts_with("<environment_details>") && text.trim_end().ends_with("</environment_details>")
}

/// What such an account says of the list.
pub(crate) fn environment(text: &str, line: u64, found: Sink<'_>) {
    let list = match text.split_once("\n| # | Content | Status |\n") {
        Some((_, table)) => listed(table.lines().skip(1).map_while(row)),
        None if text.contains("You have not created a todo list yet.") => "[]".into(),
        None => return,
    };
    found(Found::Recorded(Recorded { family: Family::TodoWrite, list: &list, line }));
    found(Found::Reminded);
}

/// A line of the table.
fn row(line: &str) -> Option<(String, String)> {
    let (_, rest) = line.strip_prefix("| ")?.split_once(" | ")?;
    let (content, status) = rest.strip_suffix(" |")?.rsplit_once(" | ")?;
    let content = content.replace("\\|", "|").replace("\\\\", "\\");
    Some((content, status.to_lowercase().replace(' ', "_")))
}

fn listed(items: impl Iterator<Item = (String, String)>) -> String {
    let item =
        |(content, status)| serde_json::json!({ "content": Value::from(content), "status": Value::from(status) });
    Value::Array(items.map(item).collect()).to_string()
}
