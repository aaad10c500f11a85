//! The tolerant reader: what the strict one could not read. It understands what can mean one thing only,
//! and refuses the rest by name.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::checklist;
use super::document::{Wanted, document, ends_in_markup, is_value};
use super::fields::{Draft, Place};
use super::literal::{Fault, Node, Pair, parse};
use super::mended::{Mend, Mended};
use super::surface::{Answer, Asked, Surface};
use super::{Entry, Op, Reading, Tool};
use crate::limits;
use crate::list::within;
use crate::refusal::{Field, Refusal};

type Pairs<'a> = Vec<Pair<'a>>;

const LIST_KEYS: &[&str] = &["todos", "todoList", "items", "tasks", "plan", "task_list", "list"];
/// Keys of an object that holds nothing but an item or a list.
const WRAPPERS: &[&str] = &["item", "todo", "task", "element", "todos", "items", "tasks"];
/// How often a value may be quoted again (C1), and wrapped (C4).
const QUOTED: u8 = 3;
const WRAPPED: u8 = 2;

const WRITE: Wanted = Wanted {
    words: "an object with the whole list, e.g. {\"todos\":[{\"content\":\"Run the tests\",\"status\":\"pending\"}]}",
    example: "{\"todos\":[{\"content\":\"Run the tests\",\"status\":\"pending\"}]}",
};
const CREATE: Wanted = Wanted {
    words: "an object with a subject, e.g. {\"subject\":\"Run the tests\",\"description\":\"All crates\"}",
    example: "{\"subject\":\"Run the tests\",\"description\":\"All crates\"}",
};
const BY_ID: Wanted =
    Wanted { words: "an object with the task's id, e.g. {\"taskid\":\"1\"}", example: "{\"taskid\":\"1\"}" };
const NOTHING: Wanted = Wanted { words: "an empty object: {}", example: "{}" };
const ITEM: &str = "an object with a content, e.g. {\"content\":\"Run the tests\",\"status\":\"pending\"}";

pub(super) fn read<'a>(surface: &Surface, arguments: &'a str) -> Result<Reading<'a>, Refusal> {
    let mut reader = Reader { surface, mended: Mended::default() };
    let node = document(arguments, reader.wanted(), &mut reader.mended)?;
    let op = match node {
        Node::Text(text) => reader.quoted(&text, QUOTED - 1)?,
        node => reader.operation(node)?,
    };
    // Words around it may just speak of an empty list.
    if op == Op::Replace(Vec::new()) && reader.mended.has(Mend::Noise) && !ends_in_markup(arguments) {
        return Err(Refusal::Unreadable { wanted: WRITE.words });
    }
    Ok(Reading { op, mended: reader.mended })
}

struct Reader<'s> {
    surface: &'s Surface,
    mended: Mended,
}

