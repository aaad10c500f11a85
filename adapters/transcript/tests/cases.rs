//! Troubles that users of agent products met, as logs in our own words: a row each, by the case's number.
//!
//! What a reader finds is told without what was said of the log (skipped, pending and unanswered are named).

#[allow(dead_code, reason = "other tests need the rest of it")]
mod claude_log;
#[allow(dead_code, reason = "other tests need the rest of it")]
mod story;

use claude_log::{
    answer, call, created, other, prompt, result, result_of, said, status, sub_call, subject, task, todos, tool_use,
};
use session_todo_transcript::Product::{self, ClaudeCode, Codex, Gemini, Kimi, Roo};
use story::{story, told};

/// A case: its number, a log, the rows that have to be found in this order, and the list at the end.
struct Case {
    number: u16,
    product: Product,
    log: Vec<u8>,
    rows: &'static [&'static str],
    list: &'static [&'static str],
}

fn case(
    number: u16,
    product: Product,
    log: impl Into<Vec<u8>>,
    rows: &'static [&'static str],
    list: &'static [&'static str],
) -> Case {
    Case { number, product, log: log.into(), rows, list }
}

/// A Claude Code log.
fn claude(number: u16, log: &[String], rows: &'static [&'static str], list: &'static [&'static str]) -> Case {
    case(number, ClaudeCode, log.concat(), rows, list)
}

#[track_caller]
fn check(cases: &[Case]) {
    for Case { number, product, log, rows, list } in cases {
        let story = story(*product, log);
        assert_eq!(story.list, *list, "case {number}: {:?}", story.steps);
        assert_eq!(story.steps, *rows, "case {number}");
    }
}

