//! Calls of our server's tools, before the server has them.

use std::fs;

use serde_json::{Value, json};
use session_todo::{Caller, Policy};
use session_todo_hooks::claude_code::{Whose, whose};

use crate::client::{Client, called};

#[test]
fn a7_a_sub_agents_write_through_the_server_is_refused() {
    let client = Client::new(None);
    let call = json!({"tool_name": "mcp__session-todo__todo_write", "tool_input": {"todos": [{"content": "A"}]}});
    let by = |agent: Value| {
        let mut call = call.clone();
        if !agent.is_null() {
            call["agent_id"] = agent;
        }
        client.event("PreToolUse", call)
    };
    assert_eq!(by(Value::Null), None, "main's");
    assert_eq!(client.log().len(), 0);
    assert!(by("a".into()).is_some());
    // Main goes on while the sub-agent works.
    client.batch(json!([]));
    let mut batch = json!({"agent_id": "a", "tool_calls": [call]});
    batch["tool_calls"][0]["tool_response"] = "refused".into();
    client.event("PostToolBatch", batch);
    let log = client.log();
    assert_eq!(log.len(), 4, "the refusal stands in the log once: {log:?}");
    let mut read = call.clone();
    read["tool_name"] = "mcp__session-todo__TaskList".into();
    read["agent_id"] = "a".into();
    assert_eq!(client.event("PreToolUse", read), None);
}

/// A7: where the hook fails before it has refused, the server knows whose the call is, and refuses it.
#[test]
fn a7_the_server_is_told_before_anything_can_fail() {
    let client = Client::new(None);
    let mut call = json!({"session_id": "s", "hook_event_name": "PreToolUse", "agent_id": "a",
        "tool_use_id": "toolu_1", "tool_name": "mcp__session-todo__todo_write", "tool_input": {"todos": []}});
    assert!(client.raw(&call.to_string()).is_some());
    assert_eq!(whose(client.home.path(), "toolu_1"), None, "the hook has refused it");
    fs::write(client.home.path().join("s.jsonl"), "damaged\n").unwrap();
    call["tool_use_id"] = "toolu_2".into();
    assert!(client.answer(&call.to_string()).is_err());
    assert_eq!(whose(client.home.path(), "toolu_2").map(|whose| whose.by), Some(Caller::Sub));
}

/// Where the list is shared, a sub-agent's write stands in the log once, however long main goes on before the
/// sub-agent's response is complete: again, it would undo what main wrote since.
#[test]
fn a_write_is_logged_once_however_late_its_batch_comes() {
    let client = Client::new(Some(Policy::CLAUDE_CODE));
    client.prompt();
    let (theirs, mains) = (json!({"todos": [{"content": "Theirs"}]}), json!({"todos": [{"content": "Main's"}]}));
    let call = |input: &Value| called("mcp__session-todo__todo_write", input, &json!([{"type": "text", "text": "ok"}]));
    client.server(Caller::Sub, "todo_write", &theirs.to_string());
    client.server(Caller::Main, "todo_write", &mains.to_string());
    client.batch(json!([call(&mains)]));
    for _ in 0..70 {
        client.batch(json!([]));
    }
    client.event("PostToolBatch", json!({"agent_id": "a", "tool_calls": [call(&theirs)]}));
    let log = client.log();
    assert_eq!(log.iter().filter(|line| line.contains("todo_write")).count(), 2, "{log:?}");
}

/// D1: whose a call is, the server is told once.
#[test]
fn d1_the_server_is_told_whose_a_call_is() {
    for (policy, tool) in [(Policy::CLAUDE_CODE, "todo_write"), (Policy::DEFAULT, "TaskList")] {
        let client = Client::new(Some(policy));
        let mut call = json!({"tool_name": format!("mcp__session-todo__{tool}"), "tool_input": {},
            "tool_use_id": "toolu_01-a"});
        let by = |id| {
            let Whose { session, by } = whose(client.home.path(), id)?;
            assert_eq!(session.as_str(), "s");
            Some(by)
        };
        client.event("PreToolUse", call.clone());
        assert_eq!(by("toolu_01-a"), Some(Caller::Main));
        call["agent_id"] = "a".into();
        assert_eq!(client.event("PreToolUse", call.clone()), None);
        assert_eq!(by("toolu_02"), None, "another call");
        assert_eq!(by("toolu_01-a"), Some(Caller::Sub));
        assert_eq!(by("toolu_01-a"), None, "once");
        // A call that never came to the server leaves nothing behind.
        client.event("PreToolUse", call.clone());
        call["tool_response"] = "denied".into();
        client.event("PostToolBatch", json!({"agent_id": "a", "tool_calls": [call]}));
        assert_eq!(by("toolu_01-a"), None);
        // A hook that was killed while it wrote has said nothing: half of a session's name is another session.
        fs::write(client.home.path().join("calls/toolu_03"), "main s").unwrap();
        assert_eq!(by("toolu_03"), None);
        // An id is no path.
        for id in ["../s", "", ".", "a/b", &"x".repeat(101)] {
            client.event("PreToolUse", json!({"tool_name": format!("mcp__session-todo__{tool}"), "tool_use_id": id}));
            assert_eq!(by(id), None);
        }
        assert_eq!(fs::read_dir(client.home.path().join("calls")).unwrap().count(), 0);
    }
}
