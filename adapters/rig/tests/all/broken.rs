//! Runs that break off: dropped in the middle of a round, or failed and left out of the history.

use std::sync::{Arc, Mutex};

use futures::StreamExt;
use rig_agent::AgentBuilder;
use rig_agent::agent::{Agent, AgentHook, DispatchAction, DispatchEvent, HookContext, OutcomeAction, OutcomeEvent};
use rig_core::completion::Message;
use serde_json::json;
use session_todo::Policy;
use session_todo_rig::{Handle, Saved};
use tokio::sync::Notify;

use crate::script::{
    Response, assert_in_order, assert_prefix_stable, bash, block_on, bytes, holding, model, prompt, session_of, work,
};

const REMINDER: &str = "has not changed for a while";

/// A prompt whose run reaches its most turns.
async fn fail(agent: &Agent, words: &str, history: &[Message], streaming: bool) {
    let runner = agent.prompt(words).history(history.to_vec());
    if streaming {
        let ends: Vec<_> = runner.stream().collect().await;
        assert!(ends.last().unwrap().is_err());
    } else {
        assert!(runner.await.is_err());
    }
}

/// E1: rig keeps nothing of a run that failed, and the next one starts from the history before it. What was
/// reminded of there is said again before the new words, once, and stays where it is.
#[test]
fn e1_a_history_without_the_run_that_failed() {
    for streaming in [false, true] {
        let (todo, model) = (Handle::new(Policy::TODO_HISTORY), model(&session_of(34, &[34]), streaming));
        let agent = |turns| {
            let builder = AgentBuilder::new(model.clone()).preamble("Work.").add_hook(todo.hook());
            builder.dynamic_tools(todo.tools()).dynamic_tool(bash()).default_max_turns(turns).build()
        };
        let _ = todo.edit("todo_write", r#"{"todos":[{"content":"Run the tests"}]}"#);
        block_on(async {
            fail(&agent(14), "Prompt 0.", &[], streaming).await;
            fail(&agent(9), "Prompt 1.", &[], streaming).await;
            prompt(&agent(40), "Prompt 2.", &mut Vec::new(), streaming).await;
        });
        let requests = bytes(&model.requests());
        let runs: Vec<_> = requests.chunk_by(|before, after| before.len() <= after.len()).collect();
        assert_eq!(runs.iter().map(|run| run.len()).collect::<Vec<_>>(), [14, 9, 11]);
        for pair in runs.windows(2) {
            let (before, first) = (pair[0].last().unwrap(), &pair[1][0]);
            assert!(holding(before, "<system-reminder>") > 0);
            assert!(first.last().unwrap().contains(r#"{"type":"text","text":"Prompt"#), "the new words are last");
        }
        for run in runs {
            assert_prefix_stable(run);
        }
        let texts = |messages: &Vec<String>| messages.concat().matches("<system-reminder>").count();
        let count: Vec<_> = requests.iter().map(texts).collect();
        assert!(count.is_sorted() && count.windows(2).all(|pair| pair[1] - pair[0] <= 1), "{count:?}");
        assert_eq!((count[0], count[33]), (1, 4), "the note, and reminders on 11, 19, 27");
    }
}

/// E4: also in a history that was replaced without a word, nothing stands between a call and its result, since
/// rig puts results first.
#[test]
fn e4_nothing_between_a_call_and_its_result() {
    let (todo, model) = (Handle::new(Policy::TODO_HISTORY), model(&session_of(15, &[14, 15]), false));
    let builder = AgentBuilder::new(model.clone()).add_hook(todo.hook()).dynamic_tools(todo.tools());
    let agent = builder.dynamic_tool(bash()).default_max_turns(40).build();
    let mut history = Vec::new();
    block_on(async {
        prompt(&agent, "Prompt 0.", &mut history, false).await;
        history.insert(0, Message::assistant("Before everything."));
        prompt(&agent, "Prompt 1.", &mut history, false).await;
    });
    let last = bytes(&model.requests()).pop().unwrap();
    let reminder = last.iter().position(|message| message.contains(REMINDER)).unwrap();
    assert!(last[reminder - 1].contains("toolcall"));
    assert_in_order(&last[reminder..=reminder], &["toolresult", REMINDER]);
}

/// Never lets a `todo_write` through, and keeps what can be stored once the `TaskCreate` has ended.
#[derive(Clone)]
struct Hang {
    todo: Handle,
    saved: Arc<Mutex<Option<Saved>>>,
    ended: Arc<Notify>,
}

impl AgentHook for Hang {
    async fn on_dispatch(&self, _: &HookContext, event: DispatchEvent<'_>) -> DispatchAction {
        if event.tool_name() == Some("todo_write") {
            std::future::pending::<()>().await;
        }
        DispatchAction::Proceed
    }

    async fn on_outcome(&self, _: &HookContext, event: OutcomeEvent<'_>) -> OutcomeAction {
        if event.tool_name() == Some("TaskCreate") {
            *self.saved.lock().unwrap() = Some(self.todo.saved());
            self.ended.notify_one();
        }
        OutcomeAction::Proceed
    }
}

fn contents(todo: &Handle) -> Vec<String> {
    todo.list().items().iter().map(|item| item.content.clone()).collect()
}

/// `Failed`: a call that had not ended when its run was dropped took no effect: not in what is stored in the
/// middle of the round, not in a snapshot, not in the list; and its response was a round all the same.
#[test]
fn a_run_dropped_in_a_round() {
    let round: Response = vec![
        ("todo_write", json!({"todos":[{"content":"Write it"}]})),
        ("bash", json!({"command":"true"})),
        ("TaskCreate", json!({"subject":"Ship it","description":""})),
    ];
    let (todo, model) = (Handle::new(Policy::DEFAULT), model(&[round, work(), Vec::new()], false));
    let builder = AgentBuilder::new(model.clone()).add_hook(todo.hook()).dynamic_tools(todo.tools());
    let agent = builder.dynamic_tool(bash()).default_max_turns(9).build();
    let hang = Hang { todo: todo.clone(), saved: Arc::default(), ended: Arc::default() };
    block_on(async {
        tokio::select! {
            ended = agent.prompt("Prompt.").add_hook(hang.clone()).tool_concurrency(4) => panic!("{ended:?}"),
            () = hang.ended.notified() => {}
        }
        assert_eq!(contents(&todo), ["Write it", "Ship it"], "taken for granted until the run is over");
        todo.compacted();
        assert_eq!(contents(&todo), ["Ship it"]);
        prompt(&agent, "Go on.", &mut vec![Message::user("Summary.")], false).await;
    });
    let first = &bytes(&model.requests())[1];
    assert_in_order(first, &["Summary.", "Ship it", "Go on."]);
    assert!(!first.concat().contains("Write it"));

    let saved = hang.saved.lock().unwrap().take().unwrap();
    assert_eq!(serde_json::to_value(&saved).unwrap()["state"]["pace"]["called"], true);
    assert_eq!(contents(&Handle::resume(Policy::DEFAULT, saved)), ["Ship it"]);
}
