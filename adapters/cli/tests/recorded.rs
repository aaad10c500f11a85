//! Sessions of real clients, recorded with a scripted model: `tests/fixtures/PRODUCT/`. What is expected was
//! written down from the wire and from what the client itself showed (`expected.md` beside each log).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::process::Command;

use serde_json::{Value, json};

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/");

/// What the client and the wire say of a session.
struct Session {
    log: &'static str,
    format: &'static str,
    requests: u64,
    /// Writes, reads and refused calls of the list's tools.
    calls: [u64; 3],
    /// The first request behind each compaction.
    compactions: &'static [u64],
    /// Content and status, in order.
    items: &'static [(&'static str, &'static str)],
}

/// A report for each session that the log holds.
fn replay(log: &str) -> Vec<Value> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_session-todo"));
    let output = command.args(["replay", "--json", &format!("{FIXTURES}{log}")]).output().unwrap();
    assert!(output.status.success(), "{log}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect()
}

impl Session {
    /// R1, R2, R6, R9: the replay is what the client showed and the wire carried.
    fn check(&self) {
        let [report] = &replay(self.log)[..] else { panic!("{}: one session", self.log) };
        self.check_report(report);
    }

    fn check_report(&self, report: &Value) {
        let compactions: Vec<_> = report["compactions"].as_array().unwrap().iter().map(|at| &at["request"]).collect();
        let items = report["items"].as_array().unwrap().iter().map(|item| json!([item["content"], item["status"]]));
        let told = json!({
            "format": report["format"],
            "requests": report["requests"],
            "calls": report["calls"],
            "compactions": compactions,
            "items": items.collect::<Value>(),
            "skipped": report["skipped"],
        });
        let [write, read, refused] = self.calls;
        let expected = json!({
            "format": self.format,
            "requests": self.requests,
            "calls": {"write": write, "read": read, "refused": refused, "pending": 0},
            "compactions": self.compactions,
            "items": self.items,
            "skipped": [],
        });
        assert_eq!(told, expected, "{}", self.log);
    }
}

const SLOW_TEST: &[(&str, &str)] = &[("Find the slow test", "in_progress"), ("Make it fast", "pending")];

#[test]
fn codex_with_refusals_a_compaction_a_resume_and_a_retry() {
    let items = &[
        ("Read the parser module", "completed"),
        ("Add the retry option", "completed"),
        ("Write tests for the retry option", "completed"),
        ("Update the manual", "in_progress"),
    ];
    let log = "codex/plan.jsonl";
    Session { log, format: "codex", requests: 14, calls: [5, 0, 3], compactions: &[8], items }.check();
}

#[test]
fn codex_rolled_back() {
    let log = "codex/rollback.jsonl";
    Session { log, format: "codex", requests: 6, calls: [2, 0, 0], compactions: &[], items: SLOW_TEST }.check();
}

/// The second file of a thread: its history begins in the first.
#[test]
fn codex_reverted() {
    let log = concat!(
        "codex/revert/rollout-2026-11-30T21-11-29-01a22e4c-69f4-73f0-b466-63b84665d41a",
        "_01a22e4c-6ac9-7d83-ae60-dbc88af3efa2.jsonl"
    );
    Session { log, format: "codex", requests: 4, calls: [1, 0, 0], compactions: &[], items: SLOW_TEST }.check();
}

const OPENCODE: Session = Session {
    log: "opencode/export.json",
    format: "opencode",
    requests: 14,
    calls: [5, 0, 2],
    compactions: &[12],
    items: &[
        ("Read the parser module", "completed"),
        ("Add the retry option", "completed"),
        ("Write tests for the retry option", "completed"),
        ("Update the manual", "in_progress"),
        ("Publish the build", "pending"),
    ],
};

#[test]
fn opencode_with_refusals_a_sub_agent_a_compaction_a_resume_and_a_retry() {
    OPENCODE.check();
}

/// The same session as the client stores it, and one that was reverted: its messages are gone, its list stayed.
#[test]
fn opencode_stored() {
    let log = "opencode/opencode.db";
    let [report, reverted] = &replay(log)[..] else { panic!("two sessions that are not a sub-agent's") };
    Session { log, ..OPENCODE }.check_report(report);
    let items = &[("Delete the slow test", "completed")];
    Session { log, format: "opencode", requests: 4, calls: [1, 0, 0], compactions: &[], items }.check_report(reverted);
}

