//! Plays a session through a history and a session of the core, as a loop does, and keeps what left.

#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

pub(crate) mod provider;
pub(crate) mod script;

use session_todo::{Agent, Call, Caller, Effect, Event, Outcome, Policy, Session};
use session_todo_wire::{By, Carrier, Format, History, Message, Record, ToolCall};

use proptest::test_runner::Config as ProptestConfig;
use provider::Asked;
use script::{CALLS, Fate, Step, Turn};

/// A request as it left.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) body: String,
    pub(crate) messages: Vec<String>,
    /// What the core said of it.
    pub(crate) effect: Option<Effect>,
    /// What stood in the history when it left, and who wrote each.
    pub(crate) stored: Vec<String>,
    pub(crate) by: Vec<By>,
    /// Whether a compaction came right before it.
    pub(crate) is_compacted: bool,
}

pub(crate) struct Play {
    pub(crate) format: Format,
    pub(crate) tools: String,
    pub(crate) session: Session,
    pub(crate) history: History,
    pub(crate) record: Record,
    pub(crate) sent: Vec<Sent>,
    pub(crate) compactions: usize,
    /// The snapshots that were put in.
    pub(crate) snapshots: Vec<String>,
    said: usize,
    is_compacted: bool,
}

pub(crate) fn play(format: Format, carrier: Carrier, policy: &Policy, steps: &[Step]) -> Play {
    let mut play = Play::new(format, carrier, policy);
    for step in steps {
        play.step(step);
    }
    play
}

impl Play {
    pub(crate) fn new(format: Format, carrier: Carrier, policy: &Policy) -> Self {
        Self {
            format,
            tools: format.tools(policy),
            session: Session::new(policy.clone()),
            history: History::new(format, carrier),
            record: Record::default(),
            sent: Vec::new(),
            compactions: 0,
            snapshots: Vec::new(),
            said: 0,
            is_compacted: false,
        }
    }

    pub(crate) fn step(&mut self, step: &Step) {
        match step {
            Step::Person => {
                self.said += 1;
                self.history.person(&format!("Please go on, {} \u{1f980}", self.said));
            }
            Step::Turn(turn) => self.turn(turn),
            Step::Edit(call) => self.beside(Caller::User, *call, None),
            Step::Sub(call) => self.beside(Caller::Sub, *call, None),
            Step::Resume => {
                self.record.note(self.session.state(), &Event::Resumed);
                let _ = self.session.step(&Event::Resumed);
            }
            Step::Compact(keep) => self.compact(*keep),
            Step::Overflow(keep) => {
                self.request();
                self.compact(*keep);
                self.leave(None);
                self.history.respond(&provider::response(self.format, "Here.", &[], false)).expect("a response");
            }
        }
    }

    fn beside(&mut self, by: Caller, call: usize, calls: Option<usize>) {
        let (name, arguments) = CALLS[call];
        let call = Call { by, name: name.into(), arguments: arguments.into(), outcome: Outcome::Ours };
        let event = Event::ToolCalled(call);
        match calls {
            None => self.record.note(self.session.state(), &event),
            Some(calls) => self.record.note_after_calls(self.session.state(), calls, &event),
        }
        let _ = self.session.step(&event);
    }

    pub(crate) fn request(&mut self) {
        let effect = self.session.step(&Event::RequestSent { by: Agent::Main });
        self.leave(effect);
    }

    fn leave(&mut self, effect: Option<Effect>) {
        let outgoing = self.history.request(effect.as_ref());
        let messages: Vec<String> = outgoing.iter().map(str::to_owned).collect();
        let body = provider::request(self.format, &self.tools, &outgoing.to_string());
        let stored = self.history.messages();
        self.sent.push(Sent {
            body,
            messages,
            effect,
            stored: stored.iter().map(|message| message.json.get().to_owned()).collect(),
            by: stored.iter().map(|message| message.by).collect(),
            is_compacted: std::mem::take(&mut self.is_compacted),
        });
    }

    fn turn(&mut self, turn: &Turn) {
        if self.history.messages().is_empty() {
            self.history.person("Begin.");
        }
        self.request();
        let n = self.sent.len();
        let asked: Vec<Asked> = turn.calls.iter().enumerate().map(|(at, (call, _))| asked(n, at, *call)).collect();
        let words = if turn.words { format!("Said {n}.") } else { String::new() };
        let calls =
            self.history.respond(&provider::response(self.format, &words, &asked, turn.is_cut)).expect("a response");
        assert_eq!(calls.len(), asked.len());
        for (call, asked) in calls.iter().zip(&asked) {
            assert_eq!((&call.id, &call.name, &call.arguments), (&asked.id, &asked.name, &asked.arguments));
        }
        if let Some(keep) = turn.compact {
            self.compact(keep);
        }
        self.answer(&calls, turn);
    }

    fn answer(&mut self, calls: &[ToolCall], turn: &Turn) {
        let mut answers = Vec::new();
        for (place, (call, (_, fate))) in calls.iter().zip(&turn.calls).enumerate() {
            let event = if *fate == Fate::Denied { call.failed() } else { call.event() };
            let is_failed = matches!(&event, Event::ToolCalled(call) if call.outcome == Outcome::Failed);
            answers.push(match self.session.step(&event) {
                Some(Effect::ReturnToolResult(result)) => call.listed(result),
                _ if is_failed => call.error("It did not run."),
                // An empty answer is one too.
                _ if call.arguments.contains("true") => call.ok(""),
                _ => call.ok("done"),
            });
            if let Some(edit) = turn.edit.filter(|_| place == 0) {
                self.beside(Caller::User, edit, Some(1));
            }
        }
        answers.reverse();
        self.history.answer(&answers);
    }

    pub(crate) fn compact(&mut self, keep: usize) {
        let effect = self.session.step(&Event::Compacted);
        let at = self.history.messages().len().saturating_sub(keep);
        let from = self.history.safe_cut(at).expect("our own messages");
        let summary = Message::user(self.format, By::Harness, "A summary of what was said.");
        self.history.compact(from, vec![summary], effect.as_ref());
        self.record.compacted(self.session.state(), &self.history);
        if let Some(Effect::InjectCompactSnapshot(snapshot)) = effect {
            self.snapshots.push(snapshot.text);
        }
        self.compactions += 1;
        self.is_compacted = true;
    }
}

fn asked(n: usize, at: usize, call: usize) -> Asked {
    let (name, arguments) = CALLS[call];
    Asked { id: format!("call_{n}_{at}"), name: name.to_owned(), arguments: arguments.to_owned() }
}

/// So many random sessions; `SESSION_TODO_CASES=10000` for the long run.
pub(crate) fn config() -> ProptestConfig {
    let cases = std::env::var("SESSION_TODO_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(256);
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases) }
}

/// A text as it stands in a JSON string.
pub(crate) fn escaped(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}
