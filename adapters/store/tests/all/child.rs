//! What other processes do: this test, run again by another, with its orders in the environment.

use std::env;
use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use session_todo::{Call, Caller, Event, Outcome};
use session_todo_store::{AppendError, Files, Record, SessionId, Store, Sync, Version};

use crate::common::{begin, id, named};

const ORDERS: &str = "SESSION_TODO_STORE_CHILD";

/// Where a store is: a folder, with `sync:` before it for a sync at each append, or a database's URL.
pub(crate) fn store(place: &str) -> Box<dyn Store> {
    if place.starts_with("postgres:") {
        // It may be restarting when this process comes.
        loop {
            match session_todo_store::Postgres::connect(place) {
                Ok(store) => return Box::new(store),
                Err(error) => eprintln!("not yet: {error}"),
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
    }
    match place.strip_prefix("sync:") {
        Some(folder) => Box::new(Files::open(Path::new(folder), Sync::Each).unwrap()),
        None => Box::new(Files::open(Path::new(place), Sync::Os).unwrap()),
    }
}

/// Starts one; what it reports comes line by line on its standard output.
pub(crate) fn start(order: &str, place: &str, number: usize) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", "child::run", "--ignored", "--nocapture"])
        .env(ORDERS, format!("{order} {number} {place}"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap()
}

#[test]
#[ignore = "what other tests start as a process of its own"]
fn run() {
    let Ok(orders) = env::var(ORDERS) else { return };
    let mut words = orders.splitn(3, ' ');
    let (order, number, place) = (words.next().unwrap(), words.next().unwrap(), words.next().unwrap());
    let number = number.parse().unwrap();
    match order {
        "write" => write(store(place).as_mut()),
        "race" => race(store(place).as_mut(), number),
        "own" => own(place, number),
        _ => panic!("unknown order {order}"),
    }
}

/// The record of this number in a log that `write` writes: now and then one of many pages.
pub(crate) fn written(number: u64) -> Record<'static> {
    if number == 1 {
        return begin();
    }
    let arguments = if number.is_multiple_of(7) { "x".repeat(100_000) } else { String::new() };
    let (name, outcome) = (format!("Tool{number}"), Outcome::Ran { id: None });
    Record::Event(Event::ToolCalled(Call { by: Caller::Main, name: name.into(), arguments: arguments.into(), outcome }))
}

/// Appends for ever, one record or three, and reports what is acknowledged.
fn write(store: &mut dyn Store) {
    let session = id("s");
    let mut version = store.read(&session, Version(u64::MAX), &mut |_, _| Ok(())).unwrap();
    report("at", version);
    loop {
        let records = if version.0.is_multiple_of(5) { 3 } else { 1 };
        let records: Vec<_> = (version.0 + 1..=version.0 + records).map(written).collect();
        version = store.append(&session, version, &records).unwrap();
        report("ack", version);
    }
}

/// How far a race goes.
pub(crate) const GOAL: u64 = 400;

/// Has processes wait for each other, so that they are at it together.
pub(crate) fn go(children: &mut [Child]) -> Vec<Lines<BufReader<ChildStdout>>> {
    let outputs = children.iter_mut().map(|child| child.stdout.take().unwrap());
    let mut reports: Vec<_> = outputs.map(|output| BufReader::new(output).lines()).collect();
    for reports in &mut reports {
        assert!(reports.any(|line| line.unwrap().starts_with("ready")));
    }
    for child in children {
        child.stdin.take().unwrap().write_all(b"go\n").unwrap();
    }
    reports
}

/// Tries to be the one who writes each next record, until the goal, and reports where it was.
fn race(store: &mut dyn Store, number: usize) {
    let session = id("s");
    let mut version = store.read(&session, Version(u64::MAX), &mut |_, _| Ok(())).unwrap();
    report("ready", version);
    std::io::stdin().read_line(&mut String::new()).unwrap();
    while version.0 < GOAL {
        let record = if version == Version::START { begin() } else { named(&format!("By{number}")) };
        version = match store.append(&session, version, &[record]) {
            Ok(version) => {
                report("won", version);
                // Else the fastest is through before another wakes up.
                std::thread::sleep(std::time::Duration::from_micros(200));
                version
            }
            Err(AppendError::Conflict { expected, actual }) => {
                assert!(actual > expected, "a log never shrinks");
                actual
            }
            Err(error) => panic!("{error}"),
        };
    }
}

/// Sessions of each process, and records of each session.
pub(crate) const OWN: usize = 8;
pub(crate) const RECORDS: u64 = 40;

pub(crate) fn own_session(process: usize, thread: usize) -> SessionId {
    id(&format!("own-{process}-{thread}"))
}

/// Eight threads, each with a session of its own.
fn own(place: &str, number: usize) {
    std::thread::scope(|scope| {
        for thread in 0..OWN {
            scope.spawn(move || {
                let (mut store, session) = (store(place), own_session(number, thread));
                for version in 0..RECORDS {
                    let record = crate::common::expected(version + 1);
                    store.append(&session, Version(version), &[record]).unwrap();
                }
            });
        }
    });
}

fn report(what: &str, version: Version) {
    // In one piece, and before anything else: a report that was read is a record that is there.
    let line = format!("{what} {version}\n");
    let mut out = std::io::stdout().lock();
    out.write_all(line.as_bytes()).and_then(|()| out.flush()).unwrap();
}
