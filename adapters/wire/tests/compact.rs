//! What a compaction leaves, where something is still under way.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod play;

use play::Play;
use play::provider::{Asked, response};
use play::script::Step;
use serde_json::value::RawValue;
use session_todo::policy::{Clock, Gate};
use session_todo::{Event, Lane, Outcome, Policy};
use session_todo_wire::{By, Carrier, Format, History, Message, events, lint, resume};

const EVERY: Policy = Policy { clock: Clock::EveryRequest, max_unanswered: None, gate: Gate::None, ..Policy::DEFAULT };

fn asked(id: &str, name: &str, arguments: &str) -> Asked {
    Asked { id: id.into(), name: name.into(), arguments: arguments.into() }
}

/// R1, P3: calls that wait for their answers stay, wherever the cut is, and are pending after a restart; answered,
/// they are told once.
#[test]
fn p3_calls_that_wait_outlive_a_compaction() {
    for format in Format::ALL {
        for keep in [0, 1, 9] {
            let mut play = Play::new(format, Carrier::User, &Policy::DEFAULT);
            play.step(&Step::Person);
            play.request();
            let write = asked("c", "TaskCreate", r#"{"subject":"A","description":"b"}"#);
            let calls = play.history.respond(&response(format, "", &[write], false)).unwrap();
            play.compact(keep);
            let told = resume(Policy::DEFAULT, &play.history, &play.record).unwrap();
            assert_eq!((told.session.state(), &told.pending), (play.session.state(), &calls), "{format}, {keep}");

            let Some(session_todo::Effect::ReturnToolResult(result)) = play.session.step(&calls[0].event()) else {
                panic!("an answer")
            };
            play.history.answer(&[calls[0].listed(result)]);
            play.request();
            assert_eq!(lint(format, &play.sent.last().unwrap().body).unwrap(), [], "{format}, {keep}");
            let told = resume(Policy::DEFAULT, &play.history, &play.record).unwrap();
            assert_eq!((told.session.state(), told.pending.len()), (play.session.state(), 0), "{format}, {keep}");
            assert_eq!(told.session.list().items().len(), 1);
        }
    }
}

/// E3, A2: where roles alternate they do so after a compaction too, and the second time there is one snapshot.
#[test]
fn e3_roles_alternate_after_a_compaction() {
    for format in [Format::Anthropic, Format::Chat, Format::Gemini] {
        let mut play = Play::new(format, Carrier::Joined, &EVERY);
        play.step(&Step::Person);
        play.request();
        let write = asked("p", "todo_write", r#"{"todos":[{"content":"Left to do"}]}"#);
        let calls = play.history.respond(&response(format, "", &[write], false)).unwrap();
        let _ = play.session.step(&calls[0].event());
        play.history.answer(&[calls[0].ok("ok")]);
        for _ in 0..2 {
            play.request();
            play.history.respond(&response(format, "Done so far.", &[], false)).unwrap();
            play.step(&Step::Person);
            play.compact(1);
            play.request();
            let messages = &play.sent.last().unwrap().messages;
            assert_eq!(messages.len(), 1, "{format}: {messages:#?}");
            assert!(messages[0].contains("A summary of what was said."), "{messages:?}");
            assert!(messages[0].contains("Please go on"), "{messages:?}");
            assert_eq!(messages[0].matches("A record of the task list").count(), 1, "{format}: {messages:?}");
        }
    }
}

/// E3: the same where the person speaks only after the compaction: what it made has not left, and is joined too.
#[test]
fn e3_roles_alternate_where_words_come_later() {
    for format in Format::ALL {
        let mut play = Play::new(format, Carrier::Joined, &Policy::DEFAULT);
        play.step(&Step::Person);
        play.request();
        let write = asked("p", "todo_write", r#"{"todos":[{"content":"Left to do"}]}"#);
        let calls = play.history.respond(&response(format, "", &[write], false)).unwrap();
        let _ = play.session.step(&calls[0].event());
        play.history.answer(&[calls[0].ok("ok")]);
        play.request();
        play.history.respond(&response(format, "Done so far.", &[], false)).unwrap();
        for _ in 0..2 {
            play.compact(0);
            play.step(&Step::Person);
            play.request();
            let messages = &play.sent.last().unwrap().messages;
            assert_eq!(messages.len(), 1, "{format}: {messages:#?}");
            let places = ["A summary of what", "A record of the task list", "Please go on"].map(|text| {
                assert_eq!(messages[0].matches(text).count(), 1, "{format}: {text} in {messages:?}");
                messages[0].find(text)
            });
            assert!(places.is_sorted(), "{format}: {messages:?}");
            play.history.respond(&response(format, "Done.", &[], false)).unwrap();
        }
    }
}

/// A2: what was joined to a message goes at a compaction once it was told, though the message stays.
#[test]
fn a2_joined_texts_go() {
    for (format, lane) in [(Format::Anthropic, Lane::ToolResult), (Format::Chat, Lane::History)] {
        let mut play = Play::new(format, Carrier::Joined, &Policy { lane, ..EVERY });
        play.step(&Step::Person);
        play.request();
        let foreign = asked("f", "bash", "{}");
        let calls = play.history.respond(&response(format, "", &[foreign], false)).unwrap();
        play.history.answer(&[calls[0].ok("ok")]);
        let before: Vec<String> = stored(&play.history).split_off(1);
        play.request();
        assert!(stored(&play.history)[2].contains("has not changed"), "{format}");
        play.history.respond(&response(format, "Done.", &[], false)).unwrap();
        play.compact(3);
        assert_eq!(stored(&play.history)[1..3], before, "{format}");
    }
}

fn stored(history: &History) -> Vec<String> {
    history.messages().iter().map(|message| message.json.get().to_owned()).collect()
}

/// A2: a reminder in the developer's role that begins a history is no instruction: it goes.
#[test]
fn a2_a_reminder_at_the_start_goes() {
    for format in Format::ALL {
        let mut play = Play::new(format, Carrier::Developer, &EVERY);
        play.step(&Step::Person);
        play.request();
        play.history.respond(&response(format, "", &[], false)).unwrap();
        play.compact(0);
        assert!(play.history.messages().iter().all(|message| message.by == By::Harness), "{format}");
    }
}

/// Histories that were stored before messages had more than two fields.
#[test]
fn old_histories_are_read() {
    let message: Message = serde_json::from_str(r#"{"by":"person","json":{"role":"user","content":"go"}}"#).unwrap();
    assert_eq!((message.by, message.json.get()), (By::Person, r#"{"role":"user","content":"go"}"#));
    let stored = serde_json::to_string(&message).unwrap();
    assert_eq!(stored, r#"{"by":"person","json":{"role":"user","content":"go"}}"#);
}

/// R1: a call that the output limit cut stays one over a restart, and after it: it never ran.
#[test]
fn r1_a_cut_call_stays_cut() {
    for format in Format::ALL {
        let mut history = History::new(format, Carrier::User);
        history.person("go");
        let _ = history.request(None);
        let write = asked("c", "todo_write", r#"{"todos":[{"content":"A"}]}"#);
        let calls = history.respond(&response(format, "", &[write], true)).unwrap();
        let mut again: History = serde_json::from_str(&serde_json::to_string(&history).unwrap()).unwrap();
        let told = resume(Policy::DEFAULT, &again, &none()).unwrap();
        assert_eq!(told.pending, calls, "{format}");
        // Something follows without an answer: it is no write either.
        again.push(Message::user(format, By::Person, "go on"));
        let _ = again.request(None);
        again.respond(&response(format, "Yes.", &[], false)).unwrap();
        let told = resume(Policy::DEFAULT, &again, &none()).unwrap();
        assert_eq!(told.session.list().items().len(), 0, "{format}");
    }
}

fn none() -> session_todo_wire::Record {
    session_todo_wire::Record::default()
}

/// R3: a server that counts its call ids anew in each response, or gives none.
#[test]
fn r3_ids_that_come_again() {
    for (id, subjects) in [("call_0", ["A", "B", "C"]), ("", ["A", "B", "C"]), ("call_0", ["A", "A", "A"])] {
        let mut play = Play::new(Format::Chat, Carrier::User, &Policy::DEFAULT);
        play.step(&Step::Person);
        for subject in subjects {
            play.request();
            let create = asked(id, "TaskCreate", &format!(r#"{{"subject":"{subject}","description":"b"}}"#));
            let foreign = asked(id, "bash", &format!(r#"{{"command":"{subject}"}}"#));
            let calls = play.history.respond(&response(Format::Chat, "", &[create, foreign], false)).unwrap();
            let _ = (play.session.step(&calls[0].event()), play.session.step(&calls[1].event()));
            play.history.answer(&[calls[0].ok("made"), calls[1].ok("ran")]);
            let told = resume(Policy::DEFAULT, &play.history, &play.record).unwrap();
            assert_eq!(told.pending, [], "{id:?}");
            assert_eq!(told.session.state(), play.session.state(), "{id:?}");
        }
        assert!(matches!(play.session.step(&Event::Compacted), Some(session_todo::Effect::InjectCompactSnapshot(_))));
    }
}

/// P3: two calls of one response with one id are two, as they were when they were lived through.
#[test]
fn p3_one_id_for_two_calls() {
    for format in Format::ALL {
        let mut play = Play::new(format, Carrier::User, &Policy::DEFAULT);
        play.step(&Step::Person);
        play.request();
        let create =
            |subject| asked("call_0", "TaskCreate", &format!(r#"{{"subject":"{subject}","description":"b"}}"#));
        let calls = play.history.respond(&response(format, "", &[create("A"), create("B")], false)).unwrap();
        for call in &calls {
            let _ = play.session.step(&call.event());
        }
        play.history.answer(&[calls[0].ok("made"), calls[1].ok("made")]);
        let told = resume(Policy::DEFAULT, &play.history, &play.record).unwrap();
        assert_eq!(told.session.state(), play.session.state(), "{format}");
        assert_eq!(told.session.list().items().len(), 2, "{format}");
    }
}

/// P3, E4: a hosted tool's failure beside a call of the loop's: it ran, no answer is misplaced, and no cut is between.
#[test]
fn p3_a_hosted_tool_that_failed() {
    let items = [
        r#"{"type":"function_call","call_id":"b","name":"bash","arguments":"{}"}"#,
        r#"{"type":"shell_call","call_id":"s","action":{}}"#,
        r#"{"type":"shell_call_output","call_id":"s","output":"Error: no"}"#,
        r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hi"}]}"#,
    ];
    let mut play = Play::new(Format::Responses, Carrier::User, &Policy::DEFAULT);
    play.step(&Step::Person);
    play.request();
    let calls = play.history.respond(&format!(r#"{{"output":[{}]}}"#, items.join(","))).unwrap();
    for call in &calls {
        let _ = play.session.step(&call.event());
    }
    play.history.answer(&[calls[0].ok("ran")]);
    play.request();
    assert_eq!(lint(Format::Responses, &play.sent[1].body).unwrap(), []);
    let ran = |event: &&Event<'_>| matches!(event, Event::ToolCalled(call) if call.outcome != Outcome::Failed);
    let told = events(&play.history, &play.record).unwrap();
    assert_eq!(told.events.iter().filter(ran).count(), 2, "{told:?}");
    assert_eq!((2..6).map(|at| play.history.safe_cut(at).unwrap()).collect::<Vec<_>>(), [1; 4]);
}

/// A result, and a person's words behind it in the same message, where a format has that.
fn result_and_words(format: Format) -> Option<Message> {
    let json = match format {
        Format::Anthropic => {
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"f"},{"type":"text","text":"stop"}]}"#
        }
        Format::Gemini => {
            r#"{"role":"user","parts":[{"functionResponse":{"id":"f","name":"bash","response":{}}},{"text":"stop"}]}"#
        }
        Format::Chat | Format::Responses => return None,
    };
    Some(Message::new(By::Tools, RawValue::from_string(json.to_owned()).unwrap()))
}

/// L13: what the model was not told yet is not lost with the request that was to tell it, wherever it stands in it: by
/// words, by results, or between the two in one message; also over a restart, and the second time.
#[test]
fn l13_a_note_outlives_a_request_that_was_too_large() {
    let carriers = [Carrier::User, Carrier::Developer, Carrier::Joined];
    for (format, carrier) in Format::ALL.into_iter().flat_map(|format| carriers.map(|carrier| (format, carrier))) {
        for kind in ["words", "results", "both"] {
            let mut play = Play::new(format, carrier, &Policy::DEFAULT);
            play.step(&Step::Person);
            if kind != "words" {
                play.request();
                let calls = play.history.respond(&response(format, "", &[asked("f", "bash", "{}")], false)).unwrap();
                let _ = play.session.step(&calls[0].event());
                match result_and_words(format).filter(|_| kind == "both") {
                    Some(both) => play.history.push(both),
                    None => drop(play.history.answer(&[calls[0].ok("ok")])),
                }
            }
            play.step(&Step::Edit(2));
            play.request();
            let note = "the user changed the list";
            for _ in 0..2 {
                play.history = serde_json::from_str(&serde_json::to_string(&play.history).unwrap()).unwrap();
                let body = play.history.request(None).to_string();
                assert_eq!(body.matches(note).count(), 1, "{format}, {carrier:?}, {kind}: {body}");
                play.compact(0);
            }
            // Once it was told, it goes.
            let _ = play.history.request(None);
            play.history.respond(&response(format, "Yes.", &[], false)).unwrap();
            play.compact(9);
            let left = stored(&play.history).concat();
            assert_eq!(left.matches(note).count(), 0, "{format}, {carrier:?}, {kind}: {left}");
        }
    }
}

/// E3: a summary is joined to a person's words only where it is words of the user's role; and the next one is in
/// its place.
#[test]
fn e3_whose_words_are_joined() {
    let format = Format::Chat;
    let raw = |json: &str| RawValue::from_string(json.to_owned()).unwrap();
    let mut history = History::new(format, Carrier::Joined);
    history.person("Delete nothing!");
    let model = Message::new(By::Model, raw(r#"{"role":"assistant","content":"I deleted all."}"#));
    history.clone().compact(0, vec![model.clone()], None);
    let mut other = history.clone();
    other.compact(0, vec![model], None);
    assert_eq!(stored(&other)[1], r#"{"role":"user","content":"Delete nothing!"}"#);
    for number in 1..=3 {
        history.compact(9, vec![Message::user(format, By::Harness, &format!("Summary {number}"))], None);
    }
    assert_eq!(stored(&history), [r#"{"role":"user","content":"Summary 3\n\nDelete nothing!"}"#]);
}

/// Instructions are what was there before the first compaction: a summary in their role is none.
#[test]
fn a_summary_in_the_role_of_instructions_goes() {
    let system = |text: &str| {
        let json = format!(r#"{{"role":"system","content":"{text}"}}"#);
        Message::new(By::Harness, RawValue::from_string(json).unwrap())
    };
    let mut history = History::new(Format::Chat, Carrier::User);
    history.push(system("Work."));
    for number in 1..=3 {
        let _ = history.request(None);
        history.respond(&response(Format::Chat, "Yes.", &[], false)).unwrap();
        history.compact(history.messages().len(), vec![system(&format!("Summary {number}"))], None);
    }
    let left = stored(&history);
    assert!(left.len() == 2 && left[0].contains("Work.") && left[1].contains("Summary 3"), "{left:?}");
}

/// A paused turn goes on in the same request, over a compaction and a restart.
#[test]
fn a_paused_turn_is_one_request() {
    let body = r#"{"content":[{"type":"server_tool_use","id":"s","name":"web_search","input":{}}],"stop_reason":"pause_turn"}"#;
    for is_compacted in [false, true] {
        let mut play = Play::new(Format::Anthropic, Carrier::User, &EVERY);
        play.step(&Step::Person);
        play.request();
        let calls = play.history.respond(body).unwrap();
        if is_compacted {
            play.compact(0);
            assert!(play.history.is_paused());
        }
        let _ = play.session.step(&calls[0].event());
        let _ = play.history.request(None);
        play.history.respond(&response(Format::Anthropic, "Done.", &[], false)).unwrap();
        play.request();
        let told = resume(EVERY, &play.history, &play.record).unwrap();
        assert_eq!(told.session.state(), play.session.state(), "{is_compacted}");
    }
}

/// E6: blank words of a person or of the harness are no message.
#[test]
fn e6_blank_words_are_no_message() {
    let mut history = History::new(Format::Anthropic, Carrier::User);
    history.person(" \n");
    let blank = || Message::user(Format::Anthropic, By::Harness, "");
    history.push(blank());
    history.compact(0, vec![blank()], None);
    assert!(history.messages().is_empty());
    let raw = RawValue::from_string(r#"{"role":"user","content":"x"}"#.to_owned()).unwrap();
    history.push(Message::new(By::Person, raw));
    assert_eq!(history.messages().len(), 1);
}
