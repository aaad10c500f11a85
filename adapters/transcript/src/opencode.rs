//! `OpenCode`: a session's export, one JSON document; and the parts of its older storage, a document each.
//! Its database is read by [`Database`](crate::Database), message by message, through the same reader.
//!
//! | what | where |
//! |---|---|
//! | a request | an `assistant` message; one that died without a part and the one in its place are one |
//! | a call | a `tool` part of the message |
//! | how it ended | `state.status` of the same part: `completed`, `error` |
//! | a compaction | an `assistant` message with `summary: true` |
//! | the list as it stood | `state.metadata.todos` of the call; the table `todo` of the database |
//!
//! A session that is reverted keeps its messages until the next prompt, which deletes them. The client's list
//! does not move back with it, and neither does ours.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;

use session_todo::{Agent, Call, Caller, Event, Outcome, Tool};

use crate::document::Document;
use crate::records::is_json;
use crate::skim::{Members, elements, member, text, value};
use crate::{Family, Found, Recorded, Sink};

/// Reads an export, or one document of the older storage.
pub(crate) fn read(bytes: &[u8], found: Sink<'_>) -> io::Result<()> {
    let mut document = Document::of(bytes);
    let whole = document.text();
    let mut session = Messages::default();
    match Kind::of(whole) {
        Kind::Export => document.elements_of(b"messages", found, &mut |document, message, rest, found| {
            if session.message(message, document.line_of(rest), found).is_none() {
                document.skipped(rest, "a call that is not JSON", found);
            }
        }),
        Kind::Part if is_json(whole) => drop(session.alone(whole, found)),
        Kind::Other if value(whole).is_some() => return Err(io::Error::new(io::ErrorKind::Unsupported, NO_PARTS)),
        Kind::Part | Kind::Other => document.skipped(whole, "the document is cut off", found),
    }
    session.end(found);
    Ok(())
}

const NO_PARTS: &str =
    "a session or a message of OpenCode's older storage; its calls stand in files of their own, under part";

enum Kind {
    Export,
    Part,
    Other,
}

impl Kind {
    fn of(document: &[u8]) -> Self {
        let mut members = Members::of(document);
        let (mut has_type, mut has_role) = (false, false);
        while let Some(key) = members.key() {
            match key {
                b"messages" => return Self::Export,
                b"type" => has_type = true,
                b"role" => has_role = true,
                _ => {}
            }
            if members.value().is_none() {
                break;
            }
        }
        if has_type && !has_role { Self::Part } else { Self::Other }
    }
}

/// The messages of a session, in their order.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    /// Whether a request that failed has left, of which nothing has come yet.
    is_due: bool,
    /// Whether the message that was told last is main's.
    is_response: bool,
    /// Calls of the message before that were not over: what comes next shows whether they are.
    open: Vec<Open>,
    /// Ids of parts that were seen, hashed: each counts once (R3).
    seen: HashSet<u64>,
}

#[derive(Debug)]
struct Open {
    name: String,
    arguments: String,
}

impl Messages {
    /// A message with its parts, as an export has them together; none where one of them is damaged.
    fn message(&mut self, message: &[u8], line: u64, found: Sink<'_>) -> Option<()> {
        self.info(member(message, b"info").unwrap_or_default(), found);
        let mut all = Some(());
        for part in member(message, b"parts").into_iter().flat_map(elements) {
            all = all.and(self.part(part, line, found));
        }
        all
    }

    /// A part that is a document of its own.
    fn alone(&mut self, part: &[u8], found: Sink<'_>) -> Option<()> {
        self.is_response = true;
        self.part(part, 1, found)
    }

    /// What a message says of itself.
    pub(crate) fn info(&mut self, info: &[u8], found: Sink<'_>) {
        self.settle(found);
        let is_summary = member(info, b"summary") == Some(b"true");
        self.is_response = !is_summary && member(info, b"role") == Some(b"\"assistant\"");
        if self.is_response {
            self.is_due = true;
            // One that failed may have died before anything came of it.
            if member(info, b"error").is_none() {
                self.flush(found);
            }
        } else if is_summary && member(info, b"error").is_none() && member(info, b"finish").is_some() {
            found(Found::Event(Event::Compacted));
        }
    }

    /// A part of the message that was told last; none where it is damaged.
    pub(crate) fn part(&mut self, part: &[u8], line: u64, found: Sink<'_>) -> Option<()> {
        let kind = member(part, b"type")?;
        if self.is_response && matches!(kind, b"\"text\"" | b"\"reasoning\"" | b"\"tool\"" | b"\"step-finish\"") {
            self.flush(found);
        }
        if self.is_response && kind == b"\"tool\"" && self.is_new(part) {
            self.call(part, line, found)?;
        }
        Some(())
    }

    fn call(&mut self, part: &[u8], line: u64, found: Sink<'_>) -> Option<()> {
        let name = member(part, b"tool").and_then(text)?;
        let state = member(part, b"state").unwrap_or_default();
        let is_list = Tool::named(&name).is_some();
        if is_list && !is_json(part) {
            return None;
        }
        let input = if is_list { member(state, b"input").unwrap_or_default() } else { b"" };
        let arguments = String::from_utf8_lossy(input);
        let outcome = match member(state, b"status") {
            Some(b"\"completed\"" | b"\"success\"") => Outcome::Ran { id: None },
            Some(b"\"error\"") => Outcome::Failed,
            _ => {
                self.open.push(Open { name: name.into(), arguments: arguments.into() });
                return Some(());
            }
        };
        let ran = outcome != Outcome::Failed;
        report(&name, &arguments, outcome, found);
        let list = member(state, b"metadata").and_then(|metadata| member(metadata, b"todos"));
        if let Some(list) = list.filter(|_| is_list && ran) {
            let list = String::from_utf8_lossy(list);
            found(Found::Recorded(Recorded { family: Family::TodoWrite, list: &list, line }));
        }
        Some(())
    }

    /// The end of the session.
    pub(crate) fn end(&mut self, found: Sink<'_>) {
        self.flush(found);
        for Open { name, arguments } in self.open.drain(..) {
            match Tool::named(&name) {
                Some(_) => found(Found::Pending(&name)),
                None => report(&name, &arguments, Outcome::Ran { id: None }, found),
            }
        }
    }

    fn settle(&mut self, found: Sink<'_>) {
        for Open { name, arguments } in self.open.drain(..) {
            if Tool::named(&name).is_some() {
                found(Found::Unanswered(&name));
            }
            report(&name, &arguments, Outcome::Ran { id: None }, found);
        }
    }

    fn flush(&mut self, found: Sink<'_>) {
        if std::mem::take(&mut self.is_due) {
            found(Found::Event(Event::RequestSent { by: Agent::Main }));
        }
    }

    fn is_new(&mut self, part: &[u8]) -> bool {
        let Some(id) = member(part, b"id") else { return true };
        let mut hasher = DefaultHasher::new();
        id.hash(&mut hasher);
        self.seen.insert(hasher.finish())
    }
}

fn report(name: &str, arguments: &str, outcome: Outcome<'_>, found: Sink<'_>) {
    let call = Call { by: Caller::Main, name: name.into(), arguments: arguments.into(), outcome };
    found(Found::Event(Event::ToolCalled(call)));
}
