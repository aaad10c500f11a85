//! Codex: a rollout a thread, one record a line: `{timestamp, type, payload}`, in old ones the payload alone.
//!
//! | what | where |
//! |---|---|
//! | a request | a new total of a `token_count`, which comes behind the response and the results of its calls; as long as a log has none, a run of output items |
//! | a call | a `response_item` of a `…_call`; its arguments are JSON in a string |
//! | how it ended | the `…_call_output` with its `call_id`: `Plan updated`, or else it failed |
//! | a compaction | `compacted` |
//! | a turn | what a person said, as a `response_item`, as an event, or as both; an agent's message |
//! | a rewind | `thread_rolled_back` |
//!
//! A fork and a sub-agent's thread begin with records of their parent's: what they hold is this thread's past.

use session_todo::{Agent, Caller, Event, Outcome, Tool};

use crate::lines::Line;
use crate::open_calls::{Calls, Seen};
use crate::records::{first_text, records, sound, text_or_raw};
use crate::skim::{Members, member, text, value};
use crate::{Found, LineReader, Sink};

#[derive(Debug, Default)]
pub(crate) struct Codex {
    calls: Calls,
    /// How many of them belong to a request that was reported. The others wait for theirs.
    requested: usize,
    /// Calls and token totals.
    seen: Seen,
    /// Whether a token count was met: from there on each new one is a request.
    counts: bool,
    /// Whether a request was reported for a response that no count was met for.
    is_ahead: bool,
    /// Whether output items of one response are being read.
    in_response: bool,
    /// Where what a person said was met, as long as it may stand there in the other way too.
    prompt: Option<Told>,
}

/// How a rollout holds what a person said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    Item,
    Event,
}

impl LineReader for Codex {
    fn line(&mut self, line: &Line<'_>, found: Sink<'_>) {
        records(line, found, &mut |rest, found| {
            let (record, behind) = sound(rest, Record::of, Record::calls_list)?;
            self.record(&record, found);
            Some(behind)
        });
    }

    fn end(&mut self, found: Sink<'_>) {
        self.calls.end(found);
    }
}

impl Codex {
    fn record(&mut self, record: &Record<'_>, found: Sink<'_>) {
        match record.kind {
            b"\"response_item\"" => self.item(&record.payload, found),
            b"\"event_msg\"" => self.event(&record.payload, found),
            b"\"compacted\"" => {
                self.settle(found);
                found(Found::Event(Event::Compacted));
            }
            _ => {}
        }
    }

    fn item(&mut self, item: &Payload<'_>, found: Sink<'_>) {
        match item.kind {
            b"\"message\"" if item.role == b"\"user\"" => {
                self.in_response = false;
                if item.is_said() {
                    self.said(Told::Item, found);
                }
            }
            b"\"message\"" if item.role == b"\"assistant\"" => self.response(found),
            b"\"reasoning\"" => self.response(found),
            b"\"agent_message\"" => self.turn(found),
            kind if kind.ends_with(b"_call\"") => {
                self.response(found);
                self.call(item);
            }
            kind if kind.ends_with(b"_output\"") => {
                self.in_response = false;
                self.calls.result(item.call_id, |name| outcome(name, item.output));
            }
            _ => {}
        }
    }

    fn event(&mut self, event: &Payload<'_>, found: Sink<'_>) {
        match event.kind {
            b"\"token_count\"" => self.count(event.info, found),
            b"\"user_message\"" => self.said(Told::Event, found),
            b"\"item_completed\"" if member(event.item, b"type") == Some(b"\"UserMessage\"") => {
                self.said(Told::Event, found);
            }
            b"\"task_started\"" | b"\"turn_aborted\"" => self.prompt = None,
            b"\"thread_rolled_back\"" => {
                self.settle(found);
                let turns = std::str::from_utf8(event.num_turns).ok().and_then(|turns| turns.parse().ok());
                found(Found::Rewound { turns: turns.unwrap_or_default() });
            }
            _ => {}
        }
    }

    /// An item of a response. As long as there are no counts, the first of a run is a request.
    fn response(&mut self, found: Sink<'_>) {
        self.prompt = None;
        if !self.counts && !self.in_response {
            self.settle(found);
            self.is_ahead = true;
            found(Found::Event(Event::RequestSent { by: Agent::Main }));
        }
        self.in_response = true;
    }

