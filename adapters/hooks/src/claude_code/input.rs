//! What the client writes on stdin. Of each event only what is read here is looked at, so new members and
//! new events change nothing.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use session_todo::{Agent, Caller};

#[derive(Debug, Deserialize)]
#[allow(clippy::struct_field_names, reason = "the client's words")]
pub(super) struct Input<'a> {
    #[serde(borrow)]
    pub(super) session_id: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) hook_event_name: Cow<'a, str>,
    pub(super) transcript_path: Option<String>,
    /// Why a session starts.
    pub(super) source: Option<String>,
    /// Only in the events of a sub-agent.
    agent_id: Option<String>,
    /// All calls of a response, in call order.
    #[serde(borrow, default)]
    tool_calls: Vec<ToolCall<'a>>,
    /// These three where an event is about one call.
    #[serde(borrow)]
    tool_name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    tool_input: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_response: Option<&'a RawValue>,
}

#[derive(Clone, Debug, Deserialize)]
#[allow(clippy::struct_field_names, reason = "the client's words")]
pub(super) struct ToolCall<'a> {
    #[serde(borrow)]
    pub(super) tool_name: Cow<'a, str>,
    /// The object as the client writes it.
    #[serde(borrow)]
    pub(super) tool_input: &'a RawValue,
    #[serde(borrow)]
    pub(super) tool_response: Option<&'a RawValue>,
}

impl<'a> Input<'a> {
    pub(super) fn agent(&self) -> Agent {
        if self.agent_id.is_some() { Agent::Sub } else { Agent::Main }
    }

    pub(super) fn caller(&self) -> Caller {
        match self.agent() {
            Agent::Main => Caller::Main,
            Agent::Sub => Caller::Sub,
        }
    }

    /// The calls that the event is about: a response's, or one.
    pub(super) fn calls(&self) -> Vec<ToolCall<'a>> {
        let one = self.tool_name.clone().zip(self.tool_input);
        let one =
            one.map(|(tool_name, tool_input)| ToolCall { tool_name, tool_input, tool_response: self.tool_response });
        self.tool_calls.iter().cloned().chain(one).collect()
    }
}
