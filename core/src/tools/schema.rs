use alloc::string::String;

use super::dialect::Dialect;
use super::surface::{Key, Kind, Surface};
use crate::policy::Policy;
use crate::shown::push_plain_json;

/// A tool as it is offered to a model. Constant for a session: what changes never stands in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolDef {
    /// The name.
    pub name: &'static str,
    /// When to use it, and when not to.
    pub description: &'static str,
    /// A flat JSON Schema of the arguments (C15).
    pub schema: String,
}

impl Dialect {
    /// The definitions of its tools.
    pub fn tools(self) -> impl Iterator<Item = ToolDef> {
        self.surfaces().iter().map(|surface| surface.definition())
    }
}

impl Policy {
    /// The definitions of the tools that this policy offers.
    pub fn tools(&self) -> impl Iterator<Item = ToolDef> {
        self.offer.iter().flat_map(|dialect| dialect.tools())
    }
}

impl Surface {
    fn definition(&self) -> ToolDef {
        let mut schema = String::new();
        push_object(&mut schema, self.keys);
        ToolDef { name: self.name, description: self.description, schema }
    }
}

fn push_object(out: &mut String, keys: &[Key]) {
    out.push_str("{\"type\":\"object\",\"properties\":{");
    for (index, key) in keys.iter().enumerate() {
        out.push_str(if index == 0 { "" } else { "," });
        push_plain_json(out, key.name);
        out.push(':');
        push_key(out, key);
    }
    out.push_str("},\"required\":[");
    for (index, key) in keys.iter().filter(|key| key.required).enumerate() {
        out.push_str(if index == 0 { "" } else { "," });
        push_plain_json(out, key.name);
    }
    out.push_str("]}");
}

fn push_key(out: &mut String, key: &Key) {
    match &key.kind {
        Kind::Text | Kind::Checklist => out.push_str("{\"type\":\"string\""),
        Kind::Number => out.push_str("{\"type\":\"integer\""),
        Kind::Texts => out.push_str("{\"type\":\"array\",\"items\":{\"type\":\"string\"}"),
        Kind::Word(words) => push_words(out, words),
        Kind::Command { words, .. } => push_words(out, words),
        Kind::Items(keys) => push_items(out, "\"array\"", keys),
        Kind::ItemsOrRead(keys) => push_items(out, "[\"array\",\"null\"]", keys),
    }
    if !key.description.is_empty() {
        out.push_str(",\"description\":");
        push_plain_json(out, key.description);
    }
    out.push('}');
}

fn push_words(out: &mut String, words: &[&str]) {
    out.push_str("{\"type\":\"string\",\"enum\":[");
    for (index, word) in words.iter().enumerate() {
        out.push_str(if index == 0 { "" } else { "," });
        push_plain_json(out, word);
    }
    out.push(']');
}

fn push_items(out: &mut String, kind: &str, keys: &[Key]) {
    out.push_str("{\"type\":");
    out.push_str(kind);
    out.push_str(",\"items\":");
    push_object(out, keys);
}
