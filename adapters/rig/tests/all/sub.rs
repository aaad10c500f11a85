//! An agent used as a tool is a sub (A7, D1).

use rig_agent::AgentBuilder;
use rig_core::completion::Message;
use serde_json::json;
use session_todo::Policy;
use session_todo_rig::Handle;

use crate::script::{Response, assert_prefix_stable, bash, block_on, bytes, holding, model, prompt, work, write};

fn helper() -> Response {
    vec![("helper", json!({"prompt":"Look around."}))]
}

/// Main writes in response 2 and asks a sub in response 4, which works for a while and writes.
fn play(policy: &Policy) -> (Handle, Vec<Vec<String>>, Vec<Message>) {
    let todo = Handle::new(policy.clone());
    let subs: Vec<Response> = (1..=12)
        .map(|number| match number {
            3 => vec![("TaskCreate", json!({"subject":"Found by the sub","description":""}))],
            12 => Vec::new(),
            _ => work(),
        })
        .collect();
    let builder = AgentBuilder::new(model(&subs, false)).name("helper").add_hook(todo.sub_hook());
    let sub = builder.dynamic_tools(todo.tools()).dynamic_tool(bash()).default_max_turns(20).build();
    let script: Vec<Response> = (1..=14)
        .map(|number| match number {
            2 => write("Run the tests"),
            4 => helper(),
            14 => Vec::new(),
            _ => work(),
        })
        .collect();
    let model = model(&script, false);
    let builder = AgentBuilder::new(model.clone()).add_hook(todo.hook()).dynamic_tools(todo.tools());
    let agent = builder.dynamic_tool(bash()).dynamic_tool(sub.into_tool().unwrap()).default_max_turns(20).build();
    let mut history = Vec::new();
    block_on(prompt(&agent, "Prompt.", &mut history, false));
    (todo, bytes(&model.requests()), history)
}

/// The requests that carry a new reminder.
fn reminded(requests: &[Vec<String>]) -> Vec<usize> {
    let carries = |messages: &Vec<String>| holding(&messages[messages.len() - 1..], "<system-reminder>") == 1;
    (1..).zip(requests).filter_map(|(number, messages)| carries(messages).then_some(number)).collect()
}

#[test]
fn a7_a_subs_write_is_refused_where_the_list_is_not_shared() {
    let (todo, requests, _) = play(&Policy::DEFAULT);
    assert_eq!(todo.list().items().len(), 1);
    assert_prefix_stable(&requests);
    assert_eq!(reminded(&requests), [13], "its eleven requests do not count");
}

#[test]
fn a7_a_subs_write_changes_a_shared_list_and_not_the_clock() {
    let (todo, requests, _) = play(&Policy { share: true, ..Policy::DEFAULT });
    assert_eq!(todo.list().items()[1].content, "Found by the sub");
    assert_prefix_stable(&requests);
    assert_eq!(reminded(&requests), [13]);
}
