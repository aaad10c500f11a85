//! What leaves, over random sessions of all four formats.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod play;

use play::script::{self, Step};
use play::{Play, escaped, play};
use proptest::prelude::{Strategy, prop_assert, prop_assert_eq, proptest};
use proptest::test_runner::TestCaseResult;
use serde_json::Value;
use session_todo::policy::Clock;
use session_todo::{Effect, Lane, Policy};
use session_todo_wire::{By, Carrier, Format, lint};

const KEPT: &[Lane] = &[Lane::History, Lane::ToolResult];
const NOT_KEPT: &[Lane] = &[Lane::LastUserMessage];

fn played(lanes: &'static [Lane]) -> impl Strategy<Value = ((Format, Carrier), Policy, Vec<Step>)> {
    (script::wire(), script::policy(lanes), script::session())
}

proptest! {
    #![proptest_config(play::config())]

    /// E1: the messages of request k, each by its bytes, are the first of request k + 1; tools are equal.
    #[test]
    fn e1_what_was_sent_stays((wire, policy, steps) in played(KEPT)) {
        let play = play(wire.0, wire.1, &policy, &steps);
        for pair in play.sent.windows(2) {
            let (before, after) = (&pair[0], &pair[1]);
            if !after.is_compacted {
                prop_assert!(after.messages.starts_with(&before.messages), "{before:#?}\n{after:#?}");
            }
        }
        prop_assert_eq!(play.tools, wire.0.tools(&policy));
    }

    /// E2, E4, E6: results follow their calls, nothing is empty; and the text stands once where it is due.
    #[test]
    fn e6_nothing_is_at_fault((wire, policy, steps) in played(KEPT)) {
        let play = play(wire.0, wire.1, &policy, &steps);
        for (at, sent) in play.sent.iter().enumerate() {
            prop_assert_eq!(lint(wire.0, &sent.body).unwrap(), [], "{}", sent.body);
            results_follow(wire.0, &sent.body)?;
            if let Some(Effect::AppendSystemReminder(reminder)) = &sent.effect {
                let text = escaped(&reminder.text);
                let count = |stored: &[String]| stored.iter().map(|json| json.matches(&text).count()).sum::<usize>();
                let before = match at.checked_sub(1) {
                    Some(at) if !sent.is_compacted => count(&play.sent[at].stored),
                    Some(_) | None => 0,
                };
                prop_assert_eq!(count(&sent.stored), before + 1);
            }
        }
    }

    /// E3: of what leaves for the first time, or is what a compaction left, no two messages of the user's role stand in
    /// a row. (What left before is not edited, so a request that got no word may still have one behind it: E1.)
    #[test]
    fn e3_roles_alternate((_, policy, steps) in played(KEPT)) {
        let play = play(Format::Chat, Carrier::Joined, &policy, &steps);
        let mut left = 0;
        for sent in &play.sent {
            let from = if sent.is_compacted { 0 } else { left };
            let unsent: Vec<bool> = sent.stored[from..].iter().zip(&sent.by[from..])
                .map(|(json, by)| *by != By::Silent && serde_json::from_str::<Value>(json).unwrap()["role"] == "user")
                .collect();
            prop_assert!(!unsent.windows(2).any(|pair| pair == [true, true]), "{from}: {sent:#?}");
            left = sent.stored.len();
        }
    }

    /// Lane `LastUserMessage`: what is stored is that of a run with reminders off, and the text is in exactly
    /// the outgoing copies that the core says, on the last message that a person wrote.
    #[test]
    fn the_outgoing_lane_leaves_no_trace((wire, policy, steps) in played(NOT_KEPT)) {
        let never = Clock::Requests { after: u32::MAX.try_into().unwrap(), between: u32::MAX.try_into().unwrap() };
        let silent = play(wire.0, wire.1, &Policy { clock: never, ..policy.clone() }, &steps);
        let play = play(wire.0, wire.1, &policy, &steps);
        prop_assert_eq!(play.sent.len(), silent.sent.len());
        for (sent, silent) in play.sent.iter().zip(&silent.sent) {
            prop_assert_eq!(&sent.stored, &silent.stored);
            over_the_last_person(sent, silent)?;
            prop_assert_eq!(lint(wire.0, &sent.body).unwrap(), []);
        }
        let stored = |play: &Play| play.history.messages().iter().map(|m| m.json.get().to_owned()).collect::<Vec<_>>();
        prop_assert_eq!(stored(&play), stored(&silent));
    }
}

