//! A client that reports its events.

use serde_json::{Value, json};
use session_todo::{Call, Caller, Event, Outcome, Policy};
use session_todo_hooks::HookError;
use session_todo_hooks::claude_code::{Environment, Hook};
use session_todo_store::{Files, Record, SessionId, Store, Sync, Version, transaction};

pub(crate) struct Client {
    pub(crate) home: tempfile::TempDir,
    pub(crate) policy: Option<Policy>,
    pub(crate) environment: Environment,
}

impl Client {
    pub(crate) fn new(policy: Option<Policy>) -> Self {
        Self { home: tempfile::tempdir().unwrap(), policy, environment: Environment::default() }
    }

    /// What goes to the model with this event.
    pub(crate) fn event(&self, name: &str, more: Value) -> Option<String> {
        let mut event = more;
        event["session_id"] = "s".into();
        event["hook_event_name"] = name.into();
        let printed: Value = serde_json::from_str(&self.raw(&event.to_string())?).unwrap();
        let said = &printed["hookSpecificOutput"];
        assert_eq!(said["hookEventName"], name);
        let text = said.get("additionalContext").or(said.get("permissionDecisionReason"));
        Some(text.unwrap().as_str().unwrap().to_owned())
    }

    pub(crate) fn raw(&self, event: &str) -> Option<String> {
        self.answer(event).unwrap()
    }

    pub(crate) fn answer(&self, event: &str) -> Result<Option<String>, HookError> {
        let hook =
            Hook { folder: self.home.path(), policy: self.policy.clone(), environment: self.environment.clone() };
        hook.answer(event.as_bytes())
    }

    pub(crate) fn batch(&self, calls: Value) -> Option<String> {
        self.event("PostToolBatch", json!({ "tool_calls": calls }))
    }

    pub(crate) fn prompt(&self) -> Option<String> {
        self.event("UserPromptSubmit", json!({"prompt": "go on"}))
    }

    /// The log, in short.
    pub(crate) fn log(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut files = Files::open(self.home.path(), Sync::Os).unwrap();
        let session = SessionId::new("s").unwrap();
        files
            .read(&session, Version::START, &mut |_, record| {
                lines.push(match record {
                    Record::Policy { name, .. } => format!("policy {name}"),
                    Record::Event(Event::RequestSent { by }) => format!("request {by:?}"),
                    Record::Event(Event::ToolCalled(Call { by, name, arguments, outcome })) => {
                        format!("{by:?} {name} {arguments} {outcome:?}")
                    }
                    Record::Event(event) => format!("{event:?}"),
                });
                Ok(())
            })
            .unwrap();
        lines
    }

    /// What the MCP server does with a call.
    pub(crate) fn server(&self, by: Caller, name: &str, arguments: &str) {
        let mut files = Files::open(self.home.path(), Sync::Os).unwrap();
        let call = Call { by, name: name.into(), arguments: arguments.into(), outcome: Outcome::Ours };
        let step = |work: &mut session_todo_store::Work<'_>| work.step(Event::ToolCalled(call.clone()).into_owned());
        transaction(&mut files, &SessionId::new("s").unwrap(), &Policy::DEFAULT, step).unwrap();
    }
}

pub(crate) fn bash() -> Value {
    json!([{"tool_name": "Bash", "tool_input": {"command": "true"}, "tool_response": ""}])
}

pub(crate) fn called(name: &str, input: &Value, response: &Value) -> Value {
    json!({"tool_name": name, "tool_input": input, "tool_response": response})
}
