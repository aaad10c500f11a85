use std::io::{self, Write};
use std::path::PathBuf;

use serde::Serialize;
use serde_json::value::RawValue;
use session_todo::{Item, Session};
use session_todo_store::{Files, SessionId, Store, Sync, open};

use crate::call::written;
use crate::{DONE, SKIPPED, terminal};

#[derive(Serialize)]
struct Line<'a> {
    session: &'a str,
    requests: u64,
    items: Vec<Box<RawValue>>,
}

/// What stands on the lists of all sessions in the log folder; a session without such an item is left out. A log that
/// can't be read is said and skipped.
pub(crate) fn run(open_alone: bool, json: bool) -> io::Result<u8> {
    let mut files = existing()?;
    let mut out = io::stdout().lock();
    let mut status = DONE;
    for session in files.sessions().map_err(io::Error::other)? {
        match open(&mut files, &session) {
            Ok(Some(opened)) => {
                let wanted = |item: &&Item| !open_alone || item.status.is_open();
                let items: Vec<&Item> = opened.session.list().items().iter().filter(wanted).collect();
                match (items.is_empty(), json) {
                    (true, _) => {}
                    (false, true) => print_json(&session, &opened.session, &items, &mut out)?,
                    (false, false) => print(&session, &items, &mut out)?,
                }
            }
            Ok(None) => {}
            Err(error) => {
                terminal::words(&error.to_string());
                status = SKIPPED;
            }
        }
    }
    Ok(status.max(tell_torn(&mut files)))
}

fn print_json(id: &SessionId, session: &Session, items: &[&Item], out: &mut impl Write) -> io::Result<()> {
    let items = items.iter().map(|item| written(item)).collect::<Result<_, _>>()?;
    let line = Line { session: id.as_str(), requests: session.state().requests(), items };
    writeln!(out, "{}", serde_json::to_string(&line)?)
}

fn print(id: &SessionId, items: &[&Item], out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{}", terminal::line(id.as_str()))?;
    for item in items {
        let (id, status) = (terminal::line(&item.id), item.status.as_str());
        writeln!(out, "  #{id} [{status}] {}", terminal::line(&item.content))?;
    }
    Ok(())
}

/// Says what broken writes left in logs. The status that this means.
pub(crate) fn tell_torn(files: &mut Files) -> u8 {
    let torn = files.take_torn();
    for torn in &torn {
        terminal::words(&torn.to_string());
    }
    if torn.is_empty() { DONE } else { SKIPPED }
}

/// The logs in the log folder, to read them: a folder that is not there is not created.
pub(crate) fn existing() -> io::Result<Files> {
    Files::existing(folder()?, Sync::Each).map_err(io::Error::other)
}

pub(crate) fn folder() -> io::Result<PathBuf> {
    let folder = session_todo_store::home();
    folder.ok_or_else(|| io::Error::other("there is no log folder. Name one in SESSION_TODO_HOME"))
}
