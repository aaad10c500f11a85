//! The laws on whatever bytes decode to. Now and then it prints what the logs held, so that a run that
//! reaches nothing can be told from a clean one.

#![no_main]

use std::sync::atomic::{AtomicU64, Ordering};

use libfuzzer_sys::fuzz_target;
use session_todo::{Caller, Change, Done, Effect, Event, Outcome, Policy, Session, Tool};
use session_todo_tests::{events, laws, model};

fuzz_target!(|bytes: &[u8]| {
    let (policy, log) = events::from_bytes(bytes);
    count(&policy, &log);
    if let Err(broken) = laws::check_all(&policy, &log) {
        panic!("{broken}\n{policy:?}\n{log:#?}");
    }
});

struct Counter(&'static str, AtomicU64);

/// Runs from one print to the next.
const EVERY: u64 = 10_000;

static RUNS: AtomicU64 = AtomicU64::new(0);
static JUDGED: Counter = Counter::of("logs that the model judged");
static EVENTS: Counter = Counter::of("events");
static CALLS: Counter = Counter::of("list calls");
static WRITES: Counter = Counter::of("accepted writes");
static REFUSALS: Counter = Counter::of("refusals");
static REMINDERS: Counter = Counter::of("reminders");
static NOTES: Counter = Counter::of("notes alone");
static SNAPSHOTS: Counter = Counter::of("snapshots");
static ALL: [&Counter; 8] = [&JUDGED, &EVENTS, &CALLS, &WRITES, &REFUSALS, &REMINDERS, &NOTES, &SNAPSHOTS];

impl Counter {
    const fn of(what: &'static str) -> Self {
        Self(what, AtomicU64::new(0))
    }

    fn add(&self, when: bool) {
        self.1.fetch_add(u64::from(when), Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.1.load(Ordering::Relaxed)
    }
}

fn count(policy: &Policy, log: &[Event<'_>]) {
    JUDGED.add(!log.is_empty() && model::can_judge(log));
    let mut session = Session::new(policy.clone());
    for event in log {
        let change = session.apply(event);
        EVENTS.add(true);
        CALLS.add(is_list_call(event));
        WRITES.add(matches!(&change, Change::Call(called) if matches!(called.result, Ok(Done::Wrote(_)))));
        REFUSALS.add(matches!(&change, Change::Call(called) if called.result.is_err()));
        let effect = session.render(&change);
        if let Some(Effect::AppendSystemReminder(reminder)) = &effect {
            REMINDERS.add(reminder.items.is_some());
            NOTES.add(reminder.items.is_none());
        }
        SNAPSHOTS.add(matches!(effect, Some(Effect::InjectCompactSnapshot(_))));
    }
    if RUNS.fetch_add(1, Ordering::Relaxed) % EVERY == EVERY - 1 {
        print();
    }
}

/// A call that could take effect: a failed one says nothing of the reader.
fn is_list_call(event: &Event<'_>) -> bool {
    let Event::ToolCalled(call) = event else { return false };
    Tool::named(&call.name).is_some() && call.by != Caller::Record && call.outcome != Outcome::Failed
}

fn print() {
    let runs = RUNS.load(Ordering::Relaxed);
    eprintln!("{runs} runs; {} % of the list calls are accepted writes", WRITES.get() * 100 / CALLS.get().max(1));
    ALL.iter().for_each(|counter| eprintln!("  {} {}", counter.get(), counter.0));
}
