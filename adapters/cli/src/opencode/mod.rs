//! `OpenCode`: the MCP server, in its settings for all projects.

mod edit;
mod settings;

use std::env;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use self::edit::Why;
use self::settings::Settings;
use crate::install::show;
use crate::{DONE, terminal};

const PARENT: &str = "mcp";
const SERVER: [&str; 2] = [PARENT, "session-todo"];

/// Puts the server in, or takes it out. Settings that can't be read, or that have another server of this name,
/// are left as they are.
pub(crate) fn run(dry_run: bool, uninstall: bool) -> io::Result<u8> {
    let settings = Settings::read(path()?)?;
    let left = |why: String| io::Error::other(format!("{} was left as it is: {why}", settings.path.display()));
    let refused = |why: Why| left(why.to_string());
    let text = settings.text.as_deref().unwrap_or_default();
    let found = edit::find(text, &SERVER).map_err(refused)?;
    if found.as_deref().is_some_and(|found| !is_ours(found)) {
        return Err(left("it has another server named session-todo, which install did not write".to_owned()));
    }
    match (found, uninstall) {
        (Some(found), false) if !has_moved(&found)? => {
            terminal::words("nothing to do: the server is in the settings already");
        }
        (None, true) => terminal::words("nothing to do: the server is not in the settings"),
        (found, false) => {
            let after = edit::insert(text, &SERVER, &server()?).map_err(refused)?;
            show(&settings.path, settings.text.as_deref(), Some(&after))?;
            if !dry_run {
                // A text with the server is not the one from before.
                if found.is_none() {
                    settings.keep_backup()?;
                }
                settings.replace(Some(&after))?;
            }
        }
        (Some(found), true) => {
            let before = without(&settings, text, &found).map_err(refused)?;
            show(&settings.path, settings.text.as_deref(), before.as_deref())?;
            if !dry_run {
                settings.replace(before.as_deref())?;
                settings.drop_backup()?;
            }
        }
    }
    Ok(DONE)
}

/// The settings as they were, where nothing but the server has changed since. Else without the server alone,
/// and without the object around it if that is empty and was not there.
fn without(settings: &Settings, text: &str, found: &str) -> Result<Option<String>, Why> {
    let backup = settings.backup().unwrap_or_default();
    let was = backup.as_deref().unwrap_or_default();
    if edit::insert(was, &SERVER, found).is_ok_and(|with| with == text) {
        return Ok(backup);
    }
    let rest = edit::remove(text, &SERVER)?;
    let parent = edit::find(&rest, &[PARENT])?;
    let is_empty = parent.is_some_and(|parent| parent.split_whitespace().collect::<String>() == "{}");
    let was_there = edit::find(was, &[PARENT]).is_ok_and(|parent| parent.is_some());
    if is_empty && !was_there { edit::remove(&rest, &[PARENT]).map(Some) } else { Ok(Some(rest)) }
}

/// One list for each folder in which `OpenCode` is started: it names its session to no server.
fn server() -> io::Result<String> {
    let program = env::current_exe()?;
    let value = json!({
        "type": "local",
        "command": [program.to_string_lossy(), "mcp"],
        "environment": { "SESSION_TODO_SESSION": "opencode {env:PWD}" },
    });
    Ok(value.to_string())
}

/// What install has written, wherever the program was then.
fn is_ours(found: &str) -> bool {
    let shape = |text: &str| {
        let mut value = edit::meaning(text)?;
        *value.get_mut("command")?.get_mut(0)? = Value::Null;
        Some(value)
    };
    let ours = server().ok().and_then(|server| shape(&server));
    ours.is_some() && shape(found) == ours
}

/// Whether the program was at another path then. One that is found by its name is where it was.
fn has_moved(found: &str) -> io::Result<bool> {
    let now = env::current_exe()?;
    let then = edit::meaning(found).and_then(|found| Some(found.pointer("/command/0")?.as_str()?.to_owned()));
    Ok(then.is_some_and(|then| Path::new(&then).is_absolute() && then != now.to_string_lossy()))
}

/// The file that is there, of the two names that it may have.
fn path() -> io::Result<PathBuf> {
    let told = env::var_os("XDG_CONFIG_HOME").filter(|told| !told.is_empty()).map(PathBuf::from);
    let folder = told.or_else(|| Some(dirs::home_dir()?.join(".config")));
    let folder = folder.ok_or_else(|| io::Error::other("there is no home folder"))?.join("opencode");
    let commented = folder.join("opencode.jsonc");
    Ok(if commented.exists() { commented } else { folder.join("opencode.json") })
}
