//! The example's own loop over loopback HTTP, in all four formats.

#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[path = "../examples/agent/agent.rs"]
mod agent;
#[path = "agent/faults.rs"]
mod faults;
#[path = "../examples/agent/journal.rs"]
mod journal;
#[path = "../examples/agent/log.rs"]
mod log;
#[path = "../examples/agent/provider.rs"]
mod provider;
#[path = "../examples/agent/screen.rs"]
mod screen;
#[path = "../examples/agent/scripted.rs"]
mod scripted;
#[path = "../examples/agent/stream.rs"]
mod stream;
#[path = "../examples/agent/tools.rs"]
mod tools;

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;

use agent::Agent;
use provider::Provider;
use scripted::{Script, Server};
use serde_json::json;
use session_todo::policy::Clock;
use session_todo::{Event, Lane, Policy};
use session_todo_store::{Files, Record, SessionId, Store, Sync, Version};
use session_todo_wire::{By, Carrier, Format, History, lint};

const NEVER: usize = usize::MAX;
const LANES: [Lane; 3] = [Lane::History, Lane::ToolResult, Lane::LastUserMessage];
const REMINDER: &str = "An automatic note from the program";
const SNAPSHOT: &str = "A record of the task list";
const ITEM: &str = "Collect the numbers";

/// A write, then so many responses that call another tool, then words.
fn script(quiet: usize) -> Script {
    let plan =
        json!({"todos": [{"content": ITEM, "status": "in_progress"}, {"content": "Write", "status": "pending"}]});
    let mut script = vec![vec![("todo_write", plan)]];
    script.extend((0..quiet).map(|n| match n % 5 {
        4 => vec![("add", json!({"a": n, "b": 1})), ("count_words", json!({"text": "one two"}))],
        _ => vec![("add", json!({"a": n, "b": n}))],
    }));
    script
}

fn policy(lane: Lane, quiet: u32) -> Policy {
    let requests = quiet.try_into().unwrap();
    let clock = Clock::Requests { after: requests, between: requests };
    Policy { lane, clock, resume_note: false, max_unanswered: None, ..Policy::DEFAULT }
}

fn open(folder: &Path, server: &Server, format: Format, policy: &Policy, limit: usize) -> Agent {
    let provider = Provider::new(format, &server.address, "key", "model");
    Agent::open(folder, policy.clone(), provider, limit).unwrap()
}

fn bodies(server: &Server) -> Vec<String> {
    let bodies = server.bodies.lock().unwrap().clone();
    bodies.into_iter().inspect(|body| assert!(body.starts_with('{'))).collect()
}

fn stored(folder: &Path, format: Format) -> History {
    let told = journal::read(&fs::read(folder.join("session.jsonl")).unwrap()).unwrap().0;
    told.map_or(History::new(format, Carrier::User), |told| told.history)
}

fn messages(history: &History) -> Vec<(By, String)> {
    history.messages().iter().map(|message| (message.by, message.json.get().to_owned())).collect()
}

fn count(history: &History, text: &str) -> usize {
    messages(history).iter().map(|(_, json)| json.matches(text).count()).sum()
}

/// Section 5: a write in response 1, 10 and 10, is 12 and 22. In the persisted lanes the text stays, and is
/// stored once each time; in the other it is in the two bodies alone.
#[test]
fn the_reminder_is_on_the_request_that_the_core_says() {
    for format in Format::ALL {
        for lane in LANES {
            let (folder, server) = (tempfile::tempdir().unwrap(), Server::start(format, script(24)).unwrap());
            let mut agent = open(folder.path(), &server, format, &policy(lane, 10), NEVER);
            agent.say("Do it.").unwrap();
            let bodies = bodies(&server);
            assert_eq!(bodies.len(), 26);
            for (body, request) in bodies.iter().zip(1..) {
                let expected = match lane {
                    Lane::LastUserMessage => usize::from(request == 12 || request == 22),
                    Lane::History | Lane::ToolResult => usize::from(request >= 12) + usize::from(request >= 22),
                };
                assert_eq!(body.matches(REMINDER).count(), expected, "{format}, {lane:?}, request {request}");
                assert_eq!(lint(format, body).unwrap(), []);
            }
            let kept = if lane == Lane::LastUserMessage { 0 } else { 2 };
            assert_eq!(count(&stored(folder.path(), format), REMINDER), kept, "{format}, {lane:?}");
        }
    }
}

