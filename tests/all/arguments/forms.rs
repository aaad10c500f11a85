//! Each change of C1 to C8 that keeps the information, alone and in pairs, gives the same list.

use serde_json::{Value, json};
use session_todo::{Dialect, Status};
use session_todo_tests::arguments::forms::{self, FORMS, Form};
use session_todo_tests::arguments::{Choices, Todo, todo};

use super::{after, random, result, same};

#[test]
fn each_form_alone_gives_the_same_list() {
    random(512, |c| {
        let list = todo::any(c);
        FORMS.iter().filter(|form| form.fits(&list)).try_for_each(|form| gives_the_same(&list, &[form]))
    });
}

#[test]
fn two_forms_together_give_the_same_list() {
    random(128, |c| {
        let list = todo::any(c);
        forms::pairs(&list).try_for_each(|pair| gives_the_same(&list, &pair))
    });
}

fn gives_the_same(list: &[Todo], forms: &[&Form]) -> Result<(), String> {
    let names: Vec<&str> = forms.iter().map(|form| form.name).collect();
    same("todo_write", &todo::canonical(list), &forms::call(list, forms), &names.join(" + "))
}

/// No form is idle: each fits some list of the generator and changes the text of its call.
#[test]
fn every_form_is_met() {
    let mut idle: Vec<&str> = FORMS.iter().map(|form| form.name).collect();
    let bytes: Vec<u8> = (0..=255).cycle().step_by(7).take(40_000).collect();
    for bytes in bytes.chunks(97) {
        let list = todo::any(&mut Choices::new(bytes));
        let fits = |name: &&str| {
            FORMS.iter().any(|form| {
                form.name == *name && form.fits(&list) && forms::call(&list, &[form]) != todo::canonical(&list)
            })
        };
        idle.retain(|name| !fits(name));
    }
    assert!(idle.is_empty(), "no list fits: {idle:?}");
}

/// The same of the Task family, whose call is one object.
#[test]
fn task_tools_read_each_form() {
    random(256, |c| {
        let (subject, description) = (c.text(), c.text());
        let create = json!({"subject": subject, "description": description});
        let update = json!({"taskid": "1", "status": "completed", "subject": subject, "owner": "me"});
        let calls = [("TaskCreate", create), ("TaskUpdate", update)];
        calls.iter().try_for_each(|(name, call)| FORMS.iter().try_for_each(|form| task_is_same(name, call, form)))
    });
}

fn task_is_same(name: &str, call: &Value, form: &Form) -> Result<(), String> {
    let list = |arguments: &str| {
        let mut session = after(&[("todo_write", r#"{"todos":[{"content":"One"}]}"#)]);
        let result = result(&mut session, name, arguments);
        if result.is_error { Err(result.text) } else { Ok(todo::seen(session.list())) }
    };
    let (plain, other) = (call.to_string(), forms::task_call(call, &[form]));
    let (want, got) = (list(&plain), list(&other));
    if want == got { Ok(()) } else { Err(format!("{}\n{plain}\n{other}\nwant {want:?}\ngot  {got:?}", form.name)) }
}

/// C6, C4: the keys of the Task family, which ranks them otherwise than a list does.
#[test]
fn task_tools_read_every_key() {
    for (arguments, content, description) in [
        (r#"{"title":"A","description":"B"}"#, "A", Some("B")),
        (r#"{"name":"A","details":"B"}"#, "A", Some("B")),
        (r#"{"task":"A","text":"B"}"#, "A", Some("B")),
        (r#"{"subject":"A","content":"B"}"#, "A", Some("B")),
        (r#"{"content":"A","description":"B"}"#, "A", Some("B")),
        (r#"{"text":"A"}"#, "A", None),
        (r#"{"task":{"subject":"A","description":"B"}}"#, "A", Some("B")),
    ] {
        let session = after(&[("TaskCreate", arguments)]);
        let item = &session.list().items()[0];
        assert_eq!((&*item.content, item.description.as_deref()), (content, description), "{arguments}");
    }
}

/// C7: every spelling of every status, as it is and with capitals, spaces and dashes.
#[test]
fn every_status_word_is_read() {
    const WORDS: [(Status, &str); 5] = [
        (Status::Pending, "pending todo to_do not_started open new queued"),
        (Status::InProgress, "in_progress inprogress doing active started current wip"),
        (Status::Completed, "completed complete done finished closed x"),
        (Status::Cancelled, "cancelled canceled skipped wont_do dropped"),
        (Status::Blocked, "blocked failed error on_hold"),
    ];
    for (status, words) in WORDS {
        for word in words.split(' ') {
            for word in
                [word.to_owned(), word.replace('_', "-"), format!(" {} ", word.replace('_', " ").to_uppercase())]
            {
                let arguments = json!({"todos": [{"content": "A", "status": word}]}).to_string();
                assert_eq!(after(&[("todo_write", &arguments)]).list().items()[0].status, status, "{word:?}");
            }
        }
    }
}

/// L3: every spelling of a tool is read, also behind an MCP server's name; a plain prefix is for our own.
#[test]
fn every_name_is_read() {
    for tool in Dialect::ALL.into_iter().flat_map(Dialect::tools) {
        for name in [tool.name.to_owned(), format!("mcp__plan__{}", tool.name), format!("mcp__a_b__{}", tool.name)] {
            assert!(session_todo::Tool::named(&name).is_some(), "{name}");
        }
        let ours = ["todo_write", "TaskCreate", "TaskUpdate", "TaskGet", "TaskList"].contains(&tool.name);
        let name = format!("plan_{}", tool.name);
        assert_eq!(session_todo::Tool::named(&name).is_some(), ours, "{name}");
    }
    for name in ["fetch_todos", "_todo_write", "todo_write_", "Todo_Write", ""] {
        assert_eq!(session_todo::Tool::named(name), None, "{name}");
    }
}
