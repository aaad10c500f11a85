//! What is put at a log's end, and what is done about a write that broke.

use super::Log;
use crate::error::{AppendError, StoreError};
use crate::files::disk::{Access, Disk, DiskFile, read_all, write_all};
use crate::files::{Fate, Sync, Torn, line};
use crate::record::{Record, Version};

/// What a disk writes at once. A write that failed may have broken what else is in it.
const PAGE: u64 = 4096;

impl Log {
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
        self.sync_again(file)?;
        let written = write_all(file, self.end.offset, &bytes).map_err(|source| self.failed("append to", source));
        let kept = written.and_then(|()| if sync == Sync::Each { self.sync(disk, file) } else { Ok(()) });
        if let Err(error) = kept {
            self.doubt();
            // It is not there, so that it can be tried again. If this fails too, the next append does it.
            let _ = self.sync_again(file);
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

    /// Behind the end the disk may have, or come to have, other bytes than can be read.
    fn doubt(&mut self) {
        let from = self.end.offset - self.end.offset % PAGE;
        self.doubtful = Some(self.doubtful.map_or(from, |earlier| earlier.min(from)));
    }

    /// After a sync that failed, an operating system takes the bytes for written, and a later sync says
    /// nothing about them. So they are written again, as they were read and found good, and what is behind
    /// them is gone from the disk too before anything takes its place.
    fn sync_again(&mut self, file: &mut dyn DiskFile) -> Result<(), StoreError> {
        let Some(from) = self.doubtful else { return Ok(()) };
        let length = usize::try_from(self.end.offset.saturating_sub(from)).unwrap_or_default();
        let mut bytes = vec![0; length];
        let again = file
            .cut(self.end.offset)
            .and_then(|()| read_all(file, from, &mut bytes))
            .and_then(|()| write_all(file, from, &bytes))
            .and_then(|()| file.sync());
        again.map_err(|source| self.failed("write again, after a broken write,", source))?;
        self.doubtful = None;
        Ok(())
    }

    /// Cuts what a broken write left out of the next one's way. It is kept beside the log if that can be: nothing of it
    /// was acknowledged, so no append is refused for it.
    fn cut_tail(&mut self, disk: &dyn Disk, file: &mut dyn DiskFile) -> Result<(), StoreError> {
        let Some(tail) = self.tail.take() else { return Ok(()) };
        self.doubt();
        let mut bytes = vec![0; usize::try_from(tail.bytes).unwrap_or(line::LONGEST).min(line::LONGEST)];
        let (path, draft) = (self.path.with_extension("torn"), self.path.with_extension("draft"));
        let kept = read_all(file, tail.offset, &mut bytes).and_then(|()| disk.replace(&path, &draft, &bytes));
        let fate = if kept.is_ok() { Fate::Kept } else { Fate::Gone };
        file.cut(tail.offset).map_err(|source| self.failed("cut a broken write from", source))?;
        self.report(Some(Torn { fate, ..tail }));
        Ok(())
    }
}
