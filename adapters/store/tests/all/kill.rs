//! A writer is killed at any moment, again and again: `SESSION_TODO_KILLS` times, 50 by default.

use std::io::{BufRead, BufReader};
use std::time::Duration;

use session_todo_store::{Files, Store, Sync, Version};

use crate::child::{start, written};
use crate::common::{Dice, id, owned};

fn kills() -> u64 {
    std::env::var("SESSION_TODO_KILLS").map_or(50, |kills| kills.parse().unwrap())
}

/// Lets a writer run, and kills it. The last version that it had from the store.
fn killed(place: &str, dice: &mut Dice) -> Version {
    let mut child = start("write", place, 0);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut last = Version::START;
    let mut reports = dice.below(20);
    while reports > 0 {
        let Some(line) = lines.next() else { panic!("the writer ended by itself") };
        if let Some(version) = acknowledged(&line) {
            last = version;
            reports -= 1;
        }
    }
    std::thread::sleep(Duration::from_micros(dice.below(3000) as u64));
    child.kill().unwrap();
    // What it had reported before it died counts too.
    last = lines.filter_map(|line| acknowledged(&line)).last().unwrap_or(last);
    child.wait().unwrap();
    last
}

fn acknowledged(line: &str) -> Option<Version> {
    let version = line.strip_prefix("ack ").or_else(|| line.strip_prefix("at "))?;
    Some(Version(version.parse().unwrap()))
}

fn survives(folder: &std::path::Path, sync: Sync, kills: u64) {
    let place = format!("{}{}", if sync == Sync::Each { "sync:" } else { "" }, folder.display());
    let (mut dice, mut checked, mut torn) = (Dice::new(kills), Version::START, 0);
    for kill in 0..kills {
        let acknowledged = killed(&place, &mut dice);
        let mut store = Files::open(folder, sync).unwrap();
        let from = checked;
        let version = store
            .read(&id("s"), from, &mut |version, record| {
                assert_eq!(owned(&record), written(version.0), "nothing is invented");
                assert_eq!(version, checked.plus(1), "no gaps");
                checked = version;
                Ok(())
            })
            .unwrap();
        assert!(version >= acknowledged, "kill {kill}: {version}, and {acknowledged} was acknowledged");
        torn += store.take_torn().len();
        // A log of many megabytes shows no more than one of few.
        if checked.0 > 3000 {
            assert_eq!(store.check(&id("s")).unwrap().unwrap().version, checked);
            std::fs::remove_file(store.path(&id("s"))).unwrap();
            checked = Version::START;
        }
    }
    let mut store = Files::open(folder, sync).unwrap();
    assert_eq!(store.check(&id("s")).unwrap().map_or(Version::START, |checked| checked.version), checked);
    eprintln!("{kills} kills with {sync:?}: {torn} torn ends");
}

#[test]
fn killed_writer_loses_nothing_acknowledged() {
    for sync in [Sync::Os, Sync::Each] {
        let folder = tempfile::tempdir().unwrap();
        survives(folder.path(), sync, kills().div_ceil(2));
    }
}
