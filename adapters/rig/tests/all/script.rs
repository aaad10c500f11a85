//! A scripted session, played by rig on one side and folded by the core alone on the other.

use futures::StreamExt;
use rig_agent::agent::{Agent, MultiTurnStreamItem, PromptResponse};
use rig_core::completion::{CompletionRequest, Message};
use rig_core::message::{AssistantContent, ToolCall, ToolFunction, ToolName};
use rig_core::test_utils::{MockCompletionModel, MockStreamEvent, MockTurn};
use rig_core::tool::{DynamicTool, ToolExecutionError, ToolOutput};
use serde_json::{Value, json};
use session_todo::{Call, Caller, Effect, Event, Outcome, Policy, Reminder, Session};

/// One response: its calls, or else a text.
pub(crate) type Response = Vec<(&'static str, Value)>;

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

pub(crate) fn write(content: &str) -> Response {
    vec![("todo_write", json!({"todos":[{"content":content,"status":"in_progress"}]}))]
}

pub(crate) fn work() -> Response {
    vec![("bash", json!({"command":"true"}))]
}

/// A write in response 2, and then work; the responses of these numbers are text, which ends a run.
pub(crate) fn session_of(length: usize, texts: &[usize]) -> Vec<Response> {
    let response = |number| match number {
        2 => write("Run the tests"),
        number if texts.contains(&number) => Vec::new(),
        _ => work(),
    };
    (1..=length).map(response).collect()
}

fn id(response: usize, call: usize) -> String {
    format!("call_{response}_{call}")
}

fn turn(number: usize, response: &Response) -> MockTurn {
    if response.is_empty() {
        return MockTurn::text(format!("Answer {number}."));
    }
    MockTurn::from_contents(response.iter().enumerate().map(|(index, (name, arguments))| {
        let function = ToolFunction::new(ToolName::new(*name).unwrap(), arguments.clone());
        AssistantContent::ToolCall(ToolCall::from_wire(id(number, index), function))
    }))
}

fn stream_turn(number: usize, response: &Response) -> Vec<MockStreamEvent> {
    let calls = response.iter().enumerate();
    let mut events: Vec<_> = calls
        .map(|(index, (name, arguments))| MockStreamEvent::tool_call(id(number, index), *name, arguments.clone()))
        .collect();
    if events.is_empty() {
        events.push(MockStreamEvent::text(format!("Answer {number}.")));
    }
    events.push(MockStreamEvent::final_response_with_default_usage());
    events
}

pub(crate) fn model(script: &[Response], streaming: bool) -> MockCompletionModel {
    let numbered = || (1..).zip(script);
    if streaming {
        MockCompletionModel::from_stream_turns(numbered().map(|(number, response)| stream_turn(number, response)))
    } else {
        MockCompletionModel::from_turns(numbered().map(|(number, response)| turn(number, response)))
    }
}

/// A tool that is not the list's. The command `false` fails.
pub(crate) fn bash() -> DynamicTool {
    let schema = json!({"type":"object","properties":{"command":{"type":"string"}},"required":["command"]});
    DynamicTool::new(ToolName::new("bash").unwrap(), "Runs a command.", schema, |arguments| {
        let failed = arguments["command"] == "false";
        Box::pin(async move {
            if failed { Err(ToolExecutionError::other("exit status 1")) } else { Ok(ToolOutput::text("ok")) }
        })
    })
}

/// Runs a prompt and adds the run's messages to the history, as the loop of a user would.
pub(crate) async fn prompt(agent: &Agent, words: &str, history: &mut Vec<Message>, streaming: bool) -> PromptResponse {
    let runner = agent.prompt(words).history(history.clone());
    let response = if streaming { streamed(runner.stream()).await } else { runner.await.unwrap() };
    history.extend(response.messages.iter().cloned());
    response
}

async fn streamed(stream: rig_agent::agent::StreamingResult) -> PromptResponse {
    let mut last = None;
    let mut stream = std::pin::pin!(stream);
    while let Some(item) = stream.next().await {
        if let MultiTurnStreamItem::FinalResponse(response) = item.unwrap() {
            last = Some(response);
        }
    }
    last.unwrap()
}

/// What the core alone says to this script: the reminder of each request.
pub(crate) fn said(policy: Policy, script: &[Response]) -> Vec<Option<Reminder>> {
    let mut session = Session::new(policy);
    let reminder = |effect| match effect {
        Some(Effect::AppendSystemReminder(reminder)) => Some(reminder),
        _ => None,
    };
    let mut said = Vec::new();
    for response in script {
        said.push(reminder(session.step(&Event::RequestSent { by: session_todo::Agent::Main })));
        for (name, arguments) in response {
            let arguments = if *name == "bash" { String::new() } else { arguments.to_string() };
            let call =
                Call { by: Caller::Main, name: (*name).into(), arguments: arguments.into(), outcome: Outcome::Ours };
            let _ = session.step(&Event::ToolCalled(call));
        }
    }
    said
}

/// The messages of each request, each by its bytes.
pub(crate) fn bytes(requests: &[CompletionRequest]) -> Vec<Vec<String>> {
    let message = |message: &Message| serde_json::to_string(message).unwrap();
    requests.iter().map(|request| request.chat_history.iter().map(message).collect()).collect()
}

/// E1: the messages of request k are the first messages of request k+1.
pub(crate) fn assert_prefix_stable(requests: &[Vec<String>]) {
    for (number, pair) in (1..).zip(requests.windows(2)) {
        assert!(pair[1].starts_with(&pair[0]), "request {number} is no prefix of the next:\n{pair:#?}");
    }
}

/// How many of a request's messages hold this text.
pub(crate) fn holding(messages: &[String], text: &str) -> usize {
    let json = serde_json::to_string(text).unwrap();
    messages.iter().filter(|message| message.contains(json.trim_matches('"'))).count()
}

/// These come one after the other, at the end of what is sent.
pub(crate) fn assert_in_order(messages: &[String], parts: &[&str]) {
    let sent = messages.concat();
    let mut rest = sent.as_str();
    for part in parts.iter().rev() {
        rest = &rest[..rest.rfind(part).unwrap_or_else(|| panic!("{part} is not where it should be: {sent}"))];
    }
}
