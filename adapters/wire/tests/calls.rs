//! What a response says was called, and what its answers look like.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod play;

use play::provider::{Asked, response};
use session_todo::{Effect, Event, Outcome, Policy, Session};
use session_todo_wire::{Carrier, Format, History, Stage, ToolCall, WireError};

fn respond(format: Format, body: &str) -> Result<Vec<ToolCall>, WireError> {
    History::new(format, Carrier::User).respond(body)
}

fn asked(id: &str, name: &str, arguments: &str) -> Asked {
    Asked { id: id.to_owned(), name: name.to_owned(), arguments: arguments.to_owned() }
}

fn outcome(event: &Event<'_>) -> String {
    let Event::ToolCalled(call) = event else { panic!() };
    format!("{} {} {:?}", call.name, call.arguments, call.outcome)
}

/// Arguments are the model's own bytes; those of another's tool are left out of the event; of a response cut
/// at the output limit, the last call failed.
#[test]
fn events_of_a_response() {
    let arguments = "{ \"todos\" :[{\"content\":\"A\\u00e9\",\"n\":1.50}]}";
    for format in Format::ALL {
        let calls = [asked("a", "todo_write", arguments), asked("b", "bash", "{\"x\":1}")];
        let events = |is_cut| {
            let calls = respond(format, &response(format, "", &calls, is_cut)).unwrap();
            calls.iter().map(|call| outcome(&call.event())).collect::<Vec<_>>()
        };
        let write = format!("todo_write {arguments} Ours");
        assert_eq!(events(false), [&write, "bash  Ran { id: None }"], "{format}");
        assert_eq!(events(true), [&write, "bash  Failed"], "{format}");
        let denied = respond(format, &response(format, "", &calls, false)).unwrap();
        assert_eq!(outcome(&denied[0].failed()), format!("todo_write {arguments} Failed"));
    }
}

/// A turn that the provider paused goes on, though nothing is to be answered, over a restart too.
#[test]
fn a_paused_turn_goes_on() {
    let body = r#"{"content":[{"type":"server_tool_use","id":"s","name":"web_search","input":{}}],"stop_reason":"pause_turn"}"#;
    let mut history = History::new(Format::Anthropic, Carrier::User);
    history.person("go");
    let _ = history.request(None);
    history.respond(body).unwrap();
    let mut again: History = serde_json::from_str(&serde_json::to_string(&history).unwrap()).unwrap();
    assert!(again.is_paused() && again.answer(&[]));
    let _ = again.request(None);
    again.respond(&response(Format::Anthropic, "Done.", &[], false)).unwrap();
    assert!(!again.is_paused() && !again.answer(&[]));
}

