//! Anthropic Messages.

use serde::Deserialize;
use serde_json::value::RawValue;
use session_todo::ToolDef;

use crate::call::{Answer, Stage, ToolCall};
use crate::format::{End, Response};
use crate::json::{elements, nullable, quoted, raw, text};
use crate::turn::{Part, ResultOf, Turn};

#[derive(Deserialize)]
struct Message<'a> {
    role: String,
    #[serde(borrow)]
    content: &'a RawValue,
}

#[derive(Deserialize)]
struct Block<'a> {
    r#type: String,
    #[serde(default, deserialize_with = "nullable")]
    id: String,
    #[serde(default, deserialize_with = "nullable")]
    name: String,
    #[serde(default, deserialize_with = "nullable")]
    tool_use_id: String,
    #[serde(default)]
    is_error: Option<bool>,
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
    #[serde(borrow, default)]
    text: Option<&'a RawValue>,
}

pub(crate) fn turn(message: &str) -> serde_json::Result<Turn> {
    let Message { role, content } = serde_json::from_str(message)?;
    let parts = match text(content) {
        Some(words) => vec![Part::text(&words)],
        None => serde_json::from_str::<Vec<Block<'_>>>(content.get())?.into_iter().map(part).collect(),
    };
    Ok(Turn { is_model: role == "assistant", parts })
}

fn part(block: Block<'_>) -> Part {
    let stage = match block.r#type.as_str() {
        "text" => return Part::text(&block.text.and_then(text).unwrap_or_default()),
        "tool_result" => {
            let is_error = block.is_error == Some(true);
            return Part::Result(ResultOf::new(block.tool_use_id, is_error));
        }
        "tool_use" => Stage::Asked,
        "server_tool_use" | "mcp_tool_use" => Stage::Served,
        _ => return Part::Other,
    };
    let arguments = block.input.map_or("", RawValue::get).to_owned();
    Part::Call(ToolCall::new(block.id, block.name, arguments, stage))
}

#[derive(Deserialize)]
struct Body<'a> {
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(default)]
    stop_reason: Option<String>,
}

pub(crate) fn response(body: &str) -> serde_json::Result<Option<Response>> {
    let Body { content: Some(content), stop_reason } = serde_json::from_str(body)? else { return Ok(None) };
    let message = format!(r#"{{"role":"assistant","content":{}}}"#, content.get());
    let end = match stop_reason.as_deref() {
        Some("max_tokens" | "model_context_window_exceeded" | "refusal") => Some(End::Cut),
        Some("pause_turn") => Some(End::Paused),
        Some(_) | None => None,
    };
    Ok(Some(Response { items: vec![raw(message)], end }))
}

pub(crate) fn content(message: &str) -> Option<&RawValue> {
    serde_json::from_str::<Message<'_>>(message).ok().map(|message| message.content)
}

pub(crate) fn user(text: &str) -> String {
    format!(r#"{{"role":"user","content":[{}]}}"#, text_part(text))
}

/// A text block.
pub(crate) fn text_part(text: &str) -> String {
    words_part(&quoted(text))
}

/// The same of a JSON string.
pub(crate) fn words_part(json: &str) -> String {
    format!(r#"{{"type":"text","text":{json}}}"#)
}

/// One message with all results, so that they come first and right after their calls (E2).
pub(crate) fn answers(answers: &[&Answer<'_>]) -> Vec<String> {
    let blocks: Vec<String> = answers.iter().map(|answer| result(answer)).collect();
    vec![format!(r#"{{"role":"user","content":[{}]}}"#, blocks.join(","))]
}

fn result(answer: &Answer<'_>) -> String {
    let id = quoted(&answer.call.id);
    let is_error = if answer.is_error { r#","is_error":true"# } else { "" };
    let content = match answer.text.trim() {
        "" => String::new(),
        _ => format!(r#","content":{}"#, quoted(&answer.text)),
    };
    format!(r#"{{"type":"tool_result","tool_use_id":{id}{content}{is_error}}}"#)
}

pub(crate) fn tool(tool: &ToolDef) -> String {
    let ToolDef { name, description, schema } = tool;
    format!(r#"{{"name":{},"description":{},"input_schema":{schema}}}"#, quoted(name), quoted(description))
}

/// Where the last part with words of this message stands: its string.
pub(crate) fn last_words(message: &str) -> Option<&RawValue> {
    let content = content(message)?;
    if content.get().starts_with('"') {
        return Some(content);
    }
    let blocks = elements(content)?;
    blocks.into_iter().rev().find_map(|block| {
        let block: Block<'_> = serde_json::from_str(block.get()).ok()?;
        block.text.filter(|_| matches!(block.r#type.as_str(), "text" | "input_text"))
    })
}
