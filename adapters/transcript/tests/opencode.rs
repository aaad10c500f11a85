//! `OpenCode`'s exports, its older storage, and its database.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod shown;

use std::path::Path;

use rusqlite::Connection;
use session_todo_transcript::{Database, Found, Product, StoredSession, read};
use shown::{cut_at_every_byte, row, shown};

fn opencode(log: &str) -> Vec<String> {
    shown(Product::OpenCode, log.as_bytes())
}

/// An export of these messages.
fn export(messages: &[&str]) -> String {
    format!("{{\n  \"info\": {{\"id\": \"ses_1\"}},\n  \"messages\": [{}]\n}}", messages.join(",\n"))
}

const PROMPT: &str = r#"{"info":{"role":"user","summary":{"diffs":[]}},"parts":[{"type":"text","text":"go"}]}"#;
const PLAN: &str = r#"{"info":{"role":"assistant","finish":"tool-calls"},"parts":[{"type":"step-start"},
{"id":"p1","type":"tool","tool":"todowrite","state":{"status":"completed","input":{"todos":[{"content":"Read","status":"pending","priority":"low"}]},"output":"[]","metadata":{"todos":[{"content":"Read","status":"pending","priority":"low"}]}}},
{"id":"p2","type":"tool","tool":"bash","state":{"status":"completed","input":{"command":"true"},"output":""}}]}"#;
const REFUSED: &str = r#"{"info":{"role":"assistant","finish":"tool-calls"},"parts":[{"id":"p3","type":"tool","tool":"todowrite","state":{"status":"error","input":{"todos":"x"},"error":"no"}}]}"#;
const RUNNING: &str = r#"{"info":{"role":"assistant"},"parts":[{"id":"p4","type":"tool","tool":"todowrite","state":{"status":"running","input":{"todos":[]}}}]}"#;
const SUMMARY: &str =
    r#"{"info":{"role":"assistant","summary":true,"finish":"stop"},"parts":[{"type":"text","text":"s"}]}"#;
const NO_SUMMARY: &str =
    r#"{"info":{"role":"assistant","summary":true,"error":{"name":"APIError"},"finish":"stop"},"parts":[]}"#;
const DIED: &str =
    r#"{"info":{"role":"assistant","error":{"name":"MessageAbortedError"}},"parts":[{"type":"step-start"}]}"#;

const WROTE: &str = r#"todowrite{"todos":[{"content":"Read","status":"pending","priority":"low"}]} ran"#;
const KEPT: &str = r#"recorded [{"content":"Read","status":"pending","priority":"low"}] at 4"#;

