//! Kimi CLI's and Kimi Code's logs: JSONL, one record a line, in three shapes.
//!
//! | what | Kimi CLI `wire.jsonl` | Kimi Code `wire.jsonl` | Kimi CLI `context.jsonl` |
//! |---|---|---|---|
//! | a request | `StepBegin` | `step.begin` | an `assistant` message |
//! | a call | `ToolCall`, its arguments go on in `ToolCallPart` | `tool.call` | `tool_calls` of the message |
//! | how it ended | `ToolResult` with its id | `tool.result` with its id | a `tool` message with its id |
//! | a compaction | `CompactionEnd` | `context.apply_compaction` | none: the file is begun anew |
//! | the list as it stood | `display` of a result | `tools.update_store` | – |
//! | a turn, and one that was taken back | – | a prompt, `context.undo` | – |
//! | a reminder | – | an injected message of that variant | – |
//! | a sub-agent | `SubagentEvent`; its list is its own | a log of its own | – |
//!
//! A step that nothing came of, and the one in its place, are one request. `llm.request` is written for each
//! attempt, so it is not counted.

use std::borrow::Cow;

use session_todo::{Agent, Caller, Event, Outcome};

use crate::lines::Line;
use crate::open_calls::Calls;
use crate::records::{is_json, records};
use crate::skim::{elements, member, text, value};
use crate::{Family, Found, LineReader, Recorded, Sink};

#[derive(Debug, Default)]
pub(crate) struct Kimi {
    calls: Calls,
    /// Whether a request has begun of which nothing has come yet.
    is_due: bool,
    /// Prompts that an undo can reach: those since the last compaction.
    turns: u64,
}

impl LineReader for Kimi {
    fn line(&mut self, line: &Line<'_>, found: Sink<'_>) {
        records(line, found, &mut |rest, found| {
            let (record, behind) = value(rest)?;
            self.record(record, line.number, found)?;
            Some(behind)
        });
    }

    fn end(&mut self, found: Sink<'_>) {
        self.flush(found);
        self.calls.end(found);
    }
}

/// Names of tools that the session's list has elsewhere, and that are Kimi's for background tasks.
const BACKGROUND: [&str; 4] = ["TaskCreate", "TaskUpdate", "TaskGet", "TaskList"];

impl Kimi {
    /// Reads a record; none where it is damaged.
    fn record(&mut self, record: &[u8], line: u64, found: Sink<'_>) -> Option<()> {
        if let Some(message) = member(record, b"message").filter(|message| member(message, b"payload").is_some()) {
            return self.wire(message, line, found);
        }
        if let Some(role) = member(record, b"role") {
            return self.message(role, record, found);
        }
        match member(record, b"type")? {
            b"\"context.append_loop_event\"" => self.loop_event(member(record, b"event")?, found)?,
            b"\"context.append_message\"" => self.appended(member(record, b"message")?, found)?,
            b"\"context.apply_compaction\"" => self.compacted(found),
            b"\"context.clear\"" => self.turns = 0,
            b"\"context.undo\"" => self.undo(record, found)?,
            b"\"tools.update_store\"" if member(record, b"key") == Some(b"\"todo\"") => {
                self.stored(member(record, b"value")?, line, found);
            }
            _ => {}
        }
        Some(())
    }

    /// An event of Kimi CLI.
    fn wire(&mut self, message: &[u8], line: u64, found: Sink<'_>) -> Option<()> {
        let payload = member(message, b"payload")?;
        match member(message, b"type")? {
            b"\"StepBegin\"" => self.request(found),
            b"\"TurnBegin\"" => self.calls.settle(usize::MAX, found),
            b"\"ContentPart\"" => self.flush(found),
            b"\"CompactionEnd\"" => self.compacted(found),
            b"\"ToolCall\"" => return self.function(payload, found),
            b"\"ToolCallPart\"" => self.calls.more(&string(member(payload, b"arguments_part"))?),
            b"\"ToolResult\"" => self.wire_result(payload, line)?,
            b"\"SubagentEvent\"" => subagent(payload, found),
            _ => {}
        }
        Some(())
    }

    fn wire_result(&mut self, payload: &[u8], line: u64) -> Option<()> {
        let id = member(payload, b"tool_call_id")?;
        let value = member(payload, b"return_value").or_else(|| member(payload, b"result"))?;
        self.result(id, member(value, b"is_error") == Some(b"true"));
        for shown in member(value, b"display").into_iter().flat_map(elements) {
            if member(shown, b"type") == Some(b"\"todo\"") {
                self.calls.recorded(id, String::from_utf8_lossy(member(shown, b"items")?).into_owned(), line);
            }
        }
        Some(())
    }

    /// An event of Kimi Code.
    fn loop_event(&mut self, event: &[u8], found: Sink<'_>) -> Option<()> {
        match member(event, b"type")? {
            b"\"step.begin\"" => self.request(found),
            // The step in its place is the same request.
            b"\"step.end\"" if member(event, b"finishReason") == Some(b"\"error\"") => {}
            b"\"step.end\"" | b"\"content.part\"" => self.flush(found),
            b"\"tool.call\"" => {
                let arguments = member(event, b"args").unwrap_or_default();
                self.call(member(event, b"toolCallId")?, member(event, b"name")?, arguments, found)?;
            }
            b"\"tool.result\"" => {
                let failed = member(member(event, b"result")?, b"isError") == Some(b"true");
                self.result(member(event, b"toolCallId")?, failed);
            }
            _ => {}
        }
        Some(())
    }

