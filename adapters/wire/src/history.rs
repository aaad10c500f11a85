use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::call::{Answer, Stage, ToolCall};
use crate::error::WireError;
use crate::format::{Carrier, End, Format, Response};
use crate::json::raw;
use crate::turn::{Part, Turn};

/// A message of a history: whose it is, and its JSON, which keeps its bytes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Message {
    /// Whose it is.
    pub by: By,
    /// The message. It may hold line breaks, between its tokens.
    pub json: Box<RawValue>,
    /// The message without the texts of the list's own that were joined to it, where any were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) plain: Option<Box<RawValue>>,
    /// What of those was for the request that it left with: a note, a reminder. Until that is answered nobody was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
    /// How the response ended whose last message it is. Where it was cut, that was in its last call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) end: Option<End>,
}

/// Whose message it is. A text does not say so itself (R5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// A person wrote it.
    Person,
    /// The harness wrote it: instructions, a summary.
    Harness,
    /// The list's own: a reminder, a note.
    List,
    /// The list's snapshot.
    Snapshot,
    /// A response begins with it.
    Model,
    /// It belongs to the response that the message before belongs to.
    Rest,
    /// A response that said nothing. It counts as a request's, and is never sent back: providers refuse it (E6).
    Silent,
    /// Results of tools.
    Tools,
}

impl Message {
    /// A message as it is to be sent.
    #[must_use]
    pub const fn new(by: By, json: Box<RawValue>) -> Self {
        Self { by, json, plain: None, note: None, end: None }
    }

    /// A message of this text in the user's role.
    #[must_use]
    pub fn user(format: Format, by: By, text: &str) -> Self {
        Self::new(by, raw(format.user(text)))
    }

    /// A message as it stands in a request, taken for what its role and parts say: of a user's message, that
    /// a person wrote it.
    ///
    /// # Errors
    ///
    /// Where it is none of this format's.
    pub fn read(format: Format, json: Box<RawValue>) -> Result<Self, WireError> {
        let turn = read_turn(format, &json)?;
        let by = match () {
            () if turn.is_model => By::Model,
            () if turn.has_results() => By::Tools,
            () if is_instruction(&json) => By::Harness,
            () => By::Person,
        };
        Ok(Self::new(by, json))
    }

    /// Whether it belongs to a response.
    #[must_use]
    pub const fn is_model(&self) -> bool {
        matches!(self.by, By::Model | By::Rest | By::Silent)
    }

    /// What it is without the texts that were joined to it.
    pub(crate) fn plain(&self) -> &RawValue {
        self.plain.as_ref().unwrap_or(&self.json)
    }

    /// The list's words for one request in it.
    pub(crate) fn note(&self, format: Format) -> Option<String> {
        if self.by == By::List { format.words(self.json.get()) } else { self.note.clone() }
    }

    pub(crate) fn is_blank(&self, format: Format) -> bool {
        let is_words = matches!(self.by, By::Person | By::Harness);
        is_words && read_turn(format, &self.json).is_ok_and(|turn| turn.is_empty())
    }
}

/// The messages of a session as they are stored: all that was sent, and what goes with the next request.
///
/// It only grows, until a compaction; what was sent is never edited (E1). What can't be read off the
/// messages goes into a [`Record`](crate::Record) beside it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct History {
    pub(crate) format: Format,
    #[serde(default)]
    pub(crate) carrier: Carrier,
    /// How often it was compacted: alone it is no log any more (P3).
    #[serde(default)]
    pub(crate) compactions: u64,
    /// How many messages at the start are instructions, as they were before the first compaction.
    #[serde(default)]
    pub(crate) leading: usize,
    /// How many messages have left.
    pub(crate) sent: usize,
    /// Whether a request has left whose response is not here.
    #[serde(default)]
    pub(crate) waits: bool,
    pub(crate) messages: Vec<Message>,
}

impl History {
    /// A history that begins. Where a format takes its instructions as a message, push it first.
    #[must_use]
    pub const fn new(format: Format, carrier: Carrier) -> Self {
        Self { format, carrier, compactions: 0, leading: 0, sent: 0, waits: false, messages: Vec::new() }
    }

    /// A whole history from elsewhere: nothing was deleted from it. What follows the last response has not
    /// left yet.
    ///
    /// # Errors
    ///
    /// The first message that is none of this format's.
    pub fn whole(format: Format, messages: impl IntoIterator<Item = Box<RawValue>>) -> Result<Self, WireError> {
        let mut history = Self::new(format, Carrier::default());
        for json in messages {
            let mut message = Message::read(format, json)?;
            let goes_on = history.messages.last().is_some_and(Message::is_model) && !format.responds_at_once();
            if goes_on && message.is_model() {
                message.by = By::Rest;
            }
            history.messages.push(message);
        }
        history.sent = history.responded();
        Ok(history)
    }

    /// Its format.
    #[must_use]
    pub const fn format(&self) -> Format {
        self.format
    }

    /// The messages, oldest first.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// How many messages have left.
    #[must_use]
    pub const fn sent(&self) -> usize {
        self.sent
    }

    /// Whether a request has left whose response is not here: after a crash it is sent once more, by
    /// [`outgoing`](Self::outgoing), and is the same request.
    #[must_use]
    pub const fn waits(&self) -> bool {
        self.waits
    }

