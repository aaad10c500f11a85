use std::io::{self, Write};

use clap::ValueEnum;
use serde_json::{Value, json};
use session_todo::{Dialect, ToolDef};

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
    let ToolDef { name, description, schema } = tool;
    let schema: Value = serde_json::from_str(schema)?;
    Ok(match format {
        Format::Anthropic => json!({"name": name, "description": description, "input_schema": schema}),
        Format::Mcp => json!({"name": name, "description": description, "inputSchema": schema}),
        Format::Responses => {
            json!({"type": "function", "name": name, "description": description, "parameters": schema, "strict": false})
        }
        Format::Openai => {
            json!({"type": "function", "function": {"name": name, "description": description, "parameters": schema}})
        }
        Format::Gemini => json!({"name": name, "description": description, "parametersJsonSchema": schema}),
    })
}
