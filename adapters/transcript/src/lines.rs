use std::io::{self, Read};

use memchr::memchr;

use crate::Skipped;

/// Bytes that are read at once: few enough to stay in a core's cache while they are looked at.
const CHUNK: usize = 256 * 1024;

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
    pub(crate) const fn skipped(&self, from: usize, why: &'static str) -> Skipped {
        Skipped { line: self.number, offset: self.offset + from as u64, why }
    }
}

/// The lines of a log, in one buffer that grows with the longest of them.
pub(crate) struct Lines<R> {
    log: R,
    buffer: Vec<u8>,
    /// What of the buffer was read and is not handed out yet.
    unread: std::ops::Range<usize>,
    number: u64,
    offset: u64,
}

impl<R: Read> Lines<R> {
    pub(crate) fn new(log: R) -> Self {
        Self { log, buffer: vec![0; CHUNK], unread: 0..0, number: 0, offset: 0 }
    }

    /// The next line that is not blank.
    pub(crate) fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        loop {
            let Some(whole) = self.take()? else { return Ok(None) };
            self.number += 1;
            let start = self.offset;
            self.offset += whole.len() as u64;
            let bytes = self.buffer.get(whole.clone()).unwrap_or_default();
            let kept = trim(bytes);
            let outside = [bytes.get(..kept.start), bytes.get(kept.end..)];
            let had_nul = outside.into_iter().flatten().any(|bytes| memchr(0, bytes).is_some());
            if !kept.is_empty() || had_nul {
                let (number, offset) = (self.number, start + kept.start as u64);
                let kept = whole.start + kept.start..whole.start + kept.end;
                return Ok(Some(Line { number, offset, bytes: self.buffer.get(kept).unwrap_or_default(), had_nul }));
            }
        }
    }

    /// The place of the next line with its end, read from the log as far as it has to be.
    fn take(&mut self) -> io::Result<Option<std::ops::Range<usize>>> {
        let mut looked = 0;
        loop {
            let unread = self.buffer.get(self.unread.clone()).unwrap_or_default();
            if let Some(end) = memchr(b'\n', unread.get(looked..).unwrap_or_default()) {
                let line = self.unread.start..self.unread.start + looked + end + 1;
                self.unread.start = line.end;
                return Ok(Some(line));
            }
            looked = unread.len();
            if self.fill()? == 0 {
                let line = std::mem::replace(&mut self.unread, 0..0);
                return Ok((!line.is_empty()).then_some(line));
            }
        }
    }

    fn fill(&mut self) -> io::Result<usize> {
        self.buffer.copy_within(self.unread.clone(), 0);
        self.unread = 0..self.unread.len();
        if self.buffer.len() - self.unread.end < CHUNK / 2 {
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        loop {
            match self.log.read(self.buffer.get_mut(self.unread.end..).unwrap_or_default()) {
                Ok(read) => {
                    self.unread.end += read;
                    return Ok(read);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
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
