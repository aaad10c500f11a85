//! Cline's histories: a list that rides on other calls.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod shown;

use session_todo_transcript::Product;
use shown::{cut_at_every_byte, shown};

fn cline(log: &str) -> Vec<String> {
    shown(Product::Cline, log.as_bytes())
}

const IN_BLOCKS: &str = r#"{"version":1,"agent":"main","sessionId":"1","messages":[
{"id":"a","role":"user","content":[{"type":"text","text":"plan"}]},
{"id":"b","role":"assistant","content":[{"type":"text","text":"Yes."},{"type":"tool_use","id":"t1","name":"read_files","input":{"files":[],"task_progress":"- [ ] Read\n- [ ] Write"}}]},
{"id":"c","role":"user","content":[{"type":"tool_result","tool_use_id":"t1","name":"read_files","content":"text"},{"type":"text","text":"\n# TODO LIST UPDATE REQUIRED - soon"}]},
{"id":"d","role":"assistant","content":[{"type":"tool_use","id":"t2","name":"editor","input":{"task_progress":"- [x] Read"}},{"type":"tool_use","id":"t3","name":"editor","input":{"task_progress":" "}}]},
{"id":"e","role":"user","content":[{"type":"tool_result","tool_use_id":"t2","content":[{"type":"text","text":"The user denied this operation."}]},{"type":"tool_result","tool_use_id":"t3","content":"ok"}]}]}"#;

/// The parameter is a call of its own behind the one that carries it, and ends as that does (R1). A blank one
/// is none.
#[test]
fn in_blocks() {
    let expected = [
        "request",
        "reminded",
        "read_files ran",
        r#"task_progress{"task_progress":"- [ ] Read\n- [ ] Write"} ran"#,
        "request",
        "editor failed",
        r#"task_progress{"task_progress":"- [x] Read"} failed"#,
        "editor ran",
    ];
    assert_eq!(cline(IN_BLOCKS), expected);
}

/// The same in text: the next message says which call ran.
#[test]
fn in_text() {
    let log = r#"[{"role":"user","content":[{"type":"text","text":"<task>plan</task>"}]},
{"role":"assistant","content":[{"type":"text","text":"I read.\n<read_file>\n<path>a</path>\n<task_progress>\n- [ ] Read\n</task_progress>\n</read_file>"}]},
{"role":"user","content":[{"type":"text","text":"[read_file for 'a'] Result:"},{"type":"text","text":"text"}]},
{"role":"assistant","content":[{"type":"text","text":"<attempt_completion>\n<result>Done</result>\n<task_progress>- [x] Read</task_progress>\n</attempt_completion>"}]}]"#;
    let ran = [
        "request",
        "read_file ran",
        r#"task_progress{"task_progress":"\n- [ ] Read\n"} ran"#,
        "request",
        "pending task_progress",
    ];
    assert_eq!(cline(log), ran);
}

/// A history that was cut down says so in the message that stands for the rest.
#[test]
fn compactions() {
    let log = r#"{"version":1,"agent":"main","sessionId":"1","messages":[
{"role":"user","content":[{"type":"text","text":"Context summary:"}],"metadata":{"kind":"compaction_summary"}},
{"role":"assistant","content":[{"type":"text","text":"Yes."}]}]}"#;
    assert_eq!(cline(log), ["compacted", "request"]);
}

/// What stands before the damage is read (R7).
#[test]
fn damage() {
    cut_at_every_byte(Product::Cline, IN_BLOCKS.as_bytes());
}
