//! The core beside the model.

use session_todo::policy::{AtCompaction, Carry, Clock, Gate, Listing, Several};
use session_todo::{Effect, Item, Lane, Policy, Reminder, Session};

use crate::model::{self, Carried, Edit, Expected, Rules, Told, Which, list};

/// The policy as the model puts it.
#[must_use]
pub fn rules(policy: &Policy) -> Rules {
    Rules {
        clock: match policy.clock {
            Clock::Requests { after, between } => model::Clock::Requests(after.get().into(), between.get().into()),
            Clock::Rounds(rounds) => model::Clock::Rounds(rounds.get() as usize),
            Clock::EveryRequest => model::Clock::Every,
        },
        cap: policy.max_unanswered.map(|max| max.get().into()),
        gate: policy.gate == Gate::Open,
        lane: lane(policy.lane),
        lists: match policy.listing {
            Listing::Nothing => Which::Nothing,
            Listing::Open => Which::Open,
            Listing::All => Which::All,
        },
        carries: match policy.carry {
            Carry::Nothing => Which::Nothing,
            Carry::Open => Which::Open,
            Carry::All => Which::All,
        },
        empties: policy.at_compaction == AtCompaction::Empty,
        resume_note: policy.resume_note,
        share: policy.share,
        max_items: policy.max_items.map(|max| max.get() as usize),
        one_in_progress: policy.several_in_progress == Several::Refuse,
    }
}

const fn lane(lane: Lane) -> model::Lane {
    match lane {
        Lane::History => model::Lane::History,
        Lane::LastUserMessage => model::Lane::LastUserMessage,
        Lane::ToolResult => model::Lane::ToolResult,
    }
}

/// Whether list and effect are what the model expects.
///
/// # Errors
///
/// Says what differs.
pub fn same(session: &Session, effect: Option<&Effect>, told: &Told) -> Result<(), String> {
    items("the list", session.state().list().items(), &told.place.items)?;
    items("the list as it reads", session.list().items(), told.place.reads())?;
    match (effect, &told.effect) {
        (None, Expected::Nothing) => Ok(()),
        (Some(Effect::ReturnToolResult(result)), Expected::Result { is_error }) => {
            equal("is_error", &result.is_error, is_error)
        }
        (Some(Effect::InjectCompactSnapshot(snapshot)), Expected::Snapshot { items }) => {
            equal("the snapshot's items", &snapshot.items, items)
        }
        (Some(Effect::AppendSystemReminder(reminder)), Expected::Request(carried)) => {
            request(session.policy(), reminder, carried)
        }
        _ => Err("another effect".into()),
    }
}

fn items(what: &str, core: &[Item], model: &[list::Item]) -> Result<(), String> {
    let same = core.len() == model.len() && core.iter().zip(model).all(|(core, model)| is_same(core, model));
    if same { Ok(()) } else { Err(format!("{what} differs")) }
}

fn is_same(core: &Item, model: &list::Item) -> bool {
    let has = |key: &str, json: &str| model.extras.get(key).is_some_and(|value| value == json);
    core.id == model.id
        && core.content == model.content
        && core.status.as_str() == model.status.word()
        && core.description == model.description
        && core.extras.len() == model.extras.len()
        && core.extras.iter().all(|extra| has(&extra.key, &extra.json))
}

fn request(policy: &Policy, reminder: &Reminder, carried: &Carried) -> Result<(), String> {
    equal("the lane", &lane(reminder.lane), &carried.lane)?;
    equal("the reminder's items", &reminder.items, &carried.reminder)?;
    let said = Said::of(policy, &reminder.text);
    equal("the words of a reminder", &said.reminds.is_some(), &carried.reminder.is_some())?;
    equal("the items that the reminder lists", &said.reminds.unwrap_or(0), &carried.reminder.unwrap_or(0))?;
    equal("the words of an edit", &said.edit.is_some(), &carried.edit.is_some())?;
    equal("the ids of the edit", &in_order(said.edit), &in_order(carried.edit.clone()))?;
    equal("the ids of the resume note", &said.unfinished, &carried.unfinished)
}

/// A note tells changes that a list shows before those that it does not.
fn in_order(edit: Option<Edit>) -> Edit {
    let mut edit = edit.unwrap_or_default();
    edit.changed.sort();
    edit
}

fn equal<T: PartialEq + std::fmt::Debug>(what: &str, core: &T, model: &T) -> Result<(), String> {
    if core == model { Ok(()) } else { Err(format!("{what}: {core:?}, and the model says {model:?}")) }
}

/// What a text names under each of its headings.
#[derive(Default)]
struct Said {
    edit: Option<Edit>,
    unfinished: Vec<String>,
    reminds: Option<usize>,
}

enum Heading {
    None,
    Added,
    Changed,
    Removed,
    Unfinished,
    Reminder,
}

impl Said {
    fn of(policy: &Policy, text: &str) -> Self {
        let mut said = Self::default();
        let mut under = Heading::None;
        for line in text.lines() {
            match line.strip_prefix("- #").and_then(|rest| rest.split_once(" [")) {
                Some((id, _)) => said.name(&under, id),
                None => under = said.heading(policy, line),
            }
        }
        said
    }

    fn heading(&mut self, policy: &Policy, line: &str) -> Heading {
        let words = &policy.words;
        match line {
            "Added:" => Heading::Added,
            "Changed:" | "Changed in their details:" => Heading::Changed,
            "Removed:" => Heading::Removed,
            _ if line.contains(&*words.edited) => {
                self.edit = Some(Edit::default());
                Heading::None
            }
            _ if line.contains(&*words.unfinished) => Heading::Unfinished,
            _ if line.contains(&*words.reminder) => {
                self.reminds = Some(0);
                Heading::Reminder
            }
            _ => Heading::None,
        }
    }

    fn name(&mut self, under: &Heading, id: &str) {
        let ids = match (under, &mut self.edit) {
            (Heading::Added, Some(edit)) => &mut edit.added,
            (Heading::Changed, Some(edit)) => &mut edit.changed,
            (Heading::Removed, Some(edit)) => &mut edit.removed,
            (Heading::Unfinished, _) => &mut self.unfinished,
            (Heading::Reminder, _) => return self.reminds = self.reminds.map(|count| count + 1),
            _ => return,
        };
        ids.push(id.to_owned());
    }
}
