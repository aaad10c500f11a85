//! Changes of settings files that people wrote: planned as whole texts, shown by whoever asked, and then made, all
//! of them or none.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::{fmt, fs};

use tempfile::NamedTempFile;

/// The most links from one to the next.
const LINKS: usize = 40;

/// How a file's text gets what is ours, and loses it. The error says why the text can't be changed.
pub trait Edit {
    /// The text with what is ours: itself, where all of it is there.
    ///
    /// # Errors
    ///
    /// A text that is not as the client takes it.
    fn install(&self, text: &str) -> Result<String, Box<dyn std::error::Error>>;

    /// The text without what is ours: itself, where nothing of it is there. What is empty then goes too, if it is
    /// not in `original`, the text from before.
    ///
    /// # Errors
    ///
    /// As of [`install`](Self::install).
    fn uninstall(&self, text: &str, original: &str) -> Result<String, Box<dyn std::error::Error>>;
}

/// One file, as it is and as it will be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The file; of a link, the one that it leads to.
    pub path: PathBuf,
    /// What it holds; none where it is not there.
    pub before: Option<String>,
    /// What it will hold; none where it will not be there.
    pub after: Option<String>,
    /// What becomes of the text from before `install`.
    pub backup: Backup,
}

/// What becomes of the text from before `install`, which is kept beside a file ([`backup`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backup {
    /// This change makes it.
    Made,
    /// An earlier one made it, and it is wanted still.
    Kept,
    /// Nothing of ours is there any more, or nothing was there before.
    Gone,
}

/// Why something was not changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChangeError {
    /// The operating system refused.
    #[error("can't {doing} {}: {source}", path.display())]
    Io {
        /// What was tried.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// What came.
        source: io::Error,
    },
    /// A file that is not as the client takes it.
    #[error("{} was left as it is, and so was everything else: {why}", path.display())]
    Unfit {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A file that somebody else changed since it was read.
    #[error("{} was changed by somebody else just now. Try again", path.display())]
    Meanwhile {
        /// The file.
        path: PathBuf,
    },
    /// Not all of several changes.
    #[error("{cause}. {}", Told(changed))]
    Unmade {
        /// The first that went wrong.
        cause: Box<ChangeError>,
        /// The files that were changed all the same.
        changed: Vec<PathBuf>,
    },
}

/// Files that were changed, in words.
struct Told<'a>(&'a [PathBuf]);

impl fmt::Display for Told<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((first, rest)) = self.0.split_first() else { return out.write_str("Nothing was changed") };
        write!(out, "Changed: {}", first.display())?;
        rest.iter().try_for_each(|path| write!(out, ", {}", path.display()))?;
        out.write_str("; and nothing else")
    }
}

/// What has to be changed so that all of ours is in this file, if anything.
///
/// # Errors
///
/// A file that can't be read, or is not as the client takes it.
pub fn install(path: &Path, edit: &impl Edit) -> Result<Option<Change>, ChangeError> {
    let path = followed(path)?;
    let before = read(&path)?;
    let text = before.as_deref().unwrap_or_default();
    let after = edit.install(text).map_err(|why| unfit(&path, &why))?;
    let backup = match &before {
        None => Backup::Gone,
        // A text with something of ours is not the one from before.
        Some(text) if edit.uninstall(text, text).is_ok_and(|without| without == *text) => Backup::Made,
        Some(_) => Backup::Kept,
    };
    let is_same = before.as_ref() == Some(&after);
    Ok((!is_same).then_some(Change { path, before, after: Some(after), backup }))
}

/// What has to be changed so that nothing of ours is in this file, if anything: to the text from before, where
/// nothing else was changed since.
///
/// # Errors
///
/// As of [`install`].
pub fn uninstall(path: &Path, edit: &impl Edit) -> Result<Option<Change>, ChangeError> {
    let path = followed(path)?;
    let Some(before) = read(&path)? else { return Ok(None) };
    let original = read(&backup(&path))?;
    let was = original.as_deref().unwrap_or_default();
    let without = edit.uninstall(&before, was).map_err(|why| unfit(&path, &why))?;
    if without == before {
        return Ok(None);
    }
    let is_alone =
        edit.install(was).and_then(|with| edit.uninstall(&with, was)).is_ok_and(|unchanged| unchanged == without);
    let after = if is_alone { original } else { Some(without) };
    Ok(Some(Change { path, before: Some(before), after, backup: Backup::Gone }))
}

