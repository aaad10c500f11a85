//! Reading a log forward from a place: whole lines, where they end, and what is wrong with the rest.

use std::io;

use super::disk::DiskFile;
use super::line::{self, Head, Place};

/// Bytes of one read. A longer line takes several, each twice the last.
const CHUNK: usize = 64 * 1024;

/// What stands between two line breaks.
#[derive(Clone, Copy)]
pub(crate) struct Line<'a> {
    /// Without its line break.
    pub(crate) bytes: &'a [u8],
    /// Whether there is one.
    pub(crate) is_whole: bool,
}

/// The lines of a part of a file, in one buffer that is as long as the longest line.
pub(crate) struct Lines<'f> {
    file: &'f mut dyn DiskFile,
    offset: u64,
    end: u64,
    buffer: Vec<u8>,
    /// Where the next line begins in the buffer.
    next: usize,
}

impl<'f> Lines<'f> {
    pub(crate) fn new(file: &'f mut dyn DiskFile, offset: u64, end: u64) -> Self {
        Self { file, offset, end, buffer: Vec::new(), next: 0 }
    }

    pub(crate) fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        let start = self.next;
        if let Some(length) = self.unread(0) {
            return Ok(self.take(start, length, true));
        }
        self.buffer.drain(..start);
        loop {
            let searched = self.buffer.len();
            if self.fill()? == 0 {
                return Ok(if searched == 0 { None } else { self.take(0, searched, false) });
            }
            self.next = 0;
            if let Some(length) = self.unread(searched) {
                return Ok(self.take(0, length, true));
            }
        }
    }

    /// The length of the next line, of which so much was searched for its end.
    fn unread(&self, searched: usize) -> Option<usize> {
        let unsearched = self.buffer.get(self.next + searched..)?;
        memchr::memchr(b'\n', unsearched).map(|end| searched + end)
    }

    fn take(&mut self, start: usize, length: usize, is_whole: bool) -> Option<Line<'_>> {
        self.next = start + length + usize::from(is_whole);
        let bytes = self.buffer.get(start..start + length)?;
        Some(Line { bytes, is_whole })
    }

    fn fill(&mut self) -> io::Result<usize> {
        let held = self.buffer.len();
        let left = usize::try_from(self.end.saturating_sub(self.offset)).unwrap_or(usize::MAX);
        if left == 0 {
            return Ok(0);
        }
        self.buffer.resize(held + held.max(CHUNK).min(left), 0);
        let read = self.file.read_at(self.offset, self.buffer.get_mut(held..).unwrap_or_default());
        self.buffer.truncate(held + read.as_ref().copied().unwrap_or_default());
        match read {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => self.fill(),
            Err(error) => Err(error),
            Ok(bytes) => {
                self.offset += bytes as u64;
                Ok(bytes)
            }
        }
    }
}

/// How a log ends.
#[derive(Debug)]
pub(crate) struct End {
    /// The place after the last whole append.
    pub(crate) place: Place,
    /// The session that the first line names, if the first line was read.
    pub(crate) session: Option<String>,
    /// What is behind that place.
    pub(crate) rest: Rest,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Rest {
    Nothing,
    /// What a broken write leaves.
    Torn(&'static str),
    /// What no broken write leaves: a line that was changed, or one that others follow.
    Damaged(&'static str),
    /// A line of a later release.
    Format(u32),
}

/// Reads on to the end of a file of this size, and judges what is there.
pub(crate) fn to_end(file: &mut dyn DiskFile, from: Place, size: u64) -> io::Result<End> {
    let mut lines = Lines::new(file, from.offset, size);
    let (mut at, mut place, mut session) = (from, from, None);
    loop {
        let Some(line) = lines.next_line()? else {
            let rest = if at == place { Rest::Nothing } else { Rest::Torn("the last append ends early") };
            return Ok(End { place, session, rest });
        };
        match whole(line).and_then(|bytes| line::verify(bytes, at)) {
            Ok((head, next)) => {
                if at == Place::START {
                    session = head.session.as_deref().map(str::to_owned);
                }
                at = next;
                if head.ends_append() {
                    place = at;
                }
            }
            Err(why) => {
                let first = judge(line, at, why);
                let rest = if let Rest::Torn(_) = first { judge_rest(&mut lines, at, first)? } else { first };
                return Ok(End { place, session, rest });
            }
        }
    }
}

fn whole(line: Line<'_>) -> Result<&[u8], &'static str> {
    if line.is_whole { Ok(line.bytes) } else { Err("the last line ends early") }
}

/// The first line that is not as it was written. A broken write leaves one without its end, or with zeros in place
/// of what was not written; a line of ours holds none.
fn judge(line: Line<'_>, at: Place, why: &'static str) -> Rest {
    if at == Place::START && !line::may_begin(line.bytes) {
        return Rest::Damaged("it is not a log of ours");
    }
    if !line.is_whole || memchr::memchr(0, line.bytes).is_some() {
        return Rest::Torn(why);
    }
    let format = Head::claimed(line.bytes).and_then(|head| head.other_format());
    format.map_or(Rest::Damaged(why), Rest::Format)
}

/// What follows it: if a later append does, the broken line was not the last thing written.
fn judge_rest(lines: &mut Lines<'_>, at: Place, torn: Rest) -> io::Result<Rest> {
    let broken = at.version.plus(1).0;
    while let Some(line) = lines.next_line()? {
        let claimed = Head::claimed(line.bytes).filter(|_| line.is_whole);
        if claimed.is_some_and(|head| head.append_began() > broken) {
            return Ok(Rest::Damaged("a line is broken, and whole ones follow it"));
        }
    }
    Ok(torn)
}
