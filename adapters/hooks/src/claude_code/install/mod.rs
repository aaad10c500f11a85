//! Hooks and MCP server in Claude Code's settings: `settings.json` in its folder for the hooks, `.claude.json`
//! for the servers, which is where `claude mcp add --scope user` puts them. The texts are changed in place, and
//! nothing of them but what is ours.

mod json;
mod settings;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::{fs, io};

use settings::{Entries, File};

/// The first version that tells of a response's calls together. Versions before 2.1.101 read no file that
/// names an event which they do not know.
const BATCH: [u32; 3] = [2, 1, 145];

/// One file, as it is and as it will be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The file.
    pub path: PathBuf,
    /// What it holds; none where it is not there.
    pub before: Option<String>,
    /// What it will hold; none where it will not be there.
    pub after: Option<String>,
    backup: Backup,
}

/// What becomes of the text from before `install`, which is kept beside a file ([`backup`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Backup {
    /// This change makes it.
    Made,
    /// An earlier one made it, and it may still be wanted.
    Kept,
    /// It is the file again.
    Gone,
}

/// Why nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InstallError {
    /// A file can't be read or written.
    #[error("can't {doing} {}: {source}", path.display())]
    Io {
        /// What was tried.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// What came.
        source: io::Error,
    },
    /// A file that is not as the client writes it.
    #[error("{} is left as it is, and so is everything else: {why}. Wanted: plain JSON, since from settings with \
             comments or trailing commas the client itself takes nothing", path.display())]
    Unfit {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
}

/// Where the client's files are, and how our command is started.
#[derive(Clone, Debug)]
pub struct Place {
    /// `$CLAUDE_CONFIG_DIR`, else `~/.claude`.
    pub settings: PathBuf,
    /// `$CLAUDE_CONFIG_DIR`, else the home folder.
    pub servers: PathBuf,
    /// The command `session-todo` by its path.
    pub command: PathBuf,
    /// The client's version, where it is known.
    pub version: Option<[u32; 3]>,
}

impl Place {
    /// What has to be changed so that hooks and server are there. A file that needs no change is left out.
    ///
    /// # Errors
    ///
    /// A file that can't be read, or is not as the client writes it.
    pub fn install(&self) -> Result<Vec<Change>, InstallError> {
        let mut changes = Vec::new();
        for (path, entries) in self.files() {
            let before = read(&path)?;
            let text = before.as_deref().unwrap_or_default();
            let after = entries.install(text).map_err(|why| unfit(&path, &why))?;
            // A text with something of ours is not the one from before.
            let is_clean = entries.uninstall(text, text).is_ok_and(|without| without == text);
            let backup = if before.is_some() && is_clean { Backup::Made } else { Backup::Kept };
            changes.push(Change { path, before, after: Some(after), backup });
        }
        changes.retain(|change| change.before != change.after);
        Ok(changes)
    }

    /// What has to be changed so that they are gone: to what was there before, where nothing was changed since.
    ///
    /// # Errors
    ///
    /// As of [`install`](Self::install).
    pub fn uninstall(&self) -> Result<Vec<Change>, InstallError> {
        let mut changes = Vec::new();
        for (path, entries) in self.files() {
            let Some(before) = read(&path)? else { continue };
            let original = read(&backup(&path))?;
            let unchanged = |original: &str| entries.install(original).is_ok_and(|installed| installed == before);
            let (after, backup) = match original {
                Some(original) if unchanged(&original) => (Some(original), Backup::Gone),
                original => {
                    let without = entries.uninstall(&before, original.as_deref().unwrap_or_default());
                    let without = without.map_err(|why| unfit(&path, &why))?;
                    // What is there for us alone goes, too.
                    let is_left = original.is_some() || without == before || without.trim() != "{}";
                    (is_left.then_some(without), Backup::Kept)
                }
            };
            changes.push(Change { path, before: Some(before), after, backup });
        }
        changes.retain(|change| change.before != change.after);
        Ok(changes)
    }

    fn files(&self) -> [(PathBuf, Entries); 2] {
        let entries = |file| Entries {
            file,
            command: self.command.display().to_string(),
            has_batch: self.version.is_none_or(|version| version >= BATCH),
        };
        [
            (self.settings.join("settings.json"), entries(File::Settings)),
            (self.servers.join(".claude.json"), entries(File::Servers)),
        ]
    }
}

impl Change {
    /// Makes the change. What was there before `install` is kept beside the file ([`backup`]) until it is there
    /// again.
    ///
    /// # Errors
    ///
    /// Where the operating system refuses. Then the file is as it was.
    pub fn make(&self) -> Result<(), InstallError> {
        let backup = backup(&self.path);
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder).map_err(failed("create the folder", folder))?;
        }
        if self.backup == Backup::Made {
            // A copy is as private as the file.
            fs::copy(&self.path, &backup).map_err(failed("write", &backup))?;
        }
        match &self.after {
            Some(after) => self.write(after)?,
            None => fs::remove_file(&self.path).map_err(failed("remove", &self.path))?,
        }
        if self.backup == Backup::Gone {
            fs::remove_file(&backup).map_err(failed("remove", &backup))?;
        }
        Ok(())
    }

    /// At once: a client that reads the file meanwhile reads it whole.
    fn write(&self, text: &str) -> Result<(), InstallError> {
        if self.before.is_none() {
            return fs::write(&self.path, text).map_err(failed("write", &self.path));
        }
        // The file may be a link to where somebody keeps their settings.
        let path = fs::canonicalize(&self.path).map_err(failed("find", &self.path))?;
        let draft = path.with_extension("session-todo-draft");
        fs::copy(&path, &draft).map_err(failed("write", &draft))?;
        let written = fs::write(&draft, text).and_then(|()| fs::rename(&draft, &path));
        written.map_err(failed("write", &path))
    }
}

fn failed(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> InstallError {
    let path = path.to_owned();
    move |source| InstallError::Io { doing, path, source }
}

/// Where a file's text from before is kept.
#[must_use]
pub fn backup(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".before-session-todo");
    path.with_file_name(name)
}

fn read(path: &Path) -> Result<Option<String>, InstallError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(unfit(path, &"it is not UTF-8")),
        Err(source) => Err(InstallError::Io { doing: "read", path: path.to_owned(), source }),
    }
}

fn unfit(path: &Path, why: &dyn std::fmt::Display) -> InstallError {
    InstallError::Unfit { path: path.to_owned(), why: why.to_string() }
}
