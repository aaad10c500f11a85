//! Carrier `Joined`: what would be two messages of the user's role in a row becomes one (E3).

use serde_json::value::RawValue;

use crate::format::{Carrier, Format};
use crate::history::{By, History, Message, is_instruction, read_turn};
use crate::json::raw;

impl History {
    /// Joins what stands in a row from here on; none of it has left.
    pub(crate) fn join_words(&mut self, from: usize) {
        if self.carrier != Carrier::Joined {
            return;
        }
        for at in (from..self.messages.len().saturating_sub(1)).rev() {
            let Some([one, two]) = self.messages.get(at..at + 2) else { continue };
            if let Some(both) = joined(self.format, one, two) {
                self.messages.splice(at..at + 2, [both]);
            }
        }
    }
}

/// Whose a message is of which parts are a person's, the harness's and the list's; without the other parts it is
/// what the next compaction keeps, which has a summary and a snapshot of its own.
fn joined(format: Format, one: &Message, two: &Message) -> Option<Message> {
    let (first, second) = (weight(format, one)?, weight(format, two)?);
    let join = |one: &RawValue, two: &RawValue| format.joined(one.get(), two.get()).map(raw);
    let is_plain = one.plain.is_none() && two.plain.is_none();
    let plain = match first.cmp(&second) {
        std::cmp::Ordering::Greater => Some(one.plain().to_owned()),
        std::cmp::Ordering::Less => Some(two.plain().to_owned()),
        std::cmp::Ordering::Equal if is_plain => None,
        std::cmp::Ordering::Equal => Some(join(one.plain(), two.plain())?),
    };
    let by = if first > second { one.by } else { two.by };
    let note = one.note(format).or_else(|| two.note(format));
    Some(Message { plain, note, ..Message::new(by, join(&one.json, &two.json)?) })
}

/// How much its words weigh in a message that holds others too; none where it is not one of words in the user's role.
fn weight(format: Format, message: &Message) -> Option<u8> {
    let weight = match message.by {
        By::Person => 2,
        By::Harness => 1,
        By::List | By::Snapshot => 0,
        By::Model | By::Rest | By::Silent | By::Tools => return None,
    };
    let is_users = |message: &Message| {
        !is_instruction(&message.json)
            && read_turn(format, &message.json).is_ok_and(|turn| !turn.is_model && !turn.has_results())
    };
    is_users(message).then_some(weight)
}
