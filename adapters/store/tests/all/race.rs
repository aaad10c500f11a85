//! Many processes at one log, and at many.

use std::collections::BTreeMap;
use std::io::{BufReader, Lines};
use std::process::{Child, ChildStdout};

use session_todo_store::Store;

use crate::child::{GOAL, OWN, RECORDS, go, own_session, start, store};
use crate::common::{all, expected, id, named};

const PROCESSES: usize = 8;

#[test]
fn one_process_wins_each_version_on_files() {
    let folder = tempfile::tempdir().unwrap();
    one_wins_each_version(folder.path().to_str().unwrap());
}

#[test]
fn parallel_sessions_lose_nothing_on_files() {
    let folder = tempfile::tempdir().unwrap();
    sessions_lose_nothing(folder.path().to_str().unwrap());
}

/// Eight processes append to one session; each version has exactly one who had it, and the record is theirs.
pub(crate) fn one_wins_each_version(place: &str) {
    let mut children: Vec<_> = (0..PROCESSES).map(|number| start("race", place, number)).collect();
    let reports = go(&mut children);
    let winners = winners(children, reports);
    let mut by = [0; PROCESSES];
    for &winner in winners.values() {
        by[winner] += 1;
    }
    eprintln!("versions won by each process: {by:?}");
    let records = all(store(place).as_mut(), &id("s"));
    assert_eq!(winners.keys().copied().collect::<Vec<_>>(), (1..=records.len()).collect::<Vec<_>>());
    assert_eq!(records.len() as u64, GOAL);
    for (version, winner) in winners.iter().skip(1) {
        assert_eq!(records[version - 1], named(&format!("By{winner}")));
    }
}

/// Who had each version, as the processes report it.
pub(crate) fn winners(children: Vec<Child>, reports: Vec<Lines<BufReader<ChildStdout>>>) -> BTreeMap<usize, usize> {
    let mut winners = BTreeMap::new();
    for (number, line) in
        reports.into_iter().enumerate().flat_map(|(number, lines)| lines.map(move |line| (number, line)))
    {
        if let Some(version) = line.unwrap().strip_prefix("won ") {
            let before = winners.insert(version.parse().unwrap(), number);
            assert_eq!(before, None, "two had version {version}");
        }
    }
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    winners
}

/// 64 sessions, eight in each of eight processes, all at once.
pub(crate) fn sessions_lose_nothing(place: &str) {
    let children: Vec<_> = (0..PROCESSES).map(|number| start("own", place, number)).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let mut store: Box<dyn Store> = store(place);
    assert_eq!(store.sessions().unwrap().len(), PROCESSES * OWN);
    let records: Vec<_> = (1..=RECORDS).map(expected).collect();
    for process in 0..PROCESSES {
        for thread in 0..OWN {
            assert_eq!(all(store.as_mut(), &own_session(process, thread)), records);
        }
    }
}
