//! Old bytes are tests: a log, its effects and its state in every form, of each format version, kept for
//! ever. `UPDATE=1` writes those of the newest version; a difference in review is a change of behaviour.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use session_todo::{Event, Policy, Session, State, checkpoint};

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/v1").join(name)
}

fn check(name: &str, bytes: &[u8]) {
    let path = golden(name);
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, bytes).unwrap();
    }
    let kept = fs::read(&path).unwrap();
    assert!(kept == bytes, "{name} differs:\n{}", String::from_utf8_lossy(bytes));
}

fn log() -> String {
    fs::read_to_string(golden("log.jsonl")).unwrap()
}

fn event(line: &str) -> Event<'_> {
    serde_json::from_str(line).unwrap()
}

/// A line of JSON an event and policy, so that a difference shows which.
fn effects(log: &str) -> String {
    let mut out = String::new();
    for policy in Policy::PRESETS {
        writeln!(out, "\"{}\"", policy.name).unwrap();
        let mut session = Session::new(policy);
        for line in log.lines() {
            let effect = session.step(&event(line));
            writeln!(out, "{}", serde_json::to_string(&effect).unwrap()).unwrap();
        }
    }
    out
}

fn state(log: &str) -> State {
    let (session, _) = Session::replay(Policy::DEFAULT, None, log.lines().map(event));
    session.state().clone()
}

/// Law 2 and P1: the same bytes of every effect, in this build and in one that switches on
/// `preserve_order` and `arbitrary_precision` of `serde_json` (feature `other-json`).
#[test]
fn law_2_effects_keep_their_bytes() {
    check("effects.jsonl", effects(&log()).as_bytes());
}

/// A log is written as it was read.
#[test]
fn events_keep_their_bytes() {
    for line in log().lines() {
        assert_eq!(serde_json::to_string(&event(line)).unwrap(), line);
    }
}

/// A8: every later release reads the state.
#[test]
fn a8_state_keeps_its_json() {
    let state = state(&log());
    check("state.json", serde_json::to_string_pretty(&state).unwrap().as_bytes());
    let kept: State = serde_json::from_slice(&fs::read(golden("state.json")).unwrap()).unwrap();
    assert_eq!(kept, state);
}

/// Law 11: a checkpoint of this schema keeps its bytes. A changed type without a new `SCHEMA` fails here.
#[test]
fn law_11_checkpoint_keeps_its_bytes() {
    let state = state(&log());
    check("state.rkyv", &checkpoint::to_bytes(&state).unwrap());
    assert_eq!(checkpoint::from_bytes(&fs::read(golden("state.rkyv")).unwrap()), Ok(state));
}
