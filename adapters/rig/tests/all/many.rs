//! Several conversations on one agent, several subs on one list, and agents that another thread runs.

use std::thread;

use rig_agent::AgentBuilder;
use rig_agent::agent::{Agent, WithBuilderTools};
use rig_core::test_utils::MockCompletionModel;
use serde_json::json;
use session_todo::Policy;
use session_todo_rig::{Handle, Hook, Saved};

use crate::script::{Response, assert_prefix_stable, bash, block_on, bytes, holding, model, session_of, work, write};

fn builder(model: &MockCompletionModel, todo: &Handle) -> AgentBuilder<WithBuilderTools> {
    let builder = AgentBuilder::new(model.clone()).preamble("Work.").default_max_turns(20);
    builder.dynamic_tools(todo.tools()).dynamic_tool(bash())
}

/// Nothing to say, nothing changed: an agent with the hook sends what one without it sends.
#[test]
fn without_a_text_the_requests_are_those_without_the_hook() {
    let play = |hooked: bool| {
        let mut script: Vec<Response> = (1..=13).map(|_| work()).collect();
        script.push(Vec::new());
        let (todo, model) = (Handle::new(Policy::DEFAULT), model(&script, false));
        let builder = builder(&model, &todo);
        let agent = if hooked { builder.add_hook(todo.hook()) } else { builder }.build();
        block_on(async { agent.prompt("Prompt.").await.unwrap() });
        assert_eq!(model.requests().len(), 14);
        format!("{:?}", model.requests())
    };
    assert_eq!(play(true), play(false));
}

/// The hook of a prompt: one agent serves many conversations, each with its own list and texts.
#[test]
fn a_conversation_brings_its_own_hook() {
    let first = Handle::new(Policy::TODO_HISTORY);
    let second = Handle::new(Policy::TODO_HISTORY);
    let mut script = session_of(12, &[12]);
    script.extend([write("Other"), Vec::new()]);
    let model = model(&script, false);
    let agent = builder(&model, &first).build();
    block_on(async {
        agent.prompt("Prompt 1.").add_hook(first.hook()).await.unwrap();
        agent.prompt("Prompt 2.").add_hook(second.hook()).await.unwrap();
    });
    let content = |todo: &Handle| todo.list().items()[0].content.clone();
    assert_eq!([content(&first), content(&second)], ["Run the tests", "Other"]);
    let requests = bytes(&model.requests());
    assert_prefix_stable(&requests[..12]);
    assert_eq!([11, 12, 13].map(|at: usize| holding(&requests[at], "<system-reminder>")), [1, 0, 0]);
}

fn ask(who: &[&'static str]) -> Response {
    who.iter().map(|name| (*name, json!({"prompt":"Look around."}))).collect()
}

/// A sub of the session, which asks another one and then adds what it found.
fn sub(todo: &Handle, name: &'static str, inner: Option<Agent>) -> Agent {
    let found = vec![("TaskCreate", json!({"subject":name,"description":""}))];
    let asked = inner.iter().map(|_| ask(&["inner"]));
    let script: Vec<Response> = asked.chain([found, work(), Vec::new()]).collect();
    let builder = builder(&model(&script, false), todo).name(name).add_hook(todo.sub_hook());
    inner.into_iter().fold(builder, |builder, inner| builder.dynamic_tool(inner.into_tool().unwrap())).build()
}

/// A7: subs side by side, one of them with a sub of its own, on a list that is shared: no write is lost, none
/// moves the clock, and nothing of theirs stands in main's requests. Another thread runs it.
#[test]
fn a7_subs_side_by_side_and_in_one_another() {
    fn kept<T: Send + Sync + 'static>() {}
    kept::<(Handle, Hook, Saved)>();

    let todo = Handle::new(Policy { share: true, ..Policy::DEFAULT });
    let script = [write("Run the tests"), ask(&["outer", "other", "third"]), work(), Vec::new()];
    let model = model(&script, false);
    let inner = sub(&todo, "inner", None);
    let subs = [sub(&todo, "outer", Some(inner)), sub(&todo, "other", None), sub(&todo, "third", None)];
    let main = builder(&model, &todo).add_hook(todo.hook());
    let main = subs.into_iter().fold(main, |main, sub| main.dynamic_tool(sub.into_tool().unwrap())).build();
    let run = async move { main.prompt("Prompt.").tool_concurrency(4).await.unwrap() };
    thread::spawn(move || block_on(run)).join().unwrap();

    let list = todo.list();
    let mut found: Vec<_> = list.items().iter().map(|item| item.content.as_str()).collect();
    found[1..].sort_unstable();
    assert_eq!(found, ["Run the tests", "inner", "other", "outer", "third"]);
    let ids: Vec<_> = list.items().iter().map(|item| item.id.as_str()).collect();
    assert_eq!(ids, ["1", "2", "3", "4", "5"]);
    assert_prefix_stable(&bytes(&model.requests()));
    let pace = serde_json::to_value(todo.saved()).unwrap()["state"]["pace"].clone();
    assert_eq!((&pace["requests"], &pace["written"]), (&json!(4), &json!(1)));
}
