//! C12: a call that is cut anywhere is refused or is a complete value, never a shorter list. L8: what is
//! refused leaves the list alone.

use session_todo::Session;
use session_todo_tests::arguments::{forms, forms::FORMS, todo};

use super::{after, random, result};

const BEFORE: [(&str, &str); 1] =
    [("todo_write", r#"{"todos":[{"id":"7","content":"Old"},{"id":"8","content":"Older"}]}"#)];

/// One call of each shape that a model writes: names, and the call whole.
const CALLS: [(&str, &str); 19] = [
    (
        "todo_write",
        r#"{"todos":[{"id":"1","content":"a \"b\" \\ \u00e9 \ud83d\ude00","status":"done"},{"content":"c","n":[1.5e3,{"k":null}]}]}"#,
    ),
    ("todo_write", r#"{ "todos" : [ { "content" : "a" , "done" : true } , { "content" : "b" , "done" : false } ] } "#),
    ("todo_write", r#"{"todos":"[{\"content\":\"a\"},{\"content\":\"b\"}]"}"#),
    ("todo_write", r#""{\"todos\":[{\"content\":\"a\"},{\"content\":\"b\"}]}""#),
    ("todo_write", r#"{"todos":["{\"content\":\"a\"}","{\"content\":\"b\"}"]}"#),
    ("todo_write", r#"{"todos":"- [x] a\n- [ ] b\n- [-] c"}"#),
    ("todo_write", r"{'todos': [{'content': 'it\'s', 'done': True, 'x': None}, {'content': 'b\x41\u0041\U0001F600'}]}"),
    ("todo_write", "{'todos': ({'content': 'a'}, {'content': 'b',},), }  # and so on"),
    ("todo_write", "// plan\n{todos: [{content: 'a', n: 12}, /* more */ {content: \"b\", m: undefined},],}"),
    ("todo_write", "```json\n{\"todos\":[{\"content\":\"a\"},{\"content\":\"b\"}]}\n```"),
    ("todo_write", "Here it is: {\"todos\":[{\"content\":\"a\"},{\"content\":\"b\"}]}\nThat's all."),
    ("todo_write", "{\"todos\":[{\"content\":\"a\"},{\"content\":\"b\"}]}</parameter></invoke>"),
    ("todo_write", r#"[{"content":"a"},{"content":"b"}]"#),
    (
        "update_plan",
        r#"{"explanation":"why","plan":[{"step":"a","status":"completed"},{"step":"b","status":"pending"}]}"#,
    ),
    (
        "manage_todo_list",
        r#"{"operation":"write","todoList":[{"id":1,"title":"a","status":"not-started"},{"id":23,"title":"b","status":"completed"}]}"#,
    ),
    ("task_tracker", r#"{"command":"plan","task_list":[{"title":"a","status":"todo"},{"title":"b"}]}"#),
    ("update_todo_list", r#"{"todos":"[x] a\n[ ] b"}"#),
    ("TaskCreate", r#"{"subject":"a","description":"b","status":"in_progress"}"#),
    ("TaskUpdate", r#"{"taskId":"7","status":"completed","subject":"new"}"#),
];

#[test]
fn c12_a_cut_call_is_refused_or_whole() {
    for (name, call) in CALLS {
        whole_or_refused(name, call).unwrap();
    }
}

#[test]
fn c12_a_cut_list_in_any_form_is_refused_or_whole() {
    random(128, |c| {
        let list = todo::any(c);
        let fitting: Vec<_> = FORMS.iter().filter(|form| form.fits(&list)).collect();
        whole_or_refused("todo_write", &forms::call(&list, &[c.of(&fitting)]))
    });
}

fn whole_or_refused(name: &str, call: &str) -> Result<(), String> {
    let mut whole = after(&BEFORE);
    let accepted = result(&mut whole, name, call);
    if accepted.is_error {
        return Err(format!("{name} {call}: {}", accepted.text));
    }
    let before = after(&BEFORE);
    for at in (0..call.len()).filter(|&at| call.is_char_boundary(at)) {
        let mut session = before.clone();
        let cut = &call[..at];
        let refused = result(&mut session, name, cut).is_error;
        // Nothing at all reads, where the schema of the tool says so.
        let untouched = refused || cut.trim().is_empty();
        if untouched { is_untouched(&before, &session) } else { is_same(&whole, &session) }
            .map_err(|differs| format!("{name} {cut}\n{differs}"))?;
    }
    Ok(())
}

fn is_untouched(before: &Session, after: &Session) -> Result<(), String> {
    if before.state().list() == after.state().list() { Ok(()) } else { Err("refused, but the list is another".into()) }
}

fn is_same(whole: &Session, cut: &Session) -> Result<(), String> {
    let (whole, cut) = (whole.list().items(), cut.list().items());
    if whole == cut { Ok(()) } else { Err(format!("read as {cut:?}\nand the whole as {whole:?}")) }
}
