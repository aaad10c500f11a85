//! The hook as a client starts it: a process an event. What is printed is logged before, whoever else logs and
//! whenever it is killed.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use session_todo::{Agent, Effect, Event, Policy, Session};
use session_todo_store::{Files, Record, SessionId, Store, Sync, Version};

/// Hooks that are killed.
const ROUNDS: u64 = 50;

fn command(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_session-todo"));
    for name in ["SESSION_TODO_POLICY", "AI_AGENT", "CLAUDE_CODE_ENABLE_TODO_TOOLS", "CLAUDE_CODE_TODO_REMINDER_MODE"] {
        command.env_remove(name);
    }
    command.env("SESSION_TODO_HOME", home).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn start(home: &Path, flags: &[&str], event: &str) -> Child {
    let mut hook = command(home).args(["hook", "claude-code"]).args(flags).spawn().unwrap();
    // One that is done already takes no more.
    let _ = hook.stdin.take().unwrap().write_all(event.as_bytes());
    hook
}

fn hook(home: &Path, flags: &[&str], event: &Value) -> Output {
    start(home, flags, &event.to_string()).wait_with_output().unwrap()
}

/// What it prints, where nothing is wrong.
fn said(home: &Path, flags: &[&str], event: &Value) -> String {
    let output = hook(home, flags, event);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

fn batch(calls: &Value) -> Value {
    json!({"session_id": "s", "hook_event_name": "PostToolBatch", "tool_calls": calls})
}

fn create(number: u64) -> Value {
    json!([{"tool_name": "TaskCreate", "tool_input": {"subject": format!("Item {number}"), "description": ""},
            "tool_response": format!("Task #{number} created successfully: Item {number}")}])
}

fn bash() -> Value {
    batch(&json!([{"tool_name": "Bash", "tool_input": {"command": "true"}, "tool_response": ""}]))
}

/// The session as the log folds, the reminders and snapshots that it gave, and its records.
fn folded(home: &Path) -> (Session, Vec<String>, u64) {
    let mut files = Files::open(home, Sync::Os).unwrap();
    let (mut session, mut texts) = (Session::new(Policy::DEFAULT), Vec::new());
    let version = files
        .read(&SessionId::new("s").unwrap(), Version::START, &mut |_, record| {
            match record {
                Record::Policy { name, state } => session = Session::resume(Policy::named(&name).unwrap(), *state),
                Record::Event(event) => match session.step(&event) {
                    Some(Effect::AppendSystemReminder(reminder)) => texts.push(reminder.text),
                    Some(Effect::InjectCompactSnapshot(snapshot)) => texts.push(snapshot.text),
                    _ => {}
                },
            }
            Ok(())
        })
        .unwrap();
    (session, texts, version.0)
}

fn context(printed: &str) -> String {
    let printed: Value = serde_json::from_str(printed).unwrap();
    printed["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned()
}

#[test]
fn two_at_once_lose_nothing() {
    let home = tempfile::tempdir().unwrap();
    let writers = (0..2u64).map(|writer| {
        let home = home.path().to_owned();
        thread::spawn(move || {
            for number in 1..=20 {
                let by_sub = json!({"session_id": "s", "hook_event_name": "PostToolBatch", "agent_id": "a",
                                    "tool_calls": create(number * 2 + writer)});
                assert_eq!(said(&home, &[], &by_sub), "");
            }
        })
    });
    writers.collect::<Vec<_>>().into_iter().for_each(|writer| writer.join().unwrap());
    let (session, _, version) = folded(home.path());
    assert_eq!(session.list().items().len(), 40);
    assert_eq!(version, 1 + 40 * 2, "a call and a request each");
}

#[test]
fn one_that_is_killed_leaves_a_log_and_printed_nothing_else() {
    let rounds = std::env::var("SESSION_TODO_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(ROUNDS);
    let home = tempfile::tempdir().unwrap();
    let policy = ["--policy", "todo-every-request"];
    said(home.path(), &policy, &batch(&create(1)));
    for round in 0..rounds {
        let before = folded(home.path()).2;
        let mut killed = start(home.path(), &policy, &bash().to_string());
        thread::sleep(Duration::from_micros(round * 97 % 6000));
        let _ = killed.kill();
        let printed = String::from_utf8(killed.wait_with_output().unwrap().stdout).unwrap();
        let (_, texts, after) = folded(home.path());
        assert!(after == before || after == before + 2, "all of an event or nothing: {before}, {after}");
        if !printed.is_empty() {
            assert_eq!(after, before + 2, "printed, so logged");
            assert_eq!(&context(&printed), texts.last().unwrap());
        }
    }
    let next = said(home.path(), &policy, &bash());
    assert_eq!(&context(&next), folded(home.path()).1.last().unwrap());
}

#[test]
fn whatever_is_wrong_the_client_goes_on() {
    let home = tempfile::tempdir().unwrap();
    let good = batch(&create(1)).to_string();
    said(home.path(), &[], &batch(&create(1)));
    let log = home.path().join("s.jsonl");
    let whole = fs::read_to_string(&log).unwrap();
    let endless = good.replace("\"s\"", &format!("\"{}\"", "s".repeat(200)));
    let cases: [(&str, &str, &str); 5] = [
        (&whole, "", "can't be read"),
        (&whole, "{\"session_id\":", "can't be read"),
        (&whole, "[]", "can't be read"),
        (&whole, &endless, "should be 1 to"),
        (&whole.replace("Item 1", "Item 7"), &good, "damaged"),
    ];
    for (text, event, why) in cases {
        fs::write(&log, text).unwrap();
        let output = start(home.path(), &[], event).wait_with_output().unwrap();
        assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(0), b"".as_slice()), "{event}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(why), "{event}");
        assert!(fs::read_to_string(home.path().join("errors.log")).unwrap().lines().last().unwrap().contains(why));
        assert_eq!(fs::read_to_string(&log).unwrap(), text, "nothing is changed");
    }
    let nowhere = hook(&log.join("below a file"), &[], &bash());
    assert!(nowhere.status.success() && nowhere.stdout.is_empty() && !nowhere.stderr.is_empty());
    let unknown = hook(home.path(), &["--policy", "no-such"], &json!({"session_id": "t", "hook_event_name": "Stop"}));
    assert!(unknown.status.success() && String::from_utf8_lossy(&unknown.stderr).contains("no-such"));
}

/// Issue: the reason is on stderr and in a log file, exit status 0; so of a wrong flag in the client's settings.
#[test]
fn wrong_usage_is_told_and_the_client_goes_on() {
    let home = tempfile::tempdir().unwrap();
    for arguments in [&["hook", "no-such-client"][..], &["hook", "claude-code", "--polcy", "off"], &["hook"]] {
        let output = command(home.path()).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "2 would stop the client's work");
        assert!(output.stdout.is_empty());
        let first = String::from_utf8(output.stderr).unwrap().lines().next().unwrap().to_owned();
        let errors = fs::read_to_string(home.path().join("errors.log")).unwrap();
        assert!(errors.lines().last().unwrap().contains(&first), "{first} in {errors}");
    }
}

/// Bad input, and the client goes on: what has no end is not read for ever.
#[cfg(unix)]
#[test]
fn an_input_without_an_end_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let endless = Stdio::from(fs::File::open("/dev/zero").unwrap());
    let output = command(home.path()).args(["hook", "claude-code"]).stdin(endless).output().unwrap();
    assert!(output.status.success() && output.stdout.is_empty());
    assert!(String::from_utf8_lossy(&output.stderr).contains("bytes or more"));
}

/// Issue: on a full disk the client goes on, and nothing is printed that is not logged. (A limit on a file's size
/// stands for the disk.)
#[cfg(unix)]
#[test]
fn a_full_disk_is_told_and_changes_nothing() {
    let home = tempfile::tempdir().unwrap();
    let policy = ["--policy", "todo-every-request"];
    said(home.path(), &policy, &batch(&create(1)));
    let log = || fs::read(home.path().join("s.jsonl")).unwrap();
    let before = log();
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$0\" hook claude-code", env!("CARGO_BIN_EXE_session-todo")]);
    shell.env("SESSION_TODO_HOME", home.path()).env_remove("SESSION_TODO_POLICY");
    let mut hook = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    hook.stdin.take().unwrap().write_all(bash().to_string().as_bytes()).unwrap();
    let output = hook.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(0), b"".as_slice()));
    let words = String::from_utf8(output.stderr).unwrap();
    assert!(words.contains("can't append to") && !words.contains("errors.log"), "{words}");
    assert_eq!(log(), before);
    assert!(said(home.path(), &[], &bash()).contains("Item 1"), "it goes on when there is room");
}

