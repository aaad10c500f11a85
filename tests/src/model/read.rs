//! What the model understands of a call: the plain shapes of spec 3, read through `serde_json::Value`.
//! It knows what it does not know: `Ask::Unknown` is another reader's, and a log with one is not judged.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use session_todo::{Agent, Call, Caller, Event, Outcome};

use super::list::{Status, fold};

/// An event, read once.
#[derive(Clone, Debug)]
pub enum Parsed {
    Call { by: Caller, tool: Tool, ask: Ask, how: How },
    Request(Agent),
    Compacted,
    Resumed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    TodoWrite,
    TaskCreate,
    TaskUpdate,
    TaskGet,
    TaskList,
    Foreign,
    Unknown,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum How {
    Ours,
    Ran(Option<String>),
    Failed,
}

#[derive(Clone, Debug)]
pub enum Ask {
    Replace(Vec<Named>),
    Create(Named),
    Update(String, Named),
    Get(String),
    List,
    Refused,
    Unknown,
}

/// An item as a call names it.
#[derive(Clone, Debug, Default)]
pub struct Named {
    pub id: Option<String>,
    pub content: Option<String>,
    pub mark: Option<Mark>,
    pub description: Option<String>,
    pub extras: BTreeMap<String, String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    Set(Status),
    Deleted,
}

/// Why nothing came of the text: it is refused for sure, or the model can't say.
enum No {
    Refused,
    Unknown,
}

type Read<T> = Result<T, No>;

/// Keys that C6 reads as something else, where the model does not follow.
const ALIASES: [&str; 21] = [
    "content",
    "title",
    "text",
    "task",
    "step",
    "description",
    "subject",
    "name",
    "id",
    "taskId",
    "taskid",
    "task_id",
    "todo_id",
    "status",
    "state",
    "done",
    "completed",
    "checked",
    "details",
    "item",
    "todos",
];

impl Parsed {
    #[must_use]
    pub fn of(event: &Event<'_>) -> Self {
        match event {
            Event::ToolCalled(call) => Self::call(call),
            Event::RequestSent { by } => Self::Request(*by),
            Event::Compacted => Self::Compacted,
            Event::Resumed => Self::Resumed,
        }
    }

    fn call(call: &Call<'_>) -> Self {
        let tool = tool(&call.name);
        let (how, id_known) = match &call.outcome {
            Outcome::Ours => (How::Ours, true),
            Outcome::Ran { id: None } => (How::Ran(None), true),
            Outcome::Ran { id: Some(given) } => match id(given) {
                Ok(id) => (How::Ran(id), true),
                Err(_) => (How::Ran(None), false),
            },
            Outcome::Failed => (How::Failed, true),
        };
        let ask = if id_known { ask(tool, call) } else { Ask::Unknown };
        Self::Call { by: call.by, tool, ask, how }
    }

    /// Whether the model can say what comes of it.
    #[must_use]
    pub const fn is_judged(&self) -> bool {
        match self {
            Self::Call { tool: Tool::Unknown, .. } => false,
            Self::Call { ask, .. } => !matches!(ask, Ask::Unknown),
            _ => true,
        }
    }
}

impl Tool {
    #[must_use]
    pub const fn writes(self) -> bool {
        matches!(self, Self::TodoWrite | Self::TaskCreate | Self::TaskUpdate)
    }
}

fn tool(name: &str) -> Tool {
    match name {
        "todo_write" | "TodoWrite" | "todowrite" => Tool::TodoWrite,
        "TaskCreate" | "task_create" => Tool::TaskCreate,
        "TaskUpdate" | "task_update" => Tool::TaskUpdate,
        "TaskGet" | "task_get" => Tool::TaskGet,
        "TaskList" | "task_list" => Tool::TaskList,
        "Bash" | "Read" | "grep" => Tool::Foreign,
        _ => Tool::Unknown,
    }
}

fn ask(tool: Tool, call: &Call<'_>) -> Ask {
    let is_record = call.by == Caller::Record;
    if is_record && tool != Tool::TodoWrite {
        return Ask::Unknown;
    }
    if tool == Tool::Foreign || (call.outcome == Outcome::Failed && !is_record) {
        return Ask::Refused;
    }
    match asked(tool, &call.arguments) {
        // A record that names no content: section 2 does not say what is kept.
        Ok(Ask::Replace(named)) if is_record && named.iter().any(|item| item.content.is_none()) => Ask::Unknown,
        Ok(ask) => ask,
        Err(No::Refused) => Ask::Refused,
        Err(No::Unknown) => Ask::Unknown,
    }
}

fn asked(tool: Tool, text: &str) -> Read<Ask> {
    if tool == Tool::TaskList && matches!(text, "" | "null" | "\"\"" | "{}" | "\"{}\"" | "[]") {
        return Ok(Ask::List);
    }
    let mut keys = object(text)?;
    match tool {
        Tool::TodoWrite => todos(keys).map(Ask::Replace),
        Tool::TaskCreate => task(keys).and_then(created),
        Tool::TaskUpdate => {
            let id = taskid(&mut keys)?;
            Ok(Ask::Update(id, task(keys)?))
        }
        Tool::TaskGet => taskid(&mut keys).and_then(|id| if keys.is_empty() { Ok(Ask::Get(id)) } else { unknown() }),
        Tool::TaskList | Tool::Foreign | Tool::Unknown => unknown(),
    }
}

/// A JSON object in its plainest print: no key twice, no escape, no spaces, nothing large.
fn object(text: &str) -> Read<Map<String, Value>> {
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(keys)) if text.len() < 4096 => {
            let printed = Value::Object(keys.clone()).to_string();
            if printed.len() == text.len() { Ok(keys) } else { unknown() }
        }
        Err(error) if error.is_eof() && text.starts_with('{') => refused(), // C12
        _ => unknown(),
    }
}

