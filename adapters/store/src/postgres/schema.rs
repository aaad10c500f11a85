//! The tables. A migration is never edited: a change is another one.

use postgres::{Client, Error};

use crate::error::StoreError;

/// In order; the schema's number is how many were done. Texts are JSON, and not `jsonb`, which takes no NUL and
/// would print numbers in its own way.
const MIGRATIONS: [&str; 1] = ["
    CREATE TABLE session_todo_record (
        session text COLLATE \"C\" NOT NULL,
        version bigint NOT NULL CHECK (version > 0),
        append text NOT NULL,
        record text NOT NULL,
        PRIMARY KEY (session, version)
    );
    CREATE TABLE session_todo_cache (
        session text COLLATE \"C\" PRIMARY KEY,
        version bigint NOT NULL CHECK (version > 0),
        policy text NOT NULL,
        state text NOT NULL
    );
"];

/// Of all who migrate at once, one does; the others wait. Any number that others do not use.
const LOCK: i64 = 0x5345_5353_544f_444f;

/// Brings the database to the newest schema.
pub(super) fn migrate(client: &mut Client) -> Result<Result<(), StoreError>, Error> {
    let mut transaction = client.transaction()?;
    transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK])?;
    transaction.batch_execute("CREATE TABLE IF NOT EXISTS session_todo_schema (number integer PRIMARY KEY)")?;
    let row = transaction.query_one("SELECT coalesce(max(number), 0) FROM session_todo_schema", &[])?;
    let found: i32 = row.try_get(0)?;
    let known = i32::try_from(MIGRATIONS.len()).unwrap_or(i32::MAX);
    if found > known {
        return Ok(Err(StoreError::Schema { found, known }));
    }
    for (number, migration) in (1..).zip(MIGRATIONS).filter(|&(number, _)| number > found) {
        transaction.batch_execute(migration)?;
        transaction.execute("INSERT INTO session_todo_schema VALUES ($1)", &[&number])?;
    }
    transaction.commit().map(Ok)
}
