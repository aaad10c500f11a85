//! Law 10 and C15: a document that fits a published schema is understood. What fits is `jsonschema`'s to
//! say, on both sides.

use std::collections::BTreeSet;

use jsonschema::Validator;
use serde_json::{Value, json};
use session_todo::{Change, Dialect, Policy, Refusal, Session, ToolDef, understand};
use session_todo_tests::arguments::{Choices, literals, schema, todo};

use super::{called, random, refusal, same};

struct Published {
    tool: ToolDef,
    schema: Value,
    validator: Validator,
}

fn published() -> Vec<Published> {
    let tools = Dialect::ALL.into_iter().flat_map(Dialect::tools);
    let parsed = tools.map(|tool| {
        let schema = serde_json::from_str(&tool.schema).unwrap();
        Published { validator: jsonschema::validator_for(&schema).unwrap(), schema, tool }
    });
    parsed.collect()
}

#[test]
fn law10_a_document_that_fits_is_understood() {
    let published = published();
    random(2000, |c| {
        let Published { tool, schema, validator } = &published[c.below(published.len())];
        let document = schema::document(schema, c);
        if !validator.is_valid(&document) {
            return Err(format!("{}: jsonschema refuses {document}", tool.name));
        }
        is_understood(tool.name, &document, c)
    });
}

fn is_understood(name: &str, document: &Value, c: &mut Choices<'_>) -> Result<(), String> {
    let text = document.to_string();
    let mut session = some_session(c);
    let refusal = refusal(&mut session, name, &text);
    if let Some(refusal) = refusal.filter(|refusal| !is_allowed(refusal, document)) {
        return Err(format!("{name}: {text}\nis not understood: {refusal}"));
    }
    same(name, &text, &literals::python(document), "as Python")?;
    same(name, &text, &format!("{text}\n</parameter>"), "with closing markup")
}

fn some_session(c: &mut Choices<'_>) -> Session {
    let mut session = Session::new(Policy::DEFAULT);
    let list = todo::canonical(&todo::any(c));
    let _ = session.apply(&called("todo_write", &list));
    session
}

/// What C15 leaves. A blank id is an unknown one; and the two surfaces whose schema has an optional list
/// beside a command must not clear the list where it is left out (C11).
fn is_allowed(refusal: &Refusal, document: &Value) -> bool {
    match refusal {
        Refusal::Limit { .. } | Refusal::UnknownId(_) | Refusal::Blank(_) | Refusal::NothingToChange => true,
        Refusal::Missing { field: "subject", .. } => is_blank(&document["subject"]),
        Refusal::Missing { field: "todoList", .. } => document.get("todoList").is_none(),
        Refusal::Missing { field: "task_list", .. } => document.get("task_list").is_none(),
        _ => false,
    }
}

fn is_blank(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.replace('\u{200b}', "").trim().is_empty())
}

#[test]
fn law10_what_breaks_a_schema_is_refused_or_mended() {
    let published = published();
    random(2000, |c| {
        let Published { tool, schema, validator } = &published[c.below(published.len())];
        let mut document = schema::document(schema, c);
        let Some(what) = plant(&mut document, schema, c) else { return Ok(()) };
        if validator.is_valid(&document) {
            return Err(format!("{}: jsonschema takes {document}, {what}", tool.name));
        }
        match understand(tool.name, &document.to_string()) {
            Some(Ok(mended)) if mended.is_empty() && !names_no_content(tool.name, &document) => {
                Err(format!("{}: taken as it is, {what}: {document}", tool.name))
            }
            _ => Ok(()),
        }
    });
}

