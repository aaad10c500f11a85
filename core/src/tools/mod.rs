//! The list's tools: their names, and what a model's arguments ask for.

mod checklist;
mod dialect;
mod document;
mod fields;
mod literal;
mod loose;
mod mended;
mod schema;
mod strict;
mod surface;

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::limits;
use crate::list::{Status, within};
use crate::refusal::Refusal;

pub use dialect::Dialect;
pub use mended::Mended;
pub use schema::ToolDef;
pub(crate) use surface::{Answer, Surface};

/// A tool of the list. Both families work on one list (L3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tool {
    /// Replaces the whole list (L1).
    TodoWrite,
    /// Appends one item (L2).
    TaskCreate,
    /// Changes one item (L2).
    TaskUpdate,
    /// Shows one item.
    TaskGet,
    /// Shows the list.
    TaskList,
}

impl Tool {
    /// The list's tool of this name, in any spelling that is read.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Surface::named(name).map(|surface| surface.tool)
    }

    /// Whether an accepted call is a write. The others are reads.
    #[must_use]
    pub const fn writes(self) -> bool {
        matches!(self, Self::TodoWrite | Self::TaskCreate | Self::TaskUpdate)
    }
}

/// What a call asks of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Op<'a> {
    Replace(Vec<Entry<'a>>),
    Create(Entry<'a>),
    /// Its `id` is there.
    Update(Entry<'a>),
    Get(Cow<'a, str>),
    List,
}

/// An item as a call names it: what is absent was not named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entry<'a> {
    /// In its shown form, not empty.
    pub(crate) id: Option<Cow<'a, str>>,
    /// Not blank.
    pub(crate) content: Option<Cow<'a, str>>,
    pub(crate) mark: Option<Mark>,
    pub(crate) description: Option<Cow<'a, str>>,
    /// Key and JSON text, in the order written, each key once.
    pub(crate) extras: Vec<(Cow<'a, str>, Cow<'a, str>)>,
}

/// What a call makes of an item's status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    Set(Status),
    /// An instruction, not a state.
    Deleted,
}

impl Entry<'_> {
    /// Whether it names anything beside its id.
    pub(crate) fn names_something(&self) -> bool {
        self.content.is_some() || self.mark.is_some() || self.description.is_some() || !self.extras.is_empty()
    }

    fn into_owned(self) -> Entry<'static> {
        let own = |text: Cow<'_, str>| -> Cow<'static, str> { Cow::Owned(text.into_owned()) };
        Entry {
            id: self.id.map(own),
            content: self.content.map(own),
            mark: self.mark,
            description: self.description.map(own),
            extras: self.extras.into_iter().map(|(key, json)| (own(key), own(json))).collect(),
        }
    }
}

/// A call as it was read, and what had to be mended for that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reading<'a> {
    pub(crate) op: Op<'a>,
    pub(crate) mended: Mended,
}

/// Reads the arguments of a call. Strict JSON takes the fast way; only what fails it pays for
/// tolerance, and every refusal comes from there.
pub(crate) fn read<'a>(surface: &Surface, arguments: &'a str) -> Result<Reading<'a>, Refusal> {
    within("bytes of arguments", arguments.len(), limits::ARGUMENTS)?;
    read_of_any_size(surface, arguments)
}

fn read_of_any_size<'a>(surface: &Surface, arguments: &'a str) -> Result<Reading<'a>, Refusal> {
    match strict::read(surface, arguments) {
        Some(op) => Ok(Reading { op, mended: Mended::default() }),
        None => loose::read(surface, arguments),
    }
}

/// Whether a call of the tool of this name can be read, whatever list it meets, and what would be mended
/// (C15). None where the name is no tool of the list's. The bound on the size of the arguments is left to
/// the session.
///
/// # Errors
///
/// The refusal that the call would get.
#[must_use]
pub fn understand(name: &str, arguments: &str) -> Option<Result<Mended, Refusal>> {
    let surface = Surface::named(name)?;
    Some(read_of_any_size(surface, arguments).map(|reading| reading.mended))
}

/// A whole list as a product recorded it.
pub(crate) fn read_record(arguments: &str) -> Result<Vec<Entry<'_>>, Refusal> {
    match read(dialect::OURS[0], arguments)?.op {
        Op::Replace(entries) => Ok(entries),
        Op::Create(_) | Op::Update(_) | Op::Get(_) | Op::List => Ok(Vec::new()),
    }
}

/// A JSON string's text; none for any other value.
fn json_text(json: &str) -> Option<Cow<'_, str>> {
    let inner = json.strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\\') {
        return serde_json::from_str::<String>(json).ok().map(Cow::Owned);
    }
    Some(Cow::Borrowed(inner))
}
