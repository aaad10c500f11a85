//! The loop. Everything that the list needs of it is here.

use std::path::Path;

use session_todo::{Call, Caller, Effect, Event, Outcome, Policy, Session};
use session_todo_store::Files;
use session_todo_wire::{By, Carrier, History, Message, Record, Resumed, ToolCall, resume};

use crate::journal::{Journal, Told};
use crate::log::Log;
use crate::provider::{Provider, Reply};
use crate::screen::plain;
use crate::tools;

pub(crate) type Error = Box<dyn std::error::Error + Send + Sync>;
pub(crate) type Result<T> = std::result::Result<T, Error>;

/// Messages that a compaction keeps, about.
const KEPT: usize = 4;

/// An agent that keeps a list, and is where it was when its process is started again.
pub(crate) struct Agent {
    provider: Provider,
    journal: Journal,
    log: Log,
    history: History,
    record: Record,
    session: Session,
    tools: String,
    /// Calls of the last response that have no answer yet.
    calls: Vec<ToolCall>,
    /// What rides on the request that waits for its response.
    riding: Option<Effect>,
    /// The size at which the history is compacted, in bytes.
    limit: usize,
}

impl Agent {
    /// Opens a folder's session, or begins one.
    pub(crate) fn open(folder: &Path, policy: Policy, provider: Provider, limit: usize) -> Result<Self> {
        let tools = tools::offered(provider.format, &policy);
        let new = History::new(provider.format, Carrier::User);
        // It makes the folder, for its owner alone.
        let store = Files::open(folder.join("log"), session_todo_store::Sync::Os)?;
        let (journal, told) = Journal::open(folder, &policy.name, new)?;
        let log = Log::open(store, &policy, told.began, &told.events()?)?;
        let Told { history, record, .. } = told;
        let Resumed { session, effect: riding, pending: calls } = resume(policy, &history, &record)?;
        let is_new = history.messages().is_empty();
        let mut agent = Self { provider, journal, log, history, record, session, tools, calls, riding, limit };
        if !is_new {
            agent.beside(&Event::Resumed)?;
        }
        Ok(agent)
    }

    /// Whether the process ended in the midst of a turn.
    pub(crate) fn is_unfinished(&self) -> bool {
        let unsent = self.history.messages().get(self.history.sent()..).unwrap_or_default();
        let is_work = |message: &Message| matches!(message.by, By::Person | By::Tools);
        let is_waited_for = self.history.waits() || self.history.is_paused();
        !self.calls.is_empty() || is_waited_for || unsent.iter().any(is_work)
    }

    /// What a person says, and all that follows from it.
    pub(crate) fn say(&mut self, words: &str) -> Result<()> {
        // Nothing goes behind what is to be sent back as it is.
        if self.history.is_paused() {
            self.run()?;
        }
        self.history.person(words);
        self.run()
    }

    /// Goes on until the model waits for nothing. After an error it goes on from there.
    pub(crate) fn run(&mut self) -> Result<()> {
        self.journal.write()?;
        while self.is_unfinished() {
            if self.calls.is_empty() {
                self.request()?;
            }
            if self.answer() {
                self.compact_if_large()?;
            }
        }
        Ok(())
    }

    /// One request and its response.
    fn request(&mut self) -> Result<()> {
        let sent = self.history.sent();
        // One that left and got no response is sent once more, with new words or without: it is the same request.
        // So is one that goes on where the provider paused.
        if self.history.waits() || self.history.is_paused() {
            self.history.request(None);
        } else {
            self.riding = self.step(&Event::RequestSent { by: session_todo::Agent::Main });
            self.history.request(self.riding.as_ref());
        }
        self.journal.step(self.history.messages().get(sent..).unwrap_or_default())?;
        self.write()?;
        let outgoing = self.history.outgoing(self.riding.as_ref()).to_string();
        let Reply { body, .. } = self.provider.send(&outgoing, Some(&self.tools))?;
        let sent = self.history.messages().len();
        self.calls = self.history.respond(&body)?;
        self.journal.step(self.history.messages().get(sent..).unwrap_or_default())?;
        self.journal.write()
    }

    /// What the journal tells goes into the log.
    fn write(&mut self) -> Result<()> {
        self.journal.write()?;
        self.log.write()
    }

    /// An event: it moves the list, and goes into its log.
    fn step(&mut self, event: &Event<'_>) -> Option<Effect> {
        self.log.push(event);
        self.session.step(event)
    }

    /// Answers every call, the list's from the session. Gives whether the model goes on.
    fn answer(&mut self) -> bool {
        let calls = std::mem::take(&mut self.calls);
        let before = self.session.list().revision();
        let answers: Vec<_> = calls.iter().map(|call| call.answer(self.step(&call.event()), tools::run)).collect();
        let goes_on = self.history.answer(&answers);
        if self.session.list().revision() != before {
            self.show();
        }
        goes_on
    }

    /// A person changes the list. The model is told with its next request.
    pub(crate) fn edit(&mut self, tool: &str, arguments: &str) -> Result<()> {
        let call = Call { by: Caller::User, name: tool.into(), arguments: arguments.into(), outcome: Outcome::Ours };
        if let Some(Effect::ReturnToolResult(result)) = self.beside(&Event::ToolCalled(call))? {
            println!("{}", plain(&result.text));
        }
        Ok(())
    }

    /// An event that no message tells of.
    fn beside(&mut self, event: &Event<'_>) -> Result<Option<Effect>> {
        if self.history.waits() || !self.calls.is_empty() {
            self.record.note_after_calls(self.session.state(), 0, event);
        } else {
            self.record.note(self.session.state(), event);
        }
        if let Some(noted) = self.record.beside.last() {
            self.journal.beside(noted)?;
        }
        // Calls whose answers are in no line yet come before it.
        let is_next = self.log.next().is_empty();
        let effect = self.step(event);
        if is_next { self.write() } else { self.journal.write() }?;
        Ok(effect)
    }

    fn compact_if_large(&mut self) -> Result<()> {
        let size: usize = self.history.messages().iter().map(|message| message.json.get().len()).sum();
        if size > self.limit { self.compact() } else { Ok(()) }
    }

    /// Puts a summary in the place of all but the last messages.
    pub(crate) fn compact(&mut self) -> Result<()> {
        let from = self.history.safe_cut(self.history.messages().len().saturating_sub(KEPT))?;
        let list = self.session.context_for_summary().unwrap_or_default();
        let said: String = self.history.messages().iter().take(from).map(|message| message.json.get()).collect();
        let format = self.provider.format;
        let ask = format!("Sum up this work in a few sentences, for yourself to go on from.\n{list}\n{said}");
        let summary = self.provider.send(&format!("[{}]", format.user(&ask)), None)?.words;
        println!();
        if summary.trim().is_empty() {
            return Err("the provider gave an empty summary, so nothing was compacted".into());
        }
        let effect = self.step(&Event::Compacted);
        let summary = Message::user(format, By::Harness, &format!("What was done so far: {summary}"));
        self.history.compact(from, vec![summary], effect.as_ref());
        self.record.compacted(self.session.state(), &self.history);
        self.riding = None;
        self.journal.begin(&self.history, &self.record, self.log.version(), self.log.next())?;
        self.write()
    }

    /// The list, for a person.
    pub(crate) fn show(&self) {
        for item in self.session.list().items() {
            println!("  {} [{}] {}", plain(&item.id), item.status.as_str(), plain(&item.content));
        }
    }
}
