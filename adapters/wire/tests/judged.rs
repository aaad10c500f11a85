//! Bodies judged by the vendors' own types, in Python: see `judge/judge.py`. `SESSION_TODO_JUDGE` names the
//! Python that has the packages, `python3` by default; where it has not, this is skipped aloud.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod play;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use play::script::{self, Step};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use session_todo::{Lane, Policy};
use session_todo_wire::{Carrier, Format};

const ALL: &[Lane] = &[Lane::History, Lane::ToolResult, Lane::LastUserMessage];

/// What each format calls itself in the names of files, and a fault for each rule that a type can state.
fn faults(format: Format) -> (&'static str, &'static [(&'static str, &'static str)]) {
    match format {
        Format::Anthropic => (
            "anthropic",
            &[
                (r#""role":"user""#, r#""role":"tool""#),
                (r#"{"type":"text","text":"#, r#"{"type":"text","words":"#),
                (r#""tool_use_id":"#, r#""tool_call_id":"#),
                (r#""input_schema":"#, r#""parameters":"#),
                (r#""type":"tool_result""#, r#""type":"result""#),
            ],
        ),
        Format::Chat => (
            "chat",
            &[
                (r#""role":"user""#, r#""role":"human""#),
                (r#""tool_call_id":"#, r#""id":"#),
                (r#""type":"function","function""#, r#""type":"function","tool""#),
                (r#""arguments":"#, r#""input":"#),
            ],
        ),
        Format::Responses => (
            "responses",
            &[
                (r#""role":"user""#, r#""role":"human""#),
                (r#""type":"input_text""#, r#""type":"text""#),
                (r#""call_id":"#, r#""id":"#),
                (r#""type":"function_call_output""#, r#""type":"tool_result""#),
            ],
        ),
        Format::Gemini => (
            "gemini",
            &[
                (r#""parts":"#, r#""content":"#),
                (r#"{"text":"#, r#"{"words":"#),
                (r#""functionResponse":"#, r#""tool_result":"#),
                (r#""parametersJsonSchema":"#, r#""input_schema":"#),
                (r#""response":{"#, r#""response":"no object","rest":{"#),
            ],
        ),
    }
}

/// The bodies of a few random sessions, each kind of lane and carrier in turn, and every fault that can be
/// planted in them.
fn write_bodies(folder: &Path) -> usize {
    let mut runner = TestRunner::new_with_rng(Config::default(), TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let mut good = 0;
    for format in Format::ALL {
        let (name, faults) = faults(format);
        let mut planted = vec![0; faults.len()];
        for (round, carrier) in
            [Carrier::User, Carrier::Developer, Carrier::Joined].into_iter().cycle().take(9).enumerate()
        {
            let policy: Policy = script::policy(ALL).new_tree(&mut runner).unwrap().current();
            let steps: Vec<Step> = script::session().new_tree(&mut runner).unwrap().current();
            for (at, sent) in play::play(format, carrier, &policy, &steps).sent.iter().enumerate() {
                fs::write(folder.join(format!("{name}-good-{round}-{at}.json")), &sent.body).unwrap();
                good += 1;
                for (fault, (from, to)) in faults.iter().enumerate().filter(|(_, (from, _))| sent.body.contains(from)) {
                    let body = sent.body.replacen(from, to, 1);
                    fs::write(folder.join(format!("{name}-bad-{fault}-{round}-{at}.json")), body).unwrap();
                    planted[fault] += 1;
                }
            }
        }
        assert!(planted.iter().all(|count| *count > 0), "{format}: a fault was never planted: {planted:?}");
    }
    good
}

/// Past the test's own capture of what it prints.
fn aloud(said: &str) {
    std::io::stderr().write_all(format!("the vendors' types: {said}\n").as_bytes()).unwrap();
}

#[test]
fn the_vendors_types_accept_every_body() {
    let folder = tempfile::tempdir().unwrap();
    let good = write_bodies(folder.path());
    let python = std::env::var("SESSION_TODO_JUDGE").unwrap_or_else(|_| "python3".to_owned());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/judge/judge.py");
    let output = match Command::new(&python).arg(script).arg(folder.path()).output() {
        Ok(output) if output.status.code() != Some(3) => output,
        Ok(output) => return aloud(&format!("SKIPPED: {}", String::from_utf8_lossy(&output.stdout).trim())),
        Err(error) => return aloud(&format!("SKIPPED: {python}: {error}")),
    };
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let (accepted, refused): (Vec<&str>, Vec<&str>) = said.lines().partition(|line| line.starts_with("ok "));
    let wrong: Vec<&&str> = refused.iter().filter(|line| line.contains("-good-")).take(3).collect();
    assert!(wrong.is_empty(), "refused: {wrong:#?}");
    let wrong: Vec<&&str> = accepted.iter().filter(|line| line.contains("-bad-")).take(8).collect();
    assert!(wrong.is_empty(), "accepted: {wrong:#?}");
    assert_eq!(accepted.len(), good);
    aloud(&format!("they accept {} bodies and refuse {} with a fault", accepted.len(), refused.len()));
}
