//! What every store promises, written once.

use session_todo::{Call, Caller, Effect, Event, Outcome, Policy, Session};
use session_todo_store::{AppendError, Cached, SessionId, Store, StoreError, Version, open, transaction};

use crate::common::{all, begin, create, expected, files, id, numbered, read, request};

type Promise = fn(&mut dyn Store);

pub(crate) const PROMISES: [(&str, Promise); 13] = [
    ("an append is read back", append_is_read_back),
    ("a stale version is a conflict", stale_version_is_a_conflict),
    ("an append is whole", append_is_whole),
    ("reading begins anywhere", reading_begins_anywhere),
    ("a reader can stop", reader_can_stop),
    ("P6: a log begins with its policy", p6_log_begins_with_its_policy),
    ("sessions are listed", sessions_are_listed),
    ("texts come back as they were", texts_come_back),
    ("P5: the last effect", p5_last_effect),
    ("P5: a cached state is not of the last record", p5_cached_state_is_not_of_the_last_record),
    ("opening uses the cache", opening_uses_the_cache),
    ("a transaction steps again after a conflict", transaction_steps_again),
    ("section 2: no log holds a foreign tool's arguments", foreign_arguments_are_left_out),
];

#[test]
fn files_keep_every_promise() {
    for (name, promise) in PROMISES {
        eprintln!("{name}");
        let folder = tempfile::tempdir().unwrap();
        promise(&mut files(folder.path()));
    }
}

fn conflict(result: Result<Version, AppendError>) -> Version {
    match result {
        Err(AppendError::Conflict { actual, .. }) => actual,
        result => panic!("a conflict was expected, and {result:?} came"),
    }
}

fn append_is_read_back(store: &mut dyn Store) {
    let session = id("s");
    assert_eq!(all(store, &session), []);
    assert_eq!(store.append(&session, Version::START, &[begin(), numbered(2)]).unwrap(), Version(2));
    assert_eq!(store.append(&session, Version(2), &[numbered(3)]).unwrap(), Version(3));
    assert_eq!(store.append(&session, Version(3), &[]).unwrap(), Version(3));
    assert_eq!(all(store, &session), [begin(), numbered(2), numbered(3)]);
    assert_eq!(all(store, &id("another")), []);
}

fn stale_version_is_a_conflict(store: &mut dyn Store) {
    let session = id("s");
    for ahead in [1, 2, u64::MAX / 2, u64::MAX] {
        assert_eq!(conflict(store.append(&session, Version(ahead), &[numbered(1)])), Version::START);
    }
    store.append(&session, Version::START, &[begin(), numbered(2)]).unwrap();
    for stale in [0, 1, 3, u64::MAX] {
        assert_eq!(conflict(store.append(&session, Version(stale), &[begin()])), Version(2), "{stale}");
        assert_eq!(conflict(store.append(&session, Version(stale), &[])), Version(2), "{stale}");
    }
    assert_eq!(all(store, &session), [begin(), numbered(2)]);
}

fn append_is_whole(store: &mut dyn Store) {
    let session = id("s");
    let records: Vec<_> = (1..=2500).map(expected).collect();
    assert_eq!(store.append(&session, Version::START, &records).unwrap(), Version(2500));
    assert_eq!(all(store, &session), records);
}

fn reading_begins_anywhere(store: &mut dyn Store) {
    let session = id("s");
    let records: Vec<_> = (1..=20).map(expected).collect();
    store.append(&session, Version::START, &records).unwrap();
    for from in 0..=20 {
        let tail = records.get(usize::try_from(from).unwrap()..).unwrap();
        assert_eq!(read(store, &session, Version(from)).unwrap(), tail);
    }
    for beyond in [21, u64::MAX] {
        let end = store.read(&session, Version(beyond), &mut |_, _| panic!("there is none")).unwrap();
        assert_eq!(end, Version(20));
    }
}

