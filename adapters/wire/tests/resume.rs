//! P3: what is stored gives back what was lived through.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod play;

use play::Play;
use play::script::{self, Fate, Step, Turn};
use proptest::prelude::{TestCaseError, prop_assert, prop_assert_eq, proptest};
use proptest::test_runner::TestCaseResult;
use session_todo::{Agent, Effect, Event, Lane, Policy, Session, State};
use session_todo_wire::{By, Carrier, Format, History, Record, WireError, events, resume};

const ALL: &[Lane] = &[Lane::History, Lane::ToolResult, Lane::LastUserMessage];

/// What is stored, written and read back.
fn stored(play: &Play) -> (History, Record) {
    let history = serde_json::to_string(&play.history).unwrap();
    let record = serde_json::to_string(&play.record).unwrap();
    (serde_json::from_str(&history).unwrap(), serde_json::from_str(&record).unwrap())
}

fn state_is_told(play: &Play) -> TestCaseResult {
    let (history, record) = stored(play);
    let told =
        resume(play.session.policy().clone(), &history, &record).map_err(|e| TestCaseError::fail(e.to_string()))?;
    prop_assert_eq!(&told.pending, &vec![]);
    prop_assert_eq!(told.session.state(), play.session.state());
    // The next reminder, too, for as long as it takes.
    let (mut ours, mut theirs) = (told.session, play.session.clone());
    for _ in 0..8 {
        let request = Event::RequestSent { by: Agent::Main };
        prop_assert_eq!(ours.step(&request), theirs.step(&request));
    }
    Ok(())
}

