//! The strict and the tolerant reader agree: noise that only the tolerant one takes changes no list.

use serde_json::Value;
use session_todo::{Item, understand};
use session_todo_tests::arguments::{calls, todo};

use super::{random, result};

const LIST: &str = r#"{"todos":[{"id":"1","content":"One","status":"pending"},{"content":"Two"}]}"#;

#[test]
fn both_readers_read_the_same_list() {
    random(2000, |c| {
        let list = todo::canonical(&todo::any(c));
        let (plain, padded) =
            (list_after("todo_write", &list), list_after("todo_write", &format!("{list}</parameter>")));
        if plain == padded { Ok(()) } else { Err(format!("{list}\n{plain:?}\n{padded:?}")) }
    });
}

/// The same of calls with something wrong in them, as long as they are JSON.
#[test]
fn both_readers_refuse_the_same_calls() {
    random(2000, |c| {
        let (name, call) = calls::any(c);
        let is_object = serde_json::from_str(&call).is_ok_and(|value: Value| value.is_object());
        if !is_object {
            return Ok(());
        }
        let plain = list_after(&name, &call);
        let padded = list_after(&name, &format!("{call}</parameter>"));
        if plain == padded { Ok(()) } else { Err(format!("{name} {call}\n{plain:?}\n{padded:?}")) }
    });
}

/// To the byte, the text of extras too (C9).
fn list_after(name: &str, arguments: &str) -> (bool, Vec<Item>) {
    let mut session = super::after(&[("todo_write", LIST)]);
    let result = result(&mut session, name, arguments);
    (result.is_error, session.list().items().to_vec())
}

/// Shapes on which two readers of JSON like to differ.
#[test]
fn both_readers_read_the_same_oddities() {
    for call in [
        r#"{"todos":[{"content":"A","content":"B"}]}"#,
        r#"{"todos":[{"content":"A","content":null}]}"#,
        r#"{"todos":[{"content":null,"title":"B"}]}"#,
        r#"{"todos":[{"content":"A","status":"done","status":null}]}"#,
        r#"{"todos":[{"id":"1","id":"2","content":"A"}]}"#,
        r#"{"todos":[{"id":"1","id":null,"content":"A"}]}"#,
        r#"{"todos":[{"id":null,"id":"1","content":"A"}]}"#,
        r#"{"todos":[{"id":"","taskId":"7","content":"A"}]}"#,
        r#"{"todos":[{"taskId":"7","id":"8","content":"A"}]}"#,
        r#"{"todos":[{"title":"A","title":"B"}]}"#,
        r#"{"todos":[{"title":"A","title":null}]}"#,
        r#"{"todos":[{"content":"A","title":"B","subject":"C","description":"D"}]}"#,
        r#"{"todos":[{"content":"A","x":1,"y":2,"x":3}]}"#,
        r#"{"todos":[{"content":"A","x":1,"x":null}]}"#,
        r#"{"todos":[{"content":"A","x":[ 1,"\u00e9\/", {"k" : null} ] , "y" : 1.50E+3 }]}"#,
        r#"{"todos":[{"content":"A","done":true,"status":"pending"}]}"#,
        r#"{"todos":[{"content":"A","done":"yes"}]}"#,
        r#"{"todos":[{"content":"A","state":"done"}]}"#,
        r#"{"todos":[{"id":1.0,"content":"A"}]}"#,
        r#"{"todos":[{"id":-1,"content":"A"}]}"#,
        r#"{"todos":[{"id":12345678901234567890123,"content":"A"}]}"#,
        r#"{"todos":[{"content":"\ud83d\ude00 \u0041 \/"}]}"#,
        r#"{"todos":[{"content":"\ud83d"}]}"#,
        r#"{"todos":[{"cont\u0065nt":"A"}]}"#,
        r#"{"todos":[{"content":"A"}],"todos":[{"content":"B"}]}"#,
        r#"{"todos":[{"content":"A"}],"todos":null}"#,
        r#"{"todos":null,"todos":[{"content":"A"}]}"#,
        r#"{"plan":[{"content":"A"}],"todos":[{"content":"B"}]}"#,
        r#"{"todos":[{"content":"B"}],"items":[{"content":"A"}]}"#,
        r#"{"todos":[],"items":[{"content":"A"}]}"#,
        r#"{"todos":[null]}"#,
        r#"{"todos":[[]]}"#,
        r#"{"todos":[{}]}"#,
        r#"{"todos":[{"id":"1"},{"id":"1","status":"done"}]}"#,
    ] {
        let padded = format!("{call} </parameter>");
        assert_eq!(list_after("todo_write", call), list_after("todo_write", &padded), "{call}");
        let mended =
            |call: &str| understand("todo_write", call).unwrap().map(|mended| mended.words().collect::<Vec<_>>());
        let (mut plain, noisy) = (mended(call), mended(&padded));
        if let Ok(words) = &mut plain {
            words.push("text around the arguments");
        }
        assert_eq!(plain, noisy, "{call}");
    }
}
