//! What the client writes on stdin. Of each event only what is read here is looked at, and what is not of its kind
//! is as if it were not there: new members and new events change nothing.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use session_todo::{Agent, Caller};

#[derive(Debug, Deserialize)]
#[allow(clippy::struct_field_names, reason = "the client's words")]
pub(super) struct Input<'a> {
    #[serde(borrow)]
    pub(super) session_id: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) hook_event_name: Cow<'a, str>,
    #[serde(default, deserialize_with = "of_its_kind")]
    pub(super) transcript_path: Option<String>,
    /// Why a session starts.
    #[serde(default, deserialize_with = "of_its_kind")]
    pub(super) source: Option<String>,
    /// Only in the events of a sub-agent.
    #[serde(borrow)]
    agent_id: Option<&'a RawValue>,
    /// All calls of a response, in call order.
    #[serde(borrow, default, deserialize_with = "of_its_kind")]
    tool_calls: Option<Vec<&'a RawValue>>,
    /// These where an event is about one call.
    #[serde(borrow, default, deserialize_with = "of_its_kind")]
    tool_name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    tool_input: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_response: Option<&'a RawValue>,
    /// The call's id.
    #[serde(borrow, default, deserialize_with = "of_its_kind")]
    pub(super) tool_use_id: Option<Cow<'a, str>>,
}

fn of_its_kind<'de, T: Deserialize<'de>, D: Deserializer<'de>>(json: D) -> Result<Option<T>, D::Error> {
    Ok(serde_json::from_str(<&RawValue>::deserialize(json)?.get()).ok())
}

#[derive(Clone, Debug, Deserialize)]
#[allow(clippy::struct_field_names, reason = "the client's words")]
pub(super) struct ToolCall<'a> {
    #[serde(borrow)]
    pub(super) tool_name: Cow<'a, str>,
    /// The object as the client writes it.
    #[serde(borrow)]
    tool_input: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) tool_response: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "of_its_kind")]
    pub(super) tool_use_id: Option<Cow<'a, str>>,
}

impl<'a> ToolCall<'a> {
    pub(super) fn arguments(&self) -> &'a str {
        self.tool_input.map_or("", RawValue::get)
    }
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
        let Self { tool_input, tool_response, .. } = *self;
        let tool_use_id = self.tool_use_id.clone();
        let one =
            self.tool_name.clone().map(|tool_name| ToolCall { tool_name, tool_input, tool_response, tool_use_id });
        let several = self.tool_calls.iter().flatten().filter_map(|call| serde_json::from_str(call.get()).ok());
        several.chain(one).collect()
    }
}
