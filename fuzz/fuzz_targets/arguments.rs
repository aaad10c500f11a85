//! The reader on calls of every dialect: half are any bytes, half are valid or have one thing wrong. Now and
//! then it prints how many became writes, so that a run that reaches nothing can be told from a clean one.

#![no_main]

use std::sync::atomic::{AtomicU64, Ordering};

use libfuzzer_sys::fuzz_target;
use session_todo::{Call, Caller, Change, Done, Effect, Event, Outcome, Policy, Refusal, Session, understand};
use session_todo_tests::arguments::{Choices, calls};

/// Bytes of a refusal (C14), and of any answer: the list and what it dropped, or one item with all its fields.
const REFUSAL: usize = 300;
const ANSWER: usize = 64 * 1024;
/// Runs from one print to the next.
const EVERY: u64 = 100_000;
/// Calls of one session.
const CALLS: usize = 4;

static RUNS: AtomicU64 = AtomicU64::new(0);
static COUNTED: AtomicU64 = AtomicU64::new(0);
static WRITES: AtomicU64 = AtomicU64::new(0);
static MENDED: AtomicU64 = AtomicU64::new(0);

fuzz_target!(|bytes: &[u8]| {
    if let Ok(text) = core::str::from_utf8(bytes) {
        let _ = understand("todo_write", text);
    }
    let mut session = Session::new(Policy::DEFAULT);
    for bytes in bytes.chunks(bytes.len().div_ceil(CALLS).max(32)) {
        let (name, arguments) = calls::any(&mut Choices::new(bytes));
        call(&mut session, &name, &arguments);
    }
    if RUNS.fetch_add(1, Ordering::Relaxed) % EVERY == EVERY - 1 {
        print();
    }
});

fn call(session: &mut Session, name: &str, arguments: &str) {
    let before = session.state().list().clone();
    let call = Call { by: Caller::Main, name: name.into(), arguments: arguments.into(), outcome: Outcome::Ours };
    let change = session.apply(&Event::ToolCalled(call));
    let Some(Effect::ReturnToolResult(result)) = session.render(&change) else { panic!("{name}: no result") };
    let Change::Call(called) = change else { panic!("{name}: no call") };
    assert_eq!(session.state().check(), Ok(()), "{name} {arguments}");
    assert!(result.text.len() <= ANSWER, "{name} {arguments}: {} bytes", result.text.len());
    if let Err(refusal) = &called.result {
        assert_eq!(session.state().list(), &before, "L8: {name} {arguments}");
        let words = refusal.to_string().len();
        assert!(words <= REFUSAL || matches!(refusal, Refusal::UnknownId(_)), "C14: {name} {arguments}: {refusal}");
    }
    count(called.result.is_ok_and(|done| matches!(done, Done::Wrote(_))), !called.mended.is_empty());
}

fn count(wrote: bool, mended: bool) {
    COUNTED.fetch_add(1, Ordering::Relaxed);
    WRITES.fetch_add(u64::from(wrote), Ordering::Relaxed);
    MENDED.fetch_add(u64::from(wrote && mended), Ordering::Relaxed);
}

fn print() {
    let [calls, writes, mended] = [&COUNTED, &WRITES, &MENDED].map(|counter| counter.load(Ordering::Relaxed));
    let share = |n: u64| n * 100 / calls.max(1);
    eprintln!("{calls} calls; {} % are accepted writes, {} % mended ones", share(writes), share(mended));
}
