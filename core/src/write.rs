//! What a write makes of the list. First it is decided, against the list as it is, and only then done:
//! what is refused has touched nothing (L8).

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use crate::change::One;
use crate::limits;
use crate::list::{Item, List, Sizes, decimal};
use crate::policy::{Policy, Several};
use crate::refusal::{Field, KnownIds, Refusal};
use crate::shown::{folded, shown};
use crate::slot::{Free, Manner, Slot};
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

/// An entry without an id, or whose id another came with first.
struct Nameless {
    at: usize,
    twice: Option<String>,
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
        let slot = Slot { id, entry, old, manner: Manner::Whole };
        let mut plan = Plan { scope: Scope::One, slots: vec![slot], highest, renumbered: Vec::new() };
        plan.count_ids();
        Ok(plan)
    }

    /// One item's fields. The id is known.
    pub(crate) fn update(list: &List, entry: Entry<'a>) -> Result<Self, Refusal> {
        let id = entry.id.clone().unwrap_or_default();
        let Some(old) = list.items.iter().position(|item| item.id == id) else {
            return Err(unknown_id(list));
        };
        let slot = Slot { id, entry, old: Some(old), manner: Manner::Update };
        Ok(Plan { scope: Scope::One, slots: vec![slot], highest: list.highest, renumbered: Vec::new() })
    }

    /// Adds an entry under its own id, or leaves it to be named later.
    fn push(&mut self, list: &List, entry: Entry<'a>, nameless: &mut Vec<Nameless>) {
        let manner = if self.scope == Scope::Record { Manner::Record } else { Manner::Rewrite };
        let next = self.slots.len();
        let Some(id) = entry.id.clone() else {
            nameless.push(Nameless { at: next, twice: None });
            self.slots.push(Slot { id: Cow::Borrowed(""), entry, old: None, manner });
            return;
        };
        // Most calls name the items in the order that they have.
        let here = list.items.get(next).is_some_and(|item| item.id == id).then_some(next);
        let old = here.or_else(|| list.items.iter().position(|item| item.id == id));
        let slot = Slot { id, entry, old, manner };
        match self.slots.iter_mut().find(|first| first.is_same(&slot)) {
            None => self.slots.push(slot),
            Some(first) if first.has_content_of(&slot, list) => first.merge(slot),
            Some(_) => {
                nameless.push(Nameless { at: next, twice: Some(slot.id.into_owned()) });
                self.slots.push(Slot { id: Cow::Borrowed(""), entry: slot.entry, old: None, manner });
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
        let free = list.items.iter().enumerate().filter(|(index, _)| !self.names(*index));
        free.map(|(index, item)| Free { index, raw: folded(&item.content), shown: folded(&shown(&item.content)) })
            .collect()
    }

    /// Whether it writes the old item at this place.
    fn names(&self, index: usize) -> bool {
        self.slots.iter().any(|slot| slot.old == Some(index))
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
        let one_in_progress = policy.is_some_and(|policy| policy.several_in_progress == Several::Refuse);
        if !one_in_progress && self.scope == Scope::One && self.slots.iter().all(Slot::is_status_alone) {
            return Ok(());
        }
        let mut after = Tally::default();
        for slot in &self.slots {
            if slot.entry.mark != Some(Mark::Deleted) {
                let sizes = slot.sizes(list);
                sizes.within_item()?;
                after.add(sizes, slot.status(list));
            }
        }
        if self.scope == Scope::One {
            for (_, item) in list.items.iter().enumerate().filter(|(index, _)| !self.names(*index)) {
                after.add(Sizes::of(item), item.status);
            }
        }
        after.sizes.within_list(after.items)?;
        policy.map_or(Ok(()), |policy| after.within(policy, list))
    }

    /// Open items that will be gone, and whose content is under no other id (L9).
    pub(crate) fn dropped(&self, list: &List) -> Vec<Item> {
        if self.scope == Scope::One {
            return Vec::new();
        }
        let gone = |(index, item): &(usize, &Item)| item.status.is_open() && !self.names(*index);
        let mut dropped: Vec<Item> = list.items.iter().enumerate().filter(gone).map(|(_, item)| item.clone()).collect();
        if dropped.is_empty() {
            return dropped;
        }
        let stays = |slot: &&Slot<'_>| slot.entry.mark != Some(Mark::Deleted);
        let kept = self.slots.iter().filter(stays).filter_map(|slot| slot.content(list)).map(folded);
        let kept: Vec<String> = kept.collect();
        dropped.retain(|item| !kept.contains(&folded(&item.content)));
        dropped
    }

    /// The one item that is written, as it is before that.
    pub(crate) fn one(&self, list: &List) -> Option<One> {
        let slot = self.slots.first().filter(|_| self.scope == Scope::One)?;
        let deleted = slot.entry.mark == Some(Mark::Deleted);
        Some(match slot.old {
            Some(_) if deleted => One::Deleted(slot.old(list)?.clone()),
            Some(at) => One::Updated(at),
            None => One::Created(list.items.len()),
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

    /// Whether it names every item in the order that they have, and nothing else.
    fn is_in_place(&self, items: usize) -> bool {
        let stays =
            |(index, slot): (usize, &Slot<'_>)| slot.old == Some(index) && slot.entry.mark != Some(Mark::Deleted);
        self.slots.len() == items && self.slots.iter().enumerate().all(stays)
    }

    fn commit_to(&self, items: &mut Vec<Item>, copy_of: Option<&List>) -> bool {
        if self.scope == Scope::One {
            return self.slots.first().is_some_and(|slot| slot.commit_one(items, copy_of));
        }
        if copy_of.is_none() && self.is_in_place(items.len()) {
            return items
                .iter_mut()
                .zip(&self.slots)
                .fold(false, |changed, (item, slot)| slot.lay_over(item) || changed);
        }
        let mut old: Vec<Option<Item>> = core::mem::take(items).into_iter().map(Some).collect();
        items.reserve(self.slots.len());
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

fn position(items: &[Option<Item>], id: &str) -> Option<usize> {
    items.iter().position(|item| item.as_ref().is_some_and(|item| item.id == id))
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
        let more = self.in_progress > list.count(Status::InProgress);
        if policy.several_in_progress == Several::Refuse && self.in_progress > 1 && more {
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
        if !taken(&id) {
            return id;
        }
    }
}

pub(crate) fn unknown_id(list: &List) -> Refusal {
    Refusal::UnknownId(KnownIds::of(list.items.iter().map(|item| item.id.as_str())))
}
