//! A hook call, process start to exit: `cargo bench -p session-todo-benches --bench hook`.
//!
//! Needs the command itself, built for release: `cargo build --release -p session-todo-cli`. The bare binary that
//! it is compared with is this one, told to do nothing.

#![allow(missing_docs, clippy::expect_used)]

use std::env;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use session_todo::{Outcome, Policy};
use session_todo_benches::{REQUEST, call, ten_items};
use session_todo_store::{Files, Record, SessionId, Store, Sync, Version, open};

const NOTHING: &str = "SESSION_TODO_BENCH_NOTHING";
const RUNS: usize = 301;
const LENGTHS: [u64; 3] = [100, 10_000, 1_000_000];

fn main() {
    if env::var_os(NOTHING).is_some() {
        return;
    }
    let bare = env::current_exe().expect("this binary");
    let Some(command) = built(&bare) else {
        eprintln!("SKIPPED: hook: no session-todo built for release beside this binary");
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    for length in LENGTHS {
        log(folder.path(), length);
    }
    measure(&bare, &command, folder.path());
}

/// The command, which cargo puts into the folder above its tests and benches.
fn built(bare: &Path) -> Option<PathBuf> {
    let command = bare.parent()?.parent()?.join(format!("session-todo{}", env::consts::EXE_SUFFIX));
    command.exists().then_some(command)
}

/// A log of this many events: a list, then one call a response.
fn log(folder: &Path, length: u64) {
    let (mut store, mut version) = (Files::open(folder, Sync::Os).expect("a folder"), Version::START);
    let session = SessionId::new(length.to_string()).expect("it is an id");
    let list = ten_items();
    let mut records = vec![Record::begin(&Policy::DEFAULT), Record::Event(call("todo_write", &list, Outcome::Ours))];
    let round = || [Record::Event(call("Bash", "", Outcome::Ran { id: None })), Record::Event::<'_>(REQUEST)];
    while version.0 < length {
        let rounds = ((length - version.0) / 2).clamp(1, 5_000);
        records.extend((0..rounds).flat_map(|_| round()));
        version = store.append(&session, version, &records).expect("an append");
        records.clear();
    }
    open(&mut store, &session).expect("a log").expect("it has begun");
}

/// In turn, so that what disturbs one disturbs all.
fn measure(bare: &Path, command: &Path, folder: &Path) {
    let mut nothing = Vec::new();
    let mut hooks = LENGTHS.map(|length| (length, Vec::new()));
    for _ in 0..RUNS {
        nothing.push(run(Command::new(bare).env(NOTHING, "1"), b""));
        for (length, times) in &mut hooks {
            let event = format!(
                r#"{{"session_id":"{length}","hook_event_name":"PostToolBatch","tool_calls":[{{"tool_name":"Bash","tool_input":{{"command":"true"}},"tool_response":""}}]}}"#
            );
            let mut hook = Command::new(command);
            hook.args(["hook", "claude-code"]).env("SESSION_TODO_HOME", folder).env_remove("SESSION_TODO_POLICY");
            times.push(run(&mut hook, event.as_bytes()));
        }
    }
    let nothing = middle(nothing);
    println!("a binary that does nothing   {nothing:8.3} ms");
    let [short, middle_one, long] = hooks.map(|(length, times)| {
        let time = middle(times);
        println!("a hook, {length:>9} events     {time:8.3} ms, {:5.2} times that", time / nothing);
        time
    });
    println!("10,000 events      {:5.2} times a binary that does nothing (at most 3)", middle_one / nothing);
    println!("1,000,000 events   {:5.2} times 100 (about 1)", long / short);
}

/// Milliseconds from start to exit.
fn run(command: &mut Command, stdin: &[u8]) -> f64 {
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::inherit());
    let start = Instant::now();
    let mut child = command.spawn().expect("it starts");
    // It may be over before it has read.
    let _ = child.stdin.take().expect("a pipe").write_all(stdin);
    let status = child.wait().expect("it ends");
    let time = start.elapsed().as_secs_f64() * 1e3;
    assert!(status.success());
    time
}

fn middle(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}
