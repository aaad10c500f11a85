use std::env;
use std::io::{self, Write};
use std::path::Path;

use clap::ValueEnum;
use session_todo_hooks::change::{backup, make};

use crate::terminal::{shown, words};
use crate::{DONE, claude_code, opencode};

/// A client whose settings are known.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Client {
    /// Claude Code: the hooks and the MCP server
    ClaudeCode,
    /// `OpenCode`: the MCP server
    Opencode,
}

/// Shows the change of the client's settings, and makes it unless it is only to be shown.
pub(crate) fn run(client: Client, dry_run: bool, uninstall: bool) -> io::Result<u8> {
    let changes = match client {
        Client::ClaudeCode => claude_code::changes(uninstall)?,
        Client::Opencode => opencode::changes(uninstall)?,
    };
    if changes.is_empty() {
        words("nothing to do: it is as it should be");
    }
    for change in &changes {
        show(&change.path, change.before.as_deref(), change.after.as_deref())?;
    }
    if !dry_run {
        make(&changes).map_err(io::Error::other)?;
        for kept in changes.iter().map(|change| backup(&change.path)).filter(|kept| kept.exists()) {
            words(&format!("the text from before is kept in {}", kept.display()));
        }
    }
    Ok(DONE)
}

/// This program's path, as settings can hold it.
pub(crate) fn program() -> io::Result<String> {
    let path = env::current_exe()?.into_os_string().into_string();
    path.map_err(|path| {
        io::Error::other(format!(
            "settings can't hold this program's path, {}: it is not UTF-8. Move the program, and install again",
            path.display()
        ))
    })
}

/// Prints the lines of a file that go and come, between those at both ends that stay. None: no file.
fn show(path: &Path, before: Option<&str>, after: Option<&str>) -> io::Result<()> {
    let [old, new] = [before, after].map(|text| text.unwrap_or_default().lines().collect::<Vec<_>>());
    let first = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let most = old.len().min(new.len()) - first;
    let last = old.iter().rev().zip(new.iter().rev()).take(most).take_while(|(old, new)| old == new).count();
    let mut out = io::stdout().lock();
    writeln!(out, "{}, from line {}:", shown(&path.display().to_string()), first + 1)?;
    for (sign, lines) in [('-', &old), ('+', &new)] {
        for changed in lines.iter().take(lines.len() - last).skip(first) {
            // Whole, for it is what will be written; and a tab is how it is laid out.
            let whole: Vec<String> = changed.split('\t').map(shown).collect();
            writeln!(out, "{sign} {}", whole.join("\t"))?;
        }
    }
    if after.is_none() {
        writeln!(out, "The file goes: it was not there before.")?;
    }
    Ok(())
}
