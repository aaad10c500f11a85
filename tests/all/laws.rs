//! Each law on random policies and logs. `SESSION_TODO_CASES=10000` for the long run.

use proptest::prelude::Strategy;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use session_todo::Policy;
use session_todo_tests::events;
use session_todo_tests::laws::{self, Check, compare};
use session_todo_tests::model::{self, Carried, Expected, Parsed, Told};

type Log = Vec<session_todo::Event<'static>>;

fn cases() -> u32 {
    std::env::var("SESSION_TODO_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(256)
}

fn holds(law: Check, logs: impl Strategy<Value = Log>) {
    let config = Config { cases: cases(), failure_persistence: None, ..Config::default() };
    let check = |(policy, log): (Policy, Log)| law(&policy, &log).map_err(TestCaseError::fail);
    if let Err(error) = TestRunner::new(config).run(&(events::policy(), logs), check) {
        panic!("{error}");
    }
}

#[test]
fn law1_step_never_panics() {
    holds(laws::law1, events::log());
}

#[test]
fn law2_same_log_same_state_and_effects() {
    holds(laws::law2, events::log());
}

#[test]
fn law3_replay_is_refolding() {
    holds(laws::law3, events::log());
}

#[test]
fn law4_a_result_for_every_call_of_ours() {
    holds(laws::law4, events::log());
}

#[test]
fn law5_no_effect_is_no_change() {
    holds(laws::law5, events::log());
}

#[test]
fn law6_numbers_and_limits() {
    holds(laws::law6, events::log());
}

#[test]
fn law7_others_leave_the_clock_alone() {
    holds(laws::law7, events::log());
}

#[test]
fn law8_the_model_says_the_same() {
    holds(laws::law8, events::well_formed());
}

#[test]
fn law9_a_snapshot_is_an_argument() {
    holds(laws::law9, events::log());
}

#[test]
fn law11_a_stored_state_is_the_state() {
    holds(laws::law11, events::log());
}

/// The generators reach what the laws are about, as issue 2 asks.
#[test]
fn random_logs_hold_what_matters() {
    let cases = cases().max(1000);
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let logs = (events::policy(), events::well_formed());
    let mut seen = [0; SHARES.len()];
    for _ in 0..cases {
        let (policy, log) = logs.new_tree(&mut runner).unwrap().current();
        let told = told(&policy, &log);
        for (count, (_, _, holds)) in seen.iter_mut().zip(&SHARES) {
            *count += u32::from(holds(&told));
        }
    }
    for (count, (what, least, _)) in seen.iter().zip(&SHARES) {
        let percent = count * 100 / cases;
        println!("{percent:3} % of {cases} logs with {what} (at least {least} %)");
        assert!(percent >= *least, "only {percent} % of the random logs are with {what}");
    }
}

type Share = (&'static str, u32, fn(&[Told]) -> bool);

const SHARES: [Share; 6] = [
    ("a judgement by the model", 90, |told| !told.is_empty()),
    ("two reminders", 50, |told| {
        told.iter().filter(|told| carried(told).is_some_and(|c| c.reminder.is_some())).count() > 1
    }),
    ("a cap reached", 10, |told| told.iter().any(|told| told.capped)),
    ("an edit's note", 10, |told| told.iter().any(|told| carried(told).is_some_and(|c| c.edit.is_some()))),
    ("a snapshot", 10, |told| told.iter().any(|told| matches!(told.effect, Expected::Snapshot { .. }))),
    ("a resume's note", 10, |told| told.iter().any(|told| carried(told).is_some_and(|c| !c.unfinished.is_empty()))),
];

const fn carried(told: &Told) -> Option<&Carried> {
    match &told.effect {
        Expected::Request(carried) => Some(carried),
        _ => None,
    }
}

/// What the model says; nothing where it can't.
fn told(policy: &Policy, log: &Log) -> Vec<Told> {
    if !model::can_judge(log) {
        return Vec::new();
    }
    let parsed: Vec<Parsed> = log.iter().map(Parsed::of).collect();
    model::run(&compare::rules(policy), &parsed.iter().collect::<Vec<_>>())
}
