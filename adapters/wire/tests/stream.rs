//! How the example puts a streamed response together.

#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[path = "../examples/agent/agent.rs"]
mod agent;
#[path = "../examples/agent/journal.rs"]
mod journal;
#[path = "../examples/agent/log.rs"]
mod log;
#[path = "../examples/agent/provider.rs"]
mod provider;
#[path = "../examples/agent/screen.rs"]
mod screen;
#[path = "../examples/agent/scripted.rs"]
mod scripted;
#[path = "../examples/agent/stream.rs"]
mod stream;
#[path = "../examples/agent/tools.rs"]
mod tools;

use serde_json::json;
use session_todo_wire::{Carrier, Format, History};

fn streamed(format: Format, events: &[serde_json::Value]) -> agent::Result<String> {
    let mut stream = stream::Stream::new(format);
    events.iter().try_for_each(|event| stream.data(&event.to_string()))?;
    stream.end().map(|reply| reply.body)
}

/// The reason why it ended is one that says something, and the last piece need not repeat it.
#[test]
fn reasons_to_end() {
    let chat = |reason: &str| json!({"choices": [{"delta": {"content": "Half"}, "finish_reason": reason}]});
    assert!(streamed(Format::Chat, &[chat("")]).is_err());
    assert!(streamed(Format::Chat, &[chat(""), chat("stop")]).is_ok());
    let end = json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}});
    let usage = json!({"type": "message_delta", "delta": {}, "usage": {}});
    assert!(streamed(Format::Anthropic, &[end, usage]).is_ok());
    let input = json!({"type": "tool_use", "id": "a", "name": "add", "input": {"a": 1}});
    let begin = json!({"type": "content_block_start", "index": 0, "content_block": input});
    let end = json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}});
    assert!(streamed(Format::Anthropic, &[begin, end]).unwrap().contains(r#""input":{"a":1}"#));
}

/// Parallel calls of servers that give all of them one index, or none.
#[test]
fn calls_that_share_an_index() {
    let call = |call: serde_json::Value| json!({"choices": [{"delta": {"tool_calls": [call]}}]});
    let stop = json!({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]});
    for index in [json!(0), json!(null)] {
        let events = [
            call(json!({"index": index, "id": "a", "function": {"name": "add", "arguments": "{\"a\":"}})),
            call(json!({"index": index, "function": {"arguments": "1}"}})),
            call(json!({"index": index, "id": "b", "function": {"name": "count_words", "arguments": {"text": "x"}}})),
            stop.clone(),
        ];
        let body = streamed(Format::Chat, &events).unwrap();
        let calls = History::new(Format::Chat, Carrier::User).respond(&body).unwrap();
        let calls: Vec<_> = calls.iter().map(|call| (&*call.id, &*call.name, &*call.arguments)).collect();
        assert_eq!(calls, [("a", "add", "{\"a\":1}"), ("b", "count_words", "{\"text\":\"x\"}")]);
    }
}

/// What a server says beside a call goes back to it.
#[test]
fn what_stands_beside_a_call() {
    let call =
        json!({"index": 0, "id": "a", "function": {"name": "add", "arguments": "{}"}, "extra_content": {"n": 1}});
    let call = json!({"choices": [{"delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]});
    let mut history = History::new(Format::Chat, Carrier::User);
    history.respond(&streamed(Format::Chat, &[call]).unwrap()).unwrap();
    let stored: serde_json::Value = serde_json::from_str(history.messages()[0].json.get()).unwrap();
    let function = json!({"name": "add", "arguments": "{}"});
    let call = json!({"id": "a", "type": "function", "function": function, "extra_content": {"n": 1}});
    assert_eq!(stored["tool_calls"], json!([call]));
}

/// Input that can't be read is not made up: what came is in its place, and no tool runs on it.
#[test]
fn input_that_was_cut() {
    let events = |stop: &str| {
        let block = json!({"type": "tool_use", "id": "a", "name": "add", "input": {}});
        let delta = json!({"type": "input_json_delta", "partial_json": "{\"a\": 1, \"b"});
        streamed(
            Format::Anthropic,
            &[
                json!({"type": "content_block_start", "index": 0, "content_block": block}),
                json!({"type": "content_block_delta", "index": 0, "delta": delta}),
                json!({"type": "message_delta", "delta": {"stop_reason": stop}}),
            ],
        )
    };
    for stop in ["max_tokens", "tool_use"] {
        let calls = History::new(Format::Anthropic, Carrier::User).respond(&events(stop).unwrap()).unwrap();
        assert_eq!(calls[0].arguments, r#"{"unreadable":"{\"a\": 1, \"b"}"#);
        assert!(tools::run(&calls[0]).is_error);
    }
    let error = streamed(Format::Responses, &[json!({"type": "error", "message": "overloaded"})]).unwrap_err();
    assert!(error.to_string().contains("overloaded"), "{error}");
    let error = streamed(Format::Gemini, &[json!({"promptFeedback": {"blockReason": "SAFETY"}})]).unwrap_err();
    assert!(error.to_string().contains("SAFETY"), "{error}");
}
