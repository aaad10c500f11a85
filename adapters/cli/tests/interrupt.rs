//! A run that a person ends.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

const LOG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/claude-code/tasks.jsonl");

#[test]
fn a_run_that_is_interrupted_says_what_is_left() {
    let folder = tempfile::tempdir().unwrap();
    // A log that never comes.
    let pipe = folder.path().join("pipe.jsonl");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    let mut child = Command::new(env!("CARGO_BIN_EXE_session-todo"))
        .args(["replay", "--json", LOG, pipe.to_str().unwrap(), LOG])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The first report is out, so the run waits for the second.
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut report = String::new();
    out.read_line(&mut report).unwrap();
    assert!(report.contains(r#""outcome":"items""#), "{report}");
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill").success());
    let status = child.wait().unwrap();
    let mut words = String::new();
    child.stderr.take().unwrap().read_to_string(&mut words).unwrap();
    assert_eq!(status.code(), Some(130), "{words}");
    // A report is counted right behind its last byte, which may be too late for a signal that comes with it.
    let said = |left| format!("session-todo: interrupted: {left} of 3 files are not reported");
    assert!([said(2), said(3)].iter().any(|said| words.trim_end() == said), "{words}");
}
