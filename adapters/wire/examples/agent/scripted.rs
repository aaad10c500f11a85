//! A provider that follows a script, so that the example runs anywhere. Its answer depends on the request
//! alone: the same request has the same answer.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};
use session_todo_wire::Format;

use crate::agent::Result;

/// What the model does at each step: the calls that it makes, or else what it says.
pub(crate) type Script = Vec<Vec<(&'static str, Value)>>;

/// A running provider, and the bodies that it was sent.
pub(crate) struct Server {
    pub(crate) address: String,
    pub(crate) bodies: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Serves on a free port of this machine until the process ends.
    pub(crate) fn start(format: Format, script: Script) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = format!("http://{}", listener.local_addr()?);
        let bodies = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&bodies);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if let Err(error) = serve(stream, format, &script, &seen) {
                    eprintln!("scripted provider: {error}");
                }
            }
        });
        Ok(Self { address, bodies })
    }
}

/// Answers one request.
pub(crate) fn serve(stream: TcpStream, format: Format, script: &Script, seen: &Mutex<Vec<String>>) -> Result<()> {
    let (stream, body) = receive(stream)?;
    let events = answer(format, script, &body);
    if let Ok(mut seen) = seen.lock() {
        seen.push(body);
    }
    reply(stream, &events)
}

/// The body of a request.
pub(crate) fn receive(stream: TcpStream) -> Result<(TcpStream, String)> {
    let mut reader = BufReader::new(stream);
    let (mut length, mut line) = (0, String::new());
    while reader.read_line(&mut line)? > 2 {
        if let Some((name, value)) =
            line.split_once(':').filter(|(name, _)| name.eq_ignore_ascii_case("content-length"))
        {
            length = value.trim().parse().map_err(|_| format!("{name} is no number"))?;
        }
        line.clear();
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok((reader.into_inner(), String::from_utf8(body)?))
}

/// A response that comes in pieces, and then the connection's end.
pub(crate) fn reply(mut stream: TcpStream, events: &[Value]) -> Result<()> {
    let events: Vec<String> = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    Ok(stream.write_all(format!("{head}{}", events.concat()).as_bytes())?)
}

/// The events of a streamed response.
pub(crate) fn answer(format: Format, script: &Script, body: &str) -> Vec<Value> {
    let step = last_step(body) + 1;
    if !body.contains("\"tools\"") {
        return response(format, &format!("Up to step_{}.", step - 1), &[]);
    }
    let calls = script.get(step - 1).map(Vec::as_slice).unwrap_or_default();
    let calls: Vec<Value> = calls
        .iter()
        .enumerate()
        .map(|(at, (name, arguments))| json!({"id": format!("step_{step}_{at}"), "name": name, "arguments": arguments}))
        .collect();
    let words = if calls.is_empty() { format!("That was step_{step}.") } else { String::new() };
    response(format, &words, &calls)
}

/// The highest step that a request speaks of.
fn last_step(body: &str) -> usize {
    let number = |text: &str| text.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok();
    body.split("step_").skip(1).filter_map(number).max().unwrap_or(0)
}

/// Arguments as models write them: on several lines.
fn pretty(arguments: &Value) -> String {
    format!("{arguments:#}")
}

fn response(format: Format, words: &str, calls: &[Value]) -> Vec<Value> {
    match format {
        Format::Anthropic => anthropic(words, calls),
        Format::Chat => chat(words, calls),
        Format::Responses => responses(words, calls),
        Format::Gemini => gemini(words, calls),
    }
}

fn anthropic(words: &str, calls: &[Value]) -> Vec<Value> {
    let mut events = vec![json!({"type": "message_start", "message": {"role": "assistant", "content": []}})];
    let mut block = |block: Value, delta: Value| {
        let index = events.len() / 3;
        events.push(json!({"type": "content_block_start", "index": index, "content_block": block}));
        events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        events.push(json!({"type": "content_block_stop", "index": index}));
    };
    if !words.is_empty() {
        block(json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": words}));
    }
    for call in calls {
        let input = json!({"type": "input_json_delta", "partial_json": pretty(&call["arguments"])});
        block(json!({"type": "tool_use", "id": call["id"], "name": call["name"], "input": {}}), input);
    }
    let stop = if calls.is_empty() { "end_turn" } else { "tool_use" };
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": stop}}));
    events
}

fn chat(words: &str, calls: &[Value]) -> Vec<Value> {
    let mut deltas = vec![json!({"role": "assistant", "content": words})];
    for (index, call) in calls.iter().enumerate() {
        let named = json!({"name": call["name"], "arguments": ""});
        deltas.push(json!({"tool_calls": [{"index": index, "id": call["id"], "type": "function", "function": named}]}));
        let arguments = json!({"arguments": pretty(&call["arguments"])});
        deltas.push(json!({"tool_calls": [{"index": index, "function": arguments}]}));
    }
    let stop = if calls.is_empty() { "stop" } else { "tool_calls" };
    let chunks = deltas.into_iter().map(|delta| json!({"choices": [{"index": 0, "delta": delta}]}));
    chunks.chain([json!({"choices": [{"index": 0, "delta": {}, "finish_reason": stop}]})]).collect()
}

fn responses(words: &str, calls: &[Value]) -> Vec<Value> {
    let mut events = Vec::new();
    let mut output = vec![json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "eA=="})];
    if !words.is_empty() {
        events.push(json!({"type": "response.output_text.delta", "delta": words}));
        let part = json!({"type": "output_text", "text": words, "annotations": []});
        output.push(
            json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part]}),
        );
    }
    output.extend(calls.iter().map(|call| {
        let arguments = pretty(&call["arguments"]);
        json!({"type": "function_call", "call_id": call["id"], "name": call["name"], "arguments": arguments})
    }));
    events.push(json!({"type": "response.completed", "response": {"status": "completed", "output": output}}));
    events
}

fn gemini(words: &str, calls: &[Value]) -> Vec<Value> {
    let mut parts = Vec::new();
    if !words.is_empty() {
        parts.push(json!({"text": words}));
    }
    parts.extend(calls.iter().map(|call| {
        let function = json!({"id": call["id"], "name": call["name"], "args": call["arguments"]});
        json!({"functionCall": function, "thoughtSignature": "c2ln"})
    }));
    let chunk = |part: Value| json!({"candidates": [{"content": {"role": "model", "parts": [part]}}]});
    let end = json!({"candidates": [{"content": {"role": "model", "parts": [{"text": ""}]}, "finishReason": "STOP"}]});
    parts.into_iter().map(chunk).chain([end]).collect()
}
