use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use session_todo::{Agent, Call, Caller, Change, Done, Effect, Event, Item, Outcome, Policy, Session, State, Tool};
use session_todo_store::{Flaw, Record, is_log, read_log};
use session_todo_transcript::{Database, Family, Found, Product, Recorded, Skipped, StoredSession, Verdict, read};

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
        Log::Own(log) => vec![own(log, path, task)],
        Log::Lines(product, log) => {
            let mut replay = Replay::new(path, task);
            replay.report.format = product.map(|product| product.to_string());
            let read = product.map_or(Ok(()), |product| read(product, log, &mut |found| replay.take(found)));
            vec![replay.finish(read.err())]
        }
    }
}

/// A log of our own, folded as it was logged (P6).
fn own(log: Box<dyn Read + Send>, path: &Path, task: &Task) -> Report {
    let mut replay = Replay::new(path, task);
    replay.report.format = Some("session-todo".into());
    let read = read_log(BufReader::new(log), |_, record| replay.record(record, task.policy.as_ref()));
    if let Ok(Some(Flaw { line, offset, why })) = read {
        replay.report.skip(Skip::of(Skipped { line, offset, why }, None));
    }
    replay.finish(read.err())
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
    Own(Box<dyn Read + Send>),
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
            _ if is_log(&head) => Ok(Self::Own(Box::new(io::Cursor::new(head).chain(file)))),
            None => Err(io::Error::new(io::ErrorKind::InvalidData, "not a session log of a product that is known")),
            Some(Product::Sqlite) => Database::open(path).map(Self::Database),
            product => Ok(Self::Lines(product, Box::new(io::Cursor::new(head).chain(file)))),
        }
    }
}

/// A session's log on its way into a report.
struct Replay {
    session: Session,
    /// In a log of our own, the session under the policy whose words are asked for.
    said: Option<Session>,
    report: Report,
    at: Option<u64>,
    /// Whether each change is told.
    timeline: bool,
    /// Where the client keeps what belongs to the session.
    folder: PathBuf,
    /// Other logs that belong to it and were looked for.
    others: HashSet<String>,
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
            session: Session::new(task.policy.clone().unwrap_or(Policy::DEFAULT)),
            said: None,
            report: Report::of(path),
            at: task.at,
            timeline: task.timeline,
            folder: path.with_extension(""),
            others: HashSet::new(),
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
            Found::Continues { log, bytes } => self.earlier(log, bytes),
            Found::Recorded(recorded) => self.recorded(&recorded),
            Found::Turn => self.turns.push(Item::to_arguments(self.session.state().list().items())),
            Found::Rewound { turns } => self.rewind(turns),
            Found::Reminded => self.report.recorded.push(self.session.state().requests() + 1),
            Found::Unanswered(_) => self.report.unanswered += 1,
            Found::Pending(_) => self.report.calls.pending += 1,
            _ => {}
        }
    }

    /// A record of our own log. A policy starts from its state; no event before it is folded again (P6).
    fn record(&mut self, record: Record<'_>, asked: Option<&Policy>) {
        match record {
            _ if self.over => {}
            Record::Event(event) => self.event(&event),
            Record::Policy { name, state } => {
                self.said = asked.map(|asked| Session::resume(asked.clone(), State::clone(&state)));
                let policy = Policy::named(&name).unwrap_or_else(|| {
                    words(&format!("{}: no policy is named {name}; the one before goes on", self.report.file()));
                    self.session.policy().clone()
                });
                self.session = Session::resume(policy, *state);
            }
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
        let effect = match &mut self.said {
            Some(said) => said.step(event),
            None => self.session.render(&change),
        };
        match event {
            Event::RequestSent { by: Agent::Main } => {
                if let Some(Effect::AppendSystemReminder(reminder)) = effect
                    && let Some(items) = reminder.items
                {
                    self.report.reminders.push(Reminder { request, items });
                }
                self.over = self.at == Some(request);
            }
            Event::Compacted => {
                let items = match effect {
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
            self.put(correction);
            match recorded.against(self.session.state().list()) {
                Verdict::Agree { .. } => self.report.corrected += 1,
                _ => self.report.uncorrected += 1,
            }
        }
    }

    /// Puts a whole list in place.
    fn put(&mut self, arguments: String) {
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
            self.put(list);
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

    /// The beginning of the session stands in another log of the same folder.
    fn earlier(&mut self, id: &str, bytes: u64) {
        let is_its = |path: &PathBuf| path.file_stem().is_some_and(|name| name.to_string_lossy().ends_with(id));
        let folder = self.folder.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let beside = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let first = beside.filter(is_its).filter(|path| path.with_extension("") != self.folder).min();
        // Each is read once, so that no two logs can begin in each other.
        let is_new = is_name(id) && self.others.insert(id.into());
        let opened = first.filter(|_| is_new).and_then(|path| Some((File::open(&path).ok()?, path)));
        let Some((log, path)) = opened else {
            self.report.missing += 1;
            return;
        };
        let read = read(Product::Codex, log.take(bytes), &mut |found| match found {
            Found::Skipped(skip) => self.report.skip(Skip::of(skip, Some(&path))),
            found => self.take(found),
        });
        if let Err(error) = read {
            words(&format!("{}: {error}", path.display()));
        }
    }

    /// A sub-agent's own log stands in the session's folder; its calls happened before this point.
    fn agent(&mut self, id: &str) {
        if !is_name(id) || !self.others.insert(id.into()) {
            return;
        }
        let name = format!("agent-{id}.jsonl");
        let places = [self.folder.join("subagents").join(&name), self.folder.with_file_name(&name)];
        let opened = places.into_iter().find_map(|path| File::open(&path).ok().map(|file| (path, file)));
        let Some((path, file)) = opened else {
            self.report.agents_missing += u64::from(self.family == Some(Family::Tasks));
            return;
        };
        let mut skipped = Vec::new();
        let result = read(Product::ClaudeCode, file, &mut |found| match found {
            Found::Skipped(skip) => skipped.push(Skip::of(skip, Some(&path))),
            Found::Event(event) => self.event(&event),
            Found::Unanswered(_) => self.report.unanswered += 1,
            Found::Pending(_) => self.report.calls.pending += 1,
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
        self.report.policy = self.said.as_ref().unwrap_or(&self.session).policy().name.to_string();
        if let Some(at) = self.at.filter(|_| !self.over) {
            words(&format!("{}: there is no request {at}; this is the end", self.report.file()));
        }
        self.report.items = self.session.state().list().items().to_vec();
        self.report.conclude(why);
        self.report
    }
}

/// Whether an id can be part of a file's name, and of nothing else.
fn is_name(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}
