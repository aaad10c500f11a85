use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::list::{BrokenList, Item, List, check_items};
use crate::pace::Pace;

/// Everything that the next event can depend on but the policy (A8). Serialised it carries a version,
/// and every later release reads it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Stored", try_from = "Stored")]
#[cfg_attr(feature = "rkyv", derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize))]
pub struct State {
    pub(crate) list: List,
    /// The list reads as empty until the next accepted call (A1).
    pub(crate) set_aside: bool,
    /// The items as main knows them, from a user's edit to main's next request (L13).
    pub(crate) copy: Option<Vec<Item>>,
    pub(crate) pace: Pace,
}

/// A state that was not written by us, or was damaged since.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BrokenState {
    /// A version that this release does not know.
    #[error("a state of version {found}, and this release reads version {known}")]
    Version {
        /// The version that was found.
        found: u32,
        /// The version that this release reads.
        known: u32,
    },
    /// The list breaks a rule.
    #[error("the list is broken: {0}")]
    List(#[from] BrokenList),
    /// A counter contradicts another.
    #[error("the counters are broken: {0}")]
    Counters(&'static str),
}

impl State {
    /// The version that is written.
    pub const VERSION: u32 = 1;

    /// The list as it stands, also where it is set aside.
    #[must_use]
    pub const fn list(&self) -> &List {
        &self.list
    }

    /// Main's requests so far.
    #[must_use]
    pub const fn requests(&self) -> u64 {
        self.pace.requests
    }

    /// Whether main's view of the list is behind a user's edit.
    pub(crate) fn is_edited(&self) -> bool {
        self.copy.as_ref().is_some_and(|copy| *copy != self.list.items)
    }

    /// All that is always true of a state.
    ///
    /// # Errors
    ///
    /// Names the first rule that is broken.
    pub fn check(&self) -> Result<(), BrokenState> {
        self.list.check()?;
        self.copy.as_deref().map_or(Ok(()), check_items)?;
        self.pace.check().map_err(BrokenState::Counters)
    }
}

/// The JSON form, version 1.
#[derive(Serialize, Deserialize)]
struct Stored {
    version: u32,
    list: List,
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    set_aside: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    copy: Option<Vec<Item>>,
    pace: Pace,
}

impl From<State> for Stored {
    fn from(State { list, set_aside, copy, pace }: State) -> Self {
        Self { version: State::VERSION, list, set_aside, copy, pace }
    }
}

impl TryFrom<Stored> for State {
    type Error = BrokenState;

    fn try_from(Stored { version, list, set_aside, copy, pace }: Stored) -> Result<Self, BrokenState> {
        if version != Self::VERSION {
            return Err(BrokenState::Version { found: version, known: Self::VERSION });
        }
        let state = Self { list, set_aside, copy, pace };
        state.check()?;
        Ok(state)
    }
}
