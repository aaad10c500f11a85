//! A connection that comes back.

use std::thread::sleep;
use std::time::{Duration, Instant};

use postgres::error::SqlState;
use postgres::{Client, Error};

use super::schema;
use crate::error::StoreError;

/// How long a server may be away. One that is restarted is back in a second or two.
const PATIENCE: Duration = Duration::from_secs(15);
const PAUSE: Duration = Duration::from_millis(50);

type Connect = Box<dyn FnMut() -> Result<Client, Error> + Send>;

pub(super) struct Connection {
    connect: Connect,
    client: Option<Client>,
    /// Nobody else's: an append that is found later can be told to be ours.
    name: String,
}

impl Connection {
    pub(super) fn new(connect: Connect) -> Result<Self, StoreError> {
        let mut connection = Self { connect, client: None, name: String::new() };
        let name = connection.client()?.query_one("SELECT gen_random_uuid()::text", &[])?;
        connection.name = name.try_get(0)?;
        Ok(connection)
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Runs one statement; again if it was in another's way, and on a new connection if the connection broke. So it
    /// may run more than once.
    pub(super) fn run<T>(
        &mut self,
        mut statement: impl FnMut(&mut Client) -> Result<T, Error>,
    ) -> Result<T, StoreError> {
        let mut failed = None;
        loop {
            let error = match self.client().and_then(|client| Ok(statement(client)?)) {
                Err(StoreError::Postgres(error)) => error,
                result => return result,
            };
            let is_broken = self.is_broken(&error);
            let may_pass = is_broken || is_in_the_way(&error);
            if !may_pass || failed.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
                return Err(error.into());
            }
            if is_broken {
                self.client = None;
                sleep(PAUSE);
            }
        }
    }

    fn client(&mut self) -> Result<&mut Client, StoreError> {
        let client = self.client.take().map_or_else(|| self.connected(), Ok)?;
        Ok(self.client.insert(client))
    }

    /// A new connection may lead to another database than the last one did: its schema is looked at again.
    fn connected(&mut self) -> Result<Client, StoreError> {
        let mut client = (self.connect)()?;
        schema::migrate(&mut client)?;
        Ok(client)
    }

    /// Whether the connection is at fault, or the server ended it, or takes none at the moment, and not the statement.
    fn is_broken(&self, error: &Error) -> bool {
        match error.code() {
            // Classes of codes: a connection's, and those of a server that goes down, comes up, or was not spoken to.
            Some(code) => {
                let in_class = |class| code.code().starts_with(class);
                *code == SqlState::TOO_MANY_CONNECTIONS || in_class("08") || in_class("57P")
            }
            None => self.client.as_ref().is_none_or(Client::is_closed) || error.is_closed(),
        }
    }
}

/// Where the database isolates its transactions more than it must: the statement was undone, and can be tried again.
fn is_in_the_way(error: &Error) -> bool {
    let codes = [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED];
    error.code().is_some_and(|code| codes.contains(code))
}