fn write(response: &str, id: &str, content: &str, status: &str) -> String {
    let input = format!(r#"{{"todos":{}}}"#, todos(content, status));
    call(response, id, "TodoWrite", &input)
}

fn wrote(response: &str, id: &str, content: &str, status: &str) -> String {
    write(response, id, content, status) + &result(id, "{}")
}

fn update(response: &str, id: &str, task: &str, now: &str) -> String {
    call(response, id, "TaskUpdate", &status(task, now)) + &result(id, r#"{"success":true}"#)
}

fn paint() -> String {
    task("m1", "t1", "Paint", "1")
}

fn boundary() -> String {
    other(r#""type":"system","subtype":"compact_boundary""#)
}

fn resumed() -> String {
    answer("x")
        .replace(r#""model":"m""#, r#""model":"<synthetic>""#)
        .replace(r#""isSidechain":false"#, r#""isSidechain":false,"isApiErrorMessage":false"#)
}

const CREATED: &str = "main TaskCreate ran";
const UPDATED: &str = "main TaskUpdate ran";
const WROTE: &str = "main TodoWrite ran";

#[test]
fn compactions() {
    let summary = prompt("Left to do: 1. Sand, 2. Prime", r#","isCompactSummary":true"#);
    check(&[
        claude(
            60,
            &[paint(), boundary(), answer("m2")],
            &["request", CREATED, "compacted", "request"],
            &["pending Paint"],
        ),
        claude(
            76,
            &[paint(), boundary(), answer("m2"), boundary(), answer("m3"), boundary(), answer("m4")],
            &["request", CREATED, "compacted", "request", "compacted", "request", "compacted", "request"],
            &["pending Paint"],
        ),
        claude(114, &[boundary(), summary.clone(), answer("m2")], &["compacted", "request"], &[]),
        claude(117, &[boundary(), summary], &["compacted"], &[]),
        case(
            74,
            Codex,
            [plan("c1", "Paint"), rollout("compacted", r#"{"message":"so far"}"#), tokens(5)].concat(),
            &["request", "main update_plan ran", "compacted"],
            &["in_progress Paint"],
        ),
    ]);
}

#[test]
fn resumes() {
    let elsewhere = |record: String| record.replace(r#""sessionId":"s""#, r#""sessionId":"new""#);
    let again = call("m2", "t2", "TaskCreate", &subject("Sand")) + &result("t2", "{}");
    let rejected = r#""content":"The user doesn't want to proceed with this tool use.","is_error":true"#;
    let dropped = call("m3", "l1", "TaskList", "{}") + &result("l1", r#"{"tasks":[]}"#);
    check(&[
        claude(
            77,
            &[paint(), resumed(), again.clone()],
            &["request", CREATED, "resumed", "request", CREATED],
            &["pending Paint", "pending Sand"],
        ),
        claude(
            88,
            &[paint(), elsewhere(again)],
            &["request", CREATED, "request", CREATED],
            &["pending Paint", "pending Sand"],
        ),
        claude(
            89,
            &[write("m1", "w1", "Paint", "pending"), prompt("next", ""), answer("m2")],
            &["request", "unanswered TodoWrite", WROTE, "request"],
            &["pending Paint"],
        ),
        claude(
            91,
            &[
                paint(),
                call("m2", "t2", "TaskUpdate", &status("1", "completed")),
                result_of(false, "t2", rejected, "\"User rejected tool use\""),
            ],
            &["request", CREATED, "request", "main TaskUpdate failed"],
            &["pending Paint"],
        ),
        case(92, Roo, INTERRUPTED, &["request", "main update_todo_list failed"], &[]),
        claude(
            93,
            &[paint(), write("m2", "w7", "Sand", "pending")],
            &["request", CREATED, "request", "pending TodoWrite"],
            &["pending Paint"],
        ),
        claude(
            120,
            &[paint(), update("m2", "t2", "1", "completed"), dropped],
            &[
                "request",
                CREATED,
                "request",
                UPDATED,
                "request",
                "main TaskList ran",
                "recorded on 6: Agree { telling: true }",
            ],
            &["completed Paint"],
        ),
        claude(
            124,
            &[paint(), prompt("<command-name>/clear</command-name>", ""), answer("m2")],
            &["request", CREATED, "request"],
            &["pending Paint"],
        ),
    ]);
}

/// A call that the client closed when it came back, without a flag.
const INTERRUPTED: &str = r#"[{"role":"user","content":[{"type":"text","text":"go"}],"ts":1},
{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"update_todo_list","input":{"todos":"[ ] Paint"}}],"ts":2},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"Task was interrupted before this tool call could be completed."}],"ts":3}]"#;

#[test]
fn rewinds() {
    let turn = |id: u8, step: &str| {
        let args = format!(r#"{{"todos":[{{"description":"{step}","status":"pending"}}]}}"#);
        format!(
            "{{\"id\":\"u{id}\",\"type\":\"user\",\"content\":[{{\"text\":\"go\"}}]}}\n{{\"id\":\"g{id}\",\"type\":\"gemini\",\"content\":\"\",\"toolCalls\":[{{\"id\":\"c{id}\",\"name\":\"write_todos\",\"args\":{args},\"status\":\"success\"}}]}}\n"
        )
    };
    let head = "{\"sessionId\":\"s\",\"projectHash\":\"p\",\"startTime\":\"t\",\"kind\":\"main\"}\n";
    let gemini = [head, &turn(1, "Paint"), &turn(2, "Sand"), "{\"$rewindTo\":\"u2\"}\n"].concat();
    let back = rollout("event_msg", r#"{"type":"thread_rolled_back","num_turns":1}"#);
    let asked = |words| rollout("event_msg", &format!(r#"{{"type":"user_message","message":"{words}"}}"#));
    let codex = [asked("one"), plan("c1", "Paint"), tokens(5), asked("two"), plan("c2", "Sand"), tokens(9), back];
    check(&[
        case(
            81,
            Gemini,
            gemini,
            &["turn", "request", "main write_todos ran", "turn", "request", "main write_todos ran", "rewound 1"],
            &["pending Paint"],
        ),
        case(
            119,
            Codex,
            codex.concat(),
            &["turn", "request", "main update_plan ran", "turn", "request", "main update_plan ran", "rewound 1"],
            &["in_progress Paint"],
        ),
    ]);
}

fn rollout(kind: &str, payload: &str) -> String {
    format!(r#"{{"timestamp":"t","type":"{kind}","payload":{payload}}}"#) + "\n"
}

fn plan(id: &str, step: &str) -> String {
    let arguments = format!(r#"{{\"plan\":[{{\"step\":\"{step}\",\"status\":\"in_progress\"}}]}}"#);
    let call = format!(r#"{{"type":"function_call","name":"update_plan","arguments":"{arguments}","call_id":"{id}"}}"#);
    let output = format!(r#"{{"type":"function_call_output","call_id":"{id}","output":"Plan updated"}}"#);
    rollout("response_item", &call) + &rollout("response_item", &output)
}

fn tokens(total: u32) -> String {
    let info = format!(r#"{{"type":"token_count","info":{{"total_token_usage":{{"total_tokens":{total}}}}}}}"#);
    rollout("event_msg", &info)
}

#[test]
fn sub_agents() {
    let its_list =
        sub_call("s1", "w1", "TodoWrite", r#"{"todos":[]}"#) + &result_of(true, "w1", r#""content":"ok""#, "{}");
    let gone = sub_call("s1", "u1", "TaskUpdate", &status("1", "deleted"));
    let gone = gone + &result_of(true, "u1", r#""content":"ok""#, r#"{"success":true}"#);
    let child = r#"[{"role":"user","content":[{"type":"text","text":"go"}]},
{"role":"assistant","content":[{"type":"tool_use","id":"n1","name":"new_task","input":{"mode":"code","message":"go","todos":"[ ] Paint\n[ ] Sand"}}]},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"n1","content":"done"}]}]"#;
    check(&[
        claude(
            95,
            &[paint(), its_list, answer("m2")],
            &["request", CREATED, "request by sub", "request"],
            &["pending Paint"],
        ),
        claude(
            96,
            &[paint(), gone, answer("m2")],
            &["request", CREATED, "request by sub", "sub TaskUpdate ran", "request"],
            &[],
        ),
        case(224, Roo, child, &["request", "main new_task ran"], &[]),
    ]);
}

/// Two tasks and a damage of the log, which changes nothing of them.
fn around(damage: &[u8]) -> Vec<u8> {
    [paint().as_bytes(), damage, task("m2", "t2", "Sand", "2").as_bytes()].concat()
}

#[test]
fn damage() {
    const BOTH: &[&str] = &["pending Paint", "pending Sand"];
    let torn = rollout("response_item", r#"{"type":"reasoning"}"#);
    let (cut, _) = torn.split_at(60);
    let codex = format!("{}{cut}\n{torn}{}", plan("c1", "Paint"), tokens(5));
    let whole: [(u16, &[u8], &[&str]); 6] = [
        (146, b"{\"type\":\"attachment\",\"uuid\":\"u2\",\"da\n", &["skipped 3: the record is cut off"]),
        (147, &[b"\n\0".as_slice(), &[0; 300]].concat(), &["skipped 4: NUL bytes"]),
        (156, b"{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"caf\xe9\"}}\n", &[]),
        (
            157,
            "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"a\u{2028}b\u{2029}c\u{b}\"}}\n".as_bytes(),
            &[],
        ),
        (
            236,
            b"{\"a\":\"cut\n\n42\n[]\n",
            &["skipped 3: the record is cut off", "skipped 5: not a record", "skipped 6: not a record"],
        ),
        (155, b"\xef\xbb\xbf\n", &[]),
    ];
    for (number, damage, skips) in whole {
        let story = story(ClaudeCode, &around(damage));
        assert_eq!(story.list, BOTH, "case {number}");
        assert_eq!(skipped(&story.steps), skips, "case {number}");
    }
    let marked = [b"\xef\xbb\xbf".as_slice(), &around(b"")].concat();
    assert_eq!(story(ClaudeCode, &marked), story(ClaudeCode, &around(b"")), "case 155");
    let utf16: Vec<u8> = paint().encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(Product::of(&[b"\xff\xfe".as_slice(), &utf16].concat()), None, "case 155");
    check(&[claude(
        158,
        &[wrote("m1", "w1", r"\ud99c report", "pending")],
        &["request", WROTE],
        &["pending \u{fffd} report"],
    )]);
    let copied = story(Codex, codex.as_bytes());
    assert_eq!(copied.list, ["in_progress Paint"], "case 151");
    assert_eq!(skipped(&copied.steps), ["skipped 3: the record is cut off"], "case 151");
}

/// What was skipped: the line and why.
fn skipped(steps: &[String]) -> Vec<String> {
    let skip = |step: &String| {
        let (line, place) = step.strip_prefix("skipped ")?.split_once(':')?;
        Some(format!("skipped {line}:{}", place.split_once(':')?.1))
    };
    steps.iter().filter_map(skip).collect()
}

/// A record with an id and a parent, with others behind it that have them too.
fn linked(at: usize, record: &str, parent: &str) -> String {
    let link = format!(r#""uuid":"u{at}","parentUuid":{parent}"#);
    let progress = r#"{"type":"progress","uuid":"p","parentUuid":"u0","data":{"type":"hook_progress"}}"#;
    let snapshot = format!(r#"{{"type":"file-history-snapshot","messageId":"u{at}","snapshot":{{}}}}"#);
    format!("{}\n{progress}\n{snapshot}\n", record.replace(r#""parentUuid":null"#, &link))
}

#[test]
fn parent_links_say_nothing() {
    let log = [paint(), task("m2", "t2", "Sand", "2"), boundary(), update("m3", "t3", "1", "completed")].concat();
    let links: [(u16, &[&str]); 5] = [
        (160, &["null", "\"phantom\""]),
        (161, &["null", "\"u0\"", "\"lost\"", "\"u2\""]),
        (162, &["null", "\"u0\"", "\"u0\"", "\"u1\""]),
        (164, &["\"u1\"", "\"u1\""]),
        (165, &["null", "\"u0\"", "\"u1\"", "\"u2\"", "null", "\"gone\""]),
    ];
    for (number, parents) in links {
        let records = log.lines().zip(parents.iter().cycle()).enumerate();
        let linked: Vec<String> = records.map(|(at, (record, parent))| linked(at, record, parent)).collect();
        let linked = linked.concat();
        assert_eq!(story(ClaudeCode, linked.as_bytes()).list, ["completed Paint", "pending Sand"], "case {number}");
    }
}

#[test]
fn transcripts() {
    let meta = |id: &str| rollout("session_meta", &format!(r#"{{"id":"{id}","forked_from_id":"parent"}}"#));
    let past = [plan("c1", "Paint"), tokens(5)].concat();
    let parts = [
        said(false, "m1", r#"{"type":"text","text":"I begin."}"#),
        write("m1", "w1", "Paint", "pending"),
        said(false, "m1", &tool_use("w1", "TodoWrite", r#"{"todos":[]}"#)),
        result("w1", "{}"),
    ];
    let odd = call("m2", "b1", "Bash", "{}") + &result("b1", r#""Error: exit code 1""#);
    let odd = odd + &call("m3", "b2", "Read", "{}") + &result("b2", r#"{"file":[1,{"task":2}],"tasks":"x"}"#);
    check(&[
        claude(141, &[prompt("hello", ""), answer("m1")], &["request"], &[]),
        claude(
            143,
            &[
                wrote("m1", "w1", "Paint", "pending"),
                call("m2", "t2", "TaskCreate", &subject("Sand")),
                created("t2", "2"),
            ],
            &["request", WROTE, "request", CREATED],
            &["pending Paint", "pending Sand"],
        ),
        case(145, Kimi, TITLES, &["request", "main TodoList ran"], &["completed Paint"]),
        case(
            166,
            Codex,
            [meta("child"), meta("parent"), past.clone(), past].concat(),
            &["request", "main update_plan ran"],
            &["in_progress Paint"],
        ),
        claude(169, &parts, &["request", WROTE], &["pending Paint"]),
        claude(
            176,
            &[paint(), odd],
            &["request", CREATED, "request", "main Bash ran", "request", "main Read ran"],
            &["pending Paint"],
        ),
    ]);
    assert_eq!(Product::of(b"{\"turns\":[],\"layout\":9}\n"), None, "case 172");
    assert_eq!(told(ClaudeCode, b"").steps, [""; 0], "case 141");
}

const TITLES: &str = r#"{"type":"metadata","protocol_version":"1.4","created_at":1}
{"type":"turn.prompt","input":[{"type":"text","text":"go"}],"origin":{"kind":"user"},"time":1}
{"type":"context.append_loop_event","event":{"type":"step.begin","uuid":"s1","turnId":"0","step":1},"time":1}
{"type":"context.append_loop_event","event":{"type":"tool.call","uuid":"c0","stepUuid":"s1","toolCallId":"TodoList_0","name":"TodoList","args":{"todos":[{"title":"Paint","status":"done"}]}},"time":1}
{"type":"context.append_loop_event","event":{"type":"tool.result","parentUuid":"c0","toolCallId":"TodoList_0","result":{"output":"Todo list updated."}},"time":1}
"#;
