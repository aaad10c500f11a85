use session_todo::{Change, Effect, Event, Policy, Session, State, Tool};

use crate::error::{AppendError, StoreError};
use crate::id::SessionId;
use crate::record::{Cached, Record, Version};
use crate::store::Store;

/// A state is cached at every such version, so opening folds twice this many records at most.
const CACHE_EVERY: u64 = 64;

/// A session as its log left it.
#[derive(Clone, Debug)]
pub struct Opened {
    /// The list, the clock and the policy.
    pub session: Session,
    /// The effect of the last event, for a loop that died between logging the event and using it (P5).
    pub effect: Option<Effect>,
    /// The version to append at.
    pub version: Version,
}

/// Takes a session up where its log ends: from the cached state if there is one. None where there is no log.
///
/// # Errors
///
/// What the store gives, and a log whose policy is unknown here.
pub fn open(store: &mut (impl Store + ?Sized), session: &SessionId) -> Result<Option<Opened>, StoreError> {
    let cached = store.cached_state(session)?;
    let from = cached.as_ref().map_or(Version::START, |cached| cached.version);
    let mut fold = Fold::from(cached);
    let version = store.read(session, from, &mut |version, record| fold.record(version, &record))?;
    if let Some(stash) = &fold.stash {
        // One that can't be written is missed by nobody: the next opening tries again.
        let _ = store.cache_state(session, stash);
    }
    match (fold.session, fold.unknown) {
        (Some(session), _) => Ok(Some(Opened { effect: session.render(&fold.last), session, version })),
        (None, Some(name)) => Err(StoreError::UnknownPolicy { name }),
        (None, None) => Ok(None),
    }
}

/// Reads a session, lets `work` step it, and appends what was stepped; what `work` returns, effects above
/// all, is given out only when the log has the events. If somebody else appended in between, it is all done
/// again, so `work` must do nothing but step. A session without a log begins under `policy`; one that has a
/// log keeps its own.
///
/// # Errors
///
/// What the store gives, and a policy that is not a preset as it stands: its log could not be read again.
pub fn transaction<'e, T>(
    store: &mut (impl Store + ?Sized),
    session: &SessionId,
    policy: &Policy,
    mut work: impl FnMut(&mut Work<'e>) -> T,
) -> Result<(T, Version), StoreError> {
    loop {
        let (mut draft, version) = match open(store, session)? {
            Some(Opened { session, effect, version }) => (Work { session, effect, records: Vec::new() }, version),
            None => (Work::begin(policy)?, Version::START),
        };
        let done = work(&mut draft);
        if !draft.stepped(version) {
            return Ok((done, version));
        }
        match store.append(session, version, &draft.records) {
            Ok(version) => return Ok((done, version)),
            Err(AppendError::Conflict { .. }) => {}
            Err(AppendError::Store(error)) => return Err(error),
        }
    }
}

/// A session inside a [`transaction`].
#[derive(Debug)]
pub struct Work<'e> {
    session: Session,
    effect: Option<Effect>,
    records: Vec<Record<'e>>,
}

impl<'e> Work<'e> {
    fn begin(policy: &Policy) -> Result<Self, StoreError> {
        check(policy)?;
        Ok(Self { session: Session::new(policy.clone()), effect: None, records: vec![Record::begin(policy)] })
    }

    /// The session as stepped so far.
    #[must_use]
    pub const fn session(&self) -> &Session {
        &self.session
    }

    /// The effect of the last event, which before the first step is the last of the log (P5).
    #[must_use]
    pub const fn last_effect(&self) -> Option<&Effect> {
        self.effect.as_ref()
    }

    /// Folds one event, which is logged at the transaction's end. No log holds the arguments of a tool that is
    /// not the list's: they are left out.
    pub fn step(&mut self, mut event: Event<'e>) -> Option<Effect> {
        self.effect = self.session.step(&event);
        if let Event::ToolCalled(call) = &mut event
            && Tool::named(&call.name).is_none()
        {
            call.arguments = "".into();
        }
        self.records.push(Record::Event(event));
        self.effect.clone()
    }

    /// Goes on under another preset, from the state as it is (P6).
    ///
    /// # Errors
    ///
    /// A policy that is not a preset as it stands.
    pub fn change_policy(&mut self, policy: &Policy) -> Result<(), StoreError> {
        check(policy)?;
        let state = self.session.state().clone();
        self.records.push(Record::policy(policy, state.clone()));
        self.session = Session::resume(policy.clone(), state);
        self.effect = None;
        Ok(())
    }

    /// Whether there is more to append than the record that a log begins with.
    fn stepped(&self, version: Version) -> bool {
        self.records.len() > usize::from(version == Version::START)
    }
}

/// The fold of a log.
#[derive(Debug)]
pub(crate) struct Fold {
    /// None before the first record, and under a policy that is unknown here.
    session: Option<Session>,
    unknown: Option<String>,
    last: Change,
    /// What is cached already.
    from: Version,
    /// The newest state worth caching. A later record follows it, so it is never the last one's (P5).
    stash: Option<Cached>,
}

impl Fold {
    pub(crate) fn from(cached: Option<Cached>) -> Self {
        let mut fold = Self { session: None, unknown: None, last: Change::None, from: Version::START, stash: None };
        if let Some(Cached { version, policy, state }) = cached {
            fold.from = version;
            fold.start(&policy, state);
        }
        fold
    }

    /// What is under an unknown policy matters only if no known one follows: that one has its own state (P6).
    fn start(&mut self, policy: &str, state: State) {
        let known = Policy::named(policy);
        self.unknown = known.is_none().then(|| policy.to_owned());
        self.session = known.map(|known| Session::resume(known, state));
    }

    pub(crate) fn record(&mut self, version: Version, record: &Record<'_>) -> Result<(), StoreError> {
        self.stash_before(version);
        self.last = match (record, &mut self.session) {
            (Record::Event(event), Some(session)) => session.apply(event),
            (Record::Event(_), None) if self.unknown.is_none() => return Err(StoreError::NoPolicy),
            (Record::Event(_), None) => Change::None,
            (Record::Policy { name, state }, _) => {
                self.start(name, State::clone(state));
                Change::None
            }
        };
        Ok(())
    }

    /// Whether the fold has come to this state.
    pub(crate) fn is_at(&self, version: Version, cached: &Cached) -> bool {
        let is_same = |session: &Session| *session.state() == cached.state && session.policy().name == cached.policy;
        cached.version == version && self.session.as_ref().is_some_and(is_same)
    }

    fn stash_before(&mut self, version: Version) {
        let before = Version(version.0.saturating_sub(1));
        let is_due = before > self.from && before.0.is_multiple_of(CACHE_EVERY);
        let Some(session) = self.session.as_ref().filter(|_| is_due) else { return };
        let policy = session.policy().name.to_string();
        self.stash = Some(Cached { version: before, policy, state: session.state().clone() });
    }
}

/// Whether a log that names this policy can be read again.
fn check(policy: &Policy) -> Result<(), StoreError> {
    let is_preset = Policy::named(&policy.name).as_ref() == Some(policy);
    if is_preset { Ok(()) } else { Err(StoreError::UnknownPolicy { name: policy.name.to_string() }) }
}
