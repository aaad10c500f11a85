//! The reader's worst cases: `cargo bench -p session-todo-benches --bench arguments`.
//!
//! Twice the text must not take much more than twice the time, whatever it is made of. The session's bound on
//! the size of arguments is not in the way: `understand` has none.

#![allow(missing_docs)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use session_todo::understand;

const MIB: usize = 1024 * 1024;
const SIZES: [usize; 3] = [MIB, 2 * MIB, 4 * MIB];
/// What is promised: the growth from one size to the next, and the time of the first.
const GROWTH: f64 = 2.5;
const FIRST: Duration = Duration::from_millis(50);
/// What has many values takes much memory, which costs more where there is more of it. Four times would be
/// the square.
const WIDE_GROWTH: f64 = 3.5;
/// The best of so many runs is the one that nothing disturbed.
const RUNS: usize = 30;

struct Case {
    name: &'static str,
    before: &'static str,
    unit: &'static str,
    after: &'static str,
    growth: f64,
}

const fn case(name: &'static str, before: &'static str, unit: &'static str, after: &'static str) -> Case {
    Case { name, before, unit, after, growth: GROWTH }
}

const fn wide(name: &'static str, before: &'static str, unit: &'static str, after: &'static str) -> Case {
    Case { growth: WIDE_GROWTH, ..case(name, before, unit, after) }
}

const CASES: [Case; 24] = [
    case("brackets", "", "[", ""),
    case("brackets that close", "", "[]", ""),
    wide("a list of lists", "[", "[],", "]"),
    case("parentheses", "", "(", ""),
    case("backslashes", "", "\\", ""),
    case("backslashes in quotes", "{\"todos\":\"", "\\\\", "\"}"),
    case("nested quotes", "", "\"\\", ""),
    case("nested quotes in a list", "{\"todos\":\"", "\\\"", "\"}"),
    case("quotes of both kinds", "{\"todos\":\"", "'\\\"", "\"}"),
    case("boxes on one line", "{\"todos\":\"", "- [ ] ", "\"}"),
    case("boxes on lines", "{\"todos\":\"", "- [ ] a\\n", "\"}"),
    wide("boxes with written line breaks", "{\"todos\":\"", "- [ ] a\\\\n", "\"}"),
    case("bare boxes", "", "- [ ] ", ""),
    case("objects", "", "{\"a\":", ""),
    case("objects in a list", "{\"todos\":[", "{\"a\":", ""),
    wide("many keys", "{\"todos\":[{", "\"a\":1,", "}]}"),
    wide("many items", "{\"todos\":[", "{\"content\":\"a\"},", "]}"),
    wide("many texts", "{'todos':[", "'a',", "]}"),
    case("comments", "{todos:[", "/**/", "]}"),
    case("comments that never end", "{todos:[", "/*", ""),
    case("lines of comments", "{todos:[", "#\n", "]}"),
    case("a long number", "{\"todos\":[", "1", "]}"),
    case("escapes", "{'todos':['", "\\u00e9", "']}"),
    case("words", "", "no ", "{\"todos\":[]}"),
];

fn main() {
    println!("{:32} {:>9} {:>9} {:>9}  growth", "milliseconds at", "1 MiB", "2 MiB", "4 MiB");
    let broken = CASES.iter().filter(|case| !is_kept(case)).count();
    println!("{broken} of {} cases grow too fast, or take {} ms at 1 MiB", CASES.len(), FIRST.as_millis());
}

/// Measures a case, prints it, and tells whether it is as promised.
fn is_kept(case: &Case) -> bool {
    let times = best(case);
    let [one, two, four] = times.map(|time| time.as_secs_f64() * 1e3);
    let growth = [two / one, four / two];
    // Below a millisecond the clock says more than the reader.
    let grows = growth.iter().zip([two, four]).any(|(&growth, time)| growth > case.growth && time > 1.0);
    let kept = !grows && times.first() <= Some(&FIRST);
    let [first, second] = growth;
    let verdict = if kept { "" } else { "  TOO SLOW" };
    println!("{:32} {one:9.2} {two:9.2} {four:9.2}  {first:.1} {second:.1}{verdict}", case.name);
    kept
}

/// The sizes in turn, so that what disturbs one disturbs all.
fn best(case: &Case) -> [Duration; 3] {
    let texts = SIZES.map(|size| text(case, size));
    let mut best = [Duration::MAX; 3];
    for _ in 0..RUNS {
        for (best, text) in best.iter_mut().zip(&texts) {
            *best = time(text).min(*best);
        }
    }
    best
}

fn text(case: &Case, size: usize) -> String {
    format!("{}{}{}", case.before, case.unit.repeat(size / case.unit.len()), case.after)
}

fn time(text: &str) -> Duration {
    let start = Instant::now();
    let _ = black_box(understand("todo_write", black_box(text)));
    start.elapsed()
}
