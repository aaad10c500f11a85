//! A log read where it lies: a copy, or the log of a program that runs. Nothing is locked, cut or cached.

use std::io::{self, BufRead};

use super::line::{self, Place};
use crate::record::{Record, Version};

/// Where a log is not as it was written. What is before is good, and nothing behind is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flaw {
    /// The line, from 1.
    pub line: u64,
    /// Where the line begins, in bytes from the start of the log.
    pub offset: u64,
    /// What is wrong with it.
    pub why: &'static str,
}

/// Whether a file that begins like this is a log of ours.
#[must_use]
pub fn is_log(head: &[u8]) -> bool {
    let first = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    line::may_begin(first) && memchr::memmem::find(first, b"\"format\":\"session-todo-log\"").is_some()
}

/// Gives out the records of a log up to its end, or to where it is not as it was written. An append of several
/// records counts only as a whole.
///
/// # Errors
///
/// What reading gives.
pub fn read_log(mut log: impl BufRead, mut each: impl FnMut(Version, Record<'_>)) -> io::Result<Option<Flaw>> {
    let mut at = Place::START;
    // The lines of an append whose last part has not come.
    let mut append: Vec<(Version, Vec<u8>)> = Vec::new();
    loop {
        let flaw = |why| Ok(Some(Flaw { line: at.version.0 + 1, offset: at.offset, why }));
        let mut bytes = Vec::new();
        if log.read_until(b'\n', &mut bytes)? == 0 {
            return if append.is_empty() { Ok(None) } else { flaw("the last append ends early") };
        }
        if bytes.pop() != Some(b'\n') {
            return flaw("the last line ends early");
        }
        let (is_whole, next) = match line::verify(&bytes, at) {
            Ok((head, next)) => (head.ends_append(), next),
            Err(why) => return flaw(why),
        };
        append.push((next.version, bytes));
        if is_whole {
            for (version, bytes) in append.drain(..) {
                match line::record(&bytes) {
                    Ok(record) => each(version, record),
                    Err(why) => return flaw(why),
                }
            }
        }
        at = next;
    }
}
