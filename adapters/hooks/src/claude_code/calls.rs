//! The client's calls as events: whose tool it was, and whether it ran.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Error, IgnoredAny, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use session_todo::{Call, Caller, Event, Outcome, Tool};

use super::input::ToolCall;

/// The name of our server, as `install` writes it.
const SERVER: &str = "session-todo";

/// Whose tool a call is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    /// The client's, or nobody's that we know.
    Client,
    /// Our server's.
    Ours,
    /// Another server's, whatever it is called: it has a list of its own, if any.
    Other,
}

/// A call's event.
pub(super) fn event<'a>(by: Caller, call: &ToolCall<'a>) -> Event<'a> {
    let (owner, name) = owner(&call.tool_name);
    match Tool::named(&name).filter(|_| owner != Owner::Other) {
        Some(tool) => {
            let outcome = call.tool_response.and_then(|response| outcome(tool, owner, response));
            called(by, name, call.arguments(), outcome.unwrap_or(Outcome::Failed))
        }
        None => called(by, name, "", Outcome::Ran { id: None }),
    }
}

/// A call of our server's tools, before the server has it.
pub(super) fn asked<'a>(by: Caller, call: &ToolCall<'a>) -> Option<Call<'a>> {
    let (owner, name) = owner(&call.tool_name);
    (owner == Owner::Ours).then(|| Call { by, name, arguments: call.arguments().into(), outcome: Outcome::Ours })
}

/// Whether it is one that our server may have logged already.
pub(super) fn is_ours(call: &ToolCall<'_>) -> bool {
    owner(&call.tool_name).0 == Owner::Ours
}

fn called<'a>(by: Caller, name: Cow<'a, str>, arguments: &'a str, outcome: Outcome<'a>) -> Event<'a> {
    Event::ToolCalled(Call { by, name, arguments: arguments.into(), outcome })
}

/// Of a tool's name, `mcp__<server>__<tool>` where it is a server's, whose it is and what the log calls it: ours by
/// its own name, another server's by that server's where the tool's own would be read as the list's.
fn owner<'a>(called: &Cow<'a, str>) -> (Owner, Cow<'a, str>) {
    let Some((server, tool)) = called.strip_prefix("mcp__").and_then(|name| name.split_once("__")) else {
        return (Owner::Client, called.clone());
    };
    if server == SERVER && Tool::named(tool).is_some() {
        return (Owner::Ours, tool.to_owned().into());
    }
    let is_mistakable = Tool::named(called).is_some();
    (Owner::Other, if is_mistakable { format!("mcp__{server}").into() } else { called.clone() })
}

/// A call ran only where its answer says so (R1). None where it does not. `PostToolBatch` has the answer as the model
/// reads it, a text or blocks of it, and `PostToolUse` as the client keeps it.
fn outcome(tool: Tool, owner: Owner, response: &RawValue) -> Option<Outcome<'static>> {
    let text = match response.get().as_bytes().first()? {
        // An error of a server's tool is bare text; what it answers otherwise stands in blocks.
        b'"' if owner == Owner::Ours => return None,
        b'"' => serde_json::from_str::<Text>(response.get()).ok()?,
        b'[' => {
            let blocks: Vec<Block> = serde_json::from_str(response.get()).ok()?;
            blocks.into_iter().find_map(|block| block.text)?
        }
        _ => return serde_json::from_str::<Kept>(response.get()).ok()?.outcome(tool),
    };
    let id = (tool == Tool::TaskCreate).then(|| task_number(&text.0).map(|id| Cow::Owned(id.to_owned()))).flatten();
    (owner == Owner::Ours || says_it_ran(tool, &text.0)).then_some(Outcome::Ran { id })
}

#[derive(Deserialize)]
struct Block {
    text: Option<Text>,
}

/// Texts of models hold half surrogate pairs, and no answer is lost for that.
struct Text(String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        json.deserialize_bytes(AnyText)
    }
}

struct AnyText;

impl Visitor<'_> for AnyText {
    type Value = Text;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a string")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Text, E> {
        Ok(Text(String::from_utf8_lossy(bytes).into_owned()))
    }
}

/// What the client keeps of an answer of its own tools.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Kept {
    success: Option<bool>,
    task: Option<Task>,
    new_todos: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Task {
    id: Option<String>,
}

impl Kept {
    fn outcome(self, tool: Tool) -> Option<Outcome<'static>> {
        let id = self.task.and_then(|task| task.id);
        let ran = match tool {
            Tool::TodoWrite => self.new_todos.is_some(),
            Tool::TaskCreate => id.is_some(),
            Tool::TaskUpdate => self.success == Some(true),
            Tool::TaskGet | Tool::TaskList => self.success != Some(false),
        };
        ran.then(|| Outcome::Ran { id: id.map(Cow::Owned) })
    }
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
