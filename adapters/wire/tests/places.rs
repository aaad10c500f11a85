//! Where each lane puts its text, in the bytes of each format. `+` in front of a message marks what an effect
//! put there or changed.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use serde_json::value::RawValue;
use session_todo::{Effect, Lane, Reminder, Snapshot};
use session_todo_wire::{By, Carrier, Format, History, Message};

fn reminder(lane: Lane) -> Effect {
    Effect::AppendSystemReminder(Reminder { lane, text: "<r>".to_owned(), items: Some(1) })
}

fn carried() -> Effect {
    Effect::InjectCompactSnapshot(Snapshot { text: "<s>".to_owned(), items: 1 })
}

/// The messages of a format: a prompt, a call, its result, words behind it in the same message, a new prompt.
struct Words {
    format: Format,
    prompt: &'static str,
    call: &'static str,
    result: &'static str,
    /// A result and a person's words in one message, where the format has that.
    mixed: &'static str,
    next: &'static str,
    /// The text of ours, alone, and as the developer's.
    own: &'static str,
    developer: &'static str,
}

const ANTHROPIC: Words = Words {
    format: Format::Anthropic,
    prompt: r#"{"role":"user","content":"go"}"#,
    call: r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"bash","input":{}}]}"#,
    result: r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"ok"}]}"#,
    mixed: r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"},{"type":"text","text":"stop"}]}"#,
    next: r#"{"role":"user","content":[{"type":"text","text":"next"}]}"#,
    own: r#"{"role":"user","content":[{"type":"text","text":"<r>"}]}"#,
    developer: r#"{"role":"user","content":[{"type":"text","text":"<r>"}]}"#,
};

const CHAT: Words = Words {
    format: Format::Chat,
    prompt: r#"{"role":"user","content":"go"}"#,
    call: r#"{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"bash","arguments":"{}"}}]}"#,
    result: r#"{"role":"tool","tool_call_id":"a","content":"ok"}"#,
    mixed: "",
    next: r#"{"role":"user","content":"next"}"#,
    own: r#"{"role":"user","content":"<r>"}"#,
    developer: r#"{"role":"developer","content":"<r>"}"#,
};

const RESPONSES: Words = Words {
    format: Format::Responses,
    prompt: r#"{"role":"user","content":"go"}"#,
    call: r#"{"type":"function_call","call_id":"a","name":"bash","arguments":"{}"}"#,
    result: r#"{"type":"function_call_output","call_id":"a","output":"ok"}"#,
    mixed: "",
    next: r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"next"}]}"#,
    own: r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"<r>"}]}"#,
    developer: r#"{"type":"message","role":"developer","content":[{"type":"input_text","text":"<r>"}]}"#,
};

const GEMINI: Words = Words {
    format: Format::Gemini,
    prompt: r#"{"role":"user","parts":[{"text":"go"}]}"#,
    call: r#"{"role":"model","parts":[{"functionCall":{"name":"bash","args":{}}}]}"#,
    result: r#"{"role":"user","parts":[{"functionResponse":{"name":"bash","response":{"output":"ok"}}}]}"#,
    mixed: r#"{"role":"user","parts":[{"functionResponse":{"name":"bash","response":{}}},{"text":"stop"}]}"#,
    next: r#"{"role":"user","parts":[{"text":"next"}]}"#,
    own: r#"{"role":"user","parts":[{"text":"<r>"}]}"#,
    developer: r#"{"role":"user","parts":[{"text":"<r>"}]}"#,
};

const ALL: [Words; 4] = [ANTHROPIC, CHAT, RESPONSES, GEMINI];

/// A history of which all up to the last response has left.
fn history(format: Format, carrier: Carrier, messages: &[&str]) -> History {
    let raw = |json: &&str| RawValue::from_string((*json).to_owned()).unwrap();
    let whole = History::whole(format, messages.iter().map(raw)).unwrap();
    let mut history = History::new(format, carrier);
    history.restore(whole.messages()[..whole.sent()].to_vec());
    whole.messages()[whole.sent()..].iter().for_each(|message| history.push(message.clone()));
    history
}

fn stored(history: &History) -> Vec<String> {
    history.messages().iter().map(|message| message.json.get().to_owned()).collect()
}