/// A2, A5: after a compaction the new context holds the open items once, also the second time without a write
/// between.
#[test]
fn a_compaction_carries_the_open_items_once() {
    for format in Format::ALL {
        let (folder, server) = (tempfile::tempdir().unwrap(), Server::start(format, script(3)).unwrap());
        let mut agent = open(folder.path(), &server, format, &policy(Lane::History, 10), NEVER);
        agent.say("Do it.").unwrap();
        for _ in 0..2 {
            agent.compact().unwrap();
            agent.say("Go on.").unwrap();
            let body = bodies(&server).pop().unwrap();
            assert_eq!(body.matches(SNAPSHOT).count(), 1, "{format}: {body}");
            assert_eq!(body.matches(ITEM).count(), 1, "{format}: {body}");
            assert!(body.contains("Go on.") && body.find(SNAPSHOT) < body.rfind("Go on."), "{format}: {body}");
            assert_eq!(lint(format, &body).unwrap(), []);
        }
        let history = stored(folder.path(), format);
        assert_eq!(count(&history, SNAPSHOT), 1);
    }
}

/// E1, P5, D6: a process that ended after any step, or in the midst of writing one down, sends the same bytes
/// as one that never stopped.
#[test]
fn killed_after_each_step_it_sends_the_same_bytes() {
    for format in Format::ALL {
        for lane in LANES {
            let (folder, server) = (tempfile::tempdir().unwrap(), Server::start(format, script(14)).unwrap());
            let policy = policy(lane, 3);
            open(folder.path(), &server, format, &policy, 2_500).say("Do it.").unwrap();
            let whole = bodies(&server);
            assert!(
                whole.iter().any(|body| body.contains(REMINDER)) && whole.iter().any(|body| body.contains(SNAPSHOT))
            );
            let journal = fs::read_to_string(folder.path().join("session.jsonl")).unwrap();
            let log = fs::read_to_string(folder.path().join("log/agent.jsonl")).unwrap();
            let last = (messages(&stored(folder.path(), format)), logged(folder.path()));
            let mut before = 1;
            for end in journal.match_indices('\n').map(|(at, _)| at + 1) {
                let told = told(&journal[..end]);
                // In the midst of a line, between a line and the log, and behind both.
                for (end, version) in [(end - 2, before), (end, before), (end, told)] {
                    let log = log.split_inclusive('\n').take(version).collect::<String>();
                    let left = killed(format, &policy, (&journal[..end], &log), &last);
                    assert!(whole.ends_with(&left), "{format}, {lane:?}, killed at byte {end}: {left:#?}");
                }
                before = told;
            }
        }
    }
}

/// The records of the log that a journal tells of.
fn told(journal: &str) -> usize {
    let told = journal::read(journal.as_bytes()).unwrap().0.unwrap();
    told.began.plus(told.events().unwrap().len()).0.try_into().unwrap()
}

/// What the log says was called and sent, apart from the starts, and the list that it comes to. A call whose answer was
/// not logged is read off the history later, as one that ran.
fn logged(folder: &Path) -> Vec<String> {
    let mut store = Files::open(folder.join("log"), Sync::Os).unwrap();
    let mut events = Vec::new();
    let mut each = |_, record: Record<'_>| {
        match record {
            Record::Event(Event::ToolCalled(call)) => events.push(format!("{} {}", call.name, call.arguments)),
            Record::Event(Event::Resumed) | Record::Policy { .. } => {}
            Record::Event(event) => events.push(format!("{event:?}")),
        }
        Ok(())
    };
    let id = SessionId::new("agent").unwrap();
    store.read(&id, Version::START, &mut each).unwrap();
    let list = session_todo_store::open(&mut store, &id).unwrap().unwrap().session;
    events.push(format!("{:?}", list.list().items()));
    events
}

