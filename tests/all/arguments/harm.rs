//! Repairs that would do silent harm: what a review and the fuzzer found, a row each.

use session_todo::{Policy, Session};

use super::{result, todo_items};

/// What comes of a call on a list that holds `kept`, pending.
enum Then {
    /// It is refused, and the list is as it was.
    Refused,
    /// It reads, and the list is as it was.
    Read,
    /// The list is this: status and content.
    List(&'static [(&'static str, &'static str)]),
}

const ROWS: &[(&str, &str, &str, Then)] = &[
    (
        "C1: boxes inside a quoted list are text",
        "todo_write",
        r#"{"todos":"[{\"content\":\"Fix\",\"status\":\"completed\",\"description\":\"a\\n- [ ] one\\n- [x] two\"},{\"content\":\"B\"}]"}"#,
        Then::List(&[("completed", "Fix"), ("pending", "B")]),
    ),
    ("C11: a view never clears", "task_tracker", r#"{"task_list":[]}"#, Then::Read),
    ("C11: however it is written", "task_tracker", r#"{"command":" VIEW","task_list":[]}"#, Then::Read),
    ("C11: a read never clears", "manage_todo_list", r#"{"operation":"Read","todoList":[]}"#, Then::Read),
    ("C11: another word is no command", "manage_todo_list", r#"{"operation":"list","todoList":[]}"#, Then::Refused),
    ("C11: plan without a list", "task_tracker", r#"{"command":"plan"}"#, Then::Refused),
    (
        "C1: an element in JSON with space in it",
        "todo_write",
        r#"{"todos":["{ \"content\": \"a\", \"status\": \"completed\" }"]}"#,
        Then::List(&[("completed", "a")]),
    ),
    (
        "C1: an element quoted twice",
        "todo_write",
        r#"{"todos":["\"{\\\"content\\\":\\\"a\\\",\\\"status\\\":\\\"completed\\\"}\""]}"#,
        Then::List(&[("completed", "a")]),
    ),
    (
        "C4: a list with a name is not one item",
        "todo_write",
        r#"{"todos":{"title":"Plan","todos":[{"content":"a"},{"content":"b"}]}}"#,
        Then::Refused,
    ),
    (
        "C4: a list among other keys is the list",
        "todo_write",
        r#"{"todos":{"todos":[{"content":"a"}],"count":1}}"#,
        Then::List(&[("pending", "a")]),
    ),
    (
        "C5: words and markup around a checklist are no items",
        "todo_write",
        r#"{"todos":"My plan:\n- [ ] a\n- [x] b\n</parameter>"}"#,
        Then::List(&[("pending", "a"), ("completed", "b")]),
    ),
    ("C7: a sign that is no status", "todo_write", r#"{"todos":"- [ ] a\n- [!] b"}"#, Then::Refused),
    (
        "C7: words in a box",
        "todo_write",
        r#"{"todos":"- [ ] a\n- [done] b\n- [ x ] c\n- [x]d"}"#,
        Then::List(&[("pending", "a"), ("completed", "b"), ("completed", "c"), ("completed", "d")]),
    ),
    ("C13: a box without a text", "todo_write", r#"{"todos":"- [ ] a\n- [ ] "}"#, Then::Refused),
    (
        "C13: a box with nothing that can be seen",
        "todo_write",
        "{\"todos\":\"- [x] a\\n- [ ] \u{200b}\"}",
        Then::Refused,
    ),
    ("C11: a list under another key is no read", "SetTodoList", r#"{"list_of_todos":[{"title":"a"}]}"#, Then::Refused),
    ("C11: words about an empty list", "todo_write", r#"I could send {"todos":[]} but I will not."#, Then::Refused),
    ("C11: an empty list beside another", "todo_write", r#"{"todos":[],"items":[{"content":"a"}]}"#, Then::Refused),
    ("C2: closing markup behind an empty list", "todo_write", r#"{"todos":[]}</parameter>"#, Then::List(&[])),
    ("L2: a new task has no id of its own", "TaskCreate", "{'subject':'a','description':'d','id':'7'}", {
        Then::List(&[("pending", "kept"), ("pending", "a")])
    }),
];

#[test]
fn no_repair_does_silent_harm() {
    for (rule, name, arguments, then) in ROWS {
        let mut session = Session::new(Policy::DEFAULT);
        let _ = result(&mut session, "todo_write", r#"{"todos":[{"content":"kept","status":"pending"}]}"#);
        let answer = result(&mut session, name, arguments);
        let (is_error, list) = match then {
            Then::Refused => (true, &[("pending", "kept")][..]),
            Then::Read => (false, &[("pending", "kept")][..]),
            Then::List(list) => (false, *list),
        };
        assert_eq!(answer.is_error, is_error, "{rule}: {}", answer.text);
        assert_eq!(todo_items(&session), list, "{rule}: {}", answer.text);
    }
}
