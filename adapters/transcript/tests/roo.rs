//! Roo Code's histories.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod shown;

use session_todo_transcript::{Product, read};
use shown::{cut_at_every_byte, shown};

fn roo(messages: &[&str]) -> Vec<String> {
    shown(Product::Roo, format!("[{}]", messages.join(",\n")).as_bytes())
}

const PROMPT: &str = r#"{"role":"user","content":[{"type":"text","text":"<task>\nplan\n</task>"}],"ts":1}"#;
const WRITTEN: &str = r#"{"role":"assistant","content":[{"type":"text","text":"Now.\n<update_todo_list>\n<todos>\n[x] Read\n[-] Write\n</todos>\n</update_todo_list>\n\nand <read_file>"}],"ts":2}"#;
const CALL: &str = r#"update_todo_list{"todos":"\n[x] Read\n[-] Write\n"}"#;

/// The next message, with these texts.
fn next(texts: &[&str]) -> String {
    let blocks: Vec<_> = texts.iter().map(|text| serde_json::json!({ "type": "text", "text": text })).collect();
    serde_json::json!({ "role": "user", "content": blocks }).to_string()
}

/// A call in text ran where its result says so, in the same text or the next (R1).
#[test]
fn calls_in_text() {
    let rows: [(&[&str], &str); 5] = [
        (&["[update_todo_list] Result:", "Todo list updated successfully."], "ran"),
        (&["[update_todo_list] Result:\n\nTodo list updated successfully."], "ran"),
        (&["[update_todo_list] Result:", "User declined to update the todoList."], "failed"),
        (&["[update_todo_list] Result:", "The user denied this operation."], "failed"),
        (&["[update_todo_list] Result:"], "failed"),
    ];
    for (texts, ended) in rows {
        assert_eq!(roo(&[PROMPT, WRITTEN, &next(texts)]), ["request", &format!("{CALL} {ended}")], "{texts:?}");
    }
}

/// What looks like a call is none where the client tells of another tool, or of none (R5).
#[test]
fn texts_that_look_like_calls() {
    let read = roo(&[PROMPT, WRITTEN, &next(&["[read_file for 'a'] Result:", "[x] Read"])]);
    assert_eq!(read, ["request"]);
    let none = roo(&[PROMPT, WRITTEN, &next(&["[ERROR] You did not use a tool in your previous response!"])]);
    assert_eq!(none, ["request"]);
    let said = next(&[
        "[update_todo_list] Result:\nTodo list updated",
        "| # | Content | Status |\n|---|\n| 1 | a | Pending |",
    ]);
    assert_eq!(roo(&[PROMPT, &said]), Vec::<String>::new());
}

/// A call without a result is pending at the end, and ran where the log goes on (R1).
#[test]
fn calls_without_results() {
    assert_eq!(roo(&[PROMPT, WRITTEN]), ["request", "pending update_todo_list"]);
    let ran = format!("{CALL} ran");
    let found = roo(&[PROMPT, WRITTEN, &next(&["go on"])]);
    assert_eq!(found, ["request", "unanswered update_todo_list", &ran]);
}

/// A call in a block, and the list that a person made of it (R8).
#[test]
fn calls_in_blocks() {
    let call = r#"{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"update_todo_list","input":{"todos":"[ ] Read"}},{"type":"tool_use","id":"t2","name":"read_file","input":{"path":"a"}}]}"#;
    let result = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","content":"no","is_error":true},{"type":"tool_result","tool_use_id":"t1","content":"User edits todo:\n\n[-] Read\n[ ] Ask"}]}"#;
    let expected = [
        "request",
        r#"update_todo_list{"todos":"[ ] Read"} ran"#,
        r#"recorded [{"content":"Read","status":"in_progress"},{"content":"Ask","status":"pending"}] at 3"#,
        "read_file failed",
    ];
    assert_eq!(roo(&[PROMPT, call, result]), expected);
}

/// The list stands in each message of the user's, in the client's own account (R8).
#[test]
fn the_list_as_it_stood() {
    let table = "<environment_details>\n# Mode\n====\n\nREMINDERS\n\nBelow.\n\n| # | Content | Status |\n|---|---------|--------|\n| 1 | Read a \\| b | Completed |\n| 2 | Write | In Progress |\n\n\nIMPORTANT: x\n</environment_details>";
    let empty = "<environment_details>\nYou have not created a todo list yet. Create one.\n</environment_details>";
    let first = next(&["<task>\ngo\n</task>", empty]);
    let second = next(&["[update_todo_list] Result:", "Todo list updated successfully.", table]);
    let expected = [
        "recorded [] at 1".to_owned(),
        "reminded".to_owned(),
        "request".to_owned(),
        format!("{CALL} ran"),
        r#"recorded [{"content":"Read a | b","status":"completed"},{"content":"Write","status":"in_progress"}] at 3"#
            .to_owned(),
        "reminded".to_owned(),
    ];
    assert_eq!(roo(&[&first, WRITTEN, &second]), expected);
}

/// A summary stands for what was compacted, and is no response (R9).
#[test]
fn compactions() {
    let summary = r#"{"role":"assistant","content":"<update_todo_list><todos>[ ] a</todos></update_todo_list>","isSummary":true}"#;
    let found = roo(&[PROMPT, summary, &next(&["[update_todo_list] Result:", "Todo list updated"]), WRITTEN]);
    assert_eq!(found, ["compacted", "request", "pending update_todo_list"]);
}

/// What stands before the damage is read (R7).
#[test]
fn damage() {
    let done = next(&["[update_todo_list] Result:", "Todo list updated successfully."]);
    let denied = next(&["[update_todo_list] Result:", "The user denied this operation."]);
    let log = format!("[{}]", [PROMPT, WRITTEN, &done, WRITTEN, &denied].join(",\n"));
    cut_at_every_byte(Product::Roo, log.as_bytes());
    let log = format!("[{}", [PROMPT, WRITTEN, &done].join(",\n"));
    let skipped = format!("skipped 3:{} the document is cut off", log.len() - done.len());
    let found = shown(Product::Roo, &log.as_bytes()[..log.len() - 3]);
    assert_eq!(found, ["request", &skipped, "pending update_todo_list"]);
}

/// The messages that a person saw are another file's, and named as such.
#[test]
fn messages_that_were_shown() {
    let log = br#"[{"ts":1,"type":"say","say":"text","text":"plan"}]"#;
    assert_eq!(Product::of(log), Some(Product::Roo));
    let error = read(Product::Roo, &log[..], &mut |_| {}).expect_err("not the history").to_string();
    assert!(error.contains("api_conversation_history.json"), "{error}");
}
