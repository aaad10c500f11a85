//! A disk in memory that does what disks do: fails, and forgets what was not synced.
//!
//! It has pages. A write makes pages dirty, a sync puts dirty pages on the disk. A sync that fails puts some of
//! them there and calls all of them clean, so that no later sync puts the others there. A power cut leaves what is
//! on the disk, and of dirty pages and lengths any. A name that its folder was not synced with is gone.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use session_todo_store::{Access, Disk, DiskFile, FileId};

use crate::common::Dice;

const PAGE: usize = 64;

/// What goes wrong at the next operation of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// So many bytes are written, and no error.
    Short(usize),
    Write(io::ErrorKind),
    Sync,
    Unlock,
    FolderSync,
    Cut,
    Read,
    Open,
    /// Another file has the name.
    Moved,
}

#[derive(Clone, Default)]
pub(crate) struct Memory(Arc<Mutex<World>>);

#[derive(Default)]
struct World {
    names: BTreeMap<PathBuf, usize>,
    synced_names: BTreeMap<PathBuf, usize>,
    folders: BTreeSet<PathBuf>,
    synced_folders: BTreeSet<PathBuf>,
    files: Vec<Content>,
    faults: VecDeque<Fault>,
    /// Operations until the power is gone.
    power: Option<usize>,
    dice: Option<Dice>,
    is_read_only: bool,
    locks: usize,
    /// Reads while there was a lock.
    locked_reads: usize,
}

#[derive(Default)]
struct Content {
    seen: Vec<u8>,
    on_disk: Vec<u8>,
    dirty: BTreeSet<usize>,
}

impl Memory {
    pub(crate) fn new(seed: u64) -> Self {
        let memory = Self::default();
        memory.world().dice = Some(Dice::new(seed));
        memory
    }

    pub(crate) fn fail(&self, faults: impl IntoIterator<Item = Fault>) {
        self.world().faults.extend(faults);
    }

    /// Whether every fault came about.
    pub(crate) fn has_failed(&self) -> bool {
        self.world().faults.is_empty()
    }

    pub(crate) fn lose_power_after(&self, operations: usize) {
        self.world().power = Some(operations);
    }

    /// It was the process that ended, and not the power.
    pub(crate) fn go_on(&self) {
        self.world().power = None;
    }

    /// From here on nothing can be written.
    pub(crate) fn set_read_only(&self) {
        self.world().is_read_only = true;
    }

    /// Does something, and counts the reads under a lock.
    pub(crate) fn count_reads<T>(&self, work: impl FnOnce() -> T) -> (usize, T) {
        let before = self.world().locked_reads;
        let done = work();
        (self.world().locked_reads - before, done)
    }

    /// The power is back, and what was not synced is as chance has it.
    pub(crate) fn restart(&self) {
        let mut world = self.world();
        let mut dice = world.dice.take().unwrap();
        world.power = None;
        let World { names, synced_names, folders, synced_folders, .. } = &mut *world;
        names.clone_from(synced_names);
        folders.clone_from(synced_folders);
        // With a folder's name goes what is in it.
        let is_there =
            |path: &Path| path.parent().is_none_or(|above| above == Path::new("/") || folders.contains(above));
        names.retain(|path, _| is_there(path));
        synced_names.retain(|path, _| is_there(path));
        world.files.iter_mut().for_each(|file| file.restart(&mut dice));
        world.dice = Some(dice);
    }

    fn world(&self) -> MutexGuard<'_, World> {
        self.0.lock().unwrap()
    }
}

