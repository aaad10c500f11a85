use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// What the file store needs of a disk. Below it, tests put one that fails, or forgets what was not synced.
pub trait Disk: Send {
    /// Opens a file to read and write; none if it is not there and not to be created. Only its owner may read
    /// a created one.
    ///
    /// # Errors
    ///
    /// The operating system's; above all, that there is no folder to create it in.
    fn open(&self, path: &Path, create: bool) -> io::Result<Option<Box<dyn DiskFile>>>;

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
    /// Waits until nobody else, in this process or another, has the file locked.
    ///
    /// # Errors
    ///
    /// The operating system's.
    fn lock(&mut self) -> io::Result<()>;

    /// Ends the lock.
    ///
    /// # Errors
    ///
    /// The operating system's.
    fn unlock(&mut self) -> io::Result<()>;

    /// Its length in bytes.
    ///
    /// # Errors
    ///
    /// The operating system's, and that the file was removed.
    fn size(&mut self) -> io::Result<u64>;

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
    fn open(&self, path: &Path, create: bool) -> io::Result<Option<Box<dyn DiskFile>>> {
        let file = private().read(true).write(true).create(create).truncate(false).open(path);
        // Where it was to be created, what is missing is the folder.
        let file = if create { file.map(Some) } else { present(file) };
        Ok(file?.map(|file| Box::new(file) as Box<dyn DiskFile>))
    }

    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        present(fs::read(path))
    }

    fn replace(&self, path: &Path, draft: &Path, bytes: &[u8]) -> io::Result<()> {
        private().write(true).create(true).truncate(true).open(draft)?.write_all(bytes)?;
        fs::rename(draft, path)
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
    fn lock(&mut self) -> io::Result<()> {
        loop {
            match Self::lock(self) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                locked => return locked,
            }
        }
    }

    fn unlock(&mut self) -> io::Result<()> {
        Self::unlock(self)
    }

    fn size(&mut self) -> io::Result<u64> {
        let metadata = self.metadata()?;
        if is_removed(&metadata) {
            return Err(io::Error::new(io::ErrorKind::NotFound, "the file was removed"));
        }
        Ok(metadata.len())
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
fn is_removed(metadata: &fs::Metadata) -> bool {
    std::os::unix::fs::MetadataExt::nlink(metadata) == 0
}

#[cfg(not(unix))]
const fn is_removed(_: &fs::Metadata) -> bool {
    false
}