/// A tool runs only where a call is asked for, whole, and not the list's.
#[test]
fn what_runs() {
    for format in Format::ALL {
        let calls = [asked("a", "todo_write", r#"{"todos":[]}"#), asked("b", "bash", "{}")];
        for is_cut in [false, true] {
            let mut session = Session::new(Policy::DEFAULT);
            let calls = respond(format, &response(format, "", &calls, is_cut)).unwrap();
            let answers: Vec<_> =
                calls.iter().map(|call| call.answer(session.step(&call.event()), |call| call.ok("ran"))).collect();
            assert!(answers[0].text.contains("list") && !answers[0].is_error, "{}", answers[0].text);
            assert_eq!((answers[1].text == "ran", answers[1].is_error), (!is_cut, is_cut), "{format}");
        }
    }
}

/// A response that was cut in its words, behind its calls, has no call that was cut.
#[test]
fn cut_behind_a_call() {
    let body = r#"{"content":[{"type":"tool_use","id":"a","name":"bash","input":{}},{"type":"text","text":"and"}],"stop_reason":"max_tokens"}"#;
    assert_eq!(respond(Format::Anthropic, body).unwrap()[0].stage, Stage::Asked);
}

/// Answers stand in call order, whatever the order in which tools ended; a refusal is marked as the format has
/// it; an empty answer is no empty block.
#[test]
fn answers() {
    let answers = |format| {
        let mut history = History::new(format, Carrier::User);
        let calls = [asked("a", "x", "{}"), asked("b", "y", "{}"), asked("c", "z", "{}")];
        let calls = history.respond(&response(format, "", &calls, false)).unwrap();
        let before = history.messages().len();
        history.answer(&[calls[2].ok(""), calls[1].error("no"), calls[0].ok("yes")]);
        history.messages()[before..].iter().map(|message| message.json.get()).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(
        answers(Format::Anthropic),
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"yes"},{"type":"tool_result","tool_use_id":"b","content":"no","is_error":true},{"type":"tool_result","tool_use_id":"c"}]}"#
    );
    assert_eq!(
        answers(Format::Chat),
        r#"{"role":"tool","tool_call_id":"a","content":"yes"}
{"role":"tool","tool_call_id":"b","content":"Error: no"}
{"role":"tool","tool_call_id":"c","content":""}"#
    );
    assert_eq!(
        answers(Format::Responses),
        r#"{"type":"function_call_output","call_id":"a","output":"yes"}
{"type":"function_call_output","call_id":"b","output":"Error: no"}
{"type":"function_call_output","call_id":"c","output":""}"#
    );
    assert_eq!(
        answers(Format::Gemini),
        r#"{"role":"user","parts":[{"functionResponse":{"id":"a","name":"x","response":{"output":"yes"}}},{"functionResponse":{"id":"b","name":"y","response":{"error":"no"}}},{"functionResponse":{"id":"c","name":"z","response":{"output":""}}}]}"#
    );
}

