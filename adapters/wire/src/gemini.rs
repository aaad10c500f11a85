//! Gemini `generateContent`.

use serde::Deserialize;
use serde_json::value::RawValue;
use session_todo::ToolDef;

use crate::call::{Answer, Stage, ToolCall};
use crate::format::{End, Response};
use crate::json::{elements, nullable, quoted, text, with_role};
use crate::turn::{Part, ResultOf, Turn};

#[derive(Deserialize)]
struct Content<'a> {
    #[serde(default)]
    role: Option<String>,
    #[serde(borrow, default)]
    parts: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GeminiPart<'a> {
    #[serde(borrow, default)]
    text: Option<&'a RawValue>,
    #[serde(borrow, default, alias = "thought_signature")]
    thought_signature: Option<&'a RawValue>,
    #[serde(borrow, default, alias = "function_call")]
    function_call: Option<FunctionCall<'a>>,
    #[serde(borrow, default, alias = "function_response")]
    function_response: Option<FunctionResponse<'a>>,
    #[serde(borrow, default, alias = "executable_code")]
    executable_code: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct FunctionCall<'a> {
    #[serde(default)]
    id: Option<String>,
    #[serde(default, deserialize_with = "nullable")]
    name: String,
    #[serde(borrow, default)]
    args: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct FunctionResponse<'a> {
    #[serde(default)]
    id: Option<String>,
    #[serde(default, deserialize_with = "nullable")]
    name: String,
    #[serde(borrow, default)]
    response: Option<Outcome<'a>>,
}

#[derive(Deserialize)]
struct Outcome<'a> {
    #[serde(borrow, default)]
    output: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

pub(crate) fn turn(content: &str) -> serde_json::Result<Turn> {
    let Content { role, parts } = serde_json::from_str(content)?;
    let parts: Vec<GeminiPart<'_>> = parts.map_or(Ok(Vec::new()), |parts| serde_json::from_str(parts.get()))?;
    let parts: Vec<Part> = parts.into_iter().map(part).collect();
    // Where no role is named, a call tells.
    let calls = || parts.iter().any(|part| matches!(part, Part::Call(_)));
    Ok(Turn { is_model: role.map_or_else(calls, |role| role == "model"), parts })
}

fn part(part: GeminiPart<'_>) -> Part {
    if let Some(call) = part.function_call {
        let arguments = call.args.map_or("", RawValue::get).to_owned();
        return Part::Call(ToolCall::new(call.id.unwrap_or_default(), call.name, arguments, Stage::Asked));
    }
    if let Some(FunctionResponse { id, name, response }) = part.function_response {
        let is_error = response.is_some_and(|said| said.error.is_some() && said.output.is_none());
        return Part::Result(ResultOf { name, ..ResultOf::new(id.unwrap_or_default(), is_error) });
    }
    if part.executable_code.is_some() {
        return Part::Call(ToolCall::new(String::new(), "code_execution".to_owned(), String::new(), Stage::Served));
    }
    match part.text.and_then(text) {
        // A signature may stand beside an empty text, and has to go back.
        Some(words) if part.thought_signature.is_none() => Part::text(&words),
        Some(_) | None => Part::Other,
    }
}

#[derive(Deserialize)]
struct Body<'a> {
    #[serde(borrow, default, deserialize_with = "nullable")]
    candidates: Vec<Candidate<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate<'a> {
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(default)]
    finish_reason: Option<String>,
}

pub(crate) fn response(body: &str) -> serde_json::Result<Option<Response>> {
    let body: Body<'_> = serde_json::from_str(body)?;
    Ok(body.candidates.into_iter().next().map(|candidate| Response {
        items: candidate.content.map(|content| with_role(content, "model")).into_iter().collect(),
        end: (candidate.finish_reason.as_deref() == Some("MAX_TOKENS")).then_some(End::Cut),
    }))
}

pub(crate) fn content(content: &str) -> Option<&RawValue> {
    serde_json::from_str::<Content<'_>>(content).ok()?.parts
}

pub(crate) fn user(text: &str) -> String {
    format!(r#"{{"role":"user","parts":[{}]}}"#, text_part(text))
}

pub(crate) fn text_part(text: &str) -> String {
    words_part(&quoted(text))
}

/// The same of a JSON string.
pub(crate) fn words_part(json: &str) -> String {
    format!(r#"{{"text":{json}}}"#)
}

/// One content with a response for each call, and nothing else in it.
pub(crate) fn answers(answers: &[&Answer<'_>]) -> Vec<String> {
    let parts: Vec<String> = answers.iter().map(|answer| result(answer)).collect();
    vec![format!(r#"{{"role":"user","parts":[{}]}}"#, parts.join(","))]
}

fn result(answer: &Answer<'_>) -> String {
    let call = answer.call;
    let id = if call.id.is_empty() { String::new() } else { format!(r#""id":{},"#, quoted(&call.id)) };
    let key = if answer.is_error { "error" } else { "output" };
    let (name, text) = (quoted(&call.name), quoted(&answer.text));
    format!(r#"{{"functionResponse":{{{id}"name":{name},"response":{{"{key}":{text}}}}}}}"#)
}

pub(crate) fn tool(tool: &ToolDef) -> String {
    let ToolDef { name, description, schema } = tool;
    format!(r#"{{"name":{},"description":{},"parametersJsonSchema":{schema}}}"#, quoted(name), quoted(description))
}

/// Where the last part with words of this content stands: its string.
pub(crate) fn last_words(content: &str) -> Option<&RawValue> {
    let parts = elements(self::content(content)?)?;
    parts.into_iter().rev().find_map(|part| serde_json::from_str::<GeminiPart<'_>>(part.get()).ok()?.text)
}
