//! A log as blocks of whole lines. The rest of a log that is longer than one block is read and sorted on a
//! thread of its own, so that a core looks for what matters while another reads what does.

use std::io::{self, Read};
use std::mem;
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread;

use memchr::{memchr, memchr_iter, memrchr};

use crate::Skipped;

/// Bytes that are read at once: few enough to stay in a core's cache while they are looked at.
const BLOCK: usize = 512 * 1024;
/// Blocks that are under way: one is filled, one read, and two between them, so that neither side often waits.
const BLOCKS: usize = 4;

/// A line of a log, without its end, and where it stands. Lines end at LF alone.
pub(crate) struct Line<'a> {
    pub(crate) number: u64,
    pub(crate) offset: u64,
    pub(crate) bytes: &'a [u8],
    /// Where NUL bytes stood around it, as file systems leave them after a crash: from the start of the log.
    pub(crate) nul: Option<u64>,
    pub(crate) shows: Shows,
}

impl Line<'_> {
    /// A part that is not read, from this byte of the line.
    pub(crate) const fn skipped(&self, from: usize, why: &'static str) -> Skipped {
        Skipped { line: self.number, offset: self.offset + from as u64, why }
    }
}

/// What a look at a line shows. It knows nothing of the lines before, so it can be had ahead of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shows {
    /// One record that says nothing by itself.
    Nothing,
    /// A response.
    Response {
        /// Whether it holds a call: one.
        call: bool,
    },
    /// Anything else.
    Other,
}

/// A look at a line.
pub(crate) type Look = fn(&[u8]) -> Shows;

/// Hands each line that is not blank to a reader, in order.
pub(crate) fn each_line(log: impl Read + Send, look: Look, mut each: impl FnMut(&Line<'_>)) -> io::Result<()> {
    let mut blocks = Blocks { log, look, carried: Vec::new(), number: 0, offset: 0, end: None };
    let mut first = Block::default();
    blocks.fill(&mut first);
    first.lines().for_each(|line| each(&line));
    if let Some(end) = blocks.end {
        return end;
    }
    thread::scope(|scope| {
        let (full, filled) = sync_channel(BLOCKS);
        let (empty, to_fill) = channel();
        for block in [first].into_iter().chain((1..BLOCKS).map(|_| Block::default())) {
            // The other end lives until all are filled.
            let _ = empty.send(block);
        }
        let ahead = thread::Builder::new().spawn_scoped(scope, move || blocks.fill_all(&to_fill, &full))?;
        for block in filled {
            block.lines().for_each(|line| each(&line));
            let _ = empty.send(block);
        }
        ahead.join().unwrap_or_else(|panic| resume_unwind(panic))
    })
}

/// Whole lines of a log.
#[derive(Default)]
struct Block {
    bytes: Vec<u8>,
    places: Vec<Place>,
}

/// A line's place in its block and in the log.
struct Place {
    number: u64,
    offset: u64,
    range: Range<usize>,
    nul: Option<u64>,
    shows: Shows,
}

impl Block {
    fn lines(&self) -> impl Iterator<Item = Line<'_>> {
        self.places.iter().map(|place| Line {
            number: place.number,
            offset: place.offset,
            bytes: self.bytes.get(place.range.clone()).unwrap_or_default(),
            nul: place.nul,
            shows: place.shows,
        })
    }
}

/// A log on its way into blocks.
struct Blocks<R> {
    log: R,
    look: Look,
    /// What was read of a line whose end was not.
    carried: Vec<u8>,
    number: u64,
    offset: u64,
    /// How it ended, once it has.
    end: Option<io::Result<()>>,
}

impl<R: Read> Blocks<R> {
    /// Fills blocks to the end of the log, or until nobody wants more.
    fn fill_all(mut self, to_fill: &Receiver<Block>, full: &SyncSender<Block>) -> io::Result<()> {
        for mut block in to_fill {
            self.fill(&mut block);
            if full.send(block).is_err() || self.end.is_some() {
                break;
            }
        }
        self.end.unwrap_or(Ok(()))
    }