/// How a call ended stands with it, and the list after it too (R1, R8).
#[test]
fn calls() {
    let found = opencode(&export(&[PROMPT, PLAN, REFUSED]));
    assert_eq!(found, ["request", WROTE, KEPT, "bash ran", "request", r#"todowrite{"todos":"x"} failed"#]);
}

/// A summary is a compaction where it came to be, and no request; a dead request and the next are one.
#[test]
fn requests_and_compactions() {
    let found = opencode(&export(&[PROMPT, DIED, PROMPT, NO_SUMMARY, SUMMARY, PROMPT, DIED, REFUSED]));
    assert_eq!(found, ["compacted", "request", r#"todowrite{"todos":"x"} failed"#]);
}

/// A call that was not over is pending at the end, and ran where the log goes on (R1); a part that is there
/// twice counts once (R3).
#[test]
fn calls_without_results() {
    assert_eq!(opencode(&export(&[PROMPT, RUNNING])), ["request", "pending todowrite"]);
    let found = opencode(&export(&[RUNNING, PROMPT, RUNNING]));
    assert_eq!(found, ["request", "unanswered todowrite", r#"todowrite{"todos":[]} ran"#, "request"]);
}

/// A part of the older storage is read; a message of it has no calls in it.
#[test]
fn older_storage() {
    let part = r#"{"id":"p","sessionID":"s","messageID":"m","type":"tool","tool":"todowrite","state":{"status":"success","input":{"todos":[]}}}"#;
    assert_eq!(opencode(part), [r#"todowrite{"todos":[]} ran"#]);
    let message = r#"{"id":"m","sessionID":"s","role":"assistant","time":{"created":1}}"#;
    let error = read(Product::OpenCode, message.as_bytes(), &mut |_| {}).expect_err("no log");
    assert!(error.to_string().contains("under part"), "{error}");
}

/// What stands before the damage is read (R7).
#[test]
fn damage() {
    let log = export(&[PROMPT, PLAN, PROMPT, REFUSED]);
    cut_at_every_byte(Product::OpenCode, log.as_bytes());
    let cut = log.replace(r#""input":{"todos":"x"}"#, r#""input":{"todos":x}"#);
    assert_eq!(
        opencode(&cut),
        ["request", WROTE, KEPT, "bash ran", "request", "skipped 8:658 a call that is not JSON"]
    );
}

const TABLES: &str = "
    PRAGMA journal_mode = wal;
    CREATE TABLE session (id text PRIMARY KEY, parent_id text, time_created integer);
    CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, data text);
    CREATE TABLE part (id text PRIMARY KEY, message_id text, data text);
    CREATE TABLE todo (session_id text, content text, status text, priority text, position integer);
    INSERT INTO session VALUES ('s1', NULL, 1), ('s2', 's1', 2);
    INSERT INTO message VALUES
        ('m2', 's1', 20, '{\"role\":\"assistant\",\"finish\":\"tool-calls\"}'),
        ('m1', 's1', 10, '{\"role\":\"user\"}'),
        ('m3', 's1', 30, '{\"role\":\"assistant\",\"summary\":true,\"finish\":\"stop\"}');
    INSERT INTO part VALUES
        ('p3', 'm2', '{\"type\":\"to'),
        ('p2', 'm2', '{\"type\":\"tool\",\"tool\":\"todowrite\",\"state\":{\"status\":\"completed\",\"input\":{\"todos\":[]}}}'),
        ('p1', 'm2', '{\"type\":\"step-start\"}');
    INSERT INTO todo VALUES ('s1', 'Write', 'pending', 'low', 1), ('s1', 'Read', 'completed', 'low', 0);";

fn database(path: &Path) -> Connection {
    let client = Connection::open(path).expect("a database");
    client.execute_batch(TABLES).expect("its tables");
    client
}

fn in_database(path: &Path) -> Vec<String> {
    let mut rows = Vec::new();
    let database = Database::open(path).expect("a database of OpenCode's");
    let sessions = database.sessions().expect("its sessions");
    let parents: Vec<_> = sessions.iter().map(|StoredSession { id, parent }| (&**id, parent.as_deref())).collect();
    assert_eq!(parents, [("s1", None), ("s2", Some("s1"))]);
    database.read("s1", &mut |found: Found<'_>| rows.push(row(&found))).expect("a session");
    rows
}

const STORED: [&str; 5] = [
    "request",
    r#"todowrite{"todos":[]} ran"#,
    "skipped 2:0 a part that is not JSON",
    "compacted",
    r#"recorded [{"content":"Read","status":"completed"},{"content":"Write","status":"pending"}] at 3"#,
];

/// The database is read while the client works on it, as it stood before what the client has not finished.
#[test]
fn a_database_in_use() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("opencode.db");
    let client = database(&path);
    client.execute_batch("BEGIN IMMEDIATE; DELETE FROM part; DELETE FROM todo;").expect("work");
    assert_eq!(in_database(&path), STORED);
    client.execute_batch("COMMIT").expect("the reader holds nothing");
    assert_eq!(in_database(&path), ["request", "compacted", "recorded [] at 3"]);
}

/// Reading a database leaves no file behind, and writes nothing, whatever its name.
#[test]
fn a_database_at_rest() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("what?is#100%.db");
    database(&path).close().expect("the client ends");
    let before = std::fs::read(&path).expect("its bytes");
    assert_eq!(in_database(&path), STORED);
    assert_eq!(std::fs::read(&path).expect("its bytes"), before);
    assert_eq!(std::fs::read_dir(folder.path()).expect("the folder").count(), 1);
}

/// A database that is not `OpenCode`'s, and a file that is none, are no sessions.
#[test]
fn other_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("other.db");
    assert!(Database::open(&path).is_err());
    Connection::open(&path).and_then(|other| other.execute_batch("CREATE TABLE message (id)")).expect("a database");
    let error = Database::open(&path).expect_err("another's").to_string();
    assert!(error.contains("not OpenCode's"), "{error}");
    std::fs::write(&path, "SQLite format 3\0 and no more").expect("a file");
    assert!(Database::open(&path).is_err());
    let error = read(Product::Sqlite, &b"SQLite format 3\0"[..], &mut |_| {}).expect_err("a path is needed");
    assert!(error.to_string().contains("path"), "{error}");
}
