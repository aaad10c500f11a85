//! `OpenAI` Responses: a response is several items, each an item of the next input.

use serde::Deserialize;
use serde_json::value::RawValue;
use session_todo::ToolDef;

use crate::call::{Answer, Stage, ToolCall};
use crate::chat;
use crate::format::{End, Response};
use crate::json::{quoted, text};
use crate::turn::{Part, ResultOf, Turn};

#[derive(Deserialize)]
struct Item<'a> {
    #[serde(default)]
    r#type: Option<String>,
    #[serde(default)]
    role: Option<String>,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    call_id: Option<String>,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    status: Option<String>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
    /// A custom tool's.
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    output: Option<&'a RawValue>,
}

pub(crate) fn turn(item: &str) -> serde_json::Result<Turn> {
    let item: Item<'_> = serde_json::from_str(item)?;
    let is_model = item.role.as_deref().is_none_or(|role| role == "assistant");
    let kind = item.r#type.as_deref().unwrap_or("message");
    if kind == "message" {
        return Ok(Turn { is_model, parts: item.content.map(chat::parts).unwrap_or_default() });
    }
    // What a program of the provider's own gives is no answer to a call.
    if let Some(result) = item.result().filter(|_| kind.ends_with("_output") && kind != "program_output") {
        return Ok(Turn { is_model: false, parts: vec![Part::Result(result)] });
    }
    let part = if kind.ends_with("_call") { Part::Call(item.read()) } else { Part::Other };
    Ok(Turn { is_model: true, parts: vec![part] })
}

impl Item<'_> {
    fn kind(&self) -> &str {
        self.r#type.as_deref().unwrap_or_default()
    }

    /// Whether it is of a tool that the request defines, which nobody but the loop can run.
    fn is_defined(&self) -> bool {
        self.kind().starts_with("function_call") || self.kind().starts_with("custom_tool_call")
    }

    /// A result. One that names no call is of a call that the provider ran.
    fn result(&self) -> Option<ResultOf> {
        // A shell's names its call by its own id.
        let of = self.call_id.clone().or_else(|| self.id.clone().filter(|_| self.kind().starts_with("local_shell")));
        let id = of.or_else(|| self.is_defined().then(String::new))?;
        let is_error = self.output.is_some_and(chat::is_error);
        Some(ResultOf { is_hosted: !self.is_defined(), ..ResultOf::new(id, is_error) })
    }

    /// A call. Of the provider's tools, one without a `call_id` was run by the provider.
    fn read(self) -> ToolCall {
        let stage = match self.status.as_deref() {
            _ if self.call_id.is_none() && !self.is_defined() => Stage::Served,
            Some("incomplete") => Stage::Cut,
            _ => Stage::Asked,
        };
        let is_custom = self.r#type.as_deref() == Some("custom_tool_call");
        let name = self.name.or(self.r#type).unwrap_or_default();
        let json = self.arguments.or(self.input);
        let arguments = json.and_then(text).or_else(|| json.map(|json| json.get().into())).unwrap_or_default();
        ToolCall { is_custom, ..ToolCall::new(self.call_id.unwrap_or_default(), name, arguments.into_owned(), stage) }
    }
}

#[derive(Deserialize)]
struct Body<'a> {
    #[serde(borrow, default)]
    output: Option<Vec<&'a RawValue>>,
    #[serde(default)]
    status: Option<String>,
}

pub(crate) fn response(body: &str) -> serde_json::Result<Option<Response>> {
    let Body { output, status } = serde_json::from_str(body)?;
    let end = (status.as_deref() == Some("incomplete")).then_some(End::Cut);
    // One that failed, was cancelled or goes on in the background holds no answer, though it may hold items.
    let output = output.filter(|_| matches!(status.as_deref(), None | Some("completed" | "incomplete")));
    Ok(output.map(|output| Response { items: output.into_iter().map(ToOwned::to_owned).collect(), end }))
}

/// What holds an item's words.
pub(crate) fn content(item: &str) -> Option<&RawValue> {
    let item: Item<'_> = serde_json::from_str(item).ok()?;
    item.content.or(item.output)
}

pub(crate) fn user(role: &str, text: &str) -> String {
    format!(r#"{{"type":"message","role":"{role}","content":[{}]}}"#, text_part(text))
}

pub(crate) fn text_part(text: &str) -> String {
    words_part(&quoted(text))
}

/// The same of a JSON string.
pub(crate) fn words_part(json: &str) -> String {
    format!(r#"{{"type":"input_text","text":{json}}}"#)
}

/// An item a result.
pub(crate) fn answers(answers: &[&Answer<'_>]) -> Vec<String> {
    let result = |answer: &&Answer<'_>| {
        let (id, text) = (quoted(&answer.call.id), quoted(&answer.marked()));
        let kind = if answer.call.is_custom { "custom_tool_call_output" } else { "function_call_output" };
        format!(r#"{{"type":"{kind}","call_id":{id},"output":{text}}}"#)
    };
    answers.iter().map(result).collect()
}

pub(crate) fn tool(tool: &ToolDef) -> String {
    let ToolDef { name, description, schema } = tool;
    let (name, description) = (quoted(name), quoted(description));
    format!(r#"{{"type":"function","name":{name},"description":{description},"parameters":{schema},"strict":false}}"#)
}
