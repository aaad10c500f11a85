//! What users of agent products reported, as rows: the number of the report, what has to hold, and the check,
//! which runs in every format.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod play;

use play::provider::{Asked, request, response};
use play::script::{Fate, Step, Turn};
use play::{Play, Sent};
use serde_json::value::RawValue;
use session_todo::policy::Clock;
use session_todo::{Lane, Policy};
use session_todo_wire::{By, Carrier, Format, History, Wrong, lint, resume, safe_cut};

type Check = fn(Format);

const CASES: &[(u32, &str, Check)] = &[
    (27, "two writes in one response: both answered, the last one holds", two_writes),
    (39, "a reminder for one request is in its copy alone, and nobody's words in the store", not_in_the_store),
    (40, "a reminder never comes before a result of its message", after_the_results),
    (41, "what was sent is never edited", nothing_edited),
    (64, "after a compaction the list is there word for word, with ids and statuses", word_for_word),
    (65, "the snapshot is before the newest words of a person", before_the_newest_words),
    (76, "it is there after every compaction, built from the list", after_every_compaction),
    (84, "a result whose call was summed up is named, and not made", orphans_are_named),
    (114, "a session that was compacted is read back from its record", read_back),
    (183, "a call is not cut off from its result", no_cut_between),
    (184, "what we put in is text, never a call that the model did not make", no_call_made_up),
    (187, "where two messages of the user in a row are refused, the text is joined", roles_alternate),
    (197, "six calls in one response: one reminder", one_reminder),
    (210, "a call of the list where nobody offered it is answered, not dropped", not_offered),
    (217, "a person's words stay last", words_stay_last),
];

#[test]
fn cases() {
    for (number, what, check) in CASES {
        for format in Format::ALL {
            println!("{number}: {what} ({format})");
            check(format);
        }
    }
}

fn every_request(lane: Lane) -> Policy {
    Policy { clock: Clock::EveryRequest, lane, max_unanswered: None, ..Policy::DEFAULT }
}

fn turn(calls: &[usize]) -> Step {
    let calls = calls.iter().map(|call| (*call, Fate::Answered)).collect();
    Step::Turn(Turn { words: true, calls, is_cut: false, edit: None, compact: None })
}

fn played(format: Format, policy: &Policy, steps: &[Step]) -> Play {
    play::play(format, Carrier::User, policy, steps)
}

fn reminders(body: &str) -> usize {
    body.matches("An automatic note").count()
}

fn two_writes(format: Format) {
    let play = played(format, &Policy::DEFAULT, &[Step::Person, turn(&[0, 1])]);
    assert_eq!(lint(format, &request(format, "[]", &play.history.outgoing(None).to_string())).unwrap(), []);
    assert_eq!(play.session.list().items()[1].content, "Ship \"it\"");
}

fn not_in_the_store(format: Format) {
    let play =
        played(format, &every_request(Lane::LastUserMessage), &[Step::Person, turn(&[0]), turn(&[7]), turn(&[7])]);
    assert_eq!(play.sent.iter().map(|sent| reminders(&sent.body)).collect::<Vec<_>>(), [0, 1, 1]);
    assert!(play.history.messages().iter().all(|message| message.by != By::List && reminders(message.json.get()) == 0));
}

fn after_the_results(format: Format) {
    for lane in [Lane::History, Lane::ToolResult] {
        let play = played(format, &every_request(lane), &[Step::Person, turn(&[0, 7]), turn(&[])]);
        let last = &play.sent[1];
        assert_eq!((reminders(&last.body), lint(format, &last.body).unwrap()), (1, vec![]));
        let results = last.body.rfind("done").unwrap();
        assert!(last.body.find("An automatic note").unwrap() > results, "{}", last.body);
    }
}

fn nothing_edited(format: Format) {
    let play = played(format, &every_request(Lane::ToolResult), &[Step::Person, turn(&[0]), turn(&[7]), turn(&[7])]);
    for pair in play.sent.windows(2) {
        assert!(pair[1].messages.starts_with(&pair[0].messages));
    }
}

