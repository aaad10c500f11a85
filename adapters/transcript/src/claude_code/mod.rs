//! Claude Code: a JSONL file a session, one record a line, one content block a record.
//!
//! | what | where |
//! |---|---|
//! | a request | the first record of a response id (`message.id`); the records of one response need not follow each other |
//! | a call | a `tool_use` block of an `assistant` record |
//! | how it ended | the `tool_result` block with its id, in a `user` record, and that record's `toolUseResult` |
//! | a compaction | `system` / `compact_boundary` |
//! | a resume | an `assistant` record that the client made up after a `user` record of its own; a resume that needed none left no sign |
//! | a sub-agent | records with `isSidechain`, or a log of its own that the call's result names (`agentId`) |

mod shapes;

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use session_todo::{Agent, Call, Caller, Event, Outcome, Tool};

use crate::Found;
use crate::lines::Line;
use shapes::{Block, Content, Message, Record, ToolReply};

type Sink<'s> = &'s mut dyn FnMut(Found<'_>);

/// The reader of Claude Code's logs.
#[derive(Debug, Default)]
pub struct ClaudeCode {
    /// Calls of the current round, in call order, until the next request shows that they are over.
    open: Vec<OpenCall>,
    /// Response and call ids that were seen, hashed: each counts once (R3, R9).
    seen: HashSet<u64>,
    /// Whether main's last record was one that the client wrote in the user's name.
    after_meta: bool,
    /// Whether any line was read.
    any: bool,
    recognised: bool,
}

#[derive(Debug)]
struct OpenCall {
    by: Caller,
    id: String,
    name: String,
    arguments: String,
    /// None until its result is there.
    outcome: Option<Outcome<'static>>,
}

impl ClaudeCode {
    /// A reader at the start of a log.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether anything so far looked like a record of Claude Code's.
    #[must_use]
    pub const fn recognised(&self) -> bool {
        self.recognised
    }

    /// Whether the log holds anything at all.
    #[must_use]
    pub const fn any(&self) -> bool {
        self.any
    }

    /// Reads one line, which may hold more than one record.
    pub(crate) fn line(&mut self, line: &Line<'_>, found: Sink<'_>) {
        self.any = true;
        let mut records = serde_json::Deserializer::from_slice(line.bytes).into_iter::<Record<'_>>();
        let mut at = 0;
        while let Some(record) = records.next() {
            match record {
                Ok(record) => self.record(&record, line, found),
                Err(error) => {
                    let why = if error.is_eof() { "the record is cut off" } else { "not a record" };
                    found(Found::Skipped(line.skipped(at, why)));
                    return;
                }
            }
            at = records.byte_offset();
        }
    }

    /// The end of the log: calls that have a result are over, the others pending (R1).
    pub(crate) fn end(&mut self, found: Sink<'_>) {
        for call in std::mem::take(&mut self.open) {
            match call.outcome {
                Some(_) => call.report(found),
                None if Tool::named(&call.name).is_some() => found(Found::Pending(&call.name)),
                None => {}
            }
        }
    }

    fn record(&mut self, record: &Record<'_>, line: &Line<'_>, found: Sink<'_>) {
        self.recognised |= record.is_claude_code();
        let by = if record.is_sidechain == Some(true) { Caller::Sub } else { Caller::Main };
        let after_meta = std::mem::take(&mut self.after_meta);
        match record.kind.as_deref() {
            Some("assistant") => match record.message() {
                Some(Ok(message)) => self.response(by, record, &message, after_meta, found),
                Some(Err(why)) => found(Found::Skipped(line.skipped(0, why))),
                None => {}
            },
            Some("user") => {
                self.after_meta = by == Caller::Main && record.is_meta == Some(true);
                match record.message() {
                    Some(Ok(message)) => self.results(record, &message, found),
                    Some(Err(why)) => found(Found::Skipped(line.skipped(0, why))),
                    None => {}
                }
            }
            Some("system") if record.subtype.as_deref() == Some("compact_boundary") && by == Caller::Main => {
                self.settle(None, found);
                found(Found::Event(Event::Compacted));
            }
            Some("attachment") if by == Caller::Main && record.is_reminder() => found(Found::Reminded),
            _ => {}
        }
    }

    fn response(&mut self, by: Caller, record: &Record<'_>, message: &Message<'_>, after_meta: bool, found: Sink<'_>) {
        if message.is_made_up() {
            // An error that the client shows as an answer is no sign of anything (R9).
            if by == Caller::Main && after_meta && record.is_api_error_message == Some(false) {
                self.settle(None, found);
                found(Found::Event(Event::Resumed));
            }
            return;
        }
        let id = message.id.as_deref().unwrap_or_default();
        if self.is_new("response", id) {
            let agent = if by == Caller::Main { Agent::Main } else { Agent::Sub };
            // What a sub-agent did is over when it asks again; what main did, with everything it started.
            self.settle((by == Caller::Sub).then_some(Caller::Sub), found);
            found(Found::Event(Event::RequestSent { by: agent }));
        }
        for block in message.blocks() {
            if let Block::ToolUse { id, name, input } = block
                && self.is_new("call", &id)
            {
                self.call(by, &id, &name, input.get());
            }
        }
    }

    fn call(&mut self, by: Caller, id: &str, name: &str, arguments: &str) {
        let tool = Tool::named(name);
        // A sub-agent's tasks are the session's, its TodoWrite list is its own (R9).
        if by == Caller::Sub && tool.is_none_or(|tool| tool == Tool::TodoWrite) {
            return;
        }
        let arguments = if tool.is_some() { arguments } else { "" };
        self.open.push(OpenCall { by, id: id.into(), name: name.into(), arguments: arguments.into(), outcome: None });
    }

    fn results(&mut self, record: &Record<'_>, message: &Message<'_>, found: Sink<'_>) {
        let reply = record.reply();
        if let Some(agent) = reply.agent_id.as_deref() {
            found(Found::Agent(agent));
        }
        for block in message.blocks() {
            let Block::ToolResult { tool_use_id, is_error, content } = block else { continue };
            if let Some(call) = self.open.iter_mut().find(|call| call.id == tool_use_id) {
                call.outcome.get_or_insert_with(|| outcome(is_error, content.as_ref(), &reply));
            }
        }
    }

    /// Reports the calls that are over: all, or one caller's.
    fn settle(&mut self, of: Option<Caller>, found: Sink<'_>) {
        let (over, open) =
            std::mem::take(&mut self.open).into_iter().partition(|call| of.is_none_or(|by| call.by == by));
        self.open = open;
        let over: Vec<OpenCall> = over;
        for call in over {
            if call.outcome.is_none() && Tool::named(&call.name).is_some() {
                found(Found::Unanswered(&call.name));
            }
            call.report(found);
        }
    }

    fn is_new(&mut self, kind: &str, id: &str) -> bool {
        let mut hasher = DefaultHasher::new();
        (kind, id).hash(&mut hasher);
        self.seen.insert(hasher.finish())
    }
}

impl OpenCall {
    fn report(self, found: Sink<'_>) {
        let outcome = self.outcome.unwrap_or(Outcome::Ran { id: None });
        let call = Call { by: self.by, name: self.name.into(), arguments: self.arguments.into(), outcome };
        found(Found::Event(Event::ToolCalled(call)));
    }
}

/// A call ran only where its result says so (R1).
fn outcome(is_error: bool, content: Option<&Content<'_>>, reply: &ToolReply<'_>) -> Outcome<'static> {
    let text = content.and_then(Content::first_text).unwrap_or_default();
    // The client flags an unknown task in neither of the two usual ways.
    if is_error || reply.failed || text.starts_with("<tool_use_error>") || text == "Task not found" {
        return Outcome::Failed;
    }
    let id = reply.task_id.as_deref().or_else(|| task_number(&text));
    Outcome::Ran { id: id.map(|id| id.to_owned().into()) }
}

/// The number in `Task #7 created successfully: …`, which sub-agents' logs have in place of a record (R4).
fn task_number(text: &str) -> Option<&str> {
    let (number, rest) = text.strip_prefix("Task #")?.split_once(' ')?;
    rest.starts_with("created").then_some(number)
}
