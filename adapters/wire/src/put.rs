//! Where an effect is put. The one place that knows of lanes.

use std::fmt;

use session_todo::{Effect, Lane};

use crate::format::{Carrier, Format};
use crate::history::{By, History, Message};
use crate::json::raw;

/// The messages of one request as they leave: the history, and over it what is of this request alone.
#[derive(Clone, Debug)]
pub struct Outgoing<'h> {
    messages: &'h [Message],
    overlay: Overlay,
}

#[derive(Clone, Debug)]
enum Overlay {
    None,
    /// Stands for the message of this index.
    Instead(usize, String),
    /// Comes after all.
    Last(String),
}

impl History {
    /// A request is about to leave: puts what its event gave where its lane says, and gives the messages as
    /// they leave. The persisted lanes add to the history; [`Lane::LastUserMessage`] touches the outgoing
    /// copy alone.
    pub fn request(&mut self, effect: Option<&Effect>) -> Outgoing<'_> {
        if let Some(effect) = effect {
            self.put(effect);
        }
        self.join_words(self.sent);
        self.sent = self.messages.len();
        self.waits = true;
        self.outgoing(effect)
    }

    /// The half that is kept.
    pub(crate) fn put(&mut self, effect: &Effect) {
        match effect {
            Effect::AppendSystemReminder(reminder) => match reminder.lane {
                Lane::History => self.put_last(By::List, &reminder.text),
                Lane::ToolResult => self.put_after_results(&reminder.text),
                Lane::LastUserMessage => {}
            },
            Effect::InjectCompactSnapshot(snapshot) => self.put_last(By::Snapshot, &snapshot.text),
            Effect::ReturnToolResult(_) => {}
        }
    }

    /// The half that is not: the messages as they leave. For a request that is sent once more, after a crash
    /// say, this alone.
    #[must_use]
    pub fn outgoing(&self, effect: Option<&Effect>) -> Outgoing<'_> {
        let overlay = match effect {
            Some(Effect::AppendSystemReminder(reminder)) if reminder.lane == Lane::LastUserMessage => {
                self.over_last_person(&reminder.text)
            }
            Some(_) | None => Overlay::None,
        };
        Outgoing { messages: &self.messages, overlay }
    }

    fn over_last_person(&self, text: &str) -> Overlay {
        if text.is_empty() {
            return Overlay::None;
        }
        let at = self.messages.iter().rposition(|message| message.by == By::Person);
        let found = at.and_then(|at| Some((at, self.messages.get(at)?)));
        let joined = found.and_then(|(at, person)| Some((at, self.format.with_last_words(person.json.get(), text)?)));
        match joined {
            Some((at, json)) => Overlay::Instead(at, json),
            None => Overlay::Last(self.format.user(text)),
        }
    }

    /// At the end, but before the words of a person that were not sent yet.
    pub(crate) fn put_last(&mut self, by: By, text: &str) {
        if text.is_empty() {
            return;
        }
        let at = self.unsent_words();
        if self.before_words_in(at, text).or_else(|| self.behind_results(at, text)).is_none() {
            self.insert(at, by, text);
        } else if let Some(message) = self.messages.get_mut(at - 1).filter(|_| by == By::List) {
            message.note = Some(text.to_owned());
        }
    }

    fn put_after_results(&mut self, text: &str) {
        let unsent = self.messages.get(self.sent..).unwrap_or_default();
        let results = unsent.iter().rposition(|message| message.by == By::Tools).map(|at| at + self.sent);
        let Some(results) = results.filter(|_| !text.is_empty()) else {
            return self.put_last(By::List, text);
        };
        let put = match (self.format, self.carrier) {
            (Format::Anthropic, _) => self.edit(results, |format, json| after_results(format, json, text)),
            (_, Carrier::Joined) => self.edit(results, |format, json| format.with_part(json, usize::MAX, text)),
            (_, Carrier::User | Carrier::Developer) => None,
        };
        if put.is_none() {
            self.insert(results + 1, By::List, text);
        }
    }

    /// Where the messages of a person begin that end the history and were not sent yet; else its end.
    fn unsent_words(&self) -> usize {
        let words = |(at, message): &(usize, &Message)| *at >= self.sent && message.by == By::Person;
        self.messages.iter().enumerate().rev().take_while(words).last().map_or(self.messages.len(), |(at, _)| at)
    }

    /// A message of results in which a person's words stand behind them: it goes between the two.
    fn before_words_in(&mut self, end: usize, text: &str) -> Option<()> {
        let at = end.checked_sub(1).filter(|at| *at >= self.sent)?;
        let message = self.messages.get(at).filter(|message| message.by == By::Tools)?;
        let turn = self.format.turn(message.json.get()).ok()?;
        if !self.format.answers_at_once() || turn.results_end() == turn.parts.len() {
            return None;
        }
        self.edit(at, |format, json| after_results(format, json, text))
    }

    /// Where texts are joined: into the results that end the history. What was sent is left alone.
    fn behind_results(&mut self, end: usize, text: &str) -> Option<()> {
        let at = end.checked_sub(1).filter(|at| *at >= self.sent && end == self.messages.len())?;
        let is_joined = self.carrier == Carrier::Joined && self.messages.get(at)?.by == By::Tools;
        self.edit(at, |format, json| format.with_part(json, usize::MAX, text).filter(|_| is_joined))
    }

    fn edit(&mut self, at: usize, edit: impl FnOnce(Format, &str) -> Option<String>) -> Option<()> {
        let message = self.messages.get_mut(at)?;
        let joined = raw(edit(self.format, message.json.get())?);
        let before = std::mem::replace(&mut message.json, joined);
        message.plain.get_or_insert(before);
        Some(())
    }

    fn insert(&mut self, at: usize, by: By, text: &str) {
        let json = raw(self.format.message(text, self.carrier));
        self.messages.insert(at.min(self.messages.len()), Message::new(by, json));
    }
}

fn after_results(format: Format, message: &str, text: &str) -> Option<String> {
    let end = format.turn(message).ok()?.results_end();
    format.with_part(message, end, text)
}

impl Outgoing<'_> {
    /// The messages, each by its bytes.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        let (instead, last) = match &self.overlay {
            Overlay::None => (None, None),
            Overlay::Instead(at, json) => (Some((*at, json.as_str())), None),
            Overlay::Last(json) => (None, Some(json.as_str())),
        };
        let stored = self.messages.iter().enumerate().filter(|(_, message)| message.by != By::Silent);
        let leaving = stored.map(move |(at, message)| match instead {
            Some((over, json)) if over == at => json,
            Some(_) | None => message.json.get(),
        });
        leaving.chain(last)
    }
}

/// The value of the request's `messages`, `input` or `contents`.
impl fmt::Display for Outgoing<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("[")?;
        for (index, message) in self.iter().enumerate() {
            out.write_str(if index == 0 { "" } else { "," })?;
            out.write_str(message)?;
        }
        out.write_str("]")
    }
}
