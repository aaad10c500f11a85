//! What a provider would refuse, found before it is sent (E6).

use std::collections::{HashMap, HashSet};
use std::fmt;

use serde_json::value::RawValue;

use crate::call::{Stage, ToolCall};
use crate::error::WireError;
use crate::format::Format;
use crate::history::{By, History, read_turn};
use crate::turn::{Part, ResultOf, Turn};

/// Something in a request that providers refuse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The message, from 0.
    pub message: usize,
    /// What is wrong.
    pub what: Wrong,
    /// The call in question; empty where it is none or has no id.
    pub id: String,
}

/// What may be wrong with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// A call without a result.
    OrphanCall,
    /// A result without a call.
    OrphanResult,
    /// A call whose id another has.
    DuplicateCall,
    /// A second result of a call.
    DuplicateResult,
    /// A result with something between it and its call, or behind a text of its message (E2, E4).
    MisplacedResult,
    /// A message or a text without a word.
    Empty,
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.what {
            Wrong::OrphanCall => "a call without a result",
            Wrong::OrphanResult => "a result without a call",
            Wrong::DuplicateCall => "a call whose id another has",
            Wrong::DuplicateResult => "a second result of a call",
            Wrong::MisplacedResult => "a result that does not follow its call",
            Wrong::Empty => "nothing in it",
        };
        write!(out, "message {}: {what}", self.message)?;
        if self.id.is_empty() { Ok(()) } else { write!(out, " ({})", self.id) }
    }
}

/// What a provider would refuse in the body of a request; empty where there is nothing.
///
/// # Errors
///
/// A body that is none of this format's.
pub fn lint(format: Format, request: &str) -> Result<Vec<Fault>, WireError> {
    let mut lint = Lint {
        format,
        at: 0,
        open: Vec::new(),
        closed: Vec::new(),
        ids: HashSet::new(),
        is_interrupted: false,
        is_answered: false,
        faults: Vec::new(),
    };
    let body = body(format, request)?;
    for turn in turns(format, &body)? {
        lint.turn(turn);
        lint.at += 1;
    }
    lint.close();
    if goes_on(format, &body) {
        lint.faults.retain(|fault| fault.what != Wrong::OrphanResult);
    }
    lint.faults.sort_by_key(|fault| fault.message);
    Ok(lint.faults)
}

/// The nearest place at or before `at` where the messages of a request may be cut in two: no call is parted
/// from its result, no response in the midst.
///
/// # Errors
///
/// A body that is none of this format's.
pub fn safe_cut(format: Format, request: &str, at: usize) -> Result<usize, WireError> {
    Ok(cut(format, &turns(format, &body(format, request)?)?, at))
}

impl History {
    /// The nearest place at or before `at` where this history may be cut in two.
    ///
    /// # Errors
    ///
    /// A message that is none of its format's.
    pub fn safe_cut(&self, at: usize) -> Result<usize, WireError> {
        let turn = |message: &crate::Message| match message.by {
            By::Silent => Ok(Turn { is_model: true, parts: Vec::new() }),
            _ => read_turn(self.format, &message.json).map(|turn| Turn { is_model: message.is_model(), ..turn }),
        };
        let turns = self.messages.iter().map(turn).collect::<Result<Vec<_>, _>>()?;
        Ok(cut(self.format, &turns, at))
    }
}

type Body<'r> = HashMap<String, &'r RawValue>;

fn body(format: Format, request: &str) -> Result<Body<'_>, WireError> {
    serde_json::from_str(request).map_err(|source| unreadable(format, source))
}

fn unreadable(format: Format, source: serde_json::Error) -> WireError {
    WireError::Unreadable { what: "the body of a request", format, source }
}

/// Whether it goes on from what the provider keeps, where the calls of its results may be.
fn goes_on(format: Format, body: &Body<'_>) -> bool {
    let says = |key| body.get(key).is_some_and(|json| json.get() != "null");
    format == Format::Responses && ["previous_response_id", "conversation"].into_iter().any(says)
}

/// The messages of a request. Where `input` is one string, or goes on from a stored response, there are none.
fn turns(format: Format, body: &Body<'_>) -> Result<Vec<Turn>, WireError> {
    let unreadable = |source| unreadable(format, source);
    let key = format.messages_key();
    let messages = match body.get(key) {
        None if format == Format::Responses => return Ok(Vec::new()),
        Some(words) if format == Format::Responses && words.get().starts_with('"') => return Ok(Vec::new()),
        Some(messages) => messages,
        None => return Err(unreadable(serde::de::Error::custom(format_args!("it has no `{key}`")))),
    };
    let messages: Vec<&RawValue> = serde_json::from_str(messages.get()).map_err(unreadable)?;
    messages.into_iter().map(|message| read_turn(format, message)).collect()
}

