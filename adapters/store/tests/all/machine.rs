//! Any sequence of what can be done to a store, against vectors in memory.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use proptest::prelude::*;
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest, prop_state_machine};
use session_todo::{Policy, Session};
use session_todo_store::{AppendError, Cached, Record, SessionId, Store, Version, open};
use tempfile::TempDir;

use crate::common::{create, id, owned, read, request};

const SESSIONS: usize = 3;

/// What there should be.
#[derive(Clone, Debug, Default)]
pub(crate) struct Logs(BTreeMap<usize, (Vec<Record<'static>>, Option<Version>)>);

#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// An append at the version that is this much off the actual one.
    Append {
        session: usize,
        off: i64,
        records: Vec<Record<'static>>,
    },
    Read {
        session: usize,
        from: u64,
    },
    Cache {
        session: usize,
        version: u64,
    },
    Open {
        session: usize,
    },
    List,
    /// The process ends, and another opens the store.
    Reopen,
}

impl Logs {
    fn log(&self, session: usize) -> &[Record<'static>] {
        self.0.get(&session).map_or(&[], |(records, _)| records)
    }

    fn fold(&self, session: usize, version: usize) -> Session {
        let mut folded = Session::new(Policy::DEFAULT);
        for record in self.log(session).iter().take(version) {
            match record {
                Record::Event(event) => drop(folded.step(event)),
                Record::Policy { name, state } => {
                    folded = Session::resume(Policy::named(name).unwrap(), (**state).clone());
                }
            }
        }
        folded
    }
}

fn record() -> impl Strategy<Value = Record<'static>> {
    prop_oneof![
        4 => Just(Record::Event(request())),
        4 => "[a-z]{1,8}".prop_map(|subject| Record::Event(create(&subject))),
        1 => "\\PC{0,40}|[\\x00-\\x1f]{0,10}".prop_map(|name| crate::common::named(&name)),
        1 => (0..6_usize).prop_map(|at| Record::begin(&Policy::PRESETS[at])),
    ]
}

/// An append whose first record begins a log, so that it is valid wherever it lands.
fn records() -> impl Strategy<Value = Vec<Record<'static>>> {
    prop_oneof![
        1 => prop::collection::vec(record(), 0..4),
        1 => prop::collection::vec(record(), 60..140),
    ]
}

impl ReferenceStateMachine for Logs {
    type State = Self;
    type Transition = Step;

    fn init_state() -> BoxedStrategy<Self> {
        Just(Self::default()).boxed()
    }

    fn transitions(_: &Self) -> BoxedStrategy<Step> {
        let session = 0..SESSIONS;
        prop_oneof![
            6 => (session.clone(), prop_oneof![4 => Just(0_i64), 1 => -3..4_i64], records())
                .prop_map(|(session, off, records)| Step::Append { session, off, records }),
            2 => (session.clone(), 0..300_u64).prop_map(|(session, from)| Step::Read { session, from }),
            2 => (session.clone(), 0..300_u64).prop_map(|(session, version)| Step::Cache { session, version }),
            3 => session.prop_map(|session| Step::Open { session }),
            1 => Just(Step::List),
            1 => Just(Step::Reopen),
        ]
        .boxed()
    }

    /// An append to a log that has not begun must begin it.
    fn preconditions(logs: &Self, step: &Step) -> bool {
        match step {
            Step::Append { session, records, .. } if logs.log(*session).is_empty() => {
                matches!(records.first(), Some(Record::Policy { .. }))
            }
            _ => true,
        }
    }

    fn apply(mut logs: Self, step: &Step) -> Self {
        match step {
            Step::Append { session, off: 0, records } if !records.is_empty() => {
                logs.0.entry(*session).or_default().0.extend(records.iter().cloned());
            }
            Step::Cache { session, version } => {
                if let Some((records, cached)) = logs.0.get_mut(session)
                    && (cached.unwrap_or_default().0 + 1..records.len() as u64).contains(version)
                {
                    *cached = Some(Version(*version));
                }
            }
            _ => {}
        }
        logs
    }
}

/// A store that can be opened again, and its sessions' names.
pub(crate) struct Opened<H> {
    home: H,
    store: Box<dyn Store>,
    prefix: u64,
}

/// Where a store lives.
pub(crate) trait Home {
    fn new() -> Self;
    fn open(&self) -> Box<dyn Store>;
}

impl Home for TempDir {
    fn new() -> Self {
        tempfile::tempdir().unwrap()
    }

    fn open(&self) -> Box<dyn Store> {
        Box::new(crate::common::files(self.path()))
    }
}

