use std::io;
use std::path::PathBuf;
use std::process::Command;

use session_todo_hooks::change::Change;
use session_todo_hooks::claude_code::install::Place;

use crate::install::program;

/// What has to be changed in the client's settings.
pub(crate) fn changes(uninstall: bool) -> io::Result<Vec<Change>> {
    let place = place()?;
    if uninstall { place.uninstall() } else { place.install() }.map_err(io::Error::other)
}

fn place() -> io::Result<Place> {
    let own = std::env::var_os("CLAUDE_CONFIG_DIR").filter(|own| !own.is_empty()).map(PathBuf::from);
    let home = std::env::home_dir().filter(|home| home.is_absolute());
    let (settings, servers) = match (own, home) {
        (Some(own), _) => (own.clone(), own),
        (None, Some(home)) => (home.join(".claude"), home),
        (None, None) => {
            return Err(io::Error::other("there is no home folder. Name the client's in CLAUDE_CONFIG_DIR"));
        }
    };
    Ok(Place { settings, servers, command: program()?.into(), version: version() })
}

/// The installed client's version, if it can be asked.
fn version() -> Option<[u32; 3]> {
    let answer = Command::new("claude").arg("--version").output().ok()?;
    let answer = String::from_utf8(answer.stdout).ok()?;
    let mut numbers = answer.split_whitespace().next()?.split('.').map(str::parse);
    let mut next = || numbers.next()?.ok();
    Some([next()?, next()?, next()?])
}
