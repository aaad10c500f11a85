//! From keys to an [`Entry`]: aliases (C6), status words (C7), ids (C8), extras (C9).

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

use super::{Entry, Mark, json_text};
use crate::limits;
use crate::list::Status;
use crate::refusal::{Field, Refusal, kind_of_json};
use crate::shown::{is_blank, push_plain_json, shown_id};

/// Whose keys they are: an element of a list, or the arguments of a Task tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Element(usize),
    /// The id is that of the task; a create has none.
    Task {
        has_id: bool,
    },
}

/// An object's keys with their values. Those that have one spelling and are text stand apart, so that
/// a well-formed call costs one pass.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft<'a> {
    /// Under whichever of its keys; empty where it is blank.
    pub(super) id: Option<Cow<'a, str>>,
    pub(super) content: Option<Cow<'a, str>>,
    pub(super) subject: Option<Cow<'a, str>>,
    pub(super) status: Option<Cow<'a, str>>,
    pub(super) description: Option<Cow<'a, str>>,
    /// Every other key and its JSON text, in the order written. Values that are null are left out.
    pub(super) rest: Vec<(Cow<'a, str>, Cow<'a, str>)>,
}

const LIST_CONTENT: &[&str] = &["content", "title", "text", "task", "step", "description", "subject", "name"];
const TASK_SUBJECT: &[&str] = &["subject", "title", "name", "task"];
const TASK_TEXT: &[&str] = &["content", "text"];
const TASK_DESCRIPTION: &[&str] = &["description", "details"];
const IDS: &[&str] = &["id", "taskId", "taskid", "task_id", "todo_id"];
const STATES: &[&str] = &["status", "state"];
const BOOLEANS: &[&str] = &["done", "completed", "checked"];

impl<'a> Draft<'a> {
    /// What the keys say.
    pub(super) fn into_entry(mut self, place: Place) -> Result<Entry<'a>, Refusal> {
        let id = self.take_id(place)?;
        let (content, description) = match place {
            Place::Element(_) => self.item_texts(place)?,
            Place::Task { .. } => self.task_texts(place)?,
        };
        let mark = self.take_mark(place)?;
        Ok(Entry { id, content: content.filter(|text| !is_blank(text)), mark, description, extras: self.extras() })
    }

    fn item_texts(&mut self, place: Place) -> Result<Texts<'a>, Refusal> {
        let content = self.take_text(LIST_CONTENT, place)?;
        Ok((content, self.description.take()))
    }

    fn task_texts(&mut self, place: Place) -> Result<Texts<'a>, Refusal> {
        let named = self.take_text(TASK_SUBJECT, place)?;
        let described = self.take_text(TASK_DESCRIPTION, place)?;
        Ok(match (named, described) {
            (None, described) => (self.take_text(TASK_TEXT, place)?, described),
            (named, None) => (named, self.take_text(TASK_TEXT, place)?),
            both => both,
        })
    }

    /// The first of these keys that is there.
    fn take_text(&mut self, keys: &[&'static str], place: Place) -> Result<Option<Cow<'a, str>>, Refusal> {
        for &key in keys {
            let taken = match key {
                "content" => self.content.take(),
                "subject" => self.subject.take(),
                "description" => self.description.take(),
                _ => None,
            };
            if taken.is_some() {
                return Ok(taken);
            }
            if let Some(json) = self.take_rest(key) {
                return match owned_text(&json) {
                    Some(text) => Ok(Some(text)),
                    None => Err(place.wrong_kind(key, &json, "text, e.g. \"Run the tests\"")),
                };
            }
        }
        Ok(None)
    }

    fn take_id(&mut self, place: Place) -> Result<Option<Cow<'a, str>>, Refusal> {
        if place == (Place::Task { has_id: false }) {
            // A new task gets its number from us (L2).
            self.rest.retain(|(key, _)| !IDS.contains(&&**key));
            return Ok(None);
        }
        if let Some(id) = self.id.take().map(kept_id).filter(|id| !id.is_empty()) {
            return Ok(Some(id));
        }
        for &key in IDS {
            let Some(json) = self.take_rest(key) else { continue };
            let id = id_text(&json).ok_or_else(|| place.wrong_kind(key, &json, "an id, e.g. \"1\""))?;
            if !id.is_empty() {
                return Ok(Some(id));
            }
        }
        Ok(None)
    }

    fn take_mark(&mut self, place: Place) -> Result<Option<Mark>, Refusal> {
        if let Some(word) = self.status.take() {
            return mark(&word).map(Some).ok_or_else(|| Refusal::Status(place.field("")));
        }
        for &key in STATES {
            let Some(json) = self.take_rest(key) else { continue };
            let word = json_text(&json).ok_or_else(|| place.wrong_kind(key, &json, "a status, e.g. \"pending\""))?;
            return mark(&word).map(Some).ok_or_else(|| Refusal::Status(place.field("")));
        }
        for &key in BOOLEANS {
            let is_boolean = |json: &str| matches!(json, "true" | "false");
            let Some(json) = self.take_rest_if(key, is_boolean) else { continue };
            let status = if json == "true" { Status::Completed } else { Status::Pending };
            return Ok(Some(Mark::Set(status)));
        }
        Ok(None)
    }

    fn take_rest(&mut self, key: &str) -> Option<Cow<'a, str>> {
        self.take_rest_if(key, |_| true)
    }

    fn take_rest_if(&mut self, key: &str, wanted: impl Fn(&str) -> bool) -> Option<Cow<'a, str>> {
        if self.rest.is_empty() {
            return None;
        }
        let index = self.rest.iter().position(|(other, json)| other == key && wanted(json))?;
        Some(self.rest.remove(index).1)
    }

    /// What is left is kept: the texts that another key came before, and what is not ours.
    fn extras(mut self) -> Vec<(Cow<'a, str>, Cow<'a, str>)> {
        if self.content.is_none() && self.subject.is_none() && self.description.is_none() && self.rest.len() < 2 {
            return self.rest;
        }
        let left = [("content", self.content), ("subject", self.subject), ("description", self.description)];
        for (key, text) in left {
            let Some(text) = text else { continue };
            let mut json = String::with_capacity(text.len() + 2);
            push_plain_json(&mut json, &text);
            self.rest.push((Cow::Borrowed(key), Cow::Owned(json)));
        }
        last_of_each_key(&mut self.rest);
        self.rest
    }
}

