//! The command on real files: what it prints and how it ends.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

const LOG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/claude-code/tasks.jsonl");
const TODO_LOG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/claude-code/todowrite.jsonl");

fn session_todo(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_session-todo"));
    command.args(arguments);
    command
}

fn run(arguments: &[&str]) -> (i32, String, String) {
    told(&session_todo(arguments).output().unwrap())
}

fn told(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

fn json_of(arguments: &[&str]) -> Value {
    let (status, out, err) = run(arguments);
    assert_eq!(status, 0, "{err}");
    serde_json::from_str(&out).unwrap()
}

fn numbers(report: &Value, key: &str) -> Vec<u64> {
    report[key].as_array().unwrap().iter().map(|entry| entry["request"].as_u64().unwrap()).collect()
}

/// A whole record of a write that ran, in two lines.
fn write_of(id: &str, items: &str) -> String {
    format!(
        r#"{{"type":"assistant","sessionId":"s","message":{{"id":"m{id}","model":"m","content":[{{"type":"tool_use","id":"t{id}","name":"TodoWrite","input":{{"todos":[{items}]}}}}]}}}}
{{"type":"user","sessionId":"s","toolUseResult":{{}},"message":{{"content":[{{"type":"tool_result","tool_use_id":"t{id}","content":"ok"}}]}}}}
"#
    )
}

fn item(content: &str) -> String {
    format!(r#"{{"content":"{content}","status":"pending"}}"#)
}

fn file(folder: &TempDir, bytes: &[u8]) -> PathBuf {
    let path = folder.path().join("log.jsonl");
    std::fs::write(&path, bytes).unwrap();
    path
}

fn replayed(path: &Path) -> (i32, Value, String) {
    let (status, out, err) = run(&["replay", "--json", path.to_str().unwrap()]);
    (status, serde_json::from_str(&out).unwrap(), err)
}

/// The list that the client itself showed at the end (`tests/fixtures/claude-code/tasks.expected.md`).
#[test]
fn replay_gives_the_list_that_the_client_shows() {
    let report = json_of(&["replay", "--json", LOG]);
    let items: Vec<_> = report["items"].as_array().unwrap().iter().map(|item| (&item["id"], &item["status"])).collect();
    let expected = [
        ("1", "completed"),
        ("2", "completed"),
        ("3", "in_progress"),
        ("4", "pending"),
        ("6", "pending"),
        ("7", "pending"),
        ("8", "completed"),
        ("9", "pending"),
    ];
    assert_eq!(json!(items), json!(expected));
    assert_eq!(report["requests"], 67);
    assert_eq!(report["outcome"], "items");
    assert_eq!(report["format"], "claude-code");
    assert_eq!(report["compactions"], json!([{"request": 48, "items": 5}]));
    assert_eq!(report["calls"], json!({"write": 17, "read": 4, "refused": 4, "pending": 0}));
    assert_eq!(report["skipped"], json!([]));
}

/// Section 5: the formula gives the requests on which the client itself reminded. The text form prints
/// both, the client's from its own records.
#[test]
fn policy_claude_code_reminds_where_the_client_did() {
    let report = json_of(&["replay", "--json", "--policy", "claude-code", LOG]);
    assert_eq!(numbers(&report, "reminders"), [13, 23, 33, 60]);
    let (_, text, _) = run(&["replay", "--policy", "claude-code", LOG]);
    assert!(text.contains("the client's own, on request 13, 23, 33, 60\n"), "{text}");
}

/// `--at N`: the list as request N leaves.
#[test]
fn at_shows_the_list_as_a_request_leaves() {
    let at = |request: &str| json_of(&["replay", "--json", "--at", request, LOG]);
    assert_eq!(at("0")["items"], json!([]));
    assert_eq!(at("1")["items"], json!([]));
    assert_eq!(at("2")["items"].as_array().unwrap().len(), 6);
    assert_eq!(at("3")["items"][0]["status"], "in_progress");
    assert_eq!(at("3")["requests"], 3);
    assert_eq!(numbers(&at("20"), "reminders"), [13]);
    assert_eq!(at("47")["compactions"], json!([]));
}

/// R9: the other tool family, and a failed call.
#[test]
fn replay_reads_todo_write() {
    let report = json_of(&["replay", "--json", TODO_LOG]);
    assert_eq!(report["calls"], json!({"write": 5, "read": 0, "refused": 1, "pending": 0}));
    assert_eq!(report["requests"], 9);
}

/// R6: an empty file is a session without calls.
#[test]
fn an_empty_file_has_no_calls() {
    let folder = tempfile::tempdir().unwrap();
    let (status, report, err) = replayed(&file(&folder, b""));
    assert_eq!((status, &report["outcome"], err.as_str()), (0, &json!("no_calls"), ""));
}

/// R6: what is no log of ours says so.
#[test]
fn what_is_no_log_is_unreadable() {
    let folder = tempfile::tempdir().unwrap();
    let random: Vec<u8> = (0..5000_u32).map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()[2]).collect();
    let wide: Vec<u8> = write_of("1", &item("a")).encode_utf16().flat_map(u16::to_le_bytes).collect();
    for bytes in [&random[..], &wide] {
        let (status, report, err) = replayed(&file(&folder, bytes));
        assert_eq!((status, &report["outcome"]), (2, &json!("unreadable")));
        assert!(err.contains("not a session log"), "{err}");
    }
    let (status, report, err) = replayed(Path::new("no/such/file.jsonl"));
    assert_eq!((status, &report["outcome"]), (2, &json!("unreadable")));
    assert!(err.contains("no/such/file.jsonl"), "{err}");
}

/// R7: damage is skipped, counted and named, and the rest is read.
#[test]
fn damage_is_skipped_and_the_rest_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (write_of("1", &item("a")), write_of("2", &item("b")));
    let torn = &first[..first.len() - 40];
    let cases: [(&str, Vec<u8>, i32, &str); 8] = [
        ("NUL runs", [first.as_bytes(), &[0; 4096], b"\n", second.as_bytes()].concat(), 1, "b"),
        ("NUL runs before a record", [first.as_bytes(), &[0; 4096], second.as_bytes()].concat(), 1, "b"),
        ("two records on a line", format!("{}{second}", first.trim_end()).into(), 0, "b"),
        ("a torn last line", format!("{second}{torn}").into(), 1, "b"),
        ("CRLF", format!("{first}{second}").replace('\n', "\r\n").into(), 0, "b"),
        ("a byte-order mark", format!("\u{feff}{first}{second}").into(), 0, "b"),
        ("invalid UTF-8", [first.as_bytes(), b"{\"type\":\"\xff\xfe\"}\n", second.as_bytes()].concat(), 0, "b"),
        ("no JSON", format!("{first}some words\n{second}").into(), 1, "b"),
    ];
    for (name, bytes, status, content) in cases {
        let (ended, report, err) = replayed(&file(&folder, &bytes));
        assert_eq!(ended, status, "{name}: {report} {err}");
        assert_eq!(report["items"][0]["content"], content, "{name}");
        assert_eq!(report["skipped"].as_array().unwrap().is_empty(), status == 0, "{name}");
    }
}

