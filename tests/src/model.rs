//! The naive model. It keeps the whole log and works everything out from it again each time: there is no
//! counter that an event could move wrongly. It shares nothing with the core but the event type.

pub mod list;
pub mod read;

use session_todo::{Agent, Caller, Event};

use list::{Came, Item, Place, Status, find};
pub use read::Parsed;
use read::{How, Tool};

/// A policy, as the model puts it.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools)]
pub struct Rules {
    pub clock: Clock,
    pub cap: Option<u64>,
    /// Whether there is a gate (D2).
    pub gate: bool,
    pub lane: Lane,
    pub lists: Which,
    pub carries: Which,
    /// Policy `empty` (A1).
    pub empties: bool,
    pub resume_note: bool,
    pub share: bool,
    pub max_items: Option<usize>,
    pub one_in_progress: bool,
}

#[derive(Clone, Copy, Debug)]
pub enum Clock {
    Requests(u64, u64),
    Rounds(usize),
    Every,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    History,
    LastUserMessage,
    ToolResult,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    Nothing,
    Open,
    All,
}

/// What the model expects after an event.
#[derive(Clone, Debug)]
pub struct Told {
    pub place: Place,
    pub effect: Expected,
    /// The cap alone held a reminder back (D4).
    pub capped: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    Nothing,
    Result { is_error: bool },
    Request(Carried),
    Snapshot { items: usize },
}

/// What rides on a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carried {
    pub lane: Lane,
    pub edit: Option<Edit>,
    /// Ids that the resume note names.
    pub unfinished: Vec<String>,
    /// How many items the reminder lists.
    pub reminder: Option<usize>,
}

/// Ids that the note of L13 names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edit {
    pub added: Vec<String>,
    pub changed: Vec<String>,
    pub removed: Vec<String>,
}

impl Rules {
    /// The checks of a policy (L10, L11). A list that is too long already can still be worked off.
    #[must_use]
    pub fn allow(&self, before: &[Item], after: &[Item]) -> bool {
        let grows = after.len() > before.len();
        let in_progress = |items: &[Item]| items.iter().filter(|item| item.status == Status::InProgress).count();
        let fits = !grows || self.max_items.is_none_or(|max| after.len() <= max);
        fits && (!self.one_in_progress || in_progress(after) <= 1 || in_progress(after) <= in_progress(before))
    }
}

impl Which {
    fn of(self, items: &[Item]) -> usize {
        match self {
            Self::Nothing => 0,
            Self::Open => items.iter().filter(|item| item.status.is_open()).count(),
            Self::All => items.len(),
        }
    }
}

/// Whether the model can say what this log does: it reads every call, and no hard limit is near.
#[must_use]
pub fn can_judge(log: &[Event<'_>]) -> bool {
    let bytes = |event: &Event<'_>| if let Event::ToolCalled(call) = event { call.arguments.len() } else { 0 };
    let is_small = log.len() <= 230 && log.iter().map(bytes).sum::<usize>() <= 16 * 1024;
    is_small && log.iter().all(|event| Parsed::of(event).is_judged())
}

/// What each event of the log should have come to.
#[must_use]
pub fn run(rules: &Rules, log: &[&Parsed]) -> Vec<Told> {
    let mut past = Past::of(rules, log);
    let mut effects = Vec::with_capacity(log.len());
    for at in 0..log.len() {
        let (effect, capped) = past.expect(at);
        if matches!(&effect, Expected::Request(Carried { reminder: Some(_), .. })) {
            past.reminded.push(at);
        }
        effects.push((effect, capped));
    }
    let places = past.places.into_iter().skip(1);
    places.zip(effects).map(|(place, (effect, capped))| Told { place, effect, capped }).collect()
}

/// The log with what follows from it. Positions are those of the log.
struct Past<'a> {
    rules: &'a Rules,
    log: &'a [&'a Parsed],
    /// The list before each event, and after the last.
    places: Vec<Place>,
    /// Main's requests up to and with this event. A call has the number of its response.
    numbers: Vec<u64>,
    /// Requests that open a turn.
    opens: Vec<bool>,
    /// Requests that carried a reminder.
    reminded: Vec<usize>,
}