fn reader_can_stop(store: &mut dyn Store) {
    let session = id("s");
    store.append(&session, Version::START, &[begin(), numbered(2), numbered(3)]).unwrap();
    let mut seen = 0;
    let stopped = store.read(&session, Version::START, &mut |_, _| {
        seen += 1;
        if seen == 2 { Err(StoreError::NoPolicy) } else { Ok(()) }
    });
    assert!(matches!(stopped, Err(StoreError::NoPolicy)) && seen == 2);
    assert_eq!(all(store, &session).len(), 3);
}

fn p6_log_begins_with_its_policy(store: &mut dyn Store) {
    let session = id("s");
    let refused = store.append(&session, Version::START, &[numbered(1)]);
    assert!(matches!(refused, Err(AppendError::Store(StoreError::NoPolicy))));
    let unknown = Policy { name: "mine".into(), ..Policy::DEFAULT };
    let refused = store.append(&session, Version::START, &[session_todo_store::Record::begin(&unknown)]);
    assert!(matches!(refused, Err(AppendError::Store(StoreError::UnknownPolicy { name })) if name == "mine"));
    assert_eq!(store.sessions().unwrap(), []);
    assert!(open(store, &session).unwrap().is_none());
}

fn sessions_are_listed(store: &mut dyn Store) {
    assert_eq!(store.sessions().unwrap(), []);
    let names = ["../../etc/passwd", "A", "a", "b%41", "con", "Ünï", "x y", "-rf", "/", "..", ".", "a\\b", "%2e"];
    let mut sessions: Vec<SessionId> = names.into_iter().map(id).collect();
    sessions.push(id(&"é".repeat(40)));
    for (number, session) in (2..).zip(&sessions) {
        store.append(session, Version::START, &[begin(), numbered(number)]).unwrap();
    }
    for (number, session) in (2..).zip(&sessions) {
        assert_eq!(all(store, session), [begin(), numbered(number)], "{session}");
    }
    sessions.sort();
    assert_eq!(store.sessions().unwrap(), sessions);
}

fn texts_come_back(store: &mut dyn Store) {
    let session = id("s");
    let texts = ["\0", "\n", "\r\n", "\u{2028}\u{feff}\u{10ffff}", "\"\\'", "'; DROP TABLE session_todo_record; --"];
    let mut records = vec![begin()];
    records.extend(texts.map(crate::common::named));
    store.append(&session, Version::START, &records).unwrap();
    assert_eq!(all(store, &session), records);
}

fn p5_last_effect(store: &mut dyn Store) {
    let session = id("s");
    let mut twin = Session::new(Policy::DEFAULT);
    let ((), _) = transaction(store, &session, &Policy::DEFAULT, |_| ()).unwrap();
    assert!(open(store, &session).unwrap().is_none(), "nothing was stepped, so nothing began");
    for number in 0..300 {
        let event = if number % 50 == 0 { create(&format!("Step {number}")) } else { request() };
        let effect = twin.step(&event);
        let (given, version) = transaction(store, &session, &Policy::DEFAULT, |work| work.step(event.clone())).unwrap();
        assert_eq!((&given, version), (&effect, Version(number + 2)));
        let opened = open(store, &session).unwrap().unwrap();
        assert_eq!((&opened.effect, opened.version), (&effect, version), "event {number}");
        assert_eq!(opened.session, twin);
    }
    assert!(matches!(twin.list().items().len(), 6));
}

