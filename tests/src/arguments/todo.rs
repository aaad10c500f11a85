//! A list as a test means it, and as a session holds it.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use session_todo::{List, Status};

use super::Choices;

/// An item as a test means it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Todo {
    pub id: Option<String>,
    pub content: String,
    pub status: Status,
    pub description: Option<String>,
    pub extras: Map<String, Value>,
}

/// An item as a session holds it: id, content, status, description, extras as values. The text of an extra
/// is its value's only up to spaces and escapes.
pub type Seen = (String, String, Status, Option<String>, BTreeMap<String, Value>);

impl Todo {
    pub fn new(content: impl Into<String>, status: Status) -> Self {
        Self { id: None, content: content.into(), status, description: None, extras: Map::new() }
    }

    /// Whether it is no more than a content and a status.
    #[must_use]
    pub fn is_bare(&self) -> bool {
        self.id.is_none() && self.description.is_none() && self.extras.is_empty()
    }

    #[must_use]
    pub fn to_json(&self) -> Map<String, Value> {
        let mut map = Map::new();
        if let Some(id) = &self.id {
            map.insert("id".into(), json!(id));
        }
        map.insert("content".into(), json!(self.content));
        map.insert("status".into(), json!(self.status.as_str()));
        if let Some(description) = &self.description {
            map.insert("description".into(), json!(description));
        }
        map.extend(self.extras.clone());
        map
    }
}

/// The list as `todo_write` wants it.
#[must_use]
pub fn canonical(list: &[Todo]) -> String {
    json!({ "todos": list.iter().map(Todo::to_json).collect::<Vec<_>>() }).to_string()
}

#[must_use]
pub fn seen(list: &List) -> Vec<Seen> {
    // A lone surrogate is JSON, and no text.
    let value = |json: &str| serde_json::from_str(json).unwrap_or_else(|_| json!({ "raw": json }));
    let items = list.items().iter().map(|item| {
        let extras = item.extras.iter().map(|extra| (extra.key.clone(), value(&extra.json))).collect();
        (item.id.clone(), item.content.clone(), item.status, item.description.clone(), extras)
    });
    items.collect()
}

/// A list with anything in it.
pub fn any(c: &mut Choices<'_>) -> Vec<Todo> {
    let kind = c.below(4);
    (0..c.of(&[1, 2, 3, 5])).map(|index| one(c, kind, index)).collect()
}

/// The first two kinds keep to a content and a status, which a list of strings and a checklist need.
fn one(c: &mut Choices<'_>, kind: usize, index: usize) -> Todo {
    let content = if kind == 0 { c.line() } else { c.text() };
    let status = match kind {
        0 => c.of(&[Status::Pending, Status::InProgress, Status::Completed]),
        1 => Status::Pending,
        _ => c.of(&Status::ALL),
    };
    let mut todo = Todo::new(content, status);
    if kind > 1 {
        todo.id = (kind == 3).then(|| (index + 1).to_string());
        todo.description = c.one_in(3).then(|| c.text());
        if c.one_in(3) {
            todo.extras.insert(c.of(&["priority", "activeForm", "owner", "x y"]).into(), value(c, 2));
        }
    }
    todo
}

/// Any JSON value, but for numbers that are no decimal text in every language.
pub fn value(c: &mut Choices<'_>, deep: u8) -> Value {
    match c.below(if deep == 0 { 4 } else { 6 }) {
        0 => json!(c.text()),
        1 => json!(c.byte()),
        2 => json!(c.one_in(2)),
        3 => json!(-1.5),
        4 => (0..c.below(3)).map(|_| value(c, deep - 1)).collect(),
        _ => {
            let pairs = (0..c.below(3)).map(|_| (c.line(), value(c, deep - 1)));
            Value::Object(pairs.collect())
        }
    }
}
