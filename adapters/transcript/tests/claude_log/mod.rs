//! Claude Code's records as the client writes them, and what is found in them: a row each, and the list that
//! they come to.

use session_todo::{Agent, Call, Caller, Event, Outcome, Policy, Session};
use session_todo_transcript::{Family, Found, Product, Verdict, read};

/// A log as it was read.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Told {
    /// What was found, in order.
    pub(crate) rows: Vec<String>,
    /// The list at the end: `id status content`.
    pub(crate) list: Vec<String>,
}

impl Told {
    /// What was done, without what was said of the log.
    pub(crate) fn events(&self) -> Vec<&str> {
        let is_event = |row: &&str| {
            ["request", "sub ", "main ", "compacted", "resumed"].iter().any(|start| row.starts_with(start))
        };
        self.rows.iter().map(String::as_str).filter(is_event).collect()
    }

    /// What was skipped: `line: why`.
    pub(crate) fn skips(&self) -> Vec<String> {
        let skip = |row: &String| {
            let (line, place) = row.strip_prefix("skipped ")?.split_once(':')?;
            Some(format!("{line}: {}", place.split_once(' ')?.1))
        };
        self.rows.iter().filter_map(skip).collect()
    }
}

/// Reads a log that shows whose it is.
pub(crate) fn told(log: &[String]) -> Told {
    let log = log.concat();
    assert_eq!(Product::of(log.as_bytes()), Some(Product::ClaudeCode), "{log}");
    told_bytes(log.as_bytes())
}

/// Reads a log, whatever it looks like.
pub(crate) fn told_bytes(log: &[u8]) -> Told {
    let mut session = Session::new(Policy::DEFAULT);
    let mut rows = Vec::new();
    let done = read(Product::ClaudeCode, log, &mut |found| rows.push(row(&found, &mut session)));
    assert!(done.is_ok(), "a slice can be read");
    let list = session.list().items().iter();
    Told { rows, list: list.map(|item| format!("{} {} {}", item.id, item.status.as_str(), item.content)).collect() }
}

fn row(found: &Found<'_>, session: &mut Session) -> String {
    match found {
        Found::Event(event) => {
            let _ = session.apply(event);
            event_row(event)
        }
        Found::Recorded(recorded) => {
            let family = if recorded.family == Family::Tasks { "tasks" } else { "todos" };
            let verdict = match recorded.against(session.list()) {
                Verdict::Agree { .. } => "agree".into(),
                Verdict::Unreadable => "unreadable".into(),
                Verdict::Differ { why, correction } => {
                    let _ = session.apply(&record(correction));
                    format!("differ: {why}")
                }
            };
            format!("recorded {family} on {} {verdict}", recorded.line)
        }
        Found::Agent(id) => format!("agent {id}"),
        Found::Reminded => "reminded".into(),
        Found::Unanswered(name) => format!("unanswered {name}"),
        Found::Pending(name) => format!("pending {name}"),
        Found::Skipped(skipped) => format!("skipped {}:{} {}", skipped.line, skipped.offset, skipped.why),
        other => format!("{other:?}"),
    }
}

/// The event that puts a recorded list in place.
pub(crate) fn record(arguments: String) -> Event<'static> {
    let outcome = Outcome::Ran { id: None };
    Event::ToolCalled(Call { by: Caller::Record, name: "todo_write".into(), arguments: arguments.into(), outcome })
}

fn event_row(event: &Event<'_>) -> String {
    match event {
        Event::RequestSent { by: Agent::Main } => "request".into(),
        Event::RequestSent { by: Agent::Sub } => "sub request".into(),
        Event::Compacted => "compacted".into(),
        Event::Resumed => "resumed".into(),
        Event::ToolCalled(call) => {
            let by = if call.by == Caller::Main { "main" } else { "sub" };
            let ended = match &call.outcome {
                Outcome::Ran { id: Some(id) } => format!("ran as {id}"),
                Outcome::Ran { id: None } => "ran".into(),
                other => format!("{other:?}").to_lowercase(),
            };
            format!("{by} {}{} {ended}", call.name, label(&call.arguments))
        }
    }
}

