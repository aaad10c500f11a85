//! What a reader finds, in short words: a test's rows.

use session_todo::{Agent, Call, Caller, Event, Outcome, Tool};
use session_todo_transcript::{Found, Product, read};

/// What is found in a log, which has to show whose it is.
pub(crate) fn shown(product: Product, log: &[u8]) -> Vec<String> {
    assert_eq!(Product::of(log), Some(product), "{}", String::from_utf8_lossy(log));
    read_as(product, log)
}

/// What is found in a log, whatever it looks like.
pub(crate) fn read_as(product: Product, log: &[u8]) -> Vec<String> {
    let mut rows = Vec::new();
    read(product, log, &mut |found| rows.push(row(&found))).expect("a log that is read");
    rows
}

/// A row of what was found.
pub(crate) fn row(found: &Found<'_>) -> String {
    match found {
        Found::Event(Event::RequestSent { by: Agent::Main }) => "request".into(),
        Found::Event(Event::RequestSent { by: Agent::Sub }) => "request of a sub-agent".into(),
        Found::Event(Event::Compacted) => "compacted".into(),
        Found::Event(Event::ToolCalled(Call { by, name, arguments, outcome })) => {
            assert_eq!(*by, Caller::Main);
            let ended = match outcome {
                Outcome::Ran { id: None } => "ran",
                Outcome::Failed => "failed",
                other => panic!("{other:?}"),
            };
            format!("{name}{arguments} {ended}")
        }
        Found::Recorded(recorded) => format!("recorded {} at {}", recorded.list, recorded.line),
        Found::Rewound { turns } => format!("rewound {turns}"),
        Found::Skipped(skipped) => format!("skipped {}:{} {}", skipped.line, skipped.offset, skipped.why),
        Found::Pending(name) => format!("pending {name}"),
        Found::Unanswered(name) => format!("unanswered {name}"),
        Found::Turn => "turn".into(),
        Found::Reminded => "reminded".into(),
        other => panic!("{other:?}"),
    }
}

/// Cut at every byte, a log's calls of the list are the first of the whole log's, and nothing panics (R7).
pub(crate) fn cut_at_every_byte(product: Product, log: &[u8]) {
    let is_call = |row: &String| {
        let name = row.split(['{', ' ']).next().unwrap_or_default();
        Tool::named(name).is_some() && row.ends_with(['n', 'd'])
    };
    let calls = |log: &[u8]| -> Vec<String> { read_as(product, log).into_iter().filter(is_call).collect() };
    let whole = calls(log);
    assert!(whole.len() > 1, "{whole:?}");
    for end in 0..log.len() {
        let cut = calls(&log[..end]);
        assert!(whole.starts_with(&cut), "cut at {end}: {cut:?}");
    }
    for at in 0..log.len() {
        let mut flipped = log.to_vec();
        flipped[at] ^= 0x20;
        let _ = read(product, &flipped[..], &mut |_| {});
    }
}
