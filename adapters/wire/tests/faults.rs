//! E6: what a provider would refuse is found, each kind of fault in bodies of random sessions; and a history
//! is cut where nothing is parted.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod play;

use play::script;
use proptest::prelude::{prop_assert, prop_assert_eq, proptest};
use serde_json::{Value, json};
use session_todo::Lane;
use session_todo_wire::{Format, Wrong, lint, safe_cut};

const KEPT: &[Lane] = &[Lane::History, Lane::ToolResult];

/// A call or a result in a body: in which message, and at which place of its parts, where it has several.
#[derive(Clone, Debug)]
struct Spot {
    is_call: bool,
    id: String,
    message: usize,
    part: Option<usize>,
}

/// The array of a message in which calls or results stand.
fn array(format: Format, message: &Value) -> Option<&'static str> {
    let key = match format {
        Format::Anthropic => "content",
        Format::Gemini => "parts",
        Format::Chat => "tool_calls",
        Format::Responses => return None,
    };
    message[key].is_array().then_some(key)
}

fn spot_of(value: &Value) -> Option<(bool, &str)> {
    let id = |is_call, id: &'_ Value| id.as_str().map(|_| is_call);
    let found = match value {
        v if v["type"] == "tool_use" || v["type"] == "function" => (id(true, &v["id"])?, &v["id"]),
        v if v["type"] == "tool_result" => (id(false, &v["tool_use_id"])?, &v["tool_use_id"]),
        v if v["type"] == "function_call" => (true, &v["call_id"]),
        v if v["type"] == "function_call_output" => (false, &v["call_id"]),
        v if v["role"] == "tool" => (false, &v["tool_call_id"]),
        v if v.get("functionCall").is_some() => (true, &v["functionCall"]["id"]),
        v if v.get("functionResponse").is_some() => (false, &v["functionResponse"]["id"]),
        _ => return None,
    };
    Some((found.0, found.1.as_str()?))
}

fn spots(format: Format, messages: &[Value]) -> Vec<Spot> {
    let mut spots = Vec::new();
    for (message, value) in messages.iter().enumerate() {
        let mut add = |part: Option<usize>, value: &Value| {
            if let Some((is_call, id)) = spot_of(value) {
                spots.push(Spot { is_call, id: id.to_owned(), message, part });
            }
        };
        match array(format, value) {
            Some(key) => value[key].as_array().unwrap().iter().enumerate().for_each(|(at, part)| add(Some(at), part)),
            None => add(None, value),
        }
    }
    spots
}

/// The array in which a spot stands, and its place there.
fn around<'v>(format: Format, messages: &'v mut Vec<Value>, spot: &Spot) -> (&'v mut Vec<Value>, usize) {
    match spot.part {
        None => (messages, spot.message),
        Some(part) => {
            let key = array(format, &messages[spot.message]).unwrap();
            (messages[spot.message][key].as_array_mut().unwrap(), part)
        }
    }
}

fn remove(format: Format, messages: &mut Vec<Value>, spot: &Spot) {
    let (array, at) = around(format, messages, spot);
    array.remove(at);
}

fn double(format: Format, messages: &mut Vec<Value>, spot: &Spot) {
    let (array, at) = around(format, messages, spot);
    array.insert(at, array[at].clone());
}

fn wrongs(format: Format, messages: &[Value]) -> Vec<(Wrong, String)> {
    let body = json!({ (format.messages_key()): messages }).to_string();
    lint(format, &body).unwrap().into_iter().map(|fault| (fault.what, fault.id)).collect()
}

