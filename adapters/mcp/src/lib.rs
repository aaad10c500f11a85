//! The list's tools over the Model Context Protocol, on standard input and output.
//!
//! A client starts a server process, asks which tools there are, and calls them. Each call is one
//! [`Event::ToolCalled`](session_todo::Event::ToolCalled) by main, stepped and logged in one
//! [`transaction`](session_todo_store::transaction), and the answer goes out when the log has the event. So
//! any number of servers can serve one session at once, also beside the client's hooks.
//!
//! # Which session
//!
//! The protocol does not say whose call a call is. A server serves one list, and takes the first of these
//! ([`Served`]) that it finds:
//!
//! 1. the session it was told: `--session`;
//! 2. `SESSION_TODO_SESSION`, which `session-todo install opencode` sets in that client's settings;
//! 3. `CLAUDE_CODE_SESSION_ID`, which Claude Code gives each server it starts (seen in 2.1.197 and 2.1.328, after a
//!    `--resume` too), so that hooks and server work on one list without a word of settings;
//! 4. none of them: a list of this process alone. It is in the log folder like any other, under an id that
//!    nobody else has.
//!
//! The variables are those of the server's start, and a running client goes over to another session: at `/clear`, say
//! (seen in Claude Code 2.1.197 and 2.1.332). So under 3 the command asks at each call what the client's hooks, where
//! they are installed, have noted of it ([`Server::with_whose`]): which session it is of, and whether a sub-agent makes
//! it. Without the hooks a server goes on with the list that it began with.
//!
//! # What it can't do
//!
//! It sees its own tools' calls and nothing else, no request and no compaction: so there are no reminders, no
//! notes and no snapshots here. They are the hooks' part. And a call by a sub-agent looks like one by main, unless
//! somebody else knows better ([`Server::with_whose`]).
//!
//! # What is an error
//!
//! A name that is no tool of the list's is an error of the protocol. What a tool refuses, bad arguments
//! above all, is an answer with `isError`, since the model is who can mend it. So is a log that can't be
//! written: nothing was changed then, and the text says why.
//!
//! The arguments reach the core as the client wrote them, byte for byte and whatever they are: a client that
//! sends the object as a string is understood (C1), and an extra keeps its own JSON text (C9).
//!
//! The tools are no "Tasks" in the protocol's sense, which are calls that take long: that capability is not
//! announced, and `TaskList` is a tool's name, not a method's.

mod lines;
mod served;
mod server;

pub use served::{CLAUDE_CODE, Served, Why};
pub use server::{Failed, Server};
