use std::sync::{Mutex, MutexGuard, PoisonError};

use rig_agent::agent::RunId;
use rig_core::message::{CallId, Message};
use serde::{Deserialize, Serialize};
use session_todo::{Agent, Call, Caller, Effect, Event, Lane, Outcome, Reminder, Tool, ToolResult};

use crate::ahead::{CallKey, Fold};
use crate::overlay::{Overlay, Placed, add_to_last_persons};

/// Everything behind the one lock.
#[derive(Clone, Debug)]
pub(crate) struct Live {
    pub(crate) fold: Fold,
    pub(crate) overlay: Overlay,
    /// Main's request that has no response yet. What is sent in the place of one that died is the same
    /// request (spec 1).
    pub(crate) in_flight: Option<Sent>,
    rounds: Vec<Round>,
}

/// A request, with what rides on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sent {
    riding: Option<Reminder>,
}

/// The calls of a response that were not folded yet, in call order; the first is one of the list's tools.
#[derive(Clone, Debug)]
struct Round {
    run: RunId,
    calls: Vec<Asked>,
}

/// A call as it was asked for. Its outcome is the one that it has unless something stops it.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) id: CallId,
    pub(crate) call: Call<'static>,
}

/// A step never panics, so a poisoned lock guards a session that is as good as any.
pub(crate) fn lock(live: &Mutex<Live>) -> MutexGuard<'_, Live> {
    live.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Live {
    pub(crate) const fn new(fold: Fold, overlay: Overlay, in_flight: Option<Sent>) -> Self {
        Self { fold, overlay, in_flight, rounds: Vec::new() }
    }

    /// Main's request is about to leave: the messages that it is to have, and what is new among them.
    pub(crate) fn request(&mut self, mut own: Vec<Message>, offers_tools: bool) -> (Vec<Message>, Vec<Placed>) {
        if offers_tools && self.in_flight.is_none() {
            let riding = self.request_sent();
            self.carry_kept(riding.as_ref());
            self.in_flight = Some(Sent { riding });
        }
        let new = self.overlay.place(&own);
        if let Some(Sent { riding: Some(Reminder { lane: Lane::LastUserMessage, text, .. }) }) = &self.in_flight
            && offers_tools
        {
            add_to_last_persons(&mut own, text);
        }
        (self.overlay.put_back(own), new)
    }

    /// What rides on a request is kept but for one lane.
    fn carry_kept(&mut self, riding: Option<&Reminder>) {
        if let Some(kept) = riding.filter(|reminder| reminder.lane != Lane::LastUserMessage) {
            self.overlay.carry(kept.text.clone());
        }
    }

    fn request_sent(&mut self) -> Option<Reminder> {
        self.close();
        match self.fold.step(Event::RequestSent { by: Agent::Main }) {
            Some(Effect::AppendSystemReminder(reminder)) => Some(reminder),
            _ => None,
        }
    }

    /// Calls whose outcome has not come took no effect: their run was stopped. One that ends after all is
    /// folded then.
    pub(crate) fn close(&mut self) {
        while let Some((place, event)) = self.fold.first_granted() {
            self.fold.confirm(place, failed(event));
        }
        for asked in std::mem::take(&mut self.rounds).into_iter().flat_map(|round| round.calls) {
            self.fold.step(failed(Event::ToolCalled(asked.call)));
        }
    }

    /// A response is complete, and these are its calls.
    pub(crate) fn asked(&mut self, run: RunId, calls: Vec<Asked>) {
        self.rounds.push(Round { run, calls });
        self.fold_what_waits_for_nothing(self.rounds.len() - 1);
    }

    /// A call has ended, and this is what it was. The answer where it is ours.
    pub(crate) fn ended(&mut self, run: RunId, id: CallId, call: Call<'static>) -> Option<ToolResult> {
        let key = CallKey { run, id };
        let event = Event::ToolCalled(call);
        let effect = match self.fold.place_of(&key) {
            Some(place) => self.fold.confirm(place, event),
            None => self.ended_in_order(&key, event),
        };
        match effect {
            Some(Effect::ReturnToolResult(result)) => Some(result),
            _ => None,
        }
    }

    fn ended_in_order(&mut self, key: &CallKey, event: Event<'static>) -> Option<Effect> {
        let place = self.rounds.iter().enumerate().find_map(|(round, Round { run, calls })| {
            let at = calls.iter().position(|asked| *run == key.run && asked.id == key.id)?;
            Some((round, at))
        });
        let Some((round, at)) = place else { return self.fold.step(event) };
        let earlier: Vec<_> =
            self.rounds.get_mut(round).map(|round| round.calls.drain(..=at).collect()).unwrap_or_default();
        for Asked { id, call } in earlier.into_iter().take(at) {
            if waits(&call) {
                self.fold.grant(CallKey { run: key.run, id }, Event::ToolCalled(call));
            } else {
                self.fold.step(Event::ToolCalled(call));
            }
        }
        let effect = self.fold.step(event);
        self.fold_what_waits_for_nothing(round);
        effect
    }

    fn fold_what_waits_for_nothing(&mut self, round: usize) {
        let Some(Round { calls, .. }) = self.rounds.get_mut(round) else { return };
        let until = calls.iter().position(|asked| waits(&asked.call)).unwrap_or(calls.len());
        for asked in calls.drain(..until) {
            self.fold.step(Event::ToolCalled(asked.call));
        }
        self.rounds.retain(|round| !round.calls.is_empty());
    }

    /// The history was replaced by a summary: the snapshot waits for the next request, and so does what
    /// rode on a request that died.
    pub(crate) fn compacted(&mut self) {
        self.close();
        let effect = self.fold.step(Event::Compacted);
        self.overlay.compacted();
        if let Some(Effect::InjectCompactSnapshot(snapshot)) = effect {
            self.overlay.carry(snapshot.text);
        }
        let riding = self.in_flight.clone().and_then(|sent| sent.riding);
        self.carry_kept(riding.as_ref());
    }

    /// A person's edit (L13).
    pub(crate) fn edited(&mut self, name: String, arguments: String) -> Option<ToolResult> {
        let call = Call { by: Caller::User, name: name.into(), arguments: arguments.into(), outcome: Outcome::Ours };
        match self.fold.step(Event::ToolCalled(call)) {
            Some(Effect::ReturnToolResult(result)) => Some(result),
            _ => None,
        }
    }
}

/// Whether a call's outcome is worth waiting for: of a tool that is not the list's the core reads none.
fn waits(call: &Call<'_>) -> bool {
    Tool::named(&call.name).is_some()
}

fn failed(event: Event<'static>) -> Event<'static> {
    match event {
        Event::ToolCalled(call) => Event::ToolCalled(Call { outcome: Outcome::Failed, ..call }),
        other => other,
    }
}