proptest! {
    #![proptest_config(play::config())]

    #[test]
    fn e6_each_fault_is_found(wire in script::wire(), policy in script::policy(KEPT), steps in script::session(), pick: usize) {
        let format = wire.0;
        let play = play::play(format, wire.1, &policy, &steps);
        let Some(body) = play.sent.last().map(|sent| serde_json::from_str::<Value>(&sent.body).unwrap()) else { return Ok(()) };
        let messages = body[format.messages_key()].as_array().unwrap().clone();
        let said = serde_json::from_str::<Value>(&format.user("By the way.")).unwrap();
        let blank = serde_json::from_str::<Value>(&format.user(" ")).unwrap();
        let with = |change: &dyn Fn(&mut Vec<Value>)| {
            let mut messages = messages.clone();
            change(&mut messages);
            wrongs(format, &messages)
        };
        prop_assert_eq!(with(&|messages| messages.push(blank.clone())), [(Wrong::Empty, String::new())]);

        let spots = spots(format, &messages);
        let calls: Vec<&Spot> = spots.iter().filter(|spot| spot.is_call).collect();
        if calls.is_empty() {
            return Ok(());
        }
        let call = calls[pick % calls.len()];
        let result = spots.iter().find(|spot| !spot.is_call && spot.id == call.id).unwrap();
        let is = |what| (what, call.id.clone());
        prop_assert!(with(&|m| remove(format, m, result)).contains(&is(Wrong::OrphanCall)));
        prop_assert!(with(&|m| remove(format, m, call)).contains(&is(Wrong::OrphanResult)));
        prop_assert!(with(&|m| double(format, m, result)).contains(&is(Wrong::DuplicateResult)));
        prop_assert!(with(&|m| double(format, m, call)).contains(&is(Wrong::DuplicateCall)));
        let between = with(&|m| m.insert(result.message, said.clone()));
        prop_assert!(between.contains(&is(Wrong::MisplacedResult)), "{between:?}");
        if result.part.is_some() {
            let part = if format == Format::Gemini { json!({"text": "x"}) } else { json!({"type": "text", "text": "x"}) };
            let before = with(&|m| around(format, m, result).0.insert(0, part.clone()));
            prop_assert!(before.contains(&is(Wrong::MisplacedResult)), "{before:?}");
        }
    }

    /// The nearest place at or before: nothing is parted there, and in between there is none such.
    #[test]
    fn a_cut_parts_nothing(wire in script::wire(), policy in script::policy(KEPT), steps in script::session(), at: usize) {
        let format = wire.0;
        let play = play::play(format, wire.1, &policy, &steps);
        let Some(sent) = play.sent.last() else { return Ok(()) };
        let messages: Vec<Value> = sent.messages.iter().map(|json| serde_json::from_str(json).unwrap()).collect();
        let at = at % (messages.len() + 2);
        let cut = safe_cut(format, &sent.body, at).unwrap();
        prop_assert!(cut <= at);
        let is_models = |value: &Value| value["role"] == "assistant" || value["role"].is_null() && value["type"] != "function_call_output";
        let is_safe = |cut: usize| {
            let (before, after) = messages.split_at(cut);
            let halves = [before, after].map(|half| wrongs(format, half).is_empty());
            let parts_a_response = format == Format::Responses
                && before.last().is_some_and(is_models) && after.first().is_some_and(is_models);
            halves == [true, true] && !parts_a_response
        };
        prop_assert!(is_safe(cut), "{cut} of {messages:#?}");
        for other in cut + 1..=at.min(messages.len()) {
            prop_assert!(!is_safe(other), "{other} is nearer to {at} than {cut} in {messages:#?}");
        }
    }
}

/// A call that still waits for its result is not cut off from it.
#[test]
fn a_cut_waits_for_results() {
    let call = r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"bash","input":{}}]}"#;
    let body = format!(r#"{{"messages":[{{"role":"user","content":"go"}},{call}]}}"#);
    assert_eq!(safe_cut(Format::Anthropic, &body, 2).unwrap(), 1);
}

