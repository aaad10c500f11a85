//! Effects and lists as lines.

use serde_json::Value;
use session_todo::{Caller, Effect, Event, Item, List, Policy, Reminder, ToolDef, ToolResult};

use super::policy::LANES;

pub(super) fn effect(effect: &Effect, event: &Event<'_>, policy: &Policy) -> String {
    match effect {
        Effect::ReturnToolResult(result) => format!("{}{}", who(event), answer(result)),
        Effect::AppendSystemReminder(reminder) => carried(reminder, policy),
        Effect::InjectCompactSnapshot(snapshot) => format!("snapshot {}", amount(snapshot.items)),
    }
}

fn who(event: &Event<'_>) -> &'static str {
    let Event::ToolCalled(call) = event else { return "" };
    match call.by {
        Caller::Main => "",
        Caller::Sub => "sub ",
        Caller::User => "user ",
        Caller::Record => "record ",
    }
}

fn answer(result: &ToolResult) -> String {
    if !result.is_error {
        return "result ok".to_owned();
    }
    format!("result error: {}", result.text.lines().next().unwrap_or_default())
}

fn carried(reminder: &Reminder, policy: &Policy) -> String {
    let says = |words: &str| reminder.text.contains(words);
    let parts = [
        ("note", says(&policy.words.edited)),
        ("resume-note", says(&policy.words.unfinished)),
        ("reminder", reminder.items.is_some()),
    ];
    let parts: Vec<&str> = parts.into_iter().filter(|(_, is_there)| *is_there).map(|(name, _)| name).collect();
    let lane = LANES.iter().find(|(_, lane)| *lane == reminder.lane).map_or("", |(name, _)| name);
    let items = reminder.items.map_or_else(String::new, |items| format!(" {}", amount(items)));
    format!("{} {lane}{items}", parts.join("+"))
}

fn amount(items: usize) -> String {
    format!("{items} item{}", if items == 1 { "" } else { "s" })
}

pub(super) fn words(effect: &Effect) -> &str {
    match effect {
        Effect::ReturnToolResult(result) => &result.text,
        Effect::AppendSystemReminder(reminder) => &reminder.text,
        Effect::InjectCompactSnapshot(snapshot) => &snapshot.text,
    }
}

pub(super) fn text(out: &mut Vec<String>, text: &str) {
    out.extend(text.lines().map(|line| format!("| {line}").trim_end().to_owned()));
}

pub(super) fn named(out: &mut Vec<String>, name: &str, words: Option<&str>) {
    match words.filter(|words| !words.is_empty()) {
        None => out.push(format!("{name} none")),
        Some(words) => {
            out.push(name.to_owned());
            text(out, words);
        }
    }
}

pub(super) fn reminders(numbers: &[u64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    if numbers.is_empty() { "reminders none".to_owned() } else { format!("reminders {}", numbers.join(" ")) }
}

pub(super) fn list(out: &mut Vec<String>, list: &List) {
    out.push(if list.items().is_empty() { "list empty" } else { "list" }.to_owned());
    out.extend(list.items().iter().map(item));
}

/// The raw text, where a character that can't be seen is written out.
fn item(item: &Item) -> String {
    let named = |(key, text): (&str, &str)| format!(" ({}: {})", visible(key), visible(text));
    let description = item.description.iter().map(|text| ("description", text.as_str()));
    let extras = item.extras.iter().map(|extra| (extra.key.as_str(), extra.json.as_str()));
    let more: String = description.chain(extras).map(named).collect();
    format!("  #{} [{}] {}{more}", item.id, item.status.as_str(), visible(&item.content))
}

fn visible(text: &str) -> String {
    text.chars().fold(String::new(), |mut out, c| {
        match c {
            '"' | '\'' | '\\' => out.push(c),
            _ => out.extend(c.escape_debug()),
        }
        out
    })
}

/// A tool's name with its keys: `?` after one that may be absent, and the words that one may be.
pub(super) fn tool(tool: &ToolDef) -> String {
    let schema: Value = serde_json::from_str(&tool.schema).unwrap();
    format!("tool {}{}", tool.name, keys(&schema))
}

fn keys(schema: &Value) -> String {
    let mut keys: Vec<String> = Vec::new();
    for (key, value) in schema["properties"].as_object().into_iter().flatten() {
        let required = schema["required"].as_array().is_some_and(|keys| keys.iter().any(|other| other == key));
        keys.push(format!(" {key}{}{}", if required { "" } else { "?" }, value_form(value)));
    }
    // Their order depends on a feature of `serde_json`.
    keys.sort();
    keys.concat()
}

fn value_form(value: &Value) -> String {
    if let Some(words) = value["enum"].as_array() {
        let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
        return format!("={}", words.join("|"));
    }
    if value["items"].is_object() { format!(" [{} ]", keys(&value["items"])) } else { String::new() }
}
