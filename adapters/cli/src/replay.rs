use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use session_todo::{Agent, Change, Done, Effect, Event, Outcome, Policy, Session, Tool};
use session_todo_transcript::{ClaudeCode, Found, read};

use crate::report::{Compaction, Kind, Reminder, Report, Skip};
use crate::{DONE, SKIPPED, UNREADABLE};

/// Replays each file; one that can't be read does not stop the rest.
pub(crate) fn run(files: &[PathBuf], json: bool, at: Option<u64>, policy: &Policy) -> io::Result<u8> {
    let mut status = DONE;
    for path in files {
        let report = replay(path, at, policy.clone());
        report.print(json, policy)?;
        status = status.max(match report.outcome {
            Kind::Unreadable => UNREADABLE,
            _ if report.skipped.is_empty() => DONE,
            _ => SKIPPED,
        });
    }
    Ok(status)
}

fn replay(path: &Path, at: Option<u64>, policy: Policy) -> Report {
    let mut replay = Replay {
        session: Session::new(policy),
        report: Report::of(path),
        at,
        folder: path.with_extension(""),
        agents: HashSet::new(),
        over: at == Some(0),
    };
    let mut reader = ClaudeCode::new();
    let file = File::open(path).and_then(|file| {
        let is_folder = file.metadata()?.is_dir();
        if is_folder { Err(io::Error::other("it is a folder; name its files")) } else { Ok(file) }
    });
    let result = file.and_then(|file| read(BufReader::new(file), &mut reader, &mut |found| replay.take(found)));
    let why = match result {
        Err(error) => Some(error.to_string()),
        Ok(()) if reader.recognised() => None,
        Ok(()) if replay.report.skipped.is_empty() && !reader.any() => None,
        Ok(()) => Some("not a log of Claude Code, the one product that is read so far".into()),
    };
    replay.finish(why)
}

/// A session's log on its way into a report.
struct Replay {
    session: Session,
    report: Report,
    at: Option<u64>,
    /// Where the client keeps what belongs to the session.
    folder: PathBuf,
    agents: HashSet<String>,
    /// Whether the request that was asked for has left.
    over: bool,
}

impl Replay {
    fn take(&mut self, found: Found<'_>) {
        match found {
            Found::Skipped(skipped) => self.report.skipped.push(Skip::of(skipped, None)),
            _ if self.over => {}
            Found::Event(event) => self.event(&event),
            Found::Agent(id) => self.agent(id),
            Found::Reminded => self.report.recorded.push(self.session.state().requests() + 1),
            Found::Unanswered(_) => self.report.unanswered += 1,
            Found::Pending(_) => self.report.calls.pending += 1,
            _ => {}
        }
    }

    fn event(&mut self, event: &Event<'_>) {
        let change = self.session.apply(event);
        self.count(event, &change);
        let request = self.session.state().requests();
        match event {
            Event::RequestSent { by: Agent::Main } => {
                if let Some(Effect::AppendSystemReminder(reminder)) = self.session.render(&change)
                    && let Some(items) = reminder.items
                {
                    self.report.reminders.push(Reminder { request, items });
                }
                self.over = self.at == Some(request);
            }
            Event::Compacted => {
                let items = match self.session.render(&change) {
                    Some(Effect::InjectCompactSnapshot(snapshot)) => snapshot.items,
                    _ => 0,
                };
                self.report.compactions.push(Compaction { request: request + 1, items });
            }
            Event::Resumed => self.report.resumes += 1,
            Event::RequestSent { by: Agent::Sub } | Event::ToolCalled(_) => {}
        }
    }

    fn count(&mut self, event: &Event<'_>, change: &Change) {
        let calls = &mut self.report.calls;
        match (event, change) {
            (Event::ToolCalled(call), _) if call.outcome == Outcome::Failed => {
                calls.refused += u64::from(Tool::named(&call.name).is_some());
            }
            (_, Change::Call(called)) => match called.result {
                Ok(Done::Wrote(_)) => calls.write += 1,
                Ok(_) => calls.read += 1,
                Err(_) => calls.refused += 1,
            },
            _ => {}
        }
    }

    /// A sub-agent's own log stands in the session's folder; its calls happened before this point.
    fn agent(&mut self, id: &str) {
        let is_name = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        if !is_name || !self.agents.insert(id.into()) {
            return;
        }
        let path = self.folder.join("subagents").join(format!("agent-{id}.jsonl"));
        let Ok(file) = File::open(&path) else { return };
        let mut skipped = Vec::new();
        let result = read(BufReader::new(file), &mut ClaudeCode::new(), &mut |found| match found {
            Found::Skipped(skip) => skipped.push(Skip::of(skip, Some(&path))),
            Found::Event(event) => self.event(&event),
            _ => {}
        });
        self.report.skipped.extend(skipped);
        if let Err(error) = result {
            eprintln!("session-todo: {}: {error}", path.display());
        }
    }

    fn finish(mut self, why: Option<String>) -> Report {
        self.report.requests = self.session.state().requests();
        self.report.items = self.session.state().list().items().to_vec();
        self.report.conclude(why);
        self.report
    }
}
