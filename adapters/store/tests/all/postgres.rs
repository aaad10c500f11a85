//! The same promises on a real PostgreSQL, which the tests start on loopback and stop. Where there is none, they are
//! skipped, and say so.

mod server;

use std::process::Child;
use std::sync::{Arc, Mutex, Weak};
use std::thread::sleep;
use std::time::Duration;

use proptest::prelude::ProptestConfig;
use proptest_state_machine::prop_state_machine;
use session_todo_store::{AppendError, Cached, Postgres, Record, Store, StoreError, Version, open};

use self::server::Server;
use crate::child::{go, start};
use crate::common::{all, begin, create, expected, id, numbered, owned, request};
use crate::machine::{Home, Opened};
use crate::{contract, race};

/// Tests that run at once share a server; the last of them stops it.
fn server() -> Option<Arc<Server>> {
    static SERVER: Mutex<Weak<Server>> = Mutex::new(Weak::new());
    let mut shared = SERVER.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let server = shared.upgrade().or_else(|| Server::start().map(Arc::new));
    *shared = server.as_ref().map_or_else(Weak::new, Arc::downgrade);
    server
}

fn connect(url: &str) -> Box<dyn Store> {
    Box::new(Postgres::connect(url).unwrap())
}

#[test]
fn postgres_keeps_every_promise() {
    let Some(server) = server() else { return };
    for (name, promise) in contract::PROMISES {
        eprintln!("{name}");
        promise(connect(&server.database()).as_mut());
    }
}

#[test]
fn one_process_wins_each_version_on_postgres() {
    let Some(server) = server() else { return };
    race::one_wins_each_version(&server.database());
}

#[test]
fn parallel_sessions_lose_nothing_on_postgres() {
    let Some(server) = server() else { return };
    race::sessions_lose_nothing(&server.database());
}

fn each_connects_and_appends(url: &str) {
    std::thread::scope(|scope| {
        for number in 0..8 {
            scope.spawn(move || {
                let session = id(&format!("s{number}"));
                connect(url).append(&session, Version::START, &[begin()]).unwrap();
            });
        }
    });
    assert_eq!(connect(url).sessions().unwrap().len(), 8);
}

/// Many who find an empty database at once: one makes the tables.
#[test]
fn migrations_run_once() {
    let Some(server) = server() else { return };
    let url = server.database();
    each_connects_and_appends(&url);
    Server::sql(&url, "INSERT INTO session_todo_schema VALUES (1000)");
    let refused = Postgres::connect(&url).map(drop);
    assert!(matches!(refused, Err(StoreError::Schema { found: 1000, known: 2 })), "{refused:?}");
}

/// What was changed in the tables by hand is told, and not skipped.
#[test]
fn missing_and_broken_records_are_damage() {
    let Some(server) = server() else { return };
    let url = server.database();
    let mut store = connect(&url);
    for session in ["missing", "broken", "cache"] {
        let records: Vec<_> = (1..=100).map(expected).collect();
        store.append(&id(session), Version::START, &records).unwrap();
        open(store.as_mut(), &id(session)).unwrap();
    }
    Server::sql(&url, "DELETE FROM session_todo_record WHERE session = 'missing' AND version = 3");
    Server::sql(&url, "UPDATE session_todo_record SET record = '{}' WHERE session = 'broken' AND version = 70");
    Server::sql(&url, "UPDATE session_todo_cache SET state = '{\"version\":1}'");
    let read = store.read(&id("missing"), Version::START, &mut |_, _| Ok(()));
    assert!(matches!(read, Err(StoreError::Damaged { good: Version(2), .. })), "{read:?}");
    let opened = open(store.as_mut(), &id("broken"));
    assert!(matches!(opened, Err(StoreError::Damaged { good: Version(69), .. })), "{opened:?}");
    assert_eq!(store.cached_state(&id("cache")).unwrap(), None, "a state that can't be read is none");
    assert_eq!(open(store.as_mut(), &id("cache")).unwrap().unwrap().version, Version(100));
    let rebuilt = store.cached_state(&id("cache")).unwrap().expect("and it is replaced");
    assert_eq!(rebuilt.version, Version(64));
    Server::sql(
        &url,
        "UPDATE session_todo_record SET record = '{\"flown\":{}}' WHERE session = 'cache' AND version = 70",
    );
    let later = open(store.as_mut(), &id("cache"));
    assert!(matches!(later, Err(StoreError::Later { good: Version(69), .. })), "{later:?}");
}

