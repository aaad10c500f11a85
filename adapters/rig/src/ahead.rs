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
#[derive(Clone, Debug)]
pub(crate) struct Fold {
    session: Session,
    ahead: Option<Ahead>,
}

/// What it takes to fold again: the session as it was before the first call that was taken for granted,
/// and everything since.
#[derive(Clone, Debug)]
struct Ahead {
    before: Session,
    since: Vec<Folded>,
}

#[derive(Clone, Debug)]
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

    /// Where a call stands that was taken for granted.
    pub(crate) fn place_of(&self, key: &CallKey) -> Option<usize> {
        let since = &self.ahead.as_ref()?.since;
        since.iter().position(|folded| folded.granted.as_ref() == Some(key))
    }

    /// The call at this place has ended as this event says: the effect is the one that it has there.
    pub(crate) fn confirm(&mut self, place: usize, event: Event<'static>) -> Option<Effect> {
        let ahead = self.ahead.as_mut()?;
        let folded = ahead.since.get_mut(place)?;
        folded.granted = None;
        if folded.event != event {
            folded.event = event;
            self.session = ahead.fold_again();
        }
        let effect = ahead.since.get(place)?.effect.clone();
        if ahead.since.iter().all(|folded| folded.granted.is_none()) {
            self.ahead = None;
        }
        effect
    }

    /// The first call that is still taken for granted.
    pub(crate) fn first_granted(&self) -> Option<(usize, Event<'static>)> {
        let mut since = self.ahead.as_ref()?.since.iter().enumerate();
        since.find_map(|(place, folded)| folded.granted.as_ref().map(|_| (place, folded.event.clone())))
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
