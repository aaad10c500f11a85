//! A disk that fails: the error is given, the event does not count, and the next append works or says why not.

use std::io::ErrorKind;
use std::path::Path;

use session_todo_store::{AppendError, Fate, Files, Store, StoreError, Sync, Version, open};

use crate::common::{all, expected, id, numbered};
use crate::disk::{Fault, Memory};

const FOLDER: &str = "/logs";

fn store(memory: &Memory) -> Files {
    Files::on(Box::new(memory.clone()), Path::new(FOLDER), Sync::Each).unwrap()
}

/// A store with a log of ten records.
fn begun(memory: &Memory) -> Files {
    let mut store = store(memory);
    let records: Vec<_> = (1..=10).map(expected).collect();
    store.append(&id("s"), Version::START, &records).unwrap();
    store
}

fn is_io(result: &Result<Version, AppendError>) -> bool {
    matches!(result, Err(AppendError::Store(StoreError::Io { .. })))
}

/// Faults that the store can undo: the same append then works, in this process and as seen from another.
#[test]
fn failed_append_is_not_there_and_the_next_one_works() {
    let write = |kind| vec![Fault::Write(kind)];
    let broken = |bytes, kind| vec![Fault::Short(bytes), Fault::Write(kind)];
    let cases = [
        write(ErrorKind::StorageFull),
        write(ErrorKind::Other),
        write(ErrorKind::QuotaExceeded),
        broken(1, ErrorKind::StorageFull),
        broken(40, ErrorKind::StorageFull),
        broken(60, ErrorKind::Other),
        vec![Fault::Short(20), Fault::Short(0)],
        vec![Fault::Sync],
        vec![Fault::Sync, Fault::Sync, Fault::Sync],
        vec![Fault::Write(ErrorKind::StorageFull), Fault::Sync],
    ];
    for faults in cases {
        for seed in 0..20 {
            let memory = Memory::new(seed);
            let mut store = begun(&memory);
            memory.fail(faults.clone());
            while !memory.has_failed() {
                let failed = store.append(&id("s"), Version(10), &[numbered(11)]);
                assert!(is_io(&failed), "{faults:?}: {failed:?}");
                assert_eq!(all(&mut self::store(&memory), &id("s")).len(), 10, "{faults:?}");
            }
            assert_eq!(store.append(&id("s"), Version(10), &[numbered(11)]).unwrap(), Version(11), "{faults:?}");
            // What a failed sync left on the disk must not matter: power off, at once.
            memory.restart();
            let records: Vec<_> = (1..=11).map(expected).collect();
            assert_eq!(all(&mut self::store(&memory), &id("s")), records, "{faults:?}, seed {seed}");
        }
    }
}

/// An append that was written is acknowledged, whatever happens to its lock, which ends with the file.
#[test]
fn failed_unlock_does_not_deny_an_append() {
    let memory = Memory::new(1);
    let mut store = begun(&memory);
    memory.fail([Fault::Unlock]);
    assert_eq!(store.append(&id("s"), Version(10), &[numbered(11)]).unwrap(), Version(11));
    assert!(memory.has_failed());
    assert_eq!(store.append(&id("s"), Version(11), &[numbered(12)]).unwrap(), Version(12));
    assert_eq!(all(&mut store, &id("s")).len(), 12);
}

/// What failed appends left on the disk does not mix with one that takes its place, of this process or another, while
/// the power goes.
#[test]
fn failed_append_does_not_come_back_in_the_next() {
    let long = |letter: &str| crate::common::named(&letter.repeat(300));
    let full = [Fault::Short(600), Fault::Write(ErrorKind::StorageFull)];
    let stays = [&full[..], &[Fault::Cut]].concat();
    // Of one append, and of the next one that fails.
    let cases = [
        (vec![Fault::Sync], None),
        (full.to_vec(), None),
        (stays.clone(), None),
        // The cut of what stayed is not synced.
        (stays, Some(Fault::Sync)),
    ];
    let runs = (0..200).flat_map(|seed| (0..16).map(move |power| (seed, power)));
    let runs = runs.flat_map(|(seed, power)| [false, true].map(|is_another| (seed, power, is_another)));
    for (case, (seed, power, is_another)) in cases.iter().flat_map(|case| runs.clone().map(move |run| (case, run))) {
        let memory = Memory::new(seed);
        let mut store = begun(&memory);
        memory.fail(case.0.clone());
        assert!(is_io(&store.append(&id("s"), Version(10), &[long("a"), long("a")])));
        if is_another {
            store = self::store(&memory);
        }
        if let Some(fault) = case.1 {
            memory.fail([fault]);
            assert!(is_io(&store.append(&id("s"), Version(10), &[long("a")])));
        }
        memory.lose_power_after(power);
        let next = store.append(&id("s"), Version(10), &[long("b")]);
        memory.restart();
        let found = crate::common::read(&mut self::store(&memory), &id("s"), Version::START);
        let found = found
            .unwrap_or_else(|error| panic!("{case:?}, another: {is_another}, seed {seed}, power {power}: {error}"));
        match found.get(10) {
            Some(record) => assert_eq!((found.len(), record), (11, &long("b"))),
            None => assert!(found.len() == 10 && next.is_err(), "{case:?}, seed {seed}, power {power}"),
        }
    }
}

/// A file system that numbers a file anew each time it is asked: an error, and no endless search.
#[test]
fn file_that_never_has_its_name_is_an_error() {
    let memory = Memory::new(1);
    let mut store = begun(&memory);
    memory.fail([Fault::Moved; 1000]);
    let failed = store.append(&id("s"), Version(10), &[numbered(11)]);
    assert!(is_io(&failed) && !memory.has_failed(), "{failed:?}");
    assert!(failed.unwrap_err().to_string().contains("another file has its name"));
}

