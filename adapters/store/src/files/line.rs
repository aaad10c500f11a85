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

use crate::id::SessionId;
use crate::record::{Record, Version};

/// The first line states it.
const NAME: &str = "session-todo-log";
/// A cached state hides the first line, so whoever raises this raises the cache's number too.
pub(crate) const FORMAT: u32 = 1;

const BEFORE_CRC: &[u8] = b"{\"crc\":\"";
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
}

impl Place {
    pub(crate) const START: Self = Self { version: Version::START, offset: 0, crc: 0 };
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

    /// The first record of the append that wrote the line.
    pub(crate) fn append_began(&self) -> u64 {
        let earlier = self.part.map_or(0, |(part, _)| part.saturating_sub(1));
        self.seq.saturating_sub(earlier)
    }

    /// Whether an append ends with the line.
    pub(crate) fn ends_append(&self) -> bool {
        self.part.is_none_or(|(part, of)| part >= of)
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
pub(crate) fn verify(line: &[u8], at: Place) -> Result<(Head<'_>, Place), &'static str> {
    let crc = stated_crc(line).ok_or("it does not begin with a checksum")?;
    if crc != checksum(at.crc, line) {
        return Err("the checksum differs");
    }
    let head = Head::claimed(line).ok_or("it is not a record")?;
    if at == Place::START && !head.is_first() {
        return Err("it does not begin a log of this format");
    }
    if !head.is_record() {
        return Err("it is not a record");
    }
    let version = at.version.plus(1);
    if head.seq != version.0 {
        return Err("the sequence number differs");
    }
    Ok((head, Place { version, offset: at.offset + line.len() as u64 + 1, crc }))
}

/// The record of a line that was verified.
pub(crate) fn record(line: &[u8]) -> Result<Record<'_>, &'static str> {
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
    let payload = serde_json::from_slice(line).map_err(|_| "the record can't be read")?;
    match payload {
        Payload { event: Some(event), policy: None } => Ok(Record::Event(event)),
        Payload { event: None, policy: Some(Policy { name, state }) } => Ok(Record::Policy { name, state }),
        _ => Err("it is not a record"),
    }
}

/// Whether these bytes, where the first line should be, can be what is left of one, with zeros for what was not
/// written.
pub(crate) fn may_begin(bytes: &[u8]) -> bool {
    !bytes.is_empty() && bytes.iter().zip(BEFORE_CRC).all(|(byte, ours)| byte == ours || *byte == 0)
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
        place = Place { version: seq, offset: at.offset + bytes.len() as u64, crc };
    }
    Ok((bytes, place))
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