impl Reader<'_> {
    const fn wanted(&self) -> Wanted {
        match self.surface.tool {
            Tool::TodoWrite => WRITE,
            Tool::TaskCreate => CREATE,
            Tool::TaskUpdate | Tool::TaskGet => BY_ID,
            Tool::TaskList => NOTHING,
        }
    }

    /// The whole arguments as a text (C1).
    fn quoted(&mut self, text: &str, deeper: u8) -> Result<Op<'static>, Refusal> {
        self.mended.add(Mend::Quoted);
        match document(text, self.wanted(), &mut self.mended)? {
            Node::Text(text) if deeper > 0 => self.quoted(&text, deeper - 1),
            node => self.operation(node).map(Op::into_owned),
        }
    }

    fn operation<'a>(&mut self, node: Node<'a>) -> Result<Op<'a>, Refusal> {
        match (self.surface.tool, node) {
            // Reads take no arguments in any of the ways in which there can be none (C10).
            (Tool::TaskList, Node::Null | Node::Map(_)) => Ok(Op::List),
            (Tool::TaskList, Node::List(nodes)) if nodes.is_empty() => Ok(Op::List),
            (Tool::TodoWrite, Node::Null) if self.surface.asked(|_| None)? != Asked::Write => Ok(Op::List),
            (Tool::TodoWrite, Node::Map(pairs)) => self.whole_list(pairs),
            (Tool::TodoWrite, Node::List(nodes)) => self.entries(nodes).map(Op::Replace),
            (Tool::TaskCreate, Node::Map(pairs)) => {
                let draft = draft(self.unwrapped(pairs));
                draft.into_entry(Place::Task { has_id: false }).map(Op::Create)
            }
            (Tool::TaskUpdate, Node::Map(pairs)) => self.task(pairs).map(Op::Update),
            (Tool::TaskGet, Node::Map(pairs)) => self.task(pairs).map(|entry| Op::Get(entry.id.unwrap_or_default())),
            (_, node) => Err(Refusal::Kind { field: Field::Arguments, came: node.kind(), wanted: self.wanted().words }),
        }
    }

    /// The list under one of its keys; without one, a surface whose own schema reads so, reads (C11).
    fn whole_list<'a>(&mut self, mut pairs: Pairs<'a>) -> Result<Op<'a>, Refusal> {
        let asked = self.surface.asked(|key| word_of(&pairs, key))?;
        if asked == Asked::Read {
            return Ok(Op::List);
        }
        let own = self.surface.list_key();
        let place_of = |key: &str| pairs.iter().rposition(|(other, node, _)| other == key && *node != Node::Null);
        let found = place_of(own).map(|at| (at, own));
        let found = found.or_else(|| LIST_KEYS.iter().find_map(|key| place_of(key).map(|at| (at, *key))));
        let Some((at, key)) = found else {
            return self.without_list(pairs, asked);
        };
        let node = pairs.swap_remove(at).1;
        if node == Node::List(Vec::new()) {
            if asked == Asked::ReadUnlessListed {
                return Ok(Op::List);
            }
            if pairs.iter().any(|(key, node, _)| LIST_KEYS.contains(&&**key) && node.is_meant()) {
                return Err(Refusal::Kind {
                    field: Field::Key(key),
                    came: "an empty list beside another",
                    wanted: WRITE.words,
                });
            }
        }
        self.list(node, key, WRAPPED).map(Op::Replace)
    }

    fn without_list<'a>(&mut self, pairs: Pairs<'a>, asked: Asked) -> Result<Op<'a>, Refusal> {
        match only_wrapped(pairs) {
            Ok(node) => {
                self.mended.add(Mend::Wrapper);
                self.list(node, "todos", WRAPPED).map(Op::Replace)
            }
            // Under another key there may be a list that is meant to be written.
            Err(pairs) if asked != Asked::Write && !self.may_hold_a_list(&pairs) => Ok(Op::List),
            Err(_) => Err(Refusal::Missing { field: self.surface.list_key(), wanted: WRITE.words }),
        }
    }

    fn may_hold_a_list(&self, pairs: &Pairs<'_>) -> bool {
        let is_item = |node: &Node<'_>| matches!(node, Node::Map(pairs) if has_content(pairs));
        let holds_items = |node: &Node<'_>| matches!(node, Node::List(nodes) if nodes.iter().any(is_item));
        has_content(pairs) || pairs.iter().any(|(key, node, _)| !self.surface.has_key(key) && holds_items(node))
    }

    fn list<'a>(&mut self, node: Node<'a>, key: &'static str, deeper: u8) -> Result<Vec<Entry<'a>>, Refusal> {
        match node {
            Node::List(nodes) => self.entries(nodes),
            Node::Text(text) => self.quoted_list(&text, key, QUOTED - 1),
            Node::Map(mut pairs) if holds_list(&pairs) => {
                let at = pairs.iter().position(is_list);
                if has_content(&pairs) || deeper == 0 {
                    return Err(wrong_list("an item that holds a list", key));
                }
                self.mended.add(Mend::Wrapper);
                let inner = at.map_or(Node::Null, |at| pairs.swap_remove(at).1);
                self.list(inner, key, deeper - 1)
            }
            Node::Map(pairs) if has_content(&pairs) => {
                self.mended.add(Mend::Single);
                Ok(vec![draft(pairs).into_entry(Place::Element(0))?])
            }
            Node::Map(pairs) if deeper > 0 => match only_wrapped(pairs) {
                Ok(node) => {
                    self.mended.add(Mend::Wrapper);
                    self.list(node, key, deeper - 1)
                }
                Err(_) => Err(wrong_list("an object", key)),
            },
            node => Err(wrong_list(node.kind(), key)),
        }
    }

    /// A list as a text: a value that was quoted, or a checklist.
    fn quoted_list(&mut self, text: &str, key: &'static str, deeper: u8) -> Result<Vec<Entry<'static>>, Refusal> {
        let checklist = if is_value(text) { None } else { checklist::entries(text)? };
        if let Some(entries) = checklist {
            if self.surface.answer != Answer::Checklist {
                self.mended.add(Mend::Checklist);
            }
            return Ok(entries);
        }
        self.mended.add(Mend::Quoted);
        let entries = match document(text, WRITE, &mut self.mended)? {
            Node::Text(text) if deeper > 0 => return self.quoted_list(&text, key, deeper - 1),
            Node::Text(_) => return Err(wrong_list("text", key)),
            Node::Null => return Err(wrong_list("blank text", key)),
            node => self.list(node, key, WRAPPED)?,
        };
        Ok(entries.into_iter().map(Entry::into_owned).collect())
    }

    fn entries<'a>(&mut self, nodes: Vec<Node<'a>>) -> Result<Vec<Entry<'a>>, Refusal> {
        within("items in one call", nodes.len(), limits::ITEMS)?;
        nodes.into_iter().enumerate().map(|(index, node)| self.entry(index, node)).collect()
    }

    fn entry<'a>(&mut self, index: usize, node: Node<'a>) -> Result<Entry<'a>, Refusal> {
        match node {
            Node::Map(pairs) => draft(self.unwrapped(pairs)).into_entry(Place::Element(index)),
            Node::Text(text) => self.text_entry(index, text),
            node => Err(Refusal::Kind { field: Field::Element(index), came: node.kind(), wanted: ITEM }),
        }
    }

    /// An element that is a text: an item in JSON, a line with a box, or a content.
    fn text_entry<'a>(&mut self, index: usize, text: Cow<'a, str>) -> Result<Entry<'a>, Refusal> {
        match parse(text.trim()) {
            Ok((Node::Map(pairs), rest)) if rest.trim().is_empty() => {
                self.mended.add(Mend::Quoted);
                return draft(self.unwrapped(pairs)).into_entry(Place::Element(index)).map(Entry::into_owned);
            }
            Ok((Node::Text(inner), rest)) if rest.trim().is_empty() && inner.trim_start().starts_with('{') => {
                self.mended.add(Mend::Quoted);
                return self.text_entry(index, inner).map(Entry::into_owned);
            }
            Err(Fault::EndsEarly) if text.trim_start().starts_with('{') => {
                return Err(Refusal::EndsEarly { example: "{\"content\":\"Run the tests\"}" });
            }
            _ => {}
        }
        self.mended.add(Mend::Texts);
        if let Some(entry) = checklist::boxed(&text) {
            return Ok(entry);
        }
        Draft { content: Some(text), ..Draft::default() }.into_entry(Place::Element(index))
    }

    fn task<'a>(&mut self, pairs: Pairs<'a>) -> Result<Entry<'a>, Refusal> {
        let entry = draft(self.unwrapped(pairs)).into_entry(Place::Task { has_id: true })?;
        if entry.id.is_none() {
            return Err(Refusal::Missing { field: "taskid", wanted: BY_ID.words });
        }
        Ok(entry)
    }

    /// The item inside an object that holds nothing else (C4).
    fn unwrapped<'a>(&mut self, pairs: Pairs<'a>) -> Pairs<'a> {
        match only_wrapped(pairs) {
            Ok(Node::Map(pairs)) => {
                self.mended.add(Mend::Wrapper);
                pairs
            }
            Ok(_) => Vec::new(),
            Err(pairs) => pairs,
        }
    }
}

