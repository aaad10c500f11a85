use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};
use session_todo::{Event, Policy, State};

/// How many records a log holds, which is also the number of its last one: records count from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(pub u64);

impl Version {
    /// Of a log that has not begun.
    pub const START: Self = Self(0);

    /// The version of this many records more.
    #[must_use]
    pub const fn plus(self, records: usize) -> Self {
        Self(self.0.saturating_add(records as u64))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

/// One entry of a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Record<'a> {
    /// Something happened.
    Event(#[serde(borrow)] Event<'a>),
    /// From here on this policy folds, from this state. The first record of every log is one, and
    /// a changed policy is another; what is before it is never folded again (P6).
    Policy {
        /// The name of a preset.
        #[serde(borrow)]
        name: Cow<'a, str>,
        /// Where the fold starts.
        state: Box<State>,
    },
}

impl Record<'_> {
    /// The record that a log under this policy begins with.
    #[must_use]
    pub fn begin(policy: &Policy) -> Record<'static> {
        Self::policy(policy, State::default())
    }

    /// A change to this policy, from this state.
    #[must_use]
    pub fn policy(policy: &Policy, state: State) -> Record<'static> {
        Record::Policy { name: Cow::Owned(policy.name.to_string()), state: Box::new(state) }
    }
}

/// A state that saves the records before it from being folded again. It is only ever a cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cached {
    /// The last record that is in the state.
    pub version: Version,
    /// The name of the policy that folds what follows.
    pub policy: String,
    /// The state.
    pub state: State,
}
