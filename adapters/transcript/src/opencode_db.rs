//! `OpenCode`'s database, which holds every session of a machine. It is never written to, and read as it
//! stood at one moment, also while the client works on it.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Row, Statement};

use crate::opencode::Messages;
use crate::{Family, Found, Recorded, Sink, Skipped};

/// How long a client may keep the database to itself.
const PATIENCE: Duration = Duration::from_secs(5);

/// A database of `OpenCode`'s, from 1.2 on.
#[derive(Debug)]
pub struct Database {
    connection: Connection,
}

/// A session of a [`Database`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredSession {
    /// Its id.
    pub id: String,
    /// The session whose sub-agent it is.
    pub parent: Option<String>,
}

impl Database {
    /// Opens a database to read it alone.
    ///
    /// # Errors
    ///
    /// What opening the file gives, and a database that is not `OpenCode`'s.
    pub fn open(path: &Path) -> io::Result<Self> {
        let connection = connect(path).map_err(error)?;
        connection.busy_timeout(PATIENCE).map_err(error)?;
        // What is read from here on is of one moment.
        connection.execute_batch("BEGIN").map_err(error)?;
        let is_ours =
            "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN ('session', 'message', 'part')";
        let tables: i64 = connection.query_row(is_ours, (), |row| row.get(0)).map_err(error)?;
        if tables < 3 {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "a database that is not OpenCode's"));
        }
        Ok(Self { connection })
    }

    /// Its sessions, the oldest first.
    ///
    /// # Errors
    ///
    /// What reading the database gives.
    pub fn sessions(&self) -> io::Result<Vec<StoredSession>> {
        let session = |row: &Row<'_>| Ok(StoredSession { id: row.get(0)?, parent: row.get(1)? });
        let mut query = self.prepare("SELECT id, parent_id FROM session ORDER BY time_created, id")?;
        let sessions = query.query_map((), session).map_err(error)?;
        sessions.collect::<Result<_, _>>().map_err(error)
    }

    /// Reads a session to its end. Places are the numbers of its messages, from 1.
    ///
    /// # Errors
    ///
    /// What reading the database gives; what is damaged inside of it is [`Found::Skipped`].
    pub fn read(&self, session: &str, found: Sink<'_>) -> io::Result<()> {
        let mut ids = self.prepare("SELECT id FROM message WHERE session_id = ?1 ORDER BY time_created, id")?;
        let mut info = self.prepare("SELECT data FROM message WHERE id = ?1")?;
        let mut parts = self.prepare("SELECT data FROM part WHERE message_id = ?1 ORDER BY id")?;
        let mut messages = Messages::default();
        let mut rows = ids.query([session]).map_err(error)?;
        let mut number = 0;
        while let Some(row) = rows.next().map_err(error)? {
            let id: String = row.get(0).map_err(error)?;
            number += 1;
            each(&mut info, &id, &mut |data| messages.info(data, found))?;
            each(&mut parts, &id, &mut |data| {
                if messages.part(data, number, found).is_none() {
                    found(Found::Skipped(Skipped { line: number, offset: 0, why: "a part that is not JSON" }));
                }
            })?;
        }
        messages.end(found);
        self.list(session, number, found)
    }

    /// The list as the client keeps it. Databases from before it was kept there have none.
    fn list(&self, session: &str, line: u64, found: Sink<'_>) -> io::Result<()> {
        let has_table = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'todo'";
        if self.connection.query_row(has_table, (), |_| Ok(())).optional().map_err(error)?.is_none() {
            return Ok(());
        }
        let list = "SELECT json_group_array(json_object('content', content, 'status', status)) FROM \
                    (SELECT content, status FROM todo WHERE session_id = ?1 ORDER BY position)";
        let list: String = self.connection.query_row(list, [session], |row| row.get(0)).map_err(error)?;
        found(Found::Recorded(Recorded { family: Family::TodoWrite, list: &list, line }));
        Ok(())
    }

    fn prepare(&self, query: &str) -> io::Result<Statement<'_>> {
        self.connection.prepare(query).map_err(error)
    }
}

/// Hands on the first column of each row, one row at a time.
fn each(query: &mut Statement<'_>, id: &str, take: &mut dyn FnMut(&[u8])) -> io::Result<()> {
    let mut rows = query.query([id]).map_err(error)?;
    while let Some(row) = rows.next().map_err(error)? {
        match row.get_ref(0).map_err(error)? {
            ValueRef::Text(data) | ValueRef::Blob(data) => take(data),
            ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => take(b""),
        }
    }
    Ok(())
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    match path.to_str().filter(|_| is_at_rest(path)) {
        // SQLite would put files beside a database of this kind to read it.
        Some(path) => Connection::open_with_flags(immutable(path), flags | OpenFlags::SQLITE_OPEN_URI),
        None => Connection::open_with_flags(path, flags),
    }
}

/// Whether no client works on the database, and none left it in the middle of its work.
fn is_at_rest(path: &Path) -> bool {
    ["-wal", "-journal"].iter().all(|suffix| {
        let mut beside = path.as_os_str().to_owned();
        beside.push(suffix);
        !PathBuf::from(beside).exists()
    })
}

/// The address of a file that does not change.
fn immutable(path: &str) -> String {
    let path = path.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    format!("file:{path}?immutable=1")
}

fn error(error: rusqlite::Error) -> io::Error {
    io::Error::other(error)
}
