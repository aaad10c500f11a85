//! A stored history, read back as events (P3).

use std::collections::HashMap;

use session_todo::{Agent, Change, Done, Effect, Event, Outcome, Policy, Session};

use crate::call::{Stage, ToolCall};
use crate::error::WireError;
use crate::format::End;
use crate::history::{By, History, Message, read_turn};
use crate::record::{Base, Beside, Record};
use crate::turn::Part;

/// What a history and its record say.
#[derive(Clone, Debug)]
pub struct Told {
    /// The events since the record's state, else since the start.
    pub events: Vec<Event<'static>>,
    /// Calls at the end that nothing is known of: they are not among the events (R1). A loop answers them
    /// as it would have.
    pub pending: Vec<ToolCall>,
    /// Calls without a result in the midst. They are taken as run (R1).
    pub unanswered: usize,
    /// Results without a call. They say nothing.
    pub orphans: usize,
}

/// A session as it was left.
#[derive(Clone, Debug)]
pub struct Resumed {
    /// The session.
    pub session: Session,
    /// What the request carries that waits for its response, where one does (P5). In a persisted lane it is in
    /// the history already.
    pub effect: Option<Effect>,
    /// Calls that are still to be answered.
    pub pending: Vec<ToolCall>,
}

/// Folds a history and its record: the session as it was left.
///
/// # Errors
///
/// A message that can't be read, a record of another history, and [`WireError::HistoryIncomplete`] where
/// messages were deleted and the record has no state of that.
pub fn resume(policy: Policy, history: &History, record: &Record) -> Result<Resumed, WireError> {
    let told = events(history, record)?;
    let state = record.base.as_ref().map(|base| base.state.clone());
    let mut session = Session::resume(policy, state.unwrap_or_default());
    let (mut effect, mut is_partial) = (None, told.orphans > 0);
    let waiting = told.events.iter().rposition(|event| history.waits && matches!(event, Event::RequestSent { .. }));
    for (at, event) in told.events.iter().enumerate() {
        let change = session.apply(event);
        is_partial |= matches!(&change, Change::Call(call) if names_unknown(&call.result));
        if waiting == Some(at) {
            effect = session.render(&change);
        }
    }
    if is_partial && record.base.is_none() && session.list().items().is_empty() {
        return Err(WireError::HistoryIncomplete { compactions: history.compactions });
    }
    Ok(Resumed { session, effect, pending: told.pending })
}

fn names_unknown<E>(result: &Result<Done, E>) -> bool {
    matches!(result, Ok(Done::Wrote(wrote)) if wrote.unknown_id)
}

/// The events of a history and its record.
///
/// # Errors
///
/// Those of [`resume`].
pub fn events(history: &History, record: &Record) -> Result<Told, WireError> {
    let base = record.base.as_ref();
    if base.is_none() && history.compactions > 0 {
        return Err(WireError::HistoryIncomplete { compactions: history.compactions });
    }
    let kept = base.map_or(0, |base| base.kept);
    let others = || WireError::OtherHistory { kept, messages: history.messages.len() };
    let messages = history.messages.get(kept..).ok_or_else(others)?;
    let mut reader = Reader::new(base, &record.beside);
    for message in messages {
        reader.message(history, message)?;
    }
    Ok(reader.end(history.waits))
}

struct Reader<'r> {
    beside: &'r [Beside],
    requests: u64,
    /// Whether the next response is of a request that is in the record's state.
    waits: bool,
    /// The calls of the last response, and how each ended.
    open: Vec<(ToolCall, Option<bool>)>,
    /// The ids that were seen, and whether the last call of each had its result.
    answered: HashMap<String, bool>,
    /// Whether the last response is to go on: what comes is of the same request.
    is_paused: bool,
    told: Told,
}

impl<'r> Reader<'r> {
    fn new(base: Option<&Base>, beside: &'r [Beside]) -> Self {
        let told = Told { events: Vec::new(), pending: Vec::new(), unanswered: 0, orphans: 0 };
        let requests = base.map_or(0, |base| base.state.requests());
        let waits = base.is_some_and(|base| base.waits);
        Self { beside, requests, waits, open: Vec::new(), answered: HashMap::new(), is_paused: false, told }
    }

