//! One session's log: an open file, and what is known of it.

use std::io;
use std::path::{Path, PathBuf};

use super::cache::{self, Cache};
use super::disk::{Disk, DiskFile};
use super::line::{self, Place};
use super::scan::{self, End, Lines, Rest};
use super::{Sync, Torn, name};
use crate::error::{AppendError, StoreError};
use crate::id::SessionId;
use crate::record::{Cached, Record, Version};
use crate::store::Each;

/// What a disk writes at once. A write that failed may have broken what else is in it.
const PAGE: u64 = 4096;

pub(crate) struct Log {
    session: SessionId,
    path: PathBuf,
    folder: PathBuf,
    /// None before the first use, and after every failure: then nothing that is known here is trusted.
    file: Option<Box<dyn DiskFile>>,
    /// Where the file ends, as far as was read. Other processes append too.
    end: Place,
    cache: Option<Cache>,
    uses_cache: bool,
    /// Whether the file's name in its folder survives a power cut.
    name_is_synced: bool,
    /// An append with a sync failed: from here on the disk may have other bytes than can be read.
    unsynced: Option<u64>,
    torn: Vec<Torn>,
}

impl Log {
    pub(crate) fn new(folder: &Path, session: &SessionId) -> Self {
        Self {
            session: session.clone(),
            path: folder.join(name::of(session) + name::LOG),
            folder: folder.to_owned(),
            file: None,
            end: Place::START,
            cache: None,
            uses_cache: true,
            name_is_synced: false,
            unsynced: None,
            torn: Vec::new(),
        }
    }

    /// The same log, read from its first line.
    pub(crate) fn without_cache(self) -> Self {
        Self { uses_cache: false, ..self }
    }

    /// What was cut since this was asked last.
    pub(crate) fn take_torn(&mut self) -> Vec<Torn> {
        std::mem::take(&mut self.torn)
    }

