//! Session logs of every product, damaged in every way. A log is whatever the bytes show themselves to be. Now
//! and then it prints what was read, so that a run that reaches nothing can be told from a clean one.
//!
//! Begin with real logs: `cargo +nightly fuzz run -s none transcript fuzz/corpus/transcript tests/fixtures/...`.

#![no_main]

use std::io::{self, Read};
use std::sync::atomic::{AtomicU64, Ordering};

use libfuzzer_sys::fuzz_target;
use session_todo::{Change, Done, Event, Policy, Session};
use session_todo_transcript::{Found, Product, Verdict, read};

/// Runs from one print to the next.
const EVERY: u64 = 100_000;

static RUNS: AtomicU64 = AtomicU64::new(0);
static READ: AtomicU64 = AtomicU64::new(0);
static CALLS: AtomicU64 = AtomicU64::new(0);
static WRITES: AtomicU64 = AtomicU64::new(0);
static SKIPPED: AtomicU64 = AtomicU64::new(0);

fuzz_target!(|bytes: &[u8]| {
    if let Some(told) = Product::of(bytes).and_then(|product| told(product, bytes, bytes.len())) {
        READ.fetch_add(1, Ordering::Relaxed);
        // However the log comes in, the same is found.
        let product = Product::of(bytes);
        assert_eq!(product.and_then(|product| self::told(product, Slowly(bytes), bytes.len())), Some(told));
    }
    if RUNS.fetch_add(1, Ordering::Relaxed) % EVERY == EVERY - 1 {
        print();
    }
});

/// What is found, folded as it comes; none of a product that is not read.
fn told(product: Product, log: impl Read + Send, length: usize) -> Option<Vec<String>> {
    let mut session = Session::new(Policy::DEFAULT);
    let mut told = Vec::new();
    let done = read(product, log, &mut |found| {
        match &found {
            Found::Event(event) => fold(&mut session, event),
            Found::Recorded(recorded) => {
                if let Verdict::Differ { correction, .. } = recorded.against(session.state().list()) {
                    assert!(serde_json::from_str::<serde_json::Value>(&correction).is_ok(), "{correction}");
                }
            }
            Found::Skipped(skipped) => {
                SKIPPED.fetch_add(1, Ordering::Relaxed);
                assert!(skipped.line > 0 && skipped.offset <= length as u64, "{skipped:?} of {length} bytes");
            }
            _ => {}
        }
        told.push(format!("{found:?}"));
    });
    done.is_ok().then_some(told)
}

fn fold(session: &mut Session, event: &Event<'_>) {
    let change = session.apply(event);
    let _ = session.render(&change);
    assert_eq!(session.state().check(), Ok(()), "{event:?}");
    if let Change::Call(called) = change {
        CALLS.fetch_add(1, Ordering::Relaxed);
        WRITES.fetch_add(u64::from(matches!(called.result, Ok(Done::Wrote(_)))), Ordering::Relaxed);
    }
}

/// A log that comes in seven bytes at a time.
struct Slowly<'a>(&'a [u8]);

impl Read for Slowly<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let length = into.len().min(7);
        self.0.read(into.get_mut(..length).unwrap_or_default())
    }
}

fn print() {
    let [runs, read, calls, writes, skipped] =
        [&RUNS, &READ, &CALLS, &WRITES, &SKIPPED].map(|counter| counter.load(Ordering::Relaxed));
    eprintln!("{runs} runs; {read} logs read, {calls} list calls, {writes} accepted writes, {skipped} parts skipped");
}
