//! A response that comes in pieces, put together as the body that it would have had in one.

// What is not in a `Value` reads as null.
#![allow(clippy::indexing_slicing)]

use std::collections::BTreeMap;
use std::io::Write;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use session_todo_wire::Format;

use crate::agent::Result;
use crate::provider::Reply;
use crate::screen::plain;

/// The pieces so far.
pub(crate) struct Stream {
    format: Format,
    words: String,
    /// Content blocks or tool calls by their index: what began each, and the text that followed.
    pieces: BTreeMap<u64, (Value, String)>,
    /// Parts of Gemini, as they came.
    parts: Vec<String>,
    /// Why it ended.
    stop: Value,
    /// The whole response, where the stream itself ends with it.
    whole: Option<String>,
}

impl Stream {
    pub(crate) fn new(format: Format) -> Self {
        let (words, pieces, parts) = (String::new(), BTreeMap::new(), Vec::new());
        Self { format, words, pieces, parts, stop: Value::Null, whole: None }
    }

    /// The data of one event.
    pub(crate) fn data(&mut self, data: &str) -> Result<()> {
        if data == "[DONE]" {
            return Ok(());
        }
        let event: Value = serde_json::from_str(data)?;
        if !event["error"].is_null() {
            return Err(format!("the provider broke off: {}", event["error"]).into());
        }
        match self.format {
            Format::Anthropic => self.anthropic(&event),
            Format::Chat => self.chat(&event["choices"][0]),
            Format::Responses => self.responses(&event, data)?,
            Format::Gemini => self.gemini(&event["candidates"][0], data)?,
        }
        Ok(())
    }

    fn say(&mut self, words: &Value) {
        let words = words.as_str().unwrap_or_default();
        print!("{}", plain(words));
        let _ = std::io::stdout().flush();
        self.words.push_str(words);
    }

    fn anthropic(&mut self, event: &Value) {
        let (index, delta) = (event["index"].as_u64().unwrap_or_default(), &event["delta"]);
        match event["type"].as_str().unwrap_or_default() {
            "content_block_start" => {
                self.pieces.insert(index, (event["content_block"].clone(), String::new()));
            }
            "content_block_delta" => {
                self.say(&delta["text"]);
                let Some((block, text)) = self.pieces.get_mut(&index) else { return };
                for key in ["text", "thinking", "partial_json"] {
                    text.push_str(delta[key].as_str().unwrap_or_default());
                }
                if delta["type"] == "signature_delta" {
                    set(block, "signature", &delta["signature"]);
                }
            }
            "message_delta" => self.stop = delta["stop_reason"].clone(),
            _ => {}
        }
    }

    fn chat(&mut self, choice: &Value) {
        self.say(&choice["delta"]["content"]);
        for call in choice["delta"]["tool_calls"].as_array().into_iter().flatten() {
            let index = call["index"].as_u64().unwrap_or_default();
            let (_, arguments) = self.pieces.entry(index).or_insert_with(|| (call.clone(), String::new()));
            arguments.push_str(call["function"]["arguments"].as_str().unwrap_or_default());
        }
        if !choice["finish_reason"].is_null() {
            self.stop = choice["finish_reason"].clone();
        }
    }

    fn responses(&mut self, event: &Value, data: &str) -> Result<()> {
        #[derive(Deserialize)]
        struct Ended<'a> {
            #[serde(borrow)]
            response: &'a RawValue,
        }
        match event["type"].as_str().unwrap_or_default() {
            "response.output_text.delta" => self.say(&event["delta"]),
            "response.completed" | "response.incomplete" => {
                self.whole = Some(serde_json::from_str::<Ended<'_>>(data)?.response.get().to_owned());
            }
            "response.failed" => return Err(format!("the provider failed: {}", event["response"]["error"]).into()),
            _ => {}
        }
        Ok(())
    }

    fn gemini(&mut self, candidate: &Value, data: &str) -> Result<()> {
        for part in candidate["content"]["parts"].as_array().into_iter().flatten() {
            if part["thought"] != true {
                self.say(&part["text"]);
            }
        }
        let chunk: Chunk<'_> = serde_json::from_str(data)?;
        let parts = chunk.candidates.into_iter().filter_map(|candidate| candidate.content?.parts).flatten();
        self.parts.extend(parts.map(|part| part.get().to_owned()).filter(|part| part != r#"{"text":""}"#));
        if !candidate["finishReason"].is_null() {
            self.stop = candidate["finishReason"].clone();
        }
        Ok(())
    }

    /// The whole response.
    pub(crate) fn end(self) -> Result<Reply> {
        let body = match self.format {
            Format::Anthropic => {
                let blocks: Vec<String> =
                    self.pieces.into_values().map(|(block, text)| block_of(block, &text)).collect();
                format!(r#"{{"content":[{}],"stop_reason":{}}}"#, blocks.join(","), self.stop)
            }
            Format::Chat => {
                let content = if self.words.is_empty() { Value::Null } else { json!(self.words) };
                let mut message = json!({"role": "assistant", "content": content});
                if !self.pieces.is_empty() {
                    set(&mut message, "tool_calls", &self.pieces.into_values().map(call_of).collect());
                }
                json!({"choices": [{"message": message, "finish_reason": self.stop}]}).to_string()
            }
            Format::Responses => self.whole.ok_or("the stream ended before the response did")?,
            Format::Gemini => {
                let parts = self.parts.join(",");
                let content = format!(r#"{{"role":"model","parts":[{parts}]}}"#);
                format!(r#"{{"candidates":[{{"content":{content},"finishReason":{}}}]}}"#, self.stop)
            }
        };
        // A line break can only stand between tokens. As a space it means the same, and a message is one line.
        Ok(Reply { body: body.replace(['\n', '\r'], " "), words: self.words })
    }
}

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(borrow, default)]
    candidates: Vec<Candidate<'a>>,
}

#[derive(Deserialize)]
struct Candidate<'a> {
    #[serde(borrow)]
    content: Option<Content<'a>>,
}

#[derive(Deserialize)]
struct Content<'a> {
    #[serde(borrow)]
    parts: Option<Vec<&'a RawValue>>,
}

/// A block of Anthropic's: what began it, and what followed. The input keeps the model's own bytes.
fn block_of(mut block: Value, text: &str) -> String {
    match block["type"].as_str().unwrap_or_default() {
        "text" => json!({"type": "text", "text": text}).to_string(),
        "thinking" => {
            set(&mut block, "thinking", &json!(text));
            block.to_string()
        }
        "tool_use" => {
            // Input that was cut can't go back: the call is answered as one that was cut.
            let input = serde_json::from_str::<&RawValue>(text).map_or("{}", RawValue::get);
            let (id, name) = (&block["id"], &block["name"]);
            format!(r#"{{"type":"tool_use","id":{id},"name":{name},"input":{input}}}"#)
        }
        _ => block.to_string(),
    }
}

fn set(object: &mut Value, key: &str, value: &Value) {
    if let Some(object) = object.as_object_mut() {
        object.insert(key.to_owned(), value.clone());
    }
}

fn call_of((call, arguments): (Value, String)) -> Value {
    json!({
        "id": call["id"],
        "type": "function",
        "function": {"name": call["function"]["name"], "arguments": arguments},
    })
}
