//! An agent used as a tool is a sub (A7, D1).

use rig_agent::AgentBuilder;
use serde_json::json;
use session_todo::Policy;
use session_todo_rig::Handle;

use crate::script::{Response, assert_prefix_stable, bash, block_on, bytes, holding, model, prompt, work, write};

fn helper() -> Response {
    vec![("helper", json!({"prompt":"Look around."}))]
}

/// Main writes in response 2, and asks a sub in response 4, which works for a while and writes, and in 13,
/// which only answers. A sub's requests carry nothing.
fn play(policy: &Policy) -> (Handle, Vec<Vec<String>>) {
    let todo = Handle::new(policy.clone());
    let subs: Vec<Response> = (1..=13)
        .map(|number| match number {
            3 => vec![("TaskCreate", json!({"subject":"Found by the sub","description":""}))],
            12 | 13 => Vec::new(),
            _ => work(),
        })
        .collect();
    let sub_model = model(&subs, false);
    let builder = AgentBuilder::new(sub_model.clone()).name("helper").add_hook(todo.sub_hook());
    let sub = builder.dynamic_tools(todo.tools()).dynamic_tool(bash()).default_max_turns(20).build();
    let script: Vec<Response> = (1..=14)
        .map(|number| match number {
            2 => write("Run the tests"),
            4 | 13 => helper(),
            14 => Vec::new(),
            _ => work(),
        })
        .collect();
    let model = model(&script, false);
    let builder = AgentBuilder::new(model.clone()).add_hook(todo.hook()).dynamic_tools(todo.tools());
    let agent = builder.dynamic_tool(bash()).dynamic_tool(sub.into_tool().unwrap()).default_max_turns(20).build();
    block_on(prompt(&agent, "Prompt.", &mut Vec::new(), false));
    let subs = bytes(&sub_model.requests());
    assert_eq!(subs.len(), 13);
    assert!(subs.iter().all(|messages| holding(messages, "<system-reminder>") == 0));
    (todo, bytes(&model.requests()))
}

/// The requests that carry a new reminder.
fn reminded(requests: &[Vec<String>]) -> Vec<usize> {
    let carries = |messages: &Vec<String>| holding(&messages[messages.len() - 1..], "<system-reminder>") == 1;
    (1..).zip(requests).filter_map(|(number, messages)| carries(messages).then_some(number)).collect()
}

#[test]
fn a7_a_subs_write_is_refused_where_the_list_is_not_shared() {
    let (todo, requests) = play(&Policy::DEFAULT);
    assert_eq!(todo.list().items().len(), 1);
    assert_prefix_stable(&requests);
    assert_eq!(reminded(&requests), [13], "its eleven requests do not count");
}

#[test]
fn a7_a_subs_write_changes_a_shared_list_and_not_the_clock() {
    let (todo, requests) = play(&Policy { share: true, ..Policy::DEFAULT });
    assert_eq!(todo.list().items()[1].content, "Found by the sub");
    assert_prefix_stable(&requests);
    assert_eq!(reminded(&requests), [13]);
}
