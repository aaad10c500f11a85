//! Any bytes as a log's file: opening never panics, what is read can be appended to, and is the same when it is read
//! again; so is what a cut of it leaves. Half of the inputs are given the checksums that they need, or few would be
//! logs at all. Now and then it prints how many were, so that a run that reaches nothing can be told from a clean one.

#![no_main]

use std::fs;
use std::path::Path;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use libfuzzer_sys::fuzz_target;
use session_todo::{Agent, Event};
use session_todo_store::{AppendError, Files, Record, SessionId, Store, StoreError, Sync, Version, open};
use session_todo_store_fuzz::chain;

/// Runs from one print to the next.
const EVERY: u64 = 10_000;

static FOLDER: LazyLock<tempfile::TempDir> = LazyLock::new(|| tempfile::tempdir().unwrap());
static RUNS: AtomicU64 = AtomicU64::new(0);
static READ: AtomicU64 = AtomicU64::new(0);
static RECORDS: AtomicU64 = AtomicU64::new(0);
static DAMAGED: AtomicU64 = AtomicU64::new(0);

fuzz_target!(|bytes: &[u8]| {
    let [choice, cut, bytes @ ..] = bytes else { return };
    let log = if choice % 2 == 0 { bytes.to_vec() } else { chain(bytes) };
    let whole = judge(&log);
    let length = log.len() * usize::from(*cut) / 255;
    let part = judge(&log[..length]);
    // A damaged log may become a sound one, by a cut before the damage; but no cut adds or changes a record.
    if let (Some(whole), Some(part)) = (&whole, &part) {
        assert!(whole.starts_with(part), "a cut at {length} changes what is read");
    }
    if RUNS.fetch_add(1, Ordering::Relaxed) % EVERY == EVERY - 1 {
        print();
    }
});

/// What a log of these bytes holds; none where it is damaged.
fn judge(log: &[u8]) -> Option<Vec<String>> {
    let (mut store, session) = (store(FOLDER.path()), SessionId::new("s").unwrap());
    let path = store.path(&session);
    let _ = fs::remove_file(path.with_extension("cache"));
    fs::write(&path, log).unwrap();
    let _ = open(&mut store, &session);
    let records = match read(&mut store, &session) {
        Ok(records) => records,
        Err(error) => {
            assert!(!matches!(error, StoreError::Io { .. }), "{error}");
            assert_eq!(fs::read(&path).unwrap(), log, "damage is left as it is");
            DAMAGED.fetch_add(1, Ordering::Relaxed);
            return None;
        }
    };
    READ.fetch_add(u64::from(!records.is_empty()), Ordering::Relaxed);
    RECORDS.fetch_add(records.len() as u64, Ordering::Relaxed);
    let opened = open(&mut store, &session).ok().flatten();
    goes_on(&mut store, &session, &records);
    // From the cached state or from the start, by this store or another: the same.
    if let Some(opened) = opened {
        assert_eq!(opened.version, Version(records.len() as u64));
        store = self::store(FOLDER.path());
        let (again, _) = (open(&mut store, &session).unwrap().unwrap(), store.check(&session).unwrap());
        assert_eq!(again.version, opened.version.plus(1));
    }
    Some(records)
}

/// What was read can be appended to, and then it and the new record are read.
fn goes_on(store: &mut Files, session: &SessionId, records: &[String]) {
    let version = Version(records.len() as u64);
    let next = match records {
        [] => Record::begin(&session_todo::Policy::DEFAULT),
        _ => Record::Event(Event::RequestSent { by: Agent::Main }),
    };
    match store.append(session, version, &[next]) {
        Ok(appended) => assert_eq!(appended, version.plus(1)),
        Err(AppendError::Conflict { expected, actual }) => panic!("at {actual}, after {expected} were read"),
        Err(AppendError::Store(error)) => panic!("{error}"),
    }
    let again = read(&mut self::store(FOLDER.path()), session).unwrap();
    assert!(again.starts_with(records) && again.len() == records.len() + 1);
}

fn read(store: &mut Files, session: &SessionId) -> Result<Vec<String>, StoreError> {
    let mut records = Vec::new();
    store.read(session, Version::START, &mut |_, record| {
        records.push(serde_json::to_string(&record).unwrap());
        Ok(())
    })?;
    Ok(records)
}

fn store(folder: &Path) -> Files {
    Files::open(folder, Sync::Os).unwrap()
}

fn print() {
    let [runs, read, records, damaged] = [&RUNS, &READ, &RECORDS, &DAMAGED].map(|count| count.load(Ordering::Relaxed));
    eprintln!("{runs} runs, two logs each: {read} with records, {records} records; {damaged} damaged");
}
