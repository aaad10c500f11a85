use crate::Format;

/// What can't be read, or can't be trusted to be whole.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// A text is not what its format says.
    #[error("{what} is not what {format} sends: {source}")]
    Unreadable {
        /// What was to be read.
        what: &'static str,
        /// The format that it was read as.
        format: Format,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// A response without an answer, which is what a provider's error looks like.
    #[error("a response of {format} with `{wanted}` is wanted; this one begins: {begins}")]
    NoAnswer {
        /// The format that it was read as.
        format: Format,
        /// The key that an answer has.
        wanted: &'static str,
        /// The first of what came.
        begins: String,
    },
    /// Messages were deleted, and the state as it was then is not in the record (P3).
    #[error("the history is incomplete: of {compactions} known compactions the record holds no state to begin from")]
    HistoryIncomplete {
        /// How many compactions are known; 0 where only the calls tell that something is gone.
        compactions: u64,
    },
    /// The record is of another history.
    #[error("the record says that a compaction kept {kept} messages; the history holds {messages}")]
    OtherHistory {
        /// The messages that the record speaks of.
        kept: usize,
        /// The messages that there are.
        messages: usize,
    },
}
