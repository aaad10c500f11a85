//! The client's calls as events: whose tool it was, and whether it ran.

use std::borrow::Cow;

use serde::Deserialize;
use session_todo::{Call, Caller, Event, Outcome, Tool};

use super::input::ToolCall;

/// A call's event.
pub(super) fn event<'a>(by: Caller, call: &ToolCall<'a>) -> Event<'a> {
    let (name, is_ours) = name(&call.tool_name);
    let Some(tool) = Tool::named(&name) else {
        return called(by, name, "", Outcome::Ran { id: None });
    };
    let response = call.tool_response.and_then(|raw| serde_json::from_str(raw.get()).ok());
    let outcome = response.and_then(|response| outcome(tool, is_ours, response)).unwrap_or(Outcome::Failed);
    called(by, name, call.arguments(), outcome)
}

/// A call of our server's tools that is ours to answer: a sub-agent's write.
pub(super) fn asked<'a>(call: &ToolCall<'a>) -> Option<Event<'a>> {
    let (name, is_ours) = name(&call.tool_name);
    let writes = Tool::named(&name).is_some_and(Tool::writes);
    (is_ours && writes).then(|| called(Caller::Sub, name, call.arguments(), Outcome::Ours))
}

/// Whether it is one that our server may have logged already.
pub(super) fn is_ours(call: &ToolCall<'_>) -> bool {
    name(&call.tool_name).1
}

fn called<'a>(by: Caller, name: Cow<'a, str>, arguments: &'a str, outcome: Outcome<'a>) -> Event<'a> {
    Event::ToolCalled(Call { by, name, arguments: arguments.into(), outcome })
}

/// The tool's own name, and whether it is a list tool of an MCP server: `mcp__<server>__<tool>`. Its user may
/// have called our server what they like.
fn name<'a>(called: &Cow<'a, str>) -> (Cow<'a, str>, bool) {
    let bare = match called {
        Cow::Borrowed(called) => bare(called).map(Cow::Borrowed),
        Cow::Owned(called) => bare(called).map(|bare| Cow::Owned(bare.to_owned())),
    };
    bare.map_or_else(|| (called.clone(), false), |bare| (bare, true))
}

fn bare(called: &str) -> Option<&str> {
    let (_, tool) = called.strip_prefix("mcp__")?.rsplit_once("__")?;
    Tool::named(tool).map(|_| tool)
}

/// A tool's answer. `PostToolBatch` has it as the model reads it, `PostToolUse` as the client keeps it.
#[derive(Deserialize)]
#[serde(untagged)]
enum Response {
    Text(String),
    Blocks(Vec<Block>),
    Kept { success: Option<bool>, task: Option<Task> },
}

#[derive(Deserialize)]
struct Block {
    text: Option<String>,
}

#[derive(Deserialize)]
struct Task {
    id: Option<String>,
}

/// A call ran only where its answer says so (R1). None where it does not.
fn outcome(tool: Tool, is_ours: bool, response: Response) -> Option<Outcome<'static>> {
    let text = match response {
        // An error of a server's tool is bare text; what it answers otherwise stands in blocks.
        Response::Text(_) if is_ours => return None,
        Response::Text(text) => text,
        Response::Blocks(blocks) => blocks.into_iter().find_map(|block| block.text)?,
        Response::Kept { success: Some(false), .. } => return None,
        Response::Kept { task, .. } => return Some(Outcome::Ran { id: task.and_then(|task| task.id).map(Cow::Owned) }),
    };
    let id = (tool == Tool::TaskCreate).then(|| task_number(&text).map(|id| Cow::Owned(id.to_owned()))).flatten();
    (is_ours || says_it_ran(tool, &text)).then_some(Outcome::Ran { id })
}

/// The words of the client's own tools. A refusal, a denial and an interruption have others, many of them.
fn says_it_ran(tool: Tool, text: &str) -> bool {
    match tool {
        Tool::TodoWrite => text.starts_with("Todos have been modified"),
        Tool::TaskCreate => task_number(text).is_some(),
        Tool::TaskUpdate => text.starts_with("Updated task #"),
        Tool::TaskGet | Tool::TaskList => !text.starts_with("<tool_use_error>") && text != "Task not found",
    }
}

/// The number in `Task #7 created successfully: …` (R4), or in our own `Created #7 […`.
fn task_number(text: &str) -> Option<&str> {
    if let Some(ours) = text.strip_prefix("Created #") {
        return ours.split_once(' ').map(|(number, _)| number);
    }
    let (number, rest) = text.strip_prefix("Task #")?.split_once(' ')?;
    rest.starts_with("created").then_some(number)
}
