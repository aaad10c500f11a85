use std::borrow::Cow;

use session_todo::{Call, Caller, Effect, Event, Outcome, Tool, ToolResult};

use crate::format::End;
use crate::history::Message;

/// A call of a tool, of any kind, as a response holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCall {
    /// What its answer has to name. Empty where the provider gives none, as Gemini may.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments as the model wrote them.
    pub arguments: String,
    /// Who has to answer it.
    pub stage: Stage,
    /// Its place among the calls of its response.
    pub(crate) place: usize,
    /// Whether its input is a text, and its answer of another kind: a custom tool of Responses.
    pub(crate) is_custom: bool,
}

/// Who has to answer a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The loop does: it asks the list, runs the tool, or refuses.
    Asked,
    /// It was cut at the output limit: nothing may run, and the loop's answer is an error.
    Cut,
    /// The provider ran it. There is nothing to answer.
    Served,
}

impl ToolCall {
    pub(crate) const fn new(id: String, name: String, arguments: String, stage: Stage) -> Self {
        Self { id, name, arguments, stage, place: 0, is_custom: false }
    }

    /// It is the last one of this message.
    pub(crate) const fn cut_by(&mut self, message: &Message) {
        if matches!(message.end, Some(End::Cut)) && matches!(self.stage, Stage::Asked) {
            self.stage = Stage::Cut;
        }
    }

    /// The call as an event: [`Outcome::Ours`] for the list's tools, [`Outcome::Ran`] for all others, whose
    /// arguments are left out, and [`Outcome::Failed`] where it was cut.
    #[must_use]
    pub fn event(&self) -> Event<'_> {
        self.event_with(match self.stage {
            Stage::Cut => Outcome::Failed,
            Stage::Asked if Tool::named(&self.name).is_some() => Outcome::Ours,
            Stage::Asked | Stage::Served => Outcome::Ran { id: None },
        })
    }

    /// The call as one that took no effect: the person refused it, or the tool failed. Its answer is an
    /// [`error`](Self::error), and nothing runs.
    #[must_use]
    pub fn failed(&self) -> Event<'_> {
        self.event_with(Outcome::Failed)
    }

    pub(crate) fn event_with<'a>(&'a self, outcome: Outcome<'a>) -> Event<'a> {
        let is_list = Tool::named(&self.name).is_some();
        let arguments = if is_list { self.arguments.as_str() } else { "" };
        Event::ToolCalled(Call { by: Caller::Main, name: (&self.name).into(), arguments: arguments.into(), outcome })
    }

    /// The answer to this call, of which the session gave this: the list's, if it is one of the list's tools; else
    /// what `run` gives. One that was cut does not run, nor does one that the provider ran: its answer is left out.
    pub fn answer<'a>(&'a self, effect: Option<Effect>, run: impl FnOnce(&'a Self) -> Answer<'a>) -> Answer<'a> {
        match effect {
            Some(Effect::ReturnToolResult(result)) => self.listed(result),
            Some(_) | None if self.stage == Stage::Asked => run(self),
            Some(_) | None if self.stage == Stage::Cut => self.error("The output limit cut it off: nothing was done."),
            Some(_) | None => self.ok("The provider ran it."),
        }
    }

    /// What a tool answered.
    #[must_use]
    pub fn ok<'a>(&'a self, text: impl Into<Cow<'a, str>>) -> Answer<'a> {
        Answer { call: self, text: text.into(), is_error: false }
    }

    /// Why a call took no effect.
    #[must_use]
    pub fn error<'a>(&'a self, text: impl Into<Cow<'a, str>>) -> Answer<'a> {
        Answer { call: self, text: text.into(), is_error: true }
    }

    /// What the list answered.
    #[must_use]
    pub fn listed(&self, result: ToolResult) -> Answer<'_> {
        Answer { call: self, text: result.text.into(), is_error: result.is_error }
    }
}

/// The answer to one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer<'a> {
    /// The call.
    pub call: &'a ToolCall,
    /// What the model reads.
    pub text: Cow<'a, str>,
    /// Whether the call took no effect.
    pub is_error: bool,
}

impl Answer<'_> {
    /// The text for a format that has no mark for an error. It begins with [`ERROR`], so that the model,
    /// and whoever reads the history back, can tell (R1).
    pub(crate) fn marked(&self) -> Cow<'_, str> {
        if self.is_error { format!("{ERROR}{}", self.text).into() } else { Cow::Borrowed(&self.text) }
    }
}

/// How the text of a failed call begins where the format has no mark for it.
pub const ERROR: &str = "Error: ";