/// Whether an object holds a list of items under one of a list's keys.
fn holds_list(pairs: &Pairs<'_>) -> bool {
    pairs.iter().any(is_list)
}

fn is_list((key, node, _): &Pair<'_>) -> bool {
    LIST_KEYS.contains(&&**key) && matches!(node, Node::List(_))
}

/// The word under this key; empty where it is no word.
fn word_of(pairs: &Pairs<'_>, key: &str) -> Option<String> {
    match &pairs.iter().find(|(other, ..)| other == key)?.1 {
        Node::Text(word) => Some(String::from(&**word)),
        Node::Null => None,
        _ => Some(String::new()),
    }
}

/// The value of an object whose one key is a wrapper's; else the object. A text is no wrapped value.
fn only_wrapped<'a>(mut pairs: Pairs<'a>) -> Result<Node<'a>, Pairs<'a>> {
    let is_wrapper =
        |(key, node, _): &Pair<'a>| WRAPPERS.contains(&&**key) && matches!(node, Node::Map(_) | Node::List(_));
    match pairs.pop_if(|pair| is_wrapper(pair)) {
        Some(pair) if pairs.is_empty() => Ok(pair.1),
        Some(pair) => {
            pairs.push(pair);
            Err(pairs)
        }
        None => Err(pairs),
    }
}

/// Whether an object is an item.
fn has_content(pairs: &Pairs<'_>) -> bool {
    const CONTENT: &[&str] = &["content", "title", "text", "task", "step", "description", "subject", "name"];
    pairs.iter().any(|(key, node, _)| CONTENT.contains(&&**key) && matches!(node, Node::Text(_)))
}

const fn wrong_list(came: &'static str, key: &'static str) -> Refusal {
    Refusal::Kind { field: Field::Key(key), came, wanted: WRITE.words }
}

/// An object's keys. What is not text keeps its place among the rest, as JSON.
fn draft(pairs: Pairs<'_>) -> Draft<'_> {
    let mut draft = Draft::default();
    for (key, node, written) in pairs {
        match (&*key, node) {
            (_, Node::Null) => {}
            ("content", Node::Text(text)) => draft.content = Some(text),
            ("subject", Node::Text(text)) => draft.subject = Some(text),
            ("status", Node::Text(text)) => draft.status = Some(text),
            ("description", Node::Text(text)) => draft.description = Some(text),
            (_, node) => draft.rest.push((key, node.to_json(written))),
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
