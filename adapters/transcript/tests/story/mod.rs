//! What a reader finds in a log, as a story of one line a step, and the list that it comes to.

use session_todo::{Agent, Caller, Event, Outcome, Policy, Session, State};
use session_todo_transcript::{Found, Product, read};

/// A log as it was read.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Story {
    /// What was found, in order.
    pub(crate) steps: Vec<String>,
    /// The list at the end: `status content`.
    pub(crate) list: Vec<String>,
    /// Every list on the way.
    pub(crate) lists: Vec<Vec<String>>,
}

/// Reads a log of this product, which is one by its content.
pub(crate) fn story(product: Product, log: &[u8]) -> Story {
    assert_eq!(Product::of(log), Some(product));
    told(product, log)
}

/// Reads a log as this product's, whatever it looks like.
pub(crate) fn told(product: Product, log: &[u8]) -> Story {
    let mut teller = Teller::default();
    assert!(read(product, log, &mut |found| teller.found(&found)).is_ok(), "a slice can be read");
    let list = teller.lists.last().cloned().unwrap_or_default();
    Story { steps: teller.steps, list, lists: teller.lists }
}

/// A log that was cut behind any of its bytes is read as far as it goes: the list is one that it had. One with
/// any of its bytes changed is read too (R7).
pub(crate) fn cut_at_every_byte(product: Product, log: &[u8]) {
    let mut lists = told(product, log).lists;
    lists.push(Vec::new());
    for end in 0..log.len() {
        let cut = told(product, log.get(..end).unwrap_or_default());
        assert!(lists.contains(&cut.list), "cut at {end}: {cut:?}");
    }
    for at in 0..log.len() {
        for changed in [b'"', b'}', b'\\', 0xff] {
            let mut log = log.to_vec();
            log.splice(at..=at, [changed]);
            let _ = told(product, &log);
        }
    }
}

fn start() -> State {
    Session::new(Policy::DEFAULT).state().clone()
}

#[derive(Default)]
struct Teller {
    session: Option<State>,
    turns: Vec<State>,
    steps: Vec<String>,
    lists: Vec<Vec<String>>,
}

impl Teller {
    fn found(&mut self, found: &Found<'_>) {
        let step = match found {
            Found::Event(event) => {
                let mut session = Session::resume(Policy::DEFAULT, self.session.take().unwrap_or_else(start));
                let _ = session.apply(event);
                self.session = Some(session.state().clone());
                event_step(event)
            }
            Found::Turn => {
                self.turns.push(self.session.clone().unwrap_or_else(start));
                "turn".into()
            }
            Found::Rewound { turns } => {
                let kept = self.turns.len().saturating_sub(usize::try_from(*turns).unwrap_or(usize::MAX));
                if let Some(state) = self.turns.drain(kept..).next() {
                    self.session = Some(state);
                }
                format!("rewound {turns}")
            }
            Found::Recorded(recorded) => {
                let list = self.session.clone().unwrap_or_else(start);
                format!("recorded on {}: {:?}", recorded.line, recorded.against(list.list()))
            }
            Found::Unanswered(name) => format!("unanswered {name}"),
            Found::Pending(name) => format!("pending {name}"),
            Found::Skipped(skipped) => format!("skipped {}:{}: {}", skipped.line, skipped.offset, skipped.why),
            _ => "else".into(),
        };
        self.steps.push(step);
        let state = self.session.clone().unwrap_or_else(start);
        let items = state.list().items().iter();
        self.lists.push(items.map(|item| format!("{} {}", item.status.as_str(), item.content)).collect());
    }
}

fn event_step(event: &Event<'_>) -> String {
    match event {
        Event::RequestSent { by: Agent::Main } => "request".into(),
        Event::RequestSent { by: Agent::Sub } => "request by sub".into(),
        Event::Compacted => "compacted".into(),
        Event::Resumed => "resumed".into(),
        Event::ToolCalled(call) => {
            let by = if call.by == Caller::Main { "main" } else { "sub" };
            let ended = if call.outcome == Outcome::Failed { "failed" } else { "ran" };
            format!("{by} {} {ended}", call.name)
        }
    }
}
