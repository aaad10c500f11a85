//! Ids are never paths, and files are their owner's alone.

use std::collections::HashSet;

use proptest::prelude::*;
use session_todo_store::{BadSessionId, SessionId, Store, Version};

use crate::common::{begin, files, id};

#[test]
fn bad_ids_say_what_is_wrong() {
    assert_eq!(SessionId::new(""), Err(BadSessionId::Empty));
    assert_eq!(SessionId::new("x".repeat(81)), Err(BadSessionId::TooLong { bytes: 81 }));
    assert_eq!(SessionId::new("a\0b"), Err(BadSessionId::Control('\0')));
    assert_eq!(SessionId::new("a\nb"), Err(BadSessionId::Control('\n')));
}

proptest! {
    /// No id leaves the folder, and no two share a file, whether or not the file system tells case apart.
    #[test]
    fn ids_have_a_safe_file_each(names in prop::collection::hash_set("[aA./\\\\%~: éI_-]{1,6}|\\PC{1,20}", 1..20)) {
        let folder = tempfile::tempdir().unwrap();
        let mut store = files(folder.path());
        let mut ids: Vec<SessionId> = names.iter().map(|name| id(name)).collect();
        let mut seen = HashSet::new();
        for id in &ids {
            let path = store.path(id);
            prop_assert_eq!(path.parent(), Some(folder.path()));
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            prop_assert!(name.len() <= 255 && name.is_ascii() && !name.starts_with(['-', '.']), "{}", name);
            prop_assert!(seen.insert(name.to_lowercase()));
            store.append(id, Version::START, &[begin()]).unwrap();
        }
        ids.sort();
        prop_assert_eq!(store.sessions().unwrap(), ids);
    }
}

#[cfg(unix)]
#[test]
fn files_and_folders_are_private() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("a/b/c");
    let mut store = files(&inner);
    let records: Vec<_> = (1..=100).map(crate::common::expected).collect();
    store.append(&id("s"), Version::START, &records).unwrap();
    session_todo_store::open(&mut store, &id("s")).unwrap();
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!([&inner, inner.parent().unwrap()].map(mode), [0o700; 2]);
    let entries: Vec<_> = std::fs::read_dir(&inner).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(entries.len(), 2, "the log and its cache: {entries:?}");
    assert!(entries.iter().all(|path| mode(path) == 0o600));
}

/// Windows takes `con.jsonl` for a device.
#[test]
fn no_file_is_a_device() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = files(folder.path());
    for device in ["con", "prn", "aux", "nul", "com1", "lpt9"] {
        let name = store.path(&id(device)).file_stem().unwrap().to_str().unwrap().to_owned();
        assert!(name.starts_with('%'), "{name}");
        store.append(&id(device), Version::START, &[begin()]).unwrap();
    }
    assert_eq!(store.sessions().unwrap().len(), 6);
    for plain in ["console", "com", "com10", "nuls"] {
        assert!(store.path(&id(plain)).ends_with(format!("{plain}.jsonl")));
    }
}

/// What is no log of ours is not listed.
#[test]
fn foreign_names_are_not_listed() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = files(folder.path());
    for name in ["A.jsonl", "%zz.jsonl", "%4.jsonl", "a.txt", ".jsonl", "%61.jsonl", "%2F.jsonl", "%é.jsonl"] {
        std::fs::write(folder.path().join(name), "x").unwrap();
    }
    std::fs::create_dir(folder.path().join("b.jsonl")).unwrap();
    assert_eq!(store.sessions().unwrap(), []);
}
