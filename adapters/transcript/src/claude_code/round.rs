//! Calls between two requests: reported in call order once they are over, however their results came.

use std::collections::HashMap;

use memchr::memmem;
use session_todo::{Call, Caller, Event, Outcome, Tool};

use super::record::{Reply, first_text, starts_agent};
use crate::{Family, Found, Recorded, Sink};

/// Searches for ids that cost no more than reading the record.
const SEARCHES: usize = 8;

#[derive(Debug, Default)]
pub(super) struct Round {
    /// In call order.
    calls: Vec<OpenCall>,
    /// Where the calls stand whose results are looked for, by id.
    waiting: HashMap<Vec<u8>, usize>,
    /// Lists that the client recorded, and how many results had come before.
    lists: Vec<(u64, OwnedList)>,
    /// Results so far.
    results: u64,
}

#[derive(Debug)]
struct OpenCall {
    by: Caller,
    name: String,
    tool: Option<Tool>,
    arguments: String,
    /// How it ended, and how many results had come before. None until then.
    ended: Option<(Outcome<'static>, u64)>,
    /// Its id, where its result is looked for: it is a call of the list's tools, or starts a sub-agent.
    wanted: Option<Vec<u8>>,
}

#[derive(Debug)]
struct OwnedList {
    family: Family,
    list: String,
    line: u64,
}

impl Round {
    /// Whether a result is looked for.
    pub(super) fn waits(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Whether a record may hold a result that is looked for.
    pub(super) fn awaits(&self, record: &[u8]) -> bool {
        self.waiting.len() > SEARCHES || self.waiting.keys().any(|id| memmem::find(record, id).is_some())
    }

    pub(super) fn call(&mut self, by: Caller, id: &[u8], name: &str, tool: Option<Tool>, input: &[u8]) {
        let input = if tool.is_some() { String::from_utf8_lossy(input).into_owned() } else { String::new() };
        let wanted = (tool.is_some() || starts_agent(name)).then(|| id.to_vec());
        self.waiting.extend(wanted.clone().map(|id| (id, self.calls.len())));
        self.calls.push(OpenCall { by, name: name.into(), tool, arguments: input, ended: None, wanted });
    }

    /// The result of a call, if it is one of these.
    pub(super) fn result(&mut self, id: &[u8], is_error: bool, content: &[u8], reply: &Reply<'_>, line: u64) {
        let Some(call) = self.waiting.remove(id).and_then(|at| self.calls.get_mut(at)) else { return };
        let outcome = outcome(is_error, content, reply);
        let ran = outcome != Outcome::Failed;
        call.ended = Some((outcome, self.results));
        if ran && let Some(subject) = reply.subject.as_deref() {
            call.mend_subject(subject);
        }
        let (tool, main) = (call.tool, call.by == Caller::Main);
        match (tool, reply.old_todos, reply.tasks) {
            (Some(Tool::TodoWrite), Some(old), _) if main => {
                self.recorded(Family::TodoWrite, old, line);
            }
            (Some(Tool::TaskList), _, Some(tasks)) if main && ran => {
                self.results += 1;
                return self.recorded(Family::Tasks, tasks, line);
            }
            _ => {}
        }
        self.results += 1;
    }

    /// The list as it stood when this many results had come.
    pub(super) fn recorded(&mut self, family: Family, list: &[u8], line: u64) {
        let list = String::from_utf8_lossy(list).into_owned();
        self.lists.push((self.results, OwnedList { family, list, line }));
    }

    /// Reports the first calls as far as their results are there: what comes now comes after them.
    pub(super) fn settle_ended(&mut self, found: Sink<'_>) {
        let ended = self.calls.iter().take_while(|call| call.is_over()).count();
        for call in self.calls.drain(..ended).collect::<Vec<_>>() {
            self.report(call, found);
        }
        self.waiting.values_mut().for_each(|at| *at = at.saturating_sub(ended));
    }

    /// Reports what is over: all, or those of one caller's calls that have a result, as others of its kind may
    /// still wait for theirs.
    pub(super) fn settle(&mut self, of: Option<Caller>, found: Sink<'_>) {
        let is_over = |call: &OpenCall| of.is_none_or(|by| call.by == by && call.is_over());
        let (over, open): (Vec<_>, Vec<_>) = std::mem::take(&mut self.calls).into_iter().partition(is_over);
        self.calls = open;
        let unended = self.calls.iter().enumerate().filter(|(_, call)| call.ended.is_none());
        self.waiting = unended.filter_map(|(at, call)| call.wanted.clone().map(|id| (id, at))).collect();
        for call in over {
            self.report(call, found);
        }
        if of.is_none() {
            self.report_lists(|_| true, found);
            self.results = 0;
        }
    }

    /// The end of the log.
    pub(super) fn end(&mut self, found: Sink<'_>) {
        let calls = std::mem::take(&mut self.calls);
        let (over, pending) = calls.into_iter().partition(OpenCall::is_over);
        self.calls = over;
        self.settle(None, found);
        let pending: Vec<OpenCall> = pending;
        for call in pending.iter().filter(|call| call.tool.is_some()) {
            found(Found::Pending(&call.name));
        }
    }

    /// A list that was recorded before a call ended says nothing of it.
    fn report(&mut self, call: OpenCall, found: Sink<'_>) {
        let ended = call.ended.as_ref().map_or(u64::MAX, |(_, before)| before + 1);
        self.report_lists(|results| results < ended, found);
        call.report(found);
    }

    fn report_lists(&mut self, is_due: impl Fn(u64) -> bool, found: Sink<'_>) {
        let due = self.lists.iter().take_while(|(results, _)| is_due(*results)).count();
        for (_, OwnedList { family, list, line }) in self.lists.drain(..due) {
            found(Found::Recorded(Recorded { family, list: &list, line }));
        }
    }
}

impl OpenCall {
    /// Whether it has a result, or none is looked for.
    const fn is_over(&self) -> bool {
        self.ended.is_some() || self.wanted.is_none()
    }

