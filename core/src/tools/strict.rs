//! The fast way: well-formed JSON in the shape that we publish, in one pass, borrowing what it can.
//! Anything else is none, and the tolerant reader's.
//!
//! Values that are not text go through `RawValue`: the number types of `serde_json` change with
//! features that any crate of a build can switch on, their text does not (P1).

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::fields::{Draft, Place};
use super::surface::Surface;
use super::{Entry, Op, Tool};
use crate::limits;

pub(super) fn read<'a>(surface: &Surface, arguments: &'a str) -> Option<Op<'a>> {
    match surface.tool {
        // A command may make a read of it.
        Tool::TodoWrite if surface.has_command() => None,
        Tool::TodoWrite => serde_json::from_str(arguments).ok().map(|Todos(entries)| Op::Replace(entries)),
        Tool::TaskCreate => task(arguments, false).map(Op::Create),
        Tool::TaskUpdate => task(arguments, true).filter(|entry| entry.id.is_some()).map(Op::Update),
        Tool::TaskGet => task(arguments, true)?.id.map(Op::Get),
        Tool::TaskList => (arguments == "{}").then_some(Op::List),
    }
}

fn task(arguments: &str, has_id: bool) -> Option<Entry<'_>> {
    let draft: Draft<'_> = serde_json::from_str(arguments).ok()?;
    draft.into_entry(Place::Task { has_id }).ok().filter(is_item)
}

/// Whether it says which item it is: else the item may be inside a wrapper (C4), which is the tolerant
/// reader's.
fn is_item(entry: &Entry<'_>) -> bool {
    entry.content.is_some() || entry.id.is_some() || entry.extras.is_empty()
}

/// `{"todos": [{…}, …]}`, or under another product's key. Other keys are looked over.
struct Todos<'a>(Vec<Entry<'a>>);

impl<'de> Deserialize<'de> for Todos<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(TodosVisitor)
    }
}

struct TodosVisitor;

impl<'de> Visitor<'de> for TodosVisitor {
    type Value = Todos<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with todos")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut todos = None;
        while let Some(Key(key)) = map.next_key()? {
            match &*key {
                "todos" | "plan" | "todoList" | "task_list" if todos.is_none() => {
                    todos = Some(map.next_value::<Entries<'de>>()?.0);
                }
                // Two lists are for the tolerant reader to rank, and so is everything that may be one.
                "todos" | "plan" | "todoList" | "task_list" | "items" | "tasks" | "list" | "task_progress" => {
                    return Err(Error::custom("more than one list"));
                }
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        todos.map(Todos).ok_or_else(|| Error::missing_field("todos"))
    }
}

struct Entries<'a>(Vec<Entry<'a>>);

impl<'de> Deserialize<'de> for Entries<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(EntriesVisitor)
    }
}

struct EntriesVisitor;

impl<'de> Visitor<'de> for EntriesVisitor {
    type Value = Entries<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of items")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::with_capacity(16);
        while let Some(draft) = seq.next_element::<Draft<'de>>()? {
            if entries.len() > limits::ITEMS {
                return Err(Error::custom("too many items"));
            }
            let entry = draft.into_entry(Place::Element(entries.len())).map_err(Error::custom)?;
            if !is_item(&entry) {
                return Err(Error::custom("a wrapper"));
            }
            entries.push(entry);
        }
        Ok(Entries(entries))
    }
}

impl<'de> Deserialize<'de> for Draft<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(DraftVisitor)
    }
}

struct DraftVisitor;

impl<'de> Visitor<'de> for DraftVisitor {
    type Value = Draft<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut draft = Draft::default();
        while let Some(Key(key)) = map.next_key()? {
            match &*key {
                "id" | "taskId" | "taskid" => {
                    let Id(id) = map.next_value()?;
                    // Two spellings of the id are for the tolerant reader to rank.
                    if id.is_some() && draft.id.is_some() {
                        return Err(Error::custom("two ids"));
                    }
                    draft.id = id.or(draft.id);
                }
                "content" => put(&mut draft.content, map.next_value()?),
                "subject" => put(&mut draft.subject, map.next_value()?),
                "status" => put(&mut draft.status, map.next_value()?),
                "description" => put(&mut draft.description, map.next_value()?),
                _ => {
                    let json: &RawValue = map.next_value()?;
                    if json.get() != "null" {
                        draft.rest.push((key, Cow::Borrowed(json.get())));
                    }
                }
            }
        }
        Ok(draft)
    }
}

/// Null is absent (C9), also where the key came before.
fn put<'a>(field: &mut Option<Cow<'a, str>>, Text(text): Text<'a>) {
    if text.is_some() {
        *field = text;
    }
}

/// A key, borrowed where it holds no escape.
struct Key<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(TextVisitor).map(|Text(key)| Self(key.unwrap_or_default()))
    }
}

/// A text, borrowed where it holds no escape; none for null.
struct Text<'a>(Option<Cow<'a, str>>);

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_option(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or null")
    }

    fn visit_none<E>(self) -> Result<Self::Value, E> {
        Ok(Text(None))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Text(None))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Text(Some(Cow::Borrowed(text))))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Text(Some(Cow::Owned(String::from(text)))))
    }
}

/// An id: a text, or a whole number as its decimal text; none for null. Numbers of other forms are the
/// tolerant reader's, which sees their text.
struct Id<'a>(Option<Cow<'a, str>>);

impl<'de> Deserialize<'de> for Id<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(IdVisitor)
    }
}

struct IdVisitor;

impl<'de> Visitor<'de> for IdVisitor {
    type Value = Id<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, a whole number or null")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Id(None))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Id(Some(Cow::Owned(number.to_string()))))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Id(Some(Cow::Borrowed(text))))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Id(Some(Cow::Owned(String::from(text)))))
    }
}
