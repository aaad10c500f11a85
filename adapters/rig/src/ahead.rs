use rig_agent::agent::RunId;
use rig_core::message::CallId;
use session_todo::{Effect, Event, Session};

/// A call of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CallKey {
    pub(crate) run: RunId,
    pub(crate) id: CallId,
}

/// A session that may have folded calls before it was known how they end.
#[derive(Debug)]
pub(crate) struct Fold {
    session: Session,
    ahead: Option<Ahead>,
}

/// What it takes to fold again: the session as it was before the first call that was taken for granted,
/// and everything since.
#[derive(Debug)]
struct Ahead {
    before: Session,
    since: Vec<Folded>,
}

#[derive(Debug)]
struct Folded {
    /// Set while the call is taken for granted.
    granted: Option<CallKey>,
    event: Event<'static>,
    effect: Option<Effect>,
}

impl Fold {
    pub(crate) const fn new(session: Session) -> Self {
        Self { session, ahead: None }
    }

    pub(crate) const fn session(&self) -> &Session {
        &self.session
    }

    /// Folds an event that is certain.
    pub(crate) fn step(&mut self, event: Event<'static>) -> Option<Effect> {
        let effect = self.session.step(&event);
        if let Some(ahead) = &mut self.ahead {
            ahead.since.push(Folded { granted: None, event, effect: effect.clone() });
        }
        effect
    }

    /// Folds a call whose end is not known yet, since one that came after it has ended.
    pub(crate) fn grant(&mut self, key: CallKey, event: Event<'static>) {
        let before = || Ahead { before: self.session.clone(), since: Vec::new() };
        let ahead = self.ahead.get_or_insert_with(before);
        let effect = self.session.step(&event);
        ahead.since.push(Folded { granted: Some(key), event, effect });
    }

    /// A call that was taken for granted has ended as this event says: the effect is the one that it had
    /// in its place. None where it was not taken for granted.
    pub(crate) fn confirm(&mut self, key: &CallKey, event: &Event<'static>) -> Option<Option<Effect>> {
        let ahead = self.ahead.as_mut()?;
        let at = ahead.since.iter().position(|folded| folded.granted.as_ref() == Some(key))?;
        let folded = ahead.since.get_mut(at)?;
        folded.granted = None;
        if folded.event != *event {
            folded.event = event.clone();
            self.session = ahead.fold_again();
        }
        let effect = ahead.since.get(at)?.effect.clone();
        if ahead.since.iter().all(|folded| folded.granted.is_none()) {
            self.ahead = None;
        }
        Some(effect)
    }

    /// The calls that are still taken for granted.
    pub(crate) fn granted(&self) -> Vec<(CallKey, Event<'static>)> {
        let since = self.ahead.iter().flat_map(|ahead| &ahead.since);
        since.filter_map(|folded| Some((folded.granted.clone()?, folded.event.clone()))).collect()
    }
}

impl Ahead {
    fn fold_again(&mut self) -> Session {
        let mut session = self.before.clone();
        for folded in &mut self.since {
            folded.effect = session.step(&folded.event);
        }
        session
    }
}
