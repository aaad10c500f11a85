//! A log of our own, replayed like any other (P6).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};
use session_todo::{Agent, Call, Caller, Event, Outcome, Policy};
use session_todo_store::{Files, SessionId, Sync, transaction};

/// A list in response 1, and thirteen requests.
fn log(folder: &tempfile::TempDir) -> PathBuf {
    let mut store = Files::open(folder.path(), Sync::Os).unwrap();
    let id = SessionId::new("mine").unwrap();
    let arguments = r#"{"todos":[{"content":"Paint","status":"in_progress"}]}"#;
    transaction(&mut store, &id, &Policy::DEFAULT, |work| {
        let _ = work.step(Event::RequestSent { by: Agent::Main });
        let call =
            Call { by: Caller::Main, name: "todo_write".into(), arguments: arguments.into(), outcome: Outcome::Ours };
        let _ = work.step(Event::ToolCalled(call));
        for _ in 0..12 {
            let _ = work.step(Event::RequestSent { by: Agent::Main });
        }
        let _ = work.step(Event::Compacted);
    })
    .unwrap();
    store.path(&id)
}

fn replayed(arguments: &[&str]) -> (Option<i32>, Value) {
    let output = Command::new(env!("CARGO_BIN_EXE_session-todo")).args(["replay", "--json"]).args(arguments).output();
    let output = output.unwrap();
    (output.status.code(), serde_json::from_slice(&output.stdout).unwrap())
}

/// P6: a policy that this release does not know starts from a state all the same.
#[test]
fn p6_unknown_policy_starts_from_its_state() {
    let folder = tempfile::tempdir().unwrap();
    let log = std::fs::read_to_string(log(&folder)).unwrap();
    let call = r#"{"todos":[{"content":"Later","status":"pending"}]}"#;
    let mut session = session_todo::Session::new(Policy::DEFAULT);
    let _ = session.step(&Event::ToolCalled(Call {
        by: Caller::Main,
        name: "todo_write".into(),
        arguments: call.into(),
        outcome: Outcome::Ours,
    }));
    let state = serde_json::to_string(session.state()).unwrap();
    let rest = format!(r#""seq":17,"policy":{{"name":"later","state":{state}}}}}"#);
    let last = log.lines().last().unwrap();
    let before = u32::from_str_radix(&last[8..16], 16).unwrap();
    let crc = crc32fast::hash(&[&before.to_le_bytes(), rest.as_bytes()].concat());
    let path = folder.path().join("later");
    std::fs::write(&path, format!("{log}{{\"crc\":\"{crc:08x}\",{rest}\n")).unwrap();
    let (_, report) = replayed(&[path.to_str().unwrap()]);
    assert_eq!(report["items"][0]["content"], "Later", "{report}");
    assert_eq!(report["skipped"], json!([]));
}

#[test]
fn p6_a_log_of_ours_folds_as_it_was_logged() {
    let folder = tempfile::tempdir().unwrap();
    let log = log(&folder);
    let (status, report) = replayed(&[log.to_str().unwrap()]);
    assert_eq!((status, &report["format"], &report["requests"]), (Some(0), &json!("session-todo"), &json!(13)));
    assert_eq!(report["items"], json!([{"id": "1", "content": "Paint", "status": "in_progress"}]));
    assert_eq!(report["reminders"], json!([{"request": 12, "items": 1}]));
    assert_eq!(report["compactions"], json!([{"request": 14, "items": 1}]));
    // Another policy says other things of the same list.
    let (_, said) = replayed(&["--policy", "task-nudge", log.to_str().unwrap()]);
    assert_eq!((&said["items"], &said["reminders"]), (&report["items"], &json!([{"request": 10, "items": 1}])));
    // A copy under any name, with a torn end.
    let copy = folder.path().join("copy");
    let bytes = std::fs::read(&log).unwrap();
    std::fs::write(&copy, [&bytes[..], b"{\"crc\":\"0"].concat()).unwrap();
    let (status, torn) = replayed(&[copy.to_str().unwrap()]);
    assert_eq!((status, &torn["items"], &torn["skipped"][0]["line"]), (Some(1), &report["items"], &json!(17)));
}