impl World {
    /// Every operation goes through here.
    fn operate(&mut self) -> io::Result<()> {
        match &mut self.power {
            Some(0) => Err(io::Error::other("the power is gone")),
            Some(left) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn must_be_writable(&self) -> io::Result<()> {
        if self.is_read_only { Err(io::ErrorKind::ReadOnlyFilesystem.into()) } else { Ok(()) }
    }

    fn fault(&mut self, is_this: impl Fn(&Fault) -> bool) -> Option<Fault> {
        self.faults.pop_front_if(|fault| is_this(fault))
    }
}

impl Content {
    fn write(&mut self, offset: usize, bytes: &[u8]) {
        let end = offset + bytes.len();
        self.seen.resize(self.seen.len().max(end), 0);
        self.seen.get_mut(offset..end).unwrap().copy_from_slice(bytes);
        self.dirty.extend(offset / PAGE..end.div_ceil(PAGE));
    }

    fn put(&mut self, page: usize) {
        let range = page * PAGE..((page + 1) * PAGE).min(self.seen.len());
        let Some(bytes) = self.seen.get(range.clone()) else { return };
        self.on_disk.resize(self.on_disk.len().max(range.end), 0);
        self.on_disk.get_mut(range).unwrap().copy_from_slice(bytes);
    }

    fn sync(&mut self) {
        for page in std::mem::take(&mut self.dirty) {
            self.put(page);
        }
        self.on_disk.resize(self.seen.len(), 0);
    }

    fn put_some(&mut self, dice: &mut Dice) {
        let length = if dice.below(2) == 0 { self.seen.len() } else { self.on_disk.len() };
        self.write_back(dice);
        self.dirty.clear();
        self.on_disk.resize(length, 0);
    }

    /// Pages go to the disk when the system likes, and then are dirty no more.
    fn write_back(&mut self, dice: &mut Dice) {
        for page in std::mem::take(&mut self.dirty) {
            if dice.below(2) == 0 {
                self.put(page);
            } else {
                self.dirty.insert(page);
            }
        }
    }

    fn restart(&mut self, dice: &mut Dice) {
        self.put_some(dice);
        self.seen.clone_from(&self.on_disk);
    }
}

struct Handle {
    memory: Memory,
    file: usize,
    may_write: bool,
    is_locked: bool,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.memory.world().locks -= usize::from(self.is_locked);
    }
}

impl Disk for Memory {
    fn open(&self, path: &Path, access: Access) -> io::Result<Option<Box<dyn DiskFile>>> {
        let create = access == Access::Create;
        let mut world = self.world();
        world.operate()?;
        if access != Access::Read {
            world.must_be_writable()?;
        }
        if world.fault(|fault| *fault == Fault::Open).is_some() {
            return Err(io::Error::other("a fault"));
        }
        let file = match world.names.get(path) {
            Some(&file) => file,
            None if create && world.folders.contains(path.parent().unwrap()) => {
                let file = world.files.len();
                world.files.push(Content::default());
                world.names.insert(path.to_owned(), file);
                file
            }
            None if create => return Err(io::ErrorKind::NotFound.into()),
            None => return Ok(None),
        };
        let may_write = access != Access::Read;
        Ok(Some(Box::new(Handle { memory: self.clone(), file, may_write, is_locked: false })))
    }

    fn id(&self, path: &Path) -> io::Result<Option<FileId>> {
        let mut world = self.world();
        let moved = world.fault(|fault| *fault == Fault::Moved).map(|_| (1, 1));
        Ok(moved.or_else(|| world.names.get(path).map(|&file| (0, file as u64))))
    }

    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        let mut world = self.world();
        world.operate()?;
        Ok(world.names.get(path).and_then(|&file| world.files.get(file)).map(|file| file.seen.clone()))
    }

