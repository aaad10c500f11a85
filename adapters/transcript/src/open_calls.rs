//! Calls whose requests went out, until they are over: reported in call order, however their results came.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use session_todo::{Call, Caller, Event, Outcome, Tool};

use crate::{Family, Found, Recorded, Sink};

/// Calls of one session that are not reported yet, in call order.
#[derive(Debug, Default)]
pub(crate) struct Calls(Vec<OpenCall>);

#[derive(Debug)]
struct OpenCall {
    by: Caller,
    id: Vec<u8>,
    name: String,
    arguments: String,
    outcome: Option<Outcome<'static>>,
    /// The list that the product recorded with the result, and where.
    recorded: Option<(String, u64)>,
}

impl Calls {
    pub(crate) const fn len(&self) -> usize {
        self.0.len()
    }

    /// A call. What a foreign tool was called with is nobody's business.
    pub(crate) fn call(&mut self, by: Caller, id: &[u8], name: &str, arguments: impl FnOnce() -> String) {
        let arguments = if Tool::named(name).is_some() { arguments() } else { String::new() };
        self.0.push(OpenCall { by, id: id.to_vec(), name: name.into(), arguments, outcome: None, recorded: None });
    }

    /// How a call ended, as far as its name tells what a result says.
    pub(crate) fn result(&mut self, id: &[u8], outcome: impl FnOnce(&str) -> Outcome<'static>) {
        if let Some(call) = self.0.iter_mut().rev().find(|call| call.id == id) {
            call.outcome = Some(outcome(&call.name));
        }
    }

    /// The list that the product recorded with a call's result (R8).
    pub(crate) fn recorded(&mut self, id: &[u8], list: String, line: u64) {
        let is_writer = |call: &&mut OpenCall| call.id == id && Tool::named(&call.name) == Some(Tool::TodoWrite);
        if let Some(call) = self.0.iter_mut().rev().find(is_writer) {
            call.recorded = Some((list, line));
        }
    }

    /// Whether a call of this id is among them.
    pub(crate) fn has(&self, id: &[u8]) -> bool {
        self.0.iter().any(|call| call.id == id)
    }

    /// More of the arguments of the call that came last.
    pub(crate) fn more(&mut self, arguments: &str) {
        if let Some(call) = self.0.last_mut().filter(|call| Tool::named(&call.name).is_some()) {
            call.arguments.push_str(arguments);
        }
    }

    /// The list that the product stored while a call ran: the first writer that is open and has none (R8). The
    /// list comes back where there is no such call.
    pub(crate) fn stored(&mut self, list: String, line: u64) -> Option<String> {
        let is_running = |call: &&mut OpenCall| {
            call.outcome.is_none() && call.recorded.is_none() && Tool::named(&call.name) == Some(Tool::TodoWrite)
        };
        let Some(call) = self.0.iter_mut().find(is_running) else { return Some(list) };
        call.recorded = Some((list, line));
        None
    }

    /// Reports those that have ended, up to the first that has not.
    pub(crate) fn settle_ended(&mut self, found: Sink<'_>) {
        let ended = self.0.iter().take_while(|call| call.outcome.is_some()).count();
        self.settle(ended, found);
    }

    /// Reports the first of them: they are over, since the log goes on.
    pub(crate) fn settle(&mut self, count: usize, found: Sink<'_>) {
        for call in self.0.drain(..count.min(self.0.len())) {
            call.report(found);
        }
    }

    /// The end of the log: calls that have a result are over, the list's others pending (R1).
    pub(crate) fn end(&mut self, found: Sink<'_>) {
        let is_over = |call: &OpenCall| call.outcome.is_some() || Tool::named(&call.name).is_none();
        let (over, pending): (Vec<_>, Vec<_>) = std::mem::take(&mut self.0).into_iter().partition(is_over);
        for call in over {
            call.report(found);
        }
        for call in pending {
            found(Found::Pending(&call.name));
        }
    }
}

impl OpenCall {
    fn report(self, found: Sink<'_>) {
        if self.outcome.is_none() && Tool::named(&self.name).is_some() {
            found(Found::Unanswered(&self.name));
        }
        let outcome = self.outcome.unwrap_or(Outcome::Ran { id: None });
        let call = Call { by: self.by, name: self.name.into(), arguments: self.arguments.into(), outcome };
        found(Found::Event(Event::ToolCalled(call)));
        if let Some((list, line)) = self.recorded {
            found(Found::Recorded(Recorded { family: Family::TodoWrite, list: &list, line }));
        }
    }
}

/// Ids that were seen, hashed: each counts once (R3, R9).
#[derive(Debug, Default)]
pub(crate) struct Seen(HashSet<u64>);

impl Seen {
    pub(crate) fn is_new(&mut self, kind: &str, id: &[u8]) -> bool {
        self.0.insert(hash((kind, id)))
    }
}

/// What is kept of an id.
pub(crate) fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
