//! C14: a refusal says which field, what came and what is wanted, in 300 bytes, and never what came itself.

use session_todo::Dialect;
use session_todo_tests::arguments::calls;

use super::{after, random, result};

/// A word that no text of ours holds.
const CAME: &str = "QZX";

/// Arguments that are refused, and what the refusal names.
const REFUSED: [(&str, &str, &str); 30] = [
    ("todo_write", "", "arguments"),
    ("todo_write", "null", "arguments"),
    ("todo_write", "QZX", "arguments"),
    ("todo_write", "\"QZX\"", "arguments"),
    ("todo_write", "{}", "todos"),
    ("todo_write", r#"{"QZX":[{"content":"QZX"}]}"#, "todos"),
    ("todo_write", r#"{"todos":null}"#, "todos"),
    ("todo_write", r#"{"todos":"QZX"}"#, "arguments"),
    ("todo_write", r#"{"todos":""}"#, "todos"),
    ("todo_write", r#"{"todos":42}"#, "todos"),
    ("todo_write", r#"{"todos":true}"#, "todos"),
    ("todo_write", r#"{"todos":{"QZX":1}}"#, "todos"),
    ("todo_write", r#"{"plan":7}"#, "plan"),
    ("todo_write", r#"{"todos":[{"content":"a"},5]}"#, "todos[1]"),
    ("todo_write", r#"{"todos":[{"content":"a"},null]}"#, "todos[1]"),
    ("todo_write", r#"{"todos":[{"content":"a"},{"content":["QZX"]}]}"#, "todos[1].content"),
    ("todo_write", r#"{"todos":[{"title":7}]}"#, "todos[0].title"),
    ("todo_write", r#"{"todos":[{"content":"a"},{"content":"b"},{"content":" "}]}"#, "todos[2]"),
    ("todo_write", r#"{"todos":[{"id":{"QZX":1},"content":"a"}]}"#, "todos[0].id"),
    ("todo_write", r#"{"todos":[{"id":1.5,"content":"a"}]}"#, "todos[0].id"),
    ("todo_write", r#"{"todos":[{"content":"a","status":"QZX"}]}"#, "todos[0].status"),
    ("todo_write", r#"{"todos":[{"content":"a","status":["QZX"]}]}"#, "todos[0].status"),
    ("todo_write", r#"{"todos":[{"content":"QZX"#, "arguments"),
    ("todo_write", r#"{"todos":[{"content":"QZX"}]} {"todos":[]}"#, "arguments"),
    ("TaskCreate", r#"{"description":"QZX"}"#, "subject"),
    ("TaskCreate", r#"{"subject":["QZX"],"description":"QZX"}"#, "subject"),
    ("TaskUpdate", r#"{"status":"completed","QZX":1}"#, "taskid"),
    ("TaskUpdate", r#"{"taskid":"QZX","status":"completed"}"#, "id"),
    ("TaskUpdate", r#"{"taskid":"1"}"#, "field"),
    ("TaskGet", r#"["QZX"]"#, "arguments"),
];

#[test]
fn c14_a_refusal_names_the_field_and_repeats_nothing() {
    for (name, arguments, field) in REFUSED {
        let mut session = after(&[("todo_write", r#"{"todos":[{"content":"One"}]}"#)]);
        let before = session.state().list().clone();
        let refused = result(&mut session, name, arguments);
        assert!(refused.is_error, "{name} {arguments} is taken: {}", refused.text);
        assert!(refused.text.contains(field), "{name} {arguments}: no {field} in {}", refused.text);
        assert!(!refused.text.contains(CAME), "{name} {arguments}: {}", refused.text);
        assert!(refused.text.len() <= 300, "{} bytes: {}", refused.text.len(), refused.text);
        assert_eq!(session.state().list(), &before, "L8: {name} {arguments}");
    }
}

/// C7: the words that there are stand in the refusal of one that is not.
#[test]
fn c7_an_unknown_status_names_the_words() {
    let mut session = after(&[]);
    let refused = result(&mut session, "todo_write", r#"{"todos":[{"content":"a","status":"later"}]}"#);
    for word in ["todos[0]", "pending", "in_progress", "blocked", "completed", "cancelled"] {
        assert!(refused.text.contains(word), "{word}: {}", refused.text);
    }
}

/// L10: each limit by its name and what came; nothing is cut.
#[test]
fn l10_a_refusal_for_size_has_limit_and_value() {
    let items = |n: usize, item: &str| format!(r#"{{"todos":[{}]}}"#, vec![item; n].join(","));
    let of = |key: &str, bytes: usize| format!(r#"{{"content":"a","{key}":"{}"}}"#, "x".repeat(bytes));
    let extras: Vec<String> = (0..33).map(|n| format!("\"k{n}\":{n}")).collect();
    for (arguments, what, value) in [
        (items(257, r#"{"content":"a"}"#), "items", "257"),
        (items(1, &format!(r#"{{"content":"{}"}}"#, "x".repeat(4097))), "bytes of a content", "4097"),
        (items(1, &of("description", 16_385)), "bytes of a description", "16385"),
        (items(1, &of("id", 129)), "bytes of an id", "129"),
        (items(1, &format!(r#"{{"content":"a",{}}}"#, extras.join(","))), "extra keys", "33"),
        (items(1, &of("note", 8187)), "bytes of an item's extra keys", "8193"),
        (items(5, &format!(r#"{{"content":"{}"}}"#, "x".repeat(4000))), "bytes of all ids and contents", "20005"),
        (format!("{}{}", items(1, r#"{"content":"a"}"#), " ".repeat(524_288)), "bytes of arguments", "524315"),
    ] {
        let mut session = after(&[]);
        let refused = result(&mut session, "todo_write", &arguments);
        assert!(refused.is_error && refused.text.contains(what) && refused.text.contains(value), "{}", refused.text);
        assert!(refused.text.len() <= 300 && session.list().items().is_empty());
    }
}

#[test]
fn c14_every_refusal_is_short() {
    random(2000, |c| {
        let (name, arguments) = calls::any(c);
        let mut session = after(&[("todo_write", r#"{"todos":[{"content":"One"}]}"#)]);
        let result = result(&mut session, &name, &arguments);
        let long = result.is_error && result.text.len() > 300;
        if long { Err(format!("{name} {arguments}: {}", result.text)) } else { Ok(()) }
    });
}

/// What was mended is said under a refusal too, and counts.
#[test]
fn c14_a_refusal_of_a_mended_call_is_short() {
    let items: Vec<String> = (100..200).map(|id| format!(r#"{{"id":"{id}","content":"Step {id}"}}"#)).collect();
    let mut session = after(&[("todo_write", &format!(r#"{{"todos":[{}]}}"#, items.join(",")))]);
    let call = "Sure: {'task': {'taskid': '7', 'status': 'done'}}";
    let text = result(&mut session, "TaskUpdate", call).text;
    assert!(text.len() <= 300, "{} bytes: {text}", text.len());
}

/// Every tool's refusals of text that can't be read are within the bound, with their example.
#[test]
fn c14_every_tool_gives_an_example() {
    for tool in Dialect::ALL.into_iter().flat_map(Dialect::tools) {
        for arguments in ["{", "QZX", "7"] {
            let refused = result(&mut after(&[]), tool.name, arguments);
            let holds_example = refused.text.contains('{');
            assert!(refused.is_error && holds_example && refused.text.len() <= 300, "{}: {}", tool.name, refused.text);
        }
    }
}