/// What a call is about: a subject, a task's id, the first item.
fn label(arguments: &str) -> String {
    let value: serde_json::Value = serde_json::from_str(arguments).unwrap_or_default();
    let found = ["/subject", "/taskId", "/todos/0/content"].iter().find_map(|place| value.pointer(place)?.as_str());
    found.map_or(String::new(), |label| format!(" {label}"))
}

fn line(fields: &str) -> String {
    format!(r#"{{"parentUuid":null,{fields},"timestamp":"2026-01-01T00:00:00.000Z","sessionId":"s"}}"#) + "\n"
}

/// A block of a response, main's or a sub-agent's.
pub(crate) fn said(side: bool, response: &str, block: &str) -> String {
    let message =
        format!(r#"{{"id":"{response}","type":"message","role":"assistant","model":"m","content":[{block}]}}"#);
    line(&format!(r#""isSidechain":{side},"message":{message},"type":"assistant""#))
}

pub(crate) fn tool_use(id: &str, name: &str, input: &str) -> String {
    format!(r#"{{"type":"tool_use","id":"{id}","name":"{name}","input":{input}}}"#)
}

/// A text of a response: all that there is to see of a request.
pub(crate) fn answer(response: &str) -> String {
    said(false, response, r#"{"type":"text","text":"On it."}"#)
}

/// A call of main's.
pub(crate) fn call(response: &str, id: &str, name: &str, input: &str) -> String {
    said(false, response, &tool_use(id, name, input))
}

/// A sub-agent's call that stands in main's log.
pub(crate) fn sub_call(response: &str, id: &str, name: &str, input: &str) -> String {
    said(true, response, &tool_use(id, name, input))
}

/// The input of a `TaskCreate`.
pub(crate) fn subject(subject: &str) -> String {
    format!(r#"{{"subject":"{subject}","description":"{subject}"}}"#)
}

/// The input of a `TaskUpdate`.
pub(crate) fn status(id: &str, status: &str) -> String {
    format!(r#"{{"taskId":"{id}","status":"{status}"}}"#)
}

/// An item as `TodoWrite` has it, in an array of its own.
pub(crate) fn todos(content: &str, status: &str) -> String {
    format!(r#"[{{"content":"{content}","status":"{status}","activeForm":"x"}}]"#)
}

/// A result block with all that it has beside its id, and the record's `toolUseResult`.
pub(crate) fn result_of(side: bool, id: &str, more: &str, reply: &str) -> String {
    let block = format!(r#"{{"tool_use_id":"{id}","type":"tool_result",{more}}}"#);
    let message = format!(r#"{{"role":"user","content":[{block}]}}"#);
    line(&format!(r#""isSidechain":{side},"type":"user","message":{message},"toolUseResult":{reply}"#))
}

/// A result of main's that says nothing against it.
pub(crate) fn result(id: &str, reply: &str) -> String {
    result_of(false, id, r#""content":"ok""#, reply)
}

/// The result of a `TaskCreate`.
pub(crate) fn created(id: &str, task: &str) -> String {
    result(id, &format!(r#"{{"task":{{"id":"{task}","subject":"x"}}}}"#))
}

/// What a person wrote, and what else the record says.
pub(crate) fn prompt(text: &str, more: &str) -> String {
    line(&format!(r#""isSidechain":false,"type":"user","message":{{"role":"user","content":"{text}"}}{more}"#))
}

/// A record of main's that has a type and fields of its own.
pub(crate) fn other(fields: &str) -> String {
    line(&format!(r#""isSidechain":false,{fields}"#))
}

/// A task that is created: two records.
pub(crate) fn task(response: &str, call_id: &str, name: &str, id: &str) -> String {
    call(response, call_id, "TaskCreate", &subject(name)) + &created(call_id, id)
}
