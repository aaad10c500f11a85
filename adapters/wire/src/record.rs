use serde::{Deserialize, Deserializer, Serialize};
use session_todo::{Event, State};

use crate::history::History;

/// What the messages do not tell, kept beside them (P3): a user's edits, a sub-agent's writes, resumes, and
/// the state at a compaction that deleted messages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Where reading begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<Base>,
    /// What happened since, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<Beside>,
}

/// A compaction: the state after it, and the messages that are behind that state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Base {
    /// The state after [`Event::Compacted`].
    pub state: State,
    /// How many messages of the new history it accounts for.
    pub kept: usize,
    /// Whether it accounts for the request of the next response: one that did not fit, say, or whose calls wait.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub waits: bool,
}

/// An event that is not in the messages, and when it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beside {
    /// After this request of main's, from 1; 0 is before the first.
    pub request: u64,
    /// After this many calls of its response; none where it came after all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<usize>,
    /// The event.
    #[serde(deserialize_with = "event")]
    pub event: Event<'static>,
}

impl Record {
    /// An event that no message tells of, after the last response was dealt with. The state is the session's.
    /// While a request is out, or calls are pending after a restart: [`note_after_calls`](Self::note_after_calls) with 0.
    pub fn note(&mut self, state: &State, event: &Event<'_>) {
        self.beside.push(Beside { request: state.requests(), calls: None, event: event.clone().into_owned() });
    }

    /// The same between the calls of a response, of which so many were stepped.
    pub fn note_after_calls(&mut self, state: &State, calls: usize, event: &Event<'_>) {
        self.beside.push(Beside { request: state.requests(), calls: Some(calls), event: event.clone().into_owned() });
    }

    /// A compaction, after [`History::compact`]: the state after its event. What was noted before is in it.
    /// Calls that wait for their answers are not.
    pub fn compacted(&mut self, state: &State, history: &History) {
        let waiting = history.waiting();
        let kept = waiting.unwrap_or(history.messages().len());
        let base = Base { state: state.clone(), kept, waits: history.waits() || waiting.is_some() };
        *self = Self { base: Some(base), beside: Vec::new() };
    }
}

fn event<'de, D: Deserializer<'de>>(json: D) -> Result<Event<'static>, D::Error> {
    Event::deserialize(json).map(Event::into_owned)
}
