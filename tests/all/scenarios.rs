//! Every file of `tests/scenarios`, and that the runner can fail.

use std::path::{Path, PathBuf};

use session_todo::Policy;
use session_todo_tests::scenario::{self, Checked};

/// The rules that a file has to be named after, beside presets and clocks.
const RULES: &[&str] = &[
    "p02",
    "p05",
    "p06",
    "l01",
    "l02",
    "l03",
    "l04",
    "l05",
    "l06",
    "l07",
    "l08",
    "l09",
    "l10",
    "l11",
    "l12",
    "l13",
    "d01",
    "d02",
    "d03",
    "d04",
    "d05",
    "d06",
    "t01",
    "t02",
    "t04",
    "t05",
    "a01",
    "a02",
    "a03",
    "a04",
    "a06",
    "a07",
    "a08",
    "r04",
    "r10",
    "event-ran",
    "event-failed",
    "event-user",
    "event-record",
    "event-sub",
    "lane-history",
    "lane-last-user",
    "lane-tool-result",
    "rounds",
    "turns",
];

/// The lines of the table in section 5; one of them has two cases.
const TABLE: &[&str] = &[
    "clock-10-10",
    "clock-8-8",
    "clock-10-10-no-write",
    "clock-3-10",
    "clock-rounds-3",
    "clock-rounds-3-text-only",
    "clock-every-request",
    "clock-10-10-compaction",
    "clock-3-10-compaction",
    "clock-10-10-resume",
];

/// `UPDATE=1 cargo test` writes what came in place of what was expected.
#[test]
fn every_scenario_comes_as_expected() {
    let update = std::env::var_os("UPDATE").is_some();
    let mut failures = Vec::new();
    for path in files() {
        let text = std::fs::read_to_string(&path).unwrap();
        let file = format!("tests/scenarios/{}", path.file_name().unwrap().display());
        let checked = check(&file, &text);
        match checked.rewritten {
            Some(rewritten) if update && !checked.failures.is_empty() => std::fs::write(&path, rewritten).unwrap(),
            _ => failures.extend(checked.failures),
        }
    }
    assert!(failures.is_empty(), "{} not as expected\n\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn every_rule_row_and_case_has_a_file() {
    let names: Vec<String> = files().iter().map(|path| path.file_stem().unwrap().display().to_string()).collect();
    let presets: Vec<String> = Policy::PRESETS.iter().map(|policy| format!("preset-{}", policy.name)).collect();
    let exact = TABLE.iter().copied().chain(presets.iter().map(String::as_str));
    let mut missing: Vec<&str> = exact.filter(|name| !names.iter().any(|other| other == name)).collect();
    missing.extend(RULES.iter().filter(|rule| !names.iter().any(|name| name.starts_with(**rule))));
    assert!(missing.is_empty(), "no scenario for {missing:?}");
}

#[test]
fn a_wrong_expectation_fails_and_can_be_rewritten() {
    let text = "# Two items.\npolicy default\nrequest\nwrite A, [>] B\nshow list\n----\n1 result ok\nlist\n  #1 [pending] A\n  #2 [pending] B\n\nrequest\n----\nnothing\n";
    let checked = scenario::check("some.txt", text);
    let want = "some.txt:7: not as expected\n   1 result ok\n   list\n     #1 [pending] A\n -   #2 [pending] B\n +   #2 [in_progress] B\n";
    assert_eq!(checked.failures, [want]);
    let rewritten = checked.rewritten.unwrap();
    assert_eq!(rewritten, text.replace("#2 [pending]", "#2 [in_progress]"));
    assert!(scenario::check("some.txt", &rewritten).failures.is_empty());
}

#[test]
fn a_file_written_by_hand_is_never_rewritten() {
    let checked = scenario::check("some.txt", "by hand\npolicy default\nrequest\n----\n1 reminder history 1 item\n");
    assert_eq!(checked.failures.len(), 1);
    assert_eq!(checked.rewritten, None);
}

#[test]
fn a_line_that_cannot_be_read_is_named() {
    for (text, want) in [
        ("policy default\nreqest\n----\nnothing\n", "some.txt:2: `reqest` is no event"),
        ("policy defalt\n----\nnothing\n", "some.txt:1: no policy is called defalt"),
        ("request\n----\nnothing\n", "some.txt:1: a scenario begins with"),
        ("policy default\nrequest\n", "some.txt:2: the events at the end have no `----`"),
        ("policy default\nlane left\n----\nnothing\n", "some.txt:2: `left` is none of: history, last_user"),
    ] {
        let checked = scenario::check("some.txt", text);
        assert!(checked.failures[0].starts_with(want), "{:?}", checked.failures);
        assert_eq!(checked.rewritten, None);
    }
}

#[test]
fn dots_stand_for_what_is_not_said() {
    let start = "policy default\nrequest\nwrite A\nshow text\n----\n";
    for (expected, fits) in [
        ("1 result ok\n| ...\n", true),
        ("...\n| - #1 [...] A\n", true),
        ("1 result ok\n| ... 1 item ...\n| - ...\n", true),
        ("1 result ok\n| ... 2 items ...\n| - ...\n", false),
        ("1 result ok\n| ...\n| - #2...\n", false),
        ("1 result ok\n", false),
    ] {
        let checked = scenario::check("some.txt", &format!("{start}{expected}"));
        assert_eq!(checked.failures.is_empty(), fits, "{expected}");
    }
}

/// Plays one file; a panic of the core is a failure of the file.
fn check(file: &str, text: &str) -> Checked {
    std::panic::catch_unwind(|| scenario::check(file, text)).unwrap_or_else(|_| Checked {
        failures: vec![format!("{file}: the core panicked, see above")],
        rewritten: None,
    })
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|ext| ext == "txt")).collect();
    files.sort();
    files
}
