use std::sync::{Arc, Mutex, MutexGuard};

use rig_agent::agent::{
    AgentHook, DispatchAction, DispatchEvent, HookContext, InvalidToolCallAction, InvalidToolCallContext,
    InvalidToolCallReason, ModelTurnAction, ModelTurnFinished, OutcomeAction, OutcomeEvent, RunSettled, StepEventKind,
};
use rig_core::completion::CompletionRequest;
use rig_core::effect::{EffectKind, Outcome as RigOutcome};
use rig_core::error::ErrorReport;
use rig_core::message::{AssistantContent, CallId, Message, ToolCall};
use session_todo::{Agent, Call, Caller, Event, Outcome, Tool, ToolResult};

use crate::live::{Asked, Live, lock};
use crate::overlay::Placed;
use crate::tools;

/// The kind of the entries in a run's own record: a text of ours with its place.
const ENTRY: &str = "session-todo.placed";

/// What an agent is given: it tells the session of every request and call, answers the list's tools, and
/// puts the session's texts into the requests.
///
/// A clone is the same hook.
#[derive(Clone, Debug)]
pub struct Hook {
    agent: Agent,
    /// The names of the tools that are ours to answer.
    offered: Arc<[&'static str]>,
    live: Arc<Mutex<Live>>,
}

impl Hook {
    pub(crate) const fn new(agent: Agent, offered: Arc<[&'static str]>, live: Arc<Mutex<Live>>) -> Self {
        Self { agent, offered, live }
    }

    fn lock(&self) -> MutexGuard<'_, Live> {
        lock(&self.live)
    }

    fn request(&self, context: &HookContext, request: &CompletionRequest) -> Option<CompletionRequest> {
        let offers = request.tools.iter().any(|tool| self.is_ours(tool.name.as_str()));
        if self.agent == Agent::Sub {
            if offers {
                self.lock().fold.step(Event::RequestSent { by: Agent::Sub });
            }
            return None;
        }
        Some(self.main_request(context, request, offers))
    }

    fn main_request(&self, context: &HookContext, request: &CompletionRequest, offers: bool) -> CompletionRequest {
        let known = context.entries(ENTRY).into_iter();
        let mut live = self.lock();
        known
            .filter_map(|entry| serde_json::from_value(entry.value).ok())
            .for_each(|placed| live.overlay.adopt(placed));
        let mut request = request.clone();
        let own = request.chat_history.split_off(head_len(&request.chat_history));
        let (messages, new) = live.request(own, offers);
        drop(live);
        request.chat_history.extend(messages);
        record(context, &new);
        request
    }

    fn is_ours(&self, name: &str) -> bool {
        self.offered.contains(&name)
    }

    /// A call that ended like this. Empty arguments where the core reads none.
    fn call(&self, name: &str, arguments: &str, outcome: Outcome<'static>) -> Call<'static> {
        let by = match self.agent {
            Agent::Main => Caller::Main,
            Agent::Sub => Caller::Sub,
        };
        let arguments = if Tool::named(name).is_some() { arguments } else { "" };
        Call { by, name: name.to_owned().into(), arguments: arguments.to_owned().into(), outcome }
    }

    /// How a call ends unless something stops it.
    fn unless_stopped(&self, name: &str) -> Outcome<'static> {
        if self.is_ours(name) { Outcome::Ours } else { Outcome::Ran { id: None } }
    }

    fn asked(&self, call: &ToolCall) -> Asked {
        let name = call.function.name.as_str();
        let malformed = call.function.invalid_arguments.clone();
        let arguments = malformed.unwrap_or_else(|| call.function.arguments_value().to_string());
        Asked { id: call.id.clone(), call: self.call(name, &arguments, self.unless_stopped(name)) }
    }

    fn outcome(&self, name: &str, outcome: &Result<RigOutcome, ErrorReport>) -> Outcome<'static> {
        let ran = match outcome {
            Ok(RigOutcome::ToolResult { result }) if self.is_ours(name) => tools::is_unanswered(result),
            Ok(RigOutcome::ToolResult { result }) => result.is_success(),
            _ => false,
        };
        if ran { self.unless_stopped(name) } else { Outcome::Failed }
    }

