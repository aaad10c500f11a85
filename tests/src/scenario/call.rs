//! Lines that are a call of a tool: `[sub|user] [ran|failed] write|create|update|get|list|foreign|call …`.

use session_todo::{Call, Caller, Event, Outcome};

use super::line::split_word;

const BOXES: [(&str, &str); 6] = [
    ("[ ]", "pending"),
    ("[>]", "in_progress"),
    ("[!]", "blocked"),
    ("[x]", "completed"),
    ("[-]", "cancelled"),
    ("[deleted]", "deleted"),
];

pub(super) fn read(line: &str) -> Result<Event<'static>, String> {
    let mut rest = line;
    let by = match take(&mut rest, &["sub", "user", "record"]) {
        Some("sub") => Caller::Sub,
        Some("user") => Caller::User,
        Some(_) => Caller::Record,
        None => Caller::Main,
    };
    let outcome = take(&mut rest, &["ran", "failed", "call"]);
    let id = if outcome == Some("ran") { take_id(&mut rest) } else { None };
    let (name, arguments) = match short(rest)? {
        Some(long) => long,
        None if outcome.is_some() || by == Caller::Record => written_out(rest),
        None => return Err(format!("`{line}` is no event; see tests/scenarios/README.md")),
    };
    let outcome = match outcome {
        Some("ran") => Outcome::Ran { id: id.map(Into::into) },
        Some("failed") => Outcome::Failed,
        _ => Outcome::Ours,
    };
    Ok(Event::ToolCalled(Call { by, name: name.into(), arguments: arguments.into(), outcome }))
}

/// A call of a tool that is not the list's.
pub(super) fn foreign(name: &str) -> Event<'static> {
    let name = name.to_owned().into();
    Event::ToolCalled(Call { by: Caller::Main, name, arguments: "".into(), outcome: Outcome::Ours })
}

fn take<'a>(rest: &mut &'a str, words: &[&str]) -> Option<&'a str> {
    let (word, after) = split_word(rest);
    let found = words.contains(&word);
    if found {
        *rest = after;
    }
    found.then_some(word)
}

/// ` = 7` at the end: the id that the other tool gave.
fn take_id(rest: &mut &str) -> Option<String> {
    let (before, id) = rest.rsplit_once(" = ")?;
    if id.contains(['"', '}']) {
        return None;
    }
    *rest = before;
    Some(id.to_owned())
}

fn written_out(rest: &str) -> (String, String) {
    let (name, arguments) = split_word(rest);
    (name.to_owned(), arguments.to_owned())
}

/// The short forms, as name and arguments.
fn short(rest: &str) -> Result<Option<(String, String)>, String> {
    let (word, rest) = split_word(rest);
    let (name, arguments) = match word {
        "write" => ("todo_write", format!("{{\"todos\":[{}]}}", items(rest)?)),
        "create" => ("TaskCreate", format!("{{\"subject\":{}}}", json(rest))),
        "update" => ("TaskUpdate", update(rest)),
        "get" => ("TaskGet", format!("{{\"taskid\":{}}}", json(rest))),
        "list" => ("TaskList", "{}".to_owned()),
        "foreign" => (rest, String::new()),
        _ => return Ok(None),
    };
    Ok(Some((name.to_owned(), arguments)))
}

fn update(rest: &str) -> String {
    let (id, status) = split_word(rest);
    let status = if status.is_empty() { String::new() } else { format!(",\"status\":{}", json(status)) };
    format!("{{\"taskid\":{}{status}}}", json(id))
}

fn items(text: &str) -> Result<String, String> {
    let mut items = Vec::new();
    for part in text.split(", ").filter(|part| *part != "nothing") {
        match many(part) {
            Some((content, count)) => {
                items.extend((1..=count).map(|n| format!("{{\"content\":{}}}", json(&format!("{content} {n}")))));
            }
            None => items.push(item(part)?),
        }
    }
    Ok(items.join(","))
}

/// `Step x60`: sixty items, `Step 1` to `Step 60`.
fn many(part: &str) -> Option<(&str, usize)> {
    let (content, count) = part.rsplit_once(" x")?;
    Some((content, count.parse().ok()?))
}

/// `#7 [x] Content`, where only one of the three has to be there.
fn item(part: &str) -> Result<String, String> {
    let mut fields = Vec::new();
    let mut rest = part.trim();
    if let Some(after) = rest.strip_prefix('#') {
        let (id, after) = split_word(after);
        fields.push(format!("\"id\":{}", json(id)));
        rest = after;
    }
    let status = BOXES.iter().find(|(sign, _)| rest.starts_with(sign));
    if rest.starts_with('[') && status.is_none() {
        return Err(format!("`{rest}` begins with none of: {}", BOXES.map(|(sign, _)| sign).join(" ")));
    }
    rest = status.map_or(rest, |(sign, _)| rest[sign.len()..].trim());
    if !rest.is_empty() {
        fields.push(format!("\"content\":{}", json(rest)));
    }
    fields.extend(status.map(|(_, status)| format!("\"status\":\"{status}\"")));
    if fields.is_empty() {
        Err("an item without a content".to_owned())
    } else {
        Ok(format!("{{{}}}", fields.join(",")))
    }
}

fn json(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}
