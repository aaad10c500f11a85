use alloc::borrow::Cow;

use serde::{Deserialize, Serialize};

/// Something that happened in the agent loop. The log is a sequence of these, and nothing else moves a
/// [`Session`](crate::Session).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event<'a> {
    /// A response called a tool, of any kind. Reported in call order, before the next request.
    ToolCalled(#[serde(borrow)] Call<'a>),
    /// A request is about to leave, so that its effect can ride on it. A retry of a request that died
    /// is the same request; requests that do not offer the list's tools are not reported.
    RequestSent {
        /// Whose request it is.
        by: Agent,
    },
    /// The history was replaced by a summary of it.
    Compacted,
    /// The session was taken up again after its process had ended.
    Resumed,
}

impl Event<'_> {
    /// The same event, borrowing from nothing.
    #[must_use]
    pub fn into_owned(self) -> Event<'static> {
        match self {
            Event::ToolCalled(call) => Event::ToolCalled(call.into_owned()),
            Event::RequestSent { by } => Event::RequestSent { by },
            Event::Compacted => Event::Compacted,
            Event::Resumed => Event::Resumed,
        }
    }
}

/// One call of a tool, and how it ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call<'a> {
    /// Who made the change.
    pub by: Caller,
    /// The tool's name as it was called. [`Tool::named`](crate::Tool::named) says which are the list's.
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    /// The arguments as the model wrote them: the object's own text. Empty for a tool that is not the
    /// list's, whose arguments are never read.
    #[serde(borrow, default, skip_serializing_if = "str::is_empty")]
    pub arguments: Cow<'a, str>,
    /// How it ended.
    #[serde(borrow)]
    pub outcome: Outcome<'a>,
}

impl Call<'_> {
    fn into_owned(self) -> Call<'static> {
        let Call { by, name, arguments, outcome } = self;
        let outcome = match outcome {
            Outcome::Ours => Outcome::Ours,
            Outcome::Ran { id } => Outcome::Ran { id: id.map(|id| Cow::Owned(id.into_owned())) },
            Outcome::Failed => Outcome::Failed,
        };
        Call { by, name: Cow::Owned(name.into_owned()), arguments: Cow::Owned(arguments.into_owned()), outcome }
    }
}

/// Whose request it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Agent {
    /// The session's own agent.
    Main,
    /// An agent that it started: a sub-agent, a sidechain, a compaction worker.
    Sub,
}

/// Who changes the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Caller {
    /// The session's own agent: the only one whose calls move the clock (D1).
    Main,
    /// An agent that it started.
    Sub,
    /// A person. The model is told of the change with its next request (L13).
    User,
    /// A product's own record of the whole list, read as a `todo_write` that keeps nothing it does not
    /// name. It is put in place silently.
    Record,
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome<'a> {
    /// Our answer is the tool's answer, and every check applies.
    Ours,
    /// Another's tool has accepted the call: a client's own, or one in a stored log. The policy's
    /// checks do not apply, and an unknown id is a write that changes nothing.
    Ran {
        /// The id that the other tool gave. Read on `TaskCreate` alone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<Cow<'a, str>>,
    },
    /// It took no effect: an error, a denial, an interruption, arguments cut at the output limit.
    Failed,
}
