//! What people, other programs and other releases do to the files.

use std::fs;
use std::io::Seek;

use session_todo_store::{AppendError, Fate, Store, StoreError, Version, open, read_log};

use crate::common::{all, begin, chained, expected, files, id, named, numbered, read};

/// A folder that was removed is said to be missing. An append that can't be written is never acknowledged.
#[test]
fn append_into_a_removed_folder_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = files(folder.path());
    fs::remove_dir(folder.path()).unwrap();
    for _ in 0..2 {
        let failed = store.append(&id("s"), Version::START, &[begin()]);
        assert!(matches!(failed, Err(AppendError::Store(StoreError::Io { .. }))), "{failed:?}");
    }
    fs::create_dir(folder.path()).unwrap();
    assert_eq!(store.append(&id("s"), Version::START, &[begin()]).unwrap(), Version(1));
}

/// A log that was removed takes along what an open store knew of it: the next one begins from nothing.
#[cfg(unix)]
#[test]
fn removed_log_is_not_remembered() {
    let (folder, session) = (tempfile::tempdir().unwrap(), id("s"));
    let records: Vec<_> = (1..=200).map(expected).collect();
    files(folder.path()).append(&session, Version::START, &records).unwrap();
    open(&mut files(folder.path()), &session).unwrap();
    let mut store = files(folder.path());
    assert!(store.cached_state(&session).unwrap().is_some());
    fs::remove_file(store.path(&session)).unwrap();
    assert_eq!(store.cached_state(&session).unwrap(), None);
    assert!(open(&mut store, &session).unwrap().is_none());
    assert_eq!(store.append(&session, Version::START, &[begin()]).unwrap(), Version(1));
    assert_eq!(all(&mut store, &session), [begin()]);
}

/// A8: a log of a later release is whole there, whatever its lines hold. Here it is told by its format, and not read,
/// cut or added to.
#[test]
fn a8_log_of_a_later_format_is_left_alone() {
    let (folder, session) = (tempfile::tempdir().unwrap(), id("s"));
    let mut store = files(folder.path());
    store.append(&session, Version::START, &[begin()]).unwrap();
    let log = fs::read_to_string(store.path(&session)).unwrap();
    let rest = log.trim_end().split_once(',').unwrap().1;
    assert_eq!(chained("", rest), log, "the checksum is computed as it is written");
    let later = rest.replacen("\"version\":1", "\"version\":2", 1);
    let other = r#""format":"session-todo-log","version":7,"session":"s","began":1}"#;
    for (line, found) in [(chained("", &later), 2), (chained("", other), 7)] {
        fs::write(store.path(&session), &line).unwrap();
        let mut store = files(folder.path());
        let read = store.read(&session, Version::START, &mut |_, _| Ok(()));
        assert!(matches!(read, Err(StoreError::Format { found: it, known: 1, .. }) if it == found), "{read:?}");
        assert!(store.append(&session, Version(1), &[numbered(2)]).is_err());
        assert_eq!(fs::read_to_string(store.path(&session)).unwrap(), line);
        assert!(read_log(line.as_bytes(), |_, _| panic!("of another format")).unwrap().is_some());
    }
}

/// A broken write leaves a line without its end, or with zeros. A whole line behind the end that is not ours was put
/// there by somebody else: it is damage, and not cut.
#[test]
fn line_that_no_broken_write_leaves_is_damage() {
    let (folder, session) = (tempfile::tempdir().unwrap(), id("s"));
    let mut store = files(folder.path());
    store.append(&session, Version::START, &[begin()]).unwrap();
    let log = fs::read(store.path(&session)).unwrap();
    for (tail, is_torn) in [
        ("{\"a\":1}\n", false),
        ("a note\n", false),
        ("\n", false),
        ("{\"crc\":\"00000000\",\"seq\":2}\n", false),
        ("{\"crc\":\"000", true),
        ("\0\0\0", true),
        ("{\"crc\":\"000\0\0\0\0\n", true),
        ("{\"crc\":\"000\0\0\0\0\na note\n", false),
    ] {
        let bytes = [&log[..], tail.as_bytes()].concat();
        fs::write(store.path(&session), &bytes).unwrap();
        let mut store = files(folder.path());
        let read = read(&mut store, &session, Version::START);
        assert_eq!(read.is_ok(), is_torn, "{tail:?}: {read:?}");
        assert_eq!(fs::read(store.path(&session)).unwrap(), bytes, "reading changes nothing");
        let [Fate::Stands] = store.take_torn().iter().map(|torn| torn.fate).collect::<Vec<_>>()[..] else {
            assert!(!is_torn, "what is torn is told");
            continue;
        };
        assert_eq!(store.append(&session, Version(1), &[numbered(2)]).unwrap(), Version(2));
        assert!(matches!(&store.take_torn()[..], [torn] if torn.fate == Fate::Kept && torn.bytes == tail.len() as u64));
        assert!(fs::read(store.path(&session)).unwrap().starts_with(&log));
        let kept = fs::read(store.path(&session).with_extension("torn")).unwrap();
        assert_eq!(kept, tail.as_bytes(), "what is cut is kept beside the log");
    }
    // Whatever a foreign file begins with.
    fs::write(store.path(&session), "\0not ours").unwrap();
    assert!(matches!(read(&mut files(folder.path()), &session, Version::START), Err(StoreError::Damaged { .. })));
    for zeros in [1, 5000] {
        fs::write(store.path(&session), vec![0; zeros]).unwrap();
        assert_eq!(all(&mut files(folder.path()), &session), []);
    }
}