/// An error says what was tried: to read the client's event, to print the answer.
#[cfg(target_os = "linux")]
#[test]
fn what_cant_be_read_or_printed_is_named() {
    let home = tempfile::tempdir().unwrap();
    let policy = ["hook", "claude-code", "--policy", "todo-every-request"];
    let file = |path: &Path| Stdio::from(fs::File::open(path).unwrap());
    let event = home.path().join("event.json");
    fs::write(&event, batch(&create(1)).to_string()).unwrap();
    let full = || Stdio::from(fs::OpenOptions::new().write(true).open("/dev/full").unwrap());
    for (stdin, words) in [(file(home.path()), "input can't be read"), (file(&event), "can't be printed")] {
        let output = command(home.path()).args(policy).stdin(stdin).stdout(full()).output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn off_is_off() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("logs");
    assert_eq!(said(&folder, &["--policy", "off"], &batch(&create(1))), "");
    let mut hook = command(&folder).args(["hook", "claude-code"]).env("SESSION_TODO_POLICY", "off").spawn().unwrap();
    hook.stdin.take().unwrap().write_all(b"no JSON at all").unwrap();
    let output = hook.wait_with_output().unwrap();
    assert!(output.status.success() && output.stdout.is_empty() && output.stderr.is_empty());
    assert!(!folder.exists());
}

#[test]
fn off_is_off_however_it_is_spelled() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("logs");
    for (flags, variable) in [
        (&["--policy", "OFF"][..], ""),
        (&["--policy", " off "], "default"),
        (&[], "Off"),
        (&[], "off \n"),
        (&["--policy", ""], "off"),
    ] {
        let mut hook = command(&folder);
        let hook = hook.args(["hook", "claude-code"]).args(flags).env("SESSION_TODO_POLICY", variable);
        let mut hook = hook.spawn().unwrap();
        hook.stdin.take().unwrap().write_all(batch(&create(1)).to_string().as_bytes()).unwrap();
        let output = hook.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{flags:?} {variable:?}");
        assert!(output.status.success() && output.stdout.is_empty() && !folder.exists(), "{flags:?} {variable:?}");
    }
}

