//! A client's settings file: what it holds, and how it is changed so that nothing of a person's is lost.

use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// A settings file as it is now. Where there is none, its text is empty.
pub(crate) struct Settings {
    /// Where it really is: people keep a link to it.
    pub(crate) path: PathBuf,
    pub(crate) text: Option<String>,
}

impl Settings {
    pub(crate) fn read(path: PathBuf) -> io::Result<Self> {
        let path = fs::canonicalize(&path).unwrap_or(path);
        let text = if_there(fs::read_to_string(&path)).map_err(|error| about(&path, &error))?;
        Ok(Self { path, text })
    }

    /// What was there before [`replace`](Self::replace) with a backup, if it is still kept.
    pub(crate) fn backup(&self) -> io::Result<Option<String>> {
        if_there(fs::read_to_string(beside(&self.path, BACKUP))).map_err(|error| about(&self.path, &error))
    }

    pub(crate) fn keep_backup(&self) -> io::Result<()> {
        let Some(text) = &self.text else { return Ok(()) };
        write(&beside(&self.path, BACKUP), text, &self.path)
    }

    pub(crate) fn drop_backup(&self) -> io::Result<()> {
        if_there(fs::remove_file(beside(&self.path, BACKUP))).map(|_| ())
    }

    /// Puts another text in the file's place, at once or not at all. None: no file.
    pub(crate) fn replace(&self, text: Option<&str>) -> io::Result<()> {
        let done = match text {
            Some(text) => write(&self.path, text, &self.path),
            None => if_there(fs::remove_file(&self.path)).map(|_| ()),
        };
        done.map_err(|error| about(&self.path, &error))
    }
}

const BACKUP: &str = ".before-session-todo";
const DRAFT: &str = ".session-todo-draft";

fn write(path: &Path, text: &str, like: &Path) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let draft = beside(path, DRAFT);
    fs::write(&draft, text)?;
    if let Some(metadata) = if_there(fs::metadata(like))? {
        fs::set_permissions(&draft, metadata.permissions())?;
    }
    fs::rename(&draft, path)
}

fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.file_name().map(OsString::from).unwrap_or_default();
    name.push(end);
    path.with_file_name(name)
}

fn if_there<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn about(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
