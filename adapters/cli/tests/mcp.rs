//! The tools over MCP, asked by a client of a page: what is offered, what a call answers, what is kept.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// A client, and the server that it started.
struct Client {
    server: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    calls: u64,
}

impl Client {
    fn start(home: &Path, arguments: &[&str]) -> Self {
        Self::start_with(home, arguments, &[])
    }

    fn start_with(home: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_session-todo"));
        command.arg("mcp").args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.env_remove("SESSION_TODO_SESSION").env_remove("CLAUDE_CODE_SESSION_ID");
        command.env("SESSION_TODO_HOME", home).envs(variables.iter().copied());
        let mut server = command.spawn().unwrap();
        let from = BufReader::new(server.stdout.take().unwrap());
        let mut client = Self { to: server.stdin.take(), server, from, calls: 0 };
        let greeting = json!({"protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"}});
        assert_eq!(client.ask("initialize", &greeting)["result"]["serverInfo"]["name"], "session-todo");
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.to.as_mut().unwrap(), "{message}").unwrap();
    }

    fn put(&mut self, method: &str, params: &Value) {
        self.calls += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.calls, "method": method, "params": params}));
    }

    fn answer(&mut self) -> Value {
        let mut line = String::new();
        assert_ne!(self.from.read_line(&mut line).unwrap(), 0, "the server is gone");
        serde_json::from_str(&line).unwrap()
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.put(method, params);
        let answer = self.answer();
        assert_eq!(answer["id"], self.calls);
        answer
    }

    fn call(&mut self, name: &str, arguments: &Value) -> (bool, String) {
        let answer = self.ask("tools/call", &json!({"name": name, "arguments": arguments}));
        let content = answer["result"]["content"].as_array().unwrap_or_else(|| panic!("{answer}"));
        assert_eq!(content.len(), 1);
        (answer["result"]["isError"].as_bool().unwrap(), content[0]["text"].as_str().unwrap().to_owned())
    }

    fn list(&mut self) -> String {
        self.call("TaskList", &json!({})).1
    }

    /// Closes the server's input: its status, and what it said on stderr.
    fn end(mut self) -> (i32, String) {
        drop(self.to.take());
        let output = self.server.wait_with_output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    }
}

fn tools(arguments: &[&str]) -> Vec<Value> {
    let home = TempDir::new().unwrap();
    let mut client = Client::start(home.path(), arguments);
    let tools = client.ask("tools/list", &json!({}))["result"]["tools"].clone();
    assert_eq!(client.end().0, 0);
    tools.as_array().unwrap().clone()
}

