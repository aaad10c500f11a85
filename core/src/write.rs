//! What a write makes of the list. First it is decided, against the list as it is, and only then done:
//! what is refused has touched nothing (L8).

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::change::One;
use crate::limits;
use crate::list::{Extra, Item, List, Sizes, decimal};
use crate::policy::{Policy, Several};
use crate::refusal::{Field, KnownIds, Refusal};
use crate::shown::{folded, shown, shown_len};
use crate::tools::{Entry, Mark};
use crate::{Status, list};

/// A write that will be done: every item that it names, under the id that it will have.
#[derive(Debug)]
pub(crate) struct Plan<'a> {
    pub(crate) scope: Scope,
    slots: Vec<Slot<'a>>,
    highest: u64,
    /// Ids that came twice with different contents, and what the second became (L7).
    pub(crate) renumbered: Vec<(String, String)>,
}

/// What becomes of the items that a write does not name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// They are gone (L1).
    Whole,
    /// They are gone, and so are the fields that it does not name (`Record`).
    Record,
    /// They stay (L2).
    One,
}

#[derive(Debug)]
struct Slot<'a> {
    id: Cow<'a, str>,
    entry: Entry<'a>,
    /// Where the item of this id stands on the list.
    old: Option<usize>,
    /// Whether the item is replaced whole, fields that are not named too.
    whole: bool,
}

/// An entry without an id, or whose id another came with first.
struct Nameless {
    at: usize,
    twice: Option<String>,
}

/// An old item that an entry without an id may be, and its content folded.
struct Free {
    index: usize,
    raw: String,
    shown: String,
}

impl<'a> Plan<'a> {
    /// A whole list (L1, L4, L6, L7).
    pub(crate) fn replace(list: &List, entries: Vec<Entry<'a>>, scope: Scope) -> Result<Self, Refusal> {
        list::within("items in one call", entries.len(), limits::ITEMS)?;
        let mut plan =
            Plan { scope, slots: Vec::with_capacity(entries.len()), highest: list.highest, renumbered: Vec::new() };
        let mut nameless = Vec::new();
        for entry in entries {
            plan.push(list, entry, &mut nameless);
        }
        plan.name(list, nameless);
        plan.check_contents(list)?;
        Ok(plan)
    }

    /// A new item at the end, or in the place of the one that has the given id.
    pub(crate) fn create(list: &List, entry: Entry<'a>, given: Option<Cow<'a, str>>) -> Result<Self, Refusal> {
        if entry.content.is_none() {
            let wanted = "a text, e.g. {\"subject\":\"Run the tests\",\"description\":\"All crates\"}";
            return Err(Refusal::Missing { field: "subject", wanted });
        }
        if entry.mark == Some(Mark::Deleted) {
            return Err(Refusal::Status(Field::Arguments));
        }
        let mut highest = list.highest;
        let id = given.unwrap_or_else(|| Cow::Owned(fresh(&mut highest, |id| list.get(id).is_some())));
        let old = list.items.iter().position(|item| item.id == id);
        let slot = Slot { id, entry, old, whole: true };
        let mut plan = Plan { scope: Scope::One, slots: Vec::new(), highest, renumbered: Vec::new() };
        plan.slots.push(slot);
        plan.count_ids();
        Ok(plan)
    }

    /// One item's fields. The id is known.
    pub(crate) fn update(list: &List, entry: Entry<'a>) -> Result<Self, Refusal> {
        let id = entry.id.clone().unwrap_or_default();
        let Some(old) = list.items.iter().position(|item| item.id == id) else {
            return Err(unknown_id(list));
        };
        let slot = Slot { id, entry, old: Some(old), whole: false };
        let mut slots = Vec::with_capacity(1);
        slots.push(slot);
        Ok(Plan { scope: Scope::One, slots, highest: list.highest, renumbered: Vec::new() })
    }

    /// Adds an entry under its own id, or leaves it to be named later.
    fn push(&mut self, list: &List, entry: Entry<'a>, nameless: &mut Vec<Nameless>) {
        let whole = self.scope == Scope::Record;
        let next = self.slots.len();
        let Some(id) = entry.id.clone() else {
            nameless.push(Nameless { at: next, twice: None });
            self.slots.push(Slot { id: Cow::Borrowed(""), entry, old: None, whole });
            return;
        };
        // Most calls name the items in the order that they have.
        let here = list.items.get(next).is_some_and(|item| item.id == id).then_some(next);
        let old = here.or_else(|| list.items.iter().position(|item| item.id == id));
        let slot = Slot { id, entry, old, whole };
        match self.slots.iter_mut().find(|first| first.is_same(&slot)) {
            None => self.slots.push(slot),
            Some(first) => {
                if let Err(other) = first.merge(slot, list) {
                    nameless.push(Nameless { at: next, twice: Some(other.id.into_owned()) });
                    self.slots.push(Slot { id: Cow::Borrowed(""), old: None, entry: other.entry, whole });
                }
            }
        }
    }

