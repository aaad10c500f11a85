//! The power is cut at every operation of a run, and what was not synced is as chance has it.

use std::path::Path;

use session_todo_store::{AppendError, Files, SessionId, Store, StoreError, Sync, Version, open};

use crate::common::{Dice, all, expected, id};
use crate::disk::Memory;

const SEEDS: u64 = 60;

fn store(memory: &Memory) -> Result<Files, StoreError> {
    Files::on(Box::new(memory.clone()), Path::new("/home/logs"), Sync::Each)
}

/// Appends until the power is gone, in pieces of one to four records. What is acknowledged.
fn work(memory: &Memory, session: &SessionId, records: u64, dice: &mut Dice) -> (Version, Version) {
    let Ok(mut store) = store(memory) else { return (Version::START, Version::START) };
    let Ok(opened) = open(&mut store, session) else { return (Version::START, Version::START) };
    let mut version = opened.map_or(Version::START, |opened| opened.version);
    while version.0 < records {
        let next = version.0 + 1 + dice.below(4) as u64;
        let piece: Vec<_> = (version.0 + 1..=next).map(expected).collect();
        match store.append(session, version, &piece) {
            Ok(appended) => version = appended,
            Err(AppendError::Store(_)) => return (version, Version(next)),
            Err(conflict) => panic!("nobody else appends: {conflict}"),
        }
        let _ = open(&mut store, session);
    }
    (version, version)
}

/// With a sync at each append nothing acknowledged is lost, nothing is invented, an append is whole or not there,
/// and no number is left out.
#[test]
fn power_cut_at_every_operation_loses_nothing_acknowledged() {
    let session = id("s");
    let (mut cuts, mut torn) = (0, 0);
    for seed in 0..SEEDS {
        let memory = Memory::new(seed);
        let mut dice = Dice::new(seed + 1);
        let mut acknowledged = Version::START;
        for round in 0..30 {
            memory.lose_power_after(dice.below(if round % 2 == 0 { 30 } else { 120 }));
            let (done, asked) = work(&memory, &session, acknowledged.0 + 100, &mut dice);
            memory.restart();
            acknowledged = acknowledged.max(done);
            let mut store = store(&memory).unwrap();
            let found = all(&mut store, &session);
            let version = Version(found.len() as u64);
            assert!(
                version == acknowledged || version == asked,
                "seed {seed}, round {round}: {version} of {acknowledged} or {asked}"
            );
            assert!(found.iter().zip(1..).all(|(record, number)| *record == expected(number)), "nothing is invented");
            acknowledged = version;
            cuts += 1;
            torn += store.take_torn().len();
            store.check(&session).unwrap();
        }
        assert!(acknowledged > Version(20), "seed {seed}: {acknowledged}");
    }
    eprintln!("{cuts} power cuts, {torn} torn tails");
    assert!(torn > 0, "the disk must tear some tails, else this shows nothing");
}

/// Without a sync records may be lost, from the end only, or the log says that it is damaged.
#[test]
fn power_cut_without_sync_loses_the_end_or_is_reported() {
    let (mut shortened, mut reported) = (0, 0);
    for seed in 0..300 {
        let memory = Memory::new(seed);
        let session = id("s");
        store(&memory).unwrap().append(&session, Version::START, &[expected(1)]).unwrap();
        let mut store = Files::on(Box::new(memory.clone()), Path::new("/home/logs"), Sync::Os).unwrap();
        for number in 1..8 {
            store.append(&session, Version(number), &[expected(number + 1)]).unwrap();
        }
        memory.restart();
        let mut found = Vec::new();
        let read = self::store(&memory).unwrap().read(&session, Version::START, &mut |_, record| {
            found.push(crate::common::owned(&record));
            Ok(())
        });
        match read {
            Ok(version) => {
                assert!(version >= Version(1), "what was synced is there");
                assert!(found.iter().zip(1..).all(|(record, number)| *record == expected(number)));
                shortened += usize::from(version < Version(8));
            }
            Err(StoreError::Damaged { .. }) => reported += 1,
            Err(error) => panic!("{error}"),
        }
    }
    eprintln!("{shortened} logs shortened, {reported} reported as damaged");
    assert!(shortened > 0 && reported > 0);
}

/// A process ends at any operation of a log's first append, another one goes on, and then the power is cut: what the
/// first did not come to sync is synced by the second, before it acknowledges anything.
#[test]
fn what_a_dead_process_did_not_sync_is_synced_by_the_next() {
    let mut begun = 0;
    for operations in 0..40 {
        let memory = Memory::new(operations as u64);
        let session = id("s");
        store(&memory).unwrap();
        memory.lose_power_after(operations);
        let _ = store(&memory).map(|mut store| store.append(&session, Version::START, &[expected(1)]));
        memory.go_on();
        let mut store = store(&memory).unwrap();
        let found = all(&mut store, &session).len() as u64;
        begun += found;
        store.append(&session, Version(found), &[expected(found + 1)]).unwrap();
        memory.restart();
        let found = (1..=found + 1).map(expected).collect::<Vec<_>>();
        assert_eq!(all(&mut self::store(&memory).unwrap(), &session), found, "ended after {operations}");
    }
    assert!(begun > 0 && begun < 40, "some ended before the record was there, and some after: {begun}");
}

/// The same for the folder: whoever created it did not sync, or died before that.
#[test]
fn folder_of_another_process_is_synced() {
    for (sync, operations) in [(Sync::Os, 1), (Sync::Each, 0), (Sync::Each, 1), (Sync::Each, 2)] {
        let memory = Memory::new(1);
        let open = |sync| Files::on(Box::new(memory.clone()), Path::new("/logs"), sync);
        memory.lose_power_after(operations);
        let _ = open(sync);
        memory.go_on();
        open(Sync::Each).unwrap().append(&id("s"), Version::START, &[expected(1)]).unwrap();
        memory.restart();
        let version = open(Sync::Each).unwrap().append(&id("s"), Version(1), &[expected(2)]).unwrap();
        assert_eq!(version, Version(2), "{sync:?}, ended after {operations}");
    }
}