/// What a broken write left was not acknowledged: where it can't be kept, the next append goes on, and says so.
#[test]
fn torn_end_that_cant_be_kept_is_in_nobodys_way() {
    for in_the_way in ["draft", "torn"] {
        let (folder, session) = (tempfile::tempdir().unwrap(), id("s"));
        let mut store = files(folder.path());
        store.append(&session, Version::START, &[begin()]).unwrap();
        let path = store.path(&session);
        fs::create_dir(path.with_extension(in_the_way)).unwrap();
        let log = fs::read(&path).unwrap();
        fs::write(&path, [&log[..], b"{\"crc\":\"000"].concat()).unwrap();
        assert_eq!(store.append(&session, Version(1), &[numbered(2)]).unwrap(), Version(2));
        let [torn] = &store.take_torn()[..] else { panic!("it is told") };
        assert_eq!((torn.fate, torn.bytes), (Fate::Gone, 11));
        assert!(torn.to_string().contains("could not be kept"), "{torn}");
        assert_eq!(all(&mut files(folder.path()), &session), [begin(), numbered(2)]);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "no half of a file is left on a full disk");
    }
}

/// A log in another place that a link leads to is listed like any other.
#[cfg(unix)]
#[test]
fn linked_log_is_listed() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (mut store, mut elsewhere) = (files(folder.path()), files(other.path()));
    elsewhere.append(&id("s"), Version::START, &[begin()]).unwrap();
    std::os::unix::fs::symlink(elsewhere.path(&id("s")), store.path(&id("s"))).unwrap();
    std::os::unix::fs::symlink("nowhere", store.path(&id("t"))).unwrap();
    assert_eq!(store.sessions().unwrap(), [id("s")]);
    assert_eq!(all(&mut store, &id("s")), [begin()]);
}

/// A8: a record with a right checksum is as it was written. One that can't be read is of a later release, and this is
/// said, and not that the log is damaged.
#[test]
fn a8_record_of_a_later_release_is_not_damage() {
    let (folder, session) = (tempfile::tempdir().unwrap(), id("s"));
    let mut store = files(folder.path());
    store.append(&session, Version::START, &[begin(), numbered(2)]).unwrap();
    let log = fs::read_to_string(store.path(&session)).unwrap();
    let state = r#""policy":{"name":"default","state":{"version":2}}}"#;
    for record in [r#""event":{"flown":{}}}"#, r#""event":"flown"}"#, r#""note":{"text":"x"}}"#, state] {
        let log = chained(&log, &format!("\"seq\":3,{record}"));
        fs::write(store.path(&session), &log).unwrap();
        let mut store = files(folder.path());
        let (read, opened) = (read(&mut store, &session, Version::START), open(&mut store, &session));
        assert!(matches!(read, Err(StoreError::Later { good: Version(2), .. })), "{record}: {read:?}");
        assert!(matches!(opened, Err(StoreError::Later { .. })), "{record}: {opened:?}");
        assert!(matches!(store.check(&session), Err(StoreError::Later { .. })));
        assert!(opened.unwrap_err().to_string().contains("later release"));
        let mut versions = Vec::new();
        let flaw = read_log(log.as_bytes(), |version, _| versions.push(version.0)).unwrap().unwrap();
        assert!(flaw.line == 3 && flaw.why.contains("later") && versions == [1, 2], "{flaw:?}");
    }
}

