//! The tolerant reader: what the strict one could not read. It understands what can mean one thing
//! only, and refuses the rest by name.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

use super::fields::{Draft, Place};
use super::literal::{Fault, Node, parse};
use super::{Entry, Op, Tool};
use crate::limits;
use crate::list::within;
use crate::refusal::{Field, Refusal};

const LIST: &[&str] = &["todos", "todoList", "items", "tasks", "plan", "task_list", "list"];
const WRITE: &str =
    "an object with the whole list, e.g. {\"todos\":[{\"content\":\"Run the tests\",\"status\":\"pending\"}]}";
const WRITE_EXAMPLE: &str = "{\"todos\":[{\"content\":\"Run the tests\",\"status\":\"pending\"}]}";
const CREATE: &str = "an object with a subject, e.g. {\"subject\":\"Run the tests\",\"description\":\"All crates\"}";
const BY_ID: &str = "an object with the task's id, e.g. {\"taskid\":\"1\"}";
const NO_KEYS: &str = "an empty object: {}";
const ITEM: &str = "an object with a content, e.g. {\"content\":\"Run the tests\",\"status\":\"pending\"}";
/// How often a value may be quoted again (C1).
const QUOTED: usize = 3;

pub(super) fn read(tool: Tool, arguments: &str) -> Result<Op<'_>, Refusal> {
    let wanted = match tool {
        Tool::TodoWrite => WRITE,
        Tool::TaskCreate => CREATE,
        Tool::TaskUpdate | Tool::TaskGet => BY_ID,
        Tool::TaskList => NO_KEYS,
    };
    let node = match document(arguments, wanted)? {
        // Reads take no arguments in any of the ways in which there can be none (C10).
        Node::Null | Node::Map(_) if tool == Tool::TaskList => return Ok(Op::List),
        Node::List(nodes) if tool == Tool::TaskList && nodes.is_empty() => return Ok(Op::List),
        Node::Text(text) => return quoted(tool, &text, QUOTED - 1, wanted),
        node => node,
    };
    operation(tool, node, wanted)
}

fn quoted<'a>(tool: Tool, text: &str, deeper: usize, wanted: &'static str) -> Result<Op<'a>, Refusal> {
    match document(text, wanted)? {
        Node::Null | Node::Map(_) if tool == Tool::TaskList => Ok(Op::List),
        Node::Text(text) if deeper > 0 => quoted(tool, &text, deeper - 1, wanted),
        node => operation(tool, node, wanted).map(Op::into_owned),
    }
}

fn operation<'a>(tool: Tool, node: Node<'a>, wanted: &'static str) -> Result<Op<'a>, Refusal> {
    match (tool, node) {
        (Tool::TodoWrite, Node::Map(pairs)) => list_of(pairs).map(Op::Replace),
        (Tool::TodoWrite, Node::List(nodes)) => entries(nodes).map(Op::Replace),
        (Tool::TaskCreate, Node::Map(pairs)) => draft(pairs).into_entry(Place::Task { has_id: false }).map(Op::Create),
        (Tool::TaskUpdate, Node::Map(pairs)) => task(pairs).map(Op::Update),
        (Tool::TaskGet, Node::Map(pairs)) => task(pairs).map(|entry| Op::Get(entry.id.unwrap_or_default())),
        (_, node) => Err(Refusal::Kind { field: Field::Arguments, came: node.kind(), wanted }),
    }
}

/// The one value that a text holds; white space alone is null.
fn document<'a>(text: &'a str, wanted: &'static str) -> Result<Node<'a>, Refusal> {
    let unreadable = Refusal::Unreadable { wanted };
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    if text.is_empty() {
        return Ok(Node::Null);
    }
    match parse(text) {
        Ok((node, rest)) if rest.trim().is_empty() => Ok(node),
        Ok(_) | Err(Fault::NotALiteral) => Err(unreadable),
        Err(Fault::EndsEarly) => Err(Refusal::EndsEarly { example: WRITE_EXAMPLE }),
    }
}

/// The list under one of its keys.
fn list_of<'a>(mut pairs: Vec<(Cow<'a, str>, Node<'a>)>) -> Result<Vec<Entry<'a>>, Refusal> {
    let missing = Refusal::Missing { field: "todos", wanted: WRITE };
    let place = LIST.iter().find_map(|key| pairs.iter().position(|(other, node)| other == key && *node != Node::Null));
    let node = pairs.swap_remove(place.ok_or(missing)?).1;
    list(node)
}

fn list(node: Node<'_>) -> Result<Vec<Entry<'_>>, Refusal> {
    match node {
        Node::List(nodes) => entries(nodes),
        Node::Text(text) => quoted_list(&text, QUOTED - 1),
        node => Err(Refusal::Kind { field: Field::Key("todos"), came: node.kind(), wanted: WRITE }),
    }
}

fn quoted_list(text: &str, deeper: usize) -> Result<Vec<Entry<'static>>, Refusal> {
    let node = match document(text, WRITE)? {
        Node::Text(text) if deeper > 0 => return quoted_list(&text, deeper - 1),
        Node::Null => return Err(Refusal::Kind { field: Field::Key("todos"), came: "blank text", wanted: WRITE }),
        Node::List(nodes) => entries(nodes)?,
        node => return Err(Refusal::Kind { field: Field::Key("todos"), came: node.kind(), wanted: WRITE }),
    };
    Ok(node.into_iter().map(Entry::into_owned).collect())
}

fn entries(nodes: Vec<Node<'_>>) -> Result<Vec<Entry<'_>>, Refusal> {
    within("items in one call", nodes.len(), limits::ITEMS)?;
    nodes.into_iter().enumerate().map(|(index, node)| entry(index, node)).collect()
}

fn entry(index: usize, node: Node<'_>) -> Result<Entry<'_>, Refusal> {
    match node {
        Node::Map(pairs) => draft(pairs).into_entry(Place::Element(index)),
        node => Err(Refusal::Kind { field: Field::Element(index), came: node.kind(), wanted: ITEM }),
    }
}

fn task<'a>(pairs: Vec<(Cow<'a, str>, Node<'a>)>) -> Result<Entry<'a>, Refusal> {
    let entry = draft(pairs).into_entry(Place::Task { has_id: true })?;
    if entry.id.is_none() {
        return Err(Refusal::Missing { field: "taskid", wanted: BY_ID });
    }
    Ok(entry)
}

fn draft<'a>(pairs: Vec<(Cow<'a, str>, Node<'a>)>) -> Draft<'a> {
    let mut draft = Draft::default();
    for (key, node) in pairs {
        match (&*key, node) {
            (_, Node::Null) => {}
            ("content", Node::Text(text)) => draft.content = Some(text),
            ("subject", Node::Text(text)) => draft.subject = Some(text),
            ("status", Node::Text(text)) => draft.status = Some(text),
            ("description", Node::Text(text)) => draft.description = Some(text),
            (_, node) => {
                let mut json = String::new();
                node.push_json(&mut json);
                draft.rest.push((key, Cow::Owned(json)));
            }
        }
    }
    draft
}

impl Op<'_> {
    fn into_owned(self) -> Op<'static> {
        match self {
            Self::Replace(entries) => Op::Replace(entries.into_iter().map(Entry::into_owned).collect()),
            Self::Create(entry) => Op::Create(entry.into_owned()),
            Self::Update(entry) => Op::Update(entry.into_owned()),
            Self::Get(id) => Op::Get(Cow::Owned(id.into_owned())),
            Self::List => Op::List,
        }
    }
}
