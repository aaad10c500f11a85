//! The changes of C1 to C8 that keep the information, each as a step from a list to the text of a call.

use serde_json::{Map, Value, json};
use session_todo::Status;

use super::literals;
use super::todo::Todo;

/// One way in which a call differs from canonical JSON.
pub struct Form {
    pub name: &'static str,
    /// Two of one group do not compose.
    group: &'static str,
    /// Whether the list has nothing that it would lose.
    fits: fn(&[Todo]) -> bool,
    make: Make,
}

/// What a form changes, in the order in which forms are applied.
enum Make {
    Item(fn(usize, &mut Map<String, Value>)),
    Element(fn(Value) -> Value),
    List(fn(Value) -> Value),
    Arguments(fn(Value) -> Value),
    Print(fn(&Value) -> String),
    Text(fn(&str) -> String),
}

impl Form {
    #[must_use]
    pub fn fits(&self, list: &[Todo]) -> bool {
        (self.fits)(list)
    }

    /// Whether both can be done to one call: not two of one group, and nothing to items that are texts.
    #[must_use]
    pub fn composes(&self, other: &Self) -> bool {
        let is_of = |form: &Self, groups: &[&str]| groups.contains(&form.group);
        let is_item = |form: &Self| matches!(form.make, Make::Item(_) | Make::Element(_));
        let clash = |one: &Self, other: &Self| {
            is_of(one, &["strings", "checklist"]) && (is_item(other) || is_of(other, &["single", "strings"]))
                || is_of(one, &["checklist"]) && is_of(other, &["wrapped"])
        };
        self.group != other.group && !clash(self, other) && !clash(other, self)
    }

    fn is_text(&self) -> bool {
        matches!(self.make, Make::Text(_))
    }
}

/// Every pair that composes and fits, and those that change the text alone in either order.
pub fn pairs(list: &[Todo]) -> impl Iterator<Item = [&'static Form; 2]> {
    let fitting: Vec<&Form> = FORMS.iter().filter(|form| form.fits(list)).collect();
    let pairs = fitting.clone().into_iter().enumerate().flat_map(move |(index, first)| {
        let rest = fitting.clone().into_iter().skip(index + 1);
        rest.filter(|second| first.composes(second)).map(move |second| [first, second])
    });
    pairs.flat_map(|[first, second]| {
        let turned = (first.is_text() && second.is_text()).then_some([second, first]);
        core::iter::once([first, second]).chain(turned)
    })
}

/// The call in these forms, which are of [`FORMS`] and in its order.
#[must_use]
pub fn call(list: &[Todo], forms: &[&Form]) -> String {
    let items = list.iter().enumerate().map(|(index, todo)| element(index, todo.to_json(), forms)).collect();
    let list = forms.iter().fold(items, |list, form| if let Make::List(make) = form.make { make(list) } else { list });
    let mut arguments = forms.iter().find_map(|form| match form.make {
        Make::Arguments(make) => Some(make),
        _ => None,
    });
    let arguments = arguments.get_or_insert(|list| json!({ "todos": list }))(list);
    let print = forms.iter().find_map(|form| if let Make::Print(print) = form.make { Some(print) } else { None });
    let text = print.map_or_else(|| arguments.to_string(), |print| print(&arguments));
    text_forms(text, forms)
}

/// A text in those of these forms that change no more than the text.
#[must_use]
pub fn text_forms(text: String, forms: &[&Form]) -> String {
    forms.iter().fold(text, |text, form| if let Make::Text(make) = form.make { make(&text) } else { text })
}

/// The arguments of a Task tool, in those of these forms that are not about a list.
#[must_use]
pub fn task_call(arguments: &Value, forms: &[&Form]) -> String {
    let print = forms.iter().find_map(|form| if let Make::Print(print) = form.make { Some(print) } else { None });
    text_forms(print.map_or_else(|| arguments.to_string(), |print| print(arguments)), forms)
}

fn element(index: usize, mut item: Map<String, Value>, forms: &[&Form]) -> Value {
    for form in forms {
        if let Make::Item(make) = form.make {
            make(index, &mut item);
        }
    }
    let make = |element, form: &&Form| if let Make::Element(make) = form.make { make(element) } else { element };
    forms.iter().fold(Value::Object(item), make)
}

const fn form(name: &'static str, group: &'static str, fits: fn(&[Todo]) -> bool, make: Make) -> Form {
    Form { name, group, fits, make }
}

