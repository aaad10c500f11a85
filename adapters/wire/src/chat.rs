//! `OpenAI` Chat Completions, and what speaks it.

use serde::Deserialize;
use serde_json::value::RawValue;
use session_todo::ToolDef;

use crate::call::{Answer, ERROR, Stage, ToolCall};
use crate::format::Response;
use crate::json::{elements, quoted, text};
use crate::turn::{Part, ResultOf, Turn};

#[derive(Deserialize)]
struct Message<'a> {
    role: String,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    refusal: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tool_calls: Option<Vec<Call<'a>>>,
    #[serde(default)]
    tool_call_id: Option<String>,
}

#[derive(Deserialize)]
struct Call<'a> {
    #[serde(default)]
    id: Option<String>,
    #[serde(borrow, alias = "custom")]
    function: Function<'a>,
}

#[derive(Deserialize)]
struct Function<'a> {
    name: String,
    /// A string; servers that speak the format may send the object itself.
    #[serde(borrow, default, alias = "input")]
    arguments: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ContentPart<'a> {
    #[serde(borrow, default)]
    text: Option<&'a RawValue>,
}

pub(crate) fn turn(message: &str) -> serde_json::Result<Turn> {
    let message: Message<'_> = serde_json::from_str(message)?;
    if let Some(id) = message.tool_call_id {
        let is_error = message.content.is_some_and(is_error);
        return Ok(Turn { is_model: false, parts: vec![Part::Result(ResultOf { id, name: String::new(), is_error })] });
    }
    let calls = message.tool_calls.unwrap_or_default();
    let words = message.content.map_or_else(Vec::new, parts);
    let refusal = message.refusal.and_then(text).map(|refusal| Part::text(&refusal));
    // Beside calls or a refusal the content may be empty: it is no block then.
    let is_beside = !calls.is_empty() || refusal.is_some();
    let words = words.into_iter().filter(|part| !is_beside || !matches!(part, Part::Text { is_blank: true }));
    let parts = words.chain(refusal).chain(calls.into_iter().map(|call| Part::Call(call.read()))).collect();
    Ok(Turn { is_model: message.role == "assistant", parts })
}

impl Call<'_> {
    fn read(self) -> ToolCall {
        let json = self.function.arguments;
        let arguments = json.and_then(text).or_else(|| json.map(|json| json.get().into())).unwrap_or_default();
        ToolCall::new(self.id.unwrap_or_default(), self.function.name, arguments.into_owned(), Stage::Asked)
    }
}

pub(crate) fn parts(content: &RawValue) -> Vec<Part> {
    if let Some(words) = text(content) {
        return vec![Part::text(&words)];
    }
    let part = |part: &RawValue| match serde_json::from_str::<ContentPart<'_>>(part.get()) {
        Ok(ContentPart { text: Some(words) }) => Part::text(&text(words).unwrap_or_default()),
        Ok(_) | Err(_) => Part::Other,
    };
    elements(content).unwrap_or_default().into_iter().map(part).collect()
}

/// Whether the content of a result begins as that of a call that failed does.
pub(crate) fn is_error(content: &RawValue) -> bool {
    let begins = |json: &RawValue| text(json).is_some_and(|text| text.starts_with(ERROR));
    let first = elements(content).and_then(|parts| parts.first().copied());
    let words = first.and_then(|part| serde_json::from_str::<ContentPart<'_>>(part.get()).ok()?.text);
    begins(content) || words.is_some_and(begins)
}

#[derive(Deserialize)]
struct Body<'a> {
    #[serde(borrow, default)]
    choices: Vec<Choice<'a>>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(borrow)]
    message: &'a RawValue,
    #[serde(default)]
    finish_reason: Option<String>,
}

pub(crate) fn response(body: &str) -> serde_json::Result<Option<Response>> {
    let body: Body<'_> = serde_json::from_str(body)?;
    Ok(body.choices.into_iter().next().map(|choice| Response {
        items: vec![choice.message.to_owned()],
        is_cut: matches!(choice.finish_reason.as_deref(), Some("length" | "content_filter")),
    }))
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
