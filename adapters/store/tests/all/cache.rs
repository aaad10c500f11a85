//! The cached state is thrown away on any doubt, and opening gives the same.

use std::fs;
use std::path::PathBuf;

use session_todo::{Policy, Session};
use session_todo_store::{Files, Opened, Record, Store, Version, open};

use crate::common::{begin, create, files, id, request};

/// A log of 200 records with some tasks, opened once, so that it has a cached state.
fn cached(files: &mut Files) -> (PathBuf, Opened) {
    let session = id("s");
    let mut records = vec![begin()];
    let event = |number| if number % 20 == 0 { create(&format!("Step {number}")) } else { request() };
    records.extend((2..=200).map(event).map(Record::Event));
    files.append(&session, Version::START, &records).unwrap();
    let opened = open(files, &session).unwrap().unwrap();
    assert_eq!(files.cached_state(&session).unwrap().unwrap().version, Version(192));
    (files.path(&session).with_extension("cache"), opened)
}

fn same(one: &Opened, other: &Opened) {
    assert_eq!(one.session, other.session);
    assert_eq!((&one.effect, one.version), (&other.effect, other.version));
}

/// Law 11, A8: cut at every byte, a bit flipped in every byte, emptied, or of another version.
#[test]
fn doubtful_cache_is_dropped_and_rebuilt() {
    let folder = tempfile::tempdir().unwrap();
    let (path, before) = cached(&mut files(folder.path()));
    let bytes = fs::read(&path).unwrap();
    let mut doubtful: Vec<Vec<u8>> = (0..bytes.len()).map(|length| bytes[..length].to_vec()).collect();
    doubtful.extend((0..bytes.len()).map(|at| {
        let mut bytes = bytes.clone();
        bytes[at] ^= 1 << (at % 8);
        bytes
    }));
    // Bytes behind it; the header's version, the checkpoint's schema and its byte order.
    doubtful.push([&bytes[..], b"x"].concat());
    let checkpoint = bytes.windows(8).position(|window| window == b"STODOCKP").unwrap();
    for at in [8, checkpoint + 8, checkpoint + 12] {
        let mut bytes = bytes.clone();
        bytes[at] = bytes[at].wrapping_add(1);
        doubtful.push(bytes);
    }
    for bytes in doubtful {
        fs::write(&path, &bytes).unwrap();
        let mut store = files(folder.path());
        assert_eq!(store.cached_state(&id("s")).unwrap(), None);
        same(&open(&mut store, &id("s")).unwrap().unwrap(), &before);
        assert_eq!(store.cached_state(&id("s")).unwrap().unwrap().version, Version(192), "it is rebuilt");
    }
}

/// A whole cache of another log, or of this log as it was once, is of another history.
#[test]
fn cache_of_another_history_is_dropped() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (path, before) = cached(&mut files(folder.path()));
    let mut another = files(other.path());
    let mut records = vec![begin()];
    records.extend((2..=300).map(|_| Record::Event(request())));
    another.append(&id("s"), Version::START, &records).unwrap();
    open(&mut another, &id("s")).unwrap();
    fs::copy(another.path(&id("s")).with_extension("cache"), &path).unwrap();
    same(&open(&mut files(folder.path()), &id("s")).unwrap().unwrap(), &before);

    // The same length of every line, and the same place: only the chain of checksums tells.
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for (folder, subject) in [(&one, "A"), (&two, "B")] {
        let mut store = files(folder.path());
        let mut records = vec![begin(), Record::Event(create(subject))];
        records.extend((3..=100).map(|_| Record::Event(request())));
        store.append(&id("s"), Version::START, &records).unwrap();
        open(&mut store, &id("s")).unwrap();
    }
    let cache = |folder: &tempfile::TempDir| files(folder.path()).path(&id("s")).with_extension("cache");
    fs::copy(cache(&one), cache(&two)).unwrap();
    let opened = open(&mut files(two.path()), &id("s")).unwrap().unwrap();
    assert_eq!(opened.session.list().items()[0].content, "B");
}

/// P5: where the log lost its end, and ends where the cached state does, the state is of the last record.
#[test]
fn p5_cache_that_nothing_follows_is_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = files(folder.path());
    cached(&mut store);
    let path = store.path(&id("s"));
    let bytes = fs::read(&path).unwrap();
    let ends: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at] == b'\n').collect();
    for lines in [150, 191, 192] {
        fs::write(&path, &bytes[..=ends[lines - 1]]).unwrap();
        // What is left of the append of 200 records is a part of it, so nothing of it counts.
        let mut store = files(folder.path());
        assert_eq!(store.cached_state(&id("s")).unwrap(), None);
        assert!(open(&mut store, &id("s")).unwrap().is_none());
    }
}

/// A cached state that is not what the log folds to can't be seen at opening; `check` sees it, and changes nothing.
#[test]
fn check_compares_the_cached_state_with_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = files(folder.path());
    let (path, before) = cached(&mut store);
    let checked = store.check(&id("s")).unwrap().unwrap();
    assert_eq!((checked.version, checked.is_cache_right), (Version(200), Some(true)));
    fs::remove_file(&path).unwrap();
    assert_eq!(store.check(&id("s")).unwrap().unwrap().is_cache_right, None);
    let mut store = files(folder.path());
    let wrong = Session::new(Policy::DEFAULT).state().clone();
    let wrong = session_todo_store::Cached { version: Version(100), policy: "default".into(), state: wrong };
    store.cache_state(&id("s"), &wrong).unwrap();
    let written = fs::read(&path).unwrap();
    for wrong in [&written[..], &written[..20], b"no cache", b""] {
        fs::write(&path, wrong).unwrap();
        let checked = store.check(&id("s")).unwrap().unwrap();
        assert_eq!((checked.version, checked.is_cache_right), (Version(200), Some(false)));
        assert_eq!(fs::read(&path).unwrap(), wrong);
    }
    same(&open(&mut files(folder.path()), &id("s")).unwrap().unwrap(), &before);
}

/// What can't be read as a cache is none, and costs nobody the log.
#[cfg(unix)]
#[test]
fn cache_that_is_no_file_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let (path, before) = cached(&mut files(folder.path()));
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    let mut store = files(folder.path());
    assert_eq!(store.cached_state(&id("s")).unwrap(), None);
    same(&open(&mut store, &id("s")).unwrap().unwrap(), &before);
    store.append(&id("s"), Version(200), &[Record::Event(request())]).unwrap();
    assert_eq!(store.check(&id("s")).unwrap().unwrap().version, Version(201));
}

/// A cache that can't be written costs time and nothing else.
#[cfg(unix)]
#[test]
fn cache_that_cant_be_written_is_missed_by_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = files(folder.path());
    let (path, before) = cached(&mut store);
    fs::remove_file(&path).unwrap();
    fs::create_dir(path.with_extension("draft")).unwrap();
    same(&open(&mut files(folder.path()), &id("s")).unwrap().unwrap(), &before);
    assert!(!path.exists());
}
