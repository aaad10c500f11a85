//! A value as other languages write it (C3).

use std::fmt::Write;

use serde_json::Value;

/// A Python literal, as `repr()` writes it but for the characters that it escapes.
#[must_use]
pub fn python(value: &Value) -> String {
    match value {
        Value::Null => "None".into(),
        Value::Bool(true) => "True".into(),
        Value::Bool(false) => "False".into(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => quoted(text, if text.contains('\'') && !text.contains('"') { '"' } else { '\'' }),
        Value::Array(values) => format!("[{}]", joined(values.iter().map(python))),
        Value::Object(pairs) => {
            format!(
                "{{{}}}",
                joined(pairs.iter().map(|(key, value)| format!("{}: {}", quoted(key, '\''), python(value))))
            )
        }
    }
}

/// The same with tuples for lists, a comma after the last element, and a comment.
#[must_use]
pub fn python_source(value: &Value) -> String {
    match value {
        Value::Array(values) => {
            format!("({})", joined(values.iter().map(python_source).chain([String::new()])))
        }
        Value::Object(pairs) => {
            let pairs = pairs.iter().map(|(key, value)| format!("{}: {},", quoted(key, '"'), python_source(value)));
            format!("{{ # it's \"so\"\n{}}}", pairs.collect::<String>())
        }
        other => python(other),
    }
}

/// A JavaScript literal: keys without quotes where they can be, single quotes, comments, commas at the end.
#[must_use]
pub fn javascript(value: &Value) -> String {
    match value {
        Value::Null => "undefined".into(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) => quoted(text, '\''),
        Value::Array(values) => {
            format!("[ // it's\n{}]", values.iter().map(|value| javascript(value) + ",\n").collect::<String>())
        }
        Value::Object(pairs) => {
            let pairs = pairs.iter().map(|(key, value)| format!("{}:{},", js_key(key), javascript(value)));
            format!("{{/* [\"{{ */{}}}", pairs.collect::<String>())
        }
    }
}

/// JSON with commas at the end, the commonest of all slips.
#[must_use]
pub fn json_with_commas(value: &Value) -> String {
    match value {
        Value::Array(values) => {
            format!("[{}]", values.iter().map(|value| json_with_commas(value) + ", ").collect::<String>())
        }
        Value::Object(pairs) => {
            let pairs =
                pairs.iter().map(|(key, value)| format!("{}: {},", Value::from(&**key), json_with_commas(value)));
            format!("{{{}}}", pairs.collect::<String>())
        }
        other => other.to_string(),
    }
}

fn js_key(key: &str) -> String {
    let is_name = key.starts_with(|c: char| c.is_ascii_alphabetic()) && key.chars().all(|c| c.is_ascii_alphanumeric());
    if is_name { key.into() } else { quoted(key, '\'') }
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(", ")
}

fn quoted(text: &str, quote: char) -> String {
    let mut out = String::from(quote);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ if c == quote => out.extend(['\\', c]),
            '\0'..='\u{1f}' | '\u{7f}' => {
                let _ = write!(out, "\\x{:02x}", u32::from(c));
            }
            _ => out.push(c),
        }
    }
    out.push(quote);
    out
}