    fn report(self, found: Sink<'_>) {
        if self.ended.is_none() && self.tool.is_some() {
            found(Found::Unanswered(&self.name));
        }
        let outcome = self.ended.map_or(Outcome::Ran { id: None }, |(outcome, _)| outcome);
        let call = Call { by: self.by, name: self.name.into(), arguments: self.arguments.into(), outcome };
        found(Found::Event(Event::ToolCalled(call)));
    }

    /// The client makes a task of a call without a subject, and records which.
    fn mend_subject(&mut self, subject: &str) {
        if self.tool == Some(Tool::TaskCreate) && !self.arguments.contains("\"subject\"") {
            let rest = self.arguments.trim_start().strip_prefix('{').unwrap_or("}");
            let comma = if rest.trim_start().starts_with('}') { "" } else { "," };
            self.arguments = format!("{{\"subject\":{}{comma}{rest}", serde_json::Value::from(subject));
        }
    }
}

/// A call ran only where its result says so (R1).
fn outcome(is_error: bool, content: &[u8], reply: &Reply<'_>) -> Outcome<'static> {
    let text = first_text(content).unwrap_or_default();
    // The client flags an unknown task in neither of the two usual ways.
    if is_error || reply.failed || text.starts_with("<tool_use_error>") || text == "Task not found" {
        return Outcome::Failed;
    }
    let id = reply.task_id.as_deref().or_else(|| task_number(&text));
    Outcome::Ran { id: id.map(|id| id.to_owned().into()) }
}

/// The number in `Task #7 created successfully: …`, which sub-agents' logs have in place of a record (R4).
fn task_number(text: &str) -> Option<&str> {
    let (number, rest) = text.strip_prefix("Task #")?.split_once(' ')?;
    rest.starts_with("created").then_some(number)
}
