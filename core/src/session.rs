use alloc::string::String;

use crate::change::{Called, Carried, Change, Done, Edits, Wrote};
use crate::effect::{Effect, Lane};
use crate::event::{Agent, Call, Caller, Event, Outcome};
use crate::list::{List, check_items};
use crate::policy::{AtCompaction, Gate, Policy};
use crate::refusal::Refusal;
use crate::shown::shown_id;
use crate::state::State;
use crate::text;
use crate::tools::{self, Op, Surface};
use crate::write::{Plan, Scope, unknown_id};

/// One session's list: a policy, which never changes, and a state, which only events move.
///
/// A fork is a clone. An agent with a list of its own has a session of its own, in which it is main.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    policy: Policy,
    state: State,
}

impl Session {
    /// A session that starts.
    #[must_use]
    pub fn new(policy: Policy) -> Self {
        Self::resume(policy, State::default())
    }

    /// A session that starts from a state, also under another policy than the one it was left with (P6).
    #[must_use]
    pub const fn resume(policy: Policy, state: State) -> Self {
        Self { policy, state }
    }

    /// Folds one event, and says what the loop has to do about it. It never fails.
    #[must_use = "the effect is the loop's to carry out"]
    pub fn step(&mut self, event: &Event<'_>) -> Option<Effect> {
        let change = self.apply(event);
        self.render(&change)
    }