    /// A response is over, and the results of its calls are there, unless the total is one that was met (R9).
    fn count(&mut self, info: &[u8], found: Sink<'_>) {
        let total = member(info, b"total_token_usage").and_then(|usage| member(usage, b"total_tokens"));
        if !total.is_some_and(|total| self.seen.is_new("total", total)) {
            return;
        }
        if !std::mem::take(&mut self.is_ahead) {
            self.calls.settle(self.requested, found);
            found(Found::Event(Event::RequestSent { by: Agent::Main }));
        }
        self.requested = self.calls.len();
        self.counts = true;
        self.in_response = false;
    }

    fn call(&mut self, item: &Payload<'_>) {
        let name = text(if item.name.is_empty() { item.kind } else { item.name }).unwrap_or_default();
        if self.seen.is_new("call", item.call_id) || item.call_id.is_empty() {
            self.calls.call(Caller::Main, item.call_id, &name, || text_or_raw(item.arguments));
        }
    }

    fn said(&mut self, told: Told, found: Sink<'_>) {
        if self.prompt.is_some_and(|before| before != told) {
            self.prompt = None;
            return;
        }
        self.turn(found);
        self.prompt = Some(told);
    }

    fn turn(&mut self, found: Sink<'_>) {
        self.settle(found);
        found(Found::Turn);
    }

    /// Everything that was called is over.
    fn settle(&mut self, found: Sink<'_>) {
        self.calls.settle(self.calls.len(), found);
        self.requested = 0;
        self.in_response = false;
    }
}

/// A call ran only where its result says so (R1). What another tool than Codex's own says is not known: it
/// ran, unless the words are Codex's.
fn outcome(name: &str, output: &[u8]) -> Outcome<'static> {
    const FAILURES: [&str; 5] =
        ["failed to parse function arguments", "aborted", "unsupported call", "tool call error", "Error"];
    let said = first_text(output).unwrap_or_default();
    let ran = match name {
        "update_plan" => said.starts_with("Plan updated"),
        _ => member(output, b"success") != Some(b"false") && !FAILURES.iter().any(|words| said.starts_with(words)),
    };
    if ran { Outcome::Ran { id: None } } else { Outcome::Failed }
}

#[derive(Default)]
struct Record<'a> {
    kind: &'a [u8],
    payload: Payload<'a>,
}

impl<'a> Record<'a> {
    /// The record that a text begins with, and what stands behind it; none where it is damaged.
    fn of(whole: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let mut record = Self::default();
        let mut is_bare = true;
        let mut members = Members::of(whole);
        while let Some(key) = members.key() {
            match key {
                b"type" => record.kind = members.value()?,
                b"payload" => {
                    record.payload = members.descend(Payload::read)?;
                    is_bare = false;
                }
                _ => drop(members.value()?),
            }
        }
        if is_bare {
            (record.payload, _) = Payload::read(whole)?;
            record.kind = b"\"response_item\"";
        }
        members.behind().map(|behind| (record, behind))
    }

    fn calls_list(&self) -> bool {
        text(self.payload.name).is_some_and(|name| Tool::named(&name).is_some())
    }
}

/// What matters of a payload, as the text that it is.
#[derive(Default)]
struct Payload<'a> {
    kind: &'a [u8],
    name: &'a [u8],
    call_id: &'a [u8],
    arguments: &'a [u8],
    output: &'a [u8],
    role: &'a [u8],
    content: &'a [u8],
    info: &'a [u8],
    item: &'a [u8],
    num_turns: &'a [u8],
}

impl<'a> Payload<'a> {
    fn read(whole: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let mut payload = Self::default();
        if !whole.starts_with(b"{") {
            return value(whole).map(|(_, behind)| (payload, behind));
        }
        let mut members = Members::of(whole);
        while let Some(key) = members.key() {
            let value = members.value()?;
            match key {
                b"type" => payload.kind = value,
                b"name" => payload.name = value,
                b"call_id" => payload.call_id = value,
                b"arguments" | b"input" => payload.arguments = value,
                b"output" => payload.output = value,
                b"role" => payload.role = value,
                b"content" => payload.content = value,
                b"info" => payload.info = value,
                b"item" => payload.item = value,
                b"num_turns" => payload.num_turns = value,
                _ => {}
            }
        }
        members.behind().map(|behind| (payload, behind))
    }

    /// Whether a person said it: what the client says of the surroundings stands in tags, or under a title.
    fn is_said(&self) -> bool {
        let said = first_text(self.content).unwrap_or_default();
        let said = said.trim_start();
        !said.starts_with('<') && !said.starts_with("# AGENTS.md instructions")
    }
}
