//! The file store: `cargo bench -p session-todo-benches --bench store`.
//!
//! What is promised are ratios and bounds of one run, printed at its end. The folder is the system's temporary one
//! (`TMPDIR`): with a folder in memory the sync says nothing.

#![allow(missing_docs, clippy::expect_used)]

use std::fs::{self, File};
use std::hint::black_box;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use criterion::{Criterion, criterion_group, criterion_main};
use session_todo::{Outcome, Policy, Session, State, checkpoint};
use session_todo_benches::{REQUEST, call, ten_items};
use session_todo_store::{Cached, Files, Record, SessionId, Store, Sync, Version, open};

const STATES: u32 = 10_000;

fn id(name: &str) -> SessionId {
    SessionId::new(name).expect("it is an id")
}

fn foreign() -> Record<'static> {
    Record::Event(call("Bash", "", Outcome::Ran { id: None }))
}

/// A task's text, with which a line has about the 460 bytes that stores are compared with.
fn task() -> String {
    format!(r#"{{"subject":"Measure","description":"{}"}}"#, "what there is to do ".repeat(15))
}

/// The event of that size.
fn write(task: &str) -> Record<'_> {
    Record::Event(call("TaskCreate", task, Outcome::Ours))
}

/// A store with a log that has begun.
fn begun(folder: &Path, sync: Sync) -> (Files, Version) {
    let mut store = Files::open(folder, sync).expect("a folder");
    let version = store.append(&id("s"), Version::START, &[Record::begin(&Policy::DEFAULT)]).expect("an append");
    (store, version)
}

fn appends(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut store, mut version) = begun(folder.path(), Sync::Os);
    let (session, task) = (id("s"), task());
    let record = write(&task);
    criterion.bench_function("append without sync", |bench| {
        bench.iter(|| version = store.append(&session, version, std::slice::from_ref(&record)).expect("an append"));
    });
}

/// A log of this many events and a cached state near its end.
fn long_log(folder: &Path, events: u64) -> SessionId {
    let (mut store, mut version) = (Files::open(folder, Sync::Os).expect("a folder"), Version::START);
    let session = id(&format!("{events}"));
    let list = ten_items();
    let mut records = vec![Record::begin(&Policy::DEFAULT), Record::Event(call("todo_write", &list, Outcome::Ours))];
    while version.0 < events {
        records.extend((0..4999).flat_map(|_| [Record::Event(REQUEST), foreign()]));
        version = store.append(&session, version, &records).expect("an append");
        records.clear();
    }
    open(&mut store, &session).expect("a log").expect("it has begun");
    session
}

fn openings(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a folder");
    for events in [1_000_000, 10_000] {
        let session = long_log(folder.path(), events);
        criterion.bench_function(&format!("open a log of {events} events"), |bench| {
            bench.iter(|| open_once(folder.path(), &session));
        });
    }
    ratios(folder.path());
}

/// As a process does that has just started.
fn open_once(folder: &Path, session: &SessionId) -> Session {
    let mut store = Files::open(folder, Sync::Os).expect("a folder");
    open(&mut store, session).expect("a log").expect("it has begun").session
}

fn ratios(long: &Path) {
    let folder = tempfile::tempdir().expect("a folder");
    append_ratios(folder.path());
    let [million, less] = ["1000000", "10000"].map(|events| {
        let session = id(events);
        median(101, || drop(black_box(open_once(long, &session)))) / 1e3
    });
    println!("open a million     {million:8.1} us (under 1000), {:5.2} times 10,000 events", million / less);
    state_ratios(folder.path());
}

fn append_ratios(folder: &Path) {
    let (mut store, mut version) = begun(&folder.join("os"), Sync::Os);
    let (session, task) = (id("s"), task());
    let record = write(&task);
    let append = |store: &mut Files, version: &mut Version| {
        *version = store.append(&session, *version, std::slice::from_ref(&record)).expect("an append");
    };
    let plain = median(20_001, || append(&mut store, &mut version)) / 1e3;
    println!("append, no sync    {plain:8.2} us (under 5)");
    let line = fs::read(store.path(&session)).expect("the log");
    let line = line.rsplitn(3, |byte| *byte == b'\n').nth(1).map(<[u8]>::to_vec).unwrap_or_default();
    let bytes = [line.as_slice(), b"\n"].concat();
    let mut bare = File::create(folder.join("bare")).expect("a file");
    let (mut store, mut version) = begun(&folder.join("each"), Sync::Each);
    // In turn, so that what disturbs one disturbs the other.
    let (mut synced, mut least) = (Vec::new(), Vec::new());
    for _ in 0..501 {
        least.push(nanoseconds(|| {
            bare.write_all(&bytes).expect("a write");
            bare.sync_data().expect("a sync");
        }));
        synced.push(nanoseconds(|| append(&mut store, &mut version)));
    }
    let [synced, least] = [synced, least].map(|times| middle(times) / 1e3);
    println!("write and sync     {least:8.1} us, {} bytes", bytes.len());
    println!("append with sync   {synced:8.1} us, {:5.2} times write and sync (at most 1.3)", synced / least);
}