    /// Gives the entries without an id the old item's with the same content, else a number.
    fn name(&mut self, list: &List, nameless: Vec<Nameless>) {
        self.count_ids();
        let mut free = if nameless.is_empty() { Vec::new() } else { self.free(list) };
        for Nameless { at, twice } in nameless {
            let same = self.slots.get(at).filter(|_| twice.is_none()).and_then(|slot| slot.take_same(&mut free));
            let id = match same.and_then(|index| list.items.get(index)) {
                Some(item) => item.id.clone(),
                None => self.fresh(list),
            };
            self.renumbered.extend(twice.map(|twice| (twice, id.clone())));
            if let Some(slot) = self.slots.get_mut(at) {
                (slot.id, slot.old) = (Cow::Owned(id), same);
            }
        }
    }

    /// Old items whose id the call does not name.
    fn free(&self, list: &List) -> Vec<Free> {
        let named = |index| self.slots.iter().any(|slot| slot.old == Some(index));
        let free = list.items.iter().enumerate().filter(|(index, _)| !named(*index));
        free.map(|(index, item)| Free { index, raw: folded(&item.content), shown: folded(&shown(&item.content)) })
            .collect()
    }

    fn fresh(&mut self, list: &List) -> String {
        let Self { highest, slots, .. } = self;
        fresh(highest, |id| list.get(id).is_some() || slots.iter().any(|slot| slot.id == id))
    }

    /// Every id that will be on the list counts for the next number (L4).
    fn count_ids(&mut self) {
        let stay = self.slots.iter().filter(|slot| slot.entry.mark != Some(Mark::Deleted));
        self.highest = stay.filter_map(|slot| decimal(&slot.id)).fold(self.highest, u64::max);
    }

    /// An item needs a content, of its own or of the item whose id it has (C13).
    fn check_contents(&self, list: &List) -> Result<(), Refusal> {
        match self.slots.iter().position(|slot| slot.content(list).is_none()) {
            Some(index) => Err(Refusal::Blank(Field::Element(index))),
            None => Ok(()),
        }
    }

    /// The limits, and where our answer is the tool's answer, the policy's checks (L10, L11).
    pub(crate) fn check(&self, list: &List, policy: Option<&Policy>) -> Result<(), Refusal> {
        let mut after = Tally::default();
        for slot in &self.slots {
            if slot.entry.mark != Some(Mark::Deleted) {
                let sizes = slot.sizes(list);
                sizes.within_item()?;
                after.add(sizes, slot.status(list));
            }
        }
        if self.scope == Scope::One {
            let named = |index| self.slots.iter().any(|slot| slot.old == Some(index));
            for (_, item) in list.items.iter().enumerate().filter(|(index, _)| !named(*index)) {
                after.add(Sizes::of(item), item.status);
            }
        }
        after.sizes.within_list(after.items)?;
        policy.map_or(Ok(()), |policy| after.within(policy, list))
    }

    /// Open items that will be gone, and whose content is under no other id (L9).
    pub(crate) fn dropped(&self, list: &List) -> Vec<Item> {
        let named = |index| self.slots.iter().any(|slot| slot.old == Some(index));
        let lost = |(index, item): &(usize, &Item)| item.status.is_open() && !named(*index);
        let mut dropped: Vec<Item> = list.items.iter().enumerate().filter(lost).map(|(_, item)| item.clone()).collect();
        if self.scope == Scope::One || dropped.is_empty() {
            return Vec::new();
        }
        let kept: Vec<String> = self.slots.iter().filter_map(|slot| slot.content(list)).map(folded).collect();
        dropped.retain(|item| !kept.contains(&folded(&item.content)));
        dropped
    }

    /// The one item that is written, as it is before that.
    pub(crate) fn one(&self, list: &List) -> Option<One> {
        let slot = self.slots.first().filter(|_| self.scope == Scope::One)?;
        Some(match slot.old(list) {
            Some(item) if slot.entry.mark == Some(Mark::Deleted) => One::Deleted(item.clone()),
            Some(_) => One::Updated(slot.id.to_string()),
            None => One::Created(slot.id.to_string()),
        })
    }

    /// Does it. Tells whether anything changed.
    pub(crate) fn commit(&self, list: &mut List) -> bool {
        list.highest = list.highest.max(self.highest);
        let changed = self.commit_to(&mut list.items, None);
        list.revision = list.revision.saturating_add(u64::from(changed));
        changed
    }

    /// Does the same to the copy that the model knows (L13). What it can't take from there is as on `list`.
    pub(crate) fn commit_to_copy(&self, copy: &mut Vec<Item>, list: &List) {
        self.commit_to(copy, Some(list));
    }

