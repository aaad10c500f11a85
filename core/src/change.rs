use alloc::string::String;
use alloc::vec::Vec;

use crate::list::Item;
use crate::refusal::Refusal;
use crate::tools::{Answer, Mended, Tool};

/// What an event moved, and what [`Session::render`](crate::Session::render) needs to say it. It is
/// about the state as it was left: render it before the next event, or not at all.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "it may hold the answer to a tool call: render it, or drop it on purpose in a replay"]
pub enum Change {
    /// Nothing that anybody has to be told.
    None,
    /// A call of a list tool took effect, or was refused.
    Call(Called),
    /// A request of main's that carries a note, a reminder, or both.
    Request(Carried),
    /// A compaction.
    Compacted,
}

/// How a call of a list tool came out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Called {
    /// The tool.
    pub tool: Tool,
    /// What came of it.
    pub result: Result<Done, Refusal>,
    /// What had to be mended to read it.
    pub mended: Mended,
    pub(crate) answer: Answer,
    /// Whether our answer is the tool's answer.
    pub(crate) ours: bool,
}

/// What an accepted call did.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Done {
    /// A write.
    Wrote(Wrote),
    /// A read, of one item or of the list.
    Read(Option<Item>),
}

/// What a write did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wrote {
    /// Whether anything is other than before.
    pub changed: bool,
    /// Whether it named an item that is not on the list: a write of another's tool, of whose creation nothing
    /// is known.
    pub unknown_id: bool,
    /// The one item that a Task tool wrote.
    pub(crate) one: Option<One>,
    /// Open items that a whole list left out (L9).
    pub(crate) dropped: Vec<Item>,
    /// Ids that came twice, and what the second became (L7).
    pub(crate) renumbered: Vec<(String, String)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum One {
    /// At this place of the list now.
    Created(usize),
    Updated(usize),
    Deleted(Item),
}

/// What rides on a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carried {
    /// What a user changed since main's last request (L13).
    pub(crate) edits: Option<Edits>,
    /// Whether items in progress may have been left unfinished (R10).
    pub(crate) unfinished: bool,
    /// Whether a reminder is due.
    pub(crate) reminder: bool,
}

/// The difference between the list as main knows it and as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Edits {
    pub(crate) added: Vec<Item>,
    /// With whether the change is in what a list does not show.
    pub(crate) changed: Vec<(Item, bool)>,
    pub(crate) removed: Vec<Item>,
    /// The ids in their new order, where only that differs for some.
    pub(crate) order: Vec<String>,
}

impl Edits {
    /// The difference, if there is any.
    pub(crate) fn between(before: &[Item], after: &[Item]) -> Option<Self> {
        if before == after {
            return None;
        }
        let find = |items: &[Item], id: &str| items.iter().position(|item| item.id == id);
        let mut edits = Self::default();
        let mut places = Vec::new();
        for item in after {
            match find(before, &item.id).and_then(|at| before.get(at).map(|old| (at, old))) {
                None => edits.added.push(item.clone()),
                Some((at, old)) => {
                    places.push(at);
                    if old != item {
                        let hidden = old.content == item.content && old.status == item.status;
                        edits.changed.push((item.clone(), hidden));
                    }
                }
            }
        }
        edits.removed.extend(before.iter().filter(|item| find(after, &item.id).is_none()).cloned());
        if !places.is_sorted() {
            edits.order = after.iter().map(|item| item.id.clone()).collect();
        }
        Some(edits)
    }
}