proptest! {
    #![proptest_config(play::config())]

    /// P3, D6: after each step, history and record give back the state and the next reminders.
    #[test]
    fn p3_history_and_record_are_the_session(
        wire in script::wire(), policy in script::policy(ALL), steps in script::session(),
    ) {
        let mut play = Play::new(wire.0, wire.1, &policy);
        for step in &steps {
            play.step(step);
            state_is_told(&play)?;
        }
    }

    /// P3: a request that left and whose response never came is the last event, and its effect can be had
    /// again (P5).
    #[test]
    fn p5_a_request_without_a_response(
        wire in script::wire(), policy in script::policy(ALL), steps in script::session(),
    ) {
        let mut play = play::play(wire.0, wire.1, &policy, &steps);
        play.request();
        // What a person changes meanwhile rides on the next one.
        play.step(&Step::Edit(0));
        let (history, record) = stored(&play);
        let told = resume(policy, &history, &record).unwrap();
        prop_assert!(history.waits());
        prop_assert_eq!(told.session.state(), play.session.state());
        let sent = play.sent.last().unwrap();
        prop_assert_eq!(&told.effect, &sent.effect);
        let again: Vec<String> = history.outgoing(told.effect.as_ref()).iter().map(str::to_owned).collect();
        prop_assert_eq!(&again, &sent.messages);
    }

    /// P3, R6: after a compaction the history alone is incomplete, whatever it holds.
    #[test]
    fn p3_history_alone_is_incomplete(
        wire in script::wire(), policy in script::policy(ALL), before in script::session(), after in script::session(),
    ) {
        let mut play = play::play(wire.0, wire.1, &policy, &before);
        play.compact(0);
        for step in &after {
            play.step(step);
        }
        let (history, _) = stored(&play);
        let alone = resume(policy, &history, &Record::default());
        prop_assert!(matches!(alone, Err(WireError::HistoryIncomplete { .. })), "{alone:?}");
    }

    /// R5: a message or a result that is byte for byte our snapshot changes nothing.
    #[test]
    fn r5_no_text_is_a_snapshot(wire in script::wire(), policy in script::policy(ALL), steps in script::session()) {
        let mut play = play::play(wire.0, wire.1, &policy, &steps);
        let mut other = Session::new(Policy::DEFAULT);
        let _ = other.step(&write(r#"{"todos":[{"content":"Never","status":"pending"}]}"#));
        let Some(Effect::InjectCompactSnapshot(snapshot)) = other.step(&Event::Compacted) else { panic!() };
        play.history.person(&snapshot.text);
        let before = play.session.state().clone();
        play.request();
        let asked = play::provider::Asked { id: "c".into(), name: "bash".into(), arguments: "{}".into() };
        let calls = play.history.respond(&play::provider::response(wire.0, "", &[asked], false)).unwrap();
        let _ = play.session.step(&calls[0].event());
        play.history.answer(&[calls[0].ok(snapshot.text.clone())]);
        prop_assert_eq!(play.session.state().list(), before.list());
        state_is_told(&play)?;
    }
}

fn write(arguments: &str) -> Event<'_> {
    Event::ToolCalled(session_todo::Call {
        by: session_todo::Caller::Main,
        name: "todo_write".into(),
        arguments: arguments.into(),
        outcome: session_todo::Outcome::Ours,
    })
}

fn turn(calls: &[usize]) -> Step {
    let calls = calls.iter().map(|call| (*call, Fate::Answered)).collect();
    Step::Turn(Turn { words: true, calls, is_cut: false, edit: None, compact: None })
}

/// A2, A5: the new context holds the open items once, also the second time without a write between, and the
/// whole of two compactions is told.
#[test]
fn a2_two_compactions() {
    for format in Format::ALL {
        let mut play = Play::new(format, Carrier::User, &Policy::DEFAULT);
        for step in [
            Step::Person,
            turn(&[0]),
            turn(&[7]),
            Step::Compact(2),
            turn(&[7]),
            Step::Compact(6),
            Step::Person,
            turn(&[]),
        ] {
            play.step(&step);
        }
        let last = play.sent.last().unwrap();
        assert_eq!(last.body.matches("A record of the task list").count(), 1, "{format}: {}", last.body);
        assert_eq!(last.by.iter().rev().take(2).collect::<Vec<_>>(), [&By::Person, &By::Snapshot], "{format}");
        state_is_told(&play).unwrap();
        assert_eq!(play.session.list().items().len(), 2);
    }
}

/// R1: calls at the end that nothing is known of are pending, not applied.
#[test]
fn r1_the_last_calls_are_pending() {
    for format in Format::ALL {
        let mut play = Play::new(format, Carrier::User, &Policy::DEFAULT);
        play.step(&Step::Person);
        play.request();
        let before = play.session.state().clone();
        let asked = play::provider::Asked {
            id: "c".into(),
            name: "todo_write".into(),
            arguments: r#"{"todos":[{"content":"Never"}]}"#.into(),
        };
        let calls = play.history.respond(&play::provider::response(format, "", &[asked], false)).unwrap();
        let told = resume(Policy::DEFAULT, &play.history, &play.record).unwrap();
        assert_eq!((told.session.state(), told.pending), (&before, calls));
    }
}

/// R1, R3: a call without a result but with something after it is taken as run, and said; one seen twice
/// counts once; a result without a call says nothing.
#[test]
fn r1_r3_a_damaged_history() {
    let call = r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"TaskCreate","input":{"subject":"A","description":"b"}}]}"#;
    let orphan = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"z","content":"ok"}]}"#;
    let messages =
        [r#"{"role":"user","content":"go"}"#, call, orphan, call, r#"{"role":"assistant","content":"done"}"#];
    let raw = messages.map(|json| serde_json::value::RawValue::from_string(json.to_owned()).unwrap());
    let history = History::whole(Format::Anthropic, raw).unwrap();
    let told = events(&history, &Record::default()).unwrap();
    assert_eq!((told.unanswered, told.orphans), (1, 1));
    let told = resume(Policy::DEFAULT, &history, &Record::default()).unwrap();
    assert_eq!(told.session.list().items().len(), 1);
    assert_eq!(told.session.state().requests(), 3);
}

/// R6: a history in which calls name what nobody made is not one without a list.
#[test]
fn r6_a_history_that_begins_in_the_midst() {
    let update = r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"TaskUpdate","input":{"taskid":"4","status":"completed"}}]}"#;
    let result = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"ok"}]}"#;
    let raw = [update, result].map(|json| serde_json::value::RawValue::from_string(json.to_owned()).unwrap());
    let history = History::whole(Format::Anthropic, raw).unwrap();
    let told = resume(Policy::DEFAULT, &history, &Record::default());
    assert!(matches!(told, Err(WireError::HistoryIncomplete { compactions: 0 })), "{told:?}");
}

/// A record that speaks of more messages than there are is of another history.
#[test]
fn a_record_of_another_history() {
    let mut record = Record::default();
    let mut history = History::new(Format::Chat, Carrier::User);
    history.person("one");
    record.compacted(&State::default(), &history);
    let history = History::new(Format::Chat, Carrier::User);
    let told = resume(Policy::DEFAULT, &history, &record);
    assert!(matches!(told, Err(WireError::OtherHistory { kept: 1, messages: 0 })), "{told:?}");
}
