//! Gemini CLI: one JSON document a session, or, later, a JSONL file that is folded.
//!
//! | what | where |
//! |---|---|
//! | a request | a message of type `gemini`; a line with an id that was there replaces that message |
//! | a call, and how it ended | `toolCalls[]` of it, with its `status` |
//! | a turn | a message of type `user` |
//! | a compaction | `$set` with `messages` among which the oldest is no more |
//! | a resume | `$set` with the `sessionId` |
//! | a rewind | `$rewindTo`: that message is gone, and all behind it |
//! | the list as it stood | `resultDisplay` of a `write_todos` |
//!
//! A history that was saved under a name is a document of `{role, parts}`.

use std::io::{self, Read};

use memchr::memmem;
use serde::Deserialize;
use session_todo::{Agent, Caller, Event};

use crate::document::{Document, whole};
use crate::lines::Line;
use crate::open_calls::{Calls, Seen, hash};
use crate::parts::{Part, by_response, by_status};
use crate::records::{is_json, records, sound};
use crate::skim::{Members, elements, member, text, value};
use crate::{Found, LineReader, Sink};

/// Bytes in which a log shows its form.
const HEAD: u64 = 4096;

/// Reads a log of either form.
pub(crate) fn read(mut log: impl Read + Send, found: Sink<'_>) -> io::Result<()> {
    let mut head = Vec::new();
    log.by_ref().take(HEAD).read_to_end(&mut head)?;
    let is_document = is_document(&head);
    let log = head.chain(log);
    let mut gemini = Gemini::default();
    if !is_document {
        return crate::lines(log, &mut gemini, found);
    }
    gemini.document(&whole(log)?, found);
    gemini.calls.end(found);
    Ok(())
}

