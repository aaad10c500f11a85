//! The list as the model keeps it: spec 3, and A1, A7 and L13 beside it.

use std::collections::BTreeMap;

use session_todo::Caller;

use super::Rules;
use super::read::{Ask, How, Mark, Named, Parsed, Tool};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Pending,
    InProgress,
    Blocked,
    Completed,
    Cancelled,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    pub id: String,
    pub content: String,
    pub status: Status,
    pub description: Option<String>,
    pub extras: BTreeMap<String, String>,
}

/// Where the list stands after an event, and what came of that event.
#[derive(Clone, Debug, Default)]
pub struct Place {
    pub items: Vec<Item>,
    pub copy: Option<Vec<Item>>,
    pub aside: bool,
    /// The highest number ever on the list or assigned by us (L4).
    pub ever: u64,
    pub came: Came,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Came {
    #[default]
    Nothing,
    Refused,
    Read,
    Wrote,
}

/// An item of a call with the id that it has or gets.
struct Slot {
    id: Option<String>,
    named: Named,
    came_twice: bool,
}

impl Status {
    #[must_use]
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Pending | Self::InProgress | Self::Blocked)
    }

    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Blocked => "blocked",
            Self::Completed => "completed",
            Self::Cancelled => "cancelled",
        }
    }
}

impl Place {
    /// The place after one more event.
    #[must_use]
    pub fn after(&self, rules: &Rules, event: &Parsed) -> Self {
        let mut next = Self { came: Came::Nothing, ..self.clone() };
        match event {
            Parsed::Call { by, tool, ask, how } => next.came = next.call(rules, *by, *tool, ask, how),
            Parsed::Request(session_todo::Agent::Main) => next.copy = None,
            Parsed::Compacted => next.aside = rules.empties,
            Parsed::Request(session_todo::Agent::Sub) | Parsed::Resumed => {}
        }
        next
    }

    /// The list as it reads (A1).
    #[must_use]
    pub fn reads(&self) -> &[Item] {
        if self.aside { &[] } else { &self.items }
    }

    fn call(&mut self, rules: &Rules, by: Caller, tool: Tool, ask: &Ask, how: &How) -> Came {
        if by == Caller::Record {
            return self.record(ask);
        }
        if tool == Tool::Foreign || *how == How::Failed {
            return Came::Nothing;
        }
        let unshared = by == Caller::Sub && *how == How::Ours && !rules.share; // A7
        if unshared && tool.writes() {
            return Came::Refused;
        }
        let came = self.asked(rules, by, ask, how);
        if came != Came::Refused && !unshared {
            self.aside = false; // A1
        }
        came
    }

    fn asked(&mut self, rules: &Rules, by: Caller, ask: &Ask, how: &How) -> Came {
        let ours = *how == How::Ours;
        match ask {
            Ask::Get(id) if ours && self.find(id).is_none() => Came::Refused, // L2
            Ask::Get(_) | Ask::List => Came::Read,
            Ask::Update(_, named) if ours && named.is_empty() => Came::Refused, // L2
            Ask::Update(id, _) if self.find(id).is_none() && ours => Came::Refused, // L2
            Ask::Update(id, _) if self.find(id).is_none() => Came::Wrote,       // section 2: it changes nothing
            // L13
            Ask::Replace(_) if ours && by != Caller::User && self.is_edited() => Came::Refused,
            Ask::Refused | Ask::Unknown => Came::Refused,
            _ => {
                let given = if let How::Ran(id) = how { id.as_deref() } else { None };
                self.write(by, ask, given, ours.then_some(rules))
            }
        }
    }

    fn record(&mut self, ask: &Ask) -> Came {
        if !matches!(ask, Ask::Replace(_)) {
            return Came::Nothing;
        }
        let came = self.write(Caller::Record, ask, None, None);
        self.aside &= came != Came::Wrote;
        Came::Nothing
    }