fn names(tools: &[Value]) -> Vec<&str> {
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[test]
fn the_policys_tools_are_offered_or_a_dialects() {
    assert_eq!(names(&tools(&[])), ["todo_write", "TaskCreate", "TaskUpdate", "TaskGet", "TaskList"]);
    assert_eq!(names(&tools(&["--policy", "task-nudge"])), ["TaskCreate", "TaskUpdate", "TaskGet", "TaskList"]);
    assert_eq!(names(&tools(&["--policy", "task-nudge", "--dialect", "codex"])), ["update_plan"]);
}

/// C15: the schemas are those that the command prints, and so the reader's own.
#[test]
fn what_is_offered_is_what_the_command_prints() {
    for (dialect, readers) in [("todo-write", 0), ("tasks", 2), ("roo", 0)] {
        let mut printed = Command::new(env!("CARGO_BIN_EXE_session-todo"));
        let printed = printed.args(["tools", "--format", "mcp", "--dialect", dialect]).output().unwrap().stdout;
        let printed: Vec<Value> = serde_json::from_slice(&printed).unwrap();
        let offered = tools(&["--dialect", dialect]);
        assert_eq!(offered.len(), printed.len());
        for (offered, printed) in offered.iter().zip(&printed) {
            for key in ["name", "description", "inputSchema"] {
                assert_eq!(offered[key], printed[key]);
            }
            assert_eq!(offered["_meta"]["anthropic/alwaysLoad"], true);
        }
        let reads = |tool: &&Value| tool["annotations"]["readOnlyHint"] == true;
        assert_eq!(offered.iter().filter(reads).count(), readers);
    }
}

#[test]
fn a_call_is_answered_and_a_refusal_is_an_answer_too() {
    let home = TempDir::new().unwrap();
    let mut client = Client::start(home.path(), &[]);
    let (is_error, text) = client.call("todo_write", &json!({"todos": [{"content": "Read"}]}));
    assert!(!is_error && text.contains("#1 [pending] Read"), "L9: {text}");
    let (is_error, text) = client.call("todo_write", &json!({}));
    assert!(is_error && text.contains("todos is missing"), "C11: {text}");
    let (is_error, text) = client.call("TaskUpdate", &json!({"taskid": "7", "status": "completed"}));
    assert!(is_error && text.contains("The ids there are: 1."), "L2: {text}");
    assert!(client.list().contains("#1 [pending] Read"), "L8");
    let (is_error, text) = client.call("TaskCreate", &json!(r#"{"subject":"Write","description":"d"}"#));
    assert!(!is_error && text.contains("#2 [pending] Write"), "C1: {text}");
    let (is_error, text) = client.call("TodoWrite", &json!({"todos": [{"content": "Read", "status": "completed"}]}));
    assert!(!is_error && text.contains("#1 [completed] Read"), "L3: {text}");
}

#[test]
fn a_tool_that_is_none_of_the_lists_is_an_error_of_the_protocol() {
    let home = TempDir::new().unwrap();
    let mut client = Client::start(home.path(), &["--session", "s"]);
    let answer = client.ask("tools/call", &json!({"name": "bash", "arguments": {}}));
    assert_eq!(answer["error"]["code"], -32602);
    let words = answer["error"]["message"].as_str().unwrap();
    assert!(words.contains("\"bash\"") && words.contains("todo_write"), "{words}");
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0, "nothing was logged");
}

/// What the protocol's library could not match to its request, a client would wait for for ever.
#[test]
fn a_call_without_a_tools_name_is_answered() {
    let home = TempDir::new().unwrap();
    let mut client = Client::start(home.path(), &[]);
    for params in [json!([1]), json!({}), json!({"name": 5}), json!(null), json!({"arguments": {"todos": []}})] {
        let answer = client.ask("tools/call", &params);
        assert_eq!(answer["error"]["code"], -32602, "{params}: {answer}");
    }
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0, "nothing was logged");
}

/// What the client's hook is told before a call by main, or by the sub-agent `a`.
fn noted(home: &Path, session: &str, id: &str, is_sub: bool) {
    let mut asked = json!({"session_id": session, "hook_event_name": "PreToolUse", "tool_use_id": id,
        "tool_name": "mcp__session-todo__TaskCreate", "tool_input": {"subject": id, "description": "d"}});
    if is_sub {
        asked["agent_id"] = "a".into();
    }
    let mut hook = Command::new(env!("CARGO_BIN_EXE_session-todo"));
    hook.args(["hook", "claude-code", "--policy", "claude-code"]).env("SESSION_TODO_HOME", home);
    let mut hook = hook.stdin(Stdio::piped()).spawn().unwrap();
    write!(hook.stdin.take().unwrap(), "{asked}").unwrap();
    assert!(hook.wait().unwrap().success());
}

/// Each call that a session's log holds, as `who what`.
fn logged(home: &Path, session: &str) -> Vec<String> {
    let mut show = Command::new(env!("CARGO_BIN_EXE_session-todo"));
    let shown = show.args(["log", "show", session]).env("SESSION_TODO_HOME", home).output().unwrap().stdout;
    let lines = String::from_utf8(shown).unwrap();
    let records = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let calls = records.filter_map(|record| record["event"].get("tool_called").cloned());
    let word = |call: &Value| {
        let arguments: Value = serde_json::from_str(call["arguments"].as_str().unwrap()).unwrap();
        format!("{} {}", call["by"].as_str().unwrap(), arguments["subject"].as_str().unwrap())
    };
    calls.map(|call| word(&call)).collect()
}

/// D1: whose a call is, the client's hook has heard, and the server asks by the call's id: a sub-agent's, or one of the
/// session that a running client has gone over to.
#[test]
fn whose_a_call_is_the_hook_has_noted() {
    let home = TempDir::new().unwrap();
    for (flags, second) in [(vec![], "two"), (vec!["--session", "own"], "own")] {
        let flags = [&["--policy", "claude-code"], &*flags].concat();
        let mut client = Client::start_with(home.path(), &flags, &[("CLAUDE_CODE_SESSION_ID", "one")]);
        noted(home.path(), "one", "toolu_1", true);
        noted(home.path(), "two", "toolu_2", false);
        for id in ["toolu_1", "toolu_2", "toolu_3"] {
            let call = json!({"name": "TaskCreate", "arguments": {"subject": id, "description": "d"},
                "_meta": {"claudecode/toolUseId": id}});
            assert_eq!(client.ask("tools/call", &call)["result"]["isError"], false);
        }
        client.end();
        let first = if second == "own" { "own" } else { "one" };
        let mut all = logged(home.path(), first);
        if first != second {
            all.extend(logged(home.path(), second));
        }
        all.sort();
        assert_eq!(all, ["main toolu_2", "main toolu_3", "sub toolu_1"]);
    }
}

/// L12: in call order, though the client waited for no answer.
#[test]
fn calls_that_are_sent_at_once_apply_in_their_order() {
    let home = TempDir::new().unwrap();
    let mut client = Client::start(home.path(), &[]);
    for n in 1..=50 {
        let task = json!({"subject": format!("step {n}"), "description": "d"});
        client.put("tools/call", &json!({"name": "TaskCreate", "arguments": task}));
    }
    for _ in 1..=50 {
        client.answer();
    }
    let list = client.list();
    let holds = |n: u32| list.lines().any(|line| line == format!("- #{n} [pending] step {n}"));
    assert!((1..=50).all(holds), "{list}");
}

#[test]
fn two_servers_on_one_session_lose_nothing() {
    let home = TempDir::new().unwrap();
    let serve = || Client::start(home.path(), &["--session", "shared"]);
    let (mut one, mut other) = (serve(), serve());
    let task =
        |n: u32| json!({"name": "TaskCreate", "arguments": {"subject": format!("step {n}"), "description": "d"}});
    for n in 0..40 {
        one.put("tools/call", &task(2 * n));
        other.put("tools/call", &task(2 * n + 1));
    }
    let answers = (0..40).flat_map(|_| [one.answer(), other.answer()]).collect::<Vec<_>>();
    assert!(answers.iter().all(|answer| answer["result"]["isError"] == false));
    let list = one.list();
    assert!((0..80).all(|n| list.lines().any(|line| line.ends_with(&format!(" step {n}")))), "{list}");
    assert!((1..=80).all(|id| list.lines().any(|line| line.starts_with(&format!("- #{id} ")))), "L4: {list}");
    assert_eq!(list, other.list());
}

#[test]
fn the_list_is_kept_over_a_restart() {
    let home = TempDir::new().unwrap();
    let wrote = {
        let mut client = Client::start(home.path(), &["--session", "kept"]);
        client.call("todo_write", &json!({"todos": [{"content": "Read", "status": "in_progress"}]}));
        let list = client.list();
        // Not even a server that is killed takes an answered call with it.
        client.server.kill().unwrap();
        list
    };
    let mut client = Client::start(home.path(), &["--session", "kept"]);
    assert!(wrote.contains("#1 [in_progress] Read"));
    assert_eq!(client.list(), wrote);
    assert!(client.call("TaskCreate", &json!({"subject": "Write", "description": "d"})).1.contains("#2 "), "L4");
}

#[test]
fn the_environment_names_the_session_and_else_it_is_the_servers_own() {
    let home = TempDir::new().unwrap();
    let long = format!("a client {}", "/folder".repeat(30));
    for variable in [("SESSION_TODO_SESSION", long.as_str()), ("CLAUDE_CODE_SESSION_ID", "a client's")] {
        let mut client = Client::start_with(home.path(), &[], &[variable]);
        client.call("TaskCreate", &json!({"subject": variable.0, "description": "d"}));
        let (status, words) = client.end();
        assert!(status == 0 && words.contains(variable.0), "{words}");
        assert!(Client::start_with(home.path(), &[], &[variable]).list().contains(variable.0));
    }
    let mut own = Client::start(home.path(), &[]);
    own.call("TaskCreate", &json!({"subject": "mine", "description": "d"}));
    assert!(!Client::start(home.path(), &[]).list().contains("mine"));
}

/// P6: a log keeps its policy, and the server says so.
#[test]
fn a_log_keeps_its_policy() {
    let home = TempDir::new().unwrap();
    let busy = json!({"todos": [{"content": "a", "status": "in_progress"}, {"content": "b", "status": "in_progress"}]});
    let mut client = Client::start(home.path(), &["--session", "s", "--policy", "todo-rounds"]);
    assert!(client.call("todo_write", &busy).0, "L11: one at a time");
    client.end();
    let mut client = Client::start(home.path(), &["--session", "s"]);
    assert!(client.call("todo_write", &busy).0);
    assert!(client.end().1.contains("todo-rounds"));
}

#[test]
fn a_log_that_cant_be_written_is_an_answer_and_changes_nothing() {
    let home = TempDir::new().unwrap();
    let folder = home.path().join("logs");
    let mut client = Client::start(&folder, &[]);
    std::fs::remove_dir(&folder).unwrap();
    std::fs::write(&folder, "in the way").unwrap();
    let (is_error, text) = client.call("TaskCreate", &json!({"subject": "a", "description": "d"}));
    assert!(is_error && text.starts_with("Nothing was changed: ") && text.contains("logs"), "{text}");
    std::fs::remove_file(&folder).unwrap();
    std::fs::create_dir(&folder).unwrap();
    assert!(client.call("TaskCreate", &json!({"subject": "a", "description": "d"})).1.contains("#1 "));
}

#[test]
fn a_damaged_log_is_left_alone_and_named() {
    let home = TempDir::new().unwrap();
    let mut client = Client::start(home.path(), &["--session", "s"]);
    client.call("TaskCreate", &json!({"subject": "a", "description": "d"}));
    client.call("TaskCreate", &json!({"subject": "b", "description": "d"}));
    client.end();
    let log = std::fs::read_dir(home.path()).unwrap().next().unwrap().unwrap().path();
    let damaged = std::fs::read_to_string(&log).unwrap().replacen("TaskCreate", "TaskCrate!", 1);
    std::fs::write(&log, &damaged).unwrap();
    let mut server = Command::new(env!("CARGO_BIN_EXE_session-todo"));
    server.args(["mcp", "--session", "s"]).env("SESSION_TODO_HOME", home.path()).stdin(Stdio::null());
    let output = server.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("is damaged at byte"));
    assert_eq!(std::fs::read_to_string(&log).unwrap(), damaged);
}
