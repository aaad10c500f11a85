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
    pub(super) fn new(mut connect: Connect) -> Result<Self, StoreError> {
        let mut client = connect()?;
        schema::migrate(&mut client)??;
        let name = client.query_one("SELECT gen_random_uuid()::text", &[])?.try_get(0)?;
        Ok(Self { connect, client: Some(client), name })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Runs one statement; again, on a new connection, if the connection broke. So it may run more than once.
    pub(super) fn run<T>(&mut self, mut statement: impl FnMut(&mut Client) -> Result<T, Error>) -> Result<T, Error> {
        let mut broke = None;
        loop {
            let result = self.client().and_then(&mut statement);
            let Err(error) = result else { return result };
            if !self.is_broken(&error) || broke.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
                return Err(error);
            }
            self.client = None;
            sleep(PAUSE);
        }
    }

    fn client(&mut self) -> Result<&mut Client, Error> {
        let client = match self.client.take() {
            Some(client) => client,
            None => (self.connect)()?,
        };
        Ok(self.client.insert(client))
    }

    /// Whether the connection is at fault, or the server goes down or comes up, and not the statement.
    fn is_broken(&self, error: &Error) -> bool {
        match error.code() {
            Some(code) => {
                let codes = [SqlState::ADMIN_SHUTDOWN, SqlState::CRASH_SHUTDOWN, SqlState::CANNOT_CONNECT_NOW];
                codes.contains(code) || code.code().starts_with("08")
            }
            None => self.client.as_ref().is_none_or(Client::is_closed) || error.is_closed(),
        }
    }
}
