//! The tables. A migration is never edited: a change is another one.

use postgres::{Client, Error, IsolationLevel};

use crate::error::StoreError;

/// In order; the schema's number is how many were done. Texts are JSON, and not `jsonb`, which takes no NUL and
/// would print numbers in its own way.
const MIGRATIONS: [&str; 2] = [
    "
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
",
    // Which append wrote the last record in the state, so that it is of this history and no other. `TRUNCATE` locks the
    // table at once, and not first its rows, in which it and those who write to it would wait for each other.
    "
    TRUNCATE session_todo_cache;
    ALTER TABLE session_todo_cache ADD COLUMN append text NOT NULL;
",
];

const NEWEST: &str = "SELECT coalesce(max(number), 0) FROM session_todo_schema";

/// Of all who migrate at once, one does; the others wait. Any number that others do not use.
const LOCK: i64 = 0x5345_5353_544f_444f;

/// Brings the database to the newest schema. One that is there needs no right to create tables.
pub(super) fn migrate(client: &mut Client) -> Result<(), StoreError> {
    let known = i32::try_from(MIGRATIONS.len()).unwrap_or(i32::MAX);
    let mut found = found(client)?;
    if found < known {
        found = create(client, known)?;
    }
    if found > known { Err(StoreError::Schema { found, known }) } else { Ok(()) }
}

/// The database's schema; 0 where there is none.
fn found(client: &mut Client) -> Result<i32, Error> {
    let is_there: bool = client.query_one("SELECT to_regclass('session_todo_schema') IS NOT NULL", &[])?.try_get(0)?;
    if !is_there {
        return Ok(0);
    }
    client.query_one(NEWEST, &[])?.try_get(0)
}

fn create(client: &mut Client, known: i32) -> Result<i32, Error> {
    // However the database isolates: who waited for the lock must see what was done meanwhile.
    let mut transaction = client.build_transaction().isolation_level(IsolationLevel::ReadCommitted).start()?;
    transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK])?;
    // Asking whether it is there would be answered from before the lock.
    transaction.batch_execute("CREATE TABLE IF NOT EXISTS session_todo_schema (number integer PRIMARY KEY)")?;
    let found: i32 = transaction.query_one(NEWEST, &[])?.try_get(0)?;
    for (number, migration) in (1..).zip(MIGRATIONS).filter(|&(number, _)| number > found) {
        transaction.batch_execute(migration)?;
        transaction.execute("INSERT INTO session_todo_schema VALUES ($1)", &[&number])?;
    }
    transaction.commit()?;
    Ok(found.max(known))
}
