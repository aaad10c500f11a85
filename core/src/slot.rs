//! One item as a write names it, and what that makes of the item that has its id.

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::Status;
use crate::list::{Extra, Item, List, Sizes};
use crate::shown::{folded, rewritten_len, shown};
use crate::tools::{Entry, Mark};

/// An old item that an entry without an id may be, and its content folded.
pub(crate) struct Free {
    pub(crate) index: usize,
    pub(crate) raw: String,
    pub(crate) shown: String,
}

#[derive(Debug)]
pub(crate) struct Slot<'a> {
    pub(crate) id: Cow<'a, str>,
    pub(crate) entry: Entry<'a>,
    /// Where the item of this id stands on the list.
    pub(crate) old: Option<usize>,
    pub(crate) manner: Manner,
}

/// What a write does with the item that has its id already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// Fields that it does not name stay; a content that is our shown form of the stored one keeps that
    /// (`todo_write`, T5).
    Rewrite,
    /// Fields that it does not name stay (`TaskUpdate`).
    Update,
    /// Fields that it does not name are gone; of the content the same holds as for a rewrite (`Record`).
    Record,
    /// All of it is replaced (`TaskCreate` with an id).
    Whole,
}

impl Manner {
    const fn keeps_fields(self) -> bool {
        matches!(self, Self::Rewrite | Self::Update)
    }

    const fn keeps_shown(self) -> bool {
        matches!(self, Self::Rewrite | Self::Record)
    }
}

impl<'a> Slot<'a> {
    /// Whether another entry with the same id is the same item: it has no content or the same (L7, C13).
    pub(crate) fn has_content_of(&self, other: &Slot<'a>, list: &List) -> bool {
        other.entry.content.is_none() || self.content(list).map(folded) == other.content(list).map(folded)
    }

    /// The last wins, at the first's place.
    pub(crate) fn merge(&mut self, mut last: Slot<'a>) {
        last.entry.content = last.entry.content.or_else(|| self.entry.content.take());
        *self = last;
    }
}