/// Every form; those of one level in the order in which they are applied.
pub static FORMS: [Form; 44] = [
    form("C6 other keys for the content", "content", any, Make::Item(content_alias)),
    form("C6 later keys for the content", "content", without_description, Make::Item(later_alias)),
    form("C6 other keys for the id", "id key", with_ids, Make::Item(id_alias)),
    form("C8 ids as numbers", "id", with_ids, Make::Item(number_id)),
    form("C8 ids with #", "id", with_ids, Make::Item(hash_id)),
    form("C8 absent ids as null or blank", "id", without_ids, Make::Item(absent_id)),
    form("C7 status spellings", "status", any, Make::Item(status_spelling)),
    form("C7 status words in capitals", "status", any, Make::Item(status_capitals)),
    form("C6 booleans", "status", two_statuses, Make::Item(boolean)),
    form("C6 state", "state", any, Make::Item(|_, item| rename(item, "status", "state"))),
    form("C9 null in an optional field", "null", without_description, Make::Item(null_field)),
    form("C4 an item in a wrapper", "wrapped item", any, Make::Element(|item| json!({ "item": item }))),
    form("C4 an item in a task", "wrapped item", any, Make::Element(|item| json!({ "task": item }))),
    form("C1 elements as JSON strings", "quoted item", any, Make::Element(|item| item.to_string().into())),
    form("C3 elements as Python strings", "quoted item", any, Make::Element(|item| literals::python(&item).into())),
    form("C4 a single object", "single", |list| list.len() == 1, Make::List(|list| list[0].clone())),
    form("C4 a list of strings", "strings", contents_alone, Make::List(|list| texts(&list))),
    form("C5 a checklist", "checklist", boxes_do, Make::List(|list| boxes(&list, "- ", "\n").into())),
    form("C5 a checklist with stars", "checklist", boxes_do, Make::List(|list| boxes(&list, "* ", "\n").into())),
    form(
        "C5 a checklist with plus signs",
        "checklist",
        boxes_do,
        Make::List(|list| boxes(&list, "  + ", "\r\n").into()),
    ),
    form("C5 a numbered checklist", "checklist", boxes_do, Make::List(|list| boxes(&list, "1. ", "\n\n").into())),
    form("C5 a checklist of bare boxes", "checklist", boxes_do, Make::List(|list| boxes(&list, "", "\n").into())),
    form("C5 a checklist on one line", "checklist", escaped_do, Make::List(|list| boxes(&list, "- ", "\\n").into())),
    form("C4 todos in todos", "wrapped", any, Make::List(|list| json!({ "todos": list }))),
    form("C4 item in todos", "wrapped", any, Make::List(|list| json!({ "item": list }))),
    form("C4 a wrapper in a wrapper", "wrapped", any, Make::List(|list| json!({ "tasks": { "item": list } }))),
    form("C1 quoted once", "quoted", any, Make::List(|list| quote(&list, 1))),
    form("C1 quoted twice", "quoted", any, Make::List(|list| quote(&list, 2))),
    form("C1 quoted three deep", "quoted", any, Make::List(|list| quote(&list, if list.is_string() { 2 } else { 3 }))),
    form("C3 quoted as Python", "quoted", any, Make::List(|list| literals::python(&list).into())),
    form("C3 quoted as JavaScript", "quoted", any, Make::List(|list| literals::javascript(&list).into())),
    form("C6 todoList", "key", any, Make::Arguments(|list| json!({ "todoList": list, "merge": false }))),
    form("C6 items", "key", any, Make::Arguments(|list| json!({ "items": list }))),
    form("C6 plan", "key", any, Make::Arguments(|list| json!({ "explanation": "why", "plan": list }))),
    form("C3 Python", "print", any, Make::Print(literals::python)),
    form("C3 Python source", "print", any, Make::Print(literals::python_source)),
    form("C3 JavaScript", "print", any, Make::Print(literals::javascript)),
    form("C3 commas at the end", "print", any, Make::Print(literals::json_with_commas)),
    form("C1 the whole call quoted", "call", any, Make::Text(|text| json!(text).to_string())),
    form("C1 the whole call quoted three deep", "call", any, Make::Text(quote_call)),
    form("C2 closing markup", "markup", any, Make::Text(|text| format!("{text}\n</parameter></invoke>"))),
    form("C2 a fence", "fence", any, Make::Text(|text| format!("```json\n{text}\n```"))),
    form("C2 prose", "prose", any, Make::Text(|text| format!("I'll do this: {text}\nDone, \"so to say\".\n"))),
    form("C2 a byte-order mark", "mark", any, Make::Text(|text| format!("\u{feff} {text} \n"))),
];

const fn any(_: &[Todo]) -> bool {
    true
}

fn with_ids(list: &[Todo]) -> bool {
    list.iter().all(|todo| todo.id.is_some())
}

fn without_ids(list: &[Todo]) -> bool {
    list.iter().all(|todo| todo.id.is_none())
}

fn without_description(list: &[Todo]) -> bool {
    list.iter().all(|todo| todo.description.is_none())
}

