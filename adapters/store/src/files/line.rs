//! One line of a log.
//!
//! ```json
//! {"crc":"5f0c9a4e","seq":7,"event":{"request_sent":{"by":"main"}}}
//! ```
//!
//! The checksum stands in front, has a fixed width, and covers what follows it in the line together with the
//! checksum of the line before. So it says of the whole log up to this line that it is as it was written: a
//! line that is changed, missing, moved, or from another log breaks the chain. An append of several records has
//! `"part":[1,3]` and so on, and counts only when the last part is there.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use session_todo::limits;

use crate::id::SessionId;
use crate::record::{Record, Version};

/// The first line states it.
const NAME: &str = "session-todo-log";
/// A cached state hides the first line, so whoever raises this raises the cache's number too.
pub(crate) const FORMAT: u32 = 1;

/// Bytes of a line. The largest record that counts is a policy with a state, of which the list and a user's copy of it
/// hold [`limits::FIELDS`] each, or a call with [`limits::ARGUMENTS`], and a byte becomes six in JSON: 3 MiB either way.
/// What a model wrote beyond the limit is refused, and logged all the same, so there is room for five times that.
pub(crate) const LONGEST: usize = 32 * limits::ARGUMENTS;
const _: () = assert!(LONGEST > 5 * 6 * limits::ARGUMENTS && LONGEST > 5 * 6 * 2 * limits::FIELDS);

pub(crate) const BEFORE_CRC: &[u8] = b"{\"crc\":\"";
const AFTER_CRC: &[u8] = b"\",";
const BODY: usize = BEFORE_CRC.len() + 8 + AFTER_CRC.len();

/// A place between two lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The record before it.
    pub(crate) version: Version,
    /// In bytes from the file's start.
    pub(crate) offset: u64,
    /// The checksum of the line before it, and so of all lines before it.
    pub(crate) crc: u32,
    pub(crate) append: Append,
}

impl Place {
    pub(crate) const START: Self = Self { version: Version::START, offset: 0, crc: 0, append: Append::Whole };
}

/// Where in an append a place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Append {
    /// Behind its last line.
    Whole,
    /// Behind this part of so many.
    Open(u64, u64),
    /// A cached state does not say.
    Unknown,
}

impl Append {
    /// Where a line with this part leads from here; parts come in order, and all of them.
    const fn then(self, part: Option<(u64, u64)>) -> Option<Self> {
        let (part, of) = match part {
            Some(part) => part,
            None => (1, 1),
        };
        let follows = match self {
            Self::Whole => part == 1,
            Self::Open(before, all) => of == all && part == before + 1,
            Self::Unknown => part >= 1,
        };
        match (follows, part < of) {
            (true, true) => Some(Self::Open(part, of)),
            (true, false) if part == of => Some(Self::Whole),
            _ => None,
        }
    }
}

/// Why a line is not the next one of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bad {
    /// It is not as it was written.
    Changed(&'static str),
    /// Its checksum is right, so it is as it was written, and can't be read: a later release wrote it.
    Later,
}

/// What every line says beside its record, and the first one beside its policy.
#[derive(Deserialize)]
pub(crate) struct Head<'a> {
    #[serde(default)]
    pub(crate) seq: u64,
    part: Option<(u64, u64)>,
    #[serde(borrow)]
    format: Option<Cow<'a, str>>,
    version: Option<u32>,
    #[serde(borrow)]
    pub(crate) session: Option<Cow<'a, str>>,
    #[serde(borrow)]
    event: Option<&'a RawValue>,
    #[serde(borrow)]
    policy: Option<&'a RawValue>,
}

impl<'a> Head<'a> {
    /// What a line says of itself, whether or not it can be trusted. None if it says nothing that can be read.
    pub(crate) fn claimed(line: &'a [u8]) -> Option<Self> {
        serde_json::from_slice(line).ok()
    }

    const fn is_record(&self) -> bool {
        self.event.is_some() != self.policy.is_some()
    }

    /// Whether the line claims to be written by an append that had this record before it.
    pub(crate) fn is_of_append_with(&self, earlier: u64) -> bool {
        let before = self.part.map_or(0, |(part, _)| part.saturating_sub(1));
        (self.seq.saturating_sub(before)..self.seq).contains(&earlier)
    }

    /// The format, where it is ours but not this one.
    pub(crate) fn other_format(&self) -> Option<u32> {
        let named = self.format.as_deref() == Some(NAME);
        self.version.filter(|&version| named && version != FORMAT)
    }

    fn is_first(&self) -> bool {
        let is_ours = self.format.as_deref() == Some(NAME) && self.version == Some(FORMAT);
        is_ours && self.session.is_some() && self.policy.is_some()
    }
}