#[test]
fn gemini_with_refusals_a_compaction_a_resume_and_a_retry() {
    let items = &[
        ("Read the parser module", "completed"),
        ("Add the retry option", "completed"),
        ("Write tests for the retry option", "completed"),
        ("Update the manual", "in_progress"),
        ("Publish the build", "blocked"),
        ("Remove the old flag", "cancelled"),
    ];
    let log = "gemini/todos.jsonl";
    Session { log, format: "gemini", requests: 11, calls: [4, 0, 2], compactions: &[9], items }.check();
}

#[test]
fn gemini_rewound() {
    let log = "gemini/rewind.jsonl";
    Session { log, format: "gemini", requests: 6, calls: [2, 0, 0], compactions: &[], items: SLOW_TEST }.check();
}

/// A rewind by a process that did not see the turns begin.
#[test]
fn gemini_resumed_and_rewound() {
    let log = "gemini/rewind-resumed.jsonl";
    Session { log, format: "gemini", requests: 6, calls: [2, 0, 0], compactions: &[], items: SLOW_TEST }.check();
}

#[test]
fn qwen_with_refusals_a_sub_agent_a_compaction_resumes_and_a_retry() {
    let items = &[
        ("Read the parser module", "completed"),
        ("Add the retry option", "completed"),
        ("Write tests for the retry option", "completed"),
        ("Update the manual", "in_progress"),
        ("Publish the build", "pending"),
    ];
    let log = "qwen/todos.jsonl";
    Session { log, format: "qwen", requests: 14, calls: [5, 0, 2], compactions: &[11], items }.check();
}

/// A call that was cut off, whose result stands behind the next response.
#[test]
fn qwen_cut_off() {
    let log = "qwen/cut.jsonl";
    Session { log, format: "qwen", requests: 5, calls: [1, 0, 1], compactions: &[], items: SLOW_TEST }.check();
}

#[test]
fn qwen_rewound() {
    let log = "qwen/rewind.jsonl";
    Session { log, format: "qwen", requests: 6, calls: [2, 0, 0], compactions: &[], items: SLOW_TEST }.check();
}

const KIMI: Session = Session {
    log: "kimi/cli-wire.jsonl",
    format: "kimi",
    requests: 15,
    calls: [5, 1, 2],
    compactions: &[12],
    items: &[
        ("Read the parser module", "completed"),
        ("Add the retry option", "completed"),
        ("Write tests for the retry option", "completed"),
        ("Update the manual", "in_progress"),
        ("Publish the build", "pending"),
    ],
};

#[test]
fn kimi_cli_with_a_read_refusals_a_sub_agent_a_compaction_resumes_and_a_retry() {
    KIMI.check();
    Session { log: "kimi/cli-context.jsonl", requests: 6, calls: [3, 0, 0], compactions: &[], ..KIMI }.check();
}

#[test]
fn kimi_code_with_reads_a_refusal_a_sub_agent_a_compaction_resumes_and_a_retry() {
    Session { log: "kimi/code-wire.jsonl", requests: 36, calls: [5, 2, 1], compactions: &[33], ..KIMI }.check();
}

/// Section 5: Kimi Code's own reminders, as it recorded them, and as the formula gives them.
#[test]
fn kimi_code_reminded() {
    let log = format!("{FIXTURES}kimi/code-wire.jsonl");
    let run = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_session-todo")).args(arguments).arg(&log).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let text = run(&["replay", "--policy", "claude-code"]);
    assert!(text.contains("the client's own, on request 17, 27\n"), "{text}");
    let report: Value = serde_json::from_str(&run(&["replay", "--json", "--policy", "claude-code"])).unwrap();
    let requests: Vec<_> = report["reminders"].as_array().unwrap().iter().map(|at| &at["request"]).collect();
    assert_eq!(json!(requests), json!([17, 27]));
}

#[test]
fn kimi_code_undone() {
    let log = "kimi/code-undo-wire.jsonl";
    Session { log, format: "kimi", requests: 6, calls: [2, 0, 0], compactions: &[], items: SLOW_TEST }.check();
}
