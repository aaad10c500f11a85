use session_todo_store::{BadSessionId, StoreError};

/// Why a hook could not do its work. The client goes on without it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HookError {
    /// What came on stdin is no event of the client.
    #[error("the hook's input can't be read: {0}. Wanted: the JSON object that the client gives its hooks")]
    Input(#[from] serde_json::Error),
    /// The client's session has a name that no log can have.
    #[error(transparent)]
    Session(#[from] BadSessionId),
    /// The log could not be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The operating system refused a file beside the log.
    #[error("can't write {}: {source}", path.display())]
    Io {
        /// Which file.
        path: std::path::PathBuf,
        /// What came.
        source: std::io::Error,
    },
}
