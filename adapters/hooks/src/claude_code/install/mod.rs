//! Hooks and MCP server in Claude Code's settings: `settings.json` in its folder for the hooks, `.claude.json`
//! for the servers, which is where `claude mcp add --scope user` puts them. The texts are changed in place, and
//! nothing of them but what is ours.

mod json;
mod settings;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use crate::change::{self, Change, ChangeError};
use settings::{Entries, File};

/// The first version that tells of a response's calls together. Versions before 2.1.101 read no file that
/// names an event which they do not know.
const BATCH: [u32; 3] = [2, 1, 145];

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
    pub fn install(&self) -> Result<Vec<Change>, ChangeError> {
        self.files().iter().filter_map(|(path, entries)| change::install(path, entries).transpose()).collect()
    }

    /// What has to be changed so that they are gone: to what was there before, where nothing was changed since.
    ///
    /// # Errors
    ///
    /// As of [`install`](Self::install).
    pub fn uninstall(&self) -> Result<Vec<Change>, ChangeError> {
        self.files().iter().filter_map(|(path, entries)| change::uninstall(path, entries).transpose()).collect()
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
