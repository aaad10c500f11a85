//! A response that comes in pieces, put together as the body that it would have had in one.

// What is not in a `Value` reads as null.
#![allow(clippy::indexing_slicing)]

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
    /// Content blocks or tool calls.
    pieces: Vec<Piece>,
    /// Parts of Gemini, as they came.
    parts: Vec<String>,
    /// Why it ended; null before it has.
    stop: Value,
    /// The whole response, where the stream itself ends with it.
    whole: Option<String>,
}

/// What began a block or a call, and the text that followed.
struct Piece {
    index: Value,
    begin: Value,
    text: String,
}

impl Stream {
    pub(crate) fn new(format: Format) -> Self {
        let (words, pieces, parts) = (String::new(), Vec::new(), Vec::new());
        Self { format, words, pieces, parts, stop: Value::Null, whole: None }
    }

    /// The data of one event.
    pub(crate) fn data(&mut self, data: &str) -> Result<()> {
        if data == "[DONE]" {
            return Ok(());
        }
        let event: Value = serde_json::from_str(data).map_err(|error| format!("{error}, in the event {data}"))?;
        let is_refused = !event["promptFeedback"]["blockReason"].is_null();
        if !event["error"].is_null() || event["type"] == "error" || is_refused {
            return Err(format!("the provider broke off: {event}").into());
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
        let (index, delta) = (&event["index"], &event["delta"]);
        match event["type"].as_str().unwrap_or_default() {
            "content_block_start" => {
                self.say(&event["content_block"]["text"]);
                self.begin(index, event["content_block"].clone());
            }
            "content_block_delta" => {
                self.say(&delta["text"]);
                let Some(Piece { begin, text, .. }) = self.piece(index) else { return };
                for key in ["text", "thinking", "partial_json"] {
                    text.push_str(delta[key].as_str().unwrap_or_default());
                }
                if delta["type"] == "signature_delta" {
                    set(begin, "signature", &delta["signature"]);
                }
            }
            "message_delta" => self.ended(&delta["stop_reason"]),
            _ => {}
        }
    }

    /// Some servers say nothing, or that they do not know, in every piece.
    fn ended(&mut self, why: &Value) {
        if why.as_str().is_some_and(|why| !why.is_empty() && why != "FINISH_REASON_UNSPECIFIED") {
            self.stop = why.clone();
        }
    }

    fn begin(&mut self, index: &Value, begin: Value) {
        self.pieces.push(Piece { index: index.clone(), begin, text: String::new() });
    }

    fn piece(&mut self, index: &Value) -> Option<&mut Piece> {
        self.pieces.iter_mut().rev().find(|piece| piece.index == *index)
    }

    fn chat(&mut self, choice: &Value) {
        self.say(&choice["delta"]["content"]);
        for call in choice["delta"]["tool_calls"].as_array().into_iter().flatten() {
            // Some servers give all calls one index, or none: another id is another call.
            let index = &call["index"];
            let is_same = |piece: &mut Piece| !is_id(&call["id"]) || piece.begin["id"] == call["id"];
            if !self.piece(index).is_some_and(is_same) {
                self.begin(index, call.clone());
            }
            let arguments = &call["function"]["arguments"];
            if let (Some(piece), false) = (self.piece(index), arguments.is_null()) {
                piece.text.push_str(&arguments.as_str().map_or_else(|| arguments.to_string(), ToOwned::to_owned));
            }
        }
        self.say(&choice["delta"]["refusal"]);
        self.ended(&choice["finish_reason"]);
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
        self.ended(&candidate["finishReason"]);
        Ok(())
    }

    /// The whole response. Where the connection ended before it did, there is none.
    pub(crate) fn end(self) -> Result<Reply> {
        if self.stop.is_null() && self.whole.is_none() {
            return Err("the stream ended before the response did".into());
        }
        let body = match self.format {
            Format::Anthropic => {
                let blocks: Vec<String> = self.pieces.into_iter().map(block_of).collect();
                format!(r#"{{"content":[{}],"stop_reason":{}}}"#, blocks.join(","), self.stop)
            }
            Format::Chat => {
                let content = if self.words.is_empty() { Value::Null } else { json!(self.words) };
                let mut message = json!({"role": "assistant", "content": content});
                if !self.pieces.is_empty() {
                    set(&mut message, "tool_calls", &self.pieces.into_iter().map(call_of).collect());
                }
                json!({"choices": [{"message": message, "finish_reason": self.stop}]}).to_string()
            }
            Format::Responses => self.whole.unwrap_or_default(),
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
fn block_of(Piece { begin: mut block, text, .. }: Piece) -> String {
    match block["type"].as_str().unwrap_or_default() {
        "text" => {
            let begun = block["text"].as_str().unwrap_or_default();
            json!({"type": "text", "text": format!("{begun}{text}")}).to_string()
        }
        "thinking" => {
            set(&mut block, "thinking", &json!(text));
            block.to_string()
        }
        kind if kind.ends_with("tool_use") => {
            let input = match serde_json::from_str::<&RawValue>(&text) {
                Ok(input) if input.get().starts_with('{') => input.get().to_owned(),
                Err(_) if text.is_empty() && block["input"].is_object() => block["input"].to_string(),
                Err(_) if text.is_empty() => "{}".to_owned(),
                // What goes back has to be an object. Nothing is made up for what was cut or can't be read.
                Ok(_) | Err(_) => json!({"unreadable": text}).to_string(),
            };
            let (id, name) = (&block["id"], &block["name"]);
            let server = block.get("server_name").map(|name| format!(r#","server_name":{name}"#)).unwrap_or_default();
            format!(r#"{{"type":"{kind}","id":{id},"name":{name}{server},"input":{input}}}"#)
        }
        _ => block.to_string(),
    }
}

fn set(object: &mut Value, key: &str, value: &Value) {
    if let Some(object) = object.as_object_mut() {
        object.insert(key.to_owned(), value.clone());
    }
}

/// A call of Chat's. What a server says beside it, a signature say, it wants back.
fn call_of(Piece { begin: mut call, text, .. }: Piece) -> Value {
    set(&mut call, "type", &json!("function"));
    set(&mut call["function"], "arguments", &json!(text));
    if let Some(call) = call.as_object_mut() {
        call.remove("index");
    }
    call
}

fn is_id(id: &Value) -> bool {
    id.as_str().is_some_and(|id| !id.is_empty())
}