    fn write(&mut self, by: Caller, ask: &Ask, given: Option<&str>, checks: Option<&Rules>) -> Came {
        let mut ever = self.ever;
        let Some(change) = self.change(by, ask, given, &mut ever) else { return Came::Refused };
        let items = change.on(&self.items, None);
        if checks.is_some_and(|rules| !rules.allow(&self.items, &items)) {
            return Came::Refused;
        }
        match (by, &mut self.copy) {
            (Caller::User, Some(_)) | (Caller::Main | Caller::Sub | Caller::Record, None) => {}
            (Caller::User, none) => *none = Some(self.items.clone()),
            (_, Some(copy)) => *copy = change.on(copy, Some(&items)),
        }
        self.ever = items.iter().filter_map(|item| number(&item.id)).fold(ever, u64::max);
        self.items = items;
        Came::Wrote
    }

    /// None where the call is refused.
    fn change<'a>(&self, by: Caller, ask: &'a Ask, given: Option<&'a str>, ever: &mut u64) -> Option<Change<'a>> {
        match ask {
            Ask::Replace(named) => {
                let slots = self.resolve(named, ever);
                let blank = |slot: &Slot| self.content(slot.id.as_deref(), &slot.named).is_none();
                let whole = by == Caller::Record;
                (!slots.iter().any(blank)).then_some(Change::Replace(slots, whole)) // C13
            }
            Ask::Create(named) => {
                let fresh = || fresh(ever, |id| self.find(id).is_some());
                Some(Change::Create(given.map_or_else(fresh, str::to_owned), named))
            }
            Ask::Update(id, named) => Some(Change::Update(id, named)),
            _ => None,
        }
    }

    /// Explicit ids first, then those of equal old contents, then numbers (L6, L7).
    fn resolve(&self, named: &[Named], ever: &mut u64) -> Vec<Slot> {
        let mut slots = self.explicit(named);
        let stay = slots.iter().filter(|slot| slot.named.mark != Some(Mark::Deleted));
        *ever = stay.filter_map(|slot| number(slot.id.as_deref()?)).fold(*ever, u64::max);
        for at in 0..slots.len() {
            if slots[at].id.is_some() {
                continue;
            }
            let taken = |id: &str| slots.iter().any(|slot| slot.id.as_deref() == Some(id));
            let same = |item: &&Item| !taken(&item.id) && slots[at].is_spelling_of(item);
            let id = match self.items.iter().find(same) {
                Some(item) if !slots[at].came_twice => item.id.clone(),
                _ => fresh(ever, |id| taken(id) || self.find(id).is_some()),
            };
            slots[at].id = Some(id);
        }
        slots
    }

    fn explicit(&self, named: &[Named]) -> Vec<Slot> {
        let mut slots: Vec<Slot> = Vec::new();
        for named in named.iter().cloned() {
            let first = slots.iter_mut().find(|slot| named.id.is_some() && slot.id == named.id);
            match first {
                None => slots.push(Slot { id: named.id.clone(), named, came_twice: false }),
                Some(first) if self.are_same(&first.named, &named) => first.named = named,
                Some(_) => slots.push(Slot { id: None, named, came_twice: true }),
            }
        }
        slots
    }

    fn are_same(&self, one: &Named, other: &Named) -> bool {
        let content = |named: &Named| self.content(named.id.as_deref(), named).map(|text| fold(&text));
        content(one) == content(other)
    }

    fn content(&self, id: Option<&str>, named: &Named) -> Option<String> {
        named.content.clone().or_else(|| self.find(id?).map(|item| item.content.clone()))
    }

    fn find(&self, id: &str) -> Option<&Item> {
        find(&self.items, id)
    }

    fn is_edited(&self) -> bool {
        self.copy.as_ref().is_some_and(|copy| *copy != self.items)
    }
}

/// A write with every id decided, so that it means the same on the list and on its copy (L13).
enum Change<'a> {
    Replace(Vec<Slot>, bool),
    Create(String, &'a Named),
    Update(&'a str, &'a Named),
}

