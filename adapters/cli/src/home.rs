use std::env;
use std::io;
use std::path::PathBuf;

/// Names the log folder.
const VARIABLE: &str = "SESSION_TODO_HOME";

/// The log folder: the one that the environment names, else the platform's for data.
pub(crate) fn folder() -> io::Result<PathBuf> {
    let named = env::var_os(VARIABLE).filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let folder = named.or_else(|| Some(dirs::data_local_dir()?.join("session-todo")));
    let why = || io::Error::other(format!("there is no folder for data here. Name one with {VARIABLE}"));
    folder.ok_or_else(why)
}
