//! Any bytes as a state, in each of its forms: reading never panics, what is read passes every check, and comes back
//! from each form. Few bytes are states, so those of real ones are changed too, and a checkpoint is given the checksum
//! that it then needs. Now and then it prints how many were read.

#![no_main]

use std::sync::atomic::{AtomicU64, Ordering};

use libfuzzer_sys::fuzz_target;
use session_todo::{Agent, Event, Policy, Session, State, checkpoint};
use session_todo_store_fuzz::sealed;
use session_todo_tests::events;

/// Bytes before a checkpoint's archive.
const HEADER: usize = 24;
/// Runs from one print to the next.
const EVERY: u64 = 10_000;

static RUNS: AtomicU64 = AtomicU64::new(0);
static JSON: AtomicU64 = AtomicU64::new(0);
static CHECKPOINTS: AtomicU64 = AtomicU64::new(0);

fuzz_target!(|bytes: &[u8]| {
    as_json(bytes);
    as_checkpoint(bytes);
    let _ = checkpoint::from_bytes(bytes);
    let (changes, log) = bytes.split_at(bytes.len().min(8));
    let (policy, log) = events::from_bytes(log);
    let (session, _) = Session::replay(policy, None, log);
    sound(session.state());
    let mut json = serde_json::to_vec(session.state()).unwrap();
    let mut checkpoint = checkpoint::to_bytes(session.state()).unwrap();
    checkpoint.drain(..HEADER);
    for change in changes.chunks_exact(2) {
        let at = |length| usize::from(change[0]) * length / 256;
        let (in_json, in_checkpoint) = (at(json.len()), at(checkpoint.len()));
        json[in_json] = change[1];
        checkpoint[in_checkpoint] ^= change[1];
    }
    as_json(&json);
    as_checkpoint(&checkpoint);
    if RUNS.fetch_add(1, Ordering::Relaxed) % EVERY == EVERY - 1 {
        print();
    }
});

fn as_json(bytes: &[u8]) {
    if let Ok(state) = serde_json::from_slice::<State>(bytes) {
        JSON.fetch_add(1, Ordering::Relaxed);
        sound(&state);
    }
}

/// As if the checksum had failed to tell.
fn as_checkpoint(archive: &[u8]) {
    let bytes = sealed(archive);
    let state = checkpoint::from_bytes(&bytes);
    let view = checkpoint::view(&bytes).map(|view| view.items().map(|item| item.1.len()).sum::<usize>());
    if let Ok(state) = state {
        CHECKPOINTS.fetch_add(1, Ordering::Relaxed);
        assert_eq!(view, Ok(state.list().items().iter().map(|item| item.content.len()).sum()));
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
    let [runs, json, checkpoints] = [&RUNS, &JSON, &CHECKPOINTS].map(|count| count.load(Ordering::Relaxed));
    eprintln!("{runs} runs, two of each form: {json} were read as JSON, {checkpoints} as checkpoints");
}
