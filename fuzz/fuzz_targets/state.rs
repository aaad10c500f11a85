//! Any bytes as a state, in each of its forms: reading never panics, what is read passes every check, and comes back
//! from each form. A checkpoint is given its checksum, or no input would pass. Now and then it prints how many were
//! states.

#![no_main]

use std::sync::atomic::{AtomicU64, Ordering};

use libfuzzer_sys::fuzz_target;
use session_todo::{Agent, Event, Policy, Session, State, checkpoint};
use session_todo_store_fuzz::sealed;
use session_todo_tests::events;

/// Runs from one print to the next.
const EVERY: u64 = 100_000;

static RUNS: AtomicU64 = AtomicU64::new(0);
static JSON: AtomicU64 = AtomicU64::new(0);
static CHECKPOINTS: AtomicU64 = AtomicU64::new(0);
static CHANGED: AtomicU64 = AtomicU64::new(0);

fuzz_target!(|bytes: &[u8]| {
    if let Ok(state) = serde_json::from_slice::<State>(bytes) {
        JSON.fetch_add(1, Ordering::Relaxed);
        sound(&state);
    }
    let _ = checkpoint::from_bytes(bytes);
    if let Ok(state) = checkpoint::from_bytes(&sealed(bytes)) {
        CHECKPOINTS.fetch_add(1, Ordering::Relaxed);
        sound(&state);
    }
    changed(bytes);
    if RUNS.fetch_add(1, Ordering::Relaxed) % EVERY == EVERY - 1 {
        print();
    }
});

/// A checkpoint that is one, with a few bytes changed and a checksum that agrees: as if the checksum had failed.
fn changed(bytes: &[u8]) {
    let (changes, log) = bytes.split_at(bytes.len().min(8));
    let (policy, log) = events::from_bytes(log);
    let (session, _) = Session::replay(policy, None, log);
    let mut checkpoint = checkpoint::to_bytes(session.state()).unwrap();
    assert_eq!(checkpoint::from_bytes(&checkpoint).as_ref(), Ok(session.state()));
    for change in changes.chunks_exact(2) {
        let at = usize::from(change[0]) * checkpoint.len() / 256;
        checkpoint[at] ^= change[1];
    }
    checkpoint.drain(..24);
    if let Ok(state) = checkpoint::from_bytes(&sealed(&checkpoint)) {
        CHANGED.fetch_add(1, Ordering::Relaxed);
        sound(&state);
    }
}

/// What passes the reader passes the check, comes back, and can be folded on.
fn sound(state: &State) {
    assert_eq!(state.check(), Ok(()));
    let json = serde_json::to_vec(state).unwrap();
    assert_eq!(&serde_json::from_slice::<State>(&json).unwrap(), state);
    assert_eq!(checkpoint::from_bytes(&checkpoint::to_bytes(state).unwrap()).as_ref(), Ok(state));
    let mut session = Session::resume(Policy::DEFAULT, state.clone());
    let _ = session.step(&Event::RequestSent { by: Agent::Main });
    let _ = session.step(&Event::Compacted);
    assert_eq!(session.state().check(), Ok(()));
}

fn print() {
    let [runs, json, checkpoints, changed] =
        [&RUNS, &JSON, &CHECKPOINTS, &CHANGED].map(|count| count.load(Ordering::Relaxed));
    eprintln!("{runs} runs: {json} states as JSON, {checkpoints} as checkpoints, {changed} as changed ones");
}