type Texts<'a> = (Option<Cow<'a, str>>, Option<Cow<'a, str>>);

impl Place {
    fn field(self, key: &'static str) -> Field {
        match self {
            Self::Element(index) if key.is_empty() => Field::Element(index),
            Self::Element(index) => Field::ElementKey(index, key),
            Self::Task { .. } if key.is_empty() => Field::Arguments,
            Self::Task { .. } => Field::Key(key),
        }
    }

    fn wrong_kind(self, key: &'static str, json: &str, wanted: &'static str) -> Refusal {
        Refusal::Kind { field: self.field(key), came: kind_of_json(json), wanted }
    }
}

/// The status that a word names, in any of its spellings (C7).
pub(super) fn mark(word: &str) -> Option<Mark> {
    if let Some(mark) = exact_mark(word) {
        return Some(mark);
    }
    let word: String =
        word.trim().chars().map(|c| if c == ' ' || c == '-' { '_' } else { c.to_ascii_lowercase() }).collect();
    exact_mark(&word)
}

fn exact_mark(word: &str) -> Option<Mark> {
    Some(Mark::Set(match word {
        "pending" | "todo" | "to_do" | "not_started" | "open" | "new" | "queued" => Status::Pending,
        "in_progress" | "inprogress" | "doing" | "active" | "started" | "current" | "wip" => Status::InProgress,
        "completed" | "complete" | "done" | "finished" | "closed" | "x" => Status::Completed,
        "cancelled" | "canceled" | "skipped" | "wont_do" | "dropped" => Status::Cancelled,
        "blocked" | "failed" | "error" | "on_hold" => Status::Blocked,
        "deleted" => return Some(Mark::Deleted),
        _ => return None,
    }))
}

/// An id as it is kept (C8).
fn kept_id(text: Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => shown_id(text),
        Cow::Owned(text) => Cow::Owned(shown_id(&text).into_owned()),
    }
}

/// An id of a JSON value: a text, or a whole number's decimal text. None for another kind; empty for absent.
fn id_text<'a>(json: &Cow<'a, str>) -> Option<Cow<'a, str>> {
    if let Some(text) = owned_text(json) {
        return Some(kept_id(text));
    }
    let whole = json.strip_suffix(".0").unwrap_or(json);
    let is_whole = whole.strip_prefix('-').unwrap_or(whole).bytes().all(|byte| byte.is_ascii_digit());
    is_whole.then(|| Cow::Owned(whole.into()))
}

fn owned_text<'a>(json: &Cow<'a, str>) -> Option<Cow<'a, str>> {
    match json {
        Cow::Borrowed(json) => json_text(json),
        Cow::Owned(json) => json_text(json).map(|text| Cow::Owned(text.into_owned())),
    }
}

/// A key that is written twice has its last value, at its first place, as in JSON. More pairs than an
/// item may have are refused later, and not worth the square of their number here.
fn last_of_each_key(pairs: &mut Vec<(Cow<'_, str>, Cow<'_, str>)>) {
    if pairs.len() > limits::EXTRAS {
        return;
    }
    let mut index = 1;
    while index < pairs.len() {
        let (before, after) = pairs.split_at_mut(index);
        let twice = after.first_mut().and_then(|(key, json)| {
            let first = before.iter_mut().find(|(other, _)| other == key)?;
            first.1 = core::mem::take(json);
            Some(())
        });
        match twice {
            Some(()) => drop(pairs.remove(index)),
            None => index += 1,
        }
    }
}
