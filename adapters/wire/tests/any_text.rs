//! Whatever comes over the wire, nothing panics, and an error leaves the history as it was.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod play;

use play::provider::{Asked, response};
use proptest::prelude::{ProptestConfig, Strategy, any, prop_assert_eq, prop_oneof, proptest};
use proptest::sample::select;
use serde_json::value::RawValue;
use session_todo::{Effect, Lane, Reminder};
use session_todo_wire::{By, Carrier, Format, History, Message, lint, safe_cut};

/// A body with a hole in it, a piece of it twice, or some bytes changed: near to one, or nothing like it.
fn text() -> impl Strategy<Value = String> {
    let asked = Asked { id: "a".into(), name: "todo_write".into(), arguments: r#"{"todos":[{"content":"A"}]}"#.into() };
    let body = (select(&Format::ALL[..]), any::<bool>())
        .prop_map(move |(format, is_cut)| response(format, "Hm.", std::slice::from_ref(&asked), is_cut));
    let damaged = (body, any::<usize>(), any::<usize>(), select(&["", "null", "[]", "{}", "\"\"", "1", ","][..]))
        .prop_map(|(body, from, to, new)| {
            let (from, to) = (from % body.len(), to % body.len());
            format!("{}{new}{}", &body[..from.min(to)], &body[from.max(to)..])
        });
    prop_oneof![4 => damaged, 1 => any::<String>(), 1 => values()]
}

/// JSON of the keys that formats know, in any arrangement.
fn values() -> impl Strategy<Value = String> {
    const KEYS: [&str; 12] = [
        "messages",
        "input",
        "contents",
        "content",
        "parts",
        "role",
        "type",
        "output",
        "choices",
        "message",
        "tool_calls",
        "functionCall",
    ];
    let leaf = select(&["null", "1", "\"user\"", "\"assistant\"", "\"tool_use\"", "\"\\ud800\"", "[]", "{}"][..]);
    leaf.prop_map(str::to_owned).prop_recursive(6, 40, 4, |inner| {
        let members = proptest::collection::vec((select(&KEYS[..]), inner.clone()), 0..4);
        let object = members.prop_map(|members| {
            let members: Vec<String> = members.into_iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
            format!("{{{}}}", members.join(","))
        });
        let array = proptest::collection::vec(inner, 0..4).prop_map(|items| format!("[{}]", items.join(",")));
        prop_oneof![object, array]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn nothing_panics(format in select(&Format::ALL[..]), text in text(), at: u8) {
        let _ = lint(format, &text);
        let _ = safe_cut(format, &text, usize::from(at));
        let mut history = History::new(format, Carrier::Joined);
        history.person("go");
        let before = history.outgoing(None).to_string();
        if history.respond(&text).is_err() {
            prop_assert_eq!(history.outgoing(None).to_string(), before);
        }
    }

    /// A text is put by any message, however odd, and the request stays JSON.
    #[test]
    fn a_text_is_put_by_any_message(
        format in select(&Format::ALL[..]), json in values(),
        by in select(&[By::Person, By::Tools, By::Harness][..]),
        carrier in select(&[Carrier::User, Carrier::Developer, Carrier::Joined][..]),
        lane in select(&[Lane::History, Lane::ToolResult, Lane::LastUserMessage][..]),
    ) {
        let mut history = History::new(format, carrier);
        history.push(Message::new(by, RawValue::from_string(json).unwrap()));
        let reminder = Effect::AppendSystemReminder(Reminder { lane, text: "<r>\n\"".to_owned(), items: None });
        let outgoing = history.request(Some(&reminder)).to_string();
        let read: Vec<serde_json::Value> = serde_json::from_str(&outgoing).unwrap_or_default();
        // A lone surrogate is JSON, and no `Value`.
        if !outgoing.contains("ud800") {
            prop_assert_eq!(read.is_empty(), false, "{}", outgoing);
        }
        prop_assert_eq!(outgoing.matches("<r>\\n\\\"").count(), 1, "{}", outgoing);
    }
}
