//! A file that was cut, or changed where no broken write changes it.

use std::fs;

use session_todo_store::{AppendError, Store, StoreError, Version, open};

use crate::common::{all, begin, expected, files, id, numbered, read};

/// A log whose last append has three records, as bytes.
fn log() -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let mut store = files(folder.path());
    let session = id("s");
    store.append(&session, Version::START, &[begin()]).unwrap();
    store.append(&session, Version(1), &[numbered(2)]).unwrap();
    store.append(&session, Version(2), &[numbered(3)]).unwrap();
    store.append(&session, Version(3), &[numbered(4), numbered(5), numbered(6)]).unwrap();
    fs::read(store.path(&session)).unwrap()
}

/// How many records are in appends that are wholly there.
fn whole(bytes: &[u8]) -> u64 {
    match memchr::memchr_iter(b'\n', bytes).count() as u64 {
        appended @ 0..=3 => appended,
        4..=5 => 3,
        _ => 6,
    }
}

/// A log that ends anywhere is the log of the appends that are wholly there; the rest is cut and reported, and the
/// next append goes on.
#[test]
fn log_cut_at_every_byte_keeps_every_whole_append() {
    let (log, session) = (log(), id("s"));
    for length in 0..=log.len() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = files(folder.path());
        let kept = &log[..length];
        fs::write(store.path(&session), kept).unwrap();
        let version = Version(whole(kept));
        let records: Vec<_> = (1..=version.0).map(expected).collect();
        assert_eq!(all(&mut store, &session), records, "cut at {length}");
        assert_eq!(fs::read(store.path(&session)).unwrap(), kept, "reading cuts nothing");
        let torn: u64 = store.take_torn().iter().map(|torn| torn.bytes).sum();
        store.append(&session, version, &[expected(version.0 + 1)]).unwrap();
        let cut: u64 = store.take_torn().iter().map(|torn| torn.bytes).sum();
        let good = log.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
        let good = good.take(usize::try_from(version.0).unwrap()).last().unwrap_or_default();
        assert_eq!((torn, cut), ((length - good) as u64, torn), "cut at {length}");
        assert_eq!(all(&mut files(folder.path()), &session).len() as u64, version.0 + 1);
        assert_eq!(store.check(&session).unwrap().unwrap().version.0, version.0 + 1);
    }
}

/// What disks put in place of what was not written: zeros, for a part of the last append or behind it.
#[test]
fn zeros_in_the_last_append_are_cut() {
    let (log, session) = (log(), id("s"));
    let third = log.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(2).unwrap().0 + 1;
    for from in third..=log.len() {
        for to in [from + 5, from + 40, log.len(), log.len() + 100] {
            let mut bytes = log.clone();
            bytes.resize(bytes.len().max(to), 0);
            bytes[from..to.max(from)].fill(0);
            let folder = tempfile::tempdir().unwrap();
            let mut store = files(folder.path());
            fs::write(store.path(&session), &bytes).unwrap();
            let version = read(&mut store, &session, Version::START).unwrap().len();
            assert!(version == 3 || from == log.len() && version == 6, "{from}..{to}");
        }
    }
}

/// Every bit of a log, flipped: it is damage, or looks like a broken write of the last append; never is another log
/// read.
#[test]
fn flipped_bit_is_damage_or_a_torn_end() {
    let (log, session) = (log(), id("s"));
    let lines: Vec<usize> = (0..log.len()).filter(|&at| log[at] == b'\n').collect();
    let folder = tempfile::tempdir().unwrap();
    for at in 0..log.len() {
        for bit in 0..8 {
            let mut bytes = log.clone();
            bytes[at] ^= 1 << bit;
            let mut store = files(folder.path());
            fs::write(store.path(&session), &bytes).unwrap();
            let line = lines.iter().filter(|end| **end < at).count();
            match read(&mut store, &session, Version::START) {
                Ok(records) => {
                    assert!(line >= 3, "bit {bit} of byte {at}: a broken line that others follow is no torn end");
                    assert!(bytes[at] == 0 || at + 1 == bytes.len(), "bit {bit} of byte {at}: no broken write does so");
                    assert_eq!(records, [begin(), numbered(2), numbered(3)]);
                    assert_eq!(store.take_torn().len(), 1);
                }
                Err(StoreError::Damaged { good, .. }) => {
                    assert!(good.0 <= line as u64, "bit {bit} of byte {at}");
                    assert_eq!(fs::read(store.path(&session)).unwrap(), bytes, "damage is left as it is");
                    let refused = store.append(&session, Version(6), &[numbered(7)]);
                    assert!(matches!(refused, Err(AppendError::Store(StoreError::Damaged { .. }))));
                }
                Err(StoreError::Format { .. } | StoreError::OtherSession { .. }) => assert_eq!(line, 0),
                Err(error) => panic!("{error}"),
            }
        }
    }
}

