//! E1 and section 5: the persisted lanes over 30 requests.

use rig_agent::AgentBuilder;
use rig_agent::agent::{AgentHook, HookContext, ModelTurnAction, ModelTurnFinished, RunSettled};
use rig_core::completion::Message;
use rig_core::message::AssistantContent;
use session_todo::policy::Clock;
use session_todo::{Lane, Policy};
use session_todo_rig::Handle;
use std::sync::{Arc, Mutex};

use crate::script::{
    assert_in_order, assert_prefix_stable, bash, block_on, bytes, holding, model, prompt, said, session_of, write,
};

/// The requests with a reminder, and the request bodies, of a session whose runs end at these responses.
fn play(policy: &Policy, texts: &[usize], streaming: bool) -> (Vec<Vec<String>>, Vec<Message>) {
    let script = session_of(30, texts);
    let model = model(&script, streaming);
    let todo = Handle::new(policy.clone());
    let builder = AgentBuilder::new(model.clone()).preamble("Work.").add_hook(todo.hook());
    let agent = builder.dynamic_tools(todo.tools()).dynamic_tool(bash()).default_max_turns(40).build();
    let mut history = Vec::new();
    block_on(async {
        for run in 0..texts.len() {
            prompt(&agent, &format!("Prompt {run}."), &mut history, streaming).await;
        }
    });
    assert_eq!(todo.list().items()[0].content, "Run the tests");
    (bytes(&model.requests()), history)
}

/// Each request holds the reminders of all requests up to it, each once, and no other.
fn assert_reminders(policy: &Policy, texts: &[usize], requests: &[Vec<String>]) -> Vec<usize> {
    let said = said(policy.clone(), &session_of(30, texts));
    assert_eq!(requests.len(), said.len());
    let on: Vec<usize> = (1..).zip(&said).filter_map(|(number, effect)| effect.is_some().then_some(number)).collect();
    let text = &said.iter().flatten().next().unwrap().text;
    for (number, messages) in (1..).zip(requests) {
        let so_far = on.iter().filter(|request| **request <= number).count();
        assert_eq!(holding(messages, text), so_far, "request {number}");
        let is_new = on.contains(&number);
        let last_two = &messages[messages.len().saturating_sub(2)..];
        assert_eq!(holding(last_two, text), usize::from(is_new), "request {number}");
    }
    on
}

/// The case "write in response 2, N = M = 8": 11, 19, 27.
#[test]
fn e1_thirty_requests_three_reminders() {
    for streaming in [false, true] {
        for texts in [&[30][..], &[15, 30], &[10, 18, 30], &[11, 26, 27, 28, 30]] {
            let (requests, history) = play(&Policy::TODO_HISTORY, texts, streaming);
            assert_prefix_stable(&requests);
            assert_eq!(assert_reminders(&Policy::TODO_HISTORY, texts, &requests), [11, 19, 27]);
            let own: Vec<String> = history.iter().map(|m| serde_json::to_string(m).unwrap()).collect();
            assert_eq!(holding(&own, "<system-reminder>"), 0, "rig's own history holds none");
        }
    }
}

/// Lane `ToolResult`, which without a result about to be sent is `History`.
#[test]
fn e1_lane_tool_result() {
    let policy = Policy { lane: Lane::ToolResult, ..Policy::TODO_HISTORY };
    for texts in [&[30][..], &[10, 30]] {
        let (requests, _) = play(&policy, texts, false);
        assert_prefix_stable(&requests);
        assert_eq!(assert_reminders(&policy, texts, &requests), [11, 19, 27]);
    }
}

/// Spec 5: with a person's message that was not sent yet, before its words; else at the end.
#[test]
fn history_before_words_that_were_not_sent() {
    let (requests, _) = play(&Policy::TODO_HISTORY, &[10, 30], false);
    assert_in_order(&requests[10], &["Answer 10.", "<system-reminder>", "Prompt 1."]);
    assert_in_order(&requests[18][requests[18].len() - 2..], &["toolcall", "toolresult", "<system-reminder>"]);
    assert!(requests[18].last().unwrap().contains("</system-reminder>\"}]"), "the last part");
}

/// The texts are in the run's own record, word for word.
#[derive(Clone, Default)]
struct Spy(Arc<Mutex<Vec<serde_json::Value>>>);

impl AgentHook for Spy {
    async fn on_run_settled(&self, context: &HookContext, _: RunSettled<'_>) {
        let entries = context.entries("session-todo.placed");
        *self.0.lock().unwrap() = entries.into_iter().map(|entry| entry.value["text"].clone()).collect();
    }
}

#[test]
fn texts_are_in_the_runs_own_record() {
    let script = session_of(30, &[30]);
    let (todo, spy) = (Handle::new(Policy::TODO_HISTORY), Spy::default());
    let builder = AgentBuilder::new(model(&script, false)).add_hook(todo.hook()).add_hook(spy.clone());
    let agent = builder.dynamic_tools(todo.tools()).dynamic_tool(bash()).default_max_turns(40).build();
    block_on(prompt(&agent, "Prompt.", &mut Vec::new(), false));
    let said: Vec<_> = said(Policy::TODO_HISTORY, &script).into_iter().flatten().map(|said| said.text).collect();
    assert_eq!(*spy.0.lock().unwrap(), said);
}

/// Rejects the first answer of each run, to be tried again.
struct TryAgain;

impl AgentHook for TryAgain {
    async fn on_model_turn_finished(&self, context: &HookContext, event: ModelTurnFinished<'_>) -> ModelTurnAction {
        let rejected = context.scratchpad().contains::<bool>();
        let is_text = !event.content.iter().any(|part| matches!(part, AssistantContent::ToolCall(_)));
        if rejected || !is_text {
            return ModelTurnAction::Continue;
        }
        context.scratchpad().insert(true);
        ModelTurnAction::repeat()
    }
}

/// A request whose response was rejected was sent: what is new comes after its words, never before.
#[test]
fn after_words_that_were_sent() {
    let policy = Policy { clock: Clock::EveryRequest, max_unanswered: None, ..Policy::DEFAULT };
    let script = [write("Run the tests"), Vec::new(), Vec::new(), Vec::new(), Vec::new()];
    let (todo, model) = (Handle::new(policy), model(&script, false));
    let builder = AgentBuilder::new(model.clone()).add_hook(todo.hook()).add_hook(TryAgain);
    let agent = builder.dynamic_tools(todo.tools()).default_max_turns(9).build();
    let mut history = Vec::new();
    block_on(async {
        prompt(&agent, "Prompt 0.", &mut history, false).await;
        prompt(&agent, "Prompt 1.", &mut history, false).await;
    });
    let requests = bytes(&model.requests());
    let (sent, again) = (requests[3].concat(), requests[4].concat());
    let upto_words = &sent[..=sent.find("Prompt 1.").unwrap()];
    assert!(upto_words.contains("<system-reminder>") && again.starts_with(upto_words));
    assert_in_order(&requests[4], &["<system-reminder>", "Prompt 1.", "<system-reminder>"]);
}
