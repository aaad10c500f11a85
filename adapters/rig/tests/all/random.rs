//! Random sessions: every request carries what the core alone says, and nothing that was sent changes.

use proptest::prelude::*;
use rig_agent::AgentBuilder;
use rig_agent::agent::{Agent as RigAgent, AgentHook, DispatchAction, DispatchEvent, HookContext};
use rig_core::completion::Message;
use rig_core::test_utils::MockCompletionModel;
use serde_json::json;
use session_todo::{Agent, Call, Caller, Effect, Event, Lane, Outcome, Policy, Session, Tool};
use session_todo_rig::Handle;

use crate::script::{Response, assert_prefix_stable, bash, block_on, bytes, model, prompt};

/// What happens before a run.
#[derive(Clone, Copy, Debug)]
enum Before {
    Nothing,
    Edit,
    Compaction,
    Resume,
    /// The last run failed: rig's history is what it was before it.
    Failure,
}

/// A run: what happens before it, and its responses, the last of which is text.
type Run = (Before, Vec<Response>);

fn response() -> impl Strategy<Value = Response> {
    let todo = |content: &str| ("todo_write", json!({"todos":[{"content":content,"status":"in_progress"}]}));
    let create = |subject: &str| ("TaskCreate", json!({"subject":subject,"description":""}));
    let work = || ("bash", json!({"command":"true"}));
    let done = ("TaskUpdate", json!({"taskid":"1","status":"completed"}));
    prop_oneof![
        6 => Just(vec![work()]),
        1 => Just(vec![work(), todo("A"), work(), create("B"), create("Denied"), create("C")]),
        1 => Just(vec![create("Denied"), done.clone()]),
        1 => Just(vec![done, ("bash", json!({"command":"false"}))]),
        1 => Just(vec![todo("D")]),
    ]
}

fn runs() -> impl Strategy<Value = Vec<Run>> {
    use Before::{Compaction, Edit, Failure, Nothing, Resume};
    let before = prop::sample::select(vec![Nothing, Edit, Compaction, Resume, Failure]);
    let run = (before, prop::collection::vec(response(), 0..12)).prop_map(|(before, mut responses)| {
        responses.push(Vec::new());
        (before, responses)
    });
    prop::collection::vec(run, 1..6)
}

struct DenySome;

impl AgentHook for DenySome {
    async fn on_dispatch(&self, _: &HookContext, event: DispatchEvent<'_>) -> DispatchAction {
        let is_denied = event.tool_args().is_some_and(|arguments| arguments.contains("Denied"));
        if is_denied { DispatchAction::skip("No.") } else { DispatchAction::Proceed }
    }
}

const EDIT: &str = r#"{"subject":"By hand","description":""}"#;

/// The core alone: what each request carries that the one before did not, and the session at the end.
fn said(policy: &Policy, runs: &[Run]) -> (Vec<Vec<String>>, Session) {
    let mut session = Session::new(policy.clone());
    let mut said = Vec::new();
    for (before, responses) in runs {
        let mut waiting = match before {
            Before::Nothing | Before::Failure => None,
            Before::Edit => session.step(&called(Caller::User, "TaskCreate", EDIT, Outcome::Ours)),
            Before::Compaction => session.step(&Event::Compacted),
            Before::Resume => session.step(&Event::Resumed),
        };
        for response in responses {
            let effects = [waiting.take(), session.step(&Event::RequestSent { by: Agent::Main })];
            said.push(effects.into_iter().flatten().filter_map(text).collect());
            for (name, arguments) in response {
                let arguments = if Tool::named(name).is_some() { arguments.to_string() } else { String::new() };
                let outcome = if arguments.contains("Denied") { Outcome::Failed } else { Outcome::Ours };
                let _ = session.step(&called(Caller::Main, name, &arguments, outcome));
            }
        }
    }
    (said, session)
}

fn text(effect: Effect) -> Option<String> {
    match effect {
        Effect::AppendSystemReminder(reminder) => Some(reminder.text),
        Effect::InjectCompactSnapshot(snapshot) => Some(snapshot.text),
        Effect::ReturnToolResult(_) => None,
    }
}

fn called<'a>(by: Caller, name: &'a str, arguments: &'a str, outcome: Outcome<'a>) -> Event<'a> {
    Event::ToolCalled(Call { by, name: name.into(), arguments: arguments.into(), outcome })
}

fn agent(todo: &Handle, model: &MockCompletionModel) -> RigAgent {
    let builder = AgentBuilder::new(model.clone()).preamble("Work.").add_hook(todo.hook()).add_hook(DenySome);
    builder.dynamic_tools(todo.tools()).dynamic_tool(bash()).default_max_turns(40).build()
}

/// Rig's side: the bytes of every request, and the session at the end.
fn played(policy: &Policy, runs: &[Run], streaming: bool) -> (Vec<Vec<String>>, Handle) {
    let script: Vec<Response> = runs.iter().flat_map(|(_, responses)| responses.clone()).collect();
    let model = model(&script, streaming);
    let mut todo = Handle::new(policy.clone());
    let (mut history, mut earlier) = (Vec::new(), Vec::new());
    for (number, (before, _)) in runs.iter().enumerate() {
        match before {
            Before::Nothing => {}
            Before::Edit => drop(todo.edit("TaskCreate", EDIT)),
            Before::Compaction => {
                todo.compacted();
                history = vec![Message::user("Summary."), Message::assistant("Understood.")];
            }
            Before::Resume => todo = Handle::resume(policy.clone(), todo.saved()),
            Before::Failure => history.clone_from(&earlier),
        }
        earlier.clone_from(&history);
        block_on(prompt(&agent(&todo, &model), &format!("Prompt {number}."), &mut history, streaming));
    }
    (bytes(&model.requests()), todo)
}

/// The texts of ours in a request, in order.
fn ours(messages: &[String]) -> Vec<String> {
    let values = messages.iter().map(|message| serde_json::from_str::<serde_json::Value>(message).unwrap());
    let parts = values.flat_map(|message| message["content"].as_array().cloned().unwrap_or_default());
    let texts = parts.filter_map(|part| Some(part["text"].as_str()?.to_owned()));
    texts.filter(|text| text.starts_with("<system-reminder>") || text.contains("```json")).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn e1_random_sessions(runs in runs(), streaming: bool, tool_result: bool, quick: bool) {
        let lane = if tool_result { Lane::ToolResult } else { Lane::History };
        let clock = if quick { Policy::TODO_ROUNDS.clock } else { Policy::DEFAULT.clock };
        let policy = Policy { lane, clock, ..Policy::DEFAULT };
        let (said, session) = said(&policy, &runs);
        let (requests, todo) = played(&policy, &runs, streaming);

        prop_assert_eq!(serde_json::to_value(todo.saved()).unwrap()["state"].clone(), serde_json::to_value(session.state()).unwrap());
        let mut so_far: Vec<String> = Vec::new();
        let mut request = 0;
        for (before, responses) in &runs {
            let compacts = matches!(before, Before::Compaction);
            if compacts {
                so_far.clear();
            }
            let is_cut = compacts || matches!(before, Before::Failure);
            for response in 0..responses.len() {
                if request > 0 && !(is_cut && response == 0) {
                    assert_prefix_stable(&requests[request - 1..=request]);
                }
                so_far.extend(said[request].iter().cloned());
                prop_assert_eq!(ours(&requests[request]), so_far.clone());
                request += 1;
            }
        }
        prop_assert_eq!(request, requests.len());
    }
}