    /// A message that Kimi Code put into the history: a prompt, a reminder, or one of another client's.
    fn appended(&mut self, message: &[u8], found: Sink<'_>) -> Option<()> {
        let origin = member(message, b"origin").unwrap_or_default();
        if member(origin, b"variant") == Some(b"\"todo_list_reminder\"") {
            found(Found::Reminded);
        } else if member(message, b"role")? == b"\"user\"" && is_prompt(origin) {
            self.calls.settle_ended(found);
            self.turns += 1;
            found(Found::Turn);
        } else {
            self.message(member(message, b"role")?, message, found)?;
        }
        Some(())
    }

    /// A whole message.
    fn message(&mut self, role: &[u8], message: &[u8], found: Sink<'_>) -> Option<()> {
        match role {
            b"\"assistant\"" => {
                self.request(found);
                self.flush(found);
                let calls = member(message, b"tool_calls").or_else(|| member(message, b"toolCalls"));
                calls.into_iter().flat_map(elements).try_for_each(|call| self.function(call, found))?;
            }
            b"\"tool\"" => {
                let id = member(message, b"tool_call_id").or_else(|| member(message, b"toolCallId"))?;
                let flagged = member(message, b"isError") == Some(b"true");
                self.result(id, flagged || says_error(member(message, b"content")?));
            }
            _ => {}
        }
        Some(())
    }

    /// A call whose arguments are a string of JSON.
    fn function(&mut self, call: &[u8], found: Sink<'_>) -> Option<()> {
        let function = member(call, b"function").unwrap_or(call);
        self.call(member(call, b"id")?, member(function, b"name")?, member(function, b"arguments")?, found)
    }

    fn call(&mut self, id: &[u8], name: &[u8], arguments: &[u8], found: Sink<'_>) -> Option<()> {
        self.flush(found);
        let name = text(name)?;
        let name = if BACKGROUND.contains(&&*name) { format!("kimi/{name}").into() } else { name };
        let arguments = string(Some(arguments))?;
        // Ids are numbers of calls in some models' spelling, and begin anew; in one response they do not.
        if !self.calls.has(id) {
            self.calls.call(Caller::Main, id, &name, || arguments.into_owned());
        }
        Some(())
    }

    fn result(&mut self, id: &[u8], failed: bool) {
        self.calls.result(id, |_| if failed { Outcome::Failed } else { Outcome::Ran { id: None } });
    }

    /// A request is about to leave. It is reported once something has come of it.
    fn request(&mut self, found: Sink<'_>) {
        self.calls.settle(usize::MAX, found);
        self.is_due = true;
    }

    fn flush(&mut self, found: Sink<'_>) {
        if std::mem::take(&mut self.is_due) {
            found(Found::Event(Event::RequestSent { by: Agent::Main }));
        }
    }

    fn compacted(&mut self, found: Sink<'_>) {
        self.calls.settle(usize::MAX, found);
        self.turns = 0;
        found(Found::Event(Event::Compacted));
    }

    /// An undo does not reach behind a compaction.
    fn undo(&mut self, record: &[u8], found: Sink<'_>) -> Option<()> {
        let count: u64 = std::str::from_utf8(member(record, b"count")?).ok()?.parse().ok()?;
        self.calls.settle(usize::MAX, found);
        let turns = count.min(self.turns);
        self.turns -= turns;
        found(Found::Rewound { turns });
        Some(())
    }

    /// The list as Kimi Code stored it, by a call or by itself.
    fn stored(&mut self, list: &[u8], line: u64, found: Sink<'_>) {
        let list = String::from_utf8_lossy(list).into_owned();
        if let Some(list) = self.calls.stored(list, line) {
            self.calls.settle_ended(found);
            found(Found::Recorded(Recorded { family: Family::TodoWrite, list: &list, line }));
        }
    }
}

/// A sub-agent has a list of its own, so only its requests are told.
fn subagent(payload: &[u8], found: Sink<'_>) {
    let event = member(payload, b"event").unwrap_or_default();
    if member(event, b"type") == Some(b"\"StepBegin\"") {
        found(Found::Event(Event::RequestSent { by: Agent::Sub }));
    }
}

/// Whether a person wrote the message: what an undo counts.
fn is_prompt(origin: &[u8]) -> bool {
    if member(origin, b"inTurn") == Some(b"true") {
        return false;
    }
    match member(origin, b"kind") {
        None | Some(b"\"user\"") => true,
        Some(b"\"skill_activation\"" | b"\"plugin_command\"") => member(origin, b"trigger") == Some(b"\"user-slash\""),
        Some(_) => false,
    }
}

/// Whether a result says that its tool failed: Kimi CLI writes it before the result's own text.
fn says_error(content: &[u8]) -> bool {
    let first = if content.starts_with(b"[") {
        elements(content).next().and_then(|part| member(part, b"text"))
    } else {
        Some(content)
    };
    first.and_then(text).is_some_and(|text| text.starts_with("<system>ERROR:"))
}

/// A string's text, or another value as it is written; nothing of what is not there. None where it can't be
/// read: the little that matters is validated (R7).
fn string(value: Option<&[u8]>) -> Option<Cow<'_, str>> {
    match value.unwrap_or_default() {
        b"null" => Some("".into()),
        value if value.starts_with(b"\"") => text(value),
        value if !value.is_empty() && !is_json(value) => None,
        value => std::str::from_utf8(value).ok().map(Into::into),
    }
}
