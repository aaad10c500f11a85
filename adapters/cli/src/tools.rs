use std::io::{self, Write};

use clap::ValueEnum;
use serde_json::{Value, json};
use session_todo::{Dialect, ToolDef};
use session_todo_wire as wire;

use crate::DONE;

/// The shape in which a request takes tool definitions.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Format {
    /// Anthropic Messages: `tools`
    Anthropic,
    /// `OpenAI` Chat Completions: `tools`
    Openai,
    /// `OpenAI` Responses: `tools`
    Responses,
    /// Gemini `generateContent`: `tools`
    Gemini,
    /// MCP `tools/list`: `tools`
    Mcp,
}

/// Prints the value of a request's `tools`.
pub(crate) fn run(dialect: Dialect, format: Format) -> io::Result<u8> {
    let tools = dialect.tools().map(|tool| definition(&tool, format)).collect::<Result<Vec<Value>, _>>()?;
    let tools = match format {
        Format::Gemini => json!([{ "functionDeclarations": tools }]),
        Format::Anthropic | Format::Openai | Format::Responses | Format::Mcp => Value::Array(tools),
    };
    writeln!(io::stdout().lock(), "{}", serde_json::to_string_pretty(&tools)?)?;
    Ok(DONE)
}

fn definition(tool: &ToolDef, format: Format) -> serde_json::Result<Value> {
    let of = |format: wire::Format| serde_json::from_str(&format.tool(tool));
    match format {
        Format::Anthropic => of(wire::Format::Anthropic),
        Format::Openai => of(wire::Format::Chat),
        Format::Responses => of(wire::Format::Responses),
        Format::Gemini => of(wire::Format::Gemini),
        Format::Mcp => {
            let schema: Value = serde_json::from_str(&tool.schema)?;
            Ok(json!({"name": tool.name, "description": tool.description, "inputSchema": schema}))
        }
    }
}