/// What the provider ran itself counts as a call and wants no answer.
#[test]
fn what_the_provider_ran() {
    let bodies = [
        (Format::Anthropic, r#"{"content":[{"type":"server_tool_use","id":"s","name":"web_search","input":{}}]}"#),
        (Format::Responses, r#"{"output":[{"type":"web_search_call","id":"ws","status":"completed"}]}"#),
        (Format::Gemini, r#"{"candidates":[{"content":{"role":"model","parts":[{"executableCode":{"code":"1"}}]}}]}"#),
        (
            Format::Responses,
            r#"{"output":[{"type":"shell_call","id":"s","call_id":"c"},{"type":"shell_call_output","call_id":"c","output":[]}]}"#,
        ),
    ];
    for (format, body) in bodies {
        let mut history = History::new(format, Carrier::User);
        let calls = history.respond(body).unwrap();
        assert_eq!(calls[0].stage, Stage::Served, "{format}");
        assert!(matches!(calls[0].event(), Event::ToolCalled(call) if call.outcome == Outcome::Ran { id: None }));
        let before = history.messages().len();
        assert!(!history.answer(&[calls[0].ok("never")]));
        assert_eq!(history.messages().len(), before, "{format}");
    }
}

/// Servers that speak Chat Completions with their own accent: arguments as an object, a lone surrogate.
#[test]
fn accents_of_chat() {
    let body = |arguments: &str| {
        format!(
            r#"{{"choices":[{{"message":{{"role":"assistant","tool_calls":[{{"id":"a","function":{{"name":"todo_write","arguments":{arguments}}}}}]}}}}]}}"#
        )
    };
    let arguments = |json: &str| respond(Format::Chat, &body(json)).unwrap()[0].arguments.clone();
    assert_eq!(arguments(r#"{"todos": []}"#), r#"{"todos": []}"#);
    assert_eq!(arguments(r#""{\"todos\":[]}""#), r#"{"todos":[]}"#);
    assert!(arguments(r#""a\ud800b""#).starts_with('a'));
}

/// An answer without words is one: it keeps its bytes and is sent back.
#[test]
fn answers_without_words() {
    let bodies = [
        r#"{"role":"assistant","content":null,"audio":{"id":"a"}}"#,
        r#"{"role":"assistant","content":"","images":[{"type":"image_url"}]}"#,
        r#"{"role":"assistant","content":null,"refusal":"No."}"#,
    ];
    for message in bodies {
        let mut history = History::new(Format::Chat, Carrier::User);
        history.respond(&format!(r#"{{"choices":[{{"message":{message}}}],"usage":null}}"#)).unwrap();
        assert_eq!(history.request(None).to_string(), format!("[{message}]"));
        let body = format!(r#"{{"messages":[{message}]}}"#);
        assert_eq!(session_todo_wire::lint(Format::Chat, &body).unwrap(), []);
    }
}

/// E6: a blank text beside something else is dropped before it is stored.
#[test]
fn e6_blank_texts_beside_calls() {
    let rows = [
        (
            Format::Anthropic,
            r#"{"content":[{"type":"text","text":"\n"}, {"type":"tool_use","id":"a","name":"x","input":{ }}]}"#,
            r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"x","input":{ }}]}"#,
        ),
        (
            Format::Gemini,
            r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"x"}},{"text":""}]}}]}"#,
            r#"{"role":"model","parts":[{"functionCall":{"name":"x"}}]}"#,
        ),
        (
            Format::Chat,
            r#"{"choices":[{"message":{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"text","text":""}]}}]}"#,
            r#"{"role":"assistant","content":[{"type":"text","text":"a"}]}"#,
        ),
        (
            Format::Chat,
            r#"{"choices":[{"message":{"role":"assistant","content":[{"type":"text","text":""}],"tool_calls":[{"id":"a"}]}}]}"#,
            r#"{"role":"assistant","content":null,"tool_calls":[{"id":"a"}]}"#,
        ),
        (
            Format::Responses,
            r#"{"output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":""}]},{"type":"function_call","call_id":"c"}]}"#,
            r#"{"type":"function_call","call_id":"c"}"#,
        ),
    ];
    for (format, body, stored) in rows {
        let mut history = History::new(format, Carrier::User);
        history.respond(body).unwrap();
        assert_eq!(history.messages().len(), 1);
        assert_eq!(history.messages()[0].json.get(), stored);
    }
}

/// `null` where a field may be missing, and fields of both kinds of tools.
#[test]
fn nulls() {
    let call =
        r#"{"id":"a","type":"function","custom":null,"function":{"name":"todo_write","arguments":"{}","input":null}}"#;
    let custom = r#"{"id":"b","type":"custom","function":null,"custom":{"name":"grep","input":"x y"}}"#;
    let message =
        format!(r#"{{"role":"assistant","content":null,"tool_calls":[{call},{custom}],"audio":null,"refusal":null}}"#);
    let calls = respond(Format::Chat, &format!(r#"{{"choices":[{{"message":{message}}}],"usage":null}}"#)).unwrap();
    assert_eq!((&*calls[0].name, &*calls[1].name, &*calls[1].arguments), ("todo_write", "grep", "x y"));
    let none = respond(Format::Chat, r#"{"choices":null,"error":null}"#);
    assert!(matches!(none, Err(WireError::NoAnswer { .. })), "{none:?}");
    let block = r#"{"content":[{"type":"tool_use","id":"a","name":null,"input":null}]}"#;
    assert_eq!(respond(Format::Anthropic, block).unwrap()[0].name, "");
}

/// What is no message keeps its bytes (E4), a role that is missing is put in, and a custom tool has an answer of its
/// own kind.
#[test]
fn odd_items() {
    let reasoning = r#"{"type":"reasoning","id":"r","content":[{"type":"reasoning_text","text":""},{"type":"reasoning_text","text":"hm"}]}"#;
    let call = r#"{"type":"custom_tool_call","call_id":"c","name":"grep","input":"x"}"#;
    let mut history = History::new(Format::Responses, Carrier::User);
    let calls = history.respond(&format!(r#"{{"output":[{reasoning},{call}]}}"#)).unwrap();
    history.answer(&[calls[0].ok("found")]);
    let answer = r#"{"type":"custom_tool_call_output","call_id":"c","output":"found"}"#;
    assert_eq!(history.request(None).to_string(), format!("[{reasoning},{call},{answer}]"));
    for role in ["", r#""role":null,"#, r#""role":"","#] {
        let mut history = History::new(Format::Gemini, Carrier::User);
        history.respond(&format!(r#"{{"candidates":[{{"content":{{{role}"parts":[{{"text":"a"}}]}}}}]}}"#)).unwrap();
        assert_eq!(history.messages()[0].json.get(), r#"{"role":"model","parts":[{"text":"a"}]}"#);
    }
    for role in ["", r#""role":null,"#] {
        let mut history = History::new(Format::Chat, Carrier::User);
        history.respond(&format!(r#"{{"choices":[{{"message":{{{role}"content":"a"}}}}]}}"#)).unwrap();
        assert_eq!(history.messages()[0].json.get(), r#"{"role":"assistant","content":"a"}"#);
    }
    // Nobody but the loop can run a tool that it defined, though the server gave no id to the call.
    let bare = r#"{"output":[{"type":"function_call","id":"fc","name":"bash","arguments":"{}"}]}"#;
    assert_eq!(respond(Format::Responses, bare).unwrap()[0].stage, Stage::Asked);
    // The cut was behind the call, in a text that is not kept.
    let body = r#"{"content":[{"type":"tool_use","id":"a","name":"bash","input":{}},{"type":"text","text":" "}],"stop_reason":"max_tokens"}"#;
    assert_eq!(respond(Format::Anthropic, body).unwrap()[0].stage, Stage::Asked);
}

/// A response without a word is a request's all the same, and is never sent back.
#[test]
fn a_silent_response() {
    for format in Format::ALL {
        let body = match format {
            Format::Anthropic => r#"{"content":[],"stop_reason":"end_turn"}"#,
            Format::Chat => r#"{"choices":[{"message":{"role":"assistant","content":""}}]}"#,
            Format::Responses => r#"{"output":[]}"#,
            Format::Gemini => r#"{"candidates":[{"finishReason":"STOP"}]}"#,
        };
        let mut history = History::new(format, Carrier::User);
        history.person("go");
        let before = history.request(None).to_string();
        assert_eq!(history.respond(body).unwrap(), []);
        assert_eq!(history.request(None).to_string(), before);
    }
}

/// What is no answer is an error that shows it, and the history is as before.
#[test]
fn no_answer() {
    for format in Format::ALL {
        let mut history = History::new(format, Carrier::User);
        let error = history.respond(r#"{"error":{"message":"overloaded"}}"#).unwrap_err();
        assert!(error.to_string().contains("overloaded"), "{error}");
        let error = history.respond("upstream timed out").unwrap_err();
        assert!(error.to_string().contains(&format.to_string()), "{error}");
        assert!(history.messages().is_empty() && !history.waits());
    }
}

/// Two writes in one response apply in call order, each with an answer of its own (L12).
#[test]
fn parallel_writes() {
    for format in Format::ALL {
        let calls = [
            asked("a", "todo_write", r#"{"todos":[{"content":"A"}]}"#),
            asked("b", "todo_write", r#"{"todos":[{"content":"B"}]}"#),
        ];
        let mut session = Session::new(Policy::DEFAULT);
        let calls = respond(format, &response(format, "", &calls, false)).unwrap();
        for call in &calls {
            assert!(matches!(session.step(&call.event()), Some(Effect::ReturnToolResult(result)) if !result.is_error));
        }
        assert_eq!(session.list().items().iter().map(|item| &*item.content).collect::<Vec<_>>(), ["B"]);
    }
}
