//! Claude Code.
//!
//! | its event | for the session |
//! |---|---|
//! | `PostToolBatch` | the calls of a response with their outcomes, and then the next request |
//! | `PostToolUse`, `PostToolUseFailure` | the same for one call, where a version has no batch; `install` registers one kind or the other, never both |
//! | `UserPromptSubmit` | a request |
//! | `SessionStart` with `compact` | [`Event::Compacted`], and the snapshot |
//! | `SessionStart` with `resume` | [`Event::Resumed`] |
//! | `Stop` | the last request has its response |
//! | `PreToolUse` | whose a call of our MCP server's tools is, is noted for the server ([`whose()`]); a sub-agent's write is refused (A7) |
//! | any other | nothing |
//!
//! What has an `agent_id` is a sub-agent's. What the client reports of its own list tools has
//! [run](session_todo::Outcome::Ran) if the answer says so. A call of our MCP server's tools stands in the log
//! already, if the server serves the same session; else it is taken as run too.
//!
//! What a hook says stays in the client's history, whatever the policy's lane. More than about 10,000 bytes of it the
//! client keeps in a file, and shows the model that file's path and its first 2 KB (seen on 2.1.197 and 2.1.332): so
//! of a very long list.
//!
//! Of a version without a batch each call counts as a response of its own, as nothing says which calls are of one: so
//! where a model calls several tools at once, reminders come early there.
//!
//! What the hooks do not see: the request after another hook's `Stop` made the client go on; that a request
//! was put off for an automatic compaction, which therefore counts as sent before it; a response that was
//! broken off in the middle of its calls, which counts as none. A prompt after a resume is always a new request, as
//! more sessions are left in the middle of a call than after a request that died.

mod calls;
mod input;
pub mod install;
mod logged;
mod output;
mod reminds;
mod stopped;
mod whose;

use std::path::Path;

use input::{Input, ToolCall};
use session_todo::{Agent, Call, Caller, Effect, Event, Policy, Reminder, Tool, ToolResult};
use session_todo_store::{Files, SessionId, StoreError, Sync, Work, transaction};

pub use reminds::Environment;
pub use whose::{TOOL_USE_ID, Whose, whose};

use crate::error::HookError;

/// One call of the hook.
#[derive(Clone, Debug)]
pub struct Hook<'h> {
    /// Where the logs are.
    pub folder: &'h Path,
    /// The policy that was asked for. Without one a new log begins under `default`, and one that there is keeps
    /// its own.
    pub policy: Option<Policy>,
    /// What the client says of itself.
    pub environment: Environment,
}

impl Hook<'_> {
    /// Logs what the client reports, and says what to print: nothing, or one JSON object. When this returns, the
    /// log has everything that the answer is about.
    ///
    /// # Errors
    ///
    /// An input that can't be read, and a log that can't be read or written. Then nothing is to be printed.
    pub fn answer(&self, stdin: &[u8]) -> Result<Option<String>, HookError> {
        let input: Input<'_> = serde_json::from_slice(stdin)?;
        let Some(task) = Task::of(&input) else { return Ok(None) };
        let mut log = Log {
            hook: self,
            session: SessionId::new(input.session_id.as_ref())?,
            files: Files::open(self.folder, Sync::Os)?,
        };
        let said = log.carry_out(task, &input);
        for torn in log.files.take_torn() {
            let _ = crate::report(self.folder, &torn.to_string());
        }
        said
    }
}

/// What there is to do about an event.
enum Task<'a> {
    Round,
    Prompt,
    Compacted,
    Resumed,
    Stopped,
    /// A tool of our server's is about to be called.
    Asked(Call<'a>),
}

impl<'a> Task<'a> {
    fn of(input: &Input<'a>) -> Option<Self> {
        match (&*input.hook_event_name, input.agent()) {
            ("PostToolBatch" | "PostToolUse" | "PostToolUseFailure", _) => Some(Self::Round),
            ("UserPromptSubmit", Agent::Main) => Some(Self::Prompt),
            ("Stop", Agent::Main) => Some(Self::Stopped),
            ("SessionStart", Agent::Main) => match input.source.as_deref() {
                Some("compact") => Some(Self::Compacted),
                Some("resume") => Some(Self::Resumed),
                _ => None,
            },
            ("PreToolUse", _) => {
                input.calls().first().and_then(|call| calls::asked(input.caller(), call)).map(Self::Asked)
            }
            _ => None,
        }
    }
}

/// The session's log during one call of the hook.
struct Log<'h> {
    hook: &'h Hook<'h>,
    session: SessionId,
    files: Files,
}