/// Writes that come in pieces and are interrupted are no failures.
#[test]
fn short_and_interrupted_writes_go_on() {
    let memory = Memory::new(1);
    let mut store = begun(&memory);
    memory.fail([Fault::Short(3), Fault::Write(ErrorKind::Interrupted), Fault::Short(10)]);
    assert_eq!(store.append(&id("s"), Version(10), &[numbered(11)]).unwrap(), Version(11));
    assert!(memory.has_failed());
    assert_eq!(all(&mut self::store(&memory), &id("s")).len(), 11);
}

/// Where the failed append can't be taken back either, the log is what the file holds: half a record is cut, a whole
/// one is there, and the next append is a conflict that says so. Either way it survives the next power cut.
#[test]
fn failed_cut_leaves_what_the_file_holds() {
    for seed in 0..40 {
        let memory = Memory::new(seed);
        let mut store = begun(&memory);
        memory.fail([Fault::Short(30), Fault::Write(ErrorKind::StorageFull), Fault::Cut]);
        assert!(is_io(&store.append(&id("s"), Version(10), &[numbered(11)])));
        assert_eq!(store.append(&id("s"), Version(10), &[numbered(11)]).unwrap(), Version(11));
        let [torn] = &store.take_torn()[..] else { panic!("one cut is reported") };
        assert_eq!(torn.bytes, 30);

        memory.fail([Fault::Sync, Fault::Cut]);
        assert!(is_io(&store.append(&id("s"), Version(11), &[numbered(12)])));
        let conflict = store.append(&id("s"), Version(11), &[numbered(12)]);
        assert!(matches!(conflict, Err(AppendError::Conflict { actual: Version(12), .. })), "{conflict:?}");
        assert_eq!(store.append(&id("s"), Version(12), &[numbered(13)]).unwrap(), Version(13));
        memory.restart();
        let records: Vec<_> = (1..=13).map(expected).collect();
        assert_eq!(all(&mut self::store(&memory), &id("s")), records, "seed {seed}");
    }
}

/// A log whose folder could not be synced may be gone after a power cut, so it was not appended to.
#[test]
fn failed_sync_of_the_folder_is_a_failed_append() {
    let memory = Memory::new(1);
    let mut store = store(&memory);
    memory.fail([Fault::FolderSync]);
    assert!(is_io(&store.append(&id("s"), Version::START, &[expected(1)])));
    assert_eq!(store.append(&id("s"), Version::START, &[expected(1)]).unwrap(), Version(1));
    memory.restart();
    assert_eq!(all(&mut self::store(&memory), &id("s")), [expected(1)]);
}

#[test]
fn failed_reading_and_opening_are_errors() {
    for fault in [Fault::Read, Fault::Open] {
        let memory = Memory::new(1);
        begun(&memory);
        let mut store = store(&memory);
        memory.fail([fault]);
        let failed = store.read(&id("s"), Version::START, &mut |_, _| Ok(()));
        assert!(matches!(failed, Err(StoreError::Io { .. })), "{fault:?}");
        assert_eq!(all(&mut store, &id("s")).len(), 10);
    }
}

/// A disk that can't be written is read like any other, also where a broken write left something, or the cache is missing.
#[test]
fn what_cant_be_written_is_read() {
    for broken in [false, true] {
        let memory = Memory::new(1);
        let mut store = begun(&memory);
        let records: Vec<_> = (11..=100).map(expected).collect();
        store.append(&id("s"), Version(10), &records).unwrap();
        if broken {
            memory.fail([Fault::Short(30), Fault::Write(ErrorKind::StorageFull), Fault::Cut]);
            assert!(is_io(&store.append(&id("s"), Version(100), &[numbered(101)])));
        }
        memory.set_read_only();
        let mut store = self::store(&memory);
        assert_eq!(open(&mut store, &id("s")).unwrap().unwrap().version, Version(100));
        assert_eq!(all(&mut store, &id("s")).len(), 100);
        assert_eq!(store.check(&id("s")).unwrap().unwrap().version, Version(100));
        assert_eq!(store.sessions().unwrap(), [id("s")]);
        assert_eq!(store.take_torn().iter().any(|torn| torn.fate == Fate::Stands && torn.bytes == 30), broken);
        assert!(is_io(&store.append(&id("s"), Version(100), &[numbered(101)])));
        assert_eq!(all(&mut store, &id("s")).len(), 100, "and a refused append leaves it so");
    }
}

/// Many read at once, and nobody waits for who reads.
#[test]
fn readers_share_the_lock() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = crate::common::files(folder.path());
    store.append(&id("s"), Version::START, &[expected(1)]).unwrap();
    let reader = std::fs::File::open(store.path(&id("s"))).unwrap();
    reader.lock_shared().unwrap();
    assert_eq!(all(&mut store, &id("s")), [expected(1)]);
    assert_eq!(all(&mut crate::common::files(folder.path()), &id("s")), [expected(1)]);
}

/// A log is read without its lock, or those who read a long one, one after the other, would keep every append waiting.
/// Only what a broken write left is looked at under it.
#[test]
fn reading_holds_no_lock() {
    for broken in [false, true] {
        let memory = Memory::new(1);
        let mut store = begun(&memory);
        if broken {
            memory.fail([Fault::Short(30), Fault::Write(ErrorKind::StorageFull), Fault::Cut]);
            assert!(is_io(&store.append(&id("s"), Version(10), &[numbered(11)])));
        }
        let (locked, read) = memory.count_reads(|| all(&mut self::store(&memory), &id("s")).len());
        assert_eq!(read, 10);
        assert_eq!(locked > 0, broken, "{locked} reads under the lock");
    }
}
