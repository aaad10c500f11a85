//! A folder with a log a session, and its cached state beside it.

mod cache;
mod copy;
mod disk;
mod line;
mod log;
mod name;
mod scan;

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};

pub use copy::{Flaw, is_log, read_log};
use disk::OsDisk;
pub use disk::{Access, Disk, DiskFile, FileId};
use log::Log;

use crate::error::{AppendError, StoreError};
use crate::id::SessionId;
use crate::record::{Cached, Record, Version};
use crate::session::Fold;
use crate::store::{self, Each, Store};

/// Logs that stay open. Each costs a file handle.
const OPEN: usize = 64;

/// When an append is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sync {
    /// When it survives a power cut: `fdatasync` at each append. Costs what the disk takes for it, a millisecond
    /// or so.
    Each,
    /// When the operating system has it. It survives the end of this process, and not a power cut. Costs
    /// microseconds.
    Os,
}

/// What a broken write left at a log's end. It had not been acknowledged, or there was a power cut and the append was
/// not synced. Who reads leaves it where it is; the next append cuts it off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Torn {
    /// The log.
    pub path: PathBuf,
    /// Where it begins, and what is good ends.
    pub offset: u64,
    /// How many bytes it has.
    pub bytes: u64,
    /// How it could be told.
    pub why: &'static str,
    /// What became of it.
    pub fate: Fate,
}

/// What became of a broken write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It stands where it is.
    Stands,
    /// It was cut off, and it (its first 16 MiB) is beside the log, in `NAME.torn`, until there is another.
    Kept,
    /// It was cut off, and could not be kept.
    Gone,
}

impl fmt::Display for Torn {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, offset, bytes, why, fate } = self;
        let (done, kept) = match fate {
            Fate::Stands => ("stand", ""),
            Fate::Kept => ("were cut off", ", and are kept beside it"),
            Fate::Gone => ("were cut off", ", and could not be kept"),
        };
        write!(out, "{}: {bytes} bytes of a broken write {done} at byte {offset}{kept}: {why}", path.display())
    }
}

/// What [`Files::check`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checked {
    /// The log's version: so many records are good, which is all of them.
    pub version: Version,
    /// Whether the cached state is what the log folds to; none where no state is cached. A wrong one can be removed:
    /// it is the file `NAME.cache` beside the log.
    pub is_cache_right: Option<bool>,
}

/// Logs as files of JSON lines in one folder.
///
/// Any number of processes may use a folder at once. Nobody but their owner can read folders and files that are created
/// (on Unix); those that are there keep their modes. Reading needs no right to write, and changes nothing but the cache.
pub struct Files {
    disk: Box<dyn Disk>,
    folder: PathBuf,
    sync: Sync,
    logs: HashMap<SessionId, Log>,
    torn: Vec<Torn>,
}

impl Files {
    /// The logs in this folder, which is created if it is not there.
    ///
    /// # Errors
    ///
    /// A folder that can't be created.
    pub fn open(folder: impl Into<PathBuf>, sync: Sync) -> Result<Self, StoreError> {
        Self::on(Box::new(OsDisk), folder, sync)
    }

    /// The logs in a folder that must be there: for who only reads, so that a wrong name makes no folder.
    ///
    /// # Errors
    ///
    /// A folder that is not there, or can't be read.
    pub fn existing(folder: impl Into<PathBuf>, sync: Sync) -> Result<Self, StoreError> {
        let folder = folder.into();
        match std::fs::read_dir(&folder) {
            Ok(_) => Ok(Self { disk: Box::new(OsDisk), folder, sync, logs: HashMap::new(), torn: Vec::new() }),
            Err(source) => Err(StoreError::Io { doing: "read the log folder", path: folder, source }),
        }
    }

    /// The same, on another disk than the operating system's.
    ///
    /// # Errors
    ///
    /// A folder that can't be created.
    pub fn on(disk: Box<dyn Disk>, folder: impl Into<PathBuf>, sync: Sync) -> Result<Self, StoreError> {
        let folder = folder.into();
        create(disk.as_ref(), &folder, sync)?;
        Ok(Self { disk, folder, sync, logs: HashMap::new(), torn: Vec::new() })
    }

