//! The reducer: `cargo bench -p session-todo-benches --bench core`.
//!
//! Absolute figures are the machine's; what is promised are ratios of one run, printed at the end of it.

#![allow(missing_docs, clippy::expect_used)]

use std::hint::black_box;
use std::num::NonZeroU32;
use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group, criterion_main};
use session_todo::policy::Clock;
use session_todo::{Event, Outcome, Policy, Session, checkpoint, understand};
use session_todo_benches::{REQUEST, Typed, call, median, ten_items};

#[inline(never)]
fn empty(event: &Event<'_>) {
    black_box(event);
}

/// A session with ten items, in which nothing is due.
fn quiet() -> Session {
    let clock = Clock::Requests { after: NonZeroU32::MAX, between: NonZeroU32::MAX };
    let mut session = Session::new(Policy { clock, ..Policy::DEFAULT });
    let list = ten_items();
    let _ = session.apply(&REQUEST);
    let _ = session.apply(&call("todo_write", &list, Outcome::Ours));
    session
}

fn events(criterion: &mut Criterion) {
    let foreign = call("Bash", "", Outcome::Ran { id: None });
    let mut session = quiet();
    criterion.bench_function("empty function", |bench| bench.iter(|| empty(black_box(&foreign))));
    criterion.bench_function("quiet request", |bench| bench.iter(|| session.step(black_box(&REQUEST))));
    criterion.bench_function("foreign call", |bench| bench.iter(|| session.step(black_box(&foreign))));
}

fn writes(criterion: &mut Criterion) {
    let list = ten_items();
    let other = list.replace("in_progress", "completed");
    let (first, second) = (call("todo_write", &list, Outcome::Ours), call("todo_write", &other, Outcome::Ours));
    let mut session = quiet();
    criterion.bench_function("typed parse", |bench| {
        bench.iter(|| serde_json::from_str::<Typed>(black_box(&list)).expect("the list is JSON"));
    });
    criterion.bench_function("read arguments", |bench| bench.iter(|| understand("todo_write", black_box(&list))));
    criterion.bench_function("apply two writes", |bench| {
        bench.iter(|| {
            let _ = black_box(session.apply(black_box(&first)));
            let _ = black_box(session.apply(black_box(&second)));
        });
    });
    criterion.bench_function("step two writes", |bench| {
        bench.iter(|| (session.step(black_box(&first)), session.step(black_box(&second))));
    });
}

fn states(criterion: &mut Criterion) {
    let session = quiet();
    let json = serde_json::to_string(session.state()).expect("a state is JSON");
    let bytes = checkpoint::to_bytes(session.state()).expect("a state is bytes");
    criterion.bench_function("state from JSON", |bench| {
        bench.iter(|| serde_json::from_str::<session_todo::State>(black_box(&json)).expect("our own JSON"));
    });
    criterion.bench_function("state from checkpoint", |bench| {
        bench.iter(|| checkpoint::from_bytes(black_box(&bytes)).expect("our own bytes"));
    });
}

/// A million events, one in twenty a task write, folded as a replay does.
fn replay(criterion: &mut Criterion) {
    let list = ten_items();
    let updates: Vec<String> = (1..=10).map(|id| format!(r#"{{"taskid":"{id}","status":"completed"}}"#)).collect();
    let undone: Vec<String> = (1..=10).map(|id| format!(r#"{{"taskid":"{id}","status":"pending"}}"#)).collect();
    let mut log = vec![call("todo_write", &list, Outcome::Ours)];
    let writes = updates.iter().chain(&undone).cycle();
    for arguments in writes.take(50_000) {
        log.push(call("TaskUpdate", arguments, Outcome::Ran { id: None }));
        for _ in 0..9 {
            log.push(REQUEST);
            log.push(call("Bash", "", Outcome::Ran { id: None }));
        }
        log.push(REQUEST);
    }
    let fold = || {
        let mut session = Session::new(Policy::DEFAULT);
        for event in &log {
            let _ = black_box(session.apply(black_box(event)));
        }
        session
    };
    let mut group = criterion.benchmark_group("replay");
    group.sample_size(10).measurement_time(Duration::from_secs(3));
    group.bench_function("a million events", |bench| bench.iter(fold));
    group.finish();
    ratios(&log, &list);
}

/// The promised ratios, medians of this run.
fn ratios(log: &[Event<'_>], list: &str) {
    let other = list.replace("in_progress", "completed");
    let (first, second) = (call("todo_write", list, Outcome::Ours), call("todo_write", &other, Outcome::Ours));
    let foreign = call("Bash", "", Outcome::Ran { id: None });
    let mut session = quiet();
    let nothing = median(2_000, || empty(black_box(&foreign)));
    let request = median(2_000, || drop(black_box(session.step(black_box(&REQUEST)))));
    let bash = median(2_000, || drop(black_box(session.step(black_box(&foreign)))));
    let typed = median(200, || drop(black_box(serde_json::from_str::<Typed>(black_box(list)))));
    let read = median(200, || drop(black_box(understand("todo_write", black_box(list)))));
    let mut turn = false;
    let mut next = || {
        turn = !turn;
        if turn { &second } else { &first }
    };
    let apply = median(200, || drop(black_box(session.apply(black_box(next())))));
    let step = median(200, || drop(black_box(session.step(black_box(next())))));
    let start = Instant::now();
    let mut folded = Session::new(Policy::DEFAULT);
    for event in log {
        let _ = black_box(folded.apply(black_box(event)));
    }
    let each = start.elapsed().as_secs_f64() * 1e9 / log.iter().map(|_| 1.0).sum::<f64>();
    println!("quiet request      {request:8.1} ns, {:5.1} times an empty function (at most 25)", request / nothing);
    println!("foreign call       {bash:8.1} ns, {:5.1} times an empty function (at most 25)", bash / nothing);
    println!("typed parse        {typed:8.1} ns, {} bytes", list.len());
    println!("read arguments     {read:8.1} ns, {:5.2} times a typed parse (at most 1.3)", read / typed);
    println!("apply a write      {apply:8.1} ns, {:5.2} times a typed parse (at most 2)", apply / typed);
    println!("step with its text {step:8.1} ns, {:5.2} times a typed parse", step / typed);
    println!("replayed event     {each:8.1} ns, where a typed parse takes {typed:.0} (under 25 where it takes 690)");
}

criterion_group!(benches, events, writes, states, replay);
criterion_main!(benches);
