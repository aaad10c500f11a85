use std::io::{self, BufRead};

use crate::Skipped;

/// A line of a log, without its end, and where it stands. Lines end at LF alone.
pub(crate) struct Line<'a> {
    pub(crate) number: u64,
    pub(crate) offset: u64,
    pub(crate) bytes: &'a [u8],
    /// Whether NUL bytes stood around it, as file systems leave them after a crash.
    pub(crate) had_nul: bool,
}

impl Line<'_> {
    /// A part that is not read, from this byte of the line.
    pub(crate) fn skipped(&self, from: usize, why: &'static str) -> Skipped {
        Skipped { line: self.number, offset: self.offset + from as u64, why }
    }
}

/// The lines of a log, one at a time in one buffer.
pub(crate) struct Lines<R> {
    log: R,
    buffer: Vec<u8>,
    number: u64,
    offset: u64,
}

impl<R: BufRead> Lines<R> {
    pub(crate) const fn new(log: R) -> Self {
        Self { log, buffer: Vec::new(), number: 0, offset: 0 }
    }

    /// The next line that is not blank.
    pub(crate) fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        loop {
            self.buffer.clear();
            let read = self.log.read_until(b'\n', &mut self.buffer)?;
            if read == 0 {
                return Ok(None);
            }
            self.number += 1;
            let start = self.offset;
            self.offset += read as u64;
            let kept = trim(&self.buffer);
            let around = self.buffer.get(..kept.start).unwrap_or_default();
            let after = self.buffer.get(kept.end..).unwrap_or_default();
            let had_nul = memchr::memchr(0, around).or_else(|| memchr::memchr(0, after)).is_some();
            if !kept.is_empty() || had_nul {
                let offset = start + kept.start as u64;
                let bytes = self.buffer.get(kept).unwrap_or_default();
                return Ok(Some(Line { number: self.number, offset, bytes, had_nul }));
            }
        }
    }
}

/// The line without white space, NUL bytes and byte-order marks around it.
fn trim(bytes: &[u8]) -> std::ops::Range<usize> {
    const MARK: &[u8] = b"\xef\xbb\xbf";
    let outside = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0;
    let mut start = 0;
    loop {
        let rest = bytes.get(start..).unwrap_or_default();
        let skip = rest.iter().take_while(|byte| outside(byte)).count();
        start += skip;
        if rest.get(skip..).is_some_and(|rest| rest.starts_with(MARK)) {
            start += MARK.len();
        } else {
            break;
        }
    }
    let end = bytes.iter().rposition(|byte| !outside(byte)).map_or(start, |last| last + 1);
    start..end.max(start)
}
