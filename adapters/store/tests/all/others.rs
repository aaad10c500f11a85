//! What people, other programs and other releases do to the files.

use std::fs;

use session_todo_store::{AppendError, Store, StoreError, Version, open};

use crate::common::{all, begin, expected, files, id, numbered, read};

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

/// A line with the checksum that it needs as the first of a log.
fn first(rest: &str) -> String {
    let mut hasher = crc32fast::Hasher::new_with_initial(crc32fast::hash(&0_u32.to_le_bytes()));
    hasher.update(rest.as_bytes());
    format!("{{\"crc\":\"{:08x}\",{rest}\n", hasher.finalize())
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
    assert_eq!(first(rest), log, "the checksum is computed as it is written");
    let later = rest.replacen("\"version\":1", "\"version\":2", 1);
    let other = r#""format":"session-todo-log","version":7,"session":"s","began":1}"#;
    for (line, found) in [(first(&later), 2), (first(other), 7)] {
        fs::write(store.path(&session), &line).unwrap();
        let mut store = files(folder.path());
        let read = store.read(&session, Version::START, &mut |_, _| Ok(()));
        assert!(matches!(read, Err(StoreError::Format { found: it, known: 1, .. }) if it == found), "{read:?}");
        assert!(store.append(&session, Version(1), &[numbered(2)]).is_err());
        assert_eq!(fs::read_to_string(store.path(&session)).unwrap(), line);
        assert!(session_todo_store::read_log(line.as_bytes(), |_, _| panic!("of another format")).unwrap().is_some());
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
    ] {
        let bytes = [&log[..], tail.as_bytes()].concat();
        fs::write(store.path(&session), &bytes).unwrap();
        let mut store = files(folder.path());
        let read = read(&mut store, &session, Version::START);
        assert_eq!(read.is_ok(), is_torn, "{tail:?}: {read:?}");
        assert_eq!(fs::read(store.path(&session)).unwrap(), bytes, "reading changes nothing");
        let [false] = store.take_torn().iter().map(|torn| torn.is_cut).collect::<Vec<_>>()[..] else {
            assert!(!is_torn, "what is torn is told");
            continue;
        };
        assert_eq!(store.append(&session, Version(1), &[numbered(2)]).unwrap(), Version(2));
        assert!(matches!(&store.take_torn()[..], [torn] if torn.is_cut && torn.bytes == tail.len() as u64));
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
