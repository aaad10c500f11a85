//! T5: what a model resubmits is what it was shown. The list of a result, of a reminder that lists
//! everything and of a snapshot, given back, changes nothing.

use serde_json::{Value, json};
use session_todo::policy::{Carry, Clock, Listing};
use session_todo::{Agent, Effect, Event, Policy, Session, Status};
use session_todo_tests::arguments::{Choices, Todo, todo};

use super::{called, random, result};

/// Says the whole list with every request, and carries all of it over a compaction.
fn policy() -> Policy {
    Policy { clock: Clock::EveryRequest, listing: Listing::All, carry: Carry::All, ..Policy::DEFAULT }
}

/// A session with a random list, and what the call showed. No content ends in a space: see below.
fn shown(policy: Policy, name: &str, key: &str, c: &mut Choices<'_>) -> Option<(Session, String)> {
    let mut list = todo::any(c);
    for todo in &mut list {
        todo.content.push(')');
    }
    shown_list(policy, name, key, &list)
}

fn shown_list(policy: Policy, name: &str, key: &str, list: &[Todo]) -> Option<(Session, String)> {
    let list: Value = list.iter().map(|todo| Value::Object(todo.to_json())).collect();
    let mut session = Session::new(policy);
    let result = result(&mut session, name, &json!({ key: list }).to_string());
    (!result.is_error).then_some((session, result.text))
}

/// The items of lines as `- #id [status] content`.
fn lines(text: &str) -> Vec<Value> {
    let item = |line: &str| {
        let (id, rest) = line.strip_prefix("- #")?.split_once(" [")?;
        let (status, content) = rest.split_once("] ")?;
        Some(json!({"id": id, "status": status, "content": content}))
    };
    text.lines().filter_map(item).collect()
}

fn changes_nothing(session: &Session, name: &str, arguments: &Value) -> Result<(), String> {
    let (mut after, arguments) = (session.clone(), arguments.to_string());
    let result = result(&mut after, name, &arguments);
    let (before, after) = (session.list().items(), after.list().items());
    if before != after {
        return Err(format!("{name} {arguments}\nbefore {before:?}\nafter  {after:?}\n{}", result.text));
    }
    let told = result.text.starts_with("Nothing changed.") && !result.is_error;
    if told { Ok(()) } else { Err(format!("{name} {arguments}\n{}", result.text)) }
}

#[test]
fn t5_the_list_of_a_result_comes_back() {
    for (name, key) in [("todo_write", "todos"), ("TodoWrite", "todos"), ("update_plan", "plan")] {
        random(512, |c| {
            let Some((session, text)) = shown(policy(), name, key, c) else { return Ok(()) };
            changes_nothing(&session, name, &json!({ key: lines(&text) }))
        });
    }
}

/// In the words of the product whose tool it is.
#[test]
fn t5_the_list_of_a_worded_result_comes_back() {
    for (name, key) in [("manage_todo_list", "todoList"), ("SetTodoList", "todos"), ("task_tracker", "task_list")] {
        random(256, |c| {
            let command = if name == "task_tracker" { "plan" } else { "write" };
            let Some((session, text)) = shown(policy(), name, key, c) else { return Ok(()) };
            changes_nothing(&session, name, &json!({ key: lines(&text), "command": command }))
        });
    }
}

/// The spaces at the end of a content are lost on the way to the model and back.
#[test]
fn t5_a_content_with_spaces_at_its_edges_comes_back() {
    for content in ["Plan ", "Plan\n", " Plan", "Plan \u{0}", "Plan\u{3000}"] {
        let list = [Todo::new(content, Status::Pending)];
        let (session, text) = shown_list(policy(), "todo_write", "todos", &list).unwrap();
        changes_nothing(&session, "todo_write", &json!({ "todos": lines(&text) })).unwrap();
        let (session, text) = shown_list(policy(), "update_todo_list", "todos", &list).unwrap();
        let boxes: Vec<&str> = text.lines().filter(|line| line.starts_with("- [")).collect();
        changes_nothing(&session, "update_todo_list", &json!({ "todos": boxes.join("\n") })).unwrap();
    }
}

