//! Claude Code: a JSONL file a session, one record a line, one content block a record.
//!
//! | what | where |
//! |---|---|
//! | a request | the first record of a response id (`message.id`); the records of one response need not follow each other |
//! | a call | a `tool_use` block of an `assistant` record |
//! | how it ended | the `tool_result` block with its id, in a `user` record, and that record's `toolUseResult` |
//! | a compaction | `system` / `compact_boundary` |
//! | a resume | an `assistant` record that the client made up; a resume that needed none left no sign |
//! | a sub-agent | records with `isSidechain`, `agent_progress` records, or a log of its own that the call's result names (`agentId`) |
//! | the list as it stood | `todos` of a prompt and `oldTodos` of a result (`TodoWrite`); a `TaskList` result and the content of a reminder (Task tools) |

mod record;
mod round;
mod signs;

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use session_todo::{Agent, Caller, Event, Tool};

use crate::lines::{Line, Look, Shows};
use crate::skim::{Members, elements, member, text};
use crate::{Family, Found, LineReader, Sink};
use record::{Block, Kind, Message, Record, Reply, next_record, without_nul};
use round::Round;

#[derive(Debug, Default)]
pub(crate) struct ClaudeCode {
    /// Calls since the last request, and what came of them.
    round: Round,
    /// Response and call ids that were seen, hashed: each counts once (R3, R9).
    seen: HashSet<u64>,
    /// Sub-agents that main did not wait for: their calls are reported at the end of the log.
    launched: Vec<String>,
}

impl LineReader for ClaudeCode {
    fn look(&self) -> Look {
        signs::look
    }

    fn line(&mut self, line: &Line<'_>, found: Sink<'_>) {
        match line.shows {
            _ if self.round.awaits(line.bytes) => {}
            Shows::Nothing => return,
            Shows::Response { call } => {
                if let Some(record) = Record::opening(line.bytes, call) {
                    return self.record(&record, line, found);
                }
            }
            Shows::Other => {}
        }
        let mut rest = line.bytes;
        while !rest.is_empty() {
            let at = line.bytes.len() - rest.len();
            let Some((record, behind)) = Record::of(rest).filter(|(record, _)| record.is_sound(rest)) else {
                let cut_off = rest.starts_with(b"{") && !rest.ends_with(b"}");
                let why = if cut_off { "the record is cut off" } else { "not a record" };
                found(Found::Skipped(line.skipped(at, why)));
                // A torn record may have a whole one behind it, as after a crash.
                let Some(next) = next_record(rest) else { return };
                rest = next;
                continue;
            };
            self.record(&record, line, found);
            rest = behind.trim_ascii_start();
            if let Some(clean) = without_nul(rest) {
                found(Found::Skipped(line.skipped(line.bytes.len() - rest.len(), "NUL bytes")));
                rest = clean;
            }
        }
    }

    /// Calls that have a result are over, the others pending (R1).
    fn end(&mut self, found: Sink<'_>) {
        self.round.settle_ended(found);
        for agent in std::mem::take(&mut self.launched) {
            found(Found::Agent(&agent));
        }
        self.round.end(found);
    }
}

impl ClaudeCode {
    fn record(&mut self, record: &Record<'_>, line: &Line<'_>, found: Sink<'_>) {
        let main = !record.is_sidechain;
        match record.kind {
            Kind::Assistant => {
                if let Some(message) = &record.message {
                    self.response(main, record, message, found);
                }
            }
            Kind::User => self.results(main, record, line, found),
            Kind::Progress => self.progress(record, line, found),
            Kind::System if main && record.subtype == b"\"compact_boundary\"" => {
                self.round.settle(None, found);
                found(Found::Event(Event::Compacted));
            }
            Kind::Attachment if main => self.attachment(record, line, found),
            Kind::System | Kind::Attachment | Kind::Other => {}
        }
    }

    fn response(&mut self, main: bool, record: &Record<'_>, message: &Message<'_>, found: Sink<'_>) {
        if message.is_made_up() {
            // An error that the client shows as an answer is no sign of anything (R9).
            if main && record.is_api_error == b"false" {
                self.round.settle(None, found);
                found(Found::Event(Event::Resumed));
            }
            return;
        }
        if self.is_new("response", message.id) {
            // What a sub-agent did is over when it asks again; what main did, with everything it started.
            self.round.settle_ended(found);
            self.round.settle((!main).then_some(Caller::Sub), found);
            found(Found::Event(Event::RequestSent { by: if main { Agent::Main } else { Agent::Sub } }));
        }
        for block in &message.blocks {
            if let Block::ToolUse { id, name, input } = block
                && self.is_new("call", id)
            {
                self.call(main, id, name, input);
            }
        }
    }

