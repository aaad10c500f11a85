use std::io::{self, Write};
use std::path::Path;

use clap::ValueEnum;

use crate::claude_code;
use crate::opencode;
use crate::terminal::shown;

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
    match client {
        Client::ClaudeCode => claude_code::run(dry_run, uninstall),
        Client::Opencode => opencode::run(dry_run, uninstall),
    }
}

/// Prints the lines of a file that go and come, between those at both ends that stay. None: no file.
pub(crate) fn show(path: &Path, before: Option<&str>, after: Option<&str>) -> io::Result<()> {
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
