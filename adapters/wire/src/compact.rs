//! A compaction: what stays of a history, and what comes instead of the rest.

use session_todo::Effect;

use crate::call::{Stage, ToolCall};
use crate::error::WireError;
use crate::history::{By, History, Message, is_instruction, read_turn};
use crate::turn::Part;

impl History {
    /// A compaction: deletes the messages before `from`, puts others `instead`, a summary say, and puts the
    /// snapshot where it belongs (A5). [`safe_cut`](Self::safe_cut) gives a `from`. What a person said and no
    /// response has answered is kept all the same, and so are calls that wait for their answers; earlier texts
    /// of the list's own are deleted, since the snapshot stands for them, but for what rides on a request that waits.
    /// Instructions that a format takes as its first messages stay. Then tell the [`Record`](crate::Record).
    ///
    /// Calls that wait are told to the session after it, all of them: not between two of a response.
    pub fn compact(&mut self, from: usize, instead: Vec<Message>, snapshot: Option<&Effect>) {
        let from = self.waiting().map_or(from, |waiting| from.min(waiting));
        let unanswered = self.responded();
        if self.compactions == 0 {
            let leads = |message: &&Message| message.by == By::Harness && is_instruction(&message.json);
            self.leading = self.messages.iter().take_while(leads).count();
        }
        let leading = self.leading;
        let is_kept = |at: usize, message: &Message| match message.by {
            _ if at < leading => true,
            By::Snapshot | By::List => false,
            By::Person => at >= from.min(unanswered),
            By::Harness | By::Model | By::Rest | By::Silent | By::Tools => at >= from,
        };
        // What rides on the request that waits is not told yet.
        let untold = self.messages.iter().skip(unanswered).filter_map(|message| message.note(self.format));
        let untold: Vec<String> = untold.collect();
        let mut at = 0..;
        self.messages.retain(|message| is_kept(at.next().unwrap_or_default(), message));
        self.messages.iter_mut().for_each(Message::part_from_the_lists);
        self.compactions += 1;
        let instead = instead.into_iter().filter(|message| !message.is_blank(self.format));
        self.messages.splice(leading..leading, instead.collect::<Vec<_>>());
        // What it makes has not left.
        self.sent = self.responded().max(leading);
        for note in &untold {
            self.put_last(By::List, note);
        }
        if let Some(effect) = snapshot {
            self.put(effect);
        }
        self.join_words(leading);
        self.sent = self.responded().max(leading);
    }

    /// Where the last response begins, if calls of it wait for their answers, or it is to go on.
    pub(crate) fn waiting(&self) -> Option<usize> {
        let is_begin = |message: &Message| matches!(message.by, By::Model | By::Silent);
        let begin = self.messages.iter().rposition(is_begin)?;
        let response = self.messages.get(begin..)?;
        let parts = |message: &Message| read_turn(self.format, &message.json).map(|turn| turn.parts);
        let parts: Vec<Vec<Part>> = response.iter().map(parts).collect::<Result<_, WireError>>().ok()?;
        let mut open: Vec<ToolCall> = Vec::new();
        for part in parts.into_iter().flatten() {
            match part {
                Part::Call(call) if call.stage != Stage::Served => open.push(call),
                Part::Result(result) => {
                    if let Some(at) = open.iter().position(|call| result.is_of(call)) {
                        open.remove(at);
                    }
                }
                Part::Call(_) | Part::Text { .. } | Part::Other => {}
            }
        }
        (!open.is_empty() || self.is_paused()).then_some(begin)
    }
}

impl Message {
    fn part_from_the_lists(&mut self) {
        if let Some(plain) = self.plain.take() {
            self.json = plain;
        }
        self.note = None;
    }
}
