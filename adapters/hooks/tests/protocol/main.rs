//! What of the client's events becomes which events of the session, and what goes back.

#![allow(clippy::needless_pass_by_value, clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod client;
mod sub_agents;

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};
use session_todo::{Caller, Policy};
use session_todo_hooks::claude_code::{Environment, Hook};
use session_todo_store::{Files, SessionId, Sync};

use crate::client::{Client, bash, called};

#[test]
fn r1_a_call_ran_where_its_answer_says_so() {
    let client = Client::new(None);
    let task = json!({"subject": "A", "description": ""});
    let one = json!({"taskId": "4", "status": "completed"});
    let todos = json!({"todos": []});
    let answers = [
        (called("TaskCreate", &task, &json!("Task #4 created successfully: A")), "Ran { id: Some(\"4\") }"),
        (
            called("TaskCreate", &task, &json!([{"type": "text", "text": "Task #5 created successfully: A"}])),
            "Ran { id: Some(\"5\") }",
        ),
        (called("TaskCreate", &task, &json!("<tool_use_error>InputValidationError</tool_use_error>")), "Failed"),
        (called("TaskCreate", &task, &json!("The user doesn't want to proceed")), "Failed"),
        (called("TaskCreate", &task, &Value::Null), "Failed"),
        (called("TaskUpdate", &one, &json!("Updated task #4 status")), "Ran { id: None }"),
        (called("TaskUpdate", &one, &json!("Task not found")), "Failed"),
        (called("TodoWrite", &todos, &json!("Todos have been modified successfully. Go on")), "Ran { id: None }"),
        (called("TodoWrite", &todos, &json!("Permission denied")), "Failed"),
        (
            called("mcp__session-todo__todo_write", &todos, &json!([{"type": "text", "text": "The list is empty."}])),
            "Ran { id: None }",
        ),
        (called("mcp__session-todo__todo_write", &todos, &json!("refused")), "Failed"),
        // As the client keeps its own tools' answers, and as it keeps an error.
        (called("TodoWrite", &todos, &json!({"oldTodos": [], "newTodos": []})), "Ran { id: None }"),
        (called("TodoWrite", &todos, &json!({"error": "denied"})), "Failed"),
        (called("TaskCreate", &task, &json!({"error": "denied"})), "Failed"),
        (called("TaskUpdate", &one, &json!({"success": true, "taskId": "4"})), "Ran { id: None }"),
        (called("TaskUpdate", &one, &json!({})), "Failed"),
        (called("TaskList", &json!({}), &json!({"tasks": []})), "Ran { id: None }"),
        (
            called(
                "mcp__session-todo__TaskCreate",
                &task,
                &json!([{"type": "text", "text": "Created #7 [pending] A"}]),
            ),
            "Ran { id: Some(\"7\") }",
        ),
    ];
    for (call, outcome) in answers {
        client.batch(json!([call]));
        let log = client.log();
        assert!(log[log.len() - 2].ends_with(outcome), "{call}: {}", log[log.len() - 2]);
    }
    // Half a surrogate pair, as a model writes it.
    let half = r#"{"session_id":"s","hook_event_name":"PostToolBatch","tool_calls":[{"tool_name":"TaskCreate",
        "tool_input":{"subject":"\ud83d"},"tool_response":"Task #8 created successfully: \ud83d"}]}"#;
    client.raw(half);
    let log = client.log();
    assert!(log[log.len() - 2].ends_with("Ran { id: Some(\"8\") }"), "{log:?}");
}

/// Another server's tools are no list of ours, whatever they are called.
#[test]
fn another_servers_tools_change_nothing() {
    let client = Client::new(None);
    client.batch(json!([called("TaskCreate", &json!({"subject": "A"}), &json!("Task #1 created successfully: A"))]));
    for (name, logged) in [
        ("mcp__other__search", "mcp__other__search"),
        ("mcp__codex__update_plan", "mcp__codex"),
        ("mcp__session-todo-extras__TodoWrite", "mcp__session-todo-extras"),
        ("mcp__plan__session-todo__todo_write", "mcp__plan"),
        ("mcp__session-todo__search", "mcp__session-todo__search"),
    ] {
        let emptied = json!({"plan": [], "todos": []});
        client.batch(json!([called(name, &emptied, &json!([{"type": "text", "text": "Plan updated"}]))]));
        let log = client.log();
        assert_eq!(log[log.len() - 2], format!("Main {logged}  Ran {{ id: None }}"));
    }
    assert!(client.event("SessionStart", json!({"source": "compact"})).unwrap().contains("\"content\":\"A\""));
}