impl Slot<'_> {
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        if other.old.is_some() { self.old == other.old } else { self.id == other.id }
    }

    /// Whether it changes a status and nothing that has a size.
    pub(crate) fn is_status_alone(&self) -> bool {
        let Entry { content, description, extras, .. } = &self.entry;
        self.manner.keeps_fields() && content.is_none() && description.is_none() && extras.is_empty()
    }

    pub(crate) fn old<'l>(&self, list: &'l List) -> Option<&'l Item> {
        self.old.and_then(|index| list.items.get(index))
    }

    /// The content that the item will have, before T5.
    pub(crate) fn content<'s>(&'s self, list: &'s List) -> Option<&'s str> {
        self.entry.content.as_deref().or_else(|| self.old(list).map(|item| item.content.as_str()))
    }

    pub(crate) fn status(&self, list: &List) -> Status {
        match self.entry.mark {
            Some(Mark::Set(status)) => status,
            Some(Mark::Deleted) | None if !self.manner.keeps_fields() => Status::Pending,
            Some(Mark::Deleted) | None => self.old(list).map_or(Status::Pending, |item| item.status),
        }
    }

    /// The index of the first free old item with the same content, or with our shown form of it (L6).
    pub(crate) fn take_same(&self, free: &mut Vec<Free>) -> Option<usize> {
        let content = folded(self.entry.content.as_deref()?);
        let at = free.iter().position(|item| item.raw == content || item.shown == content)?;
        Some(free.remove(at).index)
    }

    pub(crate) fn sizes(&self, list: &List) -> Sizes {
        let old = self.old(list);
        let kept = old.filter(|_| self.manner.keeps_fields());
        let content = self.content(list).unwrap_or_default();
        let is_shown_form =
            |item: &&Item| self.manner.keeps_shown() && item.content != content && shown(&item.content) == content;
        let content = old.filter(is_shown_form).map_or(content, |item| &item.content);
        let extras = |item: &Item| {
            let unnamed = |extra: &&Extra| !self.entry.extras.iter().any(|(key, _)| *key == extra.key);
            item.extras.iter().filter(unnamed).fold((0, 0), |(count, bytes), extra| (count + 1, bytes + extra.bytes()))
        };
        let (kept_extras, kept_bytes) = kept.map_or((0, 0), extras);
        let kept_description = kept.and_then(|item| item.description.as_deref());
        let description = self.entry.description.as_deref().or(kept_description);
        Sizes {
            id: self.id.len(),
            content: content.len(),
            description: description.map_or(0, str::len),
            extras: kept_extras + self.entry.extras.len(),
            extra_bytes: kept_bytes + self.entry.extras.iter().map(|(key, json)| key.len() + json.len()).sum::<usize>(),
            shown: self.id.len() + rewritten_len(content),
        }
    }

    /// The item that it makes of the old one, and whether that is another. None only on a copy.
    pub(crate) fn item(&self, old: Option<Item>, copy_of: Option<&List>) -> Option<(Item, bool)> {
        if let Some(mut item) = old {
            let differs = self.lay_over(&mut item);
            return Some((item, differs));
        }
        let known = || copy_of.and_then(|list| list.get(&self.id));
        let Some(content) = &self.entry.content else {
            return known().map(|item| (item.clone(), true));
        };
        let mut item = Item {
            id: self.id.to_string(),
            content: content.to_string(),
            status: Status::Pending,
            description: None,
            extras: Vec::new(),
        };
        self.lay_over(&mut item);
        Some((item, true))
    }

    pub(crate) fn commit_one(&self, items: &mut Vec<Item>, copy_of: Option<&List>) -> bool {
        let known = self.old.filter(|_| copy_of.is_none());
        let at = known.or_else(|| items.iter().position(|item| item.id == self.id));
        let Some(at) = at else {
            // An update of what the copy does not hold is no part of what the model was told.
            let made = if self.manner.keeps_fields() { None } else { self.item(None, copy_of) };
            let is_new = made.is_some();
            items.extend(made.map(|(item, _)| item));
            return is_new;
        };
        if self.entry.mark == Some(Mark::Deleted) {
            items.remove(at);
            return true;
        }
        items.get_mut(at).is_some_and(|item| self.lay_over(item))
    }

    /// Lays what is named over an item; the rest of it stays, unless it is replaced whole.
    pub(crate) fn lay_over(&self, item: &mut Item) -> bool {
        let before = if self.manner.keeps_fields() { None } else { Some(item.clone()) };
        if !self.manner.keeps_fields() {
            (item.status, item.description, item.extras) = (Status::Pending, None, Vec::new());
        }
        let mut changed = false;
        if let Some(content) = &self.entry.content {
            // What the model was shown comes back as the text that it was shown for (T5).
            let is_shown_form = self.manner.keeps_shown() && shown(&item.content) == *content;
            if item.content != *content && !is_shown_form {
                item.content = content.to_string();
                changed = true;
            }
        }
        if let Some(Mark::Set(status)) = self.entry.mark {
            changed |= item.status != status;
            item.status = status;
        }
        if let Some(description) = &self.entry.description {
            changed |= item.description.as_deref() != Some(&**description);
            item.description = Some(description.to_string());
        }
        for (key, json) in &self.entry.extras {
            changed |= set_extra(&mut item.extras, key, json);
        }
        before.map_or(changed, |before| before != *item)
    }
}

fn set_extra(extras: &mut Vec<Extra>, key: &str, json: &str) -> bool {
    match extras.iter_mut().find(|extra| extra.key == key) {
        Some(extra) if extra.json == json => false,
        Some(extra) => {
            extra.json = json.into();
            true
        }
        None => {
            extras.push(Extra { key: key.into(), json: json.into() });
            true
        }
    }
}
