//! P6: a log names its policy.

use session_todo::{Policy, Session};
use session_todo_store::{Opened, Record, Store, StoreError, Version, open, transaction};

use crate::common::{all, begin, create, files, id, request};

/// A changed policy starts from a state; what is before it is not folded again.
#[test]
fn p6_changed_policy_starts_from_its_state() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = files(folder.path());
    let mut twin = Session::new(Policy::DEFAULT);
    for subject in ["A", "B"] {
        let _ = twin.step(&create(subject));
        transaction(&mut store, &id("s"), &Policy::DEFAULT, |work| work.step(create(subject))).unwrap();
    }
    let mut twin = Session::resume(Policy::TODO_EVERY_REQUEST, twin.state().clone());
    let expected = twin.step(&request());
    let (effect, version) = transaction(&mut store, &id("s"), &Policy::DEFAULT, |work| {
        work.change_policy(&Policy::TODO_EVERY_REQUEST).unwrap();
        work.step(request())
    })
    .unwrap();
    assert!(effect.is_some() && effect == expected);
    let opened = open(&mut store, &id("s")).unwrap().unwrap();
    assert_eq!((&opened.session, &opened.effect, opened.version), (&twin, &effect, version));
    assert_eq!(version, Version(5));
    let records = all(&mut store, &id("s"));
    assert!(matches!(&records[3], Record::Policy { name, .. } if name == "todo-every-request"));
}

/// What the log says holds, whatever policy a caller would begin one with.
#[test]
fn p6_log_keeps_its_policy() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = files(folder.path());
    transaction(&mut store, &id("s"), &Policy::CLAUDE_CODE, |work| work.step(create("A"))).unwrap();
    transaction(&mut store, &id("s"), &Policy::DEFAULT, |work| work.step(request())).unwrap();
    let Opened { session, .. } = open(&mut store, &id("s")).unwrap().unwrap();
    assert_eq!(*session.policy(), Policy::CLAUDE_CODE);
}

/// A policy of one's own can't be read back by its name, so it never gets into a log.
#[test]
fn p6_policy_that_is_no_preset_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = files(folder.path());
    let mine = Policy { resume_note: false, ..Policy::DEFAULT };
    let refused = transaction(&mut store, &id("s"), &mine, |work| work.step(request()));
    assert!(matches!(refused, Err(StoreError::UnknownPolicy { .. })));
    transaction(&mut store, &id("s"), &Policy::DEFAULT, |work| {
        assert!(matches!(work.change_policy(&mine), Err(StoreError::UnknownPolicy { .. })));
        work.step(request())
    })
    .unwrap();
    assert_eq!(all(&mut store, &id("s")), [begin(), Record::Event(request())]);
}

/// A log of another release, with a policy that this one does not know, is read and can't be folded.
#[test]
fn p6_unknown_policy_in_a_log_is_a_clear_error() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = files(folder.path());
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/v1/unknown-policy.jsonl");
    std::fs::copy(golden, store.path(&id("golden"))).unwrap();
    assert_eq!(all(&mut store, &id("golden")).len(), 2);
    let error = open(&mut store, &id("golden")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the policy \"later\" is none of this release's presets: default, todo-every-request, todo-history, \
         task-nudge, todo-rounds, claude-code"
    );
    // What is before another policy is never folded again, so it need not be known.
    let mut session = Session::new(Policy::DEFAULT);
    let _ = session.step(&create("A"));
    let known = Record::policy(&Policy::DEFAULT, session.state().clone());
    store.append(&id("golden"), Version(2), &[known]).unwrap();
    assert_eq!(open(&mut store, &id("golden")).unwrap().unwrap().session, session);
}