fn todos(mut keys: Map<String, Value>) -> Read<Vec<Named>> {
    let list = keys.remove("todos");
    match list {
        None | Some(Value::Null) if keys.is_empty() => refused(), // C11
        Some(Value::Array(items)) if keys.is_empty() && items.len() <= 20 => {
            let named = items.into_iter().map(listed).collect::<Read<Vec<Named>>>()?;
            if is_ambiguous(&named) { unknown() } else { Ok(named) }
        }
        _ => unknown(),
    }
}

/// L7 compares contents: it does not say what an id is that comes twice and once without one.
fn is_ambiguous(named: &[Named]) -> bool {
    let twice = |item: &Named| named.iter().filter(|other| other.id.is_some() && other.id == item.id).count() > 1;
    named.iter().any(|item| item.content.is_none() && twice(item))
}

fn listed(value: Value) -> Read<Named> {
    let Value::Object(mut keys) = value else { return unknown() };
    let (had_content, mut named) = (keys.contains_key("content"), Named::default());
    named.id = match keys.remove("id") {
        None | Some(Value::Null) => None,
        Some(value) => id_of(&value)?,
    };
    named.content = text(&mut keys, "content")?;
    named.description = text(&mut keys, "description")?;
    if named.content.is_none() && named.description.is_some() {
        if had_content {
            return unknown();
        }
        named.content = named.description.take(); // C6
    }
    finish(named, keys)
}

fn task(mut keys: Map<String, Value>) -> Read<Named> {
    let content = text(&mut keys, "subject")?;
    let description = text(&mut keys, "description")?;
    finish(Named { content, description, ..Named::default() }, keys)
}

fn finish(mut named: Named, mut keys: Map<String, Value>) -> Read<Named> {
    named.mark = mark(keys.remove("status"))?;
    for (key, value) in keys {
        if ALIASES.contains(&&*key) || !key.bytes().all(|byte| byte.is_ascii_alphabetic()) {
            return unknown();
        }
        if !value.is_null() {
            named.extras.insert(key, value.to_string());
        }
    }
    Ok(named)
}

fn created(named: Named) -> Read<Ask> {
    match (&named.content, named.mark) {
        (_, Some(Mark::Deleted)) => unknown(),
        (None, _) => refused(), // C13
        _ => Ok(Ask::Create(named)),
    }
}

fn taskid(keys: &mut Map<String, Value>) -> Read<String> {
    let value = keys.remove("taskid").or_else(|| keys.remove("taskId"));
    match value.as_ref().map(id_of) {
        None => refused(),
        Some(id) => id?.ok_or(No::Refused),
    }
}

fn id_of(value: &Value) -> Read<Option<String>> {
    match value {
        Value::String(text) => id(text),
        Value::Number(number) if number.is_u64() => Ok(Some(number.to_string())),
        _ => unknown(),
    }
}

/// C8: `#3` is `3`, blank is absent.
fn id(text: &str) -> Read<Option<String>> {
    let id = text.strip_prefix('#').unwrap_or(text);
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    if id.len() <= 64 && id.bytes().all(plain) { Ok((!id.is_empty()).then(|| id.to_owned())) } else { unknown() }
}

/// A text that is shown as it is written, but for `<` and `>` (T2). None where it is absent.
fn text(keys: &mut Map<String, Value>, key: &str) -> Read<Option<String>> {
    let text = match keys.remove(key) {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(text)) => text,
        Some(_) => return unknown(),
    };
    if text.is_empty() && matches!(key, "content") {
        return Ok(None); // C13
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || " .-_`<>‹›".contains(c);
    let is_plain = text.chars().all(plain) && text == text.trim() && fold(&text).contains(char::is_alphanumeric);
    if is_plain { Ok(Some(text)) } else { unknown() }
}

/// C7.
fn mark(value: Option<Value>) -> Read<Option<Mark>> {
    let word = match value {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(word)) => word,
        Some(_) => return unknown(),
    };
    let status = match &*word {
        "deleted" => return Ok(Some(Mark::Deleted)),
        "pending" | "todo" | "to_do" | "not_started" | "open" | "new" | "queued" => Status::Pending,
        "in_progress" | "inprogress" | "doing" | "active" | "started" | "current" | "wip" => Status::InProgress,
        "completed" | "complete" | "done" | "finished" | "closed" | "x" => Status::Completed,
        "cancelled" | "canceled" | "skipped" | "wont_do" | "dropped" => Status::Cancelled,
        "blocked" | "failed" | "error" | "on_hold" => Status::Blocked,
        "later" | "soon" => return refused(),
        _ => return unknown(),
    };
    Ok(Some(Mark::Set(status)))
}

const fn refused<T>() -> Read<T> {
    Err(No::Refused)
}

const fn unknown<T>() -> Read<T> {
    Err(No::Unknown)
}