    /// A message that goes with the next request. One in which a person or the harness has no word is nothing (E6).
    pub fn push(&mut self, message: Message) {
        if !message.is_blank(self.format) {
            self.messages.push(message);
        }
    }

    /// What a person wrote. It goes with the next request; without a word it is nothing (E6).
    pub fn person(&mut self, text: &str) {
        self.push(Message::user(self.format, By::Person, text));
    }

    /// What one step added, read back from where it is kept: a response, or what a request took along, which is
    /// all that had not left before.
    pub fn restore(&mut self, step: Vec<Message>) {
        self.messages.truncate(self.sent);
        self.waits = !step.last().is_some_and(Message::is_model);
        self.messages.extend(step);
        self.sent = self.messages.len();
    }

    /// Takes in the body of a response, and gives its calls, in call order. It is stored as it came, but for texts
    /// without a word beside something else, which providers do not take back (E6).
    ///
    /// # Errors
    ///
    /// A body that is none of this format's. The history is as before.
    pub fn respond(&mut self, body: &str) -> Result<Vec<ToolCall>, WireError> {
        let Response { items, end } = self.response(body)?;
        let last = items.last().map(|item| read_turn(self.format, item)).transpose()?;
        let ends_in_call = last.is_some_and(|turn| matches!(turn.parts.last(), Some(Part::Call(_))));
        let items: Vec<_> = items.into_iter().map(|item| self.format.without_blanks(item)).collect();
        let turns = items.iter().map(|item| read_turn(self.format, item)).collect::<Result<Vec<_>, _>>()?;
        let said: Vec<bool> = turns.iter().map(|turn| !turn.is_empty()).collect();
        let mut calls = calls(turns);
        if said.contains(&true) {
            let by = [By::Model].into_iter().chain(std::iter::repeat(By::Rest));
            let items = items.into_iter().zip(said).filter_map(|(item, says)| says.then_some(item));
            self.messages.extend(by.zip(items).map(|(by, json)| Message::new(by, json)));
        } else {
            let said = items.into_iter().next().unwrap_or_else(|| RawValue::NULL.to_owned());
            self.push(Message::new(By::Silent, said));
        }
        if let Some(message) = self.messages.last_mut() {
            message.end = end.filter(|end| *end != End::Cut || ends_in_call);
        }
        if let (Some(call), Some(message)) = (calls.last_mut(), self.messages.last()) {
            call.cut_by(message);
        }
        self.sent = self.messages.len();
        self.waits = false;
        Ok(calls)
    }

    fn response(&self, body: &str) -> Result<Response, WireError> {
        let format = self.format;
        let unreadable = |source| WireError::Unreadable { what: "the body of a response", format, source };
        format.response(body).map_err(unreadable)?.ok_or_else(|| WireError::NoAnswer {
            format,
            wanted: format.answer_key(),
            begins: body.chars().take(200).collect(),
        })
    }

    /// The answers to the calls of the last response, all at once and in whatever order; they go with the next
    /// request. Gives whether the model goes on: it waits for them, or has [paused](Self::is_paused).
    pub fn answer(&mut self, answers: &[Answer<'_>]) -> bool {
        let mut sorted: Vec<&Answer<'_>> = answers.iter().filter(|answer| answer.call.stage != Stage::Served).collect();
        sorted.sort_by_key(|answer| answer.call.place);
        if !sorted.is_empty() {
            let results = self.format.answers(&sorted).into_iter();
            let results = results.map(|json| Message::new(By::Tools, raw(json)));
            // Whatever was pushed meanwhile comes behind them (E2, E4).
            let at = self.responded();
            self.messages.splice(at..at, results);
        }
        !sorted.is_empty() || self.is_paused()
    }

    /// Whether the last response is one that the provider broke off to be sent back as it is (`pause_turn`). Sending
    /// it is no new request: nothing is stepped, and nothing goes behind it.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.messages.iter().rev().find(|message| message.is_model()).is_some_and(|last| last.end == Some(End::Paused))
    }

    /// Where the last response ends.
    pub(crate) fn responded(&self) -> usize {
        self.messages.iter().rposition(Message::is_model).map_or(0, |at| at + 1)
    }
}

pub(crate) fn read_turn(format: Format, json: &RawValue) -> Result<Turn, WireError> {
    format.turn(json.get()).map_err(|source| WireError::Unreadable { what: "a message", format, source })
}

/// The calls of a response, in call order. One whose result is there as well was run by the provider.
fn calls(turns: Vec<Turn>) -> Vec<ToolCall> {
    let (mut calls, mut results) = (Vec::new(), Vec::new());
    for part in turns.into_iter().flat_map(|turn| turn.parts) {
        match part {
            Part::Call(call) => calls.push(ToolCall { place: calls.len(), ..call }),
            Part::Result(result) => results.push(result),
            Part::Text { .. } | Part::Other => {}
        }
    }
    for result in results {
        if let Some(call) = calls.iter_mut().find(|call| call.stage == Stage::Asked && result.is_of(call)) {
            call.stage = Stage::Served;
        }
    }
    calls
}

pub(crate) fn is_instruction(json: &RawValue) -> bool {
    #[derive(Deserialize)]
    struct Role {
        #[serde(default)]
        role: String,
    }
    serde_json::from_str::<Role>(json.get()).is_ok_and(|Role { role }| role == "system" || role == "developer")
}
