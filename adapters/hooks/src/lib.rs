//! The task list inside the agents that people already run: as hooks of the client.
//!
//! A client starts a short process at each of its events, gives it the event as JSON on stdin, and reads what it
//! prints. So a hook call reads the session's log, folds what happened, appends it, and only then prints what the
//! core said: a hook that is killed leaves a log that can be read, and never prints what it has not logged. A call
//! that has nothing to say prints nothing at all.
//!
//! ```
//! use session_todo_hooks::claude_code::{Environment, Hook};
//!
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path();
//! let hook = Hook { folder, policy: None, environment: Environment::default() };
//! let batch = br##"{"session_id":"s","hook_event_name":"PostToolBatch","tool_calls":[
//!     {"tool_name":"TaskCreate","tool_input":{"subject":"Run the tests","description":""},
//!      "tool_response":"Task #1 created successfully: Run the tests"}]}"##;
//! assert_eq!(hook.answer(batch)?, None);
//! let compacted = br#"{"session_id":"s","hook_event_name":"SessionStart","source":"compact"}"#;
//! let printed = hook.answer(compacted)?.expect("there is an open item");
//! assert!(printed.contains("Run the tests"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The client must go on whatever happens here: an error is a line on stderr and in a file of the log folder
//! ([`report`]), and the exit status is always 0.

pub mod change;
pub mod claude_code;
mod error;

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;

pub use error::HookError;

/// The file in the log folder that says what went wrong.
pub const ERRORS: &str = "errors.log";
/// Bytes after which that file begins anew.
const LONGEST: u64 = 1024 * 1024;

/// Keeps a line about what went wrong, for whoever looks for it later. Gives whether it is there: on a full disk,
/// say, it is not.
#[must_use]
pub fn report(folder: &Path, what: &str) -> bool {
    let path = folder.join(ERRORS);
    let is_long = fs::metadata(&path).is_ok_and(|file| file.len() > LONGEST);
    let mut options = OpenOptions::new();
    options.create(true).append(!is_long).write(true).truncate(is_long);
    // As private as the logs are.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let line = format!("{}\n", what.replace(['\n', '\r'], " "));
    let file = fs::create_dir_all(folder).and_then(|()| options.open(path));
    file.and_then(|mut file| file.write_all(line.as_bytes())).is_ok()
}
