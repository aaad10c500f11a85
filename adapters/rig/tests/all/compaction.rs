//! The user's own compaction (A2 to A6), and a person's edits (L13).

use rig_agent::AgentBuilder;
use rig_agent::agent::Agent;
use rig_core::completion::Message;
use rig_core::test_utils::{MockCompletionModel, MockTurn};
use session_todo::Policy;
use session_todo_rig::Handle;

use crate::script::{
    Response, assert_in_order, assert_prefix_stable, bash, block_on, bytes, holding, model, prompt, session_of,
};

fn agent(todo: &Handle, model: &MockCompletionModel) -> Agent {
    let builder = AgentBuilder::new(model.clone()).preamble("Work.").add_hook(todo.hook());
    builder.dynamic_tools(todo.tools()).dynamic_tool(bash()).default_max_turns(40).build()
}

fn summary(number: usize) -> Vec<Message> {
    vec![Message::user(format!("Summary {number}.")), Message::assistant("Understood.")]
}

const SNAPSHOT: &str = "```json";

/// A5, A6: the new context holds the open items once, also the second time without a write between;
/// the clock starts again. Compactions before requests 7 and 19; write in response 2, 10 / 10: 17, 29.
#[test]
fn a5_the_new_context_holds_the_open_items_once() {
    for streaming in [false, true] {
        let script = session_of(30, &[6, 18, 30]);
        let (todo, model) = (Handle::new(Policy::DEFAULT), model(&script, streaming));
        let agent = agent(&todo, &model);
        block_on(async {
            prompt(&agent, "Prompt 0.", &mut Vec::new(), streaming).await;
            for run in 1..=2 {
                assert!(todo.context_for_summary().unwrap().contains("Run the tests"));
                todo.compacted();
                prompt(&agent, &format!("Prompt {run}."), &mut summary(run), streaming).await;
            }
        });
        let requests = bytes(&model.requests());
        for (first, last) in [(1, 6), (7, 18), (19, 30)] {
            assert_prefix_stable(&requests[first - 1..last]);
            for messages in &requests[first - 1..last] {
                assert_eq!(holding(messages, SNAPSHOT), usize::from(first > 1));
            }
        }
        for (first, run) in [(7, 1), (19, 2)] {
            let parts = [&*format!("Summary {run}."), "Understood.", "Run the tests", &*format!("Prompt {run}.")];
            assert_in_order(&requests[first - 1], &parts);
        }
        let reminders = |number: usize| holding(&requests[number - 1], "has not changed for a while");
        assert_eq!([16, 17, 18, 28, 29].map(reminders), [0, 1, 1, 0, 1]);
    }
}

/// A3: nothing is injected for a list that is empty.
#[test]
fn a3_nothing_for_an_empty_list() {
    let script: Vec<Response> = vec![Vec::new(), Vec::new()];
    let (todo, model) = (Handle::new(Policy::DEFAULT), model(&script, false));
    let agent = agent(&todo, &model);
    block_on(async {
        prompt(&agent, "Prompt 0.", &mut Vec::new(), false).await;
        todo.compacted();
        prompt(&agent, "Prompt 1.", &mut summary(1), false).await;
    });
    let second = &bytes(&model.requests())[1];
    assert!(second.last().unwrap().ends_with(r#"[{"type":"text","text":"Prompt 1."}]}"#), "{second:#?}");
}

/// L13: the note rides once, before the words that follow the edit, and stays.
#[test]
fn l13_a_persons_edit_is_told_once() {
    let script = session_of(9, &[4, 9]);
    let (todo, model) = (Handle::new(Policy::DEFAULT), model(&script, false));
    let agent = agent(&todo, &model);
    block_on(async {
        let mut history = Vec::new();
        prompt(&agent, "Prompt 0.", &mut history, false).await;
        let before = todo.revision();
        let result = todo.edit("todo_write", r#"{"todos":[{"content":"Only this"}]}"#).unwrap();
        assert!(!result.is_error && todo.revision() > before);
        prompt(&agent, "Prompt 1.", &mut history, false).await;
    });
    let requests = bytes(&model.requests());
    assert_prefix_stable(&requests);
    let noted: Vec<_> = requests.iter().map(|messages| holding(messages, "the user changed the list")).collect();
    assert_eq!(noted, [0, 0, 0, 0, 1, 1, 1, 1, 1]);
    assert_in_order(&requests[4], &["Answer 4.", "Only this", "Prompt 1."]);
}

/// A request that died and what was sent in its place are one request: the note is on both, the clock
/// counts one, and neither a sub's response nor a compaction between them loses the note.
#[test]
fn a_request_that_died() {
    for compacts in [false, true] {
        let model = MockCompletionModel::from_turns([MockTurn::error("overloaded"), MockTurn::text("Done.")]);
        let todo = Handle::new(Policy::DEFAULT);
        let agent = agent(&todo, &model);
        let sub = AgentBuilder::new(MockCompletionModel::text("Seen.")).add_hook(todo.sub_hook()).build();
        let _ = todo.edit("todo_write", r#"{"todos":[{"content":"Only this"}]}"#);
        block_on(async {
            assert!(agent.prompt("Prompt.").await.is_err());
            sub.prompt("Look around.").await.unwrap();
            if compacts {
                todo.compacted();
            }
            agent.prompt("Prompt, again.").await.unwrap();
        });
        let requests = bytes(&model.requests());
        for messages in &requests {
            assert_eq!(holding(messages, "the user changed the list"), 1);
            assert!(messages.last().unwrap().contains("Prompt"));
        }
        assert_eq!(holding(&requests[1], SNAPSHOT), usize::from(compacts));
        assert_eq!(serde_json::to_value(todo.saved()).unwrap()["state"]["pace"]["requests"], 1);
    }
}