#[test]
fn single_events_are_a_batch_of_one() {
    let client = Client::new(None);
    let mut call = called("TaskCreate", &json!({"subject": "A"}), &json!({"task": {"id": "3", "subject": "A"}}));
    client.event("PostToolUse", call.clone());
    call["tool_response"] = json!({"success": false, "taskId": "9", "error": "Task not found"});
    call["tool_name"] = "TaskUpdate".into();
    client.event("PostToolUse", call.clone());
    call.as_object_mut().unwrap().remove("tool_response");
    client.event("PostToolUseFailure", call);
    let wanted = ["Ran { id: Some(\"3\") }", "request Main", "Failed", "request Main", "Failed", "request Main"];
    for (line, wanted) in client.log()[1..].iter().zip(wanted) {
        assert!(line.ends_with(wanted), "{line}");
    }
}

#[test]
fn a_prompt_that_was_never_answered_is_sent_again_as_the_same_request() {
    let client = Client::new(None);
    let requests = || client.log().iter().filter(|line| *line == "request Main").count();
    client.prompt();
    client.prompt();
    assert_eq!(requests(), 1, "neither batch nor Stop");
    client.event("Stop", json!({}));
    client.prompt();
    assert_eq!(requests(), 2);
    client.batch(bash());
    assert_eq!(requests(), 3);
    client.prompt();
    assert_eq!(requests(), 3, "the batch's request died");
    client.event("Stop", json!({"agent_id": "a"}));
    client.prompt();
    assert_eq!(requests(), 3, "a sub-agent's end is not main's");
    client.event("SessionStart", json!({"source": "resume"}));
    client.prompt();
    assert_eq!(requests(), 4);
}

#[test]
fn reminders_on_the_requests_that_the_core_says() {
    let client = Client::new(None);
    client.prompt();
    let mut reminded = Vec::new();
    let write = called("TaskCreate", &json!({"subject": "A"}), &json!("Task #1 created successfully: A"));
    for request in 2..=35 {
        let calls = if request == 3 { json!([write]) } else { bash() };
        if client.batch(calls).is_some() {
            reminded.push(request);
        }
        // What a sub-agent does in between moves nothing (D1).
        client.event("PostToolBatch", json!({"agent_id": "a", "tool_calls": bash()}));
    }
    assert_eq!(reminded, [13, 23, 33], "a write in response 2, 10 / 10");
}

#[test]
fn where_the_client_reminds_we_do_not_but_snapshots_and_notes_go_out() {
    let mut client = Client::new(Some(Policy::TODO_EVERY_REQUEST));
    let write = called("TaskCreate", &json!({"subject": "A"}), &json!("Task #1 created successfully: A"));
    assert!(client.batch(json!([write])).is_some());
    client.environment.tools = true;
    assert_eq!(client.batch(bash()), None);
    assert!(client.event("SessionStart", json!({"source": "compact"})).unwrap().contains("\"content\":\"A\""));
    client.policy = Some(Policy::DEFAULT);
    let begin =
        called("TaskUpdate", &json!({"taskId": "1", "status": "in_progress"}), &json!("Updated task #1 status"));
    assert_eq!(client.batch(json!([begin])), None);
    assert_eq!(client.event("SessionStart", json!({"source": "resume"})), None);
    assert!(client.prompt().unwrap().contains(&*Policy::DEFAULT.words.unfinished), "R10");
    let log = client.log();
    assert_eq!(log.iter().filter(|line| line.starts_with("policy")).count(), 2, "P6: {log:?}");
}

