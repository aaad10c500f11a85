//! The session TODO list in a [rig](rig_agent) agent.
//!
//! A [`Handle`] is the session. It gives an agent the list's tools and one hook, which sees every request
//! and every call, unary and streaming. From outside it shows the list, takes a person's edit, and is told
//! of a compaction. Your loop in twelve lines:
//!
//! ```
//! # use rig_core::test_utils::{MockCompletionModel, MockTurn};
//! # let plan = serde_json::json!({"todos":[{"content":"Run the tests"}]});
//! # let model = MockCompletionModel::from_turns([MockTurn::tool_call("1", "todo_write", plan), MockTurn::text("Done.")]);
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! use rig_agent::AgentBuilder;
//! use session_todo::Policy;
//! use session_todo_rig::Handle;
//!
//! let todo = Handle::new(Policy::DEFAULT);
//! let agent = AgentBuilder::new(model)
//!     .add_hook(todo.hook()) // before other hooks, so that they see the list's answers
//!     .dynamic_tools(todo.tools())
//!     .default_max_turns(50)
//!     .build();
//! let mut history = Vec::new();
//! agent.chat("Get the tests to pass.", &mut history).await?;
//! assert_eq!(todo.list().items()[0].content, "Run the tests");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Nothing that was sent changes
//!
//! rig rebuilds each request from a history of its own, which holds no reminder. So each text is kept word
//! for word, with its place, and put back into every later request: the messages of a request are the first
//! messages of the next one, until a compaction (E1). The texts are user text, since rig moves system
//! messages to the front for some models. They are kept in the [`Handle`], for the runs to come, and in the
//! run's own record, so that a stored run brings its own. [`Handle::saved`] is what to store beside a history.
//!
//! A handle belongs to one history. rig keeps nothing of a run that failed; where the next one starts from the
//! history before it, what was said since is said again at its end. One agent serves many conversations if the
//! hook is left out of the builder, and each prompt brings the one of its conversation:
//! `agent.prompt(words).add_hook(todo.hook())`.
//!
//! # In call order
//!
//! The calls of a response are folded in call order, whatever order the tools end in. Where another hook is
//! still asking a person about one list call while a later one of the same response has already run, the
//! later one's answer takes the earlier for granted; if it is denied after all, the list is folded again
//! without it. Waiting instead could hang: rig does not say that a hook has stopped a run in the middle of
//! its calls.
//!
//! Add the hook before others: they see the list's answers then, and what they take over from rig (a call of
//! an unknown tool, a response to be tried again) does not hide a response from it. One run of the session's
//! own agent at a time; its subs may run side by side.
//!
//! # Sub-agents
//!
//! An agent that is used as a tool gets [`Handle::sub_hook`]: its requests and calls are a sub's (A7). With
//! a list of its own, give it a [`Handle`] of its own.

mod ahead;
mod handle;
mod hook;
mod live;
mod overlay;
mod tools;

pub use handle::{Handle, Saved};
pub use hook::Hook;
