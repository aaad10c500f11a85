//! What is kept of a session: one file of JSON lines in a folder. A line is a step, and is written before
//! what follows from it is done. Cut anywhere, the file is that of a session which stopped there.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};
use session_todo_wire::{Beside, History, Message, Record};

use crate::agent::Result;

#[derive(Serialize, Deserialize)]
enum Line {
    /// The policy, which a session never changes (P6), and the history and its record as they begin, or as a
    /// compaction left them.
    Begin(String, History, Record),
    /// What a request took along, or what a response said.
    Step(Vec<Message>),
    /// What the messages do not tell.
    Beside(Beside),
}

/// The file, open for the next line.
pub(crate) struct Journal {
    file: File,
    policy: String,
}

impl Journal {
    /// Opens a folder's session, or begins one.
    pub(crate) fn open(folder: &Path, policy: &str, new: History) -> Result<(Self, History, Record)> {
        fs::create_dir_all(folder)?;
        let path = folder.join("session.jsonl");
        let mut text = fs::read_to_string(&path).unwrap_or_default();
        // A line without its end was being written when the process died.
        text.truncate(text.rfind('\n').map_or(0, |at| at + 1));
        let file = OpenOptions::new().create(true).append(true).open(&path)?;
        file.set_len(u64::try_from(text.len())?)?;
        let mut journal = Self { file, policy: policy.to_owned() };
        let Some((kept, history, record)) = read(&text)? else {
            journal.begin(&new, &Record::default())?;
            return Ok((journal, new, Record::default()));
        };
        if (kept.as_str(), history.format()) != (policy, new.format()) {
            let (asked, format) = (new.format(), history.format());
            return Err(format!("the session is of {kept} and {format}, not of {policy} and {asked}").into());
        }
        Ok((journal, history, record))
    }

    pub(crate) fn begin(&mut self, history: &History, record: &Record) -> Result<()> {
        self.line(&Line::Begin(self.policy.clone(), history.clone(), record.clone()))
    }

    pub(crate) fn step(&mut self, messages: &[Message]) -> Result<()> {
        self.line(&Line::Step(messages.to_vec()))
    }

    pub(crate) fn beside(&mut self, beside: &Beside) -> Result<()> {
        self.line(&Line::Beside(beside.clone()))
    }

    fn line(&mut self, line: &Line) -> Result<()> {
        let mut line = serde_json::to_string(line)?;
        line.push('\n');
        self.file.write_all(line.as_bytes())?;
        Ok(())
    }
}

fn read(text: &str) -> Result<Option<(String, History, Record)>> {
    let mut told: Option<(String, History, Record)> = None;
    for (number, line) in text.lines().enumerate() {
        let line =
            serde_json::from_str(line).map_err(|error| format!("line {} of the journal: {error}", number + 1))?;
        match (line, &mut told) {
            (Line::Begin(policy, history, record), _) => told = Some((policy, history, record)),
            (Line::Step(messages), Some((_, history, _))) => history.restore(messages),
            (Line::Beside(beside), Some((_, _, record))) => record.beside.push(beside),
            (Line::Step(_) | Line::Beside(_), None) => return Err("the journal has no beginning".into()),
        }
    }
    Ok(told)
}
