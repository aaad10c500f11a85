//! The laws of `core/src/lib.rs`, once. Proptest, the exhaustive test and the fuzz target call them.
//! Each says in words what is broken.

// There is one error: what is broken, and where.
#![allow(clippy::missing_errors_doc)]

pub mod compare;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use session_todo::policy::{AtCompaction, Carry, Clock, Gate};
use session_todo::{
    Agent, Call, Caller, Change, Effect, Event, Item, Lane, Outcome, Policy, Session, State, Tool, checkpoint, limits,
};

use crate::model::{self, Parsed};

type Law = Result<(), String>;
pub type Check = fn(&Policy, &[Event<'_>]) -> Law;

/// Laws 1 to 9 and 11. Law 10 is about documents, law 12 about requests.
pub const LAWS: [Check; 10] = [law1, law2, law3, law4, law5, law6, law7, law8, law9, law11];

/// Every law.
pub fn check_all(policy: &Policy, log: &[Event<'_>]) -> Law {
    LAWS.iter().try_for_each(|law| law(policy, log))
}

/// `step` never panics and never fails, on any bytes.
pub fn law1(policy: &Policy, log: &[Event<'_>]) -> Law {
    let fold = || {
        let mut session = Session::new(policy.clone());
        for event in log {
            let _ = session.step(event);
            let _ = session.context_for_summary();
        }
    };
    catch_unwind(AssertUnwindSafe(fold)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
        format!("law 1: step panicked: {}", text.unwrap_or("without words"))
    })
}

/// The same policy and events give the same state and effects, also where the log was stored between.
pub fn law2(policy: &Policy, log: &[Event<'_>]) -> Law {
    let stored: Vec<String> = log.iter().map(text).collect();
    let read = stored.iter().map(|line| serde_json::from_str(line)).collect::<Result<Vec<Event<'_>>, _>>();
    let read = read.map_err(|error| format!("law 2: a stored log can't be read: {error}"))?;
    if read != log {
        return Err("law 2: a stored log reads as other events".into());
    }
    let (mut one, mut other) = (Session::new(policy.clone()), Session::new(policy.clone()));
    for (at, (event, again)) in log.iter().zip(&read).enumerate() {
        if one.step(event) != other.step(again) {
            return Err(format!("law 2: event {at} has another effect in the second fold"));
        }
    }
    same("law 2: the second fold", &json(&one), &json(&other))
}

/// A log folded at once, in two halves, or from a stored state gives the same state and effects.
pub fn law3(policy: &Policy, log: &[Event<'_>]) -> Law {
    let mut session = Session::new(policy.clone());
    let mut states = vec![session.state().clone()];
    let mut effects = vec![None];
    for event in log {
        effects.push(session.step(event));
        states.push(session.state().clone());
    }
    for at in (0..=log.len()).step_by(log.len() / 4 + 1) {
        let (first, rest) = log.split_at(at);
        let (half, effect) = Session::replay(policy.clone(), None, first.iter().cloned());
        if *half.state() != states[at] || effect != effects[at] {
            return Err(format!("law 3: a replay of {at} events is not {at} steps, or lost the last effect (P5)"));
        }
        let stored: State = serde_json::from_str(&json(&half)).map_err(|error| format!("law 3: {error}"))?;
        let (end, effect) = Session::replay(policy.clone(), Some(stored.clone()), rest.iter().cloned());
        let last = if rest.is_empty() { None } else { effects[log.len()].clone() };
        if end != session || effect != last {
            return Err(format!("law 3: a log that is folded from the state at {at} ends otherwise"));
        }
        let mut second = Session::resume(policy.clone(), stored);
        if rest.iter().map(|event| second.step(event)).ne(effects[at + 1..].iter().cloned()) {
            return Err(format!("law 3: from the stored state at {at} other effects come"));
        }
    }
    Ok(())
}

/// A tool result for every `Ours` call of a list tool by main, sub or user; each other effect for its event
/// alone.
pub fn law4(policy: &Policy, log: &[Event<'_>]) -> Law {
    let mut session = Session::new(policy.clone());
    for (at, event) in log.iter().enumerate() {
        let effect = session.step(event);
        let fits = match (event, &effect) {
            (Event::ToolCalled(call), effect) => {
                is_answered(call) == matches!(effect, Some(Effect::ReturnToolResult(_)))
            }
            (_, Some(Effect::ReturnToolResult(_))) => false,
            (Event::RequestSent { by: Agent::Main }, _) => !matches!(effect, Some(Effect::InjectCompactSnapshot(_))),
            (Event::Compacted, _) => !matches!(effect, Some(Effect::AppendSystemReminder(_))),
            (Event::RequestSent { by: Agent::Sub } | Event::Resumed, _) => effect.is_none(),
        };
        let is_stray = matches!(event, Event::ToolCalled(call) if !is_answered(call)) && effect.is_some();
        if !fits || is_stray {
            return Err(format!("law 4: event {at} ({event:?}) has the effect {effect:?}"));
        }
    }
    Ok(())
}

fn is_answered(call: &Call<'_>) -> bool {
    call.outcome == Outcome::Ours && call.by != Caller::Record && Tool::named(&call.name).is_some()
}

/// A refused or failed call changes nothing but what the clock counts for a call of any tool.
pub fn law5(policy: &Policy, log: &[Event<'_>]) -> Law {
    let mut session = Session::new(policy.clone());
    for (at, event) in log.iter().enumerate() {
        let before = session.clone();
        let change = session.apply(event);
        let Event::ToolCalled(call) = event else { continue };
        let refused = matches!(&change, Change::Call(called) if called.result.is_err());
        let failed = call.outcome == Outcome::Failed && call.by != Caller::Record;
        if refused || failed {
            let same = after_foreign(before, call.by);
            if same != session {
                return Err(format!("law 5: event {at} ({event:?}) took no effect, and changed {}", json(&session)));
            }
        }
    }
    Ok(())
}

fn after_foreign(session: Session, by: Caller) -> Session {
    after(session, by, "Bash", Outcome::Ran { id: None })
}

fn after(mut session: Session, by: Caller, name: &str, outcome: Outcome<'_>) -> Session {
    let call = Call { by, name: name.into(), arguments: "".into(), outcome };
    let _ = session.apply(&Event::ToolCalled(call));
    session
}

/// Numbers that we assign never repeat; limits hold; `State::check` holds after every event.
pub fn law6(policy: &Policy, log: &[Event<'_>]) -> Law {
    let mut session = Session::new(policy.clone());
    let (mut highest, mut assigned) = (0, BTreeSet::new());
    for (at, event) in log.iter().enumerate() {
        let before = ids(&session);
        let _ = session.apply(event);
        let broken = |what: String| format!("law 6: after event {at} ({event:?}): {what}");
        session.state().check().map_err(|error| broken(error.to_string()))?;
        within_limits(session.state().list().items()).map_err(&broken)?;
        let after = ids(&session);
        let is_assigned = |id: &&String| id.parse::<u64>().is_ok() && !before.contains(*id) && !may_name(event, id);
        for id in after.iter().filter(is_assigned) {
            is_fresh(id, highest).map_err(&broken)?;
            if !assigned.insert(id.clone()) {
                return Err(broken(format!("the number {id} was assigned before (L4)")));
            }
        }
        highest = after.iter().filter_map(|id| number(id)).fold(highest, u64::max);
    }
    Ok(())
}

/// A decimal id below 2^32. One that is higher is the model's own business (L4).
fn number(id: &str) -> Option<u64> {
    id.parse().ok().filter(|&number| number < 1 << 32)
}

fn ids(session: &Session) -> BTreeSet<String> {
    session.state().list().items().iter().map(|item| item.id.clone()).collect()
}

/// Whether the event may hold the id, in any form that a tolerant reader could find it in.
fn may_name(event: &Event<'_>, id: &str) -> bool {
    let Event::ToolCalled(call) = event else { return false };
    let given = if let Outcome::Ran { id: Some(given) } = &call.outcome { &**given } else { "" };
    let text = [given, &call.arguments].join(" ");
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    !text.is_ascii() || text.contains('\\') || digits.contains(id) || text.contains(id)
}

fn is_fresh(id: &str, highest: u64) -> Law {
    if id.parse::<u64>().is_ok_and(|number| number <= highest) {
        return Err(format!("the number {id} was assigned where {highest} had been (L4)"));
    }
    Ok(())
}

/// The public limits (L10), but for those on shown forms, which `State::check` counts.
fn within_limits(items: &[Item]) -> Law {
    let extra = |item: &Item| item.extras.iter().map(|extra| extra.key.len() + extra.json.len()).sum::<usize>();
    let all = |item: &Item| {
        item.id.len() + item.content.len() + item.description.as_ref().map_or(0, String::len) + extra(item)
    };
    let most = |size: &dyn Fn(&Item) -> usize| items.iter().map(size).max().unwrap_or(0);
    for (what, value, limit) in [
        ("items", items.len(), limits::ITEMS),
        ("bytes of an id", most(&|item| item.id.len()), limits::ID),
        ("bytes of a content", most(&|item| item.content.len()), limits::CONTENT),
        ("bytes of a description", most(&|item| item.description.as_ref().map_or(0, String::len)), limits::DESCRIPTION),
        ("extras", most(&|item| item.extras.len()), limits::EXTRAS),
        ("bytes of extras", most(&extra), limits::EXTRA_BYTES),
        ("bytes of all fields", items.iter().map(all).sum(), limits::FIELDS),
    ] {
        if value > limit {
            return Err(format!("{value} {what}, the limit is {limit} (L10)"));
        }
    }
    Ok(())
}

/// A sub's events leave main's list (unless shared or `Ran`) and clock alone; records and edits leave the
/// clock alone.
pub fn law7(policy: &Policy, log: &[Event<'_>]) -> Law {
    let mut session = Session::new(policy.clone());
    for (at, event) in log.iter().enumerate() {
        let before = session.clone();
        let _ = session.apply(event);
        let leaves_all = match event {
            Event::RequestSent { by: Agent::Sub } => true,
            Event::ToolCalled(call) if call.by == Caller::Sub => call.outcome == Outcome::Ours && !policy.share,
            _ => false,
        };
        let others = matches!(event, Event::ToolCalled(call) if call.by != Caller::Main);
        if leaves_all && session != before {
            return Err(format!("law 7: event {at} ({event:?}) is a sub's, and the state is now {}", json(&session)));
        }
        if others && beats(&session) != beats(&before) {
            return Err(format!("law 7: event {at} ({event:?}) is not main's, and moved the clock (D1)"));
        }
    }
    Ok(())
}

/// On which of the next requests the clock alone would remind: with calls, without, and by rounds.
fn beats(session: &Session) -> Vec<bool> {
    let mut beats = Vec::new();
    let rounds = Clock::Rounds(std::num::NonZeroU32::MIN);
    for clock in [session.policy().clock, rounds] {
        let policy = Policy {
            clock,
            gate: Gate::None,
            max_unanswered: None,
            lane: Lane::History,
            resume_note: false,
            at_compaction: AtCompaction::Keep,
            ..session.policy().clone()
        };
        // A read first, so that no list is set aside: then nothing but the clock can silence a reminder (A1).
        let mut probe =
            after(Session::resume(policy, session.state().clone()), Caller::Main, "TaskList", Outcome::Ours);
        for _ in 0..12 {
            let effect = probe.step(&Event::RequestSent { by: Agent::Main });
            beats.push(matches!(effect, Some(Effect::AppendSystemReminder(reminder)) if reminder.items.is_some()));
            probe = after_foreign(probe, Caller::Main);
        }
    }
    beats
}

/// The naive model says the same of a log that it can read: lists, effects, reminders, notes, snapshots.
pub fn law8(policy: &Policy, log: &[Event<'_>]) -> Law {
    if !model::can_judge(log) {
        return Ok(());
    }
    let parsed: Vec<Parsed> = log.iter().map(Parsed::of).collect();
    let told = model::run(&compare::rules(policy), &parsed.iter().collect::<Vec<_>>());
    let mut session = Session::new(policy.clone());
    for (at, (event, told)) in log.iter().zip(&told).enumerate() {
        let effect = session.step(event);
        compare::same(&session, effect.as_ref(), told).map_err(|what| {
            format!(
                "law 8: event {at} ({event:?}): {what}\nthe model: {told:?}\nthe core: {effect:?} {}",
                json(&session)
            )
        })?;
    }
    Ok(())
}

/// The block of a snapshot, given to `todo_write` on an empty list, gives the carried items.
pub fn law9(policy: &Policy, log: &[Event<'_>]) -> Law {
    let mut session = Session::new(policy.clone());
    for (at, event) in log.iter().enumerate() {
        let effect = session.step(event);
        if *event == Event::Compacted {
            carried(&session, effect.as_ref()).map_err(|what| format!("law 9: at event {at}: {what}"))?;
        }
    }
    Ok(())
}

fn carried(session: &Session, effect: Option<&Effect>) -> Law {
    let list = session.state().list();
    let is_open = list.open().next().is_some();
    let wanted: Vec<&Item> = match session.policy().carry {
        Carry::All if is_open => list.items().iter().collect(),
        Carry::Open => list.open().collect(),
        Carry::All | Carry::Nothing => Vec::new(),
    };
    let Some(Effect::InjectCompactSnapshot(snapshot)) = effect else {
        return if wanted.is_empty() { Ok(()) } else { Err("there are open items, and no snapshot (A2)".into()) };
    };
    let blocks: Vec<&str> = snapshot.text.split("```").collect();
    let [_, block, _] = blocks[..] else { return Err(format!("not one fenced block: {}", snapshot.text)) };
    let read = written(block.strip_prefix("json").unwrap_or(block).trim())?;
    let bare = |item: &Item| Item { description: None, extras: Vec::new(), ..item.clone() };
    let wanted: Vec<Item> = wanted.into_iter().map(bare).collect();
    same("A4: the items", &wanted, &read)?;
    same("the count", &wanted.len(), &snapshot.items)
}

fn written(block: &str) -> Result<Vec<Item>, String> {
    serde_json::from_str::<serde::de::IgnoredAny>(block).map_err(|error| format!("the block is no JSON: {error}"))?;
    let call = Call { by: Caller::Main, name: "todo_write".into(), arguments: block.into(), outcome: Outcome::Ours };
    let mut session = Session::new(Policy::DEFAULT);
    match session.step(&Event::ToolCalled(call)) {
        Some(Effect::ReturnToolResult(result)) if !result.is_error => Ok(session.list().items().to_vec()),
        effect => Err(format!("A4: the block is no argument of todo_write: {effect:?}\n{block}")),
    }
}

/// A stored state read back is the state; another version is an error.
pub fn law11(policy: &Policy, log: &[Event<'_>]) -> Law {
    let mut session = Session::new(policy.clone());
    for event in log {
        let _ = session.apply(event);
        stored_as_json(session.state())?;
    }
    of_another_version(session.state())?;
    stored_as_checkpoint(session.state())
}

/// A checkpoint read back is the state; a flipped bit, a cut, another schema or layout is an error.
fn stored_as_checkpoint(state: &State) -> Law {
    let bytes = checkpoint::to_bytes(state).map_err(|error| format!("law 11: {error}"))?;
    let read = checkpoint::from_bytes(&bytes).map_err(|error| format!("law 11: {error}"))?;
    same("law 11: the checkpoint", state, &read)?;
    let view = checkpoint::view(&bytes).map_err(|error| format!("law 11: {error}"))?;
    let items = state.list().items().iter().map(|item| (&*item.id, &*item.content, item.status));
    same("law 11: the checkpoint in place", &items.collect::<Vec<_>>(), &view.items().collect())?;
    for at in (0..bytes.len()).step_by(bytes.len() / 64 + 1) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        if checkpoint::from_bytes(&damaged).is_ok() || checkpoint::view(&damaged).is_ok() {
            return Err(format!("law 11: a checkpoint with a flipped bit in byte {at} is read"));
        }
        if checkpoint::from_bytes(&bytes[..at]).is_ok() {
            return Err(format!("law 11: a checkpoint of {at} bytes is read"));
        }
    }
    Ok(())
}

fn stored_as_json(state: &State) -> Law {
    let json = text(state);
    let read: State = serde_json::from_str(&json).map_err(|error| format!("law 11: {error}: {json}"))?;
    same("law 11: the state", state, &read)
}

fn of_another_version(state: &State) -> Law {
    let json = text(state);
    let version = format!("\"version\":{}", State::VERSION);
    let newer = json.replacen(&version, "\"version\":4000", 1);
    match serde_json::from_str::<State>(&newer) {
        Ok(_) => Err(format!("law 11: a state of version 4000 is read: {newer}")),
        Err(_) => Ok(()),
    }
}

fn json(session: &Session) -> String {
    text(session.state())
}

fn text<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap()
}

fn same<T: PartialEq + std::fmt::Debug + ?Sized>(what: &str, one: &T, other: &T) -> Law {
    if one == other { Ok(()) } else { Err(format!("{what}: {one:?} is not {other:?}")) }
}
