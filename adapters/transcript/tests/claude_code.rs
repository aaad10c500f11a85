//! Claude Code's logs: short ones in our own words.

#![allow(clippy::indexing_slicing)]

mod claude_log;
#[path = "claude_log/damage.rs"]
mod damage;
#[path = "claude_log/recorded.rs"]
mod recorded;

use claude_log::{
    answer, call, created, other, prompt, result, result_of, said, status, sub_call, subject, task, told, tool_use,
};

#[test]
fn r1_a_call_ran_where_its_result_says_so() {
    let rows = [
        (r#""content":"no","is_error":true"#, "{}", "failed"),
        (r#""content":"no""#, r#"{"success":false,"taskId":"9","error":"x"}"#, "failed"),
        (r#""content":"no""#, r#""Error: x""#, "failed"),
        (r#""content":"Task not found""#, "null", "failed"),
        (r#""content":[{"type":"text","text":"Task not found"}]"#, "null", "failed"),
        (r#""content":"<tool_use_error>x</tool_use_error>""#, "{}", "failed"),
        (r#""content":"ok","is_error":false"#, r#"{"success":true}"#, "ran"),
        (r#""content":"Updated task #1 status""#, "null", "ran"),
        (r#""content":[]"#, "{}", "ran"),
    ];
    for (block, reply, ended) in rows {
        let update = call("m2", "t2", "TaskUpdate", &status("1", "completed"));
        let log = [task("m1", "t1", "Look", "1"), update, result_of(false, "t2", block, reply)];
        let told = told(&log);
        assert_eq!(told.rows.last(), Some(&format!("main TaskUpdate 1 {ended}")), "{block} {reply}");
        let now = if ended == "ran" { "completed" } else { "pending" };
        assert_eq!(told.list, [format!("1 {now} Look")], "{block} {reply}");
    }
}

#[test]
fn r1_without_a_result_pending_at_the_end_else_applied_and_told() {
    let first = call("m1", "t1", "TaskCreate", &subject("First"));
    let second = call("m2", "t2", "TaskCreate", &subject("Second"));
    let told = told(&[first, second]);
    let expected = ["request", "unanswered TaskCreate", "main TaskCreate First ran", "request", "pending TaskCreate"];
    assert_eq!(told.rows, expected);
    assert_eq!(told.list, ["1 pending First"]);
}

#[test]
fn r1_what_a_foreign_tool_records_does_no_harm() {
    let odd = [
        "null",
        "7",
        "[]",
        r#""Error: x""#,
        r#"{"success":false}"#,
        r#"{"agentId":5}"#,
        r#"{"task":"x"}"#,
        r#"{"task":{"id":[]}}"#,
        r#"{"tasks":{}}"#,
        r#"{"oldTodos":3}"#,
        r#"{"status":{"a":1},"agentId":null}"#,
    ];
    for reply in odd {
        let calls = [call("m1", "b1", "Bash", "{}"), call("m1", "t1", "TaskCreate", &subject("Look"))];
        let results =
            [result_of(false, "b1", r#""content":"Task not found","is_error":true"#, reply), created("t1", "4")];
        let told = told(&[calls.concat(), results.concat()]);
        assert_eq!(told.rows, ["request", "main Bash ran", "main TaskCreate Look ran as 4"], "{reply}");
    }
}

#[test]
fn r2_the_order_of_the_file_is_the_order() {
    let log = [task("m1", "t1", "First", "1"), task("m2", "t2", "Second", "2"), answer("m3")];
    let expected = told(&log);
    let mut at = 9;
    let stamped: Vec<String> = log
        .concat()
        .split_inclusive('\n')
        .map(|line| {
            at -= 1;
            line.replace("2026-01-01", &format!("202{at}-01-01"))
                .replace(r#""parentUuid":null"#, &format!(r#""uuid":"u{at}","parentUuid":"u{}""#, (at * 7) % 5))
        })
        .collect();
    assert_ne!(stamped.concat(), log.concat());
    assert_eq!(told(&stamped), expected);
    assert_eq!(expected.list, ["1 pending First", "2 pending Second"]);
}

#[test]
fn r2_results_may_come_in_another_order_than_the_calls() {
    let create = |id, name| call("m1", id, "TaskCreate", &subject(name));
    let log = [create("t1", "A"), create("t2", "B"), create("t3", "C")];
    let results = [created("t3", "3"), created("t1", "1"), created("t2", "2")];
    let told = told(&[log.concat(), results.concat(), answer("m2")]);
    let calls = ["main TaskCreate A ran as 1", "main TaskCreate B ran as 2", "main TaskCreate C ran as 3"];
    assert_eq!(told.rows, [&["request"], &calls[..], &["request"]].concat());
}

/// Main creates a task and starts a sub-agent in one response.
fn started() -> String {
    let agent = call("m1", "a1", "Agent", r#"{"prompt":"go"}"#);
    call("m1", "t1", "TaskCreate", &subject("Mine")) + &agent + &created("t1", "1")
}

#[test]
fn r2_a_sub_agent_in_the_log_comes_after_what_main_did_before() {
    let sub = [
        sub_call("s1", "u1", "TaskCreate", &subject("Its")),
        result_of(true, "u1", r#""content":"Task #2 created successfully: Its""#, "null"),
        sub_call("s2", "u2", "TaskUpdate", &status("1", "completed")),
        result_of(true, "u2", r#""content":"ok""#, r#"{"success":true}"#),
    ];
    let told = told(&[started(), sub.concat(), result("a1", r#"{"agentId":"x"}"#), answer("m2")]);
    let expected = [
        "request",
        "main TaskCreate Mine ran as 1",
        "sub request",
        "sub TaskCreate Its ran as 2",
        "sub request",
        "agent x",
        "main Agent ran",
        "sub TaskUpdate 1 ran",
        "request",
    ];
    assert_eq!(told.rows, expected);
}

#[test]
fn r2_a_sub_agent_with_a_log_of_its_own_is_named_where_it_ended() {
    let told = told(&[started(), result("a1", r#"{"status":"completed","agentId":"x"}"#), answer("m2")]);
    assert_eq!(told.rows, ["request", "main TaskCreate Mine ran as 1", "agent x", "main Agent ran", "request"]);
}

#[test]
fn r2_a_sub_agent_that_nobody_waited_for_is_named_at_the_end() {
    let launched = result("a1", r#"{"isAsync":true,"status":"async_launched","agentId":"x"}"#);
    let told = told(&[started(), launched, task("m2", "t2", "Next", "2")]);
    let expected = [
        "request",
        "main TaskCreate Mine ran as 1",
        "main Agent ran",
        "request",
        "main TaskCreate Next ran as 2",
        "agent x",
    ];
    assert_eq!(told.rows, expected);
}

#[test]
fn r2_progress_records_repeat_a_sub_agents_calls() {
    let inner = |text: String| text.trim_end().to_owned();
    let asked = inner(sub_call("s1", "u1", "TaskCreate", &subject("Its")));
    let ended = inner(result_of(true, "u1", r#""content":"Task #2 created successfully: Its""#, "null"));
    let progress = |message: &str, all: &str| {
        let data =
            format!(r#"{{"type":"agent_progress","message":{message},"normalizedMessages":[{all}],"agentId":"x"}}"#);
        other(&format!(r#""type":"progress","data":{data},"parentToolUseID":"a1""#))
    };
    let both = format!("{asked},{ended}");
    let progress = [progress(&asked, ""), progress(&asked, &asked), progress(&ended, &both), progress(&ended, &both)];
    let told = told(&[started(), progress.concat(), result("a1", "{}"), answer("m2")]);
    let expected = [
        "request",
        "main TaskCreate Mine ran as 1",
        "sub request",
        "main Agent ran",
        "sub TaskCreate Its ran as 2",
        "request",
    ];
    assert_eq!(told.rows, expected);
}

#[test]
fn r3_a_sub_agent_whose_calls_stand_here_is_not_read_again() {
    let asked = sub_call("s1", "u1", "mcp__list__TaskCreate", &subject("Its"));
    let data = format!(r#"{{"type":"agent_progress","message":{},"agentId":"x"}}"#, asked.trim_end());
    let progress = other(&format!(r#""type":"progress","data":{data},"parentToolUseID":"a1""#));
    let ended = result("a1", r#"{"status":"completed","agentId":"x"}"#);
    let told = told(&[started(), progress, ended, answer("m2")]);
    assert!(told.rows.iter().any(|row| row.starts_with("sub mcp__list__TaskCreate Its")), "{:?}", told.rows);
    assert!(!told.rows.contains(&"agent x".to_owned()), "{:?}", told.rows);
}

#[test]
fn r1_a_sub_agents_call_without_a_result_is_over_when_it_goes_on() {
    let its = |text: String| text.replace(r#""isSidechain":true"#, r#""isSidechain":true,"agentId":"x""#);
    let calls = [("s1", "u1", "First"), ("s2", "u2", "Second")];
    let log = calls.map(|(message, id, name)| its(sub_call(message, id, "TaskCreate", &subject(name))));
    assert!(log.iter().all(|line| line.contains("agentId")), "the agent has a name");
    let expected =
        ["sub request", "unanswered TaskCreate", "sub TaskCreate First ran", "sub request", "pending TaskCreate"];
    assert_eq!(told(&log).rows, expected);
}

#[test]
fn r2_sub_agents_that_run_side_by_side_each_have_their_results() {
    let its = |id| result_of(true, id, r#""content":"ok""#, r#"{"success":true}"#);
    let unknown = result_of(true, "u1", r#""content":"Task not found""#, "null");
    let subs = [
        sub_call("s1", "u1", "TaskUpdate", &status("9", "completed")),
        sub_call("r1", "v1", "TaskUpdate", &status("1", "in_progress")),
        its("v1"),
        sub_call("r2", "v2", "TaskUpdate", &status("1", "completed")),
        unknown,
        its("v2"),
    ];
    let two = call("m1", "a1", "Agent", "{}") + &call("m1", "a2", "Agent", "{}");
    let told = told(&[task("m0", "t0", "Look", "1"), two, subs.concat(), result("a1", "{}"), result("a2", "{}")]);
    let mut subs = told.rows.clone();
    subs.retain(|row| row.starts_with("sub Task") || row.starts_with("unanswered"));
    assert_eq!(subs, ["sub TaskUpdate 1 ran", "sub TaskUpdate 9 failed", "sub TaskUpdate 1 ran"]);
    assert_eq!(told.list, ["1 completed Look"]);
}

#[test]
fn r3_a_call_id_counts_once() {
    let one = [task("m1", "t1", "Look", "1"), answer("m2")].concat();
    let again = call("m3", "t1", "TaskCreate", &subject("Look"));
    assert_eq!(told(&[one.clone(), again]).rows, ["request", "main TaskCreate Look ran as 1", "request", "request"]);
    let fork = one.replace(r#""sessionId":"s""#, r#""sessionId":"f","forkedFrom":{"sessionId":"s"}"#);
    assert_eq!(told(&[one.clone(), fork]), told(&[one]));
}

#[test]
fn r4_the_id_of_a_task_is_in_its_result() {
    let rows = [
        (r#""content":"ok""#, r#"{"task":{"id":"7","subject":"Look"}}"#, "ran as 7"),
        (r#""content":"ok""#, r#"{"task":{"id":7}}"#, "ran as 7"),
        (r#""content":"Task #7 created successfully: Look""#, "null", "ran as 7"),
        (r#""content":[{"type":"text","text":"Task #7 created successfully: Look"}]"#, "null", "ran as 7"),
        (r#""content":"Task #7 deleted""#, "null", "ran"),
        (r#""content":"ok""#, r#"{"task":{"id":7.5}}"#, "ran"),
    ];
    for (block, reply, ended) in rows {
        let log = [call("m1", "t1", "TaskCreate", &subject("Look")), result_of(false, "t1", block, reply)];
        let told = told(&log);
        assert_eq!(told.rows, ["request".to_owned(), format!("main TaskCreate Look {ended}")], "{block} {reply}");
        assert_eq!(told.list, [if ended == "ran" { "1 pending Look" } else { "7 pending Look" }]);
    }
}

#[test]
fn r5_a_text_that_looks_like_a_list_changes_nothing() {
    let texts = [
        "- [x] Look\\n- [ ] Write",
        "Task #7 created successfully: Look",
        "Task not found",
        "<system-reminder>Here are the existing tasks: #1. [pending] Look</system-reminder>",
        r#"{\"type\":\"tool_use\",\"id\":\"t9\",\"name\":\"TaskCreate\",\"input\":{\"subject\":\"Trap\"}}"#,
        r#"[{\"id\":\"1\",\"content\":\"Trap\",\"status\":\"pending\"}]"#,
        r#"\n{\"type\":\"assistant\",\"message\":{\"id\":\"m9\"}}{"#,
    ];
    for text in texts {
        let block = format!(r#"{{"type":"text","text":"{text}"}}"#);
        let bash = call("m2", "b1", "Bash", "{}") + &result_of(false, "b1", &format!(r#""content":"{text}""#), "{}");
        let log = [prompt(text, ""), said(false, "m1", &block), task("m1", "t1", "Real", "1"), bash, prompt(text, "")];
        let told = told(&log);
        assert_eq!(told.rows, ["request", "main TaskCreate Real ran as 1", "request", "main Bash ran"], "{text}");
        assert_eq!(told.list, ["1 pending Real"], "{text}");
    }
}

#[test]
fn r9_a_request_is_a_distinct_response() {
    let block = tool_use("b1", "Bash", "{}");
    let log = [answer("m1"), said(false, "m1", &block), result("b1", "{}"), answer("m2"), answer("m1"), answer("m2")];
    assert_eq!(told(&log).rows, ["request", "main Bash ran", "request"]);
    let thought = said(false, "m1", r#"{"type":"thinking","thinking":"{}"}"#);
    let two = [thought, task("m1", "t1", "A", "1"), task("m1", "t2", "B", "2"), answer("m1")];
    assert_eq!(told(&two).rows, ["request", "main TaskCreate A ran as 1", "main TaskCreate B ran as 2"]);
}

#[test]
fn r9_what_no_model_answered_is_no_request() {
    let made_up = |api_error: &str| {
        answer("x")
            .replace(r#""model":"m""#, r#""model":"<synthetic>""#)
            .replace(r#""type":"assistant","t"#, &format!(r#""type":"assistant"{api_error},"t"#))
    };
    let rows = [
        ("", &["request", "main TaskCreate Look ran as 1"][..]),
        (r#","isApiErrorMessage":true"#, &["request", "main TaskCreate Look ran as 1"]),
    ];
    for (api_error, expected) in rows {
        assert_eq!(told(&[task("m1", "t1", "Look", "1"), made_up(api_error)]).rows, expected, "{api_error}");
    }
    let resumed = told(&[task("m1", "t1", "Look", "1"), made_up(r#","isApiErrorMessage":false"#), answer("m2")]);
    assert_eq!(resumed.rows, ["request", "main TaskCreate Look ran as 1", "resumed", "request"]);
    let side = made_up(r#","isApiErrorMessage":false"#).replace(r#""isSidechain":false"#, r#""isSidechain":true"#);
    assert_eq!(told(&[task("m1", "t1", "Look", "1"), side]).rows, ["request", "main TaskCreate Look ran as 1"]);
}

#[test]
fn r9_a_sub_agents_tasks_are_the_sessions_its_todos_are_its_own() {
    let todo = sub_call("s1", "w1", "TodoWrite", r#"{"todos":[]}"#);
    let bash = sub_call("s1", "b1", "Bash", "{}");
    let create = sub_call("s1", "u1", "TaskCreate", &subject("Its"));
    let told = told(&[answer("m1"), todo, bash, create, answer("m2")]);
    let expected = ["request", "sub request", "unanswered TaskCreate", "sub TaskCreate Its ran", "request"];
    assert_eq!(told.rows, expected);
}

#[test]
fn a_compaction_is_mains_and_comes_after_the_calls_before_it() {
    let boundary = other(r#""type":"system","subtype":"compact_boundary","content":"Conversation compacted""#);
    let side = boundary.replace(r#""isSidechain":false"#, r#""isSidechain":true"#);
    let note = boundary.replace("compact_boundary", "informational");
    let summary = prompt("This session continues: 1. [pending] Trap", r#","isCompactSummary":true"#);
    let told = told(&[task("m1", "t1", "Look", "1"), note, side, boundary, summary, answer("m2")]);
    assert_eq!(told.rows, ["request", "main TaskCreate Look ran as 1", "compacted", "request"]);
    assert_eq!(told.list, ["1 pending Look"]);
}
