//! The scan of a session log: `cargo bench -p session-todo-benches --bench scan`.
//!
//! The log is the recorded fixture, copied until it is long, the ids of each copy made its own: as dense a log
//! as there is. `SESSION_TODO_LOG=FILE` takes another. What is promised are ratios of one run.

#![allow(missing_docs, clippy::expect_used)]

use std::fs::File;
use std::hint::black_box;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use memchr::memmem::Finder;
use session_todo::{Policy, Session};
use session_todo_transcript::{Found, Product, read};

const FIXTURE: &str = include_str!("../tests/fixtures/claude-code/tasks.jsonl");
/// Bytes of the log that is made.
const LENGTH: usize = 100 * 1024 * 1024;
/// The median of so many runs, taken in turn, so that what disturbs one disturbs all.
const RUNS: usize = 9;

/// Something that is done with a log, and what it counts.
type Work = fn(&Path) -> u64;

fn main() {
    let folder = tempfile::tempdir().expect("a folder for the log");
    let made = folder.path().join("log.jsonl");
    let given = std::env::var_os("SESSION_TODO_LOG");
    let log = given.as_ref().map_or(made.as_path(), Path::new);
    if given.is_none() {
        write_log(log);
    }
    let works: [(&str, Work); 4] = [
        ("lines that hold a word", lines_with_a_word),
        ("the reader", found),
        ("the reader and the fold", folded),
        ("each line as a JSON value", values),
    ];
    let mut times = [[Duration::ZERO; RUNS]; 4];
    for run in 0..RUNS {
        for ((_, work), times) in works.iter().zip(&mut times) {
            let start = Instant::now();
            black_box(work(log));
            times.get_mut(run).into_iter().for_each(|time| *time = start.elapsed());
        }
    }
    let medians = times.map(median);
    let [bare, ..] = medians;
    println!("{} MB", log.metadata().map_or(0, |log| log.len()) / 1_000_000);
    for ((name, _), time) in works.iter().zip(medians) {
        println!("{name:28} {:8.1} ms {:6.2} times the first", time * 1e3, time / bare);
    }
}

fn write_log(path: &Path) {
    let mut log = File::create(path).expect("the log");
    for copy in 0..LENGTH / FIXTURE.len() {
        let mut ids = FIXTURE.replace("\"toolu_", &format!("\"toolu_{copy}_"));
        ids = ids.replace("\"msg_", &format!("\"msg_{copy}_"));
        log.write_all(ids.as_bytes()).expect("a disk with room for the log");
    }
}

fn median(mut times: [Duration; RUNS]) -> f64 {
    times.sort_unstable();
    times.get(RUNS / 2).map_or(0.0, Duration::as_secs_f64)
}

fn lines(log: &Path, mut each: impl FnMut(&[u8])) {
    let mut log = BufReader::with_capacity(256 * 1024, File::open(log).expect("the log"));
    let mut line = Vec::new();
    while log.read_until(b'\n', &mut line).expect("the log") > 0 {
        each(&line);
        line.clear();
    }
}

fn lines_with_a_word(log: &Path) -> u64 {
    let (word, mut count) = (Finder::new("TaskUpdate"), 0);
    lines(log, |line| count += u64::from(word.find(line).is_some()));
    count
}

fn values(log: &Path) -> u64 {
    let mut count = 0;
    lines(log, |line| count += u64::from(serde_json::from_slice::<serde_json::Value>(line).is_ok()));
    count
}

fn found(log: &Path) -> u64 {
    let mut count = 0;
    let log = File::open(log).expect("the log");
    read(Product::ClaudeCode, log, &mut |_| count += 1).expect("the log");
    count
}

fn folded(log: &Path) -> u64 {
    let mut session = Session::new(Policy::DEFAULT);
    let log = File::open(log).expect("the log");
    let fold = &mut |found: Found<'_>| {
        if let Found::Event(event) = found {
            drop(session.apply(&event));
        }
    };
    read(Product::ClaudeCode, log, fold).expect("the log");
    session.state().requests()
}