/// A content that is itself a checklist on one line (C5) is none that a checklist could carry.
fn has_written_breaks(session: &Session) -> bool {
    session.list().items().iter().any(|item| item.content.contains("\\n"))
}

/// A checklist carries no ids: L6 finds the items by what was shown.
#[test]
fn t5_the_checklist_of_a_result_comes_back() {
    random(512, |c| {
        let Some((session, text)) = shown(policy(), "update_todo_list", "todos", c) else { return Ok(()) };
        if has_written_breaks(&session) {
            return Ok(());
        }
        let boxes: Vec<&str> = text.lines().filter(|line| line.starts_with("- [")).collect();
        changes_nothing(&session, "update_todo_list", &json!({ "todos": boxes.join("\n") }))
    });
}

#[test]
fn t5_the_boxes_of_a_result_come_back() {
    random(512, |c| {
        let policy = Policy { several_in_progress: session_todo::policy::Several::Allow, ..Policy::TODO_ROUNDS };
        let Some((session, text)) = shown(policy, "todo_write", "todos", c) else { return Ok(()) };
        let boxes: Vec<&str> = text.lines().filter(|line| line.starts_with('[')).collect();
        let items: Vec<Value> = boxes.iter().map(|line| boxed(line)).collect();
        changes_nothing(&session, "todo_write", &json!({ "todos": items }))?;
        if has_written_breaks(&session) {
            return Ok(());
        }
        changes_nothing(&session, "todo_write", &json!({ "todos": boxes.join("\n") }))
    });
}

fn boxed(line: &str) -> Value {
    let (sign, content) = line[1..].split_once("] ").unwrap();
    let status = match sign {
        " " => "pending",
        ">" => "in_progress",
        "x" => "completed",
        word => word,
    };
    json!({"content": content, "status": status})
}

/// Open items stand first in a reminder; given back in that order, that order is the list's (L1), and
/// nothing else of it is another.
#[test]
fn t5_the_list_of_a_reminder_comes_back() {
    random(512, |c| {
        let Some((mut session, _)) = shown(policy(), "todo_write", "todos", c) else { return Ok(()) };
        let Some(Effect::AppendSystemReminder(reminder)) = session.step(&Event::RequestSent { by: Agent::Main }) else {
            return if session.list().items().iter().any(|item| is_movable(item.status)) {
                Err("no reminder".into())
            } else {
                Ok(())
            };
        };
        let arguments = json!({ "todos": lines(&reminder.text) });
        if session.list().items().is_sorted_by_key(|item| !item.status.is_open()) {
            return changes_nothing(&session, "todo_write", &arguments);
        }
        let mut after = session.clone();
        let _ = after.apply(&called("todo_write", &arguments.to_string()));
        let sorted = |session: &Session| {
            let mut items = session.list().items().to_vec();
            items.sort_by(|a, b| a.id.cmp(&b.id));
            items
        };
        if sorted(&session) == sorted(&after) { Ok(()) } else { Err(format!("{arguments}\n{:?}", after.list())) }
    });
}

const fn is_movable(status: Status) -> bool {
    matches!(status, Status::Pending | Status::InProgress)
}

#[test]
fn t5_the_block_of_a_snapshot_comes_back() {
    random(512, |c| {
        let Some((mut session, _)) = shown(policy(), "todo_write", "todos", c) else { return Ok(()) };
        let open = session.list().open().count();
        match session.step(&Event::Compacted) {
            Some(Effect::InjectCompactSnapshot(snapshot)) => {
                let block = snapshot.text.split_once("```json\n").unwrap().1.split_once("\n```").unwrap().0;
                changes_nothing(&session, "todo_write", &serde_json::from_str(block).unwrap())
            }
            _ if open == 0 => Ok(()),
            other => Err(format!("{other:?}")),
        }
    });
}
