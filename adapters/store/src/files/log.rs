//! One session's log: an open file, and what is known of it.

use std::io;
use std::path::{Path, PathBuf};

use super::cache::{self, Cache};
use super::disk::{Access, Disk, DiskFile, FileId, read_all, write_all};
use super::line::{self, Bad, Place};
use super::scan::{self, End, Lines, Rest, Section};
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
    held: Option<Held>,
    /// Where the file's last whole append ends, as far as was read. Other processes append too.
    end: Place,
    /// What is behind that: it is in the way of the next append.
    tail: Option<Torn>,
    cache: Option<Cache>,
    uses_cache: bool,
    /// Whether the file's name in its folder survives a power cut.
    name_is_synced: bool,
    /// An append with a sync failed: from here on the disk may have other bytes than can be read.
    unsynced: Option<u64>,
    torn: Vec<Torn>,
}

/// The open file.
struct Held {
    file: Box<dyn DiskFile>,
    /// Another file may have taken its name.
    id: FileId,
    is_writable: bool,
}

impl Log {
    pub(crate) fn new(folder: &Path, session: &SessionId) -> Self {
        Self {
            session: session.clone(),
            path: folder.join(name::of(session) + name::LOG),
            folder: folder.to_owned(),
            held: None,
            end: Place::START,
            tail: None,
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

    /// What broken writes left, and was found or cut since this was asked last.
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
        let is_first = expected == Version::START && !records.is_empty();
        let access = if is_first { Access::Create } else { Access::Write };
        let appended = self.locked(disk, access, |log, file| {
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
        self.locked(disk, Access::Read, |_, _| Ok(()))?;
        if from < self.end.version {
            let held = self.held.take();
            let mut held = held.ok_or_else(|| self.failed("unlock", io::ErrorKind::Other.into()))?;
            self.read_to_end(held.file.as_mut(), from, each)?;
            self.held = Some(held);
        }
        Ok(self.end.version)
    }

    pub(crate) fn cached(&mut self, disk: &dyn Disk) -> Result<Option<Cached>, StoreError> {
        self.locked(disk, Access::Read, |_, _| Ok(()))?;
        Ok(self.cache.as_ref().map(|cache| cache.cached.clone()))
    }

    pub(crate) fn cache(&mut self, disk: &dyn Disk, cached: &Cached) -> Result<(), StoreError> {
        self.locked(disk, Access::Write, |log, file| {
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

    /// Does something with the file that has the log's name now, while nobody else does. None where there is no log.
    fn locked<T>(
        &mut self,
        disk: &dyn Disk,
        access: Access,
        work: impl FnOnce(&mut Self, &mut dyn DiskFile) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        let mut known = self.held.as_ref().map(|held| held.id);
        let (mut held, size) = loop {
            let Some(mut held) = self.open(disk, access)? else {
                // What was known is of a log that somebody removed.
                (self.end, self.tail, self.cache) = (Place::START, None, None);
                return Ok(None);
            };
            held.file.lock(access).map_err(|source| self.failed("lock", source))?;
            let (id, size) = held.file.stat().map_err(|source| self.failed("measure", source))?;
            let named = disk.id(&self.path).map_err(|source| self.failed("find", source))?;
            // Else the file was moved, replaced or removed meanwhile; it is closed, and with that unlocked.
            if named == Some(id) {
                break (Held { id, ..held }, size);
            }
            known = None;
        };
        let (file, is_new) = (held.file.as_mut(), known != Some(held.id));
        let done = self.catch_up(disk, file, is_new, size).and_then(|()| work(self, file));
        let unlocked = file.unlock();
        let done = done?;
        // Only after a success: whatever failed, the next use opens the file anew. Closing it ends a lock too.
        self.held = unlocked.is_ok().then_some(held);
        Ok(Some(done))
    }

    /// The file that is open, if it is open for this. Else that one is closed after the other is opened, so that no
    /// other file can come by its id.
    fn open(&mut self, disk: &dyn Disk, access: Access) -> Result<Option<Held>, StoreError> {
        let before = self.held.take();
        if before.as_ref().is_some_and(|held| held.is_writable || access == Access::Read) {
            return Ok(before);
        }
        let file = disk.open(&self.path, access).map_err(|source| self.failed("open", source))?;
        Ok(file.map(|file| Held { file, id: FileId::default(), is_writable: access != Access::Read }))
    }

    /// Reads what was appended since.
    fn catch_up(
        &mut self,
        disk: &dyn Disk,
        file: &mut dyn DiskFile,
        is_new: bool,
        size: u64,
    ) -> Result<(), StoreError> {
        if is_new {
            self.name_is_synced = false;
            self.cache = self.load_cache(disk, size);
        } else if size == self.end.offset {
            self.tail = None;
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
        self.settle(end, size)
    }

    /// Where reading begins.
    fn start(&self) -> Place {
        self.cache.as_ref().map_or(Place::START, |cache| cache.place)
    }

    fn scan(&self, file: &mut dyn DiskFile, from: Place, size: u64) -> Result<End, StoreError> {
        scan::to_end(file, from, size).map_err(|source| self.failed("read", source))
    }

    fn settle(&mut self, end: End, size: u64) -> Result<(), StoreError> {
        let End { place, session, rest } = end;
        match session {
            Some(found) if found != self.session.as_str() => {
                let asked = self.session.as_str().to_owned();
                return Err(StoreError::OtherSession { path: self.path.clone(), asked, found });
            }
            _ => {}
        }
        let offset = place.offset;
        let torn =
            |why| Torn { path: self.path.clone(), offset, bytes: size.saturating_sub(offset), why, is_cut: false };
        self.tail = match rest {
            Rest::Nothing => None,
            Rest::Torn(why) => Some(torn(why)),
            Rest::Damaged(why) => return Err(self.damaged(place, why)),
            Rest::Later => return Err(self.bad(place, Bad::Later)),
            Rest::Format(found) => {
                return Err(StoreError::Format { path: self.path.clone(), found, known: line::FORMAT });
            }
        };
        self.report(self.tail.clone());
        self.end = place;
        Ok(())
    }

    /// Of what is not cut, the last that was found.
    fn report(&mut self, found: Option<Torn>) {
        self.torn.retain(|earlier| earlier.is_cut);
        self.torn.extend(found);
    }

    /// Takes what a broken write left out of the next one's way. The bytes are kept beside the log, and the cut is
    /// synced, so that nothing of them comes back among what is written in their place.
    fn cut_tail(&mut self, disk: &dyn Disk, file: &mut dyn DiskFile) -> Result<(), StoreError> {
        let Some(tail) = self.tail.take() else { return Ok(()) };
        let mut bytes = vec![0; usize::try_from(tail.bytes).unwrap_or(line::LONGEST).min(line::LONGEST)];
        let (kept, draft) = (self.path.with_extension("torn"), self.path.with_extension("draft"));
        let cut = read_all(file, tail.offset, &mut bytes)
            .and_then(|()| disk.replace(&kept, &draft, &bytes))
            .and_then(|()| file.cut(tail.offset))
            .and_then(|()| file.sync());
        cut.map_err(|source| self.failed("cut", source))?;
        self.report(Some(Torn { is_cut: true, ..tail }));
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
        if bytes.is_empty() {
            return Ok(end.version);
        }
        if let Some(bytes) = line::too_long(&bytes) {
            return Err(StoreError::TooLong { path: self.path.clone(), bytes, most: line::LONGEST });
        }
        self.cut_tail(disk, file)?;
        if sync == Sync::Each {
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
        let mut lines = Lines::of(file, at.offset, self.end.offset);
        while at.version < self.end.version {
            let (bytes, next) = self.next(&mut lines, at)?;
            if next.version > from {
                let record = line::record(bytes).map_err(|bad| self.bad(at, bad))?;
                each(next.version, record)?;
            }
            at = next;
        }
        Ok(())
    }

    fn place_of(&self, file: &mut dyn DiskFile, version: Version, from: Place) -> Result<Place, StoreError> {
        let mut at = from;
        let mut lines = Lines::of(file, at.offset, self.end.offset);
        while at.version < version {
            (_, at) = self.next(&mut lines, at)?;
        }
        Ok(at)
    }

    /// A line before the end, where there must be one.
    fn next<'l>(&self, lines: &'l mut Lines<Section<'_>>, at: Place) -> Result<(&'l [u8], Place), StoreError> {
        let line = lines.next_line().map_err(|source| self.failed("read", source))?;
        let line = line.ok_or_else(|| self.damaged(at, "it ends early"))?;
        let (_, next) = line.verify(at).map_err(|bad| self.bad(at, bad))?;
        Ok((line.bytes, next))
    }

    fn failed(&self, doing: &'static str, source: io::Error) -> StoreError {
        StoreError::Io { doing, path: self.path.clone(), source }
    }

    fn bad(&self, at: Place, bad: Bad) -> StoreError {
        match bad {
            Bad::Changed(why) => self.damaged(at, why),
            Bad::Later => StoreError::Later { place: self.path.display().to_string(), good: at.version },
        }
    }

    fn damaged(&self, at: Place, why: &'static str) -> StoreError {
        let place = self.path.display().to_string();
        StoreError::Damaged { place, offset: Some(at.offset), good: at.version, why }
    }
}
