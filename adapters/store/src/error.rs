use std::io;
use std::path::PathBuf;

use session_todo::Policy;

use crate::record::Version;

/// Why nothing was appended.
#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    /// The log has another version than the caller knows: read again, and step again.
    #[error("the log is at version {actual}, and not at {expected}")]
    Conflict {
        /// What the caller expected.
        expected: Version,
        /// What the log has.
        actual: Version,
    },
    /// The store itself failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a store could not do what it was asked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The operating system refused.
    #[error("can't {doing} {}: {source}", path.display())]
    Io {
        /// What was tried.
        doing: &'static str,
        /// On which file or folder.
        path: PathBuf,
        /// What came.
        source: io::Error,
    },
    /// A log was changed where no broken write changes it. Nothing of it is given out as if it were whole.
    #[error("{place} is damaged{}, after record {good}: {why}. What is before is good", at_byte(*offset))]
    Damaged {
        /// Which log: its path, or its session.
        place: String,
        /// Where, in bytes from the start, if it is a file.
        offset: Option<u64>,
        /// The last record that is good.
        good: Version,
        /// What is wrong.
        why: &'static str,
    },
    /// A record that was written so, since its checksum is right, and that can't be read here.
    #[error("{place} is of a later release: after record {good} it has one that this release does not know")]
    Later {
        /// Which log: its path, or its session.
        place: String,
        /// The last record that can be read.
        good: Version,
    },
    /// A record that no file takes. Nothing was appended.
    #[error("a record of {bytes} bytes is too long for {}: a line has at most {most}", path.display())]
    TooLong {
        /// The log.
        path: PathBuf,
        /// The length of the record's line.
        bytes: usize,
        /// The most that a line may have.
        most: usize,
    },
    /// A log of a later format.
    #[error("{} is a log of format {found}, and this release reads {known}", path.display())]
    Format {
        /// The log.
        path: PathBuf,
        /// The format that it states.
        found: u32,
        /// The format that is read here.
        known: u32,
    },
    /// The log's first line names another session than its file does.
    #[error("{} is the log of session {found:?}, and session {asked:?} was asked for", path.display())]
    OtherSession {
        /// The log.
        path: PathBuf,
        /// Which session was asked for.
        asked: String,
        /// Which it names.
        found: String,
    },
    /// A policy that is no preset of this release, or not as it is there.
    #[error("the policy {name:?} is none of this release's presets: {}", presets())]
    UnknownPolicy {
        /// The name.
        name: String,
    },
    /// A log would begin, or begins, with another record.
    #[error("the first record of a log must be its policy (P6)")]
    NoPolicy,
    /// The database refused, or can't be reached.
    #[cfg(feature = "postgres")]
    #[error("PostgreSQL: {}", with_cause(.0))]
    Postgres(#[from] postgres::Error),
    /// The database was written by a later release.
    #[cfg(feature = "postgres")]
    #[error("the database has schema {found}, and this release knows {known}")]
    Schema {
        /// The schema that was found.
        found: i32,
        /// The newest that is known here.
        known: i32,
    },
}

fn at_byte(offset: Option<u64>) -> String {
    offset.map(|offset| format!(" at byte {offset}")).unwrap_or_default()
}

/// The client's own words leave out what the server said.
#[cfg(feature = "postgres")]
fn with_cause(error: &postgres::Error) -> String {
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}"));
    format!("{error}{}", cause.unwrap_or_default())
}

fn presets() -> String {
    Policy::PRESETS.map(|policy| policy.name).join(", ")
}
