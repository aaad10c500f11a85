//! Where a session's log is kept, so that nothing is lost and nobody's change is overwritten.
//!
//! A log is a sequence of [`Record`]s, numbered from 1. The first one names the policy, every other is an
//! event, or a change to another policy together with the state that it starts from (P6). A log only grows,
//! at its end, and only for who knows the end: an append states the version it expects, and if somebody else
//! was faster it is a conflict that says the actual version. So two processes never overwrite each other, and
//! neither has to hold a lock while it thinks.
//!
//! There are two stores, and one trait:
//!
//! | store | for |
//! |---|---|
//! | [`Files`] | one machine: a file of JSON lines a session, which `jq` and people read |
//! | `Postgres` (feature `postgres`) | many machines |
//!
//! Most programs need two functions. [`open`] takes a session up where its log ends. [`transaction`] reads,
//! steps and appends, again if there was a conflict, and hands out the effects when the log has the events:
//!
//! ```
//! use session_todo::{Call, Caller, Event, Outcome, Policy};
//! use session_todo_store::{Files, SessionId, Sync, open, transaction};
//!
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path();
//! let mut store = Files::open(folder, Sync::Each)?;
//! let id = SessionId::new("a session")?;
//! let (answer, version) = transaction(&mut store, &id, &Policy::DEFAULT, |work| {
//!     work.step(Event::ToolCalled(Call {
//!         by: Caller::Main,
//!         name: "todo_write".into(),
//!         arguments: r#"{"todos":[{"content":"Run the tests"}]}"#.into(),
//!         outcome: Outcome::Ours,
//!     }))
//! })?;
//! assert_eq!(version.0, 2, "the policy, and the call");
//!
//! // After a crash: the session, and what the last event asked for (P5).
//! let opened = open(&mut store, &id)?.expect("it has a log");
//! assert_eq!(opened.session.list().items()[0].content, "Run the tests");
//! assert_eq!(opened.effect, answer);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Only an append changes a log. Who reads needs no right to write, shares the lock, and leaves what a broken write left;
//! the next append cuts it off, keeps it beside the log if it can, and reports it ([`Files::take_torn`]).
//!
//! A cached state saves folding a long log. It is only ever a cache: on any doubt it is dropped and the log is
//! folded. It is never of the log's last event, so that this event's effect can be had again (P5).

mod error;
mod files;
mod home;
mod id;
#[cfg(feature = "postgres")]
mod postgres;
mod record;
mod session;
mod store;

pub use error::{AppendError, StoreError};
pub use files::{Access, Checked, Disk, DiskFile, Fate, FileId, Files, Flaw, Sync, Torn, is_log, read_log};
pub use home::home;
pub use id::{BadSessionId, SessionId};
#[cfg(feature = "postgres")]
pub use postgres::Postgres;
pub use record::{Cached, Record, Version};
pub use session::{Opened, Work, open, transaction};
pub use store::{Each, Store};
