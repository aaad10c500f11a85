//! Tools that do no harm, beside the list's own.

use serde::Deserialize;
use session_todo::{Policy, ToolDef};
use session_todo_wire::{Answer, Format, ToolCall};

/// The value of a request's `tools`. It is the same for the whole session.
pub(crate) fn offered(format: Format, policy: &Policy) -> String {
    let tools: Vec<String> = policy.tools().chain(ours()).map(|tool| format.tool(&tool)).collect();
    match format {
        Format::Gemini => format!(r#"[{{"functionDeclarations":[{}]}}]"#, tools.join(",")),
        Format::Anthropic | Format::Chat | Format::Responses => format!("[{}]", tools.join(",")),
    }
}

fn ours() -> [ToolDef; 2] {
    [
        ToolDef {
            name: "add",
            description: "Adds two numbers.",
            schema:
                r#"{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"]}"#
                    .to_owned(),
        },
        ToolDef {
            name: "count_words",
            description: "Counts the words of a text.",
            schema: r#"{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}"#.to_owned(),
        },
    ]
}

#[derive(Deserialize)]
struct Add {
    a: f64,
    b: f64,
}

#[derive(Deserialize)]
struct CountWords {
    text: String,
}

/// Runs a call of a tool that is not the list's.
pub(crate) fn run(call: &ToolCall) -> Answer<'_> {
    let done = match call.name.as_str() {
        "add" => serde_json::from_str(&call.arguments).map(|Add { a, b }| (a + b).to_string()),
        "count_words" => {
            serde_json::from_str(&call.arguments).map(|CountWords { text }| text.split_whitespace().count().to_string())
        }
        name => return call.error(format!("There is no tool {name}. There are add and count_words.")),
    };
    match done {
        Ok(text) => call.ok(text),
        Err(error) => call.error(format!("The arguments of {} can't be read: {error}", call.name)),
    }
}
