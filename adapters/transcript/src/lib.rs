//! Session logs of agent products, read as [`session_todo::Event`]s.
//!
//! A reader is given a log line by line, and hands on what it finds in the order of the file, which is
//! the order of the session (R2): time stamps and parent links say less. It translates and decides
//! nothing: whether a call changes the list is the core's to say.
//!
//! ```
//! use session_todo::{Policy, Session};
//! use session_todo_transcript::{Found, Product, read};
//!
//! let log = br#"{"type":"assistant","sessionId":"s","message":{"id":"m1","content":[{"type":"tool_use","id":"t1","name":"TaskCreate","input":{"subject":"Run the tests"}}]}}
//! {"type":"user","sessionId":"s","toolUseResult":{"task":{"id":"1"}},"message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}}"#;
//!
//! let mut session = Session::new(Policy::DEFAULT);
//! let product = Product::of(log).expect("it shows itself");
//! read(product, &log[..], &mut |found| {
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

mod chat;
mod claude_code;
mod cline;
mod codex;
mod document;
mod gemini;
mod kimi;
mod lines;
mod open_calls;
mod opencode;
mod opencode_db;
mod parts;
mod product;
mod qwen;
mod recorded;
mod records;
mod roo;
mod skim;

use std::io::{self, Read};

use session_todo::Event;

use claude_code::ClaudeCode;
use codex::Codex;
use kimi::Kimi;
use lines::{Line, Look, Shows, each_line};
pub use opencode_db::{Database, StoredSession};
pub use product::Product;
use qwen::Qwen;
pub use recorded::{Family, Recorded, Verdict};

/// What a reader finds, in the order of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Found<'a> {
    /// An event of the session.
    Event(Event<'a>),
    /// A sub-agent of this id came to its end here. Its calls stand in a log of its own.
    Agent(&'a str),
    /// The session began in another log, whose name ends in this id: as many bytes of it come before (R2).
    Continues {
        /// The other log's id.
        log: &'a str,
        /// How much of it.
        bytes: u64,
    },
    /// The product put a reminder of its own on the next request.
    Reminded,
    /// The product recorded the list as it stood here (R8).
    Recorded(Recorded<'a>),
    /// A turn begins here: what a rewind counts.
    Turn,
    /// The product took back this many turns, the latest first: the list is as it was when the earliest of
    /// them began, or as far back as the log says (R2).
    Rewound {
        /// How many.
        turns: u64,
    },
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

/// A reader of logs that hold one record a line.
trait LineReader {
    /// What a look at a line shows, where most lines are not worth more.
    fn look(&self) -> Look {
        |_| Shows::Other
    }
    /// Reads one line, which may hold more than one record.
    fn line(&mut self, line: &Line<'_>, found: Sink<'_>);
    /// The end of the log.
    fn end(&mut self, found: Sink<'_>);
}

/// Reads a product's log to its end. Memory is four blocks of lines, each half a MiB or one longer line; 8 bytes
/// for each distinct call and response; and the calls of the last response.
///
/// # Errors
///
/// What reading the log itself gives, and a product that is only recognised; damage inside a log is
/// [`Found::Skipped`].
pub fn read(product: Product, log: impl Read + Send, found: Sink<'_>) -> io::Result<()> {
    match product {
        Product::ClaudeCode => lines(log, &mut ClaudeCode::default(), found),
        Product::Codex => lines(log, &mut Codex::default(), found),
        Product::Gemini => gemini::read(log, found),
        Product::Qwen => lines(log, &mut Qwen::default(), found),
        Product::Kimi => lines(log, &mut Kimi::default(), found),
        Product::OpenCode => opencode::read(&document::whole(log)?, found),
        Product::Roo | Product::Cline => chat::read(&document::whole(log)?, found),
        Product::Sqlite => Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "a database, which is read by its path: it holds more than one session",
        )),
        _ => Err(io::Error::new(
            io::ErrorKind::Unsupported,
            format!("a session log of {product}, which is not read yet"),
        )),
    }
}

fn lines(log: impl Read + Send, reader: &mut dyn LineReader, found: Sink<'_>) -> io::Result<()> {
    let end = each_line(log, reader.look(), |line| {
        if let Some(offset) = line.nul {
            found(Found::Skipped(Skipped { line: line.number, offset, why: "NUL bytes" }));
        }
        reader.line(line, found);
    });
    // What was read before an error is told.
    reader.end(found);
    end
}
