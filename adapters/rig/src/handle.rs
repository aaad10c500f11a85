use std::sync::{Arc, Mutex, MutexGuard};

use rig_core::tool::DynamicTool;
use serde::{Deserialize, Serialize};
use session_todo::{Agent, Event, List, Policy, Session, State, ToolResult};

use crate::ahead::Fold;
use crate::hook::Hook;
use crate::live::{Live, Sent, lock};
use crate::overlay::Overlay;
use crate::tools;

/// A session's list, shared by the agents that work on it and whoever looks at it from outside.
///
/// A clone is the same session.
#[derive(Clone, Debug)]
pub struct Handle {
    policy: Policy,
    live: Arc<Mutex<Live>>,
}

/// What to store beside a history, at any time: with it [`Handle::resume`] goes on where this session was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Saved {
    /// The list and every counter.
    state: State,
    /// What was sent beside the history.
    overlay: Overlay,
    /// A request that has no response yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    in_flight: Option<Sent>,
}

impl Handle {
    /// A session that starts.
    #[must_use]
    pub fn new(policy: Policy) -> Self {
        let session = Session::new(policy.clone());
        Self::of(policy, Live::new(Fold::new(session), Overlay::default(), None))
    }

    /// A session that goes on after its process had ended.
    #[must_use]
    pub fn resume(policy: Policy, saved: Saved) -> Self {
        let Saved { state, overlay, in_flight } = saved;
        let mut fold = Fold::new(Session::resume(policy.clone(), state));
        fold.step(Event::Resumed);
        Self::of(policy, Live::new(fold, overlay, in_flight))
    }

    fn of(policy: Policy, live: Live) -> Self {
        Self { policy, live: Arc::new(Mutex::new(live)) }
    }

    fn lock(&self) -> MutexGuard<'_, Live> {
        lock(&self.live)
    }

    /// The tools that the policy offers, for `AgentBuilder::dynamic_tools`. They are the same for the whole
    /// session, and answer only where a hook of this handle is.
    #[must_use]
    pub fn tools(&self) -> Vec<DynamicTool> {
        tools::offered(&self.policy)
    }

    /// The hook of the session's own agent, for `AgentBuilder::add_hook`.
    #[must_use]
    pub fn hook(&self) -> Hook {
        self.hook_of(Agent::Main)
    }

    /// The hook of an agent that the session's own uses as a tool. Its calls never move the clock, and
    /// change the list only where the policy shares it (A7).
    #[must_use]
    pub fn sub_hook(&self) -> Hook {
        self.hook_of(Agent::Sub)
    }

    fn hook_of(&self, agent: Agent) -> Hook {
        let offered = self.policy.tools().map(|tool| tool.name).collect();
        Hook::new(agent, offered, Arc::clone(&self.live))
    }

    /// The list as it stands.
    #[must_use]
    pub fn list(&self) -> List {
        self.lock().fold.session().list().clone()
    }

    /// Rises with every change of the list: one compare tells whether to draw it again.
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.lock().fold.session().list().revision()
    }

    /// A person's edit, as a call of one of the list's tools; the model is told with its next request
    /// (L13). None where no tool of the list's has that name.
    #[must_use]
    pub fn edit(&self, tool: &str, arguments: &str) -> Option<ToolResult> {
        self.lock().edited(tool.to_owned(), arguments.to_owned())
    }

    /// The list for whoever writes the summary at a compaction (A7). None where it is empty.
    #[must_use]
    pub fn context_for_summary(&self) -> Option<String> {
        self.lock().fold.session().context_for_summary()
    }

    /// To be called when the history was replaced by a summary, before the next request: that one carries
    /// the snapshot of the list after everything that was kept (A5).
    pub fn compacted(&self) {
        self.lock().compacted();
    }

    /// What to store beside the history. A call that has not ended yet took no effect in it: a stored run
    /// that goes on calls it again.
    #[must_use]
    pub fn saved(&self) -> Saved {
        let mut live = self.lock().clone();
        live.close();
        let Live { fold, overlay, in_flight, .. } = live;
        Saved { state: fold.session().state().clone(), overlay, in_flight }
    }
}
