//! Logs in PostgreSQL.
//!
//! The primary key is the session and the record's number, and a record is only put in behind the one before it:
//! so of two appends at one version one wins, the other is a conflict, and there are no gaps.

mod connection;
mod schema;

use postgres::error::SqlState;
use postgres::{Client, Error};

use self::connection::Connection;
use crate::error::{AppendError, StoreError};
use crate::id::SessionId;
use crate::record::{Cached, Record, Version};
use crate::store::{self, Each, Store};

/// Records that are fetched at once.
const PIECE: u16 = 1000;

const APPEND: &str = "
    INSERT INTO session_todo_record (session, version, append, record)
    SELECT $1, $2 + number, $3, record FROM unnest($4::text[]) WITH ORDINALITY AS new (record, number)
    WHERE $2 = (SELECT coalesce(max(version), 0) FROM session_todo_record WHERE session = $1)";

const READ: &str = "
    SELECT version, record FROM session_todo_record
    WHERE session = $1 AND version > $2 ORDER BY version LIMIT $3";

const VERSION: &str = "SELECT coalesce(max(version), 0) FROM session_todo_record WHERE session = $1";

/// Never of the last record (P5), never older than what is there, unless that is of another history. One of the same
/// record is replaced: whoever caches it could not use what is there.
const CACHE: &str = "
    INSERT INTO session_todo_cache AS cache (session, version, policy, state, append)
    SELECT $1, $2, $3, $4, append FROM session_todo_record WHERE session = $1 AND version = $2
    AND EXISTS (SELECT FROM session_todo_record WHERE session = $1 AND version > $2)
    ON CONFLICT (session) DO UPDATE
    SET version = excluded.version, policy = excluded.policy, state = excluded.state, append = excluded.append
    WHERE cache.version <= excluded.version OR NOT EXISTS (
        SELECT FROM session_todo_record AS record
        WHERE record.session = $1 AND record.version = cache.version AND record.append = cache.append)";

/// An append has a mark that no other has, in any database. So where the record is of the same append, the history up
/// to it is the one that was folded.
const CACHED: &str = "
    SELECT cache.version, policy, state FROM session_todo_cache AS cache
    JOIN session_todo_record AS record USING (session, version, append)
    WHERE session = $1
    AND EXISTS (SELECT FROM session_todo_record AS next WHERE next.session = $1 AND next.version > cache.version)";

const SESSIONS: &str = "SELECT session FROM session_todo_record WHERE version = 1 ORDER BY session";

const BY_WHOM: &str = "SELECT append FROM session_todo_record WHERE session = $1 AND version = $2";

/// Logs in a database, for as many machines as one likes.
///
/// It connects again when the server was restarted or the connection broke, and then finds out whether an append
/// under way is there; so an append is done once. Appends last as the server's `synchronous_commit` says, which is
/// on unless somebody turned it off. Its methods wait for the server: from asynchronous code, call them where
/// blocking is allowed. How long they wait for one that no longer answers is the connection's to say
/// (`connect_timeout`, `tcp_user_timeout`, `keepalives_idle`); the operating system's own limits are minutes and hours.
pub struct Postgres {
    connection: Connection,
    appends: u64,
}

impl Postgres {
    /// The database at this URL, without TLS. Its tables are created, or brought up to date.
    ///
    /// # Errors
    ///
    /// A server that can't be reached or refuses, and a database of a later release.
    pub fn connect(url: &str) -> Result<Self, StoreError> {
        let config: postgres::Config = url.parse()?;
        Self::with(move || config.connect(postgres::NoTls))
    }

    /// A database that is reached in a way of one's own, such as with TLS. `connect` is called again whenever the
    /// connection broke.
    ///
    /// # Errors
    ///
    /// A server that can't be reached or refuses, and a database of a later release.
    pub fn with(connect: impl FnMut() -> Result<Client, Error> + Send + 'static) -> Result<Self, StoreError> {
        Ok(Self { connection: Connection::new(Box::new(connect))?, appends: 0 })
    }

    fn version(&mut self, session: &SessionId) -> Result<Version, StoreError> {
        let row = self.connection.run(|client| client.query_one(VERSION, &[&session.as_str()]))?;
        Ok(version_of(row.try_get(0)?))
    }

