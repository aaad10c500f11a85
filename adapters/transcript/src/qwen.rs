//! Qwen Code: a JSONL file a session, one record a line.
//!
//! | what | where |
//! |---|---|
//! | a request | the first `assistant` record of a `uuid`: one message may come in several records |
//! | a call | a `functionCall` part of it |
//! | how it ended | the `functionResponse` part of a `tool_result` record, and the `status` beside it |
//! | a compaction | `system` / `chat_compression` |
//! | a turn | a `user` record without a subtype |
//! | a rewind | `system` / `rewind`: its parent is that of the first turn that is gone |
//! | the list as it stood | `resultDisplay` of a `todo_write`, with what the user changed |
//! | a sub-agent | records with `isSidechain` |

use session_todo::{Agent, Caller, Event, Outcome, Tool};

use crate::lines::Line;
use crate::open_calls::{Calls, Seen, hash};
use crate::parts::{Part, by_response, by_status};
use crate::records::{records, sound, text_or_raw};
use crate::skim::{Members, member};
use crate::{Found, LineReader, Sink};

#[derive(Debug, Default)]
pub(crate) struct Qwen {
    calls: Calls,
    /// Messages and calls.
    seen: Seen,
    /// The parent of each turn's first record, hashed.
    turns: Vec<u64>,
}

impl LineReader for Qwen {
    fn line(&mut self, line: &Line<'_>, found: Sink<'_>) {
        records(line, found, &mut |rest, found| {
            let (record, behind) = sound(rest, Record::of, Record::calls_list)?;
            self.record(&record, line.number, found);
            Some(behind)
        });
    }

    fn end(&mut self, found: Sink<'_>) {
        self.calls.end(found);
    }
}

impl Qwen {
    fn record(&mut self, record: &Record<'_>, line: u64, found: Sink<'_>) {
        match (record.kind, record.subtype) {
            (b"\"assistant\"", _) => self.response(record, found),
            (b"\"tool_result\"", _) => self.results(record, line),
            (b"\"user\"", b"") if !record.is_sidechain => {
                self.settle(found);
                self.turns.push(hash(record.parent));
                found(Found::Turn);
            }
            (b"\"system\"", b"\"chat_compression\"") if !record.is_sidechain => {
                self.settle(found);
                found(Found::Event(Event::Compacted));
            }
            (b"\"system\"", b"\"rewind\"") => self.rewind(record.parent, found),
            _ => {}
        }
    }

    fn response(&mut self, record: &Record<'_>, found: Sink<'_>) {
        if self.seen.is_new("message", record.uuid) {
            // What a sub-agent does is no sign that main's calls are over.
            if !record.is_sidechain {
                self.settle(found);
            }
            let by = if record.is_sidechain { Agent::Sub } else { Agent::Main };
            found(Found::Event(Event::RequestSent { by }));
        }
        for part in Part::all(record.message) {
            if let Part::Call { id, name, arguments } = part
                && self.seen.is_new("call", id)
            {
                // A sub-agent's whole list is its own (R9).
                match Tool::named(&name) {
                    None | Some(Tool::TodoWrite) if record.is_sidechain => {}
                    _ => self.calls.call(record.caller(), id, &name, || String::from_utf8_lossy(arguments).into()),
                }
            }
        }
    }

    fn results(&mut self, record: &Record<'_>, line: u64) {
        let told = by_status(member(record.result, b"status").unwrap_or_default());
        let display = member(record.result, b"resultDisplay").and_then(|display| member(display, b"todos"));
        for part in Part::all(record.message) {
            if let Part::Response { id, response } = part {
                self.calls.result(id, |_| match told {
                    Some(Outcome::Failed) => Outcome::Failed,
                    _ => by_response(response),
                });
                if let Some(list) = display {
                    self.calls.recorded(id, text_or_raw(list), line);
                }
            }
        }
    }

    /// The record before the first turn that is gone is the parent of what comes now (R2).
    fn rewind(&mut self, parent: &[u8], found: Sink<'_>) {
        self.settle(found);
        let Some(at) = self.turns.iter().rposition(|turn| *turn == hash(parent)) else { return };
        let turns = (self.turns.len() - at) as u64;
        self.turns.truncate(at);
        found(Found::Rewound { turns });
    }

    fn settle(&mut self, found: Sink<'_>) {
        self.calls.settle(self.calls.len(), found);
    }
}

/// What matters of a record, as the text that it is.
#[derive(Default)]
struct Record<'a> {
    kind: &'a [u8],
    subtype: &'a [u8],
    uuid: &'a [u8],
    parent: &'a [u8],
    message: &'a [u8],
    result: &'a [u8],
    is_sidechain: bool,
}

impl<'a> Record<'a> {
    /// The record that a text begins with, and what stands behind it; none where it is damaged.
    fn of(whole: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let mut record = Self::default();
        let mut members = Members::of(whole);
        while let Some(key) = members.key() {
            let value = members.value()?;
            match key {
                b"type" => record.kind = value,
                b"subtype" => record.subtype = value,
                b"uuid" => record.uuid = value,
                b"parentUuid" => record.parent = value,
                b"message" => record.message = value,
                b"toolCallResult" => record.result = value,
                b"isSidechain" => record.is_sidechain = value == b"true",
                _ => {}
            }
        }
        members.behind().map(|behind| (record, behind))
    }

    fn calls_list(&self) -> bool {
        let is_list = |part| matches!(part, Part::Call { name, .. } if Tool::named(&name).is_some());
        self.kind == b"\"assistant\"" && Part::all(self.message).any(is_list)
    }

    const fn caller(&self) -> Caller {
        if self.is_sidechain { Caller::Sub } else { Caller::Main }
    }
}
