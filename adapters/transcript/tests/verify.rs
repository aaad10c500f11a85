//! The measure of `verify` on the project's own logs: it must tell a list that is kept from one that is not.

#![allow(clippy::expect_used)]

use std::fs::File;

use session_todo::{Call, Caller, Event, List, Outcome, Policy, Session};
use session_todo_transcript::{Found, Product, Recorded, Verdict, read};

/// Telling places, and how many of them agree with the list that is asked for.
#[derive(Default)]
struct Score {
    telling: u32,
    agree: u32,
}

impl Score {
    fn add(&mut self, verdict: &Verdict) {
        let (telling, agrees) = match verdict {
            Verdict::Agree { telling } => (*telling, true),
            Verdict::Differ { .. } => (true, false),
            Verdict::Unreadable => (false, false),
        };
        self.telling += u32::from(telling);
        self.agree += u32::from(telling && agrees);
    }

    /// In percent.
    fn share(&self) -> u32 {
        self.agree * 100 / self.telling.max(1)
    }
}

/// The scores of a list that is kept and corrected (R8), and of one that is always empty.
fn scores() -> (Score, Score) {
    let (mut kept, mut empty) = (Score::default(), Score::default());
    for log in ["tasks", "todowrite"] {
        let mut session = Session::new(Policy::DEFAULT);
        each_found(&format!("{log}.jsonl"), &mut |found| match found {
            Found::Event(event) => drop(session.apply(&event)),
            Found::Agent(id) => each_found(&format!("{log}/subagents/agent-{id}.jsonl"), &mut |found| {
                if let Found::Event(event) = found {
                    drop(session.apply(&event));
                }
            }),
            Found::Recorded(recorded) => {
                empty.add(&recorded.against(&List::default()));
                kept.add(&compare(&mut session, &recorded));
            }
            _ => {}
        });
    }
    (kept, empty)
}

fn each_found(log: &str, found: &mut dyn FnMut(Found<'_>)) {
    let path = format!("{}/../../tests/fixtures/claude-code/{log}", env!("CARGO_MANIFEST_DIR"));
    read(Product::ClaudeCode, File::open(path).expect("a fixture"), found).expect("a log that is read");
}

fn compare(session: &mut Session, recorded: &Recorded<'_>) -> Verdict {
    let verdict = recorded.against(session.state().list());
    if let Verdict::Differ { correction, .. } = &verdict {
        let (name, arguments) = ("todo_write".into(), correction.into());
        let call = Call { by: Caller::Record, name, arguments, outcome: Outcome::Ran { id: None } };
        drop(session.apply(&Event::ToolCalled(call)));
    }
    verdict
}

#[test]
fn r8_an_empty_list_scores_nothing_and_a_kept_one_all() {
    let (kept, empty) = scores();
    assert!(kept.telling >= 10, "{} telling places are too few to tell", kept.telling);
    assert!(kept.share() >= 97, "{} of {} agree", kept.agree, kept.telling);
    assert!(empty.share() < 20, "{} of {} agree with an empty list", empty.agree, empty.telling);
}