/// A session that was removed and written anew, or another state of the database: what is cached of the one history is
/// not used in the other, however long each is, and is replaced.
#[test]
fn cached_state_of_another_history_is_dropped() {
    let Some(server) = server() else { return };
    for (before, after) in [(100, 100), (100, 300), (300, 100)] {
        let url = server.database();
        let mut store = connect(&url);
        let write = |store: &mut dyn Store, subject: &str, records: u64| {
            let task = Record::Event(create(subject));
            let rest = (3..=records).map(|_| Record::Event(request()));
            let records: Vec<_> = [begin(), task].into_iter().chain(rest).collect();
            store.append(&id("s"), Version::START, &records).unwrap();
            open(store, &id("s")).unwrap().unwrap().session.list().items()[0].content.clone()
        };
        assert_eq!(write(store.as_mut(), "One", before), "One");
        let cached = store.cached_state(&id("s")).unwrap().expect("opening caches a state");
        // Newer than any that opening caches.
        store.cache_state(&id("s"), &Cached { version: Version(before - 1), ..cached }).unwrap();
        Server::sql(&url, "DELETE FROM session_todo_record");
        assert_eq!(write(store.as_mut(), "Two", after), "Two", "{before} and {after}");
        let cached = store.cached_state(&id("s")).unwrap().expect("the new one is cached");
        assert_eq!((cached.version.0, &*cached.state.list().items()[0].content), (after / 64 * 64, "Two"));
    }
}

/// What a new connection leads to may be another database, or one that a later release has changed since.
#[test]
fn new_connection_looks_at_the_schema() {
    let Some(server) = server() else { return };
    let url = server.database();
    let mut store = connect(&url);
    store.append(&id("s"), Version::START, &[begin()]).unwrap();
    Server::sql(&url, "INSERT INTO session_todo_schema VALUES (1000)");
    Server::sql(
        &url,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> \
         pg_backend_pid()",
    );
    let refused = store.append(&id("s"), Version(1), &[numbered(2)]);
    assert!(matches!(refused, Err(AppendError::Store(StoreError::Schema { found: 1000, .. }))), "{refused:?}");
}

/// A database of schema 1 is brought up to date, its records are kept, and its cached states are made anew.
#[test]
fn schema_1_is_brought_up_to_date() {
    let Some(server) = server() else { return };
    let url = server.database();
    let records: Vec<_> = (1..=100).map(expected).collect();
    connect(&url).append(&id("s"), Version::START, &records).unwrap();
    Server::sql(
        &url,
        "ALTER TABLE session_todo_cache DROP COLUMN append; DELETE FROM session_todo_schema WHERE number = 2;
         INSERT INTO session_todo_cache VALUES ('s', 64, 'default', '{}')",
    );
    let mut store = connect(&url);
    assert_eq!(store.cached_state(&id("s")).unwrap(), None);
    assert_eq!(all(store.as_mut(), &id("s")), records);
    open(store.as_mut(), &id("s")).unwrap();
    assert_eq!(store.cached_state(&id("s")).unwrap().unwrap().version, Version(64));
}

/// Programs of the release before write what they cache while the first of this one comes: it waits, and so do they.
#[test]
fn schema_1_is_brought_up_to_date_beside_who_uses_it() {
    let Some(server) = server() else { return };
    let url = server.database();
    drop(connect(&url));
    Server::sql(
        &url,
        "ALTER TABLE session_todo_cache DROP COLUMN append; DELETE FROM session_todo_schema WHERE number = 2;
         INSERT INTO session_todo_cache SELECT 's' || n, 64, 'default', '{}' FROM generate_series(1, 30000) AS n",
    );
    std::thread::scope(|scope| {
        for session in 1..=4 {
            let mut client = ::postgres::Client::connect(&url, ::postgres::NoTls).unwrap();
            scope.spawn(move || {
                let sql = format!("UPDATE session_todo_cache SET version = version + 1 WHERE session = 's{session}'");
                while client.execute(&sql, &[]).unwrap() > 0 {}
            });
        }
        sleep(Duration::from_millis(100));
        let connected = Postgres::connect(&url).map(drop);
        Server::sql(&url, "TRUNCATE session_todo_cache");
        connected.unwrap();
    });
}

/// A connection that is gone, as a network or an administrator ends it: the store connects again.
#[test]
fn ended_connection_comes_back() {
    let Some(server) = server() else { return };
    let url = server.database();
    let mut store = connect(&url);
    store.append(&id("s"), Version::START, &[begin()]).unwrap();
    for version in 1..20 {
        Server::sql(
            &url,
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> \
             pg_backend_pid()",
        );
        if version % 2 == 0 {
            let stale = store.append(&id("s"), Version(version - 1), &[numbered(99)]);
            assert!(matches!(stale, Err(AppendError::Conflict { .. })), "a conflict is a conflict: {stale:?}");
        }
        store.append(&id("s"), Version(version), &[numbered(version + 1)]).unwrap();
    }
    assert_eq!(all(store.as_mut(), &id("s")), (1..=20).map(expected).collect::<Vec<_>>());
}

