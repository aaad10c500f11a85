use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// What a log's file is opened, and locked, for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// To read, beside others who read.
    Read,
    /// To read and write, alone.
    Write,
    /// The same, and it is created if it is not there. Only its owner may read it then.
    Create,
}

/// Which file, whatever its name is: its device and its number there. Only Unix can tell.
pub type FileId = (u64, u64);

/// What the file store needs of a disk. Below it, tests put one that fails, or forgets what was not synced.
pub trait Disk: Send {
    /// Opens a file; none if it is not there and not to be created.
    ///
    /// # Errors
    ///
    /// The operating system's; above all, that there is no folder to create it in.
    fn open(&self, path: &Path, access: Access) -> io::Result<Option<Box<dyn DiskFile>>>;

    /// Which file has this name; none if none has.
    ///
    /// # Errors
    ///
    /// The operating system's.
    fn id(&self, path: &Path) -> io::Result<Option<FileId>>;

    /// All bytes of a file; none if it is not there.
    ///
    /// # Errors
    ///
    /// The operating system's.
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>>;

    /// Puts a file in the place of another, at once, by way of `draft`. It need not survive a power cut.
    ///
    /// # Errors
    ///
    /// The operating system's.
    fn replace(&self, path: &Path, draft: &Path, bytes: &[u8]) -> io::Result<()>;

    /// Names and sizes of a folder's files.
    ///
    /// # Errors
    ///
    /// The operating system's.
    fn list(&self, folder: &Path) -> io::Result<Vec<(String, u64)>>;

    /// Creates a folder that only its owner may enter. Whether it was not there.
    ///
    /// # Errors
    ///
    /// The operating system's; above all, that there is no folder to create it in.
    fn create_folder(&self, folder: &Path) -> io::Result<bool>;

    /// Has the names in a folder survive a power cut.
    ///
    /// # Errors
    ///
    /// The operating system's.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;
}

/// An open file of a [`Disk`].
pub trait DiskFile: Send {
    /// Waits until nobody else, in this process or another, has the file locked; to read, until nobody has it to
    /// write.
    ///
    /// # Errors
    ///
    /// The operating system's.
    fn lock(&mut self, access: Access) -> io::Result<()>;

    /// Ends the lock.
    ///
    /// # Errors
    ///
    /// The operating system's.
    fn unlock(&mut self) -> io::Result<()>;

    /// Which file it is, and its length in bytes.
    ///
    /// # Errors
    ///
    /// The operating system's.
    fn stat(&mut self) -> io::Result<(FileId, u64)>;

    /// Reads at a place; 0 bytes at the end.
    ///
    /// # Errors
    ///
    /// The operating system's.
    fn read_at(&mut self, offset: u64, bytes: &mut [u8]) -> io::Result<usize>;

    /// Writes at a place, as many bytes as it can.
    ///
    /// # Errors
    ///
    /// The operating system's.
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<usize>;

    /// Cuts it to a length.
    ///
    /// # Errors
    ///
    /// The operating system's.
    fn cut(&mut self, size: u64) -> io::Result<()>;

    /// Has its bytes survive a power cut.
    ///
    /// # Errors
    ///
    /// The operating system's. What was not synced before may be lost then, though a later call succeeds.
    fn sync(&mut self) -> io::Result<()>;
}

/// The disk of the operating system.
pub(super) struct OsDisk;

impl Disk for OsDisk {
    fn open(&self, path: &Path, access: Access) -> io::Result<Option<Box<dyn DiskFile>>> {
        let (write, create) = (access != Access::Read, access == Access::Create);
        let file = private().read(true).write(write).create(create).truncate(false).open(path);
        // Where it was to be created, what is missing is the folder.
        let file = if create { file.map(Some) } else { present(file) };
        Ok(file?.map(|file| Box::new(file) as Box<dyn DiskFile>))
    }

    fn id(&self, path: &Path) -> io::Result<Option<FileId>> {
        Ok(present(fs::metadata(path))?.map(|metadata| id_of(&metadata)))
    }

    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        present(fs::read(path))
    }

    fn replace(&self, path: &Path, draft: &Path, bytes: &[u8]) -> io::Result<()> {
        let opened = private().write(true).create(true).truncate(true).open(draft);
        let replaced = opened.and_then(|mut file| file.write_all(bytes)).and_then(|()| fs::rename(draft, path));
        if replaced.is_err() {
            // A full disk has better use for its place.
            let _ = fs::remove_file(draft);
        }
        replaced
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<(String, u64)>> {
        let mut files = Vec::new();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            // A name that is no text is no log's.
            let Ok(name) = entry.file_name().into_string() else { continue };
            // One that was removed since is not there.
            let Some(metadata) = present(fs::metadata(entry.path()))? else { continue };
            if metadata.is_file() {
                files.push((name, metadata.len()));
            }
        }
        Ok(files)
    }

    fn create_folder(&self, folder: &Path) -> io::Result<bool> {
        match folder_builder().create(folder) {
            Ok(()) => Ok(true),
            Err(_) if folder.is_dir() => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Only Unix can, and only there has to.
    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
    }
}

impl DiskFile for File {
    fn lock(&mut self, access: Access) -> io::Result<()> {
        loop {
            let locked = if access == Access::Read { Self::lock_shared(self) } else { Self::lock(self) };
            match locked {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                locked => return locked,
            }
        }
    }

    fn unlock(&mut self) -> io::Result<()> {
        Self::unlock(self)
    }

    fn stat(&mut self) -> io::Result<(FileId, u64)> {
        let metadata = self.metadata()?;
        Ok((id_of(&metadata), metadata.len()))
    }

    fn read_at(&mut self, offset: u64, bytes: &mut [u8]) -> io::Result<usize> {
        self.seek(SeekFrom::Start(offset))?;
        self.read(bytes)
    }

    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        self.seek(SeekFrom::Start(offset))?;
        self.write(bytes)
    }

    fn cut(&mut self, size: u64) -> io::Result<()> {
        self.set_len(size)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }
}

pub(super) fn write_all(file: &mut dyn DiskFile, mut offset: u64, mut bytes: &[u8]) -> io::Result<()> {
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

pub(super) fn read_all(file: &mut dyn DiskFile, mut offset: u64, mut bytes: &mut [u8]) -> io::Result<()> {
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

fn present<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        result => result.map(Some),
    }
}

#[cfg(unix)]
fn private() -> OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = OpenOptions::new();
    options.mode(0o600);
    options
}

#[cfg(not(unix))]
fn private() -> OpenOptions {
    OpenOptions::new()
}

#[cfg(unix)]
fn folder_builder() -> fs::DirBuilder {
    use std::os::unix::fs::DirBuilderExt;
    let mut builder = fs::DirBuilder::new();
    builder.mode(0o700);
    builder
}

#[cfg(not(unix))]
fn folder_builder() -> fs::DirBuilder {
    fs::DirBuilder::new()
}

#[cfg(unix)]
fn id_of(metadata: &fs::Metadata) -> FileId {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

#[cfg(not(unix))]
const fn id_of(_: &fs::Metadata) -> FileId {
    (0, 0)
}
