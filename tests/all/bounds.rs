//! P4: the state is bounded by the list's limits, never by the length of the log.

use session_todo::policy::AtCompaction;
use session_todo::{Agent, Call, Caller, Event, Outcome, Policy, Session, limits};

/// Bytes of a state in JSON: the items twice (the list, and its copy of L13), each byte escaped, and the
/// keys around them; the counters besides.
const BOUND: usize = 2 * (6 * limits::FIELDS + limits::ITEMS * (160 + limits::EXTRAS * 32)) + 1024;

/// A small generator of numbers: the log is long, and the same on every machine.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u32::try_from(self.0 >> 33).unwrap() % bound
    }
}

fn call(by: Caller, name: &'static str, arguments: String, outcome: Outcome<'static>) -> Event<'static> {
    Event::ToolCalled(Call { by, name: name.into(), arguments: arguments.into(), outcome })
}

/// Fresh ids, extras, deletions, edits, compactions.
fn event(numbers: &mut Numbers, fresh: u32) -> Event<'static> {
    let by = [Caller::Main, Caller::Main, Caller::User, Caller::Sub][numbers.below(4) as usize];
    let outcome = if numbers.below(2) == 0 { Outcome::Ours } else { Outcome::Ran { id: None } };
    let id = numbers.below(fresh + 1);
    match numbers.below(4000) {
        0..=999 => Event::RequestSent { by: Agent::Main },
        1000..=1099 => Event::Compacted,
        1100..=2399 => {
            let long = "words ".repeat(numbers.below(40) as usize);
            call(
                by,
                "TaskCreate",
                format!(r#"{{"subject":"Item {fresh}","description":"{long}","key{id}":[{id}]}}"#),
                outcome,
            )
        }
        2400..=2699 => call(by, "TaskUpdate", format!(r#"{{"taskid":"{id}","status":"deleted"}}"#), outcome),
        2700..=3199 => call(by, "TaskUpdate", format!(r#"{{"taskid":"{id}","extra{fresh}":"{fresh}"}}"#), outcome),
        3200..=3204 => {
            let items = (0..numbers.below(8)).map(|n| format!(r#"{{"id":"new-{fresh}-{n}","content":"New {n}"}}"#));
            call(by, "todo_write", format!(r#"{{"todos":[{}]}}"#, items.collect::<Vec<_>>().join(",")), outcome)
        }
        3205..=3209 => call(
            Caller::Record,
            "todo_write",
            format!(r#"{{"todos":[{{"id":"{id}","content":"Recorded"}}]}}"#),
            outcome,
        ),
        _ => call(by, "Bash", String::new(), outcome),
    }
}

fn state_after(events: u32) -> usize {
    let policy = Policy { share: true, at_compaction: AtCompaction::Empty, ..Policy::DEFAULT };
    let mut session = Session::new(policy);
    let mut numbers = Numbers(u64::from(events));
    let mut most = 0;
    for fresh in 0..events {
        let _ = session.apply(&event(&mut numbers, fresh));
        if fresh % 1000 == 999 {
            most = most.max(serde_json::to_string(session.state()).unwrap().len());
        }
    }
    most
}

#[test]
fn p4_the_state_does_not_grow_with_the_log() {
    // Checked builds look at the whole list after every event; the release build takes the long log.
    let long = if cfg!(debug_assertions) { 30_000 } else { 1_000_000 };
    for events in [10_000, long] {
        let bytes = state_after(events);
        println!("{bytes} bytes of state at most in {events} events (bound {BOUND})");
        assert!(bytes <= BOUND);
    }
}

/// The bound is met by the fullest state that there can be.
#[test]
fn p4_a_full_list_is_within_the_bound() {
    let mut session = Session::new(Policy::DEFAULT);
    let item = |id: usize| {
        let extras: Vec<String> = (0..limits::EXTRAS).map(|n| format!(r#""k{n}":"{}""#, "\\u0001".repeat(4))).collect();
        format!(r#"{{"id":"{id}","content":"{}",{}}}"#, "\\u0001<".repeat(8), extras.join(","))
    };
    let items: Vec<String> = (1..=limits::ITEMS).map(item).collect();
    let list = format!(r#"{{"todos":[{}]}}"#, items.join(","));
    let _ = session.step(&call(Caller::Main, "todo_write", list, Outcome::Ours));
    assert_eq!(session.list().items().len(), limits::ITEMS);
    let _ =
        session.step(&call(Caller::User, "TaskUpdate", r#"{"taskid":"1","status":"completed"}"#.into(), Outcome::Ours));
    let bytes = serde_json::to_string(session.state()).unwrap().len();
    assert!(bytes <= BOUND, "{bytes}");
}