/// Two items in a row of a response are not parted from their reasoning, and input may be one string.
#[test]
fn responses_of_several_items() {
    let items = [
        r#"{"role":"user","content":"go"}"#,
        r#"{"type":"reasoning","id":"r","summary":[]}"#,
        r#"{"type":"function_call","call_id":"a","name":"bash","arguments":"{}"}"#,
        r#"{"type":"function_call_output","call_id":"a","output":"ok"}"#,
    ];
    let body = format!(r#"{{"input":[{}]}}"#, items.join(","));
    assert_eq!(safe_cut(Format::Responses, &body, 2).unwrap(), 1);
    assert_eq!(lint(Format::Responses, &body).unwrap(), []);
    assert_eq!(lint(Format::Responses, r#"{"input":"go"}"#).unwrap(), []);
}

/// E4: the next response may not begin before all results are there.
#[test]
fn a_result_after_the_next_response_began() {
    let call = |id: &str| format!(r#"{{"type":"function_call","call_id":"{id}","name":"bash","arguments":"{{}}"}}"#);
    let output = |id: &str| format!(r#"{{"type":"function_call_output","call_id":"{id}","output":"ok"}}"#);
    let reasoning = r#"{"type":"reasoning","id":"r","summary":[]}"#.to_owned();
    let items = [call("a"), call("b"), output("a"), reasoning, call("c"), output("b"), output("c")];
    let body = format!(r#"{{"input":[{}]}}"#, items.join(","));
    let faults = lint(Format::Responses, &body).unwrap();
    assert!(faults.iter().any(|fault| fault.what == Wrong::MisplacedResult && fault.id == "b"), "{faults:?}");
}

/// Gemini may give no ids: then calls and responses meet by name, in order.
#[test]
fn calls_without_ids() {
    let call = r#"{"functionCall":{"name":"add","args":{}}}"#;
    let result = r#"{"functionResponse":{"name":"add","response":{"output":"1"}}}"#;
    let body = |results: &str| {
        format!(r#"{{"contents":[{{"role":"model","parts":[{call},{call}]}},{{"role":"user","parts":[{results}]}}]}}"#)
    };
    assert_eq!(lint(Format::Gemini, &body(&[result, result].join(","))).unwrap(), []);
    assert_eq!(lint(Format::Gemini, &body(result).replace(r#""role":"model","#, "")).unwrap().len(), 1);
    assert_eq!(lint(Format::Gemini, &body(result)).unwrap().len(), 1);
    assert_eq!(lint(Format::Gemini, &body(&[result; 3].join(","))).unwrap().len(), 1);
}

/// A request of another format is an error, which says the key that is missing; it is not one without faults.
#[test]
fn a_request_of_another_format() {
    let rows = [
        (Format::Anthropic, r#"{"contents":[]}"#, "messages"),
        (Format::Chat, r#"{"input":"go"}"#, "messages"),
        (Format::Gemini, r#"{"messages":[]}"#, "contents"),
        (Format::Anthropic, r#"{"messages":"go"}"#, "string"),
    ];
    for (format, body, wanted) in rows {
        let error = lint(format, body).unwrap_err().to_string();
        assert!(error.contains(wanted), "{error}");
    }
    // It goes on from a stored response, which holds the call.
    assert_eq!(lint(Format::Responses, r#"{"previous_response_id":"r"}"#).unwrap(), []);
    let output = r#"[{"type":"function_call_output","call_id":"c","output":"x"}]"#;
    let body = |id: &str| format!(r#"{{"previous_response_id":{id},"input":{output}}}"#);
    assert_eq!(lint(Format::Responses, &body("\"r\"")).unwrap(), []);
    assert_eq!(lint(Format::Responses, &body("null")).unwrap()[0].what, Wrong::OrphanResult);
}

/// Hosted tools of the Responses format have outputs by other names and ids.
#[test]
fn outputs_of_hosted_tools() {
    let items = [
        r#"{"type":"local_shell_call","id":"i","call_id":"a","action":{}}"#,
        r#"{"type":"local_shell_call_output","id":"a","output":"ok"}"#,
        r#"{"type":"tool_search_call","call_id":null,"execution":"server","arguments":{}}"#,
        r#"{"type":"tool_search_output","call_id":null,"execution":"server","tools":[]}"#,
        r#"{"type":"tool_search_call","call_id":"b","execution":"client","arguments":{}}"#,
        r#"{"type":"tool_search_output","call_id":"b","execution":"client","tools":[]}"#,
        r#"{"type":"program","id":"p","call_id":"d","code":"1","fingerprint":"f"}"#,
        r#"{"type":"program_output","id":"o","call_id":"d","result":"1"}"#,
    ];
    let body = format!(r#"{{"input":[{}]}}"#, items.join(","));
    assert_eq!(lint(Format::Responses, &body).unwrap(), []);
    let orphan = format!(r#"{{"input":[{}]}}"#, items[4]);
    assert_eq!(lint(Format::Responses, &orphan).unwrap()[0].what, Wrong::OrphanCall);
}
