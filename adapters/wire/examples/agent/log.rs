//! The list's log, in the store, so that `session-todo log show`, `list` and `replay` can read it. The journal is
//! the truth and is written first. What a process that was killed did not log any more, the next one logs.

use session_todo::{Event, Policy};
use session_todo_store::{Files, Record, SessionId, Store, Version};

use crate::agent::Result;

/// The log, and what comes next in it.
pub(crate) struct Log {
    store: Files,
    id: SessionId,
    version: Version,
    next: Vec<Event<'static>>,
}

impl Log {
    /// Opens the log of a session whose journal begins at this version of it, and tells these events since.
    pub(crate) fn open(mut store: Files, policy: &Policy, began: Version, told: &[Event<'static>]) -> Result<Self> {
        let id = SessionId::new("agent")?;
        let mut version = store.read(&id, Version::START, &mut |_, _| Ok(()))?;
        if version == Version::START {
            version = store.append(&id, version, &[Record::begin(policy)])?;
        }
        let logged = version.0.checked_sub(began.0).and_then(|logged| usize::try_from(logged).ok());
        let Some(next) = logged.and_then(|logged| told.get(logged..)) else {
            let tells = began.plus(told.len());
            let path = store.path(&id);
            return Err(format!("{} holds {version} records, its journal tells of {tells}", path.display()).into());
        };
        let mut log = Self { next: next.to_vec(), store, id, version };
        log.write()?;
        Ok(log)
    }

    /// What happened, and is written as soon as the journal tells it too.
    pub(crate) fn push(&mut self, event: &Event<'_>) {
        self.next.push(event.clone().into_owned());
    }

    /// The version that is written.
    pub(crate) const fn version(&self) -> Version {
        self.version
    }

    /// What is not written yet.
    pub(crate) fn next(&self) -> &[Event<'static>] {
        &self.next
    }

    /// Writes what happened.
    pub(crate) fn write(&mut self) -> Result<()> {
        let records: Vec<Record<'_>> = self.next.iter().cloned().map(Record::Event).collect();
        if !records.is_empty() {
            self.version = self.store.append(&self.id, self.version, &records)?;
            self.next.clear();
        }
        Ok(())
    }
}
