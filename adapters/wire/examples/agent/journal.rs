//! What is kept of a session: one file of JSON lines in a folder. A line is a step, and is written before
//! what follows from it is done. Cut anywhere, the file is that of a session which stopped there. It survives the
//! process, and not a power cut: who wants that has `sync_data` here, and `Sync::Each` for the log.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use session_todo::Event;
use session_todo_store::Version;
use session_todo_wire::{Beside, History, Message, Record, events};

use crate::agent::Result;

#[derive(Serialize, Deserialize)]
enum Line<'a> {
    /// The policy, which a session never changes (P6), and the history and its record as they begin, or as a
    /// compaction left them; how many records the log had, and what it lacked.
    Begin(String, History, Record, u64, #[serde(borrow)] Vec<Event<'a>>),
    /// What a request took along, or what a response said.
    Step(Vec<Message>),
    /// What the messages do not tell.
    Beside(Beside),
}

/// The file, open for the next line, and for nobody else.
pub(crate) struct Journal {
    file: File,
    policy: String,
    /// Where its last whole line ends.
    end: u64,
    /// Lines that are not written yet.
    next: String,
}

/// What it tells.
pub(crate) struct Told {
    pub(crate) policy: String,
    pub(crate) history: History,
    pub(crate) record: Record,
    /// The version of the log at which it begins, and what came next before the history goes on.
    pub(crate) began: Version,
    pub(crate) next: Vec<Event<'static>>,
}

impl Told {
    /// What happened since the log was at that version.
    pub(crate) fn events(&self) -> Result<Vec<Event<'static>>> {
        Ok([self.next.clone(), events(&self.history, &self.record)?.events].concat())
    }
}

impl Journal {
    /// Opens a folder's session, or begins one.
    pub(crate) fn open(folder: &Path, policy: &str, new: History) -> Result<(Self, Told)> {
        let path = folder.join("session.jsonl");
        let mut file = OpenOptions::new().create(true).read(true).write(true).truncate(false).open(&path)?;
        file.try_lock().map_err(|error| format!("{} is in use: {error}", path.display()))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let (told, whole) = read(&bytes).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut journal = Self { file, policy: policy.to_owned(), end: u64::try_from(whole)?, next: String::new() };
        let Some(told) = told else {
            // The log's first record is the policy.
            let (record, began, policy) = (Record::default(), Version(1), policy.to_owned());
            journal.begin(&new, &record, began, &[])?;
            journal.write()?;
            return Ok((journal, Told { policy, history: new, record, began, next: Vec::new() }));
        };
        if (told.policy.as_str(), told.history.format()) != (policy, new.format()) {
            let (kept, format, asked) = (told.policy, told.history.format(), new.format());
            return Err(format!("the session is of {kept} and {format}, not of {policy} and {asked}").into());
        }
        Ok((journal, told))
    }

    /// A beginning, the version of the log, and what it does not hold yet.
    pub(crate) fn begin(
        &mut self,
        history: &History,
        record: &Record,
        log: Version,
        next: &[Event<'static>],
    ) -> Result<()> {
        self.line(&Line::Begin(self.policy.clone(), history.clone(), record.clone(), log.0, next.to_vec()))
    }

    pub(crate) fn step(&mut self, messages: &[Message]) -> Result<()> {
        self.line(&Line::Step(messages.to_vec()))
    }

    pub(crate) fn beside(&mut self, beside: &Beside) -> Result<()> {
        self.line(&Line::Beside(beside.clone()))
    }

    fn line(&mut self, line: &Line<'_>) -> Result<()> {
        self.next.push_str(&serde_json::to_string(line)?);
        self.next.push('\n');
        Ok(())
    }

    /// Writes the lines. Where that fails they are kept, and the next write begins with them.
    pub(crate) fn write(&mut self) -> Result<()> {
        if !self.next.is_empty() {
            self.write_lines()
                .map_err(|error| format!("the journal can't be written, and has to be first: {error}"))?;
            self.end += u64::try_from(self.next.len())?;
            self.next.clear();
        }
        Ok(())
    }

    fn write_lines(&mut self) -> io::Result<()> {
        // A write that failed may have left a part of a line, as may a process that died.
        self.file.set_len(self.end)?;
        self.file.seek(SeekFrom::Start(self.end))?;
        self.file.write_all(self.next.as_bytes())
    }
}

impl Drop for Journal {
    /// Closing it would do, were it not that a program which is just being started has it open for a moment too.
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}

/// What a journal tells, and where its last whole line ends: one without its end was being written when the process
/// died.
pub(crate) fn read(bytes: &[u8]) -> Result<(Option<Told>, usize)> {
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let mut told: Option<Told> = None;
    let lines = bytes.get(..whole).unwrap_or_default().split_inclusive(|byte| *byte == b'\n');
    for (number, line) in lines.enumerate() {
        let line = serde_json::from_slice(line).map_err(|error| format!("line {}: {error}", number + 1))?;
        match (line, &mut told) {
            (Line::Begin(policy, history, record, began, next), _) => {
                let next = next.into_iter().map(Event::into_owned).collect();
                told = Some(Told { policy, history, record, began: Version(began), next });
            }
            (Line::Step(messages), Some(told)) => told.history.restore(messages),
            (Line::Beside(beside), Some(told)) => told.record.beside.push(beside),
            (Line::Step(_) | Line::Beside(_), None) => return Err("it has no beginning".into()),
        }
    }
    Ok((told, whole))
}
