//! Calls of a round: in call order, each with its own result, denied or failed where they were.

use std::sync::Arc;

use rig_agent::AgentBuilder;
use rig_agent::agent::{
    AgentHook, DispatchAction, DispatchEvent, HookContext, InvalidToolCallAction, InvalidToolCallContext,
    OutcomeAction, OutcomeEvent,
};
use rig_core::completion::Message;
use rig_core::message::UserContent;
use rig_core::test_utils::MockCompletionModel;
use serde_json::json;
use session_todo::{Call, Caller, Effect, Event, Outcome, Policy, Session, Status};
use session_todo_rig::Handle;
use tokio::sync::Notify;

use crate::script::{Response, assert_prefix_stable, bash, block_on, bytes, holding, model, prompt, said, work, write};

/// What the results of a history say, in order, and whether they are errors.
fn results(history: &[Message]) -> Vec<(String, bool)> {
    let parts = history.iter().flat_map(|message| match message {
        Message::User { content } => content.as_slice(),
        _ => &[],
    });
    let result = |part: &UserContent| match part {
        UserContent::ToolResult(result) => Some((serde_json::to_value(&result.content).unwrap(), result.is_error)),
        _ => None,
    };
    parts
        .filter_map(result)
        .map(|(content, is_error)| (content[0]["text"].as_str().unwrap().into(), is_error))
        .collect()
}

