//! Lists that the client recorded (R8).

use session_todo::{List, Policy, Session};
use session_todo_transcript::{Family, Recorded, Verdict};

use crate::claude_log::{answer, call, other, prompt, record, result, result_of, status, sub_call, task, todos, told};

fn write(response: &str, id: &str, list: &str) -> String {
    call(response, id, "TodoWrite", &format!(r#"{{"todos":{list}}}"#))
}

fn tasks(list: &str) -> String {
    format!(r#"{{"tasks":{list}}}"#)
}

fn one_task(status: &str) -> String {
    format!(r#"[{{"id":"1","subject":"Look","status":"{status}","blockedBy":[]}}]"#)
}

#[test]
fn r8_a_recorded_list_is_told_where_it_stood() {
    let old = |list: &str| format!(r#"{{"oldTodos":{list},"newTodos":[]}}"#);
    let first = write("m1", "w1", &todos("Look", "pending")) + &result("w1", &old("[]"));
    let second = write("m2", "w2", &todos("Look", "completed")) + &result("w2", &old(&todos("Look", "pending")));
    let shown = |list: &str| prompt("go", &format!(r#","todos":{list}"#));
    let prompts = told(&[
        first.clone(),
        shown(&todos("Look", "pending")),
        second.clone(),
        shown(&todos("Look", "pending")),
        answer("m3"),
    ]);
    let expected = [
        "request",
        "recorded todos on 2 agree",
        "main TodoWrite Look ran",
        "recorded todos on 3 agree",
        "request",
        "recorded todos on 5 agree",
        "main TodoWrite Look ran",
        r#"recorded todos on 6 differ: "Look" is recorded as pending, replayed as completed"#,
        "request",
    ];
    assert_eq!(prompts.rows, expected);

    let kinds = [("task_reminder", "tasks"), ("todo_reminder", "todos")];
    for (kind, family) in kinds {
        let list = if family == "tasks" { one_task("pending") } else { todos("Look", "pending") };
        let reminder =
            other(&format!(r#""attachment":{{"type":"{kind}","content":{list},"itemCount":1}},"type":"attachment""#));
        let told = told(&[task("m1", "t1", "Look", "1"), reminder, answer("m2")]);
        let recorded = format!("recorded {family} on 3 agree");
        assert_eq!(told.rows, ["request", "reminded", "main TaskCreate Look ran as 1", &recorded, "request"]);
    }
}

#[test]
fn r8_in_a_parallel_round_it_comes_before_calls_that_ended_later() {
    let calls = [
        call("m2", "u1", "TaskUpdate", &status("1", "completed")),
        call("m2", "l1", "TaskList", "{}"),
        call("m2", "u2", "TaskUpdate", &status("1", "in_progress")),
    ];
    let (one, two) = (result("u1", "{}"), result("u2", "{}"));
    let list = |status| result("l1", &tasks(&one_task(status)));
    let rows = [
        ([list("pending"), one.clone(), two.clone()], 1),
        ([one.clone(), list("completed"), two.clone()], 3),
        ([one.clone(), two.clone(), list("in_progress")], 4),
        ([two, one, list("in_progress")], 4),
    ];
    for (results, place) in rows {
        let told = told(&[task("m1", "t1", "Look", "1"), calls.concat(), results.concat(), answer("m3")]);
        let mut round: Vec<&str> = told.rows.iter().skip(2).map(String::as_str).collect();
        let recorded = round.remove(place);
        assert!(recorded.starts_with("recorded tasks on") && recorded.ends_with("agree"), "{results:?} {told:?}");
        let expected = ["request", "main TaskUpdate 1 ran", "main TaskList ran", "main TaskUpdate 1 ran", "request"];
        assert_eq!(round, expected);
    }
}

#[test]
fn r8_what_is_not_mains_list_is_not_recorded() {
    let side = |record: String| record.replace(r#""isSidechain":false"#, r#""isSidechain":true"#);
    let reminder = other(r#""attachment":{"type":"task_reminder","content":[]},"type":"attachment""#);
    let elsewhere = other(r#""attachment":{"type":"skill_listing","content":[]},"type":"attachment""#);
    let list = sub_call("s1", "l1", "TaskList", "{}") + &result_of(true, "l1", r#""content":"ok""#, &tasks("[]"));
    let failed = call("m2", "l2", "TaskList", "{}");
    let failed = failed + &result_of(false, "l2", r#""content":"no","is_error":true"#, &tasks("[]"));
    for no in [
        side(reminder),
        elsewhere,
        side(prompt("go", r#","todos":[]"#)),
        list,
        failed,
        prompt("go", r#","todos":"[]""#),
    ] {
        let told = told(&[task("m1", "t1", "Look", "1"), no, answer("m9")]);
        assert!(!told.rows.iter().any(|row| row.starts_with("recorded") || row == "reminded"), "{told:?}");
    }
}

/// A list with a task that is closed, one that is open, and what a product does not record of it.
fn ours() -> Session {
    let mut session = Session::new(Policy::DEFAULT);
    let list = r#"{"todos":[{"id":"1","content":"Done","status":"completed"},{"id":"2","content":"Look","status":"pending","description":"Well","owner":"me"}]}"#;
    let _ = session.apply(&record(list.into()));
    session
}

#[test]
fn r8_recorded_lists_agree_differ_or_cannot_be_read() {
    let look = r#"{"id":"2","subject":"Look","status":"pending"}"#;
    let done = r#"{"id":"1","subject":"Done","status":"completed"}"#;
    let rows = [
        (format!("[{done},{look}]"), Some("")),
        (format!("[{look},{done}]"), Some("")),
        (format!("[{look}]"), Some("")),
        ("[]".into(), Some("#2 is open on the replayed list and not recorded")),
        (format!("[{done}]"), Some("#2 is open on the replayed list and not recorded")),
        (look.replace("pending", "completed"), Some(r#""2" is recorded as completed, replayed as pending"#)),
        (look.replace("Look", "Read"), Some(r#""2" is recorded with another content"#)),
        (format!("{look},{}", look.replace('2', "9")), Some(r#"recorded "9" is not on the replayed list"#)),
        (look.replace("pending", "finished"), None),
        (look.replace("subject", "name"), None),
        ("{}".into(), None),
        (format!("[{look}"), None),
    ];
    for (list, expected) in rows {
        let list = if list.starts_with("{\"id") { format!("[{list}]") } else { list };
        let verdict = Recorded { family: Family::Tasks, list: &list, line: 1 }.against(ours().list());
        let why = match &verdict {
            Verdict::Agree { telling } => telling.then_some(""),
            Verdict::Differ { why, .. } => Some(why.as_str()),
            Verdict::Unreadable => None,
        };
        assert_eq!(why, expected, "{list}");
    }
    let verdict = Recorded { family: Family::TodoWrite, list: "[]", line: 1 }.against(&List::default());
    assert_eq!(verdict, Verdict::Agree { telling: false });
}

#[test]
fn r8_a_correction_keeps_what_the_product_does_not_record() {
    let mut session = ours();
    let recorded = Recorded {
        family: Family::Tasks,
        list: &one_task("pending").replace('1', "2").replace("pending", "in_progress"),
        line: 1,
    };
    let Verdict::Differ { correction, .. } = recorded.against(session.list()) else { unreachable!("they differ") };
    let _ = session.apply(&record(correction));
    let items = session.list().items();
    assert_eq!(
        items.iter().map(|item| (item.id.as_str(), item.status.as_str())).collect::<Vec<_>>(),
        [("1", "completed"), ("2", "in_progress")]
    );
    assert_eq!(
        (&items[1].description, &items[1].extras),
        (&ours().list().items()[1].description, &ours().list().items()[1].extras)
    );
    assert!(items[1].description.is_some() && !items[1].extras.is_empty());
    assert_eq!(recorded.against(session.list()), Verdict::Agree { telling: true });
}
