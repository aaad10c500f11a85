//! Histories of whole messages, as Roo Code and Cline keep them: one JSON document, an array of messages or an
//! object with one. A call is a `tool_use` block, or an element in the text of the response.
//!
//! | what | where |
//! |---|---|
//! | a request | an `assistant` message that is no summary |
//! | a call in a block | `tool_use`; it ended as the `tool_result` of its id says |
//! | a call in text | `<name>…</name>`, where the next message says `[name …] Result:` and how it ended |
//! | a compaction | a message with `isSummary: true`, or whose `metadata.kind` says so |
//!
//! A text that looks like a call is none where the next message tells of another tool's result (R5).

use std::borrow::Cow;
use std::io;

use session_todo::{Agent, Caller, Event, Outcome, Tool};

use crate::document::Document;
use crate::open_calls::{Calls, Seen};
use crate::records::{first_text, is_json};
use crate::skim::{elements, member, text};
use crate::{Found, Sink, cline, roo};

/// Reads a history.
pub(crate) fn read(bytes: &[u8], found: Sink<'_>) -> io::Result<()> {
    let mut document = Document::of(bytes);
    let whole = document.text();
    let mut chat = Chat::default();
    let mut each = |document: &mut Document<'_>, message: &_, rest: &_, found: Sink<'_>| {
        if chat.message(message, document.line_of(rest), found).is_none() {
            document.skipped(rest, "a message that is damaged", found);
        }
    };
    if !whole.starts_with(b"[") {
        document.elements_of(b"messages", found, &mut each);
    } else if elements(whole).next().is_some_and(is_shown) {
        return Err(io::Error::new(io::ErrorKind::Unsupported, SHOWN));
    } else {
        document.elements(whole, found, &mut each);
    }
    chat.end(found);
    Ok(())
}

const SHOWN: &str =
    "messages as a person saw them, which are not read; the session's log is api_conversation_history.json";

/// Whether a message is one of those that the client shows.
fn is_shown(message: &[u8]) -> bool {
    member(message, b"role").is_none() && (member(message, b"say").is_some() || member(message, b"ask").is_some())
}

#[derive(Debug, Default)]
struct Chat {
    calls: Calls,
    seen: Seen,
    /// The text of the last response, as long as calls in it may run.
    said: String,
}

impl Chat {
    /// Reads a message; none where it is damaged.
    fn message(&mut self, message: &[u8], line: u64, found: Sink<'_>) -> Option<()> {
        let is_summary = member(message, b"isSummary") == Some(b"true");
        if is_summary || is_compaction(member(message, b"metadata").unwrap_or_default()) {
            self.settle(found);
            found(Found::Event(Event::Compacted));
        }
        match member(message, b"role")? {
            _ if is_summary => Some(()),
            b"\"assistant\"" => self.response(member(message, b"content")?, found),
            b"\"user\"" => self.results(member(message, b"content")?, line, found),
            _ => Some(()),
        }
    }

    fn response(&mut self, content: &[u8], found: Sink<'_>) -> Option<()> {
        self.settle(found);
        found(Found::Event(Event::RequestSent { by: Agent::Main }));
        for block in blocks(content) {
            match kind(block) {
                b"\"tool_use\"" => self.tool_use(block)?,
                b"\"text\"" => self.said.push_str(&words(block).unwrap_or_default()),
                _ => {}
            }
        }
        // Where calls are blocks, none is written.
        if blocks(content).any(|block| kind(block) == b"\"tool_use\"") {
            self.said.clear();
        }
        Some(())
    }

    fn tool_use(&mut self, block: &[u8]) -> Option<()> {
        let id = member(block, b"id")?;
        let name = member(block, b"name").and_then(text)?;
        if !self.seen.is_new("call", id) {
            return Some(());
        }
        let input = member(block, b"input").unwrap_or_default();
        let progress = cline::in_input(input);
        if (progress.is_some() || Tool::named(&name).is_some()) && !is_json(block) {
            return None;
        }
        self.calls.call(Caller::Main, id, &name, || String::from_utf8_lossy(input).into_owned());
        if let Some(arguments) = progress {
            self.calls.call(Caller::Main, &beside(id), cline::TOOL, || arguments);
        }
        Some(())
    }

