//! Logs that are one JSON document: read whole, and as far as they go (R7).

use std::io::{self, Read};

use memchr::memchr_iter;

use crate::skim::{Members, value};
use crate::{Found, Sink, Skipped};

/// The largest document that is read.
const LARGEST: u64 = 1 << 30;

/// A document, and the place up to which its lines are counted.
pub(crate) struct Document<'a> {
    bytes: &'a [u8],
    counted: usize,
    line: u64,
}

/// What is done with an element of a document, and with the end of the document that it begins.
type Each<'e, 'a> = &'e mut dyn FnMut(&mut Document<'a>, &'a [u8], &'a [u8], Sink<'_>);

/// The whole of a log.
pub(crate) fn whole(log: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    log.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "a document of more than 1 GiB"));
    }
    Ok(bytes)
}

impl<'a> Document<'a> {
    pub(crate) const fn of(bytes: &'a [u8]) -> Self {
        Self { bytes, counted: 0, line: 1 }
    }

    /// Its text, without a byte-order mark before it.
    pub(crate) fn text(&self) -> &'a [u8] {
        self.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(self.bytes).trim_ascii_start()
    }

    /// The line on which this end of the document begins. Asked for in the order of the document.
    pub(crate) fn line_of(&mut self, rest: &[u8]) -> u64 {
        let at = self.bytes.len().saturating_sub(rest.len());
        let passed = self.bytes.get(self.counted..at).unwrap_or_default();
        self.line += memchr_iter(b'\n', passed).count() as u64;
        self.counted = self.counted.max(at);
        self.line
    }

    /// Reports that the document can't be read from here on.
    pub(crate) fn skipped(&mut self, rest: &[u8], why: &'static str, found: Sink<'_>) {
        let offset = self.bytes.len().saturating_sub(rest.len()) as u64;
        found(Found::Skipped(Skipped { line: self.line_of(rest), offset, why }));
    }

    /// Hands on the elements of an array that this end of the document begins with, each with where it
    /// begins, and gives what stands behind the array; none where it is damaged, which is reported.
    pub(crate) fn elements(&mut self, array: &'a [u8], found: Sink<'_>, each: Each<'_, 'a>) -> Option<&'a [u8]> {
        let Some(mut rest) = array.strip_prefix(b"[") else {
            let (_, behind) = value(array)?;
            return Some(behind);
        };
        loop {
            rest = rest.trim_ascii_start();
            if let Some(behind) = rest.strip_prefix(b"]") {
                return Some(behind);
            }
            rest = rest.strip_prefix(b",").unwrap_or(rest).trim_ascii_start();
            let Some((element, behind)) = value(rest) else {
                self.skipped(rest, "the document is cut off", found);
                return None;
            };
            each(self, element, rest, found);
            rest = behind;
        }
    }

    /// Hands on the elements of the member of this name of the object that the document is.
    pub(crate) fn elements_of(&mut self, name: &[u8], found: Sink<'_>, each: Each<'_, 'a>) {
        let mut members = Members::of(self.text());
        let mut is_whole = true;
        while let Some(key) = members.key() {
            let read = if key == name {
                members.descend(|array| self.elements(array, found, each).map(|behind| ((), behind)))
            } else {
                members.value().map(|_| ())
            };
            is_whole = read.is_some();
            if !is_whole {
                // What is cut inside the array was reported there.
                if key == name {
                    return;
                }
                break;
            }
        }
        if !is_whole || members.behind().is_none() {
            self.skipped(b"", "the document is cut off", found);
        }
    }
}
