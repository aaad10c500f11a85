//! Documents of a published schema: what a model sends that keeps to it.

use serde_json::{Map, Value, json};

use super::{Choices, todo};

/// A document that fits.
pub fn document(schema: &Value, c: &mut Choices<'_>) -> Value {
    value(schema, "", c)
}

fn value(schema: &Value, key: &str, c: &mut Choices<'_>) -> Value {
    if let Some(words) = schema["enum"].as_array() {
        return c.of(words);
    }
    match kind(schema) {
        "object" => object(schema, key.is_empty(), c),
        "array" if may_be_null(schema) && c.one_in(4) => Value::Null,
        "array" => (0..c.of(&[1, 2, 3, 0])).map(|_| value(&schema["items"], key, c)).collect(),
        "integer" => c.of(&[json!(1), json!(2), json!(3), json!(-4), json!(0), json!(u64::MAX), json!(7)]),
        _ if is_checklist(schema) => json!(checklist(c)),
        _ if key.to_lowercase().ends_with("id") => json!(id(c)),
        _ => json!(if c.one_in(16) { c.of(&["", " ", "\u{200b}"]).to_owned() } else { c.text() }),
    }
}

fn object(schema: &Value, is_call: bool, c: &mut Choices<'_>) -> Value {
    let required = |key: &String| schema["required"].as_array().is_some_and(|keys| keys.contains(&json!(key)));
    let mut object = Map::new();
    for (key, of) in schema["properties"].as_object().into_iter().flatten() {
        if required(key) || c.below(3) < 2 {
            object.insert(key.clone(), value(of, key, c));
        }
    }
    // No schema forbids keys of the model's own.
    if c.one_in(4) {
        let own = if is_call { ["merge", "reason"] } else { ["note", "effort"] };
        object.insert(c.of(&own).into(), todo::value(c, 2));
    }
    Value::Object(object)
}

/// The type, or the first of several.
#[must_use]
pub fn kind(schema: &Value) -> &str {
    let first = |kinds: &'_ Value| kinds.as_array().and_then(|kinds| kinds.first()).is_some();
    let of = if first(&schema["type"]) { &schema["type"][0] } else { &schema["type"] };
    of.as_str().unwrap_or_default()
}

fn may_be_null(schema: &Value) -> bool {
    schema["type"].as_array().is_some_and(|kinds| kinds.contains(&json!("null")))
}

/// A schema can't say what a text holds; its description does.
fn is_checklist(schema: &Value) -> bool {
    schema["description"].as_str().is_some_and(|words| words.contains("checklist"))
}

fn checklist(c: &mut Choices<'_>) -> String {
    let line = |c: &mut Choices<'_>| format!("- [{}] {}", c.of(&[" ", "x", "-"]), c.line());
    (0..c.of(&[1, 2, 3, 5])).map(|_| line(c) + "\n").collect()
}

fn id(c: &mut Choices<'_>) -> String {
    c.of(&["1", "2", "3", "a-b", "#2", "4294967296", "t 1"]).into()
}