/// A policy that nobody knows is not passed over in silence; and a known one is found however it is spelled.
#[test]
fn a_policy_that_is_none_is_told() {
    let home = tempfile::tempdir().unwrap();
    for name in ["of", "", "  "] {
        let output = hook(home.path(), &["--policy", name], &bash());
        assert!(output.status.success());
        let errors = fs::read_to_string(home.path().join("errors.log")).unwrap();
        let last = errors.lines().last().unwrap();
        assert!(last.contains(&format!("policy {name:?}")) && last.ends_with(", off"), "{last}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(last));
        fs::remove_file(home.path().join("errors.log")).unwrap();
    }
    let every = said(home.path(), &["--policy", "Todo-Every-Request "], &batch(&create(1)));
    assert!(every.contains("Item 1"), "a known one is found: {every}");
}

#[test]
fn the_lists_of_all_sessions() {
    let home = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let output = command(home.path()).args(arguments).output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
    };
    for (session, number) in [("s", 1), ("t", 1), ("t", 2)] {
        let mut event = batch(&create(number));
        event["session_id"] = session.into();
        said(home.path(), &[], &event);
    }
    let done = json!([{"tool_name": "TaskUpdate", "tool_input": {"taskId": "1", "status": "completed"},
                       "tool_response": "Updated task #1 status"}]);
    said(home.path(), &[], &batch(&done));
    assert_eq!(run(&["list", "--open"]), (0, "t\n  #1 [pending] Item 1\n  #2 [pending] Item 2\n".to_owned()));
    let (_, lines) = run(&["list", "--json"]);
    let sessions: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(sessions[0]["items"][0]["status"], "completed");
    assert_eq!(sessions[1]["session"], "t");
    fs::write(home.path().join("u.jsonl"), "no log of ours\n").unwrap();
    assert_eq!(run(&["list", "--open"]).0, 1, "one was skipped");
}

#[test]
fn the_log_itself() {
    let home = tempfile::tempdir().unwrap();
    let event = serde_json::to_string(&Event::RequestSent { by: Agent::Main }).unwrap();
    let append = |text: &str| {
        let mut child = command(home.path()).args(["log", "append", "s"]).spawn().unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    };
    assert_eq!(append(&format!("{event}\n\n{event}\n")).stdout, b"null\nnull\n");
    assert_eq!(append(&format!("{event}\nno event\n")).status.code(), Some(2));
    let run = |arguments: &[&str]| command(home.path()).args(arguments).output().unwrap();
    let shown = String::from_utf8(run(&["log", "show", "s"]).stdout).unwrap();
    assert_eq!(shown.lines().count(), 3, "the policy, and all or nothing of an append");
    assert_eq!(serde_json::from_str::<Value>(shown.lines().last().unwrap()).unwrap()["seq"], 3);
    assert!(String::from_utf8(run(&["log", "check", "s"]).stdout).unwrap().starts_with("3 records are good"));
    assert_eq!(run(&["log", "check", "none"]).status.code(), Some(2));
}

