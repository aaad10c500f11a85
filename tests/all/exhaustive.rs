//! Every log up to a length over the letters of issue 2, against the model. `SESSION_TODO_LENGTH=6` and a
//! release build for the long run.

use std::num::NonZeroU32;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use session_todo::policy::{AtCompaction, Carry, Clock, Gate, Listing, Several};
use session_todo::{Event, Lane, Policy, Session};
use session_todo_tests::events;
use session_todo_tests::laws::compare;
use session_todo_tests::model::{self, Parsed, Rules};

/// Clocks 1/1, 1/3 and rounds 1, each without a cap and with cap 1, each with `keep` and `empty`. What else
/// a policy says goes along with these, so that each value of it is there.
fn policies() -> Vec<Policy> {
    let one = NonZeroU32::MIN;
    let requests = |between| Clock::Requests { after: one, between: NonZeroU32::new(between).unwrap() };
    let mut policies = Vec::new();
    for clock in [requests(1), requests(3), Clock::Rounds(one)] {
        for max_unanswered in [None, Some(one)] {
            for at_compaction in [AtCompaction::Keep, AtCompaction::Empty] {
                let plain = Policy { clock, max_unanswered, at_compaction, ..Policy::DEFAULT };
                policies.push(varied(plain, policies.len()));
            }
        }
    }
    policies
}

fn varied(plain: Policy, nth: usize) -> Policy {
    match nth % 5 {
        0 | 3 => plain,
        1 => Policy { lane: Lane::LastUserMessage, listing: Listing::All, carry: Carry::All, share: true, ..plain },
        2 => Policy { gate: Gate::None, several_in_progress: Several::Refuse, lane: Lane::ToolResult, ..plain },
        _ => Policy { share: true, resume_note: false, max_items: NonZeroU32::new(2), carry: Carry::Nothing, ..plain },
    }
}

struct Walk<'a> {
    letters: &'a [Event<'static>],
    parsed: &'a [Parsed],
    rules: Rules,
    length: usize,
    logs: u64,
}

impl<'a> Walk<'a> {
    /// Every log that goes on from this one.
    fn from(&mut self, session: &Session, log: &mut Vec<&'a Parsed>, path: &mut Vec<usize>) -> Result<(), String> {
        if path.len() == self.length {
            return Ok(());
        }
        for letter in 0..self.letters.len() {
            self.step(session, letter, log, path)?;
        }
        Ok(())
    }

    fn step(
        &mut self,
        session: &Session,
        letter: usize,
        log: &mut Vec<&'a Parsed>,
        path: &mut Vec<usize>,
    ) -> Result<(), String> {
        let mut next = session.clone();
        let effect = next.step(&self.letters[letter]);
        log.push(&self.parsed[letter]);
        path.push(letter);
        self.logs += 1;
        let told = model::run(&self.rules, log).pop().unwrap();
        compare::same(&next, effect.as_ref(), &told).map_err(|what| {
            let events: Vec<_> = path.iter().map(|&letter| &self.letters[letter]).collect();
            format!("law 8: {what}\nafter {events:#?}\nthe model: {told:?}\nthe core: {effect:?}\n{next:?}")
        })?;
        self.from(&next, log, path)?;
        log.pop();
        path.pop();
        Ok(())
    }
}

fn walk(policy: &Policy, first: usize, length: usize) -> Result<u64, String> {
    let letters = events::alphabet();
    let parsed: Vec<Parsed> = letters.iter().map(Parsed::of).collect();
    let mut walk = Walk { letters: &letters, parsed: &parsed, rules: compare::rules(policy), length, logs: 0 };
    walk.step(&Session::new(policy.clone()), first, &mut Vec::new(), &mut Vec::new())?;
    Ok(walk.logs)
}

#[test]
fn law8_every_short_log() {
    let length = std::env::var("SESSION_TODO_LENGTH").ok().and_then(|length| length.parse().ok()).unwrap_or(4);
    let letters = events::alphabet();
    assert!(model::can_judge(&letters), "the model reads every letter");
    let policies = policies();
    let (start, next, logs) = (Instant::now(), AtomicUsize::new(0), AtomicU64::new(0));
    let failures = Mutex::new(Vec::new());
    let work = || {
        loop {
            let job = next.fetch_add(1, Ordering::Relaxed);
            let Some(policy) = policies.get(job / letters.len()) else { break };
            match walk(policy, job % letters.len(), length) {
                Ok(count) => drop(logs.fetch_add(count, Ordering::Relaxed)),
                Err(failure) => failures.lock().unwrap().push(format!("{failure}\n{policy:?}")),
            }
        }
    };
    std::thread::scope(|scope| (0..2).for_each(|_| drop(scope.spawn(work))));
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{} broken, the first: {}", failures.len(), failures[0]);
    let logs = logs.into_inner();
    println!("{logs} logs up to length {length} under {} policies in {:.1?}", policies.len(), start.elapsed());
    let each: u64 = (1..=u32::try_from(length).unwrap()).map(|n| 14_u64.pow(n)).sum();
    assert_eq!(logs, each * policies.len() as u64);
}
