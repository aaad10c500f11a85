use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::limits;
use crate::shown::{is_blank, push_json, rewritten_len, shown_id};

/// The session's plan: items in order, each with an id of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "rkyv", derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize))]
pub struct List {
    pub(crate) items: Vec<Item>,
    /// The highest decimal id below 2^32 ever on the list, or assigned by us (L4).
    pub(crate) highest: u64,
    pub(crate) revision: u64,
}

/// One line of the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "rkyv", derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize))]
pub struct Item {
    /// Its id, in its shown form (C8). Never empty, never changed.
    pub id: String,
    /// What is to be done, as the model wrote it. Never blank.
    pub content: String,
    /// How far it is.
    pub status: Status,
    /// More about it. Kept for whoever asks for the item; never in a reminder or a snapshot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What else the model wrote with it, in the order written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extras: Vec<Extra>,
}

/// A key that is not ours, with its value as the JSON text that the model wrote (C9).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "rkyv", derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize))]
pub struct Extra {
    /// The key.
    pub key: String,
    /// The value's JSON text.
    pub json: String,
}

/// How far an item is. `deleted` is an instruction and not a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "rkyv", derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize))]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Not begun.
    Pending,
    /// Being worked on.
    InProgress,
    /// Waiting for something else; still open.
    Blocked,
    /// Done.
    Completed,
    /// Given up.
    Cancelled,
}

/// A list breaks one of its own rules. Only bytes that we did not write can.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("item {position}: {rule}")]
pub struct BrokenList {
    /// Position of the item, from 1; 0 where it is the list as a whole.
    pub position: usize,
    /// The rule that is broken.
    pub rule: &'static str,
}

impl Status {
    /// Every status.
    pub const ALL: [Self; 5] = [Self::Pending, Self::InProgress, Self::Blocked, Self::Completed, Self::Cancelled];

    /// Whether there is work left: pending, in progress or blocked.
    #[must_use]
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Pending | Self::InProgress | Self::Blocked)
    }

    /// Its one spelling in everything that we write.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Blocked => "blocked",
            Self::Completed => "completed",
            Self::Cancelled => "cancelled",
        }
    }
}

impl List {
    /// A list without items.
    pub const EMPTY: &'static Self = &Self { items: Vec::new(), highest: 0, revision: 0 };

    /// The items, in order.
    #[must_use]
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// The item of this id.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&Item> {
        self.items.iter().find(|item| item.id == id)
    }

    /// The items with work left, in order.
    pub fn open(&self) -> impl Iterator<Item = &Item> {
        self.items.iter().filter(|item| item.status.is_open())
    }

    /// How many items have this status.
    #[must_use]
    pub fn count(&self, status: Status) -> usize {
        self.items.iter().filter(|item| item.status == status).count()
    }

    /// A number that grows with each change: one compare tells whether to draw the list again.
    #[must_use]
    pub const fn revision(&self) -> u64 {
        self.revision
    }

    /// Whether a reminder has anything to remind of: a blocked item alone has not (D2).
    pub(crate) fn can_move(&self) -> bool {
        self.items.iter().any(|item| matches!(item.status, Status::Pending | Status::InProgress))
    }

    /// All that is always true of a list.
    ///
    /// # Errors
    ///
    /// Names the first item that breaks a rule.
    pub fn check(&self) -> Result<(), BrokenList> {
        check_items(&self.items)?;
        if self.highest > HIGHEST {
            return Err(BrokenList { position: 0, rule: "the highest number leaves none to assign" });
        }
        let counted = self.items.iter().filter_map(|item| decimal(&item.id)).max();
        if counted > Some(self.highest) {
            return Err(BrokenList { position: 0, rule: "an id is higher than the highest ever seen" });
        }
        Ok(())
    }
}

/// What [`List::check`] says of the items alone.
pub(crate) fn check_items(items: &[Item]) -> Result<(), BrokenList> {
    within("items", items.len(), limits::ITEMS).map_err(|limit| BrokenList { position: 0, rule: limit.what })?;
    let mut total = Sizes::default();
    for (index, item) in items.iter().enumerate() {
        let broken = |rule| BrokenList { position: index + 1, rule };
        if item.id.is_empty() || shown_id(&item.id) != item.id {
            return Err(broken("an id is not in its shown form"));
        }
        if items.iter().take(index).any(|other| other.id == item.id) {
            return Err(broken("two items have one id"));
        }
        if is_blank(&item.content) {
            return Err(broken("the content is blank"));
        }
        let sizes = Sizes::of(item);
        sizes.within_item().map_err(|limit| broken(limit.what))?;
        total = total.plus(sizes);
    }
    total.within_list(items.len()).map_err(|limit| BrokenList { position: 0, rule: limit.what })
}