/// What others keep in the folder is read by nobody, and changed by nobody, whatever its first line begins with.
#[test]
fn foreign_file_is_never_changed() {
    let (folder, session) = (tempfile::tempdir().unwrap(), id("s"));
    let long = format!("{{\"a\":\"{}\"", "x".repeat(100_000));
    for text in [
        "{\"type\":\"user\"}\n{\"type\":\"user\"}\n",
        "{\"type\":\"user\"",
        "{\n  \"a\": 1\n}\n",
        "{}",
        "{\"crc\":1}",
        "{\"crc\":\"12345678\",\"name\":\"not ours\"",
        "{\"crc\":\"not hex.\",\"seq\":1,\"",
        "{\"crc\":\"12345678\",\"seq\":2,\"event\":",
        "{\"crc\":\"\0\0\0",
        &long,
    ] {
        let mut store = files(folder.path());
        let path = store.path(&session);
        fs::write(&path, text).unwrap();
        assert_eq!(store.sessions().unwrap(), std::slice::from_ref(&session), "it has a log's name");
        // What could be the beginning of one of ours is one that was never finished.
        let is_ours = text.ends_with('\0');
        assert_eq!(read(&mut store, &session, Version::START).is_ok(), is_ours, "{text:?}");
        assert_eq!(open(&mut store, &session).is_ok(), is_ours);
        assert_eq!(store.check(&session).is_ok(), is_ours);
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        for expected in [Version::START, Version(1)].into_iter().filter(|_| !is_ours) {
            let refused = store.append(&session, expected, &[begin()]);
            assert!(matches!(refused, Err(AppendError::Store(StoreError::Damaged { .. }))), "{text:?}: {refused:?}");
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "and nothing is put beside it");
    }
}

/// Another file takes the name of a log that is open, as a backup or a rotation does it, and has its length. What is
/// acknowledged then is in the file that has the name.
#[cfg(unix)]
#[test]
fn replaced_log_is_noticed() {
    let (folder, session) = (tempfile::tempdir().unwrap(), id("s"));
    let mut store = files(folder.path());
    let (path, moved) = (store.path(&session), folder.path().join("moved"));
    store.append(&session, Version::START, &[begin()]).unwrap();
    store.append(&session, Version(1), &[named("One")]).unwrap();
    fs::rename(&path, &moved).unwrap();
    let mut another = files(folder.path());
    another.append(&session, Version::START, &[begin()]).unwrap();
    another.append(&session, Version(1), &[named("Two")]).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().len(), fs::metadata(&moved).unwrap().len());
    store.append(&session, Version(2), &[numbered(3)]).unwrap();
    let records = [begin(), named("Two"), numbered(3)];
    assert_eq!(all(&mut store, &session), records);
    assert_eq!(all(&mut files(folder.path()), &session), records);
    assert_eq!(store.check(&session).unwrap().unwrap().version, Version(3));

    // The first one is put back: the store is at its end, and not at the other's.
    fs::rename(&moved, &path).unwrap();
    let stale = store.append(&session, Version(3), &[numbered(4)]);
    assert!(matches!(stale, Err(AppendError::Conflict { actual: Version(2), .. })), "{stale:?}");
    assert_eq!(all(&mut store, &session), [begin(), named("One")]);
    fs::rename(&path, &moved).unwrap();
    assert_eq!(all(&mut store, &session), [], "and where none has the name there is no log");
}

/// A line without an end is not read into memory, and none is written that would not be read.
#[test]
fn line_has_a_longest_length() {
    let (folder, session) = (tempfile::tempdir().unwrap(), id("s"));
    let mut store = files(folder.path());
    store.append(&session, Version::START, &[begin()]).unwrap();
    let refused = store.append(&session, Version(1), &[named(&"x".repeat(16 << 20))]);
    assert!(matches!(refused, Err(AppendError::Store(StoreError::TooLong { .. }))), "{refused:?}");
    // Six bytes of JSON for one, in as many as a model can write in one response.
    store.append(&session, Version(1), &[named(&"\u{1}".repeat(2 << 20))]).unwrap();
    assert_eq!(all(&mut files(folder.path()), &session).len(), 2);
    // The file system keeps no zeros.
    fs::File::options().write(true).open(store.path(&session)).unwrap().set_len(3 << 30).unwrap();
    let read = read(&mut store, &session, Version::START);
    let Err(StoreError::Damaged { good: Version(2), why, .. }) = read else { panic!("{read:?}") };
    assert!(why.contains("longer"), "{why}");
    let mut file = fs::File::open(store.path(&session)).unwrap();
    let copy = read_log(&mut file, |_, _| ()).unwrap();
    assert!(file.stream_position().unwrap() < 100 << 20, "and no more of it is read than a line may have, twice");
    assert_eq!(copy.map(|flaw| (flaw.line, flaw.why)), Some((3, why)));
}

/// Who only reads needs a folder that is there, and makes none.
#[test]
fn reading_makes_no_folder() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("mistyped");
    let refused = session_todo_store::Files::existing(&missing, session_todo_store::Sync::Os).map(drop);
    assert!(refused.unwrap_err().to_string().contains("mistyped"));
    assert!(!missing.exists());
    files(&missing).append(&id("s"), Version::START, &[begin()]).unwrap();
    let mut store = session_todo_store::Files::existing(&missing, session_todo_store::Sync::Os).unwrap();
    assert_eq!(all(&mut store, &id("s")), [begin()]);
}