/// What the core says to these calls of main.
fn answers(policy: Policy, calls: &[(&str, String, Outcome<'static>)]) -> Vec<String> {
    let mut session = Session::new(policy);
    let _ = session.step(&Event::RequestSent { by: session_todo::Agent::Main });
    let call = |(name, arguments, outcome): &(&str, String, Outcome<'static>)| {
        let (name, arguments) = ((*name).to_owned().into(), arguments.clone().into());
        Event::ToolCalled(Call { by: Caller::Main, name, arguments, outcome: outcome.clone() })
    };
    let text = |effect| match effect {
        Some(Effect::ReturnToolResult(result)) => Some(result.text),
        _ => None,
    };
    calls.iter().filter_map(|each| text(session.step(&call(each)))).collect()
}

/// Holds the call of this name back until another one has been let through, then does as it is told.
#[derive(Clone)]
struct Gate {
    held: &'static str,
    until: &'static str,
    then: DispatchAction,
    passed: Arc<Notify>,
}

impl Gate {
    fn new(held: &'static str, until: &'static str, then: DispatchAction) -> Self {
        Self { held, until, then, passed: Arc::default() }
    }
}

impl AgentHook for Gate {
    async fn on_dispatch(&self, _: &HookContext, event: DispatchEvent<'_>) -> DispatchAction {
        if event.tool_name() == Some(self.held) {
            self.passed.notified().await;
            return self.then.clone();
        }
        DispatchAction::Proceed
    }

    async fn on_outcome(&self, _: &HookContext, event: OutcomeEvent<'_>) -> OutcomeAction {
        if event.tool_name() == Some(self.until) {
            self.passed.notify_one();
        }
        OutcomeAction::Proceed
    }
}

fn play(script: &[Response], hook: impl AgentHook + 'static) -> (Handle, Vec<Message>, MockCompletionModel) {
    let (todo, model) = (Handle::new(Policy::DEFAULT), model(script, false));
    let builder = AgentBuilder::new(model.clone()).add_hook(todo.hook()).add_hook(hook);
    let agent = builder.dynamic_tools(todo.tools()).dynamic_tool(bash()).default_max_turns(40).build();
    let mut history = Vec::new();
    block_on(async {
        let response = agent.prompt("Prompt.").tool_concurrency(4).await.unwrap();
        history.extend(response.messages);
    });
    (todo, history, model)
}

fn three() -> Response {
    vec![
        ("todo_write", json!({"todos":[{"content":"Write it"},{"content":"Test it"}]})),
        ("bash", json!({"command":"true"})),
        ("TaskCreate", json!({"subject":"Ship it","description":"with notes"})),
    ]
}

fn three_calls(first: Outcome<'static>) -> Vec<(&'static str, String, Outcome<'static>)> {
    let outcomes = [first, Outcome::Ran { id: None }, Outcome::Ours];
    three().into_iter().zip(outcomes).map(|((name, arguments), how)| (name, arguments.to_string(), how)).collect()
}

/// L12, when the second list call has ended before the first is let through.
#[test]
fn l12_call_order_whatever_order_the_tools_end_in() {
    let gate = Gate::new("todo_write", "TaskCreate", DispatchAction::Proceed);
    let (todo, history, _) = play(&[three(), Vec::new()], gate);
    let said = answers(Policy::DEFAULT, &three_calls(Outcome::Ours));
    let heard = results(&history);
    assert_eq!([&heard[0].0, &heard[2].0], [&said[0], &said[1]]);
    assert_eq!(contents(&todo), ["Write it", "Test it", "Ship it"]);
    assert_eq!(todo.list().items()[2].id, "3");
}

/// `Failed`: a call that another hook denied, also where a later one has already been answered.
#[test]
fn a_denied_call_changes_nothing() {
    let gate = Gate::new("todo_write", "TaskCreate", DispatchAction::skip("The user said no."));
    let (todo, history, _) = play(&[three(), Vec::new()], gate);
    assert_eq!(results(&history)[0], ("The user said no.".into(), true));
    let list = todo.list();
    assert_eq!(list.items().len(), 1);
    assert_eq!((list.items()[0].content.as_str(), list.items()[0].id.as_str()), ("Ship it", "1"));
}

/// Denies every call of this tool.
struct Deny(&'static str);

impl AgentHook for Deny {
    async fn on_dispatch(&self, _: &HookContext, event: DispatchEvent<'_>) -> DispatchAction {
        if event.tool_name() == Some(self.0) { DispatchAction::skip("No.") } else { DispatchAction::Proceed }
    }
}

fn contents(todo: &Handle) -> Vec<String> {
    todo.list().items().iter().map(|item| item.content.clone()).collect()
}

/// D1: a denied write does not restart the clock.
#[test]
fn d1_a_denied_write_silences_nothing() {
    let mut script = vec![vec![("TaskCreate", json!({"subject":"Ship it","description":""}))]];
    script.extend((2..=13).map(|number| if number == 6 { write("Other") } else { work() }));
    script.push(Vec::new());
    let (todo, _, model) = play(&script, Deny("todo_write"));
    assert_eq!(todo.list().items()[0].content, "Ship it");
    let requests = bytes(&model.requests());
    assert_prefix_stable(&requests);
    let carries = |number: usize| requests[number - 1].last().unwrap().contains("<system-reminder>");
    let on: Vec<_> = (1..=requests.len()).filter(|number| carries(*number)).collect();
    assert_eq!(on, [12]);
}

/// A hook that stops the run in the middle of a round: nothing hangs, and what had not ended is `Failed`.
#[test]
fn a_run_stopped_in_a_round() {
    let todo = Handle::new(Policy::DEFAULT);
    let gate = Gate::new("todo_write", "TaskCreate", DispatchAction::stop("The user stopped it."));
    let model = model(&[three(), work(), Vec::new()], false);
    let builder = AgentBuilder::new(model.clone()).add_hook(todo.hook());
    let agent = builder.dynamic_tools(todo.tools()).dynamic_tool(bash()).default_max_turns(9).build();
    block_on(async {
        let stopped = agent.prompt("Prompt.").add_hook(gate).tool_concurrency(4).await;
        assert!(stopped.unwrap_err().to_string().contains("The user stopped it."));
        assert_eq!(contents(&todo), ["Ship it"], "at once, not with the next request");
        // What had not ended is not stored as if it had.
        assert_eq!(contents(&Handle::resume(Policy::DEFAULT, todo.saved())), ["Ship it"]);
        agent.prompt("Go on.").await.unwrap();
    });
    assert_eq!(contents(&todo), ["Ship it"]);
}

/// A tool error is a call like any other; a refusal of the list's is an error to the model too (L8).
#[test]
fn errors_are_errors_and_nothing_else_changes() {
    let refused = vec![("TaskUpdate", json!({"taskid":"9","status":"completed"}))];
    let failing = vec![("bash", json!({"command":"false"}))];
    let script = [write("Run the tests"), failing, refused.clone(), work(), Vec::new()];
    let (todo, history, model) = play(&script, ());
    let heard = results(&history);
    assert_eq!(heard.iter().map(|(_, is_error)| *is_error).collect::<Vec<_>>(), [false, true, true, false]);
    assert!(heard[2].0.contains('1'), "names the ids there are: {}", heard[2].0);
    assert_eq!(todo.list().count(Status::InProgress), 1);
    assert_prefix_stable(&bytes(&model.requests()));
    assert!(said(Policy::DEFAULT, &script).iter().all(Option::is_none));
}

/// Section 4: arguments that rig does not read as an object are read all the same.
#[test]
fn arguments_that_are_no_object() {
    let script = [vec![("todo_write", json!([{"content":"Run the tests"}]))], Vec::new()];
    let (todo, history, _) = play(&script, ());
    assert_eq!(todo.list().items()[0].content, "Run the tests");
    assert!(results(&history)[0].0.contains("Run the tests"));
}

/// Lets the model go on after a call of a tool that there is not.
struct GoOn;

impl AgentHook for GoOn {
    async fn on_invalid_tool_call(&self, _: &HookContext, _: &InvalidToolCallContext) -> Option<InvalidToolCallAction> {
        Some(InvalidToolCallAction::skip("There is no such tool."))
    }
}

/// A response that rig takes back over an unknown tool is a response, and its call one that failed: the
/// rounds and the requests count it.
#[test]
fn a_call_of_an_unknown_tool_is_a_failed_call() {
    let unknown = || vec![("nonesuch", json!({}))];
    let script = [unknown(), unknown(), unknown(), work(), Vec::new()];
    for streaming in [false, true] {
        let (todo, model) = (Handle::new(Policy::TODO_ROUNDS), model(&script, streaming));
        let builder = AgentBuilder::new(model.clone()).add_hook(todo.hook()).add_hook(GoOn);
        let agent = builder.dynamic_tools(todo.tools()).dynamic_tool(bash()).default_max_turns(9).build();
        block_on(prompt(&agent, "Prompt.", &mut Vec::new(), streaming));
        let requests = bytes(&model.requests());
        assert_prefix_stable(&requests);
        let reminded: Vec<_> = requests.iter().map(|messages| holding(messages, "Update your todos.")).collect();
        assert_eq!(reminded, [0, 0, 0, 1, 1]);
    }
}
