//! Old bytes are tests, kept for ever. `UPDATE=1` writes those of the newest version; a difference in review is a
//! change of a format.

use std::fs;
use std::path::{Path, PathBuf};

use session_todo::{Agent, Call, Caller, Event, Outcome, Policy, State};
use session_todo_store::{Files, Record, SessionId, Store, Version, open, transaction};

use crate::common::{all, create, files, id, request};

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/v1").join(name)
}

fn check(name: &str, bytes: &[u8]) {
    if std::env::var_os("UPDATE").is_some() {
        fs::write(golden(name), bytes).unwrap();
    }
    let kept = fs::read(golden(name)).unwrap();
    assert!(kept == bytes, "{name} differs:\n{}", String::from_utf8_lossy(bytes));
}

/// Every kind of record and of event, appends of one and of several.
fn written(store: &mut Files, session: &SessionId) {
    let call = |by, name: &'static str, arguments: &'static str, outcome| {
        Event::ToolCalled(Call { by, name: name.into(), arguments: arguments.into(), outcome })
    };
    let list = r#"{"todos":[{"content":"Read é \"quoted\"\n","status":"in_progress"},{"content":"Test"}]}"#;
    let pieces: [Vec<Event<'_>>; 8] = [
        vec![request()],
        vec![call(Caller::Main, "todo_write", list, Outcome::Ours)],
        vec![call(Caller::Main, "Bash", "", Outcome::Failed), Event::RequestSent { by: Agent::Sub }],
        vec![create("Third")],
        vec![Event::Compacted],
        vec![Event::Resumed, request()],
        vec![call(Caller::User, "TaskUpdate", r#"{"taskid":"2","status":"cancelled"}"#, Outcome::Ours)],
        vec![call(Caller::Main, "TaskCreate", r#"{"subject":"D"}"#, Outcome::Ran { id: Some("9".into()) })],
    ];
    for piece in pieces {
        transaction(store, session, &Policy::DEFAULT, |work| {
            for event in &piece {
                let _ = work.step(event.clone());
            }
        })
        .unwrap();
    }
    transaction(store, session, &Policy::DEFAULT, |work| {
        work.change_policy(&Policy::TODO_HISTORY).unwrap();
        for _ in 0..70 {
            let _ = work.step(request());
        }
    })
    .unwrap();
}

/// A log keeps its bytes, and so do the state that it folds to and its cache.
#[test]
fn a8_formats_keep_their_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let (mut store, session) = (files(folder.path()), id("Golden/1"));
    written(&mut store, &session);
    let opened = open(&mut store, &session).unwrap().unwrap();
    check("log.jsonl", &fs::read(store.path(&session)).unwrap());
    check("log.cache", &fs::read(store.path(&session).with_extension("cache")).unwrap());
    check("state.json", serde_json::to_string_pretty(opened.session.state()).unwrap().as_bytes());
}

/// Every later release reads the log, with its cache and without.
#[test]
fn a8_kept_log_is_read() {
    let state: State = serde_json::from_slice(&fs::read(golden("state.json")).unwrap()).unwrap();
    for with_cache in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let (mut store, session) = (files(folder.path()), id("Golden/1"));
        let path = store.path(&session);
        fs::copy(golden("log.jsonl"), &path).unwrap();
        if with_cache {
            fs::copy(golden("log.cache"), path.with_extension("cache")).unwrap();
        }
        let cached = store.cached_state(&session).unwrap();
        assert_eq!(cached.map(|cached| cached.version), with_cache.then_some(Version(64)));
        let opened = open(&mut store, &session).unwrap().unwrap();
        assert_eq!(opened.session.state(), &state);
        assert_eq!(opened.session.policy().name, "todo-history");
        let checked = store.check(&session).unwrap().unwrap();
        assert_eq!((checked.version, checked.is_cache_right), (opened.version, Some(true)));
        // And it goes on.
        store.append(&session, opened.version, &[Record::Event(request())]).unwrap();
        assert_eq!(Version(all(&mut store, &session).len() as u64), opened.version.plus(1));
    }
}
