use std::io;

use clap::ValueEnum;

use crate::opencode;

/// A client whose settings are known.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Client {
    /// `OpenCode`: the MCP server
    Opencode,
}

/// Shows the change of the client's settings, and makes it unless it is only to be shown.
pub(crate) fn run(client: Client, dry_run: bool, uninstall: bool) -> io::Result<u8> {
    match client {
        Client::Opencode => opencode::run(dry_run, uninstall),
    }
}
