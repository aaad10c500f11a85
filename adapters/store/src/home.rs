use std::path::PathBuf;

/// The folder where programs keep their logs unless they are told another: `$SESSION_TODO_HOME`, else
/// `session-todo` in the platform's data folder. None where the platform has no such folder.
#[must_use]
pub fn home() -> Option<PathBuf> {
    let told = std::env::var_os("SESSION_TODO_HOME").filter(|told| !told.is_empty());
    told.map(PathBuf::from).or_else(|| dirs::data_dir().map(|data| data.join("session-todo")))
}
