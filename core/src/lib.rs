//! The task list of an LLM agent loop, as a pure, event-sourced state machine.
//!
//! An agent that works for hours loses its plan: the list is pushed out of the context, vanishes at a
//! compaction, comes back wrong after a resume. Here the list is a fold. Four [`Event`]s go in, at most
//! one [`Effect`] comes out of each, and the log of events is the only truth:
//!
//! | event | what the loop does with the effect |
//! |---|---|
//! | [`Event::ToolCalled`] | [`Effect::ReturnToolResult`]: answers the call |
//! | [`Event::RequestSent`] | [`Effect::AppendSystemReminder`]: puts a text on the request that is about to leave |
//! | [`Event::Compacted`] | [`Effect::InjectCompactSnapshot`]: puts the open items into the new context |
//! | [`Event::Resumed`] | none; the next request may carry a note |
//!
//! ```
//! use session_todo::{Agent, Call, Caller, Effect, Event, Outcome, Policy, Session};
//!
//! let mut session = Session::new(Policy::DEFAULT);
//! let call = Call {
//!     by: Caller::Main,
//!     name: "todo_write".into(),
//!     arguments: r#"{"todos":[{"content":"Run the tests","status":"in_progress"}]}"#.into(),
//!     outcome: Outcome::Ours,
//! };
//! assert_eq!(session.step(&Event::RequestSent { by: Agent::Main }), None);
//! let Some(Effect::ReturnToolResult(answer)) = session.step(&Event::ToolCalled(call)) else { unreachable!() };
//! assert!(answer.text.contains("#1 [in_progress] Run the tests"));
//! ```
//!
//! # Laws
//!
//! A loop logs the event, steps, and uses the effect, in this order; after a crash it folds the log again
//! and uses the effect of the last event if it had not (P5). That is sound because of these laws, each of
//! which `tests/` checks on random logs; every small log is compared with a model that has no counters:
//!
//! 1. [`Session::step`] never panics and never fails, on any bytes.
//! 2. The same policy and events give the same state and the same bytes of every effect, everywhere.
//! 3. A log folded at once, in two halves, or from a stored state gives the same state.
//! 4. A tool result comes for every [`Outcome::Ours`] call of a list tool by main, sub or user, and for nothing else.
//! 5. A refused or failed call changes nothing but what the clock counts for a call of any tool.
//! 6. Numbers that we assign never repeat; limits hold; [`State::check`] holds after every event.
//! 7. A sub-agent's events leave main's list (unless shared or [`Outcome::Ran`]) and clock alone; records and
//!    edits leave the clock alone.
//! 8. Reminders come on exactly the requests that the whole log asks for.
//! 9. The block of a snapshot, given to `todo_write` on an empty list, gives the carried items.
//! 10. A document that fits a published schema is understood.
//! 11. A checkpoint read back is the state; damage is an error.
//!
//! # Where to look
//!
//! [`Session`] has the one `match` on the event. A [`Policy`] is data and says what products do
//! differently. The [`State`] is what to store. [`limits`] bounds it.

#![no_std]

extern crate alloc;

/// The README's example is compiled and run with the documentation's.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

mod change;
#[cfg(feature = "rkyv")]
pub mod checkpoint;
mod effect;
mod event;
pub mod limits;
mod list;
mod pace;
pub mod policy;
mod refusal;
mod session;
mod shown;
mod slot;
mod state;
mod text;
mod tools;
mod write;

pub use change::{Called, Carried, Change, Done, Wrote};
pub use effect::{Effect, Lane, Reminder, Snapshot, ToolResult};
pub use event::{Agent, Call, Caller, Event, Outcome};
pub use list::{BrokenList, Extra, Item, List, Status};
pub use policy::Policy;
pub use refusal::{Field, KnownIds, Refusal};
pub use session::Session;
pub use state::{BrokenState, State};
pub use tools::{Dialect, Mended, Tool, ToolDef, understand};