/// The same where the process that goes on is killed too, between a line of the journal and the log: what happened in
/// between the two is in the log once.
#[test]
fn killed_twice_the_log_has_everything_once() {
    let (format, policy) = (Format::Chat, policy(Lane::History, 3));
    let (folder, server) = (tempfile::tempdir().unwrap(), Server::start(format, script(14)).unwrap());
    open(folder.path(), &server, format, &policy, 2_500).say("Do it.").unwrap();
    let read = |folder: &Path, name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let (journal, log) = (read(folder.path(), "session.jsonl"), read(folder.path(), "log/agent.jsonl"));
    let last = (messages(&stored(folder.path(), format)), logged(folder.path()));
    let cut = |log: &str, version| log.split_inclusive('\n').take(version).collect::<String>();
    for end in journal.match_indices('\n').map(|(at, _)| at + 1) {
        let folder = left(&journal[..end], &cut(&log, told(&journal[..end])));
        go_on(folder.path(), format, &policy);
        let (journal, log) = (read(folder.path(), "session.jsonl"), read(folder.path(), "log/agent.jsonl"));
        let mut before = end;
        for end in journal.match_indices('\n').map(|(at, _)| at + 1).filter(|at| *at > end).take(4) {
            killed(format, &policy, (&journal[..end], &cut(&log, told(&journal[..before]))), &last);
            before = end;
        }
    }
}

/// A folder with what is left of a journal and a log.
fn left(journal: &str, log: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("session.jsonl"), journal).unwrap();
    fs::create_dir(folder.path().join("log")).unwrap();
    fs::write(folder.path().join("log/agent.jsonl"), log).unwrap();
    folder
}

/// Starts on a folder, and gives what is sent until the end.
fn go_on(folder: &Path, format: Format, policy: &Policy) -> Vec<String> {
    let server = Server::start(format, script(14)).unwrap();
    let has_begun = !stored(folder, format).messages().is_empty();
    let mut agent = open(folder, &server, format, policy, 2_500);
    if has_begun { agent.run() } else { agent.say("Do it.") }.unwrap();
    bodies(&server)
}

/// Starts on what is left of a journal and a log, and gives what is sent until the end.
fn killed(format: Format, policy: &Policy, cut: (&str, &str), last: &(Vec<(By, String)>, Vec<String>)) -> Vec<String> {
    let folder = left(cut.0, cut.1);
    let sent = go_on(folder.path(), format, policy);
    assert_eq!((messages(&stored(folder.path(), format)), logged(folder.path())), *last);
    sent
}

/// P6: a session goes on under its own policy and format, and under no other.
#[test]
fn another_policy_or_format_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let open = |policy, format| {
        let provider = Provider::new(format, "http://127.0.0.1:9", "", "model");
        Agent::open(folder.path(), policy, provider, NEVER).map(drop).map_err(|error| error.to_string())
    };
    assert_eq!(open(Policy::DEFAULT, Format::Chat), Ok(()));
    assert!(open(Policy::TASK_NUDGE, Format::Chat).unwrap_err().contains("task-nudge"));
    assert!(open(Policy::DEFAULT, Format::Gemini).unwrap_err().contains("Gemini"));
}

/// T3: what a model writes is shown on a terminal, not obeyed.
#[test]
fn control_characters_are_shown() {
    assert_eq!(screen::plain("a\u{1b}[2Jb\u{202e}\nc"), "a\\u{1b}[2Jb\\u{202e}\nc");
}