/// What is stored after a request that carries a reminder in a lane.
fn put(words: &Words, carrier: Carrier, lane: Lane, messages: &[&str]) -> Vec<String> {
    let mut history = history(words.format, carrier, messages);
    let _ = history.request(Some(&reminder(lane)));
    stored(&history)
}

/// Lane `History`: at the end, before a person's words that have not left, in the role that was asked for.
#[test]
fn history_lane() {
    for words in ALL {
        let Words { format: _, prompt, call, result, next, own, developer, .. } = words;
        let put = |carrier, messages: &[&str]| put(&words, carrier, Lane::History, messages);
        assert_eq!(put(Carrier::User, &[prompt]), [own, prompt]);
        assert_eq!(put(Carrier::User, &[prompt, call, result]), [prompt, call, result, own]);
        assert_eq!(put(Carrier::User, &[prompt, call, result, next]), [prompt, call, result, own, next]);
        assert_eq!(put(Carrier::User, &[prompt, call, result, next, next]), [prompt, call, result, own, next, next]);
        assert_eq!(put(Carrier::Developer, &[prompt, call, result]), [prompt, call, result, developer]);
    }
}

/// Lane `ToolResult`: right after the last result; without one as `History`.
#[test]
fn tool_result_lane() {
    for words in ALL {
        let Words { format, prompt, call, result, next, own, .. } = words;
        let put = |messages: &[&str]| put(&words, Carrier::User, Lane::ToolResult, messages);
        assert_eq!(put(&[prompt]), [own, prompt]);
        if format == Format::Anthropic {
            // E2: a block of the same message.
            let joined = result.replace("}]}", r#"},{"type":"text","text":"<r>"}]}"#);
            assert_eq!(put(&[prompt, call, result]), [prompt, call, &joined]);
            assert_eq!(put(&[prompt, call, result, next]), [prompt, call, &joined, next]);
        } else {
            assert_eq!(put(&[prompt, call, result]), [prompt, call, result, own]);
            assert_eq!(put(&[prompt, call, result, next]), [prompt, call, result, own, next]);
        }
    }
}

/// A person's words behind a result, in one message: the text goes between the two.
#[test]
fn between_a_result_and_words() {
    let anthropic = ANTHROPIC.mixed.replace(r#"{"type":"text","#, r#"{"type":"text","text":"<r>"},{"type":"text","#);
    let gemini = GEMINI.mixed.replace(r#"{"text":"#, r#"{"text":"<r>"},{"text":"#);
    for (words, expected) in [(ANTHROPIC, &anthropic), (GEMINI, &gemini)] {
        let put = |carrier| put(&words, carrier, Lane::History, &[words.prompt, words.call, words.mixed]);
        assert_eq!(put(Carrier::User)[2], *expected);
        assert_eq!(put(Carrier::Joined)[2], *expected);
    }
}

/// E3: joined to the person's message that has not left, before its words; else to the last result.
#[test]
fn joined() {
    for words in ALL {
        let put = |messages: &[&str]| put(&words, Carrier::Joined, Lane::History, messages);
        let (prompt, result) = match words.format {
            Format::Anthropic => (
                r#"{"role":"user","content":"<r>\n\ngo"}"#,
                r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"ok"},{"type":"text","text":"<r>"}]}"#,
            ),
            Format::Chat => (
                r#"{"role":"user","content":"<r>\n\ngo"}"#,
                r#"{"role":"tool","tool_call_id":"a","content":"ok\n\n<r>"}"#,
            ),
            Format::Responses => (
                r#"{"role":"user","content":"<r>\n\ngo"}"#,
                r#"{"type":"function_call_output","call_id":"a","output":"ok\n\n<r>"}"#,
            ),
            Format::Gemini => (
                r#"{"role":"user","parts":[{"text":"<r>"},{"text":"go"}]}"#,
                r#"{"role":"user","parts":[{"functionResponse":{"name":"bash","response":{"output":"ok"}}},{"text":"<r>"}]}"#,
            ),
        };
        assert_eq!(put(&[words.prompt]), [prompt]);
        assert_eq!(put(&[words.prompt, words.call, words.result]), [words.prompt, words.call, result]);
    }
}