impl<'a> Past<'a> {
    fn of(rules: &'a Rules, log: &'a [&'a Parsed]) -> Self {
        let mut places = vec![Place::default()];
        for event in log {
            places.push(places[places.len() - 1].after(rules, event));
        }
        let up_to = |at: usize| log[..=at].iter().filter(|event| is_main_request(event)).count() as u64;
        let numbers = (0..log.len()).map(up_to).collect();
        let opens = (0..log.len()).map(|at| opens_turn(log, at)).collect();
        Self { rules, log, places, numbers, opens, reminded: Vec::new() }
    }

    fn expect(&self, at: usize) -> (Expected, bool) {
        match self.log[at] {
            Parsed::Call { by, tool, how: How::Ours, .. } if *by != Caller::Record && *tool != Tool::Foreign => {
                (Expected::Result { is_error: self.places[at + 1].came == Came::Refused }, false)
            }
            Parsed::Request(Agent::Main) => self.request(at),
            Parsed::Compacted => (self.snapshot(at), false),
            _ => (Expected::Nothing, false),
        }
    }

    /// A2, A3: from the list as it stands, set aside or not.
    fn snapshot(&self, at: usize) -> Expected {
        let items = &self.places[at].items;
        let open = Which::Open.of(items);
        let carried = self.rules.carries.of(items);
        if open == 0 || carried == 0 { Expected::Nothing } else { Expected::Snapshot { items: carried } }
    }

    fn request(&self, at: usize) -> (Expected, bool) {
        let (edit, unfinished) = (self.edit(at), self.unfinished(at));
        let is_note = edit.is_some() || !unfinished.is_empty();
        let waits = is_note && self.rules.lane == Lane::LastUserMessage;
        let asked = !waits && self.is_due(at) && self.is_gate_open(at);
        let is_capped = self.is_capped(at);
        let reminder = (asked && !is_capped).then(|| self.rules.lists.of(self.places[at].reads()));
        let lane = if is_note { Lane::History } else { self.rules.lane };
        let effect = if is_note || reminder.is_some() {
            Expected::Request(Carried { lane, edit, unfinished, reminder })
        } else {
            Expected::Nothing
        };
        (effect, asked && is_capped)
    }

    /// L13: the difference between the copy and the list, if any.
    fn edit(&self, at: usize) -> Option<Edit> {
        let Place { items, copy, .. } = &self.places[at];
        let copy = copy.as_ref().filter(|copy| *copy != items)?;
        let ids = |items: &[Item], wanted: &dyn Fn(&Item) -> bool| -> Vec<String> {
            items.iter().filter(|item| wanted(item)).map(|item| item.id.clone()).collect()
        };
        Some(Edit {
            added: ids(items, &|item| find(copy, &item.id).is_none()),
            changed: ids(items, &|item| find(copy, &item.id).is_some_and(|old| old != item)),
            removed: ids(copy, &|item| find(items, &item.id).is_none()),
        })
    }

    /// R10: judged on this request.
    fn unfinished(&self, at: usize) -> Vec<String> {
        let since = self.log[..at].iter().rposition(|event| is_main_request(event)).map_or(0, |last| last + 1);
        let resumed = self.log[since..at].iter().any(|event| matches!(event, Parsed::Resumed));
        if !resumed || !self.rules.resume_note {
            return Vec::new();
        }
        let in_progress = self.places[at].reads().iter().filter(|item| item.status == Status::InProgress);
        in_progress.map(|item| item.id.clone()).collect()
    }

    /// D2, and A1: what is set aside reminds of nothing.
    fn is_gate_open(&self, at: usize) -> bool {
        let can_move = |item: &Item| matches!(item.status, Status::Pending | Status::InProgress);
        let Place { items, aside, .. } = &self.places[at];
        !aside && (!self.rules.gate || items.iter().any(can_move))
    }

    /// The clocks of section 5.
    fn is_due(&self, at: usize) -> bool {
        let r = self.numbers[at];
        match self.rules.clock {
            Clock::Requests(n, m) => r - self.w(at) > n && self.g(at).is_none_or(|g| r - g >= m),
            Clock::Rounds(n) => self.rounds(at) >= n,
            Clock::Every => true,
        }
    }

    /// The response of main's last accepted write; a compaction before request `c` counts as one in `c - 1`.
    fn w(&self, at: usize) -> u64 {
        let restarts = (0..at).filter(|&before| self.is_restart(before));
        restarts.map(|before| self.numbers[before]).max().unwrap_or(0)
    }

    /// The request of the last reminder, which a compaction forgets.
    fn g(&self, at: usize) -> Option<u64> {
        let last = *self.reminded.last()?;
        let is_forgotten = self.log[last..at].iter().any(|event| matches!(event, Parsed::Compacted));
        (!is_forgotten).then(|| self.numbers[last])
    }

    /// Responses with a call since the last write, reminder, compaction or start.
    fn rounds(&self, at: usize) -> usize {
        let w = self.w(at);
        let g = self.reminded.last().map_or(0, |&last| self.numbers[last]);
        let calls = (0..at).filter(|&before| is_main_call(self.log[before]));
        let mut rounds: Vec<u64> = calls.map(|before| self.numbers[before]).filter(|&k| k > w && k >= g).collect();
        rounds.dedup();
        rounds.len()
    }

    fn is_restart(&self, at: usize) -> bool {
        matches!(self.log[at], Parsed::Compacted) || self.is_write_by(at, Caller::Main)
    }

    fn is_write_by(&self, at: usize, wanted: Caller) -> bool {
        let is_write = self.places[at + 1].came == Came::Wrote;
        is_write && matches!(self.log[at], Parsed::Call { by, .. } if *by == wanted)
    }

    /// D4: reminders since the last reaction, a turn's opening included.
    fn is_capped(&self, at: usize) -> bool {
        let Some(cap) = self.rules.cap else { return false };
        let reacts = |&at: &usize| self.opens[at] || self.is_restart(at) || self.is_write_by(at, Caller::User);
        let reacted = (0..=at).rev().find(reacts).unwrap_or(0);
        self.reminded.iter().filter(|&&reminder| reminder >= reacted).count() as u64 >= cap
    }
}

/// Section 1: the first request, the first after a resume, one before which main called no tool.
fn opens_turn(log: &[&Parsed], at: usize) -> bool {
    if !is_main_request(log[at]) {
        return false;
    }
    let Some(last) = log[..at].iter().rposition(|event| is_main_request(event)) else { return true };
    let between = &log[last + 1..at];
    between.iter().any(|event| matches!(event, Parsed::Resumed)) || !between.iter().any(|event| is_main_call(event))
}

const fn is_main_request(event: &Parsed) -> bool {
    matches!(event, Parsed::Request(Agent::Main))
}

const fn is_main_call(event: &Parsed) -> bool {
    matches!(event, Parsed::Call { by: Caller::Main, .. })
}