    fn ended(&self, context: &HookContext, id: &CallId, call: Call<'static>) -> Option<ToolResult> {
        self.lock().ended(context.run_id(), id.clone(), call)
    }

    /// A response came, whatever becomes of it.
    fn responded(&self) {
        if self.agent == Agent::Main {
            self.lock().in_flight = None;
        }
    }
}

/// How many system messages lead a history. They are rig's, not the agent's own.
fn head_len(history: &[Message]) -> usize {
    history.iter().take_while(|message| matches!(message, Message::System { .. })).count()
}

/// A run's record is rig's to store; a text always serialises.
fn record(context: &HookContext, new: &[Placed]) {
    for placed in new {
        let _ = context.append_entry(ENTRY, placed);
    }
}

impl AgentHook for Hook {
    fn name(&self) -> Option<String> {
        Some(match self.agent {
            Agent::Main => "session-todo".to_owned(),
            Agent::Sub => "session-todo-sub".to_owned(),
        })
    }

    async fn on_dispatch(&self, context: &HookContext, event: DispatchEvent<'_>) -> DispatchAction {
        let EffectKind::Completion { request, stream } = event.kind else { return DispatchAction::Proceed };
        match self.request(context, request) {
            Some(request) => DispatchAction::patch(EffectKind::Completion { request, stream: *stream }),
            None => DispatchAction::Proceed,
        }
    }

    async fn on_outcome(&self, context: &HookContext, event: OutcomeEvent<'_>) -> OutcomeAction {
        let EffectKind::ToolCall { name, args } = event.kind else {
            self.responded();
            return OutcomeAction::Proceed;
        };
        let (Some(id), Some(_)) = (event.call_id, Tool::named(name)) else { return OutcomeAction::Proceed };
        let call = self.call(name, args, self.outcome(name, event.outcome));
        match self.ended(context, id, call) {
            Some(result) => OutcomeAction::replace(Ok(RigOutcome::ToolResult { result: tools::answer(result) })),
            None => OutcomeAction::Proceed,
        }
    }

    async fn on_model_turn_finished(&self, context: &HookContext, event: ModelTurnFinished<'_>) -> ModelTurnAction {
        let calls = event.content.iter().filter_map(|part| match part {
            AssistantContent::ToolCall(call) => Some(self.asked(call)),
            _ => None,
        });
        let calls: Vec<_> = calls.collect();
        self.lock().asked(context.run_id(), calls);
        ModelTurnAction::Continue
    }

    async fn on_invalid_tool_call(
        &self,
        context: &HookContext,
        event: &InvalidToolCallContext,
    ) -> Option<InvalidToolCallAction> {
        self.responded();
        let name = event.tool_name.as_str();
        let is_malformed = matches!(event.reason, InvalidToolCallReason::MalformedArguments { .. });
        if is_malformed && Tool::named(name).is_none() {
            return None; // It was folded when its response was complete.
        }
        let outcome = if is_malformed && self.is_ours(name) { Outcome::Ours } else { Outcome::Failed };
        let call = self.call(name, event.args.as_deref().unwrap_or_default(), outcome);
        let Some(id) = &event.tool_call_id else {
            self.lock().fold.step(Event::ToolCalled(call));
            return None;
        };
        self.ended(context, id, call).map(|result| InvalidToolCallAction::retry(result.text))
    }

    async fn on_run_settled(&self, _: &HookContext, _: RunSettled<'_>) {
        if self.agent == Agent::Main {
            self.lock().close();
        }
    }

    fn observes(&self, kind: StepEventKind) -> bool {
        matches!(
            kind,
            StepEventKind::CompletionDispatch
                | StepEventKind::ToolDispatch
                | StepEventKind::ModelTurnFinished
                | StepEventKind::InvalidToolCall
                | StepEventKind::RunSettled
        )
    }
}
