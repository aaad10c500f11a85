use std::io::{self, Write};
use std::path::PathBuf;
use std::process::Command;

use session_todo_hooks::claude_code::install::{Place, backup};

use crate::DONE;
use crate::install::show;

/// Shows what changes in the client's settings, and changes it.
pub(crate) fn run(dry_run: bool, uninstall: bool) -> io::Result<u8> {
    let place = place()?;
    let changes = if uninstall { place.uninstall() } else { place.install() };
    let changes = changes.map_err(io::Error::other)?;
    let mut out = io::stdout().lock();
    if changes.is_empty() {
        writeln!(out, "Nothing to change.")?;
    }
    for change in &changes {
        show(&change.path, change.before.as_deref(), change.after.as_deref())?;
    }
    if !dry_run {
        for change in &changes {
            change.make().map_err(io::Error::other)?;
            let kept = backup(&change.path);
            if !uninstall && kept.exists() {
                writeln!(out, "Kept: {}", kept.display())?;
            }
        }
    }
    Ok(DONE)
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
    Ok(Place { settings, servers, command: std::env::current_exe()?, version: version() })
}

/// The installed client's version, if it can be asked.
fn version() -> Option<[u32; 3]> {
    let answer = Command::new("claude").arg("--version").output().ok()?;
    let answer = String::from_utf8(answer.stdout).ok()?;
    let mut numbers = answer.split_whitespace().next()?.split('.').map(str::parse);
    let mut next = || numbers.next()?.ok();
    Some([next()?, next()?, next()?])
}
