use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use session_todo::{Agent, Call, Caller, Change, Done, Effect, Event, Item, Outcome, Session, Tool};
use session_todo_transcript::{Database, Family, Found, Product, Recorded, StoredSession, Verdict, read};

use crate::report::{Compaction, Reminder, Report, Skip};
use crate::run::Task;
use crate::terminal::words;
use crate::timeline;

/// Bytes in which a product shows itself.
const HEAD: u64 = 1024 * 1024;

/// Folds a file: one session, or those of a database. What can't be read is reported, not an error.
pub(crate) fn replay(path: &Path, task: &Task) -> Vec<Report> {
    let log = match Log::open(path) {
        Ok(log) => log,
        Err(error) => return vec![Replay::new(path, task).finish(Some(error))],
    };
    match log {
        Log::Database(database) => sessions(&database, path, task),
        Log::Lines(product, log) => {
            let mut replay = Replay::new(path, task);
            replay.report.format = product.map(|product| product.to_string());
            let read = product.map_or(Ok(()), |product| read(product, log, &mut |found| replay.take(found)));
            vec![replay.finish(read.err())]
        }
    }
}

/// Each session of a database is a report of its own; those of sub-agents belong to others.
fn sessions(database: &Database, path: &Path, task: &Task) -> Vec<Report> {
    let sessions = match database.sessions() {
        Ok(sessions) => sessions,
        Err(error) => return vec![Replay::new(path, task).finish(Some(error))],
    };
    let main = sessions.into_iter().filter(|session| session.parent.is_none());
    main.map(|StoredSession { id, .. }| {
        let mut replay = Replay::new(&PathBuf::from(format!("{}#{id}", path.display())), task);
        replay.report.format = Some(Product::OpenCode.to_string());
        let read = database.read(&id, &mut |found| replay.take(found));
        replay.finish(read.err())
    })
    .collect()
}

/// A file that was opened, and whose it is: nobody's, where it is empty.
enum Log {
    Lines(Option<Product>, Box<dyn Read + Send>),
    Database(Database),
}

impl Log {
    fn open(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        if file.metadata()?.is_dir() {
            return Err(io::Error::other("it is a folder"));
        }
        let mut head = Vec::new();
        file.by_ref().take(HEAD).read_to_end(&mut head)?;
        match Product::of(&head) {
            _ if head.iter().all(u8::is_ascii_whitespace) => Ok(Self::Lines(None, Box::new(io::empty()))),
            None => Err(io::Error::new(io::ErrorKind::InvalidData, "not a session log of a product that is known")),
            Some(Product::Sqlite) => Database::open(path).map(Self::Database),
            product => Ok(Self::Lines(product, Box::new(io::Cursor::new(head).chain(file)))),
        }
    }
}

/// A session's log on its way into a report.
struct Replay {
    session: Session,
    report: Report,
    at: Option<u64>,
    /// Whether each change is told.
    timeline: bool,
    /// Where the client keeps what belongs to the session.
    folder: PathBuf,
    agents: HashSet<String>,
    /// Whose tools wrote the list.
    family: Option<Family>,
    /// The list as each turn that was not taken back found it, as arguments of `todo_write` (R7).
    turns: Vec<String>,
    /// Whether the request that was asked for has left.
    over: bool,
}

impl Replay {
    fn new(path: &Path, task: &Task) -> Self {
        Self {
            session: Session::new(task.policy.clone()),
            report: Report::of(path),
            at: task.at,
            timeline: task.timeline,
            folder: path.with_extension(""),
            agents: HashSet::new(),
            family: None,
            turns: Vec::new(),
            over: task.at == Some(0),
        }
    }

    fn take(&mut self, found: Found<'_>) {
        match found {
            Found::Skipped(skipped) => self.report.skip(Skip::of(skipped, None)),
            _ if self.over => {}
            Found::Event(event) => self.event(&event),
            Found::Agent(id) => self.agent(id),
            Found::Recorded(recorded) => self.recorded(&recorded),
            Found::Turn => self.turns.push(Item::to_arguments(self.session.state().list().items())),
            Found::Rewound { turns } => self.rewind(turns),
            Found::Reminded => self.report.recorded.push(self.session.state().requests() + 1),
            Found::Unanswered(_) => self.report.unanswered += 1,
            Found::Pending(_) => self.report.calls.pending += 1,
            _ => {}
        }
    }

    fn event(&mut self, event: &Event<'_>) {
        let before = self.timeline.then(|| self.session.state().list().clone());
        let change = self.session.apply(event);
        if let Some(before) = before {
            self.report.timeline.extend(timeline::of(event, &change, &before, &self.session));
        }
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

    /// A recorded list of the same tools is compared, and put in place where it differs (R8).
    fn recorded(&mut self, recorded: &Recorded<'_>) {
        if self.family.is_some_and(|family| family != recorded.family) {
            return;
        }
        let verdict = recorded.against(self.session.state().list());
        self.report.compared.add(recorded.line, &verdict);
        if let Verdict::Differ { correction, .. } = verdict {
            self.family = Some(recorded.family);
            self.record(correction);
            match recorded.against(self.session.state().list()) {
                Verdict::Agree { .. } => self.report.corrected += 1,
                _ => self.report.uncorrected += 1,
            }
        }
    }

    /// Puts a whole list in place.
    fn record(&mut self, arguments: String) {
        let call = Call {
            by: Caller::Record,
            name: "todo_write".into(),
            arguments: arguments.into(),
            outcome: Outcome::Ran { id: None },
        };
        self.event(&Event::ToolCalled(call));
    }

    /// Puts the list in place that the earliest of the turns found (R2).
    fn rewind(&mut self, turns: u64) {
        let gone = usize::try_from(turns).unwrap_or(usize::MAX).min(self.turns.len());
        let list = self.turns.drain(self.turns.len() - gone..).next();
        if let Some(list) = list {
            self.record(list);
        }
    }

    fn count(&mut self, event: &Event<'_>, change: &Change) {
        let calls = &mut self.report.calls;
        match (event, change) {
            (Event::ToolCalled(call), _) if call.outcome == Outcome::Failed => {
                calls.refused += u64::from(Tool::named(&call.name).is_some());
            }
            (_, Change::Call(called)) => match called.result {
                Ok(Done::Wrote(ref wrote)) => {
                    calls.write += 1;
                    self.report.strangers += u64::from(wrote.unknown_id);
                    let whole = called.tool == Tool::TodoWrite;
                    self.family = Some(if whole { Family::TodoWrite } else { Family::Tasks });
                }
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
        let name = format!("agent-{id}.jsonl");
        let places = [self.folder.join("subagents").join(&name), self.folder.with_file_name(&name)];
        let Some((path, file)) = places.into_iter().find_map(|path| File::open(&path).ok().map(|file| (path, file)))
        else {
            return;
        };
        let mut skipped = Vec::new();
        let result = read(Product::ClaudeCode, file, &mut |found| match found {
            Found::Skipped(skip) => skipped.push(Skip::of(skip, Some(&path))),
            Found::Event(event) => self.event(&event),
            _ => {}
        });
        for skip in skipped {
            self.report.skip(skip);
        }
        if let Err(error) = result {
            words(&format!("{}: {error}", path.display()));
        }
    }

    fn finish(mut self, why: Option<io::Error>) -> Report {
        self.report.requests = self.session.state().requests();
        if let Some(at) = self.at.filter(|_| !self.over) {
            words(&format!("{}: there is no request {at}; this is the end", self.report.file()));
        }
        self.report.items = self.session.state().list().items().to_vec();
        self.report.conclude(why);
        self.report
    }
}