fn is_document(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let first = head.split(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii_end();
    head.starts_with(b"[") || first == b"{" || has(first, b"messages") || has(first, b"history")
}

/// Whether an object has this key, as far as it goes.
fn has(object: &[u8], name: &[u8]) -> bool {
    let mut members = Members::of(object);
    while let Some(key) = members.key() {
        if key == name {
            return true;
        }
        if members.value().is_none() {
            break;
        }
    }
    false
}

#[derive(Debug, Default)]
pub(crate) struct Gemini {
    calls: Calls,
    /// Calls.
    seen: Seen,
    /// What the session holds of users and of the model, in order: what is behind a rewind is gone.
    messages: Vec<Known>,
    /// Whether it was said that records of no session are not read.
    said: bool,
}

/// A message of the session.
#[derive(Clone, Copy, Debug)]
struct Known {
    id: u64,
    /// Whether it began a turn.
    turn: bool,
}

impl LineReader for Gemini {
    fn line(&mut self, line: &Line<'_>, found: Sink<'_>) {
        records(line, found, &mut |rest, found| {
            let (record, behind) = sound(rest, Record::of, Record::matters)?;
            if record.is_foreign && !std::mem::replace(&mut self.said, true) {
                found(Found::Skipped(line.skipped(0, "records of no session, which are not read")));
            }
            self.record(&record, line.number, found);
            Some(behind)
        });
    }

    fn end(&mut self, found: Sink<'_>) {
        self.calls.end(found);
    }
}

impl Gemini {
    fn document(&mut self, bytes: &[u8], found: Sink<'_>) {
        let mut document = Document::of(bytes);
        let text = document.text();
        let closing: &[u8] = if text.starts_with(b"[") { b"]" } else { b"}" };
        let is_told = messages_of(text).is_some_and(|array| self.elements(&mut document, array, found));
        if !is_told && !text.trim_ascii_end().ends_with(closing) {
            document.skipped(b"", "the document is cut off", found);
        }
    }

    /// The messages of an array. A damaged one may reach into those behind it: what stands as far in as the
    /// first is another one (R7). Says whether the array is cut off, which is reported.
    fn elements<'a>(&mut self, document: &mut Document<'a>, array: &'a [u8], found: Sink<'_>) -> bool {
        let indent = array.len() - array.trim_ascii_start().len();
        let begin = array.get(..=indent).filter(|begin| begin.starts_with(b"\n")).unwrap_or_default();
        let mut rest = array.trim_ascii_start();
        while !rest.starts_with(b"]") {
            let line = document.line_of(rest);
            rest = match value(rest).filter(|(element, _)| is_json(element) && next(element, begin).is_empty()) {
                Some((element, behind)) => {
                    self.message(&Record::of(element).unwrap_or_default().0, line, found);
                    behind
                }
                None if rest.is_empty() => {
                    document.skipped(rest, "the document is cut off", found);
                    return true;
                }
                None => {
                    document.skipped(rest, "not a message", found);
                    next(rest, begin)
                }
            };
            rest = rest.trim_ascii_start();
            rest = rest.strip_prefix(b",").unwrap_or(rest).trim_ascii_start();
        }
        false
    }

    fn record(&mut self, record: &Record<'_>, line: u64, found: Sink<'_>) {
        if !record.rewind_to.is_empty() {
            self.rewind(record.rewind_to, found);
        } else if !record.set.is_empty() {
            if let Some(messages) = member(record.set, b"messages") {
                self.replace(messages, line, found);
            }
            if member(record.set, b"sessionId").is_some() {
                self.settle(found);
                found(Found::Event(Event::Resumed));
            }
        } else {
            self.message(record, line, found);
        }
    }

    fn message(&mut self, message: &Record<'_>, line: u64, found: Sink<'_>) {
        match (message.kind, message.role) {
            (b"\"user\"", _) => self.prompt(message, found),
            (b"\"gemini\"", _) => {
                if self.is_new(message.id, false) {
                    self.request(found);
                }
                for call in elements(message.calls) {
                    self.call(call, line);
                }
            }
            (b"", b"\"user\"") => self.parts(message.parts),
            (b"", b"\"model\"" | b"\"gemini\"") => {
                self.request(found);
                self.parts(message.parts);
            }
            _ => {}
        }
    }

    /// A message of a user that only brings results is no turn.
    fn prompt(&mut self, message: &Record<'_>, found: Sink<'_>) {
        let brings_results = elements(message.content).any(|part| member(part, b"functionResponse").is_some());
        if self.is_new(message.id, !brings_results) && !brings_results {
            self.settle(found);
            found(Found::Turn);
        }
    }

    fn request(&mut self, found: Sink<'_>) {
        self.settle(found);
        found(Found::Event(Event::RequestSent { by: Agent::Main }));
    }

    fn call(&mut self, call: &[u8], line: u64) {
        let (Some(id), Some(name)) = (member(call, b"id"), member(call, b"name").and_then(text)) else { return };
        if self.seen.is_new("call", id) {
            let arguments = member(call, b"args").unwrap_or(b"{}");
            self.calls.call(Caller::Main, id, &name, || String::from_utf8_lossy(arguments).into());
        }
        let response = member(call, b"result").and_then(|parts| elements(parts).next()).and_then(|part| {
            let response = member(part, b"functionResponse")?;
            member(response, b"response")
        });
        let told = by_status(member(call, b"status").unwrap_or_default());
        if let Some(outcome) = told.or_else(|| response.map(by_response)) {
            self.calls.result(id, |_| outcome);
        }
        if let Some(list) = member(call, b"resultDisplay").and_then(display) {
            self.calls.recorded(id, list, line);
        }
    }

    /// The parts of a content of a saved history.
    fn parts(&mut self, content: &[u8]) {
        for part in Part::all(content) {
            match part {
                Part::Call { id, name, arguments } => {
                    self.calls.call(Caller::Main, id, &name, || String::from_utf8_lossy(arguments).into());
                }
                Part::Response { id, response } => self.calls.result(id, |_| by_response(response)),
            }
        }
    }

    /// All messages at once: the first ones there are, or what the session holds from here on. Where the
    /// oldest is gone, a summary stands for it; where not, only their words have changed.
    fn replace(&mut self, messages: &[u8], line: u64, found: Sink<'_>) {
        if self.messages.is_empty() {
            for message in elements(messages) {
                self.message(&Record::of(message).unwrap_or_default().0, line, found);
            }
            return;
        }
        let before = std::mem::take(&mut self.messages);
        for message in elements(messages).filter(|message| is_of_session(message)) {
            let id = hash(member(message, b"id").unwrap_or_default());
            let turn = before.iter().any(|known| known.id == id && known.turn);
            self.messages.push(Known { id, turn });
        }
        let oldest = before.first().map(|known| known.id);
        if !self.messages.iter().any(|known| Some(known.id) == oldest) {
            self.settle(found);
            found(Found::Event(Event::Compacted));
        }
    }

    /// An unknown message takes all back, as the client does (R2).
    fn rewind(&mut self, id: &[u8], found: Sink<'_>) {
        self.settle(found);
        let at = self.messages.iter().rposition(|known| known.id == hash(id)).unwrap_or_default();
        let turns = self.messages.drain(at..).filter(|known| known.turn).count() as u64;
        found(Found::Rewound { turns });
    }

    fn is_new(&mut self, id: &[u8], turn: bool) -> bool {
        let (named, id) = (!id.is_empty(), hash(id));
        let is_new = !(named && self.messages.iter().rev().any(|known| known.id == id));
        if is_new {
            self.messages.push(Known { id, turn });
        }
        is_new
    }

    fn settle(&mut self, found: Sink<'_>) {
        self.calls.settle(self.calls.len(), found);
    }
}

