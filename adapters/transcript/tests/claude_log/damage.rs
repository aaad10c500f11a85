//! Damaged logs (R7).

use crate::claude_log::{call, other, prompt, result, said, status, task, told, told_bytes};

#[test]
fn r7_damage_between_records_is_told_and_the_rest_read() {
    let first = task("m1", "t1", "First", "1");
    let second = task("m2", "t2", "Second", "2");
    let (a, b) = (first.trim_end(), second.as_str());
    let cut = &a[..a.len() - 40];
    let nul = "\0".repeat(300);
    let rows: [(String, &[&str]); 14] = [
        (format!("{a}\n\n  \n\t\n{b}"), &[]),
        (format!("\u{feff}{a}\r\n{}", b.replace('\n', "\r\n")), &[]),
        (format!("{a}{b}"), &[]),
        (format!("{a} \t{b}"), &[]),
        (format!("{nul}{a}\n{b}"), &["1: NUL bytes"]),
        (format!("{a}\n{nul}{b}"), &["3: NUL bytes"]),
        (format!("{a}{nul}\n{b}"), &["2: NUL bytes"]),
        (format!("{a}{nul}{b}"), &["2: NUL bytes"]),
        (format!("{a}\n{nul}\n{b}"), &["3: NUL bytes"]),
        (format!("{a}\n{cut}{nul}{b}"), &["4: not a record"]),
        (format!("{a}\n{cut}\n{b}"), &["4: the record is cut off"]),
        (format!("{a}\nkilled: 9 {b}"), &["3: not a record"]),
        (
            format!("{a}\n42\n[1]\n\"x\"\nnull\n{b}"),
            &["3: not a record", "4: not a record", "5: not a record", "6: not a record"],
        ),
        (format!("{a}\n{b}{cut}"), &["6: the record is cut off"]),
    ];
    let whole = told(&[first.clone(), second.clone()]);
    for (log, skipped) in rows {
        let told = told_bytes(log.as_bytes());
        assert_eq!(told.events(), whole.events(), "{log:?}");
        assert_eq!(told.list, whole.list, "{log:?}");
        assert_eq!(told.skips(), skipped, "{log:?}");
    }
}

#[test]
fn r7_a_damaged_record_is_told_with_its_place() {
    let first = task("m1", "t1", "First", "1");
    let log = format!("{first}   {{\"type\":\"user\",\"mess\n");
    let told = told_bytes(log.as_bytes());
    assert_eq!(told.rows.last(), Some(&"main TaskCreate First ran as 1".to_owned()));
    assert!(told.rows.contains(&format!("skipped 3:{} the record is cut off", first.len() + 3)), "{told:?}");
}