    /// Fills a block with lines: all that are left where the log ends in it, and at least one.
    fn fill(&mut self, block: &mut Block) {
        block.bytes.clear();
        // What a long line took is given back.
        block.bytes.shrink_to(2 * BLOCK);
        mem::swap(&mut block.bytes, &mut self.carried);
        loop {
            let before = block.bytes.len();
            // By no more than a quarter of what a long line has.
            block.bytes.reserve_exact(BLOCK.max(before / 4));
            let read = self.log.by_ref().take(BLOCK as u64).read_to_end(&mut block.bytes);
            self.end = read.map(|read| (read < BLOCK).then_some(())).transpose();
            let end = memrchr(b'\n', block.bytes.get(before..).unwrap_or_default());
            if let Some(end) = end.filter(|_| self.end.is_none()) {
                self.carried.extend(block.bytes.drain(before + end + 1..));
            }
            if end.is_some() || self.end.is_some() {
                return self.split(block);
            }
        }
    }

    fn split(&mut self, block: &mut Block) {
        block.places.clear();
        let ends = memchr_iter(b'\n', &block.bytes).map(|at| at + 1);
        let last = Some(block.bytes.len()).filter(|_| !block.bytes.ends_with(b"\n"));
        let mut start = 0;
        for end in ends.chain(last) {
            let line = block.bytes.get(start..end).unwrap_or_default();
            block.places.extend(self.place(line, start));
            start = end;
        }
    }

    /// The place of a line in its block; none of a blank one.
    fn place(&mut self, line: &[u8], start: usize) -> Option<Place> {
        let kept = trim(line);
        let bytes = line.get(kept.clone()).unwrap_or_default();
        let nul =
            |part: Range<usize>| memchr(0, line.get(part.clone())?).map(|at| self.offset + (part.start + at) as u64);
        let nul = nul(0..kept.start).or_else(|| nul(kept.end..line.len()));
        let offset = self.offset + kept.start as u64;
        self.number += 1;
        self.offset += line.len() as u64;
        // Where its end is missing, more may be.
        let is_whole = bytes.starts_with(b"{") && bytes.ends_with(b"}") && line.ends_with(b"\n");
        let shows = if is_whole { (self.look)(bytes) } else { Shows::Other };
        let range = start + kept.start..start + kept.end;
        (!kept.is_empty() || nul.is_some()).then_some(Place { number: self.number, offset, range, nul, shows })
    }
}

/// The line without white space, NUL bytes and byte-order marks around it.
fn trim(bytes: &[u8]) -> Range<usize> {
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

#[cfg(test)]
#[allow(clippy::indexing_slicing)]
mod tests {
    use super::*;

    fn told(log: impl Read + Send) -> (Vec<(u64, u64, Vec<u8>)>, bool) {
        let mut lines = Vec::new();
        let end = each_line(log, |_| Shows::Other, |line| lines.push((line.number, line.offset, line.bytes.to_vec())));
        (lines, end.is_ok())
    }

    /// Lines of all lengths, more than the blocks that are under way hold, the longest longer than a block.
    fn long_log() -> Vec<u8> {
        let lengths = (0..2_000).map(|at| at * 7_919 % 1_900).chain([3 * BLOCK, 0, BLOCK - 1]);
        let lines = lengths.enumerate().map(|(at, length)| format!("{at}{}\n", "x".repeat(length)));
        lines.collect::<String>().into_bytes()
    }

    #[test]
    fn r7_lines_split_on_lf_alone_however_they_lie_in_blocks() {
        let log = long_log();
        for log in [&log[..], &log[..log.len() - 1], &log[..BLOCK], &log[..=BLOCK], b"", b"\n", b"x"] {
            let mut offset = 0;
            let mut expected = Vec::new();
            for (number, line) in (1_u64..).zip(log.split(|byte| *byte == b'\n')) {
                expected.extend((!line.is_empty()).then(|| (number, offset, line.to_vec())));
                offset += line.len() as u64 + 1;
            }
            assert!(told(log) == (expected, true), "a log of {} bytes", log.len());
        }
    }

    #[test]
    fn what_was_read_before_an_error_is_told() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("the disk"))
            }
        }
        let log = long_log();
        for length in [10, BLOCK, 5 * BLOCK] {
            let (lines, is_whole) = told(log[..length].chain(Broken));
            assert!(lines == told(&log[..length]).0 && !is_whole, "an error behind {length} bytes");
        }
    }
}
