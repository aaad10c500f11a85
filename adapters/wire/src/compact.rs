//! A compaction: what stays of a history, and what comes instead of the rest.

use session_todo::Effect;

use crate::call::{Stage, ToolCall};
use crate::error::WireError;
use crate::format::Carrier;
use crate::history::{By, History, Message, is_instruction, read_turn};
use crate::json::raw;
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
        let unanswered = if self.waits { self.responded() } else { self.sent };
        if self.compactions == 0 {
            let leads = |message: &&Message| message.by == By::Harness && is_instruction(&message.json);
            self.leading = self.messages.iter().take_while(leads).count();
        }
        let leading = self.leading;
        let is_kept = |at: usize, message: &Message| match message.by {
            _ if at < leading => true,
            By::Snapshot => false,
            // What rides on the request that waits is not told yet.
            By::List => at >= unanswered,
            By::Person => at >= from.min(unanswered),
            By::Harness | By::Model | By::Rest | By::Silent | By::Tools => at >= from,
        };
        let mut at = 0..;
        let mut unsent = 0;
        self.messages.retain(|message| {
            let at = at.next().unwrap_or_default();
            let keep = is_kept(at, message);
            unsent += usize::from(keep && at >= unanswered);
            keep
        });
        self.messages.iter_mut().for_each(Message::part_from_the_lists);
        self.compactions += 1;
        self.put_instead(leading, instead);
        self.sent = self.messages.len() - unsent;
        if let Some(effect) = snapshot {
            self.put(effect);
        }
    }

    /// Where servers want roles to alternate, the last of them is joined to a message of the same role behind it.
    fn put_instead(&mut self, at: usize, mut instead: Vec<Message>) {
        let is_users = |last: &Message| {
            !is_instruction(&last.json) && read_turn(self.format, &last.json).is_ok_and(|turn| !turn.is_model)
        };
        if self.carrier == Carrier::Joined
            && let Some(words) =
                instead.last().filter(|last| is_users(last)).and_then(|last| self.format.words(last.json.get()))
            && let Some(next) = self.messages.get_mut(at).filter(|next| next.by == By::Person)
            && let Some(joined) = self.format.with_part(next.json.get(), 0, &words)
        {
            // It goes again with the next compaction.
            next.plain = Some(std::mem::replace(&mut next.json, raw(joined)));
            instead.pop();
        }
        self.messages.splice(at..at, instead);
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
    }
}
