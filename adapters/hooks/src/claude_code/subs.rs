//! Which calls of our server's tools are a sub-agent's. The client tells its hooks who calls, and its servers no more
//! than the call's id; so the hook leaves an empty file of that name beside the logs, which the server takes away.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use session_todo::Caller;

use crate::error::HookError;

/// The member of a server request's `_meta` that holds the call's id (seen in 2.1.197 and 2.1.332).
pub const TOOL_USE_ID: &str = "claudecode/toolUseId";
/// The most bytes of an id. The client's have about thirty.
const LONGEST: usize = 100;

/// Says that a sub-agent is about to make this call.
pub(super) fn mark(folder: &Path, id: &str) -> Result<(), HookError> {
    let Some(path) = path(folder, id) else { return Ok(()) };
    let made = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| File::create(&path));
    made.map(drop).map_err(|source| HookError::Io { path, source })
}

/// Who makes the call of this id, of which a server is asked: once, as its mark is taken away. Main, where nothing
/// says otherwise.
#[must_use]
pub fn caller(folder: &Path, id: &str) -> Caller {
    match path(folder, id).map(fs::remove_file) {
        Some(Ok(())) => Caller::Sub,
        _ => Caller::Main,
    }
}

/// None for what could be more than a name.
fn path(folder: &Path, id: &str) -> Option<PathBuf> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let is_name = (1..=LONGEST).contains(&id.len()) && id.bytes().all(is_plain);
    is_name.then(|| folder.join("sub-agents").join(id))
}