/// Lines that are moved, missing, doubled, or from another log break the chain of checksums.
#[test]
fn moved_lines_are_damage() {
    let (log, session) = (String::from_utf8(log()).unwrap(), id("s"));
    let lines: Vec<&str> = log.lines().collect();
    let folder = tempfile::tempdir().unwrap();
    for order in [vec![0, 2, 1, 3, 4, 5], vec![0, 2, 3, 4, 5], vec![0, 1, 1, 2], vec![1, 2], vec![0, 1, 2, 4, 5, 3]] {
        let moved: String = order.iter().flat_map(|&line| [lines[line], "\n"]).collect();
        let mut store = files(folder.path());
        fs::write(store.path(&session), moved).unwrap();
        let read = read(&mut store, &session, Version::START);
        assert!(matches!(read, Err(StoreError::Damaged { .. })), "{order:?}: {read:?}");
        assert!(matches!(open(&mut store, &session), Err(StoreError::Damaged { .. })));
        assert!(matches!(store.check(&session), Err(StoreError::Damaged { .. })));
    }
}

/// A file that is not ours is not cut, whatever is in it.
#[test]
fn other_files_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let session = id("s");
    for text in ["{\"type\":\"user\"}\n", "{\"type\"", "\n\n", "notes", "{\"crc\":1}\n", " "] {
        let mut store = files(folder.path());
        fs::write(store.path(&session), text).unwrap();
        let read = read(&mut store, &session, Version::START);
        assert!(matches!(read, Err(StoreError::Damaged { .. })), "{text:?}: {read:?}");
        assert!(store.append(&session, Version::START, &[begin()]).is_err());
        assert_eq!(fs::read_to_string(store.path(&session)).unwrap(), text);
    }
}

#[test]
fn log_of_another_session_or_format_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = files(folder.path());
    let (session, other) = (id("s"), id("t"));
    fs::write(store.path(&other), log()).unwrap();
    let read = store.read(&other, Version::START, &mut |_, _| Ok(()));
    assert!(matches!(read, Err(StoreError::OtherSession { found, .. }) if found == "s"));
    let newer = String::from_utf8(log()).unwrap().replacen("\"version\":1", "\"version\":2", 1);
    fs::write(store.path(&session), &newer).unwrap();
    let read = store.read(&session, Version::START, &mut |_, _| Ok(()));
    assert!(matches!(read, Err(StoreError::Format { found: 2, known: 1, .. })), "{read:?}");
    assert_eq!(fs::read_to_string(store.path(&session)).unwrap(), newer);
}

/// A log that grows, shrinks or goes away under an open store.
#[test]
fn what_others_do_to_the_file_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let session = id("s");
    let (mut one, mut two) = (files(folder.path()), files(folder.path()));
    one.append(&session, Version::START, &[begin()]).unwrap();
    two.append(&session, Version(1), &[numbered(2)]).unwrap();
    let conflict = one.append(&session, Version(1), &[numbered(9)]);
    assert!(matches!(conflict, Err(AppendError::Conflict { actual: Version(2), .. })));
    one.append(&session, Version(2), &[numbered(3)]).unwrap();
    assert_eq!(all(&mut two, &session), [begin(), numbered(2), numbered(3)]);

    let path = one.path(&session);
    let bytes = fs::read(&path).unwrap();
    let two_lines = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(1).unwrap().0 + 1;
    fs::File::options().write(true).open(&path).unwrap().set_len(two_lines as u64).unwrap();
    assert_eq!(all(&mut one, &session), [begin(), numbered(2)]);

    #[cfg(unix)]
    {
        fs::remove_file(&path).unwrap();
        let gone = two.append(&session, Version(2), &[numbered(3)]);
        assert!(matches!(gone, Err(AppendError::Conflict { actual: Version::START, .. })), "{gone:?}");
    }
}
