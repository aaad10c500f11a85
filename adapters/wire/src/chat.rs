//! `OpenAI` Chat Completions, and what speaks it.

use serde::Deserialize;
use serde_json::value::RawValue;
use session_todo::ToolDef;

use crate::call::{Answer, ERROR, Stage, ToolCall};
use crate::format::{End, Response};
use crate::json::{elements, nullable, quoted, text, with_role};
use crate::turn::{Part, ResultOf, Turn};

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(default, deserialize_with = "nullable")]
    role: String,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    refusal: Option<&'a RawValue>,
    /// What a model may say without a word.
    #[serde(borrow, default)]
    audio: Option<&'a RawValue>,
    #[serde(borrow, default)]
    images: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tool_calls: Option<Vec<Call<'a>>>,
    #[serde(default)]
    tool_call_id: Option<String>,
}

#[derive(Deserialize)]
struct Call<'a> {
    #[serde(default)]
    id: Option<String>,
    #[serde(borrow, default)]
    function: Option<Function<'a>>,
    #[serde(borrow, default)]
    custom: Option<Function<'a>>,
}

#[derive(Default, Deserialize)]
struct Function<'a> {
    #[serde(default, deserialize_with = "nullable")]
    name: String,
    /// A string; servers that speak the format may send the object itself.
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
    /// A custom tool's.
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ContentPart<'a> {
    #[serde(borrow, default)]
    text: Option<&'a RawValue>,
}

pub(crate) fn turn(message: &str) -> serde_json::Result<Turn> {
    let message: Message<'_> = serde_json::from_str(message)?;
    if message.role == "tool" || message.tool_call_id.is_some() {
        let is_error = message.content.is_some_and(is_error);
        let id = message.tool_call_id.unwrap_or_default();
        return Ok(Turn { is_model: false, parts: vec![Part::Result(ResultOf::new(id, is_error))] });
    }
    let calls = message.tool_calls.unwrap_or_default();
    let words = message.content.map_or_else(Vec::new, parts);
    let refusal = message.refusal.and_then(text).map(|refusal| Part::text(&refusal));
    let other = message.audio.or(message.images).map(|_| Part::Other);
    // Beside something else the one string may be empty: it is no block then.
    let is_string = message.content.is_some_and(|content| content.get().starts_with('"'));
    let is_beside = is_string && (!calls.is_empty() || refusal.is_some() || other.is_some());
    let words = words.into_iter().filter(|part| !is_beside || !matches!(part, Part::Text { is_blank: true }));
    let calls = calls.into_iter().map(|call| Part::Call(call.read()));
    let parts = words.chain(refusal).chain(other).chain(calls).collect();
    Ok(Turn { is_model: message.role == "assistant", parts })
}

impl Call<'_> {
    fn read(self) -> ToolCall {
        let Function { name, arguments, input } = self.function.or(self.custom).unwrap_or_default();
        let json = arguments.or(input);
        let arguments = json.and_then(text).or_else(|| json.map(|json| json.get().into())).unwrap_or_default();
        ToolCall::new(self.id.unwrap_or_default(), name, arguments.into_owned(), Stage::Asked)
    }
}

pub(crate) fn parts(content: &RawValue) -> Vec<Part> {
    if let Some(words) = text(content) {
        return vec![Part::text(&words)];
    }
    let part = |part| words(part).map_or(Part::Other, |words| Part::text(&text(words).unwrap_or_default()));
    elements(content).unwrap_or_default().into_iter().map(part).collect()
}

/// The words of a part that is a text.
pub(crate) fn words(part: &RawValue) -> Option<&RawValue> {
    serde_json::from_str::<ContentPart<'_>>(part.get()).ok()?.text
}

/// Whether the content of a result begins as that of a call that failed does.
pub(crate) fn is_error(content: &RawValue) -> bool {
    let begins = |json: &RawValue| text(json).is_some_and(|text| text.starts_with(ERROR));
    let first = elements(content).and_then(|parts| parts.first().copied());
    begins(content) || first.and_then(words).is_some_and(begins)
}

#[derive(Deserialize)]
struct Body<'a> {
    #[serde(borrow, default, deserialize_with = "nullable")]
    choices: Vec<Choice<'a>>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(borrow, default)]
    message: Option<&'a RawValue>,
    #[serde(default)]
    finish_reason: Option<String>,
}

pub(crate) fn response(body: &str) -> serde_json::Result<Option<Response>> {
    let body: Body<'_> = serde_json::from_str(body)?;
    let Some(Choice { message: Some(message), finish_reason }) = body.choices.into_iter().next() else {
        return Ok(None);
    };
    let end = matches!(finish_reason.as_deref(), Some("length" | "content_filter")).then_some(End::Cut);
    Ok(Some(Response { items: vec![with_role(message, "assistant")], end }))
}

pub(crate) fn content(message: &str) -> Option<&RawValue> {
    serde_json::from_str::<Message<'_>>(message).ok()?.content
}

pub(crate) fn user(role: &str, text: &str) -> String {
    format!(r#"{{"role":"{role}","content":{}}}"#, quoted(text))
}

/// A message a result.
pub(crate) fn answers(answers: &[&Answer<'_>]) -> Vec<String> {
    let result = |answer: &&Answer<'_>| {
        let (id, text) = (quoted(&answer.call.id), quoted(&answer.marked()));
        format!(r#"{{"role":"tool","tool_call_id":{id},"content":{text}}}"#)
    };
    answers.iter().map(result).collect()
}

pub(crate) fn tool(tool: &ToolDef) -> String {
    let ToolDef { name, description, schema } = tool;
    let (name, description) = (quoted(name), quoted(description));
    format!(r#"{{"type":"function","function":{{"name":{name},"description":{description},"parameters":{schema}}}}}"#)
}