    /// What broken writes left in logs, and was found or cut since this was asked last.
    pub fn take_torn(&mut self) -> Vec<Torn> {
        self.torn.extend(self.logs.values_mut().flat_map(Log::take_torn));
        std::mem::take(&mut self.torn)
    }

    /// The log's file.
    #[must_use]
    pub fn path(&self, session: &SessionId) -> PathBuf {
        self.folder.join(name::of(session) + name::LOG)
    }

    /// Reads a log from its first line, whatever is cached: every checksum, every record, and whether the cached
    /// state is what the log folds to. Nothing is changed. None where there is no log.
    ///
    /// # Errors
    ///
    /// The first damage.
    pub fn check(&mut self, session: &SessionId) -> Result<Option<Checked>, StoreError> {
        let has_cache = !matches!(self.disk.read(&self.path(session).with_extension("cache")), Ok(None));
        let cached = Log::new(&self.folder, session).cached(self.disk.as_ref())?;
        let mut log = Log::new(&self.folder, session).without_cache();
        let (mut fold, mut is_right) = (Fold::from(None), false);
        let read = log.read(self.disk.as_ref(), Version::START, &mut |version, record| {
            fold.record(version, &record)?;
            is_right |= cached.as_ref().is_some_and(|cached| fold.is_at(version, cached));
            Ok(())
        });
        self.torn.extend(log.take_torn());
        let (version, is_cache_right) = (read?, has_cache.then_some(is_right));
        Ok((version > Version::START).then_some(Checked { version, is_cache_right }))
    }

    fn log(&mut self, session: &SessionId) -> (&mut Log, &dyn Disk) {
        if self.logs.len() >= OPEN && !self.logs.contains_key(session) {
            self.torn.extend(self.logs.values_mut().flat_map(Log::take_torn));
            self.logs.retain(|_, log| log.must_stay());
        }
        let folder = &self.folder;
        let log = self.logs.entry(session.clone()).or_insert_with(|| Log::new(folder, session));
        (log, self.disk.as_ref())
    }
}

impl Store for Files {
    fn append(
        &mut self,
        session: &SessionId,
        expected: Version,
        records: &[Record<'_>],
    ) -> Result<Version, AppendError> {
        store::check(expected, records)?;
        let sync = self.sync;
        let (log, disk) = self.log(session);
        log.append(disk, sync, expected, records)
    }

    fn read(&mut self, session: &SessionId, from: Version, each: Each<'_>) -> Result<Version, StoreError> {
        let (log, disk) = self.log(session);
        log.read(disk, from, each)
    }

    fn cached_state(&mut self, session: &SessionId) -> Result<Option<Cached>, StoreError> {
        let (log, disk) = self.log(session);
        log.cached(disk)
    }

    fn cache_state(&mut self, session: &SessionId, cached: &Cached) -> Result<(), StoreError> {
        let (log, disk) = self.log(session);
        log.cache(disk, cached)
    }

    fn sessions(&mut self) -> Result<Vec<SessionId>, StoreError> {
        let listed = self.disk.list(&self.folder);
        let listed = listed.map_err(|source| StoreError::Io { doing: "list", path: self.folder.clone(), source })?;
        // A file that was created and never written to is no log.
        let logs = listed.into_iter().filter(|&(_, size)| size > 0);
        let mut sessions: Vec<SessionId> = logs.filter_map(|(file, _)| name::session(&file)).collect();
        sessions.sort_unstable();
        Ok(sessions)
    }
}

/// Creates a folder and those above it; each one's name is synced in the folder above, also where another process
/// had created it and may have died before that.
fn create(disk: &dyn Disk, folder: &Path, sync: Sync) -> Result<(), StoreError> {
    let failed = |source| StoreError::Io { doing: "create the folder", path: folder.to_owned(), source };
    let above = folder.parent().filter(|above| !above.as_os_str().is_empty());
    let created = match disk.create_folder(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && above.is_some() => {
            above.map_or(Ok(()), |above| create(disk, above, sync))?;
            disk.create_folder(folder)
        }
        created => created,
    };
    let is_new = created.map_err(failed)?;
    let synced = match sync {
        Sync::Each => disk.sync_folder(above.unwrap_or(Path::new("."))),
        Sync::Os => Ok(()),
    };
    // Not everybody may read the folder above one that was made for them.
    if is_new { synced.map_err(failed) } else { Ok(()) }
}
