use std::io;

use clap::ValueEnum;

use crate::claude_code;
use crate::opencode;

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
