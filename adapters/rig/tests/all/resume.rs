//! A session that is stored and taken up again (D6, P5), from what lies beside the history or in the run.

use rig_agent::AgentBuilder;
use rig_agent::agent::{Agent, AgentHook, AgentRun, HookContext, RunEntry, RunSettled};
use rig_core::completion::Message;
use rig_core::test_utils::MockCompletionModel;
use session_todo::Policy;
use session_todo_rig::{Handle, Saved};
use std::sync::{Arc, Mutex};

use crate::script::{bash, block_on, bytes, holding, model, prompt, session_of};

fn agent(todo: &Handle, model: &MockCompletionModel) -> Agent {
    let builder = AgentBuilder::new(model.clone()).add_hook(todo.hook());
    builder.dynamic_tools(todo.tools()).dynamic_tool(bash()).default_max_turns(40).build()
}

/// D6: the requests of a resumed session are those of one that never stopped, byte for byte.
#[test]
fn d6_a_resumed_session_sends_the_same_bytes() {
    let texts = [4, 10, 13, 20, 30];
    let play = |resumes: bool| {
        let model = model(&session_of(30, &texts), false);
        let mut todo = Handle::new(Policy::TODO_HISTORY);
        let mut history: Vec<Message> = Vec::new();
        for run in 0..texts.len() {
            block_on(prompt(&agent(&todo, &model), &format!("Prompt {run}."), &mut history, false));
            if resumes {
                let stored = serde_json::to_string(&(todo.saved(), &history)).unwrap();
                let (saved, read): (Saved, Vec<Message>) = serde_json::from_str(&stored).unwrap();
                (todo, history) = (Handle::resume(Policy::TODO_HISTORY, saved), read);
            }
        }
        bytes(&model.requests())
    };
    let (stopped, never) = (play(true), play(false));
    assert_eq!(stopped, never);
    assert_eq!(holding(never.last().unwrap(), "<system-reminder>"), 3);
}

#[derive(Clone, Default)]
struct Keep(Arc<Mutex<Vec<RunEntry>>>);

impl AgentHook for Keep {
    async fn on_run_settled(&self, context: &HookContext, _: RunSettled<'_>) {
        *self.0.lock().unwrap() = context.entries("session-todo.placed");
    }
}

/// A stored run brings its texts with it: taken up by a session that knows none of them, what was sent is
/// the beginning of what is sent now.
#[test]
fn a_stored_run_brings_its_own_texts() {
    let (first, keep) = (model(&session_of(20, &[20]), false), Keep::default());
    let mut history = Vec::new();
    let todo = Handle::new(Policy::TODO_HISTORY);
    let builder = AgentBuilder::new(first.clone()).add_hook(todo.hook()).add_hook(keep.clone());
    let before = builder.dynamic_tools(todo.tools()).dynamic_tool(bash()).default_max_turns(40).build();
    block_on(prompt(&before, "Prompt 0.", &mut history, false));

    let mut run = AgentRun::new("Prompt 1.").with_history(history).max_turns(9);
    keep.0.lock().unwrap().drain(..).for_each(|entry| run.append_entry(entry));
    let run: AgentRun = serde_json::from_str(&serde_json::to_string(&run).unwrap()).unwrap();
    let second = MockCompletionModel::text("Done.");
    block_on(async { agent(&Handle::new(Policy::TODO_HISTORY), &second).resume(run).await.unwrap() });

    let (sent, now) = (bytes(&first.requests()), bytes(&second.requests()));
    assert_eq!(holding(&now[0], "<system-reminder>"), 2);
    assert!(now[0].starts_with(sent.last().unwrap()));
}