impl Change<'_> {
    /// `model` holds what a copy takes over where it never had the item.
    fn on(&self, items: &[Item], model: Option<&[Item]>) -> Vec<Item> {
        match self {
            Change::Replace(slots, whole) => {
                let stay = slots.iter().filter(|slot| slot.named.mark != Some(Mark::Deleted));
                stay.filter_map(|slot| slot.item(items, *whole, model)).collect()
            }
            Change::Create(id, named) => with_new(items, Item::new(id, named)),
            Change::Update(id, named) if named.mark == Some(Mark::Deleted) => without(items, id),
            Change::Update(id, named) => {
                let laid = |item: &Item| if item.id == *id { item.with(named) } else { item.clone() };
                items.iter().map(laid).collect()
            }
        }
    }
}

fn with_new(items: &[Item], new: Item) -> Vec<Item> {
    let mut items = items.to_vec();
    match items.iter_mut().find(|item| item.id == new.id) {
        Some(item) => *item = new,
        None => items.push(new),
    }
    items
}

fn without(items: &[Item], id: &str) -> Vec<Item> {
    items.iter().filter(|item| item.id != id).cloned().collect()
}

impl Slot {
    fn is_spelling_of(&self, item: &Item) -> bool {
        let content = self.named.content.as_deref().map(fold);
        content == Some(fold(&item.content)) || content == Some(fold(&shown(&item.content)))
    }

    fn item(&self, items: &[Item], whole: bool, model: Option<&[Item]>) -> Option<Item> {
        let id = self.id.as_deref()?;
        match find(items, id) {
            Some(old) if whole => Some(Item { content: old.rewritten(&self.named), ..Item::new(id, &self.named) }),
            Some(old) => Some(Item { content: old.rewritten(&self.named), ..old.with(&self.named) }),
            None if self.named.content.is_none() => find(model?, id).cloned(),
            None => Some(Item::new(id, &self.named)),
        }
    }
}

impl Item {
    fn new(id: &str, named: &Named) -> Self {
        Self {
            id: id.to_owned(),
            content: named.content.clone().unwrap_or_default(),
            status: if let Some(Mark::Set(status)) = named.mark { status } else { Status::Pending },
            description: named.description.clone(),
            extras: named.extras.clone(),
        }
    }

    /// What the call does not name stays (L1).
    fn with(&self, named: &Named) -> Self {
        let mut item = self.clone();
        item.content = named.content.clone().unwrap_or(item.content);
        item.description = named.description.clone().or(item.description);
        item.extras.extend(named.extras.clone());
        if let Some(Mark::Set(status)) = named.mark {
            item.status = status;
        }
        item
    }

    /// The content after a `todo_write`: our shown form of it means the stored one (T5).
    fn rewritten(&self, named: &Named) -> String {
        let new = named.content.as_ref().filter(|content| **content != shown(&self.content));
        new.unwrap_or(&self.content).clone()
    }
}

impl Named {
    fn is_empty(&self) -> bool {
        self.content.is_none() && self.mark.is_none() && self.description.is_none() && self.extras.is_empty()
    }
}

#[must_use]
pub fn find<'a>(items: &'a [Item], id: &str) -> Option<&'a Item> {
    items.iter().find(|item| item.id == id)
}

/// T2, of the characters that a plain text may hold.
fn shown(text: &str) -> String {
    text.replace('<', "‹").replace('>', "›")
}

/// L6: case, spaces, closing punctuation.
#[must_use]
pub fn fold(text: &str) -> String {
    let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
    words.join(" ").trim_end_matches(['.', ',', ';', ':', '!', '?']).trim_end().to_owned()
}

/// A decimal id below 2^32 (L4).
fn number(id: &str) -> Option<u64> {
    let is_decimal = id.bytes().all(|byte| byte.is_ascii_digit());
    id.parse().ok().filter(|&number: &u64| is_decimal && number < 1 << 32)
}

/// The next number, which never names two things (L4).
fn fresh(ever: &mut u64, is_taken: impl Fn(&str) -> bool) -> String {
    loop {
        *ever += 1;
        if !is_taken(&ever.to_string()) {
            return ever.to_string();
        }
    }
}
