//! A log read where it lies gives what a store gives, and says where it is not as it was written.

use session_todo::{Agent, Event, Policy};
use session_todo_store::{Files, Record, SessionId, Store, StoreError, Sync, Version, is_log, read_log};

use crate::common::{chained, read};

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

/// A log of one record, and lines behind it.
fn lines(lines: &[&str]) -> String {
    let log = String::from_utf8(log()).unwrap();
    let first = log.split_inclusive('\n').next().unwrap().replace("\"part\":[1,2],", "");
    let first = chained("", first.trim_end().split_once(',').unwrap().1);
    lines.iter().fold(first, |log, rest| chained(&log, rest))
}

/// What a store says of it: how many records, or how many are before the damage.
fn stored(log: &str) -> Result<usize, u64> {
    let folder = tempfile::tempdir().unwrap();
    let (mut store, id) = (Files::open(folder.path(), Sync::Os).unwrap(), SessionId::new("a copy").unwrap());
    std::fs::write(store.path(&id), log).unwrap();
    let result = read(&mut store, &id, Version::START);
    result.map(|records| records.len()).map_err(|error| match error {
        StoreError::Damaged { good, .. } | StoreError::Later { good, .. } => good.0,
        error => panic!("{error}"),
    })
}

const EVENT: &str = r#""event":"compacted"}"#;

/// An append of several records is all of them, in order, or none; by a store and in a copy.
#[test]
fn half_an_append_is_not_given_out() {
    let line = |seq: u64, part: &str| format!("\"seq\":{seq},{part}{EVENT}");
    for (parts, is_torn) in [
        (&["\"part\":[1,3],", "\"part\":[2,3],"][..], true),
        (&["\"part\":[1,2],", ""], false),
        (&["\"part\":[1,3],", "\"part\":[3,3],"], false),
        (&["\"part\":[1,3],", "\"part\":[1,3],"], false),
        (&["\"part\":[1,3],", "\"part\":[2,2],"], false),
        (&["\"part\":[2,2],"], false),
        (&["\"part\":[0,2],"], false),
        (&["\"part\":[3,2],"], false),
    ] {
        let parts: Vec<String> = (2..).zip(parts).map(|(seq, part)| line(seq, part)).collect();
        let log = lines(&parts.iter().map(String::as_str).collect::<Vec<_>>());
        let (read, flaw) = versions(log.as_bytes());
        let begun = log.find('\n').unwrap() as u64 + 1;
        assert_eq!(read, [1], "{parts:?}");
        if is_torn {
            assert_eq!(flaw, Some((2, begun)), "what is not read begins with the append");
        } else {
            assert_eq!(flaw.unwrap().0, parts.len() as u64 + 1, "the line that is wrong: {parts:?}");
        }
        let stored = stored(&log);
        assert!(if is_torn { stored == Ok(1) } else { stored == Err(1) }, "{parts:?}: {stored:?}");
    }
    let whole = lines(&[&line(2, "\"part\":[1,2],"), &line(3, "\"part\":[2,2],"), &line(4, "\"part\":[1,1],")]);
    assert_eq!((versions(whole.as_bytes()).0.len(), stored(&whole)), (4, Ok(4)));
}

/// A record that can't be read is named by its own line, and nothing of its append is given out.
#[test]
fn the_line_that_is_wrong_is_named() {
    let line = |seq: u64, record: &str| format!("\"seq\":{seq},\"part\":[{},3],{record}", seq - 1);
    let log = lines(&[&line(2, EVENT), &line(3, r#""event":"flown"}"#), &line(4, EVENT)]);
    let offset = log.match_indices('\n').nth(1).unwrap().0 as u64 + 1;
    assert_eq!(versions(log.as_bytes()), (vec![1], Some((3, offset))));
}