/// An id as a number, where it is one that counts for the next (L4).
pub(crate) fn decimal(id: &str) -> Option<u64> {
    if !id.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    id.parse().ok().filter(|&number: &u64| number < 1 << 32)
}

/// Room for every number that can be assigned after it.
const HIGHEST: u64 = 1 << 63;

/// The sizes of one item, or the sums of many, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sizes {
    pub(crate) id: usize,
    pub(crate) content: usize,
    pub(crate) description: usize,
    pub(crate) extras: usize,
    pub(crate) extra_bytes: usize,
    /// Id and content as a model may have to write them again.
    pub(crate) shown: usize,
}

/// A limit that was passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Passed {
    pub(crate) what: &'static str,
    pub(crate) limit: usize,
    pub(crate) value: usize,
}

impl Sizes {
    pub(crate) fn of(item: &Item) -> Self {
        Self {
            id: item.id.len(),
            content: item.content.len(),
            description: item.description.as_ref().map_or(0, String::len),
            extras: item.extras.len(),
            extra_bytes: item.extras.iter().map(Extra::bytes).sum(),
            shown: item.id.len() + rewritten_len(&item.content),
        }
    }

    pub(crate) const fn plus(self, other: Self) -> Self {
        Self {
            id: self.id + other.id,
            content: self.content + other.content,
            description: self.description + other.description,
            extras: self.extras + other.extras,
            extra_bytes: self.extra_bytes + other.extra_bytes,
            shown: self.shown + other.shown,
        }
    }

    pub(crate) fn within_item(self) -> Result<(), Passed> {
        within("bytes of an id", self.id, limits::ID)?;
        within("bytes of a content", self.content, limits::CONTENT)?;
        within("bytes of a description", self.description, limits::DESCRIPTION)?;
        within("extra keys of an item", self.extras, limits::EXTRAS)?;
        within("bytes of an item's extra keys", self.extra_bytes, limits::EXTRA_BYTES)
    }

    pub(crate) fn within_list(self, items: usize) -> Result<(), Passed> {
        let fields = self.id + self.content + self.description + self.extra_bytes;
        within("items", items, limits::ITEMS)?;
        within("bytes of all ids and contents", self.shown, limits::SHOWN)?;
        within("bytes of all fields", fields, limits::FIELDS)
    }
}

impl Item {
    /// Items as the arguments of a `todo_write` that gives them, with everything that is known of them.
    #[must_use]
    pub fn to_arguments<'a>(items: impl IntoIterator<Item = &'a Self>) -> String {
        let mut out = String::from("{\"todos\":[");
        for item in items {
            out.push_str(if out.ends_with('[') { "" } else { "," });
            item.push_json(&mut out);
        }
        out.push_str("]}");
        out
    }

    /// It as the JSON object that [`to_arguments`](Self::to_arguments) has of it. An extra whose key is one of
    /// ours is left out: it would be read as ours.
    pub fn push_json(&self, out: &mut String) {
        let texts =
            [("id", Some(&self.id)), ("content", Some(&self.content)), ("description", self.description.as_ref())];
        for (key, text) in texts {
            let Some(text) = text else { continue };
            out.push_str(if key == "id" { "{\"" } else { ",\"" });
            out.push_str(key);
            out.push_str("\":");
            push_json(out, text);
        }
        out.push_str(",\"status\":\"");
        out.push_str(self.status.as_str());
        out.push('"');
        let is_free = |extra: &&Extra| !["id", "content", "status", "description"].contains(&extra.key.as_str());
        for extra in self.extras.iter().filter(is_free) {
            out.push(',');
            push_json(out, &extra.key);
            out.push(':');
            out.push_str(&extra.json);
        }
        out.push('}');
    }
}

impl Extra {
    pub(crate) fn bytes(&self) -> usize {
        self.key.len() + self.json.len()
    }
}

pub(crate) fn within(what: &'static str, value: usize, limit: usize) -> Result<(), Passed> {
    if value <= limit { Ok(()) } else { Err(Passed { what, limit, value }) }
}