/// Makes all the changes, or none: all is written beside the files before the first takes its place at once.
///
/// # Errors
///
/// What the operating system refuses, and a file that is not any more as it was when the change was planned. The
/// error says what was changed all the same.
pub fn make(changes: &[Change]) -> Result<(), ChangeError> {
    let mut made = Vec::new();
    all(changes, &mut made).map_err(|cause| ChangeError::Unmade { cause: Box::new(cause), changed: made })
}

fn all(changes: &[Change], made: &mut Vec<PathBuf>) -> Result<(), ChangeError> {
    let drafts = changes.iter().map(Drafts::of).collect::<Result<Vec<_>, _>>()?;
    changes.iter().try_for_each(Change::is_as_planned)?;
    for (change, drafts) in changes.iter().zip(drafts) {
        change.is_as_planned()?;
        change.take_place(drafts)?;
        made.push(change.path.clone());
    }
    changes.iter().filter(|change| change.backup == Backup::Gone).try_for_each(|change| remove(&backup(&change.path)))
}

impl Change {
    fn is_as_planned(&self) -> Result<(), ChangeError> {
        let is_same = read(&self.path)? == self.before;
        if is_same { Ok(()) } else { Err(ChangeError::Meanwhile { path: self.path.clone() }) }
    }

    fn take_place(&self, drafts: Drafts) -> Result<(), ChangeError> {
        let backup = backup(&self.path);
        if let Some(draft) = drafts.backup {
            draft.persist(&backup).map_err(|error| failed("write", &backup)(error.error))?;
        }
        let Some(draft) = drafts.file else { return remove(&self.path) };
        draft.persist(&self.path).map(drop).map_err(|error| {
            if self.backup == Backup::Made {
                let _ = fs::remove_file(&backup);
            }
            failed("write", &self.path)(error.error)
        })
    }
}

/// What will take its place, written and synced. Dropped, it is gone.
struct Drafts {
    file: Option<NamedTempFile>,
    backup: Option<NamedTempFile>,
}

impl Drafts {
    fn of(change: &Change) -> Result<Self, ChangeError> {
        let draft = |text: &String| draft(&change.path, text).map_err(failed("write beside", &change.path));
        let kept = change.before.as_ref().filter(|_| change.backup == Backup::Made);
        Ok(Self { file: change.after.as_ref().map(draft).transpose()?, backup: kept.map(draft).transpose()? })
    }
}

/// A text beside a file, as private as the file; where there is none, for its owner alone.
fn draft(path: &Path, text: &str) -> io::Result<NamedTempFile> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder)?;
    let mut draft = tempfile::Builder::new().prefix(".session-todo-").tempfile_in(folder)?;
    draft.write_all(text.as_bytes())?;
    if let Ok(file) = fs::metadata(path) {
        draft.as_file().set_permissions(file.permissions())?;
    }
    draft.as_file().sync_all()?;
    Ok(draft)
}

/// Where a file's text from before is kept.
#[must_use]
pub fn backup(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".before-session-todo");
    path.with_file_name(name)
}

/// Whether a path is our command's, wherever that is. A name that only begins like it is somebody else's.
#[must_use]
pub fn is_our_program(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next();
    name.is_some_and(|name| name == "session-todo" || name == "session-todo.exe")
}

/// Where a link leads, also if nothing is there: people keep their settings elsewhere.
fn followed(path: &Path) -> Result<PathBuf, ChangeError> {
    let mut at = path.to_owned();
    for _ in 0..LINKS {
        let Ok(target) = fs::read_link(&at) else { return Ok(at) };
        at = at.parent().map_or_else(|| target.clone(), |folder| folder.join(&target));
    }
    Err(failed("follow", path)(io::Error::other(format!("more than {LINKS} links"))))
}

fn read(path: &Path) -> Result<Option<String>, ChangeError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(unfit(path, &"it is not UTF-8")),
        Err(source) => Err(failed("read", path)(source)),
    }
}

fn remove(path: &Path) -> Result<(), ChangeError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed("remove", path)(error)),
        _ => Ok(()),
    }
}

fn failed(doing: &'static str, path: &Path) -> impl Fn(io::Error) -> ChangeError {
    let path = path.to_owned();
    move |source| ChangeError::Io { doing, path: path.clone(), source }
}

fn unfit(path: &Path, why: &dyn fmt::Display) -> ChangeError {
    ChangeError::Unfit { path: path.to_owned(), why: why.to_string() }
}