    fn commit_to(&self, items: &mut Vec<Item>, copy_of: Option<&List>) -> bool {
        if self.scope == Scope::One {
            return self.slots.iter().fold(false, |changed, slot| slot.commit_one(items, copy_of) || changed);
        }
        let mut old: Vec<Option<Item>> = core::mem::take(items).into_iter().map(Some).collect();
        let mut changed = false;
        for slot in &self.slots {
            let at = if copy_of.is_none() { slot.old } else { position(&old, &slot.id) };
            let taken = at.and_then(|at| old.get_mut(at)).and_then(Option::take);
            if slot.entry.mark == Some(Mark::Deleted) {
                changed |= taken.is_some();
            } else if let Some((item, differs)) = slot.item(taken, copy_of) {
                changed |= differs || at != Some(items.len());
                items.push(item);
            }
        }
        changed || old.iter().any(Option::is_some)
    }
}

impl<'a> Slot<'a> {
    /// The same id for the second time: with the same content the last wins (L7), and without one it
    /// changes the rest alone (C13). Another content is another item, and given back.
    fn merge(&mut self, mut other: Slot<'a>, list: &List) -> Result<(), Slot<'a>> {
        if other.entry.content.is_none() {
            other.entry.content = self.entry.content.take();
        } else if self.content(list).map(folded) != other.content(list).map(folded) {
            return Err(other);
        }
        *self = other;
        Ok(())
    }
}

fn position(items: &[Option<Item>], id: &str) -> Option<usize> {
    items.iter().position(|item| item.as_ref().is_some_and(|item| item.id == id))
}

impl Slot<'_> {
    fn is_same(&self, other: &Self) -> bool {
        if other.old.is_some() { self.old == other.old } else { self.id == other.id }
    }

    fn old<'l>(&self, list: &'l List) -> Option<&'l Item> {
        self.old.and_then(|index| list.items.get(index))
    }

    /// The content that the item will have, before T5.
    fn content<'s>(&'s self, list: &'s List) -> Option<&'s str> {
        self.entry.content.as_deref().or_else(|| self.old(list).map(|item| item.content.as_str()))
    }

    fn status(&self, list: &List) -> Status {
        match self.entry.mark {
            Some(Mark::Set(status)) => status,
            Some(Mark::Deleted) | None if self.whole => Status::Pending,
            Some(Mark::Deleted) | None => self.old(list).map_or(Status::Pending, |item| item.status),
        }
    }

    /// The index of the first free old item with the same content, or with our shown form of it (L6).
    fn take_same(&self, free: &mut Vec<Free>) -> Option<usize> {
        let content = folded(self.entry.content.as_deref()?);
        let at = free.iter().position(|item| item.raw == content || item.shown == content)?;
        Some(free.remove(at).index)
    }

    fn sizes(&self, list: &List) -> Sizes {
        let old = self.old(list);
        let kept = old.filter(|_| !self.whole);
        let content = self.content(list).unwrap_or_default();
        let is_shown_form = |item: &&Item| item.content != content && shown(&item.content) == content;
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
            shown: self.id.len() + shown_len(content),
        }
    }

    /// The item that it makes of the old one, and whether that is another. None only on a copy.
    fn item(&self, old: Option<Item>, copy_of: Option<&List>) -> Option<(Item, bool)> {
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

    fn commit_one(&self, items: &mut Vec<Item>, copy_of: Option<&List>) -> bool {
        let at = items.iter().position(|item| item.id == self.id);
        let Some(at) = at else {
            // An update of what the copy does not hold is no part of what the model was told.
            let made = if self.whole { self.item(None, copy_of) } else { None };
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
    fn lay_over(&self, item: &mut Item) -> bool {
        let before = if self.whole { Some(item.clone()) } else { None };
        if self.whole {
            (item.status, item.description, item.extras) = (Status::Pending, None, Vec::new());
        }
        let mut changed = false;
        if let Some(content) = &self.entry.content {
            // What the model was shown comes back as the text that it was shown for (T5).
            if item.content != *content && shown(&item.content) != *content {
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

/// What the list will be, as far as limits and checks ask.
#[derive(Default)]
struct Tally {
    sizes: Sizes,
    items: usize,
    in_progress: usize,
}

impl Tally {
    fn add(&mut self, sizes: Sizes, status: Status) {
        self.sizes = self.sizes.plus(sizes);
        self.items += 1;
        self.in_progress += usize::from(status == Status::InProgress);
    }

    fn within(&self, policy: &Policy, list: &List) -> Result<(), Refusal> {
        let max = policy.max_items.map_or(usize::MAX, |max| max.get() as usize);
        // A list that another's tool made longer can still be worked off.
        if self.items > list.items.len() {
            list::within("items", self.items, max)?;
        }
        if policy.several_in_progress == Several::Refuse && self.in_progress > 1 {
            return Err(Refusal::SeveralInProgress(self.in_progress));
        }
        Ok(())
    }
}

/// The next number (L4). A number past 2^32 may be on the list as a model's own id, and is passed over.
fn fresh(highest: &mut u64, taken: impl Fn(&str) -> bool) -> String {
    loop {
        *highest = highest.saturating_add(1);
        let id = highest.to_string();
        if !taken(&id) || *highest == u64::MAX {
            return id;
        }
    }
}

pub(crate) fn unknown_id(list: &List) -> Refusal {
    Refusal::UnknownId(KnownIds::of(list.items.iter().map(|item| item.id.as_str())))
}
