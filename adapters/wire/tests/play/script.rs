//! Random sessions: what a person, a model and the world around them do.

use std::num::NonZeroU32;

use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::sample::select;
use session_todo::policy::{Carry, Clock, Gate};
use session_todo::{Lane, Policy};
use session_todo_wire::{Carrier, Format};

/// One thing that happens.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// A person says something; it goes with the next request.
    Person,
    /// A request leaves, and its response comes.
    Turn(Turn),
    /// A person changes the list.
    Edit(usize),
    /// A sub-agent tries to.
    Sub(usize),
    /// The session is taken up again.
    Resume,
    /// A compaction that keeps about so many messages.
    Compact(usize),
    /// A request that is too large: a compaction, and it is sent once more.
    Overflow(usize),
}

/// A response, and what becomes of its calls.
#[derive(Clone, Debug)]
pub(crate) struct Turn {
    pub(crate) words: bool,
    pub(crate) calls: Vec<(usize, Fate)>,
    pub(crate) is_cut: bool,
    /// A person changes the list after the first call.
    pub(crate) edit: Option<usize>,
    /// A compaction while the calls wait for their answers, that keeps about so many messages.
    pub(crate) compact: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Answered,
    Denied,
}

/// What a model calls. The first are writes; some are refused.
pub(crate) const CALLS: [(&str, &str); 9] = [
    ("todo_write", r#"{"todos":[{"content":"Plan","status":"in_progress"},{"content":"Build","status":"pending"}]}"#),
    ("todo_write", r#"{"todos":[{"id":"1","content":"Plan","status":"completed"},{"content":"Ship \"it\""}]}"#),
    ("TaskCreate", r#"{"subject":"Test","description":"all of it"}"#),
    ("TaskUpdate", r#"{"taskid": "1", "status":"completed"}"#),
    ("TaskUpdate", r#"{"taskid":"77","status":"completed"}"#),
    ("todo_write", r#"{"todos":null}"#),
    ("TaskList", "{}"),
    ("bash", r#"{"command":"ls"}"#),
    ("bash", r#"{"command":"true", "n": 1.50}"#),
];

fn turn() -> impl Strategy<Value = Turn> {
    let fate = prop_oneof![8 => Just(Fate::Answered), 1 => Just(Fate::Denied)];
    let call = (prop_oneof![1 => 0..CALLS.len(), 1 => Just(7)], fate);
    let edit = proptest::option::weighted(0.1, 0..CALLS.len());
    let compact = proptest::option::weighted(0.05, 0..6_usize);
    (any::<bool>(), vec(call, 0..4), proptest::bool::weighted(0.1), edit, compact)
        .prop_map(|(words, calls, is_cut, edit, compact)| Turn { words, calls, is_cut, edit, compact })
}

/// A session.
pub(crate) fn session() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => Just(Step::Person),
        16 => turn().prop_map(Step::Turn),
        2 => (0..6_usize).prop_map(Step::Edit),
        1 => (0..6_usize).prop_map(Step::Sub),
        1 => Just(Step::Resume),
        1 => (0..8_usize).prop_map(Step::Compact),
        1 => (0..8_usize).prop_map(Step::Overflow),
    ];
    vec(step, 1..40).prop_map(|mut steps| {
        steps.insert(0, Step::Person);
        steps
    })
}

/// A policy that reminds often, in a lane.
pub(crate) fn policy(lanes: &'static [Lane]) -> impl Strategy<Value = Policy> {
    let count = |n| NonZeroU32::new(n).expect("not zero");
    let clock = prop_oneof![
        (1..4_u32, 1..3_u32)
            .prop_map(move |(after, between)| Clock::Requests { after: count(after), between: count(between) }),
        (1..3_u32).prop_map(move |rounds| Clock::Rounds(count(rounds))),
        Just(Clock::EveryRequest),
    ];
    let gate = select(&[Gate::Open, Gate::None][..]);
    let preset = select(Policy::PRESETS.to_vec());
    let carry = select(&[Carry::Open, Carry::All][..]);
    (clock, select(lanes), gate, carry, any::<bool>(), preset).prop_map(
        |(clock, lane, gate, carry, resume_note, preset)| Policy {
            clock,
            lane,
            gate,
            carry,
            resume_note,
            max_unanswered: None,
            ..preset
        },
    )
}

/// A format and a carrier.
pub(crate) fn wire() -> impl Strategy<Value = (Format, Carrier)> {
    (select(&Format::ALL[..]), select(&[Carrier::User, Carrier::Developer, Carrier::Joined][..]))
}
