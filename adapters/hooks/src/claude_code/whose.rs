//! Whose a call of our server's tools is. The client tells its hooks which session a call is of and who makes it, and
//! its servers no more than the call's id; so the hook leaves a file of that name beside the logs, which the server
//! reads and takes away. Of a call that is broken off before it comes to the server, and of which no batch tells, the
//! file stays: some fifty bytes.

use std::fs;
use std::path::{Path, PathBuf};

use session_todo::Caller;
use session_todo_store::SessionId;

use crate::error::HookError;

/// The member of a server request's `_meta` that holds the call's id (seen in 2.1.197 and 2.1.332).
pub const TOOL_USE_ID: &str = "claudecode/toolUseId";
/// The most bytes of an id. The client's have about thirty.
const LONGEST: usize = 100;

/// Whose a call is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whose {
    /// The session that it is of.
    pub session: SessionId,
    /// Who makes it.
    pub by: Caller,
}

/// Says whose the call of this id is, before the server has it.
pub(super) fn mark(folder: &Path, id: &str, Whose { session, by }: &Whose) -> Result<(), HookError> {
    let Some(path) = path(folder, id) else { return Ok(()) };
    let by = if *by == Caller::Sub { SUB } else { "main" };
    let made = path.parent().map_or(Ok(()), fs::create_dir_all);
    let made = made.and_then(|()| fs::write(&path, format!("{by} {session}\n")));
    made.map_err(|source| HookError::Io { path, source })
}

const SUB: &str = "sub";

/// Whose the call of this id is, for the server that has it: once, as the file is taken away. None where no hook
/// has said.
#[must_use]
pub fn whose(folder: &Path, id: &str) -> Option<Whose> {
    let path = path(folder, id)?;
    let said = fs::read_to_string(&path).ok()?;
    let _ = fs::remove_file(path);
    // Half a line would name another session.
    let (by, session) = said.strip_suffix('\n')?.split_once(' ')?;
    let by = if by == SUB { Caller::Sub } else { Caller::Main };
    Some(Whose { session: SessionId::new(session).ok()?, by })
}

/// None for what could be more than a name.
fn path(folder: &Path, id: &str) -> Option<PathBuf> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let is_name = (1..=LONGEST).contains(&id.len()) && id.bytes().all(is_plain);
    is_name.then(|| folder.join("calls").join(id))
}
