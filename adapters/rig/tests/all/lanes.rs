//! Lane `LastUserMessage`: the outgoing copy only.

use rig_agent::AgentBuilder;
use rig_core::completion::Message;
use session_todo::Policy;
use session_todo_rig::Handle;

use crate::script::{bash, block_on, bytes, holding, model, prompt, said, session_of};

fn history_of(policy: Option<&Policy>, texts: &[usize]) -> (Vec<Message>, Vec<Vec<String>>) {
    let model = model(&session_of(12, texts), false);
    let todo =
        Handle::new(policy.cloned().unwrap_or(Policy { gate: session_todo::policy::Gate::Open, ..Policy::DEFAULT }));
    let builder = AgentBuilder::new(model.clone()).add_hook(todo.hook());
    let agent = builder.dynamic_tools(todo.tools()).dynamic_tool(bash()).default_max_turns(40).build();
    let mut history = Vec::new();
    block_on(async {
        for run in 0..texts.len() {
            prompt(&agent, &format!("Prompt {run}."), &mut history, false).await;
        }
    });
    (history, bytes(&model.requests()))
}

/// The history is that of a run with reminders off, and the text is in exactly the outgoing copies that
/// the core says, on the last message that a person wrote.
#[test]
fn in_the_outgoing_copy_alone() {
    for texts in [&[12][..], &[5, 12]] {
        let policy = Policy::TODO_EVERY_REQUEST;
        let (with, requests) = history_of(Some(&policy), texts);
        let (without, _) = history_of(None, texts);
        assert_eq!(with, without);
        for (messages, said) in requests.iter().zip(said(policy, &session_of(12, texts))) {
            let words = messages.iter().rposition(|message| message.contains("Prompt ")).unwrap();
            assert_eq!(holding(messages, "<system-reminder>"), usize::from(said.is_some()));
            assert_eq!(holding(&messages[words..=words], "<system-reminder>"), usize::from(said.is_some()));
        }
    }
}