    pub(crate) fn append(
        &mut self,
        disk: &dyn Disk,
        sync: Sync,
        expected: Version,
        records: &[Record<'_>],
    ) -> Result<Version, AppendError> {
        let create = expected == Version::START && !records.is_empty();
        let appended = self.locked(disk, create, |log, file| {
            let actual = log.end.version;
            if actual != expected {
                return Ok(Err(AppendError::Conflict { expected, actual }));
            }
            log.write(disk, file, sync, records).map(Ok)
        })?;
        appended.unwrap_or(if expected == Version::START {
            Ok(expected)
        } else {
            Err(AppendError::Conflict { expected, actual: Version::START })
        })
    }

    /// Gives out the records after `from`. What is before the end never changes, so no lock is held meanwhile.
    pub(crate) fn read(&mut self, disk: &dyn Disk, from: Version, each: Each<'_>) -> Result<Version, StoreError> {
        self.locked(disk, false, |_, _| Ok(()))?;
        if from < self.end.version {
            let file = self.file.take();
            let mut file = file.ok_or_else(|| self.failed("unlock", io::ErrorKind::Other.into()))?;
            self.read_to_end(file.as_mut(), from, each)?;
            self.file = Some(file);
        }
        Ok(self.end.version)
    }

    pub(crate) fn cached(&mut self, disk: &dyn Disk) -> Result<Option<Cached>, StoreError> {
        self.locked(disk, false, |_, _| Ok(()))?;
        Ok(self.cache.as_ref().map(|cache| cache.cached.clone()))
    }

    pub(crate) fn cache(&mut self, disk: &dyn Disk, cached: &Cached) -> Result<(), StoreError> {
        self.locked(disk, false, |log, file| {
            let from = log.start();
            if cached.version <= from.version || cached.version >= log.end.version {
                return Ok(());
            }
            let place = log.place_of(file, cached.version, from)?;
            let cache = Cache { place, cached: cached.clone() };
            let bytes = cache::to_bytes(&cache).ok_or_else(|| log.damaged(place, "the state can't be archived"))?;
            // The draft's name is nobody else's: the log is locked.
            let (path, draft) = (log.path.with_extension("cache"), log.path.with_extension("draft"));
            disk.replace(&path, &draft, &bytes).map_err(|source| log.failed("write the cache of", source))?;
            log.cache = Some(cache);
            Ok(())
        })?;
        Ok(())
    }

    /// Whether this log knows what must not be forgotten.
    pub(crate) const fn must_stay(&self) -> bool {
        self.unsynced.is_some()
    }

    /// Does something with the file as it is now, while nobody else does. None where there is no log.
    fn locked<T>(
        &mut self,
        disk: &dyn Disk,
        create: bool,
        work: impl FnOnce(&mut Self, &mut dyn DiskFile) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        let is_new = self.file.is_none();
        let file = match self.file.take() {
            Some(file) => Some(file),
            None => disk.open(&self.path, create).map_err(|source| self.failed("open", source))?,
        };
        let Some(mut file) = file else {
            // What was known is of a log that somebody removed.
            (self.end, self.cache) = (Place::START, None);
            return Ok(None);
        };
        file.lock().map_err(|source| self.failed("lock", source))?;
        let done = self.catch_up(disk, file.as_mut(), is_new).and_then(|()| work(self, file.as_mut()));
        let unlocked = file.unlock();
        let done = done?;
        // Only after a success: whatever failed, the next use opens the file anew. Closing it ends a lock too.
        self.file = unlocked.is_ok().then_some(file);
        Ok(Some(done))
    }

    /// Reads what was appended since, and cuts what a broken write left.
    fn catch_up(&mut self, disk: &dyn Disk, file: &mut dyn DiskFile, is_new: bool) -> Result<(), StoreError> {
        let size = file.size().map_err(|source| self.failed("measure", source))?;
        if is_new {
            self.name_is_synced = false;
            self.cache = self.load_cache(disk, size);
        } else if size == self.end.offset {
            return Ok(());
        } else if size < self.end.offset {
            // Somebody cut it: nothing that was known holds.
            self.cache = None;
        }
        let from = if is_new || size < self.end.offset { self.start() } else { self.end };
        let mut end = self.scan(file, from, size)?;
        // A cached state is never of the last record (P5), so one that nothing follows is of another log.
        if is_new && self.cache.is_some() && end.place == from {
            self.cache = None;
            end = self.scan(file, Place::START, size)?;
        }
        self.settle(file, end, size)
    }

    /// Where reading begins.
    fn start(&self) -> Place {
        self.cache.as_ref().map_or(Place::START, |cache| cache.place)
    }

    fn scan(&self, file: &mut dyn DiskFile, from: Place, size: u64) -> Result<End, StoreError> {
        scan::to_end(file, from, size).map_err(|source| self.failed("read", source))
    }

    fn settle(&mut self, file: &mut dyn DiskFile, end: End, size: u64) -> Result<(), StoreError> {
        let End { place, session, rest } = end;
        match session {
            Some(found) if found != self.session.as_str() => {
                let asked = self.session.as_str().to_owned();
                return Err(StoreError::OtherSession { path: self.path.clone(), asked, found });
            }
            _ => {}
        }
        match rest {
            Rest::Nothing => {}
            Rest::Torn(why) => {
                // Synced, so that nothing of it comes back among what is written in its place.
                let cut = file.cut(place.offset).and_then(|()| file.sync());
                cut.map_err(|source| self.failed("cut", source))?;
                let path = self.path.clone();
                self.torn.push(Torn { path, offset: place.offset, bytes: size.saturating_sub(place.offset), why });
            }
            Rest::Damaged(why) => return Err(self.damaged(place, why)),
            Rest::Format(found) => {
                return Err(StoreError::Format { path: self.path.clone(), found, known: line::FORMAT });
            }
        }
        self.end = place;
        Ok(())
    }

    /// None on any doubt; one that can't be read is in doubt.
    fn load_cache(&self, disk: &dyn Disk, size: u64) -> Option<Cache> {
        if !self.uses_cache {
            return None;
        }
        let bytes = disk.read(&self.path.with_extension("cache")).ok()??;
        cache::from_bytes(&bytes).filter(|cache| cache.place.offset < size)
    }

    fn write(
        &mut self,
        disk: &dyn Disk,
        file: &mut dyn DiskFile,
        sync: Sync,
        records: &[Record<'_>],
    ) -> Result<Version, StoreError> {
        let lines = line::write(&self.session, self.end, records);
        let (bytes, end) = lines.map_err(|error| self.failed("write an event to", error.into()))?;
        if sync == Sync::Each && !bytes.is_empty() {
            self.sync_again(file)?;
        }
        let written = write_all(file, self.end.offset, &bytes).map_err(|source| self.failed("append to", source));
        let kept = written.and_then(|()| if sync == Sync::Each { self.sync(disk, file) } else { Ok(()) });
        if let Err(error) = kept {
            if sync == Sync::Each {
                let from = self.end.offset - self.end.offset % PAGE;
                self.unsynced = Some(self.unsynced.map_or(from, |earlier| earlier.min(from)));
            }
            // It is not there, so that it can be tried again. If this fails too, the next use finds what is left.
            let _ = file.cut(self.end.offset);
            return Err(error);
        }
        self.end = end;
        Ok(end.version)
    }

    fn sync(&mut self, disk: &dyn Disk, file: &mut dyn DiskFile) -> Result<(), StoreError> {
        file.sync().map_err(|source| self.failed("sync", source))?;
        // Whoever created the file may have died before this.
        if !self.name_is_synced {
            disk.sync_folder(&self.folder).map_err(|source| self.failed("sync the folder of", source))?;
            self.name_is_synced = true;
        }
        Ok(())
    }

    /// After a sync that failed, an operating system takes the bytes for written, and a later sync says
    /// nothing about them. So they are written again, as they were read and found good, and what is behind
    /// them is gone from the disk too before anything takes its place.
    fn sync_again(&mut self, file: &mut dyn DiskFile) -> Result<(), StoreError> {
        let Some(from) = self.unsynced else { return Ok(()) };
        let length = usize::try_from(self.end.offset.saturating_sub(from)).unwrap_or_default();
        let mut bytes = vec![0; length];
        let again = read_all(file, from, &mut bytes)
            .and_then(|()| write_all(file, from, &bytes))
            .and_then(|()| file.cut(self.end.offset))
            .and_then(|()| file.sync());
        again.map_err(|source| self.failed("write again, after an append that failed,", source))?;
        self.unsynced = None;
        Ok(())
    }

    fn read_to_end(&self, file: &mut dyn DiskFile, from: Version, each: Each<'_>) -> Result<(), StoreError> {
        let start = self.start();
        let mut at = if start.version <= from { start } else { Place::START };
        let mut lines = Lines::new(file, at.offset, self.end.offset);
        while at.version < self.end.version {
            let (bytes, next) = self.next(&mut lines, at)?;
            if next.version > from {
                let record = line::record(bytes).map_err(|why| self.damaged(at, why))?;
                each(next.version, record)?;
            }
            at = next;
        }
        Ok(())
    }

    fn place_of(&self, file: &mut dyn DiskFile, version: Version, from: Place) -> Result<Place, StoreError> {
        let mut at = from;
        let mut lines = Lines::new(file, at.offset, self.end.offset);
        while at.version < version {
            (_, at) = self.next(&mut lines, at)?;
        }
        Ok(at)
    }

    /// A line before the end, where there must be one.
    fn next<'l>(&self, lines: &'l mut Lines<'_>, at: Place) -> Result<(&'l [u8], Place), StoreError> {
        let line = lines.next_line().map_err(|source| self.failed("read", source))?;
        let line = line.ok_or_else(|| self.damaged(at, "it ends early"))?;
        let (_, next) = line::verify(line.bytes, at).map_err(|why| self.damaged(at, why))?;
        Ok((line.bytes, next))
    }

    fn failed(&self, doing: &'static str, source: io::Error) -> StoreError {
        StoreError::Io { doing, path: self.path.clone(), source }
    }

    fn damaged(&self, at: Place, why: &'static str) -> StoreError {
        let place = self.path.display().to_string();
        StoreError::Damaged { place, offset: Some(at.offset), good: at.version, why }
    }
}

fn write_all(file: &mut dyn DiskFile, mut offset: u64, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.write_at(offset, bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => {
                offset += written as u64;
                bytes = bytes.get(written..).unwrap_or_default();
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn read_all(file: &mut dyn DiskFile, mut offset: u64, mut bytes: &mut [u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.read_at(offset, bytes) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => {
                offset += read as u64;
                bytes = bytes.get_mut(read..).unwrap_or_default();
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