/// Breaks a document in one way, and says in which.
fn plant(document: &mut Value, schema: &Value, c: &mut Choices<'_>) -> Option<&'static str> {
    let (key, of) = schema["properties"].as_object()?.iter().find(|(_, of)| schema::kind(of) == "array")?;
    let wrong = [json!(5), json!(true), json!("words"), json!({}), json!({"a": 1})];
    if key.starts_with("add") {
        return None;
    }
    // A command to read has no use for a list.
    for key in ["operation", "command"] {
        document.as_object_mut()?.remove(key);
    }
    let list = document.get_mut(key)?;
    let Some(first) = list.as_array_mut().and_then(|list| list.first_mut()).filter(|_| c.one_in(2)) else {
        *list = c.of(&wrong);
        return Some("the list is of a wrong type");
    };
    let required = of["items"]["required"].as_array()?;
    let content = ["content", "title", "step", "description"].into_iter().find(|key| required.contains(&json!(key)))?;
    match c.below(4) {
        0 => *first = c.of(&[json!(5), json!(true), Value::Null, json!([]), json!("words")]),
        1 => first[content] = c.of(&[json!(5), json!(true), json!([])]),
        2 => ["description", content].iter().for_each(|key| drop(first.as_object_mut().unwrap().remove(*key))),
        _ => first["status"] = c.of(&[json!("later"), json!(5), json!([])]),
    }
    Some("an element is broken")
}

/// A missing content is judged against the list: `understand` reads it, an empty list refuses it (C13).
fn names_no_content(name: &str, document: &Value) -> bool {
    let mut session = Session::new(Policy::DEFAULT);
    let blank = matches!(refusal(&mut session, name, &document.to_string()), Some(Refusal::Blank(_)));
    blank && session.list().items().is_empty()
}

#[test]
fn c15_schemas_are_flat_and_carry_required() {
    for Published { tool, schema, .. } in published() {
        for word in ["oneOf", "anyOf", "allOf", "$ref", "$defs", "format", "default"] {
            assert!(!tool.schema.contains(&format!("\"{word}\":")), "{}: {word}", tool.name);
        }
        assert_eq!(schema["type"], "object", "{}", tool.name);
        has_required(&schema, tool.name);
        assert!(tool.description.len() < 500, "{}: a long description", tool.name);
    }
    let todo_write = Dialect::TodoWrite.tools().next().unwrap();
    let schema: Value = serde_json::from_str(&todo_write.schema).unwrap();
    assert_eq!(schema["properties"]["todos"]["items"]["required"], json!(["content", "status"]));
}

fn has_required(schema: &Value, name: &str) {
    if let Some(properties) = schema["properties"].as_object() {
        let required = schema["required"].as_array().unwrap_or_else(|| panic!("{name}: no required"));
        assert!(required.iter().all(|key| properties.contains_key(key.as_str().unwrap())), "{name}");
        properties.values().for_each(|of| has_required(of, name));
    }
    if schema["items"].is_object() {
        has_required(&schema["items"], name);
    }
}

/// The generator's documents reach every tool, every key, and mostly make a change.
#[test]
fn random_documents_reach_every_key() {
    let published = published();
    let mut unseen: BTreeSet<(&str, String)> = BTreeSet::new();
    for Published { tool, schema, .. } in &published {
        unseen.extend(schema["properties"].as_object().unwrap().keys().map(|key| (tool.name, key.clone())));
    }
    let bytes: Vec<u8> = (0..=255).cycle().step_by(11).take(60_000).collect();
    let (mut taken, mut all) = (0, 0);
    for (bytes, Published { tool, schema, .. }) in bytes.chunks(53).zip(published.iter().cycle()) {
        let document = schema::document(schema, &mut Choices::new(bytes));
        unseen.retain(|(name, key)| *name != tool.name || document.get(key).is_none());
        let change = some_session(&mut Choices::new(bytes)).apply(&called(tool.name, &document.to_string()));
        taken += usize::from(matches!(change, Change::Call(called) if called.result.is_ok()));
        all += 1;
    }
    assert!(unseen.is_empty(), "never generated: {unseen:?}");
    println!("{taken} of {all} documents were taken");
    assert!(taken * 2 > all, "only {taken} of {all} documents were taken");
}