    /// Folds a whole log: the session, and the effect of the last event, which a loop that crashed may
    /// not have used yet (P5).
    #[must_use]
    pub fn replay<'a>(
        policy: Policy,
        from: Option<State>,
        events: impl IntoIterator<Item = Event<'a>>,
    ) -> (Self, Option<Effect>) {
        let mut session = Self::resume(policy, from.unwrap_or_default());
        let mut last = Change::None;
        for event in events {
            last = session.apply(&event);
        }
        let effect = session.render(&last);
        (session, effect)
    }

    /// The moving half of [`step`](Self::step): everything that a replay needs of an event.
    pub fn apply(&mut self, event: &Event<'_>) -> Change {
        let change = match event {
            Event::ToolCalled(call) => self.called(call),
            Event::RequestSent { by: Agent::Main } => self.requested(),
            Event::RequestSent { by: Agent::Sub } => Change::None,
            Event::Compacted => self.compacted(),
            Event::Resumed => {
                self.state.pace.resumed = true;
                Change::None
            }
        };
        debug_assert_eq!(self.state.check(), Ok(()));
        change
    }

    /// The saying half of [`step`](Self::step): only reads. The change is that of the last event.
    #[must_use]
    pub fn render(&self, change: &Change) -> Option<Effect> {
        match change {
            Change::None => None,
            Change::Call(called) if !called.ours => None,
            Change::Call(called) => Some(Effect::ReturnToolResult(text::result(called, self))),
            Change::Request(carried) => {
                Some(Effect::AppendSystemReminder(text::reminder(carried, self.list(), &self.policy)))
            }
            Change::Compacted => text::snapshot(&self.state.list, &self.policy).map(Effect::InjectCompactSnapshot),
        }
    }

    /// The policy.
    #[must_use]
    pub const fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The state: what to store, and what a later session starts from (A8).
    #[must_use]
    pub const fn state(&self) -> &State {
        &self.state
    }

    /// The list as it reads: empty while it is set aside (A1).
    #[must_use]
    pub const fn list(&self) -> &List {
        if self.state.set_aside { List::EMPTY } else { &self.state.list }
    }

    /// The list for whoever writes the summary at a compaction (A7). None where it is empty.
    #[must_use]
    pub fn context_for_summary(&self) -> Option<String> {
        text::for_summary(&self.state.list)
    }

    fn requested(&mut self) -> Change {
        let resumed = self.state.pace.resumed;
        self.state.pace.request();
        let edits = self.state.copy.take().and_then(|copy| Edits::between(&copy, &self.state.list.items));
        let in_progress = || self.list().count(crate::Status::InProgress) > 0;
        let unfinished = resumed && self.policy.resume_note && in_progress();
        // A note is kept and this lane is not, so the reminder stays due (section 2).
        let waits = self.policy.lane == Lane::LastUserMessage && (edits.is_some() || unfinished);
        let reminder = !waits && self.is_reminder_due();
        if reminder {
            self.state.pace.remind();
        }
        if edits.is_none() && !unfinished && !reminder {
            return Change::None;
        }
        Change::Request(Carried { edits, unfinished, reminder })
    }

    fn is_reminder_due(&self) -> bool {
        let pace = &self.state.pace;
        let answered = |max: core::num::NonZeroU32| pace.unanswered < u64::from(max.get());
        pace.is_due(self.policy.clock)
            && !self.state.set_aside
            && self.policy.max_unanswered.is_none_or(answered)
            && (self.policy.gate == Gate::None || self.list().can_move())
    }

    fn compacted(&mut self) -> Change {
        self.state.pace.compact();
        self.state.set_aside = self.policy.at_compaction == AtCompaction::Empty;
        Change::Compacted
    }

    fn called(&mut self, call: &Call<'_>) -> Change {
        if call.by == Caller::Main {
            self.state.pace.call();
        }
        if call.by == Caller::Record {
            self.record(&call.arguments);
            return Change::None;
        }
        let Some(surface) = Surface::named(&call.name) else { return Change::None };
        let tool = surface.tool;
        let (ours, id) = match &call.outcome {
            Outcome::Failed => return Change::None,
            Outcome::Ours => (true, None),
            Outcome::Ran { id } => (false, id.as_deref()),
        };
        let is_closed = ours && tool.writes() && call.by == Caller::Sub && !self.policy.share;
        let reading = if is_closed { Err(Refusal::NotShared) } else { tools::read(surface, &call.arguments) };
        let mended = reading.as_ref().map(|reading| reading.mended).unwrap_or_default();
        let result = reading.and_then(|reading| self.operate(call.by, ours, id, reading.op));
        if let Ok(done) = &result {
            self.accepted(call.by, ours, matches!(done, Done::Wrote(_)));
        }
        Change::Call(Called { tool, result, mended, answer: surface.answer, ours })
    }

    /// What every accepted call does beside its work.
    fn accepted(&mut self, by: Caller, ours: bool, wrote: bool) {
        match by {
            Caller::Main if wrote => self.state.pace.restart(),
            Caller::User if wrote => self.state.pace.unanswered = 0,
            // A sub that may not write moves nothing, by reading neither (law 7).
            Caller::Sub if ours && !self.policy.share => return,
            Caller::Main | Caller::User | Caller::Sub | Caller::Record => {}
        }
        self.state.set_aside = false;
    }

    fn operate(&mut self, by: Caller, ours: bool, id: Option<&str>, op: Op<'_>) -> Result<Done, Refusal> {
        let list = &self.state.list;
        let plan = match op {
            Op::List => return Ok(Done::Read(None)),
            Op::Get(id) => return read_one(list, &id, ours),
            Op::Replace(_) if ours && by != Caller::User && self.state.is_edited() => return Err(Refusal::Edited),
            Op::Replace(entries) => Plan::replace(list, entries, Scope::Whole)?,
            Op::Create(entry) => Plan::create(list, entry, id.map(shown_id).filter(|id| !id.is_empty()))?,
            Op::Update(entry) if ours && !entry.names_something() => return Err(Refusal::NothingToChange),
            Op::Update(entry) => match Plan::update(list, entry) {
                Err(_) if !ours => return Ok(Done::Wrote(Wrote { unknown_id: true, ..Wrote::default() })),
                plan => plan?,
            },
        };
        plan.check(list, ours.then_some(&self.policy))?;
        Ok(Done::Wrote(self.write(by, plan)))
    }

    fn write(&mut self, by: Caller, mut plan: Plan<'_>) -> Wrote {
        if by == Caller::User && self.state.copy.is_none() {
            self.state.copy = Some(self.state.list.items.clone());
        }
        let list = &mut self.state.list;
        let dropped = plan.dropped(list);
        let one = plan.one(list);
        let changed = plan.commit(list);
        if by != Caller::User {
            self.mirror(&plan);
        }
        let renumbered = core::mem::take(&mut plan.renumbered);
        Wrote { changed, unknown_id: false, one, dropped, renumbered }
    }

    /// What others than the user change is no edit of the user's (L13).
    fn mirror(&mut self, plan: &Plan<'_>) {
        let State { list, copy: Some(copy), .. } = &mut self.state else { return };
        plan.commit_to_copy(copy, list);
        // The copy is bounded like the list (P4): what the user took out is forgotten first.
        while check_items(copy).is_err() && !copy.is_empty() {
            let gone = copy.iter().position(|item| list.get(&item.id).is_none());
            copy.remove(gone.unwrap_or_default());
        }
    }

    /// A list that a product recorded is put in place silently; one that can't be read changes nothing.
    fn record(&mut self, arguments: &str) {
        let Ok(entries) = tools::read_record(arguments) else { return };
        let Ok(plan) = Plan::replace(&self.state.list, entries, Scope::Record) else { return };
        if plan.check(&self.state.list, None).is_ok() {
            plan.commit(&mut self.state.list);
            self.mirror(&plan);
            self.state.set_aside = false;
        }
    }
}

fn read_one(list: &List, id: &str, ours: bool) -> Result<Done, Refusal> {
    match list.get(id) {
        Some(item) => Ok(Done::Read(Some(item.clone()))),
        None if !ours => Ok(Done::Read(None)),
        None => Err(unknown_id(list)),
    }
}
