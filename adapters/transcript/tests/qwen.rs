//! Qwen Code's chats: short ones in our own words.

mod story;

use session_todo_transcript::Product::Qwen;
use story::{Story, cut_at_every_byte, story, told};

fn record(kind: &str, uuid: &str, parent: &str, rest: &str) -> String {
    format!(r#"{{"uuid":"{uuid}","parentUuid":{parent},"sessionId":"s","type":"{kind}"{rest}}}"#) + "\n"
}

fn said(uuid: &str, parent: &str) -> String {
    record("user", uuid, parent, r#","message":{"role":"user","parts":[{"text":"do it"}]}"#)
}

fn todo(uuid: &str, id: &str, content: &str) -> String {
    let args = format!(r#"{{"todos":[{{"id":"1","content":"{content}","status":"pending"}}]}}"#);
    let call = format!(r#"{{"functionCall":{{"id":"{id}","name":"todo_write","args":{args}}}}}"#);
    record("assistant", uuid, "null", &format!(r#","message":{{"role":"model","parts":[{{"text":"so"}},{call}]}}"#))
}

fn result(id: &str, response: &str, beside: &str) -> String {
    let part = format!(r#"{{"functionResponse":{{"id":"{id}","name":"todo_write","response":{response}}}}}"#);
    let message = format!(r#","message":{{"role":"user","parts":[{part}]}},"toolCallResult":{beside}"#);
    record("tool_result", "r", "null", &message)
}

fn ran(id: &str) -> String {
    result(id, r#"{"output":"Todos have been modified successfully."}"#, r#"{"status":"success"}"#)
}

fn replay(parts: &[String]) -> Story {
    story(Qwen, parts.concat().as_bytes())
}

#[test]
fn r9_a_message_in_two_records_is_one_request() {
    let story = replay(&[said("u1", "null"), todo("a1", "c1", "Look"), todo("a1", "c1", "Look"), ran("c1")]);
    assert_eq!(story.steps, ["turn", "request", "main todo_write ran"]);
    assert_eq!(story.list, ["pending Look"]);
}

#[test]
fn r1_a_call_ran_where_its_result_says_so() {
    let failed = [
        (r#"{"error":"no"}"#, r#"{"status":"error"}"#),
        (r#"{"output":"ok"}"#, r#"{"status":"cancelled"}"#),
        (r#"{"error":"no"}"#, "{}"),
        (r#"{"output":"Failed to modify todos. An error occurred."}"#, r#"{"status":"success"}"#),
    ];
    for (response, beside) in failed {
        let story = replay(&[said("u1", "null"), todo("a1", "c1", "Look"), result("c1", response, beside)]);
        assert_eq!(story.steps, ["turn", "request", "main todo_write failed"], "{response} {beside}");
        assert_eq!(story.list, [""; 0]);
    }
    let pending = replay(&[said("u1", "null"), todo("a1", "c1", "Look")]);
    assert_eq!(pending.steps, ["turn", "request", "pending todo_write"]);
    let passed = replay(&[said("u1", "null"), todo("a1", "c1", "Look"), todo("a2", "c2", "Write"), ran("c2")]);
    let expected =
        ["turn", "request", "request", "unanswered todo_write", "main todo_write ran", "main todo_write ran"];
    assert_eq!(passed.steps, expected);
    // A call that was cut off has its result behind the response that calls again.
    let error = result("c1", r#"{"error":"no"}"#, r#"{"status":"error"}"#);
    let again = replay(&[said("u1", "null"), todo("a1", "c1", "Lo"), todo("a2", "c2", "Look"), error, ran("c2")]);
    assert_eq!(again.steps, ["turn", "request", "request", "main todo_write failed", "main todo_write ran"]);
}

#[test]
fn r2_a_rewind_brings_the_list_back() {
    let turn = |uuid: &str, parent: &str, answer: &str, id: &str, content: &str| {
        [said(uuid, parent), todo(answer, id, content), ran(id)].concat()
    };
    let rewind =
        |parent: &str| record("system", "x", parent, r#","subtype":"rewind","systemPayload":{"truncatedCount":2}"#);
    let two = [turn("u1", "null", "a1", "c1", "First"), turn("u2", r#""a1""#, "a2", "c2", "Second")].concat();
    let story = replay(&[two.clone(), rewind(r#""a1""#)]);
    assert_eq!(story.steps.last().map(String::as_str), Some("rewound 1"));
    assert_eq!(story.list, ["pending First"]);
    assert_eq!(replay(&[two.clone(), rewind("null")]).list, [""; 0]);
    let again = turn("u3", r#""x""#, "a3", "c3", "Third");
    assert_eq!(replay(&[two.clone(), rewind(r#""a1""#), again, rewind(r#""x""#)]).list, ["pending First"]);
    assert_eq!(replay(&[two, rewind(r#""elsewhere""#)]).list, ["pending Second"]);
}

#[test]
fn r8_the_list_as_it_was_stored_is_handed_on() {
    let beside = r#"{"status":"success","resultDisplay":{"type":"todo_list","todos":[{"id":"1","content":"Look twice","status":"pending"}]}}"#;
    let story = replay(&[said("u1", "null"), todo("a1", "c1", "Look"), result("c1", r#"{"output":"ok"}"#, beside)]);
    let last = story.steps.last().map(String::as_str).unwrap_or_default();
    assert!(last.starts_with("recorded on 3: Differ"), "{last}");
}

#[test]
fn r9_a_sub_agents_list_is_its_own() {
    let sub = |line: String| line.replacen(r#""sessionId""#, r#""isSidechain":true,"agentId":"x","sessionId""#, 1);
    let story = replay(&[
        said("u1", "null"),
        todo("a1", "c1", "Mine"),
        sub(said("u2", "null")),
        sub(todo("a2", "c2", "Its own")),
        sub(ran("c2")),
        ran("c1"),
    ]);
    assert_eq!(story.steps, ["turn", "request", "request by sub", "main todo_write ran"]);
    assert_eq!(story.list, ["pending Mine"]);
}

#[test]
fn a_compression_is_a_compaction_and_a_notification_no_turn() {
    let compression = record("system", "k", "null", r#","subtype":"chat_compression","systemPayload":{"info":{}}"#);
    let notice = record("user", "n", "null", r#","subtype":"notification","message":{"role":"user","parts":[]}"#);
    let telemetry = record("system", "t", "null", r#","subtype":"ui_telemetry","systemPayload":{}"#);
    let story = replay(&[todo("a1", "c1", "Look"), ran("c1"), compression, notice, telemetry]);
    assert_eq!(story.steps, ["request", "main todo_write ran", "compacted"]);
}

#[test]
fn r7_damage_is_told_and_the_rest_is_read() {
    let log = [said("u1", "null"), todo("a1", "c1", "Look"), ran("c1")].concat();
    let one_line = log.replace('\n', "");
    assert_eq!(story(Qwen, one_line.as_bytes()).list, ["pending Look"]);
    let half = log.get(..60).unwrap_or_default();
    let glued = told(Qwen, format!("{half}{log}").as_bytes());
    assert_eq!(glued.list, ["pending Look"]);
    assert_eq!(glued.steps.first().map(String::as_str), Some("skipped 1:0: not a record"));
    cut_at_every_byte(Qwen, log.as_bytes());
}
