//! Records to write, and what to read back.

use session_todo::{Agent, Call, Caller, Event, Outcome, Policy};
use session_todo_store::{Files, Record, SessionId, Store, StoreError, Sync, Version};

pub(crate) fn id(name: &str) -> SessionId {
    SessionId::new(name).unwrap()
}

pub(crate) fn begin() -> Record<'static> {
    Record::begin(&Policy::DEFAULT)
}

pub(crate) fn request() -> Event<'static> {
    Event::RequestSent { by: Agent::Main }
}

pub(crate) fn create(subject: &str) -> Event<'static> {
    let arguments = format!(r#"{{"subject":{subject:?},"description":"what there is to do"}}"#);
    let name = "TaskCreate".into();
    Event::ToolCalled(Call { by: Caller::Main, name, arguments: arguments.into(), outcome: Outcome::Ours })
}

/// An event that can be told from every other.
pub(crate) fn numbered(number: u64) -> Record<'static> {
    named(&format!("Tool{number}"))
}

pub(crate) fn named(name: &str) -> Record<'static> {
    let outcome = Outcome::Ran { id: None };
    let call = Call { by: Caller::Main, name: name.to_owned().into(), arguments: "".into(), outcome };
    Record::Event(Event::ToolCalled(call))
}

/// The record of this number in a log that is written by `numbered` alone.
pub(crate) fn expected(number: u64) -> Record<'static> {
    if number == 1 { begin() } else { numbered(number) }
}

pub(crate) fn read(
    store: &mut dyn Store,
    session: &SessionId,
    from: Version,
) -> Result<Vec<Record<'static>>, StoreError> {
    let mut records = Vec::new();
    let end = store.read(session, from, &mut |version, record| {
        records.push(owned(&record));
        assert_eq!(version, from.plus(records.len()), "no gaps");
        Ok(())
    })?;
    assert!(records.is_empty() || end == from.plus(records.len()), "the end is the last record's number");
    Ok(records)
}

pub(crate) fn all(store: &mut dyn Store, session: &SessionId) -> Vec<Record<'static>> {
    read(store, session, Version::START).unwrap()
}

/// By way of its JSON, which every record keeps.
pub(crate) fn owned(record: &Record<'_>) -> Record<'static> {
    let json: &'static str = Box::leak(serde_json::to_string(record).unwrap().into_boxed_str());
    serde_json::from_str(json).unwrap()
}

/// A log and a line behind it, with the checksum that it needs there.
pub(crate) fn chained(log: &str, rest: &str) -> String {
    let before = log.lines().last().map_or(0, |line| u32::from_str_radix(&line[8..16], 16).unwrap());
    let crc = crc32fast::hash(&[&before.to_le_bytes(), rest.as_bytes()].concat());
    format!("{log}{{\"crc\":\"{crc:08x}\",{rest}\n")
}

pub(crate) fn files(folder: &std::path::Path) -> Files {
    Files::open(folder, Sync::Os).unwrap()
}

/// Random enough for tests, and the same for a seed.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).unwrap() % limit.max(1)
    }
}
