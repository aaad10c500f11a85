//! Reading a log forward from a place: whole lines, where they end, and what is wrong with the rest.

use std::io::{self, Read};

use super::disk::DiskFile;
use super::line::{self, Append, Bad, Head, Place};

/// Bytes of one read. A longer line takes several, each twice the last.
const CHUNK: usize = 64 * 1024;

/// A part of a file.
pub(crate) struct Section<'f> {
    pub(crate) file: &'f mut dyn DiskFile,
    pub(crate) offset: u64,
    pub(crate) end: u64,
}

impl Read for Section<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end.saturating_sub(self.offset)).unwrap_or(usize::MAX).min(bytes.len());
        let read = self.file.read_at(self.offset, bytes.get_mut(..left).unwrap_or_default())?;
        self.offset += read as u64;
        Ok(read)
    }
}

/// What stands between two line breaks.
#[derive(Clone, Copy)]
pub(crate) struct Line<'a> {
    /// Without its line break, if there is one.
    pub(crate) bytes: &'a [u8],
    pub(crate) end: LineEnd,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineEnd {
    /// A line break.
    Break,
    /// What is read ends.
    Early,
    /// It goes on beyond what any line of ours has. Nothing behind is read.
    TooLong,
}

impl<'a> Line<'a> {
    fn has_zeros(self) -> bool {
        memchr::memchr(0, self.bytes).is_some()
    }

    /// What the line says, if it stands here, and the place after it.
    pub(crate) fn verify(self, at: Place) -> Result<(Head<'a>, Place), Bad> {
        match self.end {
            LineEnd::Break => line::verify(self.bytes, at),
            LineEnd::Early => Err(Bad::Changed("the last line ends early")),
            LineEnd::TooLong => Err(Bad::Changed("a line is longer than any that is written")),
        }
    }
}

/// The lines of a log, in one buffer that is as long as the longest line.
pub(crate) struct Lines<R> {
    source: R,
    buffer: Vec<u8>,
    /// Where the next line begins in the buffer.
    next: usize,
}

impl<'f> Lines<Section<'f>> {
    pub(crate) fn of(file: &'f mut dyn DiskFile, offset: u64, end: u64) -> Self {
        Self::new(Section { file, offset, end })
    }
}

impl<R: Read> Lines<R> {
    pub(crate) const fn new(source: R) -> Self {
        Self { source, buffer: Vec::new(), next: 0 }
    }

    pub(crate) fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        let start = self.next;
        if let Some(length) = self.unread(0) {
            return Ok(self.take(start, length, LineEnd::Break));
        }
        self.buffer.drain(..start);
        self.next = 0;
        loop {
            let searched = self.buffer.len();
            if searched > line::LONGEST {
                return Ok(self.take(0, searched, LineEnd::TooLong));
            }
            if self.fill()? == 0 {
                return Ok(if searched == 0 { None } else { self.take(0, searched, LineEnd::Early) });
            }
            if let Some(length) = self.unread(searched) {
                return Ok(self.take(0, length, LineEnd::Break));
            }
        }
    }

    /// The length of the next line, of which so much was searched for its end.
    fn unread(&self, searched: usize) -> Option<usize> {
        let unsearched = self.buffer.get(self.next + searched..)?;
        memchr::memchr(b'\n', unsearched).map(|end| searched + end)
    }

    fn take(&mut self, start: usize, length: usize, end: LineEnd) -> Option<Line<'_>> {
        self.next = start + length + usize::from(end == LineEnd::Break);
        let bytes = self.buffer.get(start..start + length)?;
        let end = if length > line::LONGEST { LineEnd::TooLong } else { end };
        Some(Line { bytes, end })
    }

    fn fill(&mut self) -> io::Result<usize> {
        let held = self.buffer.len();
        self.buffer.resize(held + held.max(CHUNK), 0);
        let read = loop {
            match self.source.read(self.buffer.get_mut(held..).unwrap_or_default()) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        self.buffer.truncate(held + read.as_ref().copied().unwrap_or_default());
        read
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
    /// A log of a later format.
    Format(u32),
    /// A line of a later release.
    Later,
}

/// Reads on to the end of a file of this size, and judges what is there.
pub(crate) fn to_end(file: &mut dyn DiskFile, from: Place, size: u64) -> io::Result<End> {
    let mut lines = Lines::of(file, from.offset, size);
    let (mut at, mut place, mut session) = (from, from, None);
    loop {
        let Some(line) = lines.next_line()? else {
            let rest = if at == place { Rest::Nothing } else { Rest::Torn("the last append ends early") };
            return Ok(End { place, session, rest });
        };
        match line.verify(at) {
            Ok((head, next)) => {
                if at == Place::START {
                    session = head.session.as_deref().map(str::to_owned);
                }
                at = next;
                if at.append == Append::Whole {
                    place = at;
                }
            }
            Err(bad) => {
                let first = judge(line, at, bad);
                let rest = if let Rest::Torn(_) = first { judge_rest(&mut lines, at, first)? } else { first };
                return Ok(End { place, session, rest });
            }
        }
    }
}

/// The first line that is not as it was written. A broken write leaves one without its end, or with zeros in place
/// of what was not written; a line of ours holds none.
fn judge(line: Line<'_>, at: Place, bad: Bad) -> Rest {
    let why = match bad {
        Bad::Changed(why) => why,
        Bad::Later => return Rest::Later,
    };
    let format = || Head::claimed(line.bytes).and_then(|head| head.other_format());
    match line.end {
        LineEnd::Break if let Some(format) = format() => Rest::Format(format),
        _ if at == Place::START && !line::may_begin(line.bytes) => Rest::Damaged("it is not a log of ours"),
        LineEnd::Early => Rest::Torn(why),
        LineEnd::Break if line.has_zeros() => Rest::Torn(why),
        LineEnd::Break | LineEnd::TooLong => Rest::Damaged(why),
    }
}

/// What follows it: other lines of the same append, and what is left of them. Anything else was written later, so the
/// broken line was not the last thing written.
fn judge_rest(lines: &mut Lines<Section<'_>>, at: Place, torn: Rest) -> io::Result<Rest> {
    let broken = at.version.plus(1).0;
    while let Some(line) = lines.next_line()? {
        let is_broken = line.end == LineEnd::Early || line.has_zeros();
        let is_of_append = || Head::claimed(line.bytes).is_some_and(|head| head.is_of_append_with(broken));
        if line.end == LineEnd::TooLong || !is_broken && !is_of_append() {
            return Ok(Rest::Damaged("a line is broken, and whole ones follow it"));
        }
    }
    Ok(torn)
}