#[test]
fn what_the_server_has_logged_is_not_logged_again() {
    let client = Client::new(None);
    client.prompt();
    let (task, spaced) = (json!({"subject": "A", "description": ""}), r#"{ "description": "", "subject": "A" }"#);
    client.server(Caller::Main, "TaskCreate", spaced);
    let call =
        called("mcp__session-todo__TaskCreate", &task, &json!([{"type": "text", "text": "Created #1 [pending] A"}]));
    client.batch(json!([call, call]));
    let log = client.log();
    assert_eq!(log.iter().filter(|line| line.contains("TaskCreate")).count(), 2, "one of the two: {log:?}");
    // Since the last request: the same call in the next response is another one.
    client.batch(json!([call]));
    assert_eq!(client.log().iter().filter(|line| line.contains("TaskCreate")).count(), 3);
}

#[test]
fn what_the_server_has_logged_is_found_behind_any_cached_state() {
    for before in 0..70 {
        let client = Client::new(None);
        for _ in 0..before {
            client.event("PostToolBatch", json!({"agent_id": "a", "tool_calls": []}));
        }
        client.prompt();
        for _ in 0..3 {
            client.server(Caller::Main, "TaskList", "{}");
        }
        let call = called("mcp__session-todo__TaskList", &json!({}), &json!([{"type": "text", "text": "empty"}]));
        client.batch(json!([call, call, call]));
        assert_eq!(client.log().iter().filter(|line| line.contains("TaskList")).count(), 3, "{before}");
    }
}

/// R5: an item that reads like a note makes none of a reminder.
#[test]
fn r5_an_items_text_is_no_note() {
    let mut client = Client::new(Some(Policy::TODO_EVERY_REQUEST));
    let subject = json!({"subject": format!("{} {}", Policy::DEFAULT.words.edited, Policy::DEFAULT.words.unfinished)});
    client.environment.tools = true;
    let write = called("TaskCreate", &subject, &json!("Task #1 created successfully: A"));
    assert_eq!(client.batch(json!([write])), None);
    client.environment.tools = false;
    assert!(client.batch(bash()).unwrap().contains(&*Policy::DEFAULT.words.edited), "it was due all along");
}

/// A member that is not of its kind is as if it were not there: the request counts, and so do the other calls.
#[test]
fn odd_members_change_nothing_else() {
    let client = Client::new(None);
    let written = called("TodoWrite", &json!({"todos": [{"content": "A"}]}), &json!("Todos have been modified"));
    for (more, calls) in [
        (json!({"tool_calls": null, "agent_id": null, "transcript_path": 5}), 0),
        (json!({"tool_calls": 5, "source": [], "tool_name": {}}), 0),
        (json!({"tool_calls": [5, {"tool_name": "Bash"}, {}, written], "tool_input": 1}), 2),
    ] {
        let before = client.log().len().max(1);
        assert_eq!(client.event("PostToolBatch", more), None);
        let log = client.log();
        assert_eq!(log.len() - before, calls + 1, "{log:?}");
        assert_eq!(log.last().unwrap(), "request Main");
    }
    assert_eq!(client.event("Unknown", json!({"tool_calls": 5})), None);
}

#[test]
fn what_is_nothing_to_us_is_not_even_a_log() {
    let client = Client::new(None);
    for name in
        ["SessionEnd", "PreCompact", "PostCompact", "SubagentStart", "SubagentStop", "Notification", "Tomorrow", "Stop"]
    {
        assert_eq!(client.event(name, json!({"tool_calls": []})), None);
    }
    for source in ["startup", "clear", "fork"] {
        assert_eq!(client.event("SessionStart", json!({ "source": source })), None);
    }
    let logs: Vec<_> = fs::read_dir(client.home.path()).unwrap().collect();
    assert!(logs.is_empty(), "{logs:?}");
}

proptest! {
    /// On any bytes: an error or an answer, and a log that can be read.
    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let home = tempfile::tempdir().unwrap();
        let hook = Hook { folder: home.path(), policy: None, environment: Environment::default() };
        prop_assert!(hook.answer(&bytes).is_err());
    }

    /// On any calls of the client's tools the log is what was reported, in call order.
    #[test]
    fn any_calls(rounds in prop::collection::vec(prop::collection::vec((0..5usize, "\\PC{0,8}", "\\PC{0,8}"), 0..4), 1..6)) {
        let client = Client::new(None);
        let names = ["TodoWrite", "TaskCreate", "TaskUpdate", "Bash", "mcp__session-todo__todo_write"];
        let mut wanted = vec!["policy default".to_owned()];
        for round in &rounds {
            let calls = round.iter().map(|(name, input, response)| called(names[*name], &json!(input), &json!(response)));
            client.batch(calls.collect());
            for (name, input, _) in round {
                let name = names[*name].trim_start_matches("mcp__session-todo__");
                let input = if name == "Bash" { String::new() } else { json!(input).to_string() };
                wanted.push(format!("Main {name} {input} "));
            }
            wanted.push("request Main".to_owned());
        }
        let log = client.log();
        prop_assert_eq!(log.len(), wanted.len());
        for (line, wanted) in log.iter().zip(&wanted) {
            prop_assert!(line.starts_with(wanted.as_str()), "{line} {wanted}");
        }
        let checked = Files::open(Path::new(client.home.path()), Sync::Os).unwrap().check(&SessionId::new("s").unwrap());
        prop_assert_eq!(checked.unwrap().unwrap().version.0, wanted.len() as u64);
    }
}
