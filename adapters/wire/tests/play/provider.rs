//! A provider that says what a test wants, in the bytes of its format: odd spaces, fields that no type knows,
//! numbers in odd forms. All of it has to come back as it was.

use serde_json::Value;
use session_todo_wire::Format;

/// A call that a response makes.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) id: String,
    pub(crate) name: String,
    /// A JSON object.
    pub(crate) arguments: String,
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// The body of a response with words, where there are any, and calls.
pub(crate) fn response(format: Format, words: &str, calls: &[Asked], is_cut: bool) -> String {
    match format {
        Format::Anthropic => anthropic(words, calls, is_cut),
        Format::Chat => chat(words, calls, is_cut),
        Format::Responses => responses(words, calls, is_cut),
        Format::Gemini => gemini(words, calls, is_cut),
    }
}

fn anthropic(words: &str, calls: &[Asked], is_cut: bool) -> String {
    let mut blocks = vec![r#"{"type":"thinking","thinking":"hm \u003c","signature":"c2ln"}"#.to_owned()];
    if !words.is_empty() {
        blocks.push(format!(r#"{{"type":"text", "text":{}}}"#, quoted(words)));
    }
    for Asked { id, name, arguments } in calls {
        blocks.push(format!(r#"{{"type":"tool_use","id":"{id}","name":"{name}","input": {arguments}}}"#));
    }
    let stop = if is_cut { "max_tokens" } else { "tool_use" };
    let usage = r#""usage":{"input_tokens":1,"output_tokens":1}"#;
    let blocks = blocks.join(" ,");
    format!(
        r#"{{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{blocks}],"stop_reason":"{stop}",{usage}}}"#
    )
}

fn chat(words: &str, calls: &[Asked], is_cut: bool) -> String {
    let call = |Asked { id, name, arguments }: &Asked| {
        let arguments = quoted(arguments);
        format!(r#"{{"id":"{id}","type":"function","function":{{"name":"{name}","arguments":{arguments}}}}}"#)
    };
    let calls: Vec<String> = calls.iter().map(call).collect();
    let content = if words.is_empty() { "null".to_owned() } else { quoted(words) };
    let calls = if calls.is_empty() { String::new() } else { format!(r#","tool_calls":[{}]"#, calls.join(", ")) };
    let stop = if is_cut { "length" } else { "stop" };
    let message = format!(r#"{{ "role":"assistant","content":{content}{calls},"vendor_ext":{{"n":1.0e0}}}}"#);
    format!(
        r#"{{"id":"c","object":"chat.completion","choices":[{{"index":0,"message":{message},"finish_reason":"{stop}"}}]}}"#
    )
}

fn responses(words: &str, calls: &[Asked], is_cut: bool) -> String {
    let mut items = vec![r#"{"type":"reasoning","id":"rs_1","summary":[ ],"encrypted_content":"eA=="}"#.to_owned()];
    if !words.is_empty() {
        let part = format!(r#"{{"type":"output_text","text":{},"annotations":[]}}"#, quoted(words));
        items.push(format!(
            r#"{{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{part}]}}"#
        ));
    }
    for Asked { id, name, arguments } in calls {
        let arguments = quoted(arguments);
        items.push(format!(
            r#"{{"type":"function_call", "id":"fc_1","call_id":"{id}","name":"{name}","arguments":{arguments}}}"#
        ));
    }
    let status = if is_cut { "incomplete" } else { "completed" };
    format!(r#"{{"id":"resp_1","object":"response","status":"{status}","output":[{}]}}"#, items.join(" , "))
}

fn gemini(words: &str, calls: &[Asked], is_cut: bool) -> String {
    let mut parts = Vec::new();
    if !words.is_empty() {
        parts.push(format!(r#"{{"text":{},"thoughtSignature":"c2ln"}}"#, quoted(words)));
    }
    for Asked { id, name, arguments } in calls {
        parts.push(format!(
            r#"{{"functionCall":{{"id":"{id}","name":"{name}","args": {arguments}}},"thoughtSignature":"c2ln"}}"#
        ));
    }
    if parts.is_empty() {
        return r#"{"candidates":[{"finishReason":"STOP","index":0}]}"#.to_owned();
    }
    let stop = if is_cut { "MAX_TOKENS" } else { "STOP" };
    let content = format!(r#"{{"parts":[{}],"role":"model"}}"#, parts.join(", "));
    format!(r#"{{"candidates":[{{"content":{content},"finishReason":"{stop}","index":0}}],"modelVersion":"m"}}"#)
}

/// A whole request, as a loop sends it.
pub(crate) fn request(format: Format, tools: &str, messages: &str) -> String {
    match format {
        Format::Anthropic => {
            format!(r#"{{"model":"m","max_tokens":1024,"system":"Work.","tools":{tools},"messages":{messages}}}"#)
        }
        Format::Chat => format!(r#"{{"model":"m","tools":{tools},"messages":{messages}}}"#),
        Format::Responses => {
            format!(r#"{{"model":"m","instructions":"Work.","store":false,"tools":{tools},"input":{messages}}}"#)
        }
        Format::Gemini => format!(r#"{{"tools":{tools},"contents":{messages}}}"#),
    }
}
