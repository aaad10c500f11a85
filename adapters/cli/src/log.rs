use std::io::{self, BufRead, IsTerminal, Write};

use clap::Subcommand;
use serde::Serialize;
use session_todo::{Event, Policy};
use session_todo_store::{Files, Record, SessionId, Store, StoreError, Sync, Version, transaction};

use crate::list::{existing, folder, tell_torn};
use crate::{DONE, SKIPPED, UNREADABLE, terminal};

#[derive(Subcommand)]
pub(crate) enum Task {
    /// The records, a JSON line each
    Show {
        /// The session
        session: String,
    },
    /// Events from stdin, a JSON line each, at the log's end all together; what each asks for on stdout
    Append {
        /// The session
        session: String,
        /// The policy of a log that begins
        #[arg(long, value_name = "NAME", default_value = "default")]
        policy: String,
    },
    /// Every checksum and every record from the first line on
    Check {
        /// The session
        session: String,
    },
}

#[derive(Serialize)]
struct Line<'a> {
    seq: u64,
    #[serde(flatten)]
    record: &'a Record<'a>,
}

/// The event log itself.
pub(crate) fn run(task: &Task) -> io::Result<u8> {
    match task {
        Task::Show { session } => show(&id(session)?),
        Task::Append { session, policy } => append(&id(session)?, &crate::policy(policy).map_err(io::Error::other)?),
        Task::Check { session } => check(&id(session)?),
    }
}

fn id(session: &str) -> io::Result<SessionId> {
    SessionId::new(session).map_err(io::Error::other)
}

fn show(session: &SessionId) -> io::Result<u8> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let (mut files, mut written) = (existing()?, Ok(()));
    let read = files.read(session, Version::START, &mut |version, record| {
        if written.is_ok() {
            written = print(&mut out, &Line { seq: version.0, record: &record });
        }
        Ok(())
    });
    written?;
    out.flush()?;
    found(session, read, &mut files)
}

/// A line of JSON; on a terminal, what a terminal would obey is shown (T3).
fn print(out: &mut impl Write, line: &impl Serialize) -> io::Result<()> {
    let json = serde_json::to_string(line)?;
    let is_read_by_person = io::stdout().is_terminal();
    writeln!(out, "{}", if is_read_by_person { terminal::shown(&json) } else { json })
}

fn append(session: &SessionId, policy: &Policy) -> io::Result<u8> {
    let lines = io::stdin().lock().lines().collect::<io::Result<Vec<String>>>()?;
    let mut events: Vec<Event<'_>> = Vec::with_capacity(lines.len());
    for (number, line) in (1..).zip(&lines).filter(|(_, line)| !line.trim().is_empty()) {
        let event = serde_json::from_str(line);
        events.push(event.map_err(|error| io::Error::other(format!("line {number} is no event: {error}")))?);
    }
    if events.is_empty() {
        terminal::words("0 events: nothing was appended");
        return Ok(DONE);
    }
    let mut files = Files::open(folder()?, Sync::Each).map_err(io::Error::other)?;
    let stepped = transaction(&mut files, session, policy, |work| {
        events.iter().map(|event| work.step(event.clone())).collect::<Vec<_>>()
    });
    tell_torn(&mut files);
    let (effects, _) = stepped.map_err(io::Error::other)?;
    let mut out = io::stdout().lock();
    effects.iter().try_for_each(|effect| print(&mut out, effect))?;
    Ok(DONE)
}

fn check(session: &SessionId) -> io::Result<u8> {
    let mut files = existing()?;
    let checked = files.check(session);
    let mut status = DONE;
    if let Ok(Some(checked)) = &checked {
        let cache = match checked.is_cache_right {
            Some(true) => "the cached state is right",
            Some(false) => "the cached state is wrong",
            None => "no state is cached",
        };
        writeln!(io::stdout().lock(), "{} records are good; {cache}.", checked.version)?;
        if checked.is_cache_right == Some(false) {
            let path = files.path(session).with_extension("cache");
            terminal::words(&format!("{} is not what the log folds to: remove it", path.display()));
            status = SKIPPED;
        }
    }
    let version = checked.map(|checked| checked.map_or(Version::START, |checked| checked.version));
    found(session, version, &mut files).map(|found| found.max(status))
}

fn found(session: &SessionId, version: Result<Version, StoreError>, files: &mut Files) -> io::Result<u8> {
    let status = tell_torn(files);
    if version.map_err(io::Error::other)? == Version::START {
        terminal::words(&format!("session {session} has no log"));
        return Ok(UNREADABLE);
    }
    Ok(status)
}