fn two_statuses(list: &[Todo]) -> bool {
    list.iter().all(|todo| matches!(todo.status, Status::Pending | Status::Completed))
}

/// A string is read as an item in JSON, as a line with a box, or as a content: it must look like the last.
fn contents_alone(list: &[Todo]) -> bool {
    let plain = |content: &str| !content.trim_start().starts_with(['{', '[', '-', '*', '+', '1']);
    list.iter().all(|todo| todo.is_bare() && todo.status == Status::Pending && plain(&todo.content))
}

fn boxes_do(list: &[Todo]) -> bool {
    let line = |content: &str| content == content.trim() && !content.contains(['\n', '\r']);
    list.iter().all(|todo| todo.is_bare() && line(&todo.content) && !todo.content.contains("\\n"))
}

fn escaped_do(list: &[Todo]) -> bool {
    list.len() > 1 && boxes_do(list)
}

fn rename(item: &mut Map<String, Value>, from: &str, to: &str) {
    if let Some(value) = item.remove(from) {
        item.insert(to.into(), value);
    }
}

fn content_alias(index: usize, item: &mut Map<String, Value>) {
    rename(item, "content", ["title", "text", "task", "step"][index % 4]);
}

/// Keys that a description comes before.
fn later_alias(index: usize, item: &mut Map<String, Value>) {
    rename(item, "content", ["description", "subject", "name"][index % 3]);
}

fn id_alias(index: usize, item: &mut Map<String, Value>) {
    rename(item, "id", ["taskId", "taskid", "task_id", "todo_id"][index % 4]);
}

/// Numeric ids, under whichever key they are.
fn change_id(item: &mut Map<String, Value>, change: impl Fn(&str) -> Value) {
    for key in ["id", "taskId", "taskid", "task_id", "todo_id"] {
        if let Some(Value::String(id)) = item.get(key) {
            let changed = change(id);
            item.insert(key.into(), changed);
        }
    }
}

fn number_id(_: usize, item: &mut Map<String, Value>) {
    change_id(item, |id| id.parse::<u64>().map_or(json!(id), |number| json!(number)));
}

fn hash_id(_: usize, item: &mut Map<String, Value>) {
    change_id(item, |id| format!(" #{id} ").into());
}

fn absent_id(index: usize, item: &mut Map<String, Value>) {
    item.insert("id".into(), [Value::Null, json!(""), json!("  "), json!("#")][index % 4].clone());
}

fn null_field(_: usize, item: &mut Map<String, Value>) {
    for key in ["description", "priority"] {
        item.entry(key).or_insert(Value::Null);
    }
}

const SPELLINGS: [(&str, [&str; 3]); 5] = [
    ("pending", ["not-started", "To Do", "queued"]),
    ("in_progress", ["In Progress", "doing", "WIP"]),
    ("blocked", ["failed", "on hold", " Error "]),
    ("completed", ["Done", "x", "finished"]),
    ("cancelled", ["canceled", "wont do", "skipped"]),
];

fn status_spelling(index: usize, item: &mut Map<String, Value>) {
    let spelling = |status: &str| SPELLINGS.iter().find(|(word, _)| *word == status).map(|(_, words)| words[index % 3]);
    let word = item["status"].as_str().and_then(spelling);
    item["status"] = json!(word);
}

fn status_capitals(_: usize, item: &mut Map<String, Value>) {
    item["status"] =
        json!(format!(" {} ", item["status"].as_str().unwrap_or_default().to_uppercase().replace('_', "-")));
}

fn boolean(index: usize, item: &mut Map<String, Value>) {
    let done = item.remove("status") == Some(json!("completed"));
    item.insert(["done", "completed", "checked"][index % 3].into(), json!(done));
}

fn texts(list: &Value) -> Value {
    list.as_array().into_iter().flatten().map(|item| item["content"].clone()).collect()
}

/// The list as a checklist. Statuses without a sign are written out, as in our own answers.
fn boxes(list: &Value, bullet: &str, end: &str) -> String {
    let line = |item: &Value| {
        let status = item["status"].as_str().unwrap_or_default();
        let sign = match status {
            "pending" => " ",
            "in_progress" => "-",
            "completed" => "X",
            other => other,
        };
        format!("{bullet}[{sign}] {}", item["content"].as_str().unwrap_or_default())
    };
    list.as_array().into_iter().flatten().map(line).collect::<Vec<_>>().join(end)
}

fn quote(list: &Value, times: u8) -> Value {
    (0..times).fold(list.clone(), |value, _| Value::String(value.to_string()))
}

fn quote_call(text: &str) -> String {
    (0..3).fold(text.to_owned(), |text, _| json!(text).to_string())
}
