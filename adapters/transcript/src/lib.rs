//! Session logs of agent products, read as [`session_todo::Event`]s.
//!
//! A reader is given a log line by line, and hands on what it finds in the order of the file, which is
//! the order of the session (R2): time stamps and parent links say less. It translates and decides
//! nothing: whether a call changes the list is the core's to say.
//!
//! ```
//! use session_todo::{Policy, Session};
//! use session_todo_transcript::{ClaudeCode, Found, read};
//!
//! let log = br#"{"type":"assistant","sessionId":"s","message":{"id":"m1","content":[{"type":"tool_use","id":"t1","name":"TaskCreate","input":{"subject":"Run the tests"}}]}}
//! {"type":"user","sessionId":"s","toolUseResult":{"task":{"id":"1"}},"message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}}"#;
//!
//! let mut session = Session::new(Policy::DEFAULT);
//! read(&log[..], &mut ClaudeCode::new(), &mut |found| {
//!     if let Found::Event(event) = found {
//!         let _ = session.step(&event);
//!     }
//! })?;
//! assert_eq!(session.list().items()[0].content, "Run the tests");
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! What a log can't say is not guessed: a call whose result never came is [`Found::Pending`] at the end of
//! the log, a damaged line is [`Found::Skipped`] with its place (R1, R7).

mod claude_code;
mod lines;
mod product;
mod recorded;
mod skim;

use std::io::{self, Read};

use session_todo::Event;

pub use claude_code::ClaudeCode;
use lines::Lines;
pub use product::Product;
pub use recorded::{Family, Recorded, Verdict};

/// What a reader finds, in the order of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Found<'a> {
    /// An event of the session.
    Event(Event<'a>),
    /// A sub-agent of this id came to its end here. Its calls stand in a log of its own.
    Agent(&'a str),
    /// The product put a reminder of its own on the next request.
    Reminded,
    /// The product recorded the list as it stood here (R8).
    Recorded(Recorded<'a>),
    /// A call of this tool has no result, and the log goes on: it is taken as one that ran (R1).
    Unanswered(&'a str),
    /// A call of this tool has no result, and the log ends: it is not an event (R1).
    Pending(&'a str),
    /// A part of the log that can't be read. The rest is (R7).
    Skipped(Skipped),
}

/// A part of a log that was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The line, from 1.
    pub line: u64,
    /// Where the part begins, in bytes from the start of the log.
    pub offset: u64,
    /// What is wrong with it.
    pub why: &'static str,
}

/// Who is told what is found.
pub type Sink<'s> = &'s mut dyn FnMut(Found<'_>);

/// Reads a log to its end. Memory is one line, and 8 bytes for each distinct call and response.
///
/// # Errors
///
/// Only what reading the log itself gives; damage inside it is [`Found::Skipped`].
pub fn read(log: impl Read, reader: &mut ClaudeCode, found: Sink<'_>) -> io::Result<()> {
    let mut lines = Lines::new(log);
    while let Some(line) = lines.next_line()? {
        if line.had_nul {
            found(Found::Skipped(line.skipped(0, "NUL bytes")));
        }
        reader.line(&line, found);
    }
    reader.end(found);
    Ok(())
}