    fn message(&mut self, history: &History, message: &Message) -> Result<(), WireError> {
        if matches!(message.by, By::Model | By::Silent) {
            self.settle();
            self.request();
        }
        if matches!(message.by, By::Silent | By::Person | By::Harness | By::List | By::Snapshot) {
            return Ok(());
        }
        for part in read_turn(history.format, &message.json)?.parts {
            self.part(part, message);
        }
        if message.is_model() {
            self.is_paused = message.end == Some(End::Paused);
            if let Some((last, _)) = self.open.last_mut() {
                last.cut_by(message);
            }
        }
        Ok(())
    }

    fn part(&mut self, part: Part, of: &Message) {
        match part {
            Part::Call(call) => self.call(call),
            Part::Result(result) => {
                let mut open = self.open.iter_mut();
                match open.find(|(call, ended)| ended.is_none() && result.is_of(call)) {
                    Some((call, ended)) => {
                        // What the provider ran itself ran, whatever came of it.
                        *ended = Some(of.is_model() || !result.is_error);
                        self.answered.insert(call.id.clone(), true);
                    }
                    // A second result of a call says nothing new (R3).
                    None if self.answered.contains_key(&result.id) => {}
                    None => self.told.orphans += 1,
                }
            }
            Part::Text { .. } | Part::Other => {}
        }
    }

    /// A call that is seen twice counts once (R3). One whose id had its result before, or stands in the same response,
    /// is a call of its own: some servers count their ids anew in every response, or not at all.
    fn call(&mut self, call: ToolCall) {
        let is_served = call.stage == Stage::Served;
        let is_beside = self.open.iter().any(|(other, _)| other.id == call.id);
        let waits = !call.id.is_empty() && self.answered.insert(call.id.clone(), is_served) == Some(false);
        if waits && !is_beside {
            return;
        }
        let place = self.open.len();
        self.open.push((ToolCall { place, ..call }, is_served.then_some(true)));
    }

    fn request(&mut self) {
        if std::mem::take(&mut self.waits) || std::mem::take(&mut self.is_paused) {
            return;
        }
        self.tell_beside(None);
        self.told.events.push(Event::RequestSent { by: Agent::Main });
        self.requests += 1;
    }

    /// Something follows: calls without a result are taken as run (R1).
    fn settle(&mut self) {
        for (place, (call, ended)) in std::mem::take(&mut self.open).into_iter().enumerate() {
            self.tell_beside(Some(place));
            self.told.unanswered += usize::from(ended.is_none());
            self.tell(&call, ended.unwrap_or(call.stage != Stage::Cut));
        }
    }

    fn tell(&mut self, call: &ToolCall, ran: bool) {
        let outcome = if ran { Outcome::Ran { id: None } } else { Outcome::Failed };
        self.told.events.push(call.event_with(outcome).into_owned());
    }

    /// What the record says of the time before the call of this place, or before the next request.
    fn tell_beside(&mut self, place: Option<usize>) {
        while let Some((next, rest)) = self.beside.split_first() {
            let is_due = match (place, next.calls) {
                _ if next.request < self.requests => true,
                _ if next.request > self.requests => false,
                (None, _) => true,
                (Some(place), calls) => calls.is_some_and(|calls| calls <= place),
            };
            if !is_due {
                return;
            }
            self.told.events.push(next.event.clone());
            self.beside = rest;
        }
    }

    /// The end. Where a request has left without a response, it is the last event.
    fn end(mut self, waits: bool) -> Told {
        for (place, (call, ended)) in std::mem::take(&mut self.open).into_iter().enumerate() {
            self.tell_beside(Some(place));
            match ended {
                Some(ran) => self.tell(&call, ran),
                None => self.told.pending.push(call),
            }
        }
        if waits {
            self.request();
        }
        self.tell_beside(None);
        self.told
    }
}