    fn call(&mut self, main: bool, id: &[u8], name: &[u8], input: &[u8]) {
        let Some(name) = text(name) else { return };
        let tool = Tool::named(&name);
        let by = if main { Caller::Main } else { Caller::Sub };
        // A sub-agent's tasks are the session's, its TodoWrite list is its own (R9).
        if !main && tool.is_none_or(|tool| tool == Tool::TodoWrite) {
            return;
        }
        self.round.call(by, id, &name, tool, input);
    }

    fn results(&mut self, main: bool, record: &Record<'_>, line: &Line<'_>, found: Sink<'_>) {
        if main && record.todos.first() == Some(&b'[') {
            self.round.recorded(Family::TodoWrite, record.todos, line.number);
        }
        if !self.round.waits() {
            return;
        }
        let reply = Reply::of(record.tool_use_result);
        if let Some(agent) = reply.agent_id.as_deref() {
            self.round.settle_ended(found);
            if reply.launched {
                self.launched.push(agent.into());
            } else {
                found(Found::Agent(agent));
            }
        }
        for block in record.message.iter().flat_map(|message| &message.blocks) {
            if let Block::ToolResult { id, is_error, content } = block {
                self.round.result(id, *is_error, content, &reply, line.number);
            }
        }
    }

    /// A sub-agent's messages inside a record of main's log. They are repeated, and each call counts once.
    fn progress(&mut self, record: &Record<'_>, line: &Line<'_>, found: Sink<'_>) {
        let repeated = member(record.data, b"normalizedMessages").into_iter().flat_map(elements);
        for inner in member(record.data, b"message").into_iter().chain(repeated) {
            let Some((mut inner, _)) = Record::of(inner) else { continue };
            inner.is_sidechain = true;
            match inner.kind {
                Kind::Assistant => {
                    if let Some(message) = &inner.message {
                        self.response(false, &inner, message, found);
                    }
                }
                Kind::User => self.results(false, &inner, line, found),
                Kind::Progress | Kind::System | Kind::Attachment | Kind::Other => {}
            }
        }
    }

    fn attachment(&mut self, record: &Record<'_>, line: &Line<'_>, found: Sink<'_>) {
        let mut members = Members::of(record.attachment);
        let (mut family, mut content): (_, &[u8]) = (None, b"");
        while let Some(key) = members.key() {
            let Some(value) = members.value() else { break };
            match (key, value) {
                (b"type", b"\"task_reminder\"") => family = Some(Family::Tasks),
                (b"type", b"\"todo_reminder\"") => family = Some(Family::TodoWrite),
                (b"content", value) => content = value,
                _ => {}
            }
        }
        if let Some(family) = family {
            self.round.recorded(family, content, line.number);
            found(Found::Reminded);
        }
    }

    fn is_new(&mut self, kind: &str, id: &[u8]) -> bool {
        let mut hasher = DefaultHasher::new();
        (kind, id).hash(&mut hasher);
        self.seen.insert(hasher.finish())
    }
}

#[cfg(test)]
#[allow(clippy::indexing_slicing)]
mod tests {
    use super::*;
    use crate::lines::each_line;

    fn told(log: &[u8], look: Look) -> Vec<String> {
        let mut told = Vec::new();
        let mut reader = ClaudeCode::default();
        let found: Sink<'_> = &mut |found| match found {
            // An agent's requests move nothing, and without a call there is no reason to read them.
            Found::Skipped(_) | Found::Event(Event::RequestSent { by: Agent::Sub }) => {}
            found => told.push(format!("{found:?}")),
        };
        let end = each_line(log, look, |line| reader.line(line, found));
        reader.end(found);
        assert!(end.is_ok(), "a slice can be read");
        told
    }

    #[test]
    fn a_look_loses_nothing() {
        const LOGS: [&str; 2] = [
            include_str!("../../../../tests/fixtures/claude-code/tasks.jsonl"),
            include_str!("../../../../tests/fixtures/claude-code/todowrite.jsonl"),
        ];
        for log in LOGS {
            let whole = told(log.as_bytes(), |_| Shows::Other);
            assert!(whole.len() > 20, "the log says something");
            assert_eq!(told(log.as_bytes(), signs::look), whole);
            // R7: two records on a line, a torn one before a whole one, NUL bytes between them.
            for at in (0..40).filter_map(|nth| log.match_indices('\n').nth(nth * log.lines().count() / 40)) {
                let (head, tail) = (&log[..at.0], &log[at.0 + 1..]);
                for glue in ["", " ", "\0\0"] {
                    // Of two records without a sign between them only this shows that the first is torn.
                    let torn = if tail.starts_with(r#"{"parentUuid""#) { 9 } else { 0 };
                    for end in [head.len(), head.len() - torn] {
                        let glued = [&head[..end], glue, tail].concat();
                        let whole = told(glued.as_bytes(), |_| Shows::Other);
                        assert_eq!(told(glued.as_bytes(), signs::look), whole, "{glue:?} at {}", at.0);
                    }
                }
            }
        }
    }
}