struct Lint {
    format: Format,
    at: usize,
    /// Calls that wait for their result, and where they stand.
    open: Vec<(usize, ToolCall)>,
    /// Calls that have one, or whose time is over.
    closed: Vec<(usize, ToolCall, bool)>,
    /// The ids of all calls.
    ids: HashSet<String>,
    /// Whether something stands between the open calls and what comes.
    is_interrupted: bool,
    /// Whether a result came since the last response: one of several items is over then.
    is_answered: bool,
    faults: Vec<Fault>,
}

impl Lint {
    fn fault(&mut self, what: Wrong, id: &str) {
        self.faults.push(Fault { message: self.at, what, id: id.to_owned() });
    }

    fn turn(&mut self, turn: Turn) {
        if turn.parts.is_empty() || turn.parts.iter().any(|part| matches!(part, Part::Text { is_blank: true })) {
            self.fault(Wrong::Empty, "");
        }
        if turn.is_model { self.response(turn) } else { self.others(turn) }
    }

    fn response(&mut self, turn: Turn) {
        let goes_on = !self.format.responds_at_once() && !self.is_interrupted && !self.is_answered;
        if !goes_on {
            self.close();
        }
        for part in turn.parts {
            match part {
                Part::Call(call) if call.stage != Stage::Served => self.call(call),
                Part::Result(result) => self.fault(Wrong::MisplacedResult, &result.id),
                Part::Call(_) | Part::Text { .. } | Part::Other => {}
            }
        }
    }

    fn call(&mut self, call: ToolCall) {
        if !call.id.is_empty() && !self.ids.insert(call.id.clone()) {
            return self.fault(Wrong::DuplicateCall, &call.id);
        }
        self.open.push((self.at, call));
    }

    fn others(&mut self, turn: Turn) {
        for part in turn.parts {
            match part {
                Part::Result(result) => self.result(&result),
                Part::Call(call) => self.fault(Wrong::OrphanCall, &call.id),
                Part::Text { .. } | Part::Other => self.is_interrupted = true,
            }
        }
        if self.format.answers_at_once() {
            self.is_interrupted = true;
        }
    }

    fn result(&mut self, result: &ResultOf) {
        self.is_answered |= !result.is_hosted;
        if let Some(at) = self.open.iter().position(|(_, call)| result.is_of(call)) {
            let (message, call) = self.open.remove(at);
            self.closed.push((message, call, true));
            if self.is_interrupted {
                self.fault(Wrong::MisplacedResult, &result.id);
            }
            return;
        }
        let known = self.closed.iter_mut().rev().find(|(_, call, _)| !result.id.is_empty() && result.is_of(call));
        let what = match known {
            None => Wrong::OrphanResult,
            Some((_, _, has_result)) if *has_result => Wrong::DuplicateResult,
            Some((_, _, has_result)) => {
                *has_result = true;
                Wrong::MisplacedResult
            }
        };
        self.fault(what, &result.id);
    }

    /// Nothing more comes for the open calls.
    fn close(&mut self) {
        for (message, call) in std::mem::take(&mut self.open) {
            self.faults.push(Fault { message, what: Wrong::OrphanCall, id: call.id.clone() });
            self.closed.push((message, call, false));
        }
        (self.is_interrupted, self.is_answered) = (false, false);
    }
}

/// A result closes the cuts between it and its call; a response of several items those within it.
fn cut(format: Format, turns: &[Turn], at: usize) -> usize {
    let mut unsafe_cuts = HashSet::new();
    let mut open: Vec<(usize, &ToolCall)> = Vec::new();
    for (here, turn) in turns.iter().enumerate() {
        let before = here.checked_sub(1).and_then(|before| turns.get(before));
        if !format.responds_at_once() && turn.is_model && before.is_some_and(|before| before.is_model) {
            unsafe_cuts.insert(here);
        }
        for part in &turn.parts {
            match part {
                Part::Call(call) if call.stage != Stage::Served => open.push((here, call)),
                Part::Result(result) => {
                    let call = open.iter().position(|(_, call)| result.is_of(call));
                    // An orphan goes with what is before it: it is no better alone.
                    let from = call.map_or(here, |call| open.remove(call).0 + 1);
                    unsafe_cuts.extend(from..=here);
                }
                Part::Call(_) | Part::Text { .. } | Part::Other => {}
            }
        }
    }
    // Calls of the last response wait for their results, whatever was said since.
    let is_last = |call: usize| turns.iter().skip(call).skip_while(|turn| turn.is_model).all(|turn| !turn.is_model);
    let waiting = open.into_iter().find(|(call, _)| is_last(*call));
    unsafe_cuts.extend(waiting.map_or(0..0, |(call, _)| call + 1..turns.len() + 1));
    (1..=at.min(turns.len())).rev().find(|cut| !unsafe_cuts.contains(cut)).unwrap_or(0)
}