/// Runs share a database, and no session.
static RUNS: AtomicU64 = AtomicU64::new(0);

impl<H> Opened<H> {
    fn session(&self, number: usize) -> SessionId {
        id(&format!("run-{}/{number}", self.prefix))
    }

    fn step(&mut self, logs: &Logs, step: Step) {
        match step {
            Step::Append { session, off, records } => self.append(logs, session, off, &records),
            Step::Read { session, from } => {
                let records = logs.log(session);
                let tail = records.get(usize::try_from(from).unwrap()..).unwrap_or_default();
                let id = self.session(session);
                assert_eq!(read(self.store.as_mut(), &id, Version(from)).unwrap(), tail);
            }
            Step::Cache { session, version } => self.cache(logs, session, version),
            Step::Open { session } => self.open(logs, session),
            Step::List => self.list(logs),
            Step::Reopen => {}
        }
    }

    fn append(&mut self, logs: &Logs, session: usize, off: i64, records: &[Record<'static>]) {
        let id = self.session(session);
        // The reference has the records already.
        let added = if off == 0 { records.len() } else { 0 };
        let before = (logs.log(session).len() - added) as u64;
        let Some(expected) = before.checked_add_signed(off) else { return };
        if expected == 0 && matches!(records.first(), Some(Record::Event(_))) {
            return;
        }
        match self.store.append(&id, Version(expected), records) {
            Ok(version) => assert_eq!((off, version), (0, Version(before).plus(records.len()))),
            Err(AppendError::Conflict { actual, .. }) => assert!(off != 0 && actual == Version(before)),
            Err(error) => panic!("{error}"),
        }
    }

    fn cache(&mut self, logs: &Logs, session: usize, version: u64) {
        let id = self.session(session);
        let folded = logs.fold(session, usize::try_from(version).unwrap());
        let policy = folded.policy().name.to_string();
        let cached = Cached { version: Version(version), policy, state: folded.state().clone() };
        self.store.cache_state(&id, &cached).unwrap();
        if logs.0.get(&session).and_then(|(_, cached)| *cached) == Some(Version(version)) {
            let found = self.store.cached_state(&id).unwrap().unwrap();
            assert!(found.version >= cached.version);
        }
        if let Some(found) = self.store.cached_state(&id).unwrap() {
            assert!(found.version.0 < logs.log(session).len() as u64, "P5");
            let folded = logs.fold(session, usize::try_from(found.version.0).unwrap());
            assert_eq!(&found.state, folded.state());
        }
    }

    fn open(&mut self, logs: &Logs, session: usize) {
        let id = self.session(session);
        let opened = open(self.store.as_mut(), &id).unwrap();
        let log = logs.log(session);
        let Some((last, before)) = log.split_last() else {
            assert!(opened.is_none());
            return;
        };
        let opened = opened.unwrap();
        let effect = match last {
            Record::Event(event) => logs.fold(session, before.len()).step(event),
            Record::Policy { .. } => None,
        };
        assert_eq!((opened.effect, opened.version), (effect, Version(log.len() as u64)));
        assert_eq!(opened.session, logs.fold(session, log.len()));
    }

    fn list(&mut self, logs: &Logs) {
        let prefix = format!("run-{}/", self.prefix);
        let mut listed = self.store.sessions().unwrap();
        listed.retain(|id| id.as_str().starts_with(&prefix));
        let begun: Vec<_> = (0..SESSIONS).filter(|session| !logs.log(*session).is_empty()).collect();
        assert_eq!(listed, begun.into_iter().map(|session| self.session(session)).collect::<Vec<_>>());
    }
}

impl<H: Home> StateMachineTest for Opened<H> {
    type SystemUnderTest = Self;
    type Reference = Logs;

    fn init_test(_: &Logs) -> Self {
        let home = H::new();
        let store = home.open();
        Self { home, store, prefix: RUNS.fetch_add(1, Ordering::Relaxed) }
    }

    fn apply(mut opened: Self, logs: &Logs, step: Step) -> Self {
        if matches!(step, Step::Reopen) {
            opened.store = opened.home.open();
        }
        opened.step(logs, step);
        opened
    }
}

/// Records come back as what they are: else every comparison here is empty.
#[test]
fn record_is_not_another() {
    let records = [Record::Event(request()), Record::Event(create("a")), Record::begin(&Policy::DEFAULT)];
    for (at, one) in records.iter().enumerate() {
        assert_eq!(records.iter().position(|other| owned(other) == *one), Some(at));
    }
}

prop_state_machine! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn files_are_vectors(sequential 1..40 => Opened<TempDir>);
}