fn p5_cached_state_is_not_of_the_last_record(store: &mut dyn Store) {
    let session = id("s");
    let state = || Session::new(Policy::DEFAULT).state().clone();
    let at = |version| Cached { version: Version(version), policy: "default".into(), state: state() };
    store.cache_state(&session, &at(1)).unwrap();
    assert_eq!(store.cached_state(&session).unwrap(), None, "there is no log");
    store.append(&session, Version::START, &[begin(), numbered(2), numbered(3)]).unwrap();
    for not_before_the_last in [3, 4, u64::MAX] {
        store.cache_state(&session, &at(not_before_the_last)).unwrap();
        assert_eq!(store.cached_state(&session).unwrap(), None);
    }
    store.cache_state(&session, &at(2)).unwrap();
    assert_eq!(store.cached_state(&session).unwrap(), Some(at(2)));
    store.cache_state(&session, &at(1)).unwrap();
    assert_eq!(store.cached_state(&session).unwrap(), Some(at(2)), "an older one is not kept");
}

fn opening_uses_the_cache(store: &mut dyn Store) {
    let session = id("s");
    let records: Vec<_> = (1..=1000).map(expected).collect();
    store.append(&session, Version::START, &records).unwrap();
    let first = open(store, &session).unwrap().unwrap();
    let cached = store.cached_state(&session).unwrap().expect("opening caches a state");
    assert_eq!(cached.version, Version(960));
    let again = open(store, &session).unwrap().unwrap();
    assert_eq!((again.session, again.effect, again.version), (first.session, first.effect, first.version));
}

/// Whoever reads while another appends comes second, and its event is stepped on the other's list.
fn transaction_steps_again(store: &mut dyn Store) {
    let session = id("s");
    let user = |content: &str| {
        let Event::ToolCalled(call) = create(content) else { unreachable!() };
        Event::ToolCalled(Call { by: Caller::User, ..call })
    };
    transaction(store, &session, &Policy::DEFAULT, |work| work.step(create("First"))).unwrap();
    let mut interfering = Interfering { store, times: 3 };
    let mut steps = 0;
    let (effect, version) = transaction(&mut interfering, &session, &Policy::DEFAULT, |work| {
        steps += 1;
        work.step(user("Mine"))
    })
    .unwrap();
    assert_eq!((steps, version), (4, Version(6)));
    let Some(Effect::ReturnToolResult(answer)) = effect else { panic!("no answer") };
    assert!(answer.text.contains("#5"), "after four others: {}", answer.text);
}

fn foreign_arguments_are_left_out(store: &mut dyn Store) {
    let call = |name: &'static str| {
        let (arguments, outcome) = (r#"{"todos":[]}"#.into(), Outcome::Ran { id: None });
        Event::ToolCalled(Call { by: Caller::Main, name: name.into(), arguments, outcome })
    };
    transaction(store, &id("s"), &Policy::DEFAULT, |work| {
        let _ = work.step(call("Bash"));
        let _ = work.step(call("TodoWrite"));
    })
    .unwrap();
    let records = all(store, &id("s"));
    assert_eq!(records[1..], [crate::common::named("Bash"), session_todo_store::Record::Event(call("TodoWrite"))]);
}

/// A store in which somebody else is always faster, so many times.
struct Interfering<'s> {
    store: &'s mut dyn Store,
    times: u64,
}

impl Store for Interfering<'_> {
    fn append(
        &mut self,
        session: &SessionId,
        expected: Version,
        records: &[session_todo_store::Record<'_>],
    ) -> Result<Version, AppendError> {
        if self.times > 0 {
            self.times -= 1;
            let other = session_todo_store::Record::Event(create("Other"));
            self.store.append(session, expected, &[other])?;
        }
        self.store.append(session, expected, records)
    }

    fn read(
        &mut self,
        session: &SessionId,
        from: Version,
        each: session_todo_store::Each<'_>,
    ) -> Result<Version, StoreError> {
        self.store.read(session, from, each)
    }

    fn cached_state(&mut self, session: &SessionId) -> Result<Option<Cached>, StoreError> {
        self.store.cached_state(session)
    }

    fn cache_state(&mut self, session: &SessionId, cached: &Cached) -> Result<(), StoreError> {
        self.store.cache_state(session, cached)
    }

    fn sessions(&mut self) -> Result<Vec<SessionId>, StoreError> {
        self.store.sessions()
    }
}
