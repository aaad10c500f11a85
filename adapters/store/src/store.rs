use session_todo::Policy;

use crate::error::{AppendError, StoreError};
use crate::id::SessionId;
use crate::record::{Cached, Record, Version};

/// Who is given the records of a log, in order, each with its number. An error ends the reading.
pub type Each<'f> = &'f mut dyn FnMut(Version, Record<'_>) -> Result<(), StoreError>;

/// Keeps the logs of sessions, and a cached state beside each.
///
/// A session without a log is one at [`Version::START`]; nothing has to be created first.
pub trait Store {
    /// Puts records at the end of a log: all of them or none, and only if the log is at `expected`. Gives
    /// the version after them.
    ///
    /// # Errors
    ///
    /// [`AppendError::Conflict`] where somebody else appended meanwhile. After every error nothing was
    /// appended as far as this store can know; what can't be known shows as a conflict of the next append.
    fn append(
        &mut self,
        session: &SessionId,
        expected: Version,
        records: &[Record<'_>],
    ) -> Result<Version, AppendError>;

    /// Gives out the records after `from`, and then the version that the log has.
    ///
    /// # Errors
    ///
    /// Damage, where the store fails, and what `each` gives.
    fn read(&mut self, session: &SessionId, from: Version, each: Each<'_>) -> Result<Version, StoreError>;

    /// The cached state, if there is one that is beyond doubt.
    ///
    /// # Errors
    ///
    /// Where the store fails. A cache that can't be read is none.
    fn cached_state(&mut self, session: &SessionId) -> Result<Option<Cached>, StoreError>;

    /// Keeps a state, so that the records before it need not be folded again. One that is of the log's last
    /// record (P5), or older than what is cached, is not kept.
    ///
    /// # Errors
    ///
    /// Where the store fails. The log is as it was.
    fn cache_state(&mut self, session: &SessionId, cached: &Cached) -> Result<(), StoreError>;

    /// The sessions that have a log, in the order of their names.
    ///
    /// # Errors
    ///
    /// Where the store fails.
    fn sessions(&mut self) -> Result<Vec<SessionId>, StoreError>;
}

/// What no log may hold: a beginning without a policy, and a policy that nobody could read again (P6).
pub(crate) fn check(expected: Version, records: &[Record<'_>]) -> Result<(), StoreError> {
    if expected == Version::START && matches!(records.first(), Some(Record::Event(_))) {
        return Err(StoreError::NoPolicy);
    }
    for record in records {
        if let Record::Policy { name, .. } = record
            && Policy::named(name).is_none()
        {
            return Err(StoreError::UnknownPolicy { name: name.to_string() });
        }
    }
    Ok(())
}