/// What a broken write left is said by each command that meets it, and cut by the one that appends; damage is not cut.
#[test]
fn cut_of_a_torn_log_is_told() {
    let home = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let mut child = command(home.path()).args(arguments).spawn().unwrap();
        // A command that reads no events may be done before.
        let _ = child.stdin.take().unwrap().write_all(b"{\"request_sent\":{\"by\":\"main\"}}\n");
        let output = child.wait_with_output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(run(&["log", "append", "s"]), (0, String::new()));
    let path = home.path().join("s.jsonl");
    let append = |text: &str| {
        let log = fs::read(&path).unwrap();
        fs::write(&path, [&log[..], text.as_bytes()].concat()).unwrap();
        log.len()
    };
    let commands =
        [(&["log", "append", "s"][..], 0), (&["log", "show", "s"], 1), (&["log", "check", "s"], 1), (&["list"], 1)];
    let end = append("{\"crc\":\"0");
    for (arguments, status) in commands.into_iter().rev() {
        let (code, said) = run(arguments);
        assert_eq!(code, status, "{arguments:?}: {said}");
        let done = if status == 0 { "were cut off" } else { "stand" };
        assert!(said.contains(&format!("s.jsonl: 9 bytes of a broken write {done} at byte {end}")), "{said}");
    }
    assert_eq!(run(&["log", "check", "s"]), (0, String::new()));
    let end = append("{\"note\":1}\n");
    for (arguments, _) in commands {
        let (code, said) = run(arguments);
        assert!(
            code > 0 && said.contains(&format!("is damaged at byte {end}, after record 3")),
            "{arguments:?}: {said}"
        );
    }
    assert_eq!(append(""), end + 11, "it is as it was");
}

/// A cached state that is not what the log folds to is said, and left where it is.
#[test]
fn wrong_cache_is_told() {
    let home = tempfile::tempdir().unwrap();
    let events = "{\"request_sent\":{\"by\":\"main\"}}\n".repeat(100);
    let run = |arguments: &[&str], input: &str| {
        let mut child = command(home.path()).args(arguments).spawn().unwrap();
        // A command that reads no events may be done before.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        child.wait_with_output().unwrap()
    };
    run(&["log", "append", "s"], &events);
    run(&["list"], "");
    let cache = home.path().join("s.cache");
    let right = run(&["log", "check", "s"], "");
    assert_eq!(
        (right.status.code(), &right.stdout[..]),
        (Some(0), &b"101 records are good; the cached state is right.\n"[..])
    );
    fs::write(&cache, "no cache").unwrap();
    let wrong = run(&["log", "check", "s"], "");
    assert_eq!(wrong.status.code(), Some(1));
    assert!(String::from_utf8(wrong.stdout).unwrap().contains("the cached state is wrong"));
    assert!(String::from_utf8(wrong.stderr).unwrap().contains("s.cache is not what the log folds to: remove it"));
    assert_eq!(fs::read_to_string(&cache).unwrap(), "no cache");
}

/// A log folder that is not there is said, and not made; and nothing to append is said, and makes no log.
#[test]
fn what_is_not_there_is_told() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("mistyped");
    for arguments in [&["list"][..], &["log", "show", "s"], &["log", "check", "s"]] {
        let output = command(&folder).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(String::from_utf8(output.stderr).unwrap().contains("mistyped: No such file"));
    }
    let nothing = command(&folder).args(["log", "append", "s"]).stdin(Stdio::null()).output().unwrap();
    assert_eq!((nothing.status.code(), &nothing.stdout[..]), (Some(0), &b""[..]));
    assert!(String::from_utf8(nothing.stderr).unwrap().contains("0 events"));
    assert!(!folder.exists());
}

/// Whoever closes the pipe has read what they wanted: nothing went wrong.
#[cfg(unix)]
#[test]
fn closed_pipe_is_no_error() {
    let home = tempfile::tempdir().unwrap();
    let mut append = command(home.path()).args(["log", "append", "s"]).stdout(Stdio::null()).spawn().unwrap();
    // More than a pipe holds.
    append.stdin.take().unwrap().write_all("{\"request_sent\":{\"by\":\"main\"}}\n".repeat(5000).as_bytes()).unwrap();
    assert!(append.wait().unwrap().success());
    let mut show = command(home.path()).args(["log", "show", "s"]).spawn().unwrap();
    drop(show.stdout.take());
    let shown = show.wait_with_output().unwrap();
    assert_eq!((shown.status.code(), String::from_utf8(shown.stderr).unwrap()), (Some(0), String::new()));
}