/// States of ten items, each another.
fn states() -> Vec<State> {
    let list = ten_items();
    let state = |number: u32| {
        let mut session = Session::new(Policy::DEFAULT);
        let list = list.replace("measured here", &format!("measured in {number}"));
        let _ = session.apply(&REQUEST);
        let _ = session.apply(&call("todo_write", &list, Outcome::Ours));
        session.state().clone()
    };
    (0..STATES).map(state).collect()
}

fn state_ratios(folder: &Path) {
    let states = states();
    let checkpoints: Vec<_> =
        states.iter().map(|state| checkpoint::to_bytes(state).expect("a state is bytes")).collect();
    let jsons: Vec<_> = states.iter().map(|state| serde_json::to_vec(state).expect("a state is JSON")).collect();
    let read = |bytes: &Vec<u8>| drop(black_box(checkpoint::from_bytes(black_box(bytes)).expect("our own bytes")));
    let parse = |json: &Vec<u8>| drop(black_box(serde_json::from_slice::<State>(black_box(json)).expect("our own")));
    let (parsed, read) = (of_each(&jsons, parse), of_each(&checkpoints, read));
    let viewed = of_each(&checkpoints, |bytes| view(bytes));
    println!("state from JSON    {parsed:8.2} us, of {STATES}, in memory");
    println!("state from bytes   {read:8.2} us, JSON takes {:5.1} times that", parsed / read);
    println!("read in place      {viewed:8.2} us, JSON takes {:5.1} times that (at least 10)", parsed / viewed);
    state_files(folder, &states, &jsons);
}

/// Microseconds of one: the median of pieces that are short enough for many not to be interrupted.
fn of_each(all: &[Vec<u8>], run: impl Fn(&Vec<u8>)) -> f64 {
    let pieces = (0..11).flat_map(|_| all.chunks(100));
    middle(pieces.map(|piece| nanoseconds(|| piece.iter().for_each(&run))).collect()) / 100.0 / 1e3
}

/// Looks at every item of a checkpoint, as a listing of open items does.
fn view(bytes: &[u8]) {
    let view = checkpoint::view(black_box(bytes)).expect("our own bytes");
    for item in view.items() {
        black_box(item);
    }
}

fn state_files(folder: &Path, states: &[State], jsons: &[Vec<u8>]) {
    let each = |nanoseconds: f64| nanoseconds / f64::from(STATES) / 1e3;
    let json_folder = folder.join("json");
    fs::create_dir(&json_folder).expect("a folder");
    let mut store = Files::open(folder.join("states"), Sync::Os).expect("a folder");
    let session = |number: usize| id(&format!("s{number}"));
    for (number, (state, json)) in states.iter().zip(jsons).enumerate() {
        fs::write(json_folder.join(number.to_string()), json).expect("a file");
        let records = [Record::begin(&Policy::DEFAULT), Record::Event(REQUEST), Record::Event(REQUEST)];
        store.append(&session(number), Version::START, &records).expect("an append");
        let cached = Cached { version: Version(2), policy: "default".into(), state: state.clone() };
        store.cache_state(&session(number), &cached).expect("a cache");
    }
    let parsed = each(median(5, || {
        for number in 0..states.len() {
            let json = fs::read(json_folder.join(number.to_string())).expect("a file");
            black_box(serde_json::from_slice::<State>(&json).expect("our own"));
        }
    }));
    let cached = each(median(5, || {
        let mut store = Files::open(folder.join("states"), Sync::Os).expect("a folder");
        for number in 0..states.len() {
            black_box(store.cached_state(&session(number)).expect("a store").expect("a cache"));
        }
    }));
    println!("JSON files         {parsed:8.2} us each");
    println!("cached_state       {cached:8.2} us each: the log is opened, locked, and read from there on");
}

/// Nanoseconds of one run: the median of so many.
fn median(runs: usize, mut run: impl FnMut()) -> f64 {
    middle((0..runs).map(|_| nanoseconds(&mut run)).collect())
}

fn nanoseconds(run: impl FnOnce()) -> f64 {
    let start = Instant::now();
    run();
    start.elapsed().as_secs_f64() * 1e9
}

fn middle(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}

criterion_group!(benches, appends, openings);
criterion_main!(benches);
