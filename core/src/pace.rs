//! When a reminder is due: what section 5 counts, whatever the policy, so that a changed policy can
//! start from any state (P6).

use serde::{Deserialize, Serialize};

use crate::policy::Clock;

/// Main's requests are numbered from 1, and a response has the number of its request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "rkyv", derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize))]
pub(crate) struct Pace {
    /// Main's requests so far.
    pub(crate) requests: u64,
    /// The response of main's last accepted write, or the one that the last compaction came after.
    pub(crate) written: u64,
    /// The request that carried the last reminder, unless a compaction came since.
    pub(crate) reminded: Option<u64>,
    /// Responses with a call by main since the last write, reminder, compaction or start.
    pub(crate) rounds: u64,
    /// Reminders without a reaction (D4).
    pub(crate) unanswered: u64,
    /// Whether main called a tool since its last request.
    pub(crate) called: bool,
    /// Whether the session was resumed since main's last request.
    pub(crate) resumed: bool,
}

impl Pace {
    /// Main called a tool of any kind, with whatever outcome.
    pub(crate) fn call(&mut self) {
        if !self.called && self.requests > self.written {
            self.rounds = self.rounds.saturating_add(1);
        }
        self.called = true;
    }

    /// Main wrote, or a compaction came: the clock starts again.
    pub(crate) fn restart(&mut self) {
        self.written = self.requests;
        self.rounds = 0;
        self.unanswered = 0;
    }

    /// A compaction forgets the last reminder too: it went with the messages.
    pub(crate) fn compact(&mut self) {
        self.restart();
        self.reminded = None;
    }

    /// Main's next request. It opens a turn where it is the first, the first after a resume, or where no
    /// call came since the last.
    pub(crate) fn request(&mut self) {
        if self.requests == 0 || self.resumed || !self.called {
            self.unanswered = 0;
        }
        self.requests = self.requests.saturating_add(1);
        self.called = false;
        self.resumed = false;
    }

    /// Whether the clock says so for the current request. The gate and the cap are not the clock's.
    pub(crate) fn is_due(&self, clock: Clock) -> bool {
        match clock {
            Clock::Requests { after, between } => {
                let quiet = self.requests.saturating_sub(self.written) > u64::from(after.get());
                let apart = |last| self.requests.saturating_sub(last) >= u64::from(between.get());
                quiet && self.reminded.is_none_or(apart)
            }
            Clock::Rounds(rounds) => self.rounds >= u64::from(rounds.get()),
            Clock::EveryRequest => true,
        }
    }

    /// The current request carries a reminder.
    pub(crate) fn remind(&mut self) {
        self.reminded = Some(self.requests);
        self.rounds = 0;
        self.unanswered = self.unanswered.saturating_add(1);
    }

    /// What is always true of it.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        let past = self.written <= self.requests && self.reminded.is_none_or(|last| last <= self.requests);
        let counted = self.rounds <= self.requests && self.unanswered <= self.requests;
        if past && counted { Ok(()) } else { Err("a counter is ahead of the requests") }
    }
}
