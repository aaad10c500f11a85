//! Section 4 of the contract: what a model's arguments are read as. A call that is read wrongly goes into
//! `arguments/cases.rs`, as a row.

mod agree;
mod cases;
mod cuts;
mod forms;
mod harm;
mod law10;
mod python;
mod refusals;
mod resubmitted;

use proptest::collection::vec;
use proptest::prelude::any;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use session_todo::{Call, Caller, Change, Effect, Event, Outcome, Policy, Refusal, Session, ToolResult};
use session_todo_tests::arguments::{Choices, Seen, todo};

/// How many random lists: what `SESSION_TODO_CASES` says, or these.
fn cases(plain: u32) -> u32 {
    std::env::var("SESSION_TODO_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(plain)
}

/// Checks random choices.
fn random(plain: u32, check: impl Fn(&mut Choices<'_>) -> Result<(), String>) {
    let config = Config { cases: cases(plain), failure_persistence: None, ..Config::default() };
    let judge = |bytes: Vec<u8>| check(&mut Choices::new(&bytes)).map_err(TestCaseError::fail);
    if let Err(error) = TestRunner::new(config).run(&vec(any::<u8>(), 0..160), judge) {
        panic!("{error}");
    }
}

fn called<'a>(name: &'a str, arguments: &'a str) -> Event<'a> {
    Event::ToolCalled(Call { by: Caller::Main, name: name.into(), arguments: arguments.into(), outcome: Outcome::Ours })
}

fn result(session: &mut Session, name: &str, arguments: &str) -> ToolResult {
    match session.step(&called(name, arguments)) {
        Some(Effect::ReturnToolResult(result)) => result,
        other => panic!("{name}: {other:?}"),
    }
}

/// Status and content of each item.
fn todo_items(session: &Session) -> Vec<(&str, &str)> {
    session.list().items().iter().map(|item| (item.status.as_str(), item.content.as_str())).collect()
}

/// The refusal of a call, if it is refused.
fn refusal(session: &mut Session, name: &str, arguments: &str) -> Option<Refusal> {
    match session.apply(&called(name, arguments)) {
        Change::Call(called) => called.result.err(),
        other => panic!("{name}: {other:?}"),
    }
}

/// A session that these calls made, each of which was accepted.
fn after(calls: &[(&str, &str)]) -> Session {
    let mut session = Session::new(Policy::DEFAULT);
    for (name, arguments) in calls {
        let result = result(&mut session, name, arguments);
        assert!(!result.is_error, "{name} {arguments}: {}", result.text);
    }
    session
}

/// The list that a call makes of an empty one, or why it is refused.
fn read(name: &str, arguments: &str) -> Result<Vec<Seen>, String> {
    let mut session = Session::new(Policy::DEFAULT);
    let result = result(&mut session, name, arguments);
    if result.is_error { Err(result.text) } else { Ok(todo::seen(session.list())) }
}

/// Whether two texts of a call make the same list.
fn same(name: &str, arguments: &str, other: &str, how: &str) -> Result<(), String> {
    let (want, got) = (read(name, arguments), read(name, other));
    if want.as_ref().ok() == got.as_ref().ok() {
        Ok(())
    } else {
        Err(format!("{how}\n{arguments}\n{other}\nwant {want:?}\ngot  {got:?}"))
    }
}