fn word_for_word(format: Format) {
    let play = played(format, &Policy::DEFAULT, &[Step::Person, turn(&[0]), Step::Compact(0), Step::Person, turn(&[])]);
    let body = &play.sent.last().unwrap().body;
    for item in
        [r#"{"id":"1","content":"Plan","status":"in_progress"}"#, r#"{"id":"2","content":"Build","status":"pending"}"#]
    {
        assert_eq!(body.matches(&play::escaped(item)).count(), 1, "{body}");
    }
}

fn before_the_newest_words(format: Format) {
    let play = played(format, &Policy::DEFAULT, &[Step::Person, turn(&[0]), Step::Person, Step::Compact(1)]);
    let by: Vec<By> = play.history.messages().iter().map(|message| message.by).collect();
    assert_eq!(by, [By::Harness, By::Snapshot, By::Person]);
}

fn after_every_compaction(format: Format) {
    let mut play = played(format, &Policy::DEFAULT, &[Step::Person, turn(&[0])]);
    for _ in 0..3 {
        for step in [Step::Compact(3), Step::Person, turn(&[7])] {
            play.step(&step);
        }
        let body = &play.sent.last().unwrap().body;
        assert_eq!(body.matches("A record of the task list").count(), 1, "{body}");
    }
}

fn orphans_are_named(format: Format) {
    let play = played(format, &Policy::DEFAULT, &[Step::Person, turn(&[7]), turn(&[7]), turn(&[])]);
    let messages = &play.sent.last().unwrap().messages;
    let at = messages.iter().position(|json| json.contains("call_1_0") && json.contains("done")).unwrap();
    let bad = request(format, "[]", &format!("[{}]", messages[at..].join(",")));
    assert!(lint(format, &bad).unwrap().iter().any(|fault| fault.what == Wrong::OrphanResult));
    for keep in 0..messages.len() {
        let mut play = played(format, &Policy::DEFAULT, &[Step::Person, turn(&[7]), turn(&[7])]);
        for step in [Step::Compact(keep), turn(&[7]), Step::Compact(keep), turn(&[])] {
            play.step(&step);
        }
        assert_eq!(lint(format, &play.sent.last().unwrap().body).unwrap(), []);
    }
}

fn read_back(format: Format) {
    let play =
        played(format, &Policy::DEFAULT, &[Step::Person, turn(&[0]), Step::Compact(0), Step::Person, turn(&[3])]);
    let told = resume(Policy::DEFAULT, &play.history, &play.record).unwrap();
    assert_eq!(told.session, play.session);
}

fn no_cut_between(format: Format) {
    let play = played(format, &Policy::DEFAULT, &[Step::Person, turn(&[7, 7]), turn(&[])]);
    let Sent { messages, body, .. } = play.sent.last().unwrap();
    let cuts: Vec<usize> = (0..=messages.len()).map(|at| safe_cut(format, body, at).unwrap()).collect();
    let last = messages.len();
    assert_eq!((cuts[0], cuts[1], cuts[last - 1], cuts[last]), (0, 1, 1, last), "{cuts:?}");
}

fn no_call_made_up(format: Format) {
    let policy = every_request(Lane::History);
    let play =
        played(format, &policy, &[Step::Person, turn(&[0]), turn(&[7]), Step::Compact(2), turn(&[7]), turn(&[])]);
    for message in play.history.messages().iter().filter(|message| message.by == By::List) {
        for mark in ["functionCall", "tool_use", "tool_calls", "function_call"] {
            assert!(!message.json.get().contains(mark));
        }
    }
}

fn roles_alternate(format: Format) {
    let mut history = History::new(format, Carrier::Joined);
    history.person("go");
    let mut session = session_todo::Session::new(every_request(Lane::History));
    let asked = Asked { id: "a".into(), name: "todo_write".into(), arguments: r#"{"todos":[{"content":"A"}]}"#.into() };
    for round in 0..3 {
        let effect = session.step(&session_todo::Event::RequestSent { by: session_todo::Agent::Main });
        let _ = history.request(effect.as_ref());
        let calls = history.respond(&response(format, "", std::slice::from_ref(&asked), false)).unwrap();
        let Some(session_todo::Effect::ReturnToolResult(result)) = session.step(&calls[0].event()) else { panic!() };
        history.answer(&[calls[0].listed(result)]);
        assert!(history.messages().iter().all(|message| message.by != By::List), "round {round}");
    }
    assert_eq!(history.messages().iter().map(|message| reminders(message.json.get())).sum::<usize>(), 2);
}

fn one_reminder(format: Format) {
    let play = played(format, &every_request(Lane::ToolResult), &[Step::Person, turn(&[0]), turn(&[7; 6]), turn(&[])]);
    assert_eq!(reminders(&play.sent[2].body), 2, "one with request 2, one with request 3");
}

fn not_offered(format: Format) {
    let mut history = History::new(format, Carrier::User);
    let asked = Asked { id: "a".into(), name: "todo_write".into(), arguments: "{}".into() };
    let calls = history.respond(&response(format, "", &[asked], false)).unwrap();
    assert!(history.answer(&[calls[0].error("There is no such tool here. Go on without it.")]));
    let body = request(format, "[]", &history.outgoing(None).to_string());
    assert_eq!(lint(format, &body).unwrap(), []);
    assert!(
        resume(Policy::DEFAULT, &history, &session_todo_wire::Record::default())
            .unwrap()
            .session
            .list()
            .items()
            .is_empty()
    );
}

fn words_stay_last(format: Format) {
    for lane in [Lane::History, Lane::ToolResult] {
        let play = played(format, &every_request(lane), &[Step::Person, turn(&[0]), Step::Person, turn(&[])]);
        let Sent { by, body, .. } = &play.sent[1];
        assert_eq!((by.last(), reminders(body)), (Some(&By::Person), 1));
    }
}

/// What was said long ago is not looked at: here it is not even of the format.
#[test]
fn old_messages_are_not_parsed() {
    for format in Format::ALL {
        for lane in [Lane::History, Lane::ToolResult, Lane::LastUserMessage] {
            let mut history = History::new(format, Carrier::User);
            let old = |by| session_todo_wire::Message::new(by, RawValue::from_string("17".to_owned()).unwrap());
            history.restore(vec![old(By::Person), old(By::Model), old(By::Tools), old(By::Model)]);
            history.person("go");
            let reminder = session_todo::Reminder { lane, text: "<r>".to_owned(), items: None };
            let outgoing = history.request(Some(&session_todo::Effect::AppendSystemReminder(reminder))).to_string();
            assert!(outgoing.starts_with("[17,17,17,17,") && outgoing.contains("<r>"), "{outgoing}");
        }
    }
}

#[test]
fn e2_answers_stand_behind_their_calls_whatever_was_pushed_meanwhile() {
    let body = r#"{"content":[{"type":"tool_use","id":"a","name":"bash","input":{}}]}"#;
    let mut history = History::new(Format::Anthropic, Carrier::User);
    history.person("go");
    let _ = history.request(None);
    let calls = history.respond(body).unwrap();
    history.person("wait");
    assert_eq!(history.safe_cut(3).unwrap(), 1, "the call waits, though a person spoke");
    assert!(history.answer(&[calls[0].ok("done")]));
    let body = format!(r#"{{"messages":{}}}"#, history.request(None));
    assert_eq!(lint(Format::Anthropic, &body).unwrap(), [], "{body}");
}

#[test]
fn a_compaction_keeps_instructions_that_are_messages() {
    let system = RawValue::from_string(r#"{"role":"system","content":"be good"}"#.to_owned()).unwrap();
    let mut history = History::new(Format::Chat, Carrier::User);
    history.push(session_todo_wire::Message::read(Format::Chat, system).unwrap());
    history.person("go");
    let _ = history.request(None);
    history.respond(r#"{"choices":[{"message":{"role":"assistant","content":"Done."}}]}"#).unwrap();
    let summary = session_todo_wire::Message::user(Format::Chat, By::Harness, "so far");
    history.compact(history.messages().len(), vec![summary], None);
    let kept: Vec<_> = history.messages().iter().map(|message| message.json.get()).collect();
    assert_eq!(kept, [r#"{"role":"system","content":"be good"}"#, r#"{"role":"user","content":"so far"}"#]);
}

#[test]
fn a_response_that_failed_is_none() {
    let mut history = History::new(Format::Responses, Carrier::User);
    history.person("go");
    let _ = history.request(None);
    let failed = r#"{"status":"failed","error":{"code":"server_error"},"output":[]}"#;
    assert!(history.respond(failed).is_err() && history.waits());
}