/// Lane `LastUserMessage`: at the end of the last text of the last message that a person wrote, in the
/// outgoing copy alone. A message of results is none, nor is a text of ours.
#[test]
fn last_user_message_lane() {
    for words in ALL {
        let Words { format, prompt, call, result, own, .. } = words;
        let mut history = history(format, Carrier::User, &[prompt, call, result]);
        history.push(Message::new(By::List, RawValue::from_string(own.to_owned()).unwrap()));
        let before = stored(&history);
        let outgoing: Vec<String> =
            history.request(Some(&reminder(Lane::LastUserMessage))).iter().map(str::to_owned).collect();
        assert_eq!(outgoing, [&prompt.replace("go\"", "go\\n\\n<r>\""), call, result, own]);
        assert_eq!(stored(&history), before);
    }
}

/// The same where a person's message has several texts, or none.
#[test]
fn the_last_text_of_several() {
    let two = r#"{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"},{"type":"image","source":{}}]}"#;
    let none = r#"{"role":"user","content":[{"type":"image","source":{}}]}"#;
    let with = |message| {
        let mut history = history(Format::Anthropic, Carrier::User, &[message]);
        history.request(Some(&reminder(Lane::LastUserMessage))).to_string()
    };
    assert_eq!(with(two), format!("[{}]", two.replace("\"b\"", "\"b\\n\\n<r>\"")));
    assert_eq!(with(none), format!("[{}]", none.replace("{}}]", r#"{}},{"type":"text","text":"<r>"}]"#)));
}

/// A5: after everything that the compaction kept, before a person's message that has not left, else last; and
/// earlier texts of ours are gone.
#[test]
fn snapshot() {
    for words in ALL {
        let Words { format, prompt, call, result, own, next, .. } = words;
        let summary = || vec![Message::user(format, By::Harness, "sum")];
        let texts = [format.user("sum"), own.replace("<r>", "<s>")];
        let mut one = history(format, Carrier::User, &[prompt, call, result, next]);
        one.compact(1, summary(), Some(&carried()));
        assert_eq!(stored(&one), [&texts[0], call, result, &texts[1], next]);
        // What was said and has not left is kept, wherever the cut is.
        one.compact(5, summary(), Some(&carried()));
        assert_eq!(stored(&one), [&texts[0], &texts[1], next]);

        let mut other = history(format, Carrier::User, &[prompt, call, result]);
        let _ = other.request(Some(&reminder(Lane::History)));
        other.compact(1, summary(), Some(&carried()));
        // What rides on the request that waits stays (L13); answered, it goes.
        assert_eq!(stored(&other), [&texts[0], call, result, own, &texts[1]]);
        other.restore(history(format, Carrier::User, &[prompt, call]).messages()[1..].to_vec());
        other.compact(5, Vec::new(), None);
        assert_eq!(stored(&other), [call]);
    }
}

/// E1: what left is not edited and nothing is put before it, whatever comes: here the response said nothing, or
/// never came.
#[test]
fn what_left_is_left_alone() {
    for words in ALL {
        let Words { format, prompt, call, result, mixed, own, .. } = words;
        for carrier in [Carrier::User, Carrier::Joined] {
            for lane in [Lane::History, Lane::ToolResult] {
                for messages in [&[prompt][..], &[prompt, call, result], &[prompt, call, mixed]] {
                    if messages.contains(&"") {
                        continue;
                    }
                    let mut history = history(format, carrier, messages);
                    let _ = history.request(None);
                    let _ = history.request(Some(&reminder(lane)));
                    assert_eq!(stored(&history), [messages, &[own]].concat(), "{format}, {carrier:?}, {lane:?}");
                }
            }
        }
    }
}

/// A5: a request that was too large: what the person asked is kept, and the snapshot is before it.
#[test]
fn snapshot_of_a_request_without_a_response() {
    for words in ALL {
        let Words { format, prompt, call, result, own, next, .. } = words;
        let mut history = history(format, Carrier::User, &[prompt, call, result, next]);
        let _ = history.request(None);
        history.compact(9, vec![Message::user(format, By::Harness, "sum")], Some(&carried()));
        assert_eq!(stored(&history), [&format.user("sum"), &own.replace("<r>", "<s>"), next]);
    }
}
