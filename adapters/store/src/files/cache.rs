//! A cached state beside its log.
//!
//! | bytes | what |
//! |---|---|
//! | 0..8 | `STODOCAC` |
//! | 8..12 | version of this header |
//! | 12..16 | CRC-32 of the rest of the header and the policy's name |
//! | 16..24 | the last record in the state |
//! | 24..32 | where the next record's line begins in the log |
//! | 32..36 | checksum of the last record's line: it stands for the whole log so far |
//! | 36..40 | length of the policy's name |
//! | 40.. | the policy's name, with zeros up to the next multiple of 8 |
//! | then | the checkpoint of the core, which checks itself |
//!
//! Numbers are little-endian. Whatever does not match makes it no cache. That it is of *this* log shows when the
//! next line is read: its checksum continues the one that is kept here.

use session_todo::checkpoint;

use super::line::{Append, Place};
use crate::record::{Cached, Version};

const MAGIC: &[u8; 8] = b"STODOCAC";
const HEADER: u32 = 1;

/// A cached state, and where in the log it belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cache {
    pub(crate) place: Place,
    pub(crate) cached: Cached,
}

pub(crate) fn to_bytes(cache: &Cache) -> Option<Vec<u8>> {
    let Cache { place, cached: Cached { policy, state, .. } } = cache;
    let checkpoint = checkpoint::to_bytes(state).ok()?;
    let mut covered = Vec::with_capacity(24 + policy.len());
    covered.extend_from_slice(&place.version.0.to_le_bytes());
    covered.extend_from_slice(&place.offset.to_le_bytes());
    covered.extend_from_slice(&place.crc.to_le_bytes());
    covered.extend_from_slice(&u32::try_from(policy.len()).ok()?.to_le_bytes());
    covered.extend_from_slice(policy.as_bytes());
    covered.resize(covered.len().next_multiple_of(8), 0);
    let crc = crc32fast::hash(&covered).to_le_bytes();
    Some([MAGIC.as_slice(), &HEADER.to_le_bytes(), &crc, &covered, &checkpoint].concat())
}

pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Cache> {
    let rest = bytes.strip_prefix(MAGIC)?.strip_prefix(&HEADER.to_le_bytes())?;
    let (crc, covered) = rest.split_first_chunk()?;
    let (version, rest) = covered.split_first_chunk()?;
    let (offset, rest) = rest.split_first_chunk()?;
    let (line, rest) = rest.split_first_chunk()?;
    let (length, rest) = rest.split_first_chunk()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    let (name, checkpoint) = rest.split_at_checked(length.checked_next_multiple_of(8)?)?;
    let covered = covered.get(..24 + name.len())?;
    if crc32fast::hash(covered) != u32::from_le_bytes(*crc) {
        return None;
    }
    let version = Version(u64::from_le_bytes(*version));
    let (offset, crc) = (u64::from_le_bytes(*offset), u32::from_le_bytes(*line));
    let place = Place { version, offset, crc, append: Append::Unknown };
    let policy = std::str::from_utf8(name.get(..length)?).ok()?.to_owned();
    let state = checkpoint::from_bytes(checkpoint).ok()?;
    Some(Cache { place, cached: Cached { version, policy, state } })
}