impl Log<'_> {
    fn carry_out(&mut self, task: Task<'_>, input: &Input<'_>) -> Result<Option<String>, HookError> {
        let event = &input.hook_event_name;
        Ok(match task {
            Task::Round => self.round(input)?.map(|text| output::context(event, &text)),
            Task::Prompt => self.prompt(input)?.map(|text| output::context(event, &text)),
            Task::Compacted => self.compacted()?.map(|text| output::context(event, &text)),
            Task::Asked(call) => self.asked(&call, input)?.map(|text| output::denial(event, &text)),
            Task::Resumed => self.resumed().map(|()| None)?,
            Task::Stopped => self.stopped().map(|()| None)?,
        })
    }

    fn round(&mut self, input: &Input<'_>) -> Result<Option<String>, HookError> {
        let calls = input.calls();
        let known = if calls.iter().any(calls::is_ours) {
            logged::since_request(&mut self.files, &self.session, &calls, input.caller())?
        } else {
            logged::Logged::default()
        };
        let events = known.without(&calls, input.caller());
        let said = self.transaction(|work| {
            for event in &events {
                let _ = work.step(event.clone());
            }
            request(work, input.agent())
        })?;
        self.forget(&calls);
        Ok(self.spoken(said, input))
    }

    /// A prompt is a request, unless the one before it was never answered: then it goes in its place.
    fn prompt(&mut self, input: &Input<'_>) -> Result<Option<String>, HookError> {
        let answered = stopped::read(&self.files.path(&self.session));
        let said = self.transaction(|work| {
            let requests = work.session().state().requests();
            if requests > 0 && answered != Some(requests) {
                // What it carried is in the client's history, and goes out again with it.
                return None;
            }
            request(work, Agent::Main)
        })?;
        Ok(self.spoken(said, input))
    }

    fn compacted(&mut self) -> Result<Option<String>, HookError> {
        match self.transaction(|work| work.step(Event::Compacted))? {
            Some(Effect::InjectCompactSnapshot(snapshot)) => Ok(Some(snapshot.text)),
            _ => Ok(None),
        }
    }

    fn resumed(&mut self) -> Result<(), HookError> {
        self.transaction(|work| work.step(Event::Resumed))?;
        self.stopped()
    }

    fn stopped(&mut self) -> Result<(), HookError> {
        let Some(opened) = session_todo_store::open(&mut self.files, &self.session)? else { return Ok(()) };
        stopped::write(&self.files.path(&self.session), opened.session.state().requests())
    }

    /// The core's refusal of a sub-agent's write. The server is told first whose a call is: so it gives the same
    /// refusal where this fails half-way, and answers any other call.
    fn asked(&mut self, call: &Call<'_>, input: &Input<'_>) -> Result<Option<String>, HookError> {
        let id = input.tool_use_id.as_deref().unwrap_or_default();
        let marked = whose::mark(self.hook.folder, id, &Whose { session: self.session.clone(), by: call.by });
        if call.by == Caller::Sub && Tool::named(&call.name).is_some_and(Tool::writes) {
            let effect = self.transaction(|work| {
                let may_write = work.session().policy().share;
                if may_write { None } else { work.step(Event::ToolCalled(call.clone())) }
            })?;
            if let Some(Effect::ReturnToolResult(ToolResult { text, is_error: true })) = effect {
                let _ = whose(self.hook.folder, id);
                return Ok(Some(text));
            }
        }
        marked.map(|()| None)
    }

    /// Takes away what was noted of calls that no server has asked for: they were denied, say.
    fn forget(&self, calls: &[ToolCall<'_>]) {
        for id in calls.iter().filter(|call| calls::is_ours(call)).filter_map(|call| call.tool_use_id.as_deref()) {
            let _ = whose(self.hook.folder, id);
        }
    }

    fn transaction<'e, T>(
        &mut self,
        mut steps: impl FnMut(&mut Work<'e>) -> Option<T>,
    ) -> Result<Option<T>, StoreError> {
        let asked = self.hook.policy.as_ref();
        let work = |work: &mut Work<'e>| {
            if let Some(policy) = asked.filter(|policy| policy.name != work.session().policy().name) {
                work.change_policy(policy)?;
            }
            Ok(steps(work))
        };
        transaction(&mut self.files, &self.session, asked.unwrap_or(&Policy::DEFAULT), work)?.0
    }

    /// What of it goes out: not a reminder where the client reminds by itself.
    fn spoken(&self, said: Option<Said>, input: &Input<'_>) -> Option<String> {
        let Said { text, has_note } = said?;
        let transcript = input.transcript_path.as_deref().map(Path::new);
        let is_silent = !has_note && self.hook.environment.client_reminds(transcript);
        (!is_silent).then_some(text)
    }
}

/// What rides on a request.
struct Said {
    text: String,
    /// Whether it is more than a reminder.
    has_note: bool,
}

fn request(work: &mut Work<'_>, by: Agent) -> Option<Said> {
    let Some(Effect::AppendSystemReminder(Reminder { text, items, .. })) = work.step(Event::RequestSent { by }) else {
        return None;
    };
    let words = &work.session().policy().words;
    // A note stands before the reminder, and items behind: no item's text can be taken for a note (R5).
    let before = text.split(&*words.reminder).next().unwrap_or_default();
    let has_note = items.is_none() || before.contains(&*words.edited) || before.contains(&*words.unfinished);
    Some(Said { text, has_note })
}