/// A line that stands where it was written, and the place after it.
pub(crate) fn verify(line: &[u8], at: Place) -> Result<(Head<'_>, Place), Bad> {
    let crc = stated_crc(line).ok_or(Bad::Changed("it does not begin with a checksum"))?;
    if crc != checksum(at.crc, line) {
        return Err(Bad::Changed("the checksum differs"));
    }
    let head = Head::claimed(line).ok_or(Bad::Later)?;
    if at == Place::START && !head.is_first() {
        return Err(Bad::Changed("it does not begin a log of this format"));
    }
    if !head.is_record() {
        return Err(Bad::Later);
    }
    let version = at.version.plus(1);
    if head.seq != version.0 {
        return Err(Bad::Changed("the sequence number differs"));
    }
    let append = at.append.then(head.part).ok_or(Bad::Changed("the parts of its append are not in order"))?;
    Ok((head, Place { version, offset: at.offset + line.len() as u64 + 1, crc, append }))
}

/// The record of a line that was verified.
pub(crate) fn record(line: &[u8]) -> Result<Record<'_>, Bad> {
    #[derive(Deserialize)]
    struct Payload<'a> {
        #[serde(borrow)]
        event: Option<session_todo::Event<'a>>,
        #[serde(borrow)]
        policy: Option<Policy<'a>>,
    }
    #[derive(Deserialize)]
    struct Policy<'a> {
        #[serde(borrow)]
        name: Cow<'a, str>,
        state: Box<session_todo::State>,
    }
    match serde_json::from_slice(line) {
        Ok(Payload { event: Some(event), policy: None }) => Ok(Record::Event(event)),
        Ok(Payload { event: None, policy: Some(Policy { name, state }) }) => Ok(Record::Policy { name, state }),
        _ => Err(Bad::Later),
    }
}

/// Whether these bytes, where the first line should be, can be what is left of one, with zeros for what was not
/// written.
pub(crate) fn may_begin(bytes: &[u8]) -> bool {
    const BEGINNING: &[u8] = b"{\"crc\":\"........\",\"seq\":1,\"";
    let is_ours = |(byte, ours): (&u8, &u8)| byte == ours || *byte == 0 || *ours == b'.' && byte.is_ascii_hexdigit();
    !bytes.is_empty() && bytes.iter().zip(BEGINNING).all(is_ours)
}

/// The lines of an append, and the place after them.
pub(crate) fn write(
    session: &SessionId,
    at: Place,
    records: &[Record<'_>],
) -> Result<(Vec<u8>, Place), serde_json::Error> {
    let mut bytes = Vec::with_capacity(256 * records.len());
    let mut place = at;
    for (part, record) in (1..).zip(records) {
        let start = bytes.len();
        let seq = place.version.plus(1);
        bytes.extend_from_slice(b"{\"crc\":\"00000000\",\"seq\":");
        bytes.extend_from_slice(seq.to_string().as_bytes());
        if records.len() > 1 {
            bytes.extend_from_slice(format!(",\"part\":[{part},{}]", records.len()).as_bytes());
        }
        if seq.0 == 1 {
            let session = serde_json::to_string(session.as_str())?;
            let first = format!(",\"format\":\"{NAME}\",\"version\":{FORMAT},\"session\":{session}");
            bytes.extend_from_slice(first.as_bytes());
        }
        let open = bytes.len();
        serde_json::to_writer(&mut bytes, record)?;
        // The record's one key joins the line's.
        bytes.iter_mut().skip(open).take(1).for_each(|brace| *brace = b',');
        let crc = checksum(place.crc, bytes.get(start..).unwrap_or_default());
        let digits = format!("{crc:08x}");
        bytes.iter_mut().skip(start + BEFORE_CRC.len()).zip(digits.bytes()).for_each(|(byte, digit)| *byte = digit);
        bytes.push(b'\n');
        place = Place { version: seq, offset: at.offset + bytes.len() as u64, crc, append: Append::Whole };
    }
    Ok((bytes, place))
}

/// The length of the first line that nobody would read again.
pub(crate) fn too_long(lines: &[u8]) -> Option<usize> {
    lines.split(|byte| *byte == b'\n').map(<[u8]>::len).find(|&length| length > LONGEST)
}

fn stated_crc(line: &[u8]) -> Option<u32> {
    let (digits, rest) = line.strip_prefix(BEFORE_CRC)?.split_at_checked(8)?;
    let lower = digits.iter().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
    let digits = std::str::from_utf8(digits).ok().filter(|_| lower && rest.starts_with(AFTER_CRC))?;
    u32::from_str_radix(digits, 16).ok()
}

fn checksum(before: u32, line: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&before.to_le_bytes());
    hasher.update(line.get(BODY..).unwrap_or_default());
    hasher.finalize()
}