/// R7: the place of the damage is where it is.
#[test]
fn damage_is_reported_with_line_and_byte() {
    let folder = tempfile::tempdir().unwrap();
    let first = write_of("1", &item("a"));
    let (_, report, err) = replayed(&file(&folder, format!("{first}{{\"type\":\n").as_bytes()));
    assert_eq!(report["skipped"], json!([{"line": 3, "offset": first.len(), "why": "the record is cut off"}]));
    assert!(err.contains("line 3"), "{err}");
}

/// R7: a line of 12 MB is a line.
#[test]
fn a_long_line_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let long = format!(r#"{{"type":"user","sessionId":"s","message":{{"content":"{}"}}}}"#, "x".repeat(12 << 20));
    let (status, report, _) = replayed(&file(&folder, format!("{long}\n{}", write_of("1", &item("a"))).as_bytes()));
    assert_eq!((status, &report["items"][0]["content"]), (0, &json!("a")));
}

/// R1: the last call without a result is shown and not applied; one with later activity is applied and
/// reported.
#[test]
fn calls_without_a_result() {
    let folder = tempfile::tempdir().unwrap();
    let call = |id, content| write_of(id, &item(content)).lines().next().unwrap().to_owned();
    let (status, report, _) = replayed(&file(&folder, call("1", "a").as_bytes()));
    assert_eq!(status, 0);
    assert_eq!(report["calls"], json!({"write": 0, "read": 0, "refused": 0, "pending": 1}));
    assert_eq!(report["outcome"], "no_calls");
    let log = format!("{}\n{}", call("1", "a"), call("2", "b"));
    let (_, report, err) = replayed(&file(&folder, log.as_bytes()));
    assert_eq!(report["calls"], json!({"write": 1, "read": 0, "refused": 0, "pending": 1}));
    assert_eq!(report["items"][0]["content"], "a");
    assert!(err.contains("without a result"), "{err}");
}

/// T3: item text never moves the terminal.
#[test]
fn control_sequences_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, write_of("1", &item("a\\u001b[2J\\u202eb")).as_bytes());
    let (_, text, _) = run(&["replay", path.to_str().unwrap()]);
    assert!(text.contains("a\\u{1b}[2J\\u{202e}b"), "{text}");
}

fn call(arguments: &[&str], input: &str) -> (i32, String, String) {
    let mut command = session_todo(arguments);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A command that refuses its usage may be gone before it has read anything.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    told(&child.wait_with_output().unwrap())
}

/// The list of one call is the start of the next.
#[test]
fn call_answers_and_takes_its_own_answer_as_a_list() {
    let folder = tempfile::tempdir().unwrap();
    let (status, out, _) = call(&["call", "todo_write"], r#"{"todos":[{"content":"a","status":"pending"}]}"#);
    let answer: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((status, &answer["is_error"]), (0, &json!(false)));
    assert_eq!(answer["items"], json!([{"id": "1", "content": "a", "status": "pending"}]));
    let path = file(&folder, out.as_bytes());
    let list = path.to_str().unwrap();
    let (_, out, _) = call(&["call", "TaskUpdate", "--list", list], r#"{"taskid":"1","status":"completed"}"#);
    let answer: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(answer["items"][0]["status"], "completed");
    let (status, out, _) = call(&["call", "TaskUpdate", "--list", list], r#"{"taskid":"9","status":"completed"}"#);
    let answer: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((status, &answer["is_error"]), (0, &json!(true)));
    assert!(answer["text"].as_str().unwrap().contains("The ids there are: 1."), "{out}");
}

#[test]
fn wrong_usage_says_what_would_do() {
    let (status, _, err) = call(&["call", "write_file"], "{}");
    assert_eq!(status, 2);
    assert!(err.contains("todo_write"), "{err}");
    let (status, _, err) = run(&["replay", "--policy", "none", LOG]);
    assert_eq!(status, 2);
    assert!(err.contains("claude-code"), "{err}");
}