fn over_the_last_person(sent: &play::Sent, silent: &play::Sent) -> TestCaseResult {
    let text = match &sent.effect {
        Some(Effect::AppendSystemReminder(reminder)) if reminder.lane == Lane::LastUserMessage => &reminder.text,
        other => {
            prop_assert_eq!(other, &silent.effect);
            prop_assert_eq!(&sent.messages, &silent.messages);
            return Ok(());
        }
    };
    let here = sent.by.iter().rposition(|by| *by == By::Person);
    let stored: Vec<&String> =
        sent.stored.iter().zip(&sent.by).filter(|(_, by)| **by != By::Silent).map(|s| s.0).collect();
    for (at, message) in stored.iter().enumerate() {
        let is_last = here.is_some_and(|here| std::ptr::eq(*message, &raw const sent.stored[here]));
        let outgoing = &sent.messages[at];
        prop_assert_eq!(outgoing != *message, is_last);
        prop_assert_eq!(outgoing.contains(&escaped(text)), is_last);
    }
    let extra = sent.messages.len() - stored.len();
    prop_assert_eq!(extra, usize::from(here.is_none()));
    Ok(())
}

/// The same as the lint says of results, said in another way: between a call and its result stand only other
/// results and what its own response holds.
fn results_follow(format: Format, body: &str) -> TestCaseResult {
    let body: Value = serde_json::from_str(body).unwrap();
    let marks: Vec<(char, String)> =
        body[format.messages_key()].as_array().unwrap().iter().flat_map(|message| marks(format, message)).collect();
    for (at, (mark, id)) in marks.iter().enumerate() {
        if *mark == 'c' {
            let result = marks.iter().position(|other| other == &('r', id.clone())).expect("a result");
            let between: String = marks[at + 1..result].iter().map(|(mark, _)| *mark).collect();
            let rest = between.trim_start_matches(['c', 'm']);
            prop_assert!(rest.chars().all(|mark| mark == 'r'), "{between} in {body:#}");
        }
    }
    Ok(())
}

/// `c` a call, `r` a result, `m` anything else of the model's, `t` anything else.
fn marks(format: Format, message: &Value) -> Vec<(char, String)> {
    let id = |value: &Value| value.as_str().unwrap().to_owned();
    let parts = |key: &str| message[key].as_array().cloned().unwrap_or_default();
    let other = if matches!(message["role"].as_str(), Some("assistant" | "model") | None) { 'm' } else { 't' };
    let none = vec![(other, String::new())];
    let found: Vec<(char, String)> = match format {
        Format::Anthropic => parts("content")
            .iter()
            .map(|part| match part["type"].as_str() {
                Some("tool_use") => ('c', id(&part["id"])),
                Some("tool_result") => ('r', id(&part["tool_use_id"])),
                _ => (other, String::new()),
            })
            .collect(),
        Format::Chat if message["role"] == "tool" => vec![('r', id(&message["tool_call_id"]))],
        Format::Chat => parts("tool_calls").iter().map(|call| ('c', id(&call["id"]))).collect(),
        Format::Responses => match message["type"].as_str() {
            Some("function_call") => vec![('c', id(&message["call_id"]))],
            Some("function_call_output") => vec![('r', id(&message["call_id"]))],
            _ => vec![],
        },
        Format::Gemini => parts("parts")
            .iter()
            .map(|part| match part {
                part if part.get("functionCall").is_some() => ('c', id(&part["functionCall"]["id"])),
                part if part.get("functionResponse").is_some() => ('r', id(&part["functionResponse"]["id"])),
                _ => (other, String::new()),
            })
            .collect(),
    };
    if found.is_empty() { none } else { found }
}