/// Who reads on from where it was, while another appends, is given every record: a version says what was read.
#[test]
fn reader_that_follows_misses_nothing() {
    let Some(server) = server() else { return };
    let url = server.database();
    let [mut writer, mut reader] = [(); 2].map(|()| Postgres::connect(&url).unwrap());
    writer.append(&id("s"), Version::START, &[begin()]).unwrap();
    let writing = std::thread::spawn(move || {
        for at in 1..200 {
            writer.append(&id("s"), Version(at), &[numbered(at + 1)]).unwrap();
        }
    });
    let (mut at, mut given, mut is_done) = (Version::START, 0, false);
    while !is_done {
        is_done = writing.is_finished();
        let read = reader.read(&id("s"), at, &mut |_, _| {
            given += 1;
            Ok(())
        });
        at = read.unwrap();
        assert_eq!(at, Version(given));
    }
    writing.join().unwrap();
    assert_eq!(at, Version(200));
}

/// A server that ends connections which say nothing for a while.
#[test]
fn idle_connection_comes_back() {
    let Some(server) = server() else { return };
    let url = server.database();
    Server::set(&url, "idle_session_timeout", "50");
    let mut store = connect(&url);
    for version in 0..6 {
        store.append(&id("s"), Version(version), &[expected(version + 1)]).unwrap();
        sleep(Duration::from_millis(25 * version));
    }
    assert_eq!(all(store.as_mut(), &id("s")).len(), 6);
}

/// A database that isolates transactions as far as it can: what was undone for another's sake is tried again.
#[test]
fn strict_isolation_changes_nothing() {
    let Some(server) = server() else { return };
    for shown in [each_connects_and_appends, race::one_wins_each_version, race::sessions_lose_nothing] {
        let url = server.database();
        Server::set(&url, "default_transaction_isolation", "serializable");
        shown(&url);
    }
}

/// Who may read and write the tables need not be allowed to create any.
#[test]
fn tables_that_are_there_are_not_created() {
    let Some(server) = server() else { return };
    let url = server.database();
    connect(&url);
    Server::sql(
        &url,
        "DO $$ BEGIN CREATE ROLE plain LOGIN; EXCEPTION WHEN duplicate_object THEN END $$;
                       REVOKE CREATE ON SCHEMA public FROM PUBLIC;
                       GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA public TO plain",
    );
    let mut store = connect(&url.replace("test@", "plain@"));
    store.append(&id("s"), Version::START, &[begin()]).unwrap();
    // A server that only reads, as a standby does.
    let mut reader = connect(&format!("{url}?options=-c%20default_transaction_read_only%3Don"));
    assert_eq!(all(reader.as_mut(), &id("s")), [begin()]);
    let refused = reader.append(&id("s"), Version(1), &[numbered(2)]).unwrap_err().to_string();
    assert!(refused.contains("cannot execute INSERT in a read-only transaction"), "{refused}");
}

/// The server is stopped without ceremony and started again in the middle of a run, several times. What was
/// acknowledged is there, the writers go on by themselves, and nothing is written twice.
#[test]
fn server_restarted_at_once_loses_nothing() {
    // Its own, since the others' must stay up.
    let Some(server) = Server::start() else { return };
    let url = server.database();
    connect(&url).append(&id("s"), Version::START, &[begin()]).unwrap();
    let mut children: Vec<Child> = (0..2).map(|number| start("race", &url, number)).collect();
    let reports = go(&mut children);
    let mut writer = start("own", &url, 7);
    let mut watch = connect(&url);
    for version in [50, 150, 250] {
        while watch.read(&id("s"), Version(u64::MAX), &mut |_, _| Ok(())).unwrap().0 < version {
            sleep(Duration::from_millis(5));
        }
        server.restart();
    }
    let winners = race::winners(children, reports);
    assert!(writer.wait().unwrap().success(), "its appends are never conflicts: nobody else writes there");
    let mut store = connect(&url);
    let records = all(store.as_mut(), &id("s"));
    // Each record has exactly one who was told that it is theirs, though replies were lost on the way.
    assert_eq!(winners.into_keys().collect::<Vec<_>>(), (2..=records.len()).collect::<Vec<_>>());
    for thread in 0..crate::child::OWN {
        let records: Vec<_> = all(store.as_mut(), &crate::child::own_session(7, thread));
        assert_eq!(records.len() as u64, crate::child::RECORDS);
        assert!(records.iter().map(owned).eq((1..=crate::child::RECORDS).map(expected)));
    }
}

/// A server and a database; where there is none, a folder, and the run shows nothing more than the one on files does.
pub(crate) struct Database(Result<(Arc<Server>, String), tempfile::TempDir>);

impl Home for Database {
    fn new() -> Self {
        let database = server().map(|server| {
            let url = server.database();
            (server, url)
        });
        Self(database.ok_or_else(<tempfile::TempDir as Home>::new))
    }

    fn open(&self) -> Box<dyn Store> {
        match &self.0 {
            Ok((_, url)) => connect(url),
            Err(folder) => Home::open(folder),
        }
    }
}

prop_state_machine! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn postgres_is_vectors(sequential 1..25 => Opened<Database>);
}