    /// What a message of the user's says of the calls before it.
    fn results(&mut self, content: &[u8], line: u64, found: Sink<'_>) -> Option<()> {
        let texts: Vec<(&[u8], Cow<'_, str>)> =
            blocks(content).map(|block| (block, words(block).unwrap_or_default())).collect();
        let said = std::mem::take(&mut self.said);
        if !texts.iter().any(|(block, text)| kind(block) == b"\"text\"" && tells(text)) {
            self.unanswered(&said, found);
        }
        let mut unread = said.as_str();
        for (at, (block, text)) in texts.iter().enumerate() {
            match kind(block) {
                b"\"tool_result\"" => self.tool_result(block, line)?,
                b"\"text\"" if roo::is_environment(text) => self.environment(text, line, found),
                b"\"text\"" if cline::is_reminder(text) => found(Found::Reminded),
                b"\"text\"" => {
                    let Some((name, result)) = result_of(text) else { continue };
                    let next = texts.get(at + 1).map_or("", |(_, text)| text);
                    let result = if result.is_empty() { next } else { result };
                    unread = self.written(name, unread, result, line);
                }
                _ => {}
            }
        }
        Some(())
    }

    fn tool_result(&mut self, block: &[u8], line: u64) -> Option<()> {
        let id = member(block, b"tool_use_id")?;
        let is_error = member(block, b"is_error") == Some(b"true");
        let result = member(block, b"content").and_then(first_text).unwrap_or_default();
        self.end_of(id, is_error, &result, line);
        Some(())
    }

    /// A call that was written in the response, now that its result is there. Gives the text behind it.
    fn written<'t>(&mut self, name: &str, said: &'t str, result: &str, line: u64) -> &'t str {
        let Some((inner, behind)) = element(said, name) else { return said };
        let id = name.as_bytes();
        self.call(id, name, inner);
        self.end_of(id, false, result, line);
        behind
    }

    /// A call that was written in a text, with what stands in its element.
    fn call(&mut self, id: &[u8], name: &str, inner: &str) {
        self.calls.call(Caller::Main, id, name, || roo::arguments(inner));
        if let Some(arguments) = cline::in_element(inner) {
            self.calls.call(Caller::Main, &beside(id), cline::TOOL, || arguments);
        }
    }

    fn end_of(&mut self, id: &[u8], is_error: bool, result: &str, line: u64) {
        let outcome = |name: &str| {
            let ran = if name == roo::TOOL { roo::ran(result) } else { cline::ran(result) };
            if is_error || !ran { Outcome::Failed } else { Outcome::Ran { id: None } }
        };
        self.calls.result(id, outcome);
        self.calls.result(&beside(id), outcome);
        if let Some(list) = roo::edited(result).filter(|_| !is_error) {
            self.calls.recorded(id, list, line);
        }
    }

    /// The call of the list in a text on which nothing is said.
    fn unfinished(&mut self, said: &str) -> bool {
        let call = element(said, roo::TOOL).map(|(inner, _)| (roo::TOOL, roo::arguments(inner)));
        let call = call.or_else(|| cline::in_element(said).map(|arguments| (cline::TOOL, arguments)));
        let Some((name, arguments)) = call else { return false };
        self.calls.call(Caller::Main, b"", name, || arguments);
        true
    }

    /// The same, where the log goes on (R1).
    fn unanswered(&mut self, said: &str, found: Sink<'_>) {
        if self.unfinished(said) {
            self.calls.settle(usize::MAX, found);
        }
    }

    fn environment(&mut self, text: &str, line: u64, found: Sink<'_>) {
        self.calls.settle_ended(found);
        roo::environment(text, line, found);
    }

    fn settle(&mut self, found: Sink<'_>) {
        let said = std::mem::take(&mut self.said);
        self.unfinished(&said);
        self.calls.settle(usize::MAX, found);
    }

    fn end(&mut self, found: Sink<'_>) {
        let said = std::mem::take(&mut self.said);
        self.unfinished(&said);
        self.calls.end(found);
    }
}

/// The id of the call that rides on another's.
fn beside(id: &[u8]) -> Vec<u8> {
    [id, b"/task_progress"].concat()
}

/// The blocks of a content; a text alone is one.
fn blocks(content: &[u8]) -> impl Iterator<Item = &[u8]> {
    let alone = content.starts_with(b"\"").then_some(content);
    alone.into_iter().chain(elements(content))
}

fn kind(block: &[u8]) -> &[u8] {
    if block.starts_with(b"\"") { b"\"text\"" } else { member(block, b"type").unwrap_or_default() }
}

/// A block's text.
fn words(block: &[u8]) -> Option<Cow<'_, str>> {
    if block.starts_with(b"\"") { text(block) } else { member(block, b"text").and_then(text) }
}

/// Whether the history was cut down before this message.
fn is_compaction(metadata: &[u8]) -> bool {
    matches!(member(metadata, b"kind"), Some(b"\"compaction\"" | b"\"compaction_summary\""))
}

/// Whether a text says which calls in the response ran, or that it held none.
fn tells(text: &str) -> bool {
    result_of(text).is_some() || text.starts_with("[ERROR] You did not use a tool")
}

/// The tool that a text is the result of, and what the text says of it.
fn result_of(text: &str) -> Option<(&str, &str)> {
    let first = text.lines().next()?;
    let name = first.strip_prefix('[')?.split([' ', ']']).next()?;
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let (_, result) = text.split_once("] Result:").filter(|(head, _)| is_name && head.len() <= first.len())?;
    Some((name, result.trim()))
}

/// What stands in the first element of this name, and what stands behind it.
pub(crate) fn element<'t>(text: &'t str, name: &str) -> Option<(&'t str, &'t str)> {
    let (_, inner) = text.split_once(&format!("<{name}>"))?;
    inner.split_once(&format!("</{name}>"))
}
