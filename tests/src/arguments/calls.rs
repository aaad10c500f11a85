//! Whole calls of every dialect, for the fuzzer: valid ones, in other forms, and with one thing wrong.

use serde_json::Value;
use session_todo::Dialect;

use super::forms::{self, FORMS};
use super::{Choices, schema, todo};

/// A tool's name and arguments.
pub type NamedCall = (String, String);

/// Half of the calls are whatever the bytes say.
pub fn any(c: &mut Choices<'_>) -> NamedCall {
    if c.one_in(2) {
        return (name(c), wild(c));
    }
    let (name, arguments) = valid(c);
    (name, mutated(c, arguments))
}

/// A name of a tool in some spelling.
pub fn name(c: &mut Choices<'_>) -> String {
    let tools: Vec<_> = c.of(&Dialect::ALL).tools().collect();
    let name = tools[c.below(tools.len())].name;
    c.of(&["", "", "mcp__plan__"]).to_owned() + name
}

/// Random bytes are no call; a few pieces of one among them may be.
fn wild(c: &mut Choices<'_>) -> String {
    let n = c.below(64);
    (0..n).map(|_| if c.one_in(2) { c.of(&TOKENS).to_owned() } else { char::from(c.byte()).into() }).collect()
}

const TOKENS: [&str; 24] = [
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    "\"",
    "'",
    "\\",
    "\\u",
    ":",
    ",",
    "todos",
    "content",
    "\"todos\":[",
    "{\"content\":\"",
    "- [ ] ",
    "\n",
    "None",
    "true",
    "```",
    "//",
    "/*",
    "#",
];

/// A call that fits its schema, or a list in one or two other forms.
pub fn valid(c: &mut Choices<'_>) -> NamedCall {
    if c.one_in(2) {
        let list = todo::any(c);
        let fitting: Vec<_> = FORMS.iter().filter(|form| form.fits(&list)).collect();
        let (first, second) = (c.below(fitting.len()), c.below(fitting.len()));
        let (first, second) = (fitting[first.min(second)], fitting[first.max(second)]);
        let pair = [first, second];
        let chosen = if first.composes(second) { &pair[..] } else { &pair[..1] };
        return ("todo_write".into(), forms::call(&list, chosen));
    }
    let tools: Vec<_> = c.of(&Dialect::ALL).tools().collect();
    let tool = &tools[c.below(tools.len())];
    let of: Value = serde_json::from_str(&tool.schema).unwrap_or_default();
    (tool.name.into(), schema::document(&of, c).to_string())
}

/// The text as it is, or with something cut out, put in, or said twice.
fn mutated(c: &mut Choices<'_>, text: String) -> String {
    let at = |c: &mut Choices<'_>| {
        let byte = (c.below(256) * 256 + c.below(256)) % (text.len() + 1);
        (0..=byte).rev().find(|&byte| text.is_char_boundary(byte)).unwrap_or(0)
    };
    match c.below(8) {
        0..=3 => text,
        4 => text[..at(c)].into(),
        5 => text[at(c)..].into(),
        6 => {
            let (head, tail) = text.split_at(at(c));
            format!("{head}{}{tail}", c.of(&TOKENS))
        }
        _ => {
            let (first, second) = (at(c), at(c));
            format!("{}{}", &text[..first.max(second)], &text[first.min(second)..])
        }
    }
}