#[test]
fn r7_a_torn_record_has_a_whole_one_behind_it() {
    let update = call("m2", "t2", "TaskUpdate", &status("1", "completed"));
    let whole = [task("m1", "t1", "Look", "1"), update, result("t2", r#"{"success":true}"#)];
    let expected = told(&whole);
    for torn in [1, 2] {
        let cuts = 1..whole[torn].len();
        for (at, between) in cuts.flat_map(|at| ["", "\0", "\0\0 ", "\n"].map(|between| (at, between))) {
            let log = [&whole[..torn].concat(), &whole[torn][..at], between, &whole[torn..].concat()].concat();
            let told = told_bytes(log.as_bytes());
            assert_eq!(told.events(), expected.events(), "{torn} cut at {at}, then {between:?}: {told:?}");
            assert_eq!(told.list, expected.list, "{torn} cut at {at}, then {between:?}");
        }
    }
}

#[test]
fn r7_a_message_may_end_in_a_brace() {
    let text = r#"{"type":"text","text":"It begins with {\"type\":\"assistant\",\"a\":}{"}"#;
    let log = [said(false, "m1", text), prompt("and }{ or } { and {", ""), task("m2", "t1", "Look }{", "1")];
    assert_eq!(told(&log).rows, ["request", "request", "main TaskCreate Look }{ ran as 1"]);
}

#[test]
fn r7_what_is_no_unicode_is_replaced() {
    let log = [task("m1", "t1", "Caf~", "1"), prompt("caf~", ""), task("m2", "t2", "Tea", "2")].concat();
    let damaged: Vec<u8> = log.bytes().map(|byte| if byte == b'~' { 0xe9 } else { byte }).collect();
    let invalid = told_bytes(&damaged);
    assert_eq!(invalid.list.last(), Some(&"2 pending Tea".into()), "{invalid:?}");
    let surrogate = told(&[task("m1", "t1", r"\ud99c report", "1"), task("m2", "t2", "Tea", "2")]);
    assert_eq!(surrogate.list, ["1 pending \u{fffd} report", "2 pending Tea"]);
    let separators = told(&[task("m1", "t1", "a\u{2028}b\u{2029}c\u{85}", "1")]);
    assert_eq!(separators.list.len(), 1, "{separators:?}");
}

/// A log with a bit of all, each call answered before the next.
fn bit_of_all() -> Vec<String> {
    let bash = call("m2", "b1", "Bash", "{}") + &result("b1", r#"{"stdout":"}{"}"#);
    let update = call("m3", "t3", "TaskUpdate", &status("1", "in_progress")) + &result("t3", r#"{"success":true}"#);
    let boundary = other(r#""type":"system","subtype":"compact_boundary""#);
    let list = call("m4", "l1", "TaskList", "{}") + &result("l1", r#"{"tasks":[]}"#);
    vec![task("m1", "t1", "Look", "1"), bash, prompt("go", ""), update, boundary, list, task("m5", "t5", "Next", "2")]
}

#[test]
fn r7_cut_anywhere_a_log_is_read_as_far_as_it_goes() {
    let log = bit_of_all().concat();
    let whole = told_bytes(log.as_bytes());
    for end in 0..log.len() {
        let cut = told_bytes(&log.as_bytes()[..end]);
        assert!(whole.events().starts_with(&cut.events()), "cut at {end}: {cut:?}");
    }
}

#[test]
fn r7_a_changed_byte_leaves_what_was_before() {
    let log = bit_of_all().concat().into_bytes();
    let mut start = 0;
    let mut before = told_bytes(b"");
    for at in 0..log.len() {
        if at > 0 && log[at - 1] == b'\n' {
            start = at;
            before = told_bytes(&log[..start]);
        }
        for mask in [0x01, 0x20, 0x80, log[at]] {
            let mut changed = log.clone();
            changed[at] ^= mask;
            let told = told_bytes(&changed);
            assert!(told.events().starts_with(&before.events()), "{at} with {mask}, line from {start}: {told:?}");
        }
    }
}

/// Recorded from the real client.
const REAL: &[u8] = include_bytes!("../../../../tests/fixtures/claude-code/todowrite.jsonl");

#[test]
fn r7_a_real_log_cut_at_any_byte_of_its_last_4_kib() {
    for cut in REAL.len() - 4096..REAL.len() {
        let log = &REAL[..cut];
        let whole = &REAL[..log.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1)];
        let (told, before) = (told_bytes(log), told_bytes(whole));
        // The last line counts when nothing but its end is missing.
        if matches!(log, [.., b'}']) && REAL[cut] == b'\n' {
            assert_eq!(told.skips(), [""; 0], "cut at {cut}");
            continue;
        }
        assert_eq!((told.events(), &told.list), (before.events(), &before.list), "cut at {cut}");
        assert_eq!(told.skips().len(), usize::from(cut > whole.len()), "cut at {cut}: {:?}", told.skips());
    }
}

#[test]
fn r7_a_real_log_without_one_of_its_lines_or_with_two_in_one() {
    let lines: Vec<&[u8]> = REAL.split_inclusive(|byte| *byte == b'\n').collect();
    let whole = told_bytes(REAL);
    for at in 0..lines.len() {
        let without = told_bytes(&[&lines[..at], &lines[at + 1..]].concat().concat());
        assert_eq!(without.skips(), [""; 0], "without line {}", at + 1);
        let glued = [&REAL[..lines[..=at].concat().len() - 1], &lines[at + 1..].concat()].concat();
        let glued = told_bytes(&glued);
        assert_eq!((glued.events(), &glued.list), (whole.events(), &whole.list), "line {} and the next", at + 1);
    }
}