/// The messages of a document, from behind the bracket; none where there are none.
fn messages_of(document: &[u8]) -> Option<&[u8]> {
    if document.starts_with(b"[") {
        return document.get(1..);
    }
    let mut members = Members::of(document);
    while let Some(key) = members.key() {
        if matches!(key, b"messages" | b"history") {
            return members.descend(|array| Some((array, array)))?.strip_prefix(b"[");
        }
        members.value()?;
    }
    None
}

/// The next place where a line begins like this.
fn next<'a>(rest: &'a [u8], begin: &[u8]) -> &'a [u8] {
    let at = if begin.is_empty() { None } else { memmem::find(rest, begin) };
    at.and_then(|at| rest.get(at..)).unwrap_or_default()
}

fn is_of_session(message: &[u8]) -> bool {
    member(message, b"type").is_some_and(|kind| matches!(kind, b"\"user\"" | b"\"gemini\""))
}

/// The list that was shown, with its items' contents under their usual name.
fn display(display: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Shown {
        description: String,
        status: String,
    }
    let shown: Vec<Shown> = serde_json::from_slice(member(display, b"todos")?).ok()?;
    let items = shown
        .into_iter()
        .map(|Shown { description, status }| serde_json::json!({"content": description, "status": status}));
    Some(items.collect::<serde_json::Value>().to_string())
}

/// What matters of a record or of a message, as the text that it is.
#[derive(Default)]
struct Record<'a> {
    id: &'a [u8],
    kind: &'a [u8],
    role: &'a [u8],
    content: &'a [u8],
    /// The whole, where it has parts.
    parts: &'a [u8],
    calls: &'a [u8],
    set: &'a [u8],
    rewind_to: &'a [u8],
    /// Whether it is a record of what was sent or printed, and of no session.
    is_foreign: bool,
}

impl<'a> Record<'a> {
    /// The record that a text begins with, and what stands behind it; none where it is damaged.
    fn of(whole: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let mut record = Self::default();
        let mut members = Members::of(whole);
        while let Some(key) = members.key() {
            let value = members.value()?;
            match key {
                b"id" => record.id = value,
                b"type" => record.kind = value,
                b"role" => record.role = value,
                b"content" => record.content = value,
                b"parts" => record.parts = whole,
                b"toolCalls" => record.calls = value,
                b"$set" => record.set = value,
                b"$rewindTo" => record.rewind_to = value,
                b"payload" | b"method" => record.is_foreign = true,
                _ => {}
            }
        }
        members.behind().map(|behind| (record, behind))
    }

    const fn matters(&self) -> bool {
        !self.calls.is_empty() || !self.set.is_empty()
    }
}
