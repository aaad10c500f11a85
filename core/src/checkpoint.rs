//! A [`State`] as bytes: a cache of its JSON form, read without parsing (feature `rkyv`).
//!
//! The archive's own validation does not notice another schema: old bytes pass as other values. So a
//! header goes before it, and whatever does not match is an error: drop the cache, and fold the log or
//! read the JSON instead.
//!
//! | bytes | what |
//! |---|---|
//! | 0..8 | `STODOCKP` |
//! | 8..12 | schema: a number, to be raised with every change of an archived type |
//! | 12..16 | layout: byte order, pointer width and alignment that rkyv was built with |
//! | 16..20 | length of the archive |
//! | 20..24 | CRC-32 of all else |
//! | 24.. | the archive |

use alloc::vec::Vec;
use core::any::TypeId;

use rkyv::primitive::ArchivedU32;
use rkyv::rancor::Error;
use rkyv::rend;
use rkyv::util::AlignedVec;

use crate::list::{ArchivedStatus, Status};
use crate::state::{ArchivedState, BrokenState, State};

const MAGIC: [u8; 8] = *b"STODOCKP";
/// The number of the archived types' shape. `tests/golden` holds a checkpoint of each.
const SCHEMA: u32 = 1;
const HEADER: usize = 24;
const CHECKSUM: core::ops::Range<usize> = 20..24;

/// Bytes that are not a checkpoint of this build.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BrokenCheckpoint {
    /// Another schema, layout or length than this build writes, or no checkpoint at all.
    #[error("not a checkpoint of this build: {0} differs")]
    Header(&'static str),
    /// The bytes are damaged.
    #[error("the checkpoint is damaged: {0}")]
    Damaged(&'static str),
    /// The bytes are whole, but what they hold breaks a rule.
    #[error(transparent)]
    State(#[from] BrokenState),
}

/// The bytes of a state.
///
/// # Errors
///
/// Only where memory for the archive can't be had.
pub fn to_bytes(state: &State) -> Result<Vec<u8>, BrokenCheckpoint> {
    let archive = rkyv::to_bytes::<Error>(state).map_err(|_| BrokenCheckpoint::Damaged("it can't be written"))?;
    let mut bytes = Vec::with_capacity(HEADER + archive.len());
    bytes.extend_from_slice(&header(archive.len()));
    bytes.extend_from_slice(&archive);
    let sum = checksum(&bytes);
    for (byte, summed) in bytes.iter_mut().skip(CHECKSUM.start).zip(sum.to_le_bytes()) {
        *byte = summed;
    }
    Ok(bytes)
}

/// The state of these bytes.
///
/// # Errors
///
/// Anything but the unchanged bytes of [`to_bytes`] of this schema and layout.
pub fn from_bytes(bytes: &[u8]) -> Result<State, BrokenCheckpoint> {
    let archive = archive(bytes)?;
    // It has to stand where its types may.
    let mut aligned = AlignedVec::<16>::with_capacity(archive.len());
    aligned.extend_from_slice(archive);
    let state: State = rkyv::deserialize::<State, Error>(access(&aligned)?)
        .map_err(|_| BrokenCheckpoint::Damaged("the archive can't be read"))?;
    state.check()?;
    Ok(state)
}

/// The list of a checkpoint, read where it stands: nothing is copied, so a look at ten thousand sessions costs
/// little. That the bytes are the ones that were written is checked, and that they are in order; not again the
/// rules of a list, which it followed when it was written.
#[derive(Clone, Copy)]
pub struct View<'a>(&'a ArchivedState);

/// The list of these bytes, which begin at an address that 8 divides, as what an allocator gives does.
///
/// # Errors
///
/// As [`from_bytes`], and bytes that begin elsewhere.
pub fn view(bytes: &[u8]) -> Result<View<'_>, BrokenCheckpoint> {
    access(archive(bytes)?).map(View)
}

impl<'a> View<'a> {
    /// Whether the list reads as empty for now (A1).
    #[must_use]
    pub const fn is_set_aside(&self) -> bool {
        self.0.set_aside
    }

    /// Id, content and status of the items, in order.
    #[must_use]
    pub fn items(&self) -> impl ExactSizeIterator<Item = (&'a str, &'a str, Status)> {
        let items = self.0.list.items.iter();
        items.map(|item| (item.id.as_str(), item.content.as_str(), status(&item.status)))
    }
}

const fn status(archived: &ArchivedStatus) -> Status {
    match archived {
        ArchivedStatus::Pending => Status::Pending,
        ArchivedStatus::InProgress => Status::InProgress,
        ArchivedStatus::Blocked => Status::Blocked,
        ArchivedStatus::Completed => Status::Completed,
        ArchivedStatus::Cancelled => Status::Cancelled,
    }
}

/// The archive behind a header that matches.
fn archive(bytes: &[u8]) -> Result<&[u8], BrokenCheckpoint> {
    let (head, archive) = bytes.split_at_checked(HEADER).ok_or(BrokenCheckpoint::Header("length"))?;
    let ours = header(archive.len());
    for (name, range) in [("magic", 0..8), ("schema", 8..12), ("layout", 12..16), ("length", 16..20)] {
        if head.get(range.clone()) != ours.get(range) {
            return Err(BrokenCheckpoint::Header(name));
        }
    }
    if head.get(CHECKSUM) != Some(&checksum(bytes).to_le_bytes()) {
        return Err(BrokenCheckpoint::Damaged("the checksum differs"));
    }
    Ok(archive)
}

fn access(archive: &[u8]) -> Result<&ArchivedState, BrokenCheckpoint> {
    rkyv::access::<ArchivedState, Error>(archive).map_err(|_| BrokenCheckpoint::Damaged("the archive is not valid"))
}

/// The header with the checksum left out.
fn header(length: usize) -> [u8; HEADER] {
    let length = u32::try_from(length).unwrap_or(u32::MAX);
    let mut header = [0; HEADER];
    let fields = MAGIC.into_iter().chain(SCHEMA.to_le_bytes()).chain(layout().to_le_bytes());
    for (byte, field) in header.iter_mut().zip(fields.chain(length.to_le_bytes())) {
        *byte = field;
    }
    header
}

/// What other crates of a build can switch in rkyv, as this build has it.
fn layout() -> u32 {
    let little = [TypeId::of::<rend::u32_le>(), TypeId::of::<rend::unaligned::u32_ule>()];
    let first = u8::from(little.contains(&TypeId::of::<ArchivedU32>()));
    let pointer = u8::try_from(size_of::<rkyv::primitive::ArchivedUsize>()).unwrap_or(u8::MAX);
    let aligned = u8::try_from(align_of::<rkyv::primitive::ArchivedU64>()).unwrap_or(u8::MAX);
    u32::from_le_bytes([first, pointer, aligned, 0])
}

/// CRC-32 of all bytes but its own: it finds every single flipped bit.
fn checksum(bytes: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(bytes.get(..CHECKSUM.start).unwrap_or_default());
    hasher.update(bytes.get(CHECKSUM.end..).unwrap_or_default());
    hasher.finalize()
}