    /// Puts records in. `None` where the log has another version.
    fn insert(&mut self, session: &SessionId, at: i64, records: &[String]) -> Result<Option<()>, StoreError> {
        self.appends += 1;
        let append = format!("{}/{}", self.connection.name(), self.appends);
        let mut tries = 0_u32;
        let rows = self.connection.run(|client| {
            tries += 1;
            match client.execute(APPEND, &[&session.as_str(), &at, &append, &records]) {
                Err(error) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => Ok(0),
                rows => rows,
            }
        })?;
        if rows > 0 {
            return Ok(Some(()));
        }
        // The connection broke, and perhaps the first try had been done.
        let is_ours = tries > 1 && self.by_whom(session, at.saturating_add(1))?.as_ref() == Some(&append);
        Ok(is_ours.then_some(()))
    }

    fn by_whom(&mut self, session: &SessionId, version: i64) -> Result<Option<String>, StoreError> {
        let row = self.connection.run(|client| client.query_opt(BY_WHOM, &[&session.as_str(), &version]))?;
        Ok(row.map(|row| row.try_get(0)).transpose()?)
    }
}

impl Store for Postgres {
    fn append(
        &mut self,
        session: &SessionId,
        expected: Version,
        records: &[Record<'_>],
    ) -> Result<Version, AppendError> {
        store::check(expected, records)?;
        let texts: Result<Vec<String>, _> = records.iter().map(serde_json::to_string).collect();
        let texts = texts.map_err(|_| damaged(session, expected, "a record can't be written as JSON"))?;
        if !texts.is_empty() && self.insert(session, number_of(expected), &texts)?.is_some() {
            return Ok(expected.plus(texts.len()));
        }
        match self.version(session)? {
            actual if texts.is_empty() && actual == expected => Ok(actual),
            actual => Err(AppendError::Conflict { expected, actual }),
        }
    }

    fn read(&mut self, session: &SessionId, from: Version, each: Each<'_>) -> Result<Version, StoreError> {
        let mut at = from;
        loop {
            let (after, piece) = (number_of(at), i64::from(PIECE));
            let rows = self.connection.run(|client| client.query(READ, &[&session.as_str(), &after, &piece]))?;
            for row in &rows {
                let version = version_of(row.try_get(0)?);
                if version != at.plus(1) {
                    return Err(damaged(session, at, "a record is missing"));
                }
                let record = serde_json::from_str(row.try_get(1)?);
                each(version, record.map_err(|error| unread(session, at, &error))?)?;
                at = version;
            }
            // The last piece; where there was none, the log may end before `from`. What is appended meanwhile was not
            // given out, and does not count.
            if rows.len() < usize::from(PIECE) {
                return if at == from { Ok(self.version(session)?.min(at)) } else { Ok(at) };
            }
        }
    }

    fn cached_state(&mut self, session: &SessionId) -> Result<Option<Cached>, StoreError> {
        let row = self.connection.run(|client| client.query_opt(CACHED, &[&session.as_str()]))?;
        let Some(row) = row else { return Ok(None) };
        let version = version_of(row.try_get(0)?);
        let state = serde_json::from_str(row.try_get(2)?).ok();
        let policy = row.try_get(1)?;
        Ok(state.map(|state| Cached { version, policy, state }))
    }

    fn cache_state(&mut self, session: &SessionId, cached: &Cached) -> Result<(), StoreError> {
        let version = number_of(cached.version);
        let state = serde_json::to_string(&cached.state)
            .map_err(|_| damaged(session, cached.version, "the state can't be written as JSON"))?;
        self.connection.run(|client| client.execute(CACHE, &[&session.as_str(), &version, &cached.policy, &state]))?;
        Ok(())
    }

    fn sessions(&mut self) -> Result<Vec<SessionId>, StoreError> {
        let rows = self.connection.run(|client| client.query(SESSIONS, &[]))?;
        let mut sessions = Vec::with_capacity(rows.len());
        for row in &rows {
            // What is no id was not written by this crate.
            sessions.extend(SessionId::new(row.try_get::<_, String>(0)?));
        }
        Ok(sessions)
    }
}

/// The database counts in signed numbers. A log that long does not exist, so it reads as one at another version.
fn number_of(version: Version) -> i64 {
    i64::try_from(version.0).unwrap_or(i64::MAX)
}

fn version_of(number: i64) -> Version {
    Version(u64::try_from(number).unwrap_or_default())
}

/// JSON that is none of our records was written by a later release, or by hand.
fn unread(session: &SessionId, good: Version, error: &serde_json::Error) -> StoreError {
    match error.classify() {
        serde_json::error::Category::Data => StoreError::Later { place: format!("the log of {session}"), good },
        _ => damaged(session, good, "the record can't be read"),
    }
}

fn damaged(session: &SessionId, good: Version, why: &'static str) -> StoreError {
    StoreError::Damaged { place: format!("the log of {session}"), offset: None, good, why }
}
