//! `OpenCode`: the MCP server, in its settings for all projects.

mod edit;
#[cfg(test)]
mod tests;

use std::env;
use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use session_todo_hooks::change::{self, Change, ChangeError, Edit, is_our_program};

use crate::install::program;

const PARENT: &str = "mcp";
const SERVER: [&str; 2] = [PARENT, "session-todo"];
const COMMAND: [&str; 3] = [PARENT, "session-todo", "command"];

/// What has to be changed in the client's settings.
pub(crate) fn changes(uninstall: bool) -> io::Result<Vec<Change>> {
    let server = Server { program: program()? };
    planned(&server, &folder()?, uninstall).map_err(io::Error::other)
}

/// The client reads both of the names that its settings may have.
fn planned(server: &Server, folder: &Path, uninstall: bool) -> Result<Vec<Change>, ChangeError> {
    let [commented, plain] = ["opencode.jsonc", "opencode.json"].map(|name| folder.join(name));
    let in_plain = change::uninstall(&plain, server);
    if uninstall {
        return Ok(change::uninstall(&commented, server)?.into_iter().chain(in_plain?).collect());
    }
    let is_in_plain = in_plain.is_ok_and(|change| change.is_some());
    let path = if !is_in_plain && commented.symlink_metadata().is_ok() { commented } else { plain };
    Ok(change::install(&path, server)?.into_iter().collect())
}

fn folder() -> io::Result<PathBuf> {
    let told = env::var_os("XDG_CONFIG_HOME").filter(|told| !told.is_empty()).map(PathBuf::from);
    let folder = told.or_else(|| Some(dirs::home_dir()?.join(".config")));
    Ok(folder.ok_or_else(|| io::Error::other("there is no home folder"))?.join("opencode"))
}

/// Our server, as this program is started.
struct Server {
    program: String,
}

impl Edit for Server {
    /// Of a server that is there, the program is renewed if it moved; what a person set stays.
    fn install(&self, text: &str) -> Result<String, Box<dyn Error>> {
        let Some(there) = self.find(text)? else { return Ok(edit::insert(text, &SERVER, &self.member().to_string())?) };
        // One that is found by its name is where it was.
        let has_moved = Path::new(&there).is_absolute() && there != self.program;
        Ok(if has_moved { edit::set_first(text, &COMMAND, &self.program)? } else { text.to_owned() })
    }

    fn uninstall(&self, text: &str, original: &str) -> Result<String, Box<dyn Error>> {
        if self.find(text)?.is_none() {
            return Ok(text.to_owned());
        }
        let rest = edit::remove(text, &SERVER)?;
        let parent = edit::find(&rest, &[PARENT])?;
        let is_empty = parent.is_some_and(|parent| parent.split_whitespace().collect::<String>() == "{}");
        let was_there = edit::find(original, &[PARENT]).is_ok_and(|parent| parent.is_some());
        Ok(if is_empty && !was_there { edit::remove(&rest, &[PARENT])? } else { rest })
    }
}

impl Server {
    /// One list for each folder in which `OpenCode` is started: it names its session to no server.
    fn member(&self) -> Value {
        json!({
            "type": "local",
            "command": [self.program, "mcp"],
            "environment": { "SESSION_TODO_SESSION": "opencode {env:PWD}" },
        })
    }

    /// The program of the server that is there, if one is. It is ours if it starts our program as a server.
    fn find(&self, text: &str) -> Result<Option<String>, Box<dyn Error>> {
        let Some(found) = edit::find(text, &SERVER)? else { return Ok(None) };
        let found = edit::meaning(&found).unwrap_or_default();
        let word = |at| found.pointer(at).and_then(Value::as_str);
        let ours = |program: &&str| *program == self.program || is_our_program(program);
        match (word("/command/0").filter(ours), word("/command/1")) {
            (Some(program), Some("mcp")) => Ok(Some(program.to_owned())),
            _ => Err("it has another server named session-todo, which install did not write".into()),
        }
    }
}
