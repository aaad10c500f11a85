use rig_core::message::{Message, Text, UserContent};
use serde::{Deserialize, Serialize};

/// A text of ours in the history of an agent, which holds none of them itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Placed {
    /// How many compactions came before it.
    era: u64,
    /// Its number in its era, from 1.
    number: u64,
    /// How many of the agent's own messages come before it.
    after: usize,
    text: String,
}

/// What was sent beside the agent's own messages, word for word, each with its place (E1).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Overlay {
    era: u64,
    placed: Vec<Placed>,
    /// Texts that the next request places.
    waiting: Vec<String>,
    /// How many of the agent's own messages were in the last request.
    sent: usize,
}

impl Overlay {
    /// The next request carries this text, and so does every request after it.
    pub(crate) fn carry(&mut self, text: String) {
        self.waiting.push(text);
    }

    /// The history was replaced: what was in it is gone with it.
    pub(crate) fn compacted(&mut self) {
        *self = Self { era: self.era.saturating_add(1), ..Self::default() };
    }

    /// Takes up a text that the run's own record holds and this overlay does not know.
    pub(crate) fn adopt(&mut self, placed: Placed) {
        let known = self.placed.last().map_or((self.era, 0), |last| (last.era, last.number));
        if (placed.era, placed.number) > known {
            if placed.era > self.era {
                self.placed.clear();
                self.era = placed.era;
            }
            self.placed.push(placed);
        }
    }

    /// Gives the waiting texts their place in this history, and says which they were.
    pub(crate) fn place(&mut self, own: &[Message]) -> Vec<Placed> {
        if own.len() < self.sent {
            self.cut_back(own.len());
        }
        let after = self.next_place(own);
        self.sent = own.len();
        let first = self.placed.last().map_or(0, |last| last.number);
        let era = self.era;
        let texts = std::mem::take(&mut self.waiting).into_iter();
        let new: Vec<_> = (first + 1..).zip(texts).map(|(number, text)| Placed { era, number, after, text }).collect();
        self.placed.extend(new.iter().cloned());
        new
    }

    /// A history that lost its end, since rig keeps nothing of a run that failed, lost the texts there too:
    /// they wait again, word for word.
    fn cut_back(&mut self, length: usize) {
        let kept = self.placed.iter().take_while(|text| text.after <= length).count();
        let gone = self.placed.drain(kept..).map(|placed| placed.text);
        self.waiting.splice(..0, gone);
        self.sent = 0;
    }

    /// At the end, or before a person's message that was not sent yet (spec 5, A5).
    fn next_place(&self, own: &[Message]) -> usize {
        match own {
            [before @ .., last] if before.len() >= self.sent && is_persons(last) => before.len(),
            _ => own.len(),
        }
    }

    /// The history as it is sent: every text where it was put first.
    pub(crate) fn put_back(&self, own: Vec<Message>) -> Vec<Message> {
        let mut sent = Vec::with_capacity(own.len() + self.placed.len());
        let mut placed = self.placed.iter().peekable();
        for (index, message) in own.into_iter().enumerate() {
            while let Some(text) = placed.next_if(|text| text.after <= index) {
                sent.push(Message::user(&text.text));
            }
            sent.push(message);
        }
        sent.extend(placed.map(|text| Message::user(&text.text)));
        sent
    }
}

/// Whether a person wrote it: user content without a tool result.
fn is_persons(message: &Message) -> bool {
    matches!(message, Message::User { content }
        if !content.iter().any(|part| matches!(part, UserContent::ToolResult(_))))
}

/// Adds a text to the end of the last message that a person wrote: for an outgoing copy alone.
pub(crate) fn add_to_last_persons(own: &mut [Message], text: &str) {
    let Some(Message::User { content }) = own.iter_mut().rev().find(|message| is_persons(message)) else { return };
    let last_text = content.iter_mut().rev().find_map(|part| match part {
        UserContent::Text(text) => Some(text),
        _ => None,
    });
    match last_text {
        Some(Text { text: words, .. }) => {
            words.push_str("\n\n");
            words.push_str(text);
        }
        None => content.push(UserContent::text(text)),
    }
}
