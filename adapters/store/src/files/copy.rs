//! A log read where it lies: a copy, or the log of a program that runs. Nothing is locked, cut or cached.

use std::io::{self, Read};

use super::line::{self, Append, Bad, Place};
use super::scan::Lines;
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
    first.starts_with(line::BEFORE_CRC) && memchr::memmem::find(first, b"\"format\":\"session-todo-log\"").is_some()
}

/// Gives out the records of a log up to its end, or to where it is not as it was written. An append of several
/// records counts only as a whole.
///
/// # Errors
///
/// What reading gives.
pub fn read_log(log: impl Read, mut each: impl FnMut(Version, Record<'_>)) -> io::Result<Option<Flaw>> {
    let (mut lines, mut at) = (Lines::new(log), Place::START);
    // The lines of an append whose last part has not come, each with its place.
    let mut append: Vec<(Place, Vec<u8>)> = Vec::new();
    while let Some(line) = lines.next_line()? {
        let next = match line.verify(at) {
            Ok((_, next)) => next,
            Err(bad) => return Ok(Some(flaw(at, bad))),
        };
        append.push((at, line.bytes.to_vec()));
        at = next;
        if at.append == Append::Whole {
            if let Err(flaw) = give_out(&append, &mut each) {
                return Ok(Some(flaw));
            }
            append.clear();
        }
    }
    Ok(append.first().map(|&(began, _)| flaw(began, Bad::Changed("the last append ends early"))))
}

fn give_out(append: &[(Place, Vec<u8>)], each: &mut impl FnMut(Version, Record<'_>)) -> Result<(), Flaw> {
    let mut records = Vec::with_capacity(append.len());
    for (at, line) in append {
        records.push((at.version.plus(1), line::record(line).map_err(|bad| flaw(*at, bad))?));
    }
    for (version, record) in records {
        each(version, record);
    }
    Ok(())
}

/// A log has a line for each record, and so a record before each line.
const fn flaw(at: Place, bad: Bad) -> Flaw {
    let why = match bad {
        Bad::Changed(why) => why,
        Bad::Later => "its checksum is right, and this release can't read it: the log is of a later one",
    };
    Flaw { line: at.version.0 + 1, offset: at.offset, why }
}