    fn replace(&self, path: &Path, _: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut world = self.world();
        world.operate()?;
        world.must_be_writable()?;
        let file = world.files.len();
        world.files.push(Content::default());
        world.files.last_mut().unwrap().write(0, bytes);
        world.names.insert(path.to_owned(), file);
        // Many file systems write a name before what it names.
        world.synced_names.insert(path.to_owned(), file);
        Ok(())
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<(String, u64)>> {
        let mut world = self.world();
        world.operate()?;
        let inside = world.names.iter().filter(|(path, _)| path.parent() == Some(folder));
        let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
        Ok(inside.map(|(path, &file)| (name(path), world.files.get(file).unwrap().seen.len() as u64)).collect())
    }

    fn create_folder(&self, folder: &Path) -> io::Result<bool> {
        let mut world = self.world();
        world.operate()?;
        let above = folder.parent().unwrap();
        if above != Path::new("/") && !world.folders.contains(above) {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(world.folders.insert(folder.to_owned()))
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        let mut world = self.world();
        world.operate()?;
        if world.fault(|fault| *fault == Fault::FolderSync).is_some() {
            return Err(io::Error::other("a fault"));
        }
        let World { names, synced_names, folders, synced_folders, .. } = &mut *world;
        let inside = |path: &Path| path.parent() == Some(folder);
        synced_names.extend(names.iter().filter(|(path, _)| inside(path)).map(|(path, &file)| (path.clone(), file)));
        synced_folders.extend(folders.iter().filter(|path| inside(path)).cloned());
        Ok(())
    }
}

impl Handle {
    fn with<T>(&self, work: impl FnOnce(&mut World, &mut Content) -> io::Result<T>) -> io::Result<T> {
        let mut world = self.memory.world();
        let mut content = std::mem::take(world.files.get_mut(self.file).unwrap());
        let done = world.operate().and_then(|()| work(&mut world, &mut content));
        *world.files.get_mut(self.file).unwrap() = content;
        done
    }
}

impl DiskFile for Handle {
    fn lock(&mut self, access: Access) -> io::Result<()> {
        assert!(self.may_write || access == Access::Read, "it is open to read");
        self.memory.world().locks += usize::from(!self.is_locked);
        self.is_locked = true;
        Ok(())
    }

    fn unlock(&mut self) -> io::Result<()> {
        let mut world = self.memory.world();
        world.locks -= usize::from(self.is_locked);
        self.is_locked = false;
        let fault = world.fault(|fault| *fault == Fault::Unlock);
        if fault.is_some() { Err(io::Error::other("a fault")) } else { Ok(()) }
    }

    fn stat(&mut self) -> io::Result<(FileId, u64)> {
        let file = self.file as u64;
        self.with(|_, content| Ok(((0, file), content.seen.len() as u64)))
    }

    fn read_at(&mut self, offset: u64, bytes: &mut [u8]) -> io::Result<usize> {
        self.with(|world, content| {
            if world.fault(|fault| *fault == Fault::Read).is_some() {
                return Err(io::Error::other("a fault"));
            }
            world.locked_reads += usize::from(world.locks > 0);
            let rest = content.seen.get(usize::try_from(offset).unwrap()..).unwrap_or_default();
            let length = rest.len().min(bytes.len());
            bytes.get_mut(..length).unwrap().copy_from_slice(rest.get(..length).unwrap());
            Ok(length)
        })
    }

    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        let offset = usize::try_from(offset).unwrap();
        assert!(self.may_write, "it is open to read");
        self.with(|world, content| {
            let written = match world.fault(|fault| matches!(fault, Fault::Short(_) | Fault::Write(_))) {
                Some(Fault::Short(length)) => length.min(bytes.len()),
                Some(Fault::Write(kind)) => return Err(kind.into()),
                _ if world.power == Some(0) => world.dice.as_mut().unwrap().below(bytes.len() + 1),
                _ => bytes.len(),
            };
            content.write(offset, bytes.get(..written).unwrap());
            Ok(written)
        })
    }

    fn cut(&mut self, size: u64) -> io::Result<()> {
        assert!(self.may_write, "it is open to read");
        self.with(|world, content| {
            if world.fault(|fault| *fault == Fault::Cut).is_some() {
                return Err(io::Error::other("a fault"));
            }
            content.write_back(world.dice.as_mut().unwrap());
            content.seen.truncate(usize::try_from(size).unwrap());
            Ok(())
        })
    }

    fn sync(&mut self) -> io::Result<()> {
        self.with(|world, content| {
            if world.fault(|fault| *fault == Fault::Sync).is_some() {
                content.put_some(world.dice.as_mut().unwrap());
                return Err(io::Error::other("a fault"));
            }
            content.sync();
            Ok(())
        })
    }
}