/// A person's edit is told once, and what died on the way is sent once more with the new words.
#[test]
fn a_request_that_died_is_the_same_request() {
    let format = Format::Anthropic;
    let (folder, server) = (tempfile::tempdir().unwrap(), Server::start(format, script(1)).unwrap());
    let policy = policy(Lane::History, 10);
    let nowhere = Provider::new(format, "http://127.0.0.1:9", "", "model");
    let mut agent = Agent::open(folder.path(), policy.clone(), nowhere, NEVER).unwrap();
    agent.edit("TaskCreate", r#"{"subject":"By hand","description":"d"}"#).unwrap();
    assert!(agent.say("Do it.").is_err());
    drop(agent);
    let mut agent = open(folder.path(), &server, format, &policy, NEVER);
    agent.say("Do it now.").unwrap();
    let first = &bodies(&server)[0];
    assert_eq!(first.matches("By hand").count(), 1, "{first}");
    assert!(first.contains("Do it.") && first.contains("Do it now."));
    assert_eq!(
        count(&stored(folder.path(), format), "By hand"),
        count(&stored(folder.path(), format), "By hand").max(1)
    );
}

/// The agent in a process of its own, which this test starts: see below.
#[test]
fn process() {
    let Some(folder) = std::env::var_os("AGENT_FOLDER") else { return };
    let format = std::env::var("AGENT_FORMAT").unwrap();
    let format = Format::ALL.into_iter().find(|known| format!("{known:?}") == format).unwrap();
    let provider = Provider::new(format, &std::env::var("AGENT_ADDRESS").unwrap(), "key", "model");
    let mut agent = Agent::open(Path::new(&folder), policy(Lane::History, 3), provider, 2_500).unwrap();
    if agent.is_unfinished() { agent.run().unwrap() } else { agent.say("Do it.").unwrap() }
}

fn start(folder: &Path, format: Format, address: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "process"])
        .env("AGENT_FOLDER", folder)
        .env("AGENT_FORMAT", format!("{format:?}"))
        .env("AGENT_ADDRESS", address)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// The same with processes: one is killed while it waits for a response, another goes on, and so until the end.
#[test]
fn killed_while_it_waits_it_sends_the_same_bytes() {
    for format in Format::ALL {
        let (folder, server) = (tempfile::tempdir().unwrap(), Server::start(format, script(14)).unwrap());
        open(folder.path(), &server, format, &policy(Lane::History, 3), 2_500).say("Do it.").unwrap();
        let whole = bodies(&server);

        let folder = tempfile::tempdir().unwrap();
        let mut answered = Vec::new();
        for answers in [0, 1, 3, 5] {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let mut child = start(folder.path(), format, &format!("http://{}", listener.local_addr().unwrap()));
            let seen = Mutex::new(Vec::new());
            for _ in 0..answers {
                scripted::serve(listener.accept().unwrap().0, format, &script(14), &seen).unwrap();
            }
            // The next request is here, and gets no answer.
            let _waiting = listener.accept().unwrap();
            child.kill().unwrap();
            child.wait().unwrap();
            answered.extend(seen.into_inner().unwrap());
        }
        let server = Server::start(format, script(14)).unwrap();
        assert!(start(folder.path(), format, &server.address).wait().unwrap().success());
        answered.extend(bodies(&server));
        assert_eq!(answered, whole, "{format}");
    }
}

/// Two processes do not share a session: the second one is told so.
#[test]
fn a_session_in_use() {
    let folder = tempfile::tempdir().unwrap();
    let open = || {
        let provider = Provider::new(Format::Chat, "http://127.0.0.1:9", "", "model");
        Agent::open(folder.path(), Policy::DEFAULT, provider, NEVER)
    };
    let first = open().map_err(|error| error.to_string()).unwrap();
    assert!(open().err().unwrap().to_string().contains("in use"));
    drop(first);
    assert!(open().is_ok());
}
