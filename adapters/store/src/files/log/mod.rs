//! One session's log: an open file, what is known of it, and how it is read.

mod append;

use std::io;
use std::path::{Path, PathBuf};

use crate::error::StoreError;
use crate::files::cache::{self, Cache};
use crate::files::disk::{Access, Disk, DiskFile, FileId};
use crate::files::line::{self, Append, Bad, Place};
use crate::files::scan::{self, End, Lines, Rest, Section};
use crate::files::{Fate, Torn, name};
use crate::id::SessionId;
use crate::record::{Cached, Version};
use crate::store::Each;

/// How often another file may have taken the log's name when it is open and locked. More than once or twice, and the file
/// system numbers its files anew each time.
const TRIES: u32 = 100;

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
    /// A write was broken or a sync failed: from here on the disk may have other bytes than can be read.
    doubtful: Option<u64>,
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
            doubtful: None,
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

    /// Gives out the records after `from`. What is before the end never changes, so no lock is held meanwhile.
    pub(crate) fn read(&mut self, disk: &dyn Disk, from: Version, each: Each<'_>) -> Result<Version, StoreError> {
        let mut held = self.look(disk)?;
        if let Some(held) = &mut held
            && from < self.end.version
        {
            self.read_to_end(held.file.as_mut(), from, each)?;
        }
        self.held = held;
        Ok(self.end.version)
    }

    pub(crate) fn cached(&mut self, disk: &dyn Disk) -> Result<Option<Cached>, StoreError> {
        self.held = self.look(disk)?;
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
        self.doubtful.is_some()
    }

    /// Sees how the log ends now. What is there while nobody writes stays, but for what a broken write left, which the
    /// next append cuts. So only that is looked at under the lock, and no append waits until a long log is read.
    fn look(&mut self, disk: &dyn Disk) -> Result<Option<Held>, StoreError> {
        let Some((mut held, mut size)) = self.lock(disk, Access::Read)? else { return Ok(None) };
        let file = held.file.as_mut();
        file.unlock().map_err(|source| self.failed("unlock", source))?;
        let mut end = self.catch_up(file, size)?;
        if end.rest != Rest::Nothing {
            file.lock(Access::Read).map_err(|source| self.failed("lock", source))?;
            (_, size) = file.stat().map_err(|source| self.failed("measure", source))?;
            let again = self.scan(file, end.place, size)?;
            file.unlock().map_err(|source| self.failed("unlock", source))?;
            end = End { session: end.session.or(again.session), ..again };
        }
        self.settle(end, size)?;
        Ok(Some(held))
    }

    /// Does something at the end of the log, while nobody else does. None where there is no log.
    fn locked<T>(
        &mut self,
        disk: &dyn Disk,
        access: Access,
        work: impl FnOnce(&mut Self, &mut dyn DiskFile) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        let Some((mut held, size)) = self.lock(disk, access)? else { return Ok(None) };
        let file = held.file.as_mut();
        let end = self.catch_up(file, size);
        let done = end.and_then(|end| self.settle(end, size)).and_then(|()| work(self, file));
        let unlocked = file.unlock();
        let done = done?;
        // Only after a success: whatever failed, the next use opens the file anew. Closing it ends a lock too.
        self.held = unlocked.is_ok().then_some(held);
        Ok(Some(done))
    }

    /// Locks the file that has the log's name now, and measures it. None where there is no log.
    fn lock(&mut self, disk: &dyn Disk, access: Access) -> Result<Option<(Held, u64)>, StoreError> {
        let mut known = self.held.as_ref().map(|held| held.id);
        for _ in 0..TRIES {
            let Some(mut held) = self.open(disk, access)? else {
                // What was known is of a log that somebody removed.
                (self.end, self.tail, self.cache) = (Place::START, None, None);
                return Ok(None);
            };
            held.file.lock(access).map_err(|source| self.failed("lock", source))?;
            let (id, size) = held.file.stat().map_err(|source| self.failed("measure", source))?;
            let named = disk.id(&self.path).map_err(|source| self.failed("find", source))?;
            if named == Some(id) {
                if known != Some(id) {
                    self.name_is_synced = false;
                    self.cache = self.load_cache(disk, size);
                    self.end = self.start();
                }
                return Ok(Some((Held { id, ..held }, size)));
            }
            // It was moved, replaced or removed meanwhile; it is closed, and with that unlocked.
            known = None;
        }
        Err(self.failed("keep hold of", io::Error::other("each time it is opened, another file has its name")))
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
    fn catch_up(&mut self, file: &mut dyn DiskFile, size: u64) -> Result<End, StoreError> {
        if size == self.end.offset {
            return Ok(End { place: self.end, session: None, rest: Rest::Nothing });
        }
        if size < self.end.offset {
            // Somebody cut it: nothing that was known holds.
            (self.end, self.cache) = (Place::START, None);
        }
        let end = self.scan(file, self.end, size)?;
        if end.place.append != Append::Unknown {
            return Ok(end);
        }
        // A cached state is never of the last record (P5), so one that nothing follows is of another log.
        self.cache = None;
        self.scan(file, Place::START, size)
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
            |why| Torn { path: self.path.clone(), offset, bytes: size.saturating_sub(offset), why, fate: Fate::Stands };
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
        self.torn.retain(|earlier| earlier.fate != Fate::Stands);
        self.torn.extend(found);
    }

    /// None on any doubt; one that can't be read is in doubt.
    fn load_cache(&self, disk: &dyn Disk, size: u64) -> Option<Cache> {
        if !self.uses_cache {
            return None;
        }
        let bytes = disk.read(&self.path.with_extension("cache")).ok()??;
        cache::from_bytes(&bytes).filter(|cache| cache.place.offset < size)
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
