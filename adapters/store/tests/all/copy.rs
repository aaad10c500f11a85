//! A log read where it lies gives what a store gives, and says where it is not as it was written.

use session_todo::{Agent, Event, Policy};
use session_todo_store::{Files, Record, SessionId, Store, Sync, Version, is_log, read_log};

const REQUEST: Record<'static> = Record::Event(Event::RequestSent { by: Agent::Main });

/// A log of an append of two records, and of three of one.
fn log() -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Files::open(folder.path(), Sync::Os).unwrap();
    let id = SessionId::new("a copy").unwrap();
    let mut version = store.append(&id, Version::START, &[Record::begin(&Policy::DEFAULT), REQUEST]).unwrap();
    for _ in 0..3 {
        version = store.append(&id, version, &[REQUEST]).unwrap();
    }
    std::fs::read(store.path(&id)).unwrap()
}

fn versions(log: &[u8]) -> (Vec<u64>, Option<(u64, u64)>) {
    let mut versions = Vec::new();
    let flaw = read_log(log, |version, _| versions.push(version.0)).unwrap();
    (versions, flaw.map(|flaw| (flaw.line, flaw.offset)))
}

#[test]
fn a_copy_is_read_up_to_where_it_is_good() {
    let log = log();
    assert!(is_log(&log) && !is_log(b"{\"crc\":1}") && !is_log(b""));
    assert_eq!(versions(&log), (vec![1, 2, 3, 4, 5], None));
    for cut in 0..log.len() {
        let (read, flaw) = versions(&log[..cut]);
        let whole = log[..cut].split(|byte| *byte == b'\n').count() as u64 - 1;
        // An append of two records counts as a whole.
        let good = if whole == 1 { 0 } else { whole };
        assert_eq!(read, (1..=good).collect::<Vec<_>>(), "cut at {cut}");
        let at_end = log[..cut].last().is_none_or(|byte| *byte == b'\n') && whole != 1;
        assert_eq!(flaw.is_none(), at_end, "cut at {cut}");
    }
    for at in 0..log.len() {
        let mut changed = log.clone();
        changed[at] ^= 1;
        let (read, flaw) = versions(&changed);
        assert!(flaw.is_some() && read.len() < 5, "a bit of byte {at}");
    }
}
