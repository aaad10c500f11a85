//! Gemini CLI's chats: short ones in our own words.

mod story;

use session_todo_transcript::Product::Gemini;
use story::{Story, cut_at_every_byte, story, told};

const HEAD: &str = r#"{"sessionId":"s","projectHash":"p","startTime":"t","kind":"main"}"#;

fn call(id: &str, description: &str, ended: &str) -> String {
    let args = format!(r#"{{"todos":[{{"description":"{description}","status":"pending"}}]}}"#);
    format!(r#"{{"id":"{id}","name":"write_todos","args":{args}{ended}}}"#)
}

fn ran(id: &str, description: &str) -> String {
    call(id, description, r#","status":"success""#)
}

fn said(id: &str) -> String {
    format!(r#"{{"id":"{id}","type":"user","content":[{{"text":"do it"}}]}}"#)
}

fn answer(id: &str, calls: &[String]) -> String {
    format!(r#"{{"id":"{id}","type":"gemini","content":"","toolCalls":[{}]}}"#, calls.join(","))
}

fn lines(records: &[String]) -> Story {
    story(Gemini, format!("{HEAD}\n{}\n", records.join("\n")).as_bytes())
}

fn document(messages: &[String]) -> String {
    format!(
        "{{\n  \"sessionId\": \"s\",\n  \"projectHash\": \"p\",\n  \"messages\": [\n    {}\n  ]\n}}",
        messages.join(",\n    ")
    )
}

#[test]
fn r9_a_document_is_read_in_its_order() {
    let messages = [said("u1"), answer("g1", &[ran("c1", "Look")]), answer("g2", &[ran("c2", "Write")])];
    let story = story(Gemini, document(&messages).as_bytes());
    let expected = ["turn", "request", "main write_todos ran", "request", "main write_todos ran"];
    assert_eq!(story.steps, expected);
    assert_eq!(story.list, ["pending Write"]);
}

#[test]
fn r9_a_message_that_is_written_again_is_one_request() {
    let records =
        [said("u1"), answer("g1", &[]), answer("g1", &[call("c1", "Look", "")]), answer("g1", &[ran("c1", "Look")])];
    let story = lines(&records);
    assert_eq!(story.steps, ["turn", "request", "main write_todos ran"]);
    assert_eq!(story.list, ["pending Look"]);
}

#[test]
fn r1_a_call_ran_where_its_status_says_so() {
    let failed = [
        r#","status":"error""#,
        r#","status":"cancelled""#,
        r#","result":[{"functionResponse":{"id":"c1","response":{"error":"two are in progress"}}}]"#,
    ];
    for ended in failed {
        let story = lines(&[said("u1"), answer("g1", &[call("c1", "Look", ended)])]);
        assert_eq!(story.steps, ["turn", "request", "main write_todos failed"], "{ended}");
    }
    let result = r#","result":[{"functionResponse":{"id":"c1","response":{"output":"Successfully updated"}}}]"#;
    assert_eq!(lines(&[said("u1"), answer("g1", &[call("c1", "Look", result)])]).list, ["pending Look"]);
    let open = lines(&[said("u1"), answer("g1", &[call("c1", "Look", r#","status":"executing""#)])]);
    assert_eq!(open.steps, ["turn", "request", "pending write_todos"]);
    let passed = lines(&[said("u1"), answer("g1", &[call("c1", "Look", "")]), said("u2")]);
    assert_eq!(passed.steps, ["turn", "request", "unanswered write_todos", "main write_todos ran", "turn"]);
}

#[test]
fn r2_a_rewind_brings_the_list_back() {
    let two = [said("u1"), answer("g1", &[ran("c1", "First")]), said("u2"), answer("g2", &[ran("c2", "Second")])];
    let back = |id: &str| {
        let rewind = format!(r#"{{"$rewindTo":"{id}"}}"#);
        lines(&[two.as_slice(), &[rewind]].concat())
    };
    assert_eq!(back("u2").list, ["pending First"]);
    assert_eq!(back("u1").list, [""; 0]);
    assert_eq!(back("unknown").list, [""; 0]);
    let again = [r#"{"$rewindTo":"u2"}"#.to_owned(), said("u3"), answer("g3", &[ran("c3", "Third")])];
    let once_more = [r#"{"$rewindTo":"u3"}"#.to_owned()];
    assert_eq!(lines(&[two.as_slice(), &again, &once_more].concat()).list, ["pending First"]);
}

#[test]
fn a_set_of_messages_without_the_oldest_is_a_compaction() {
    let first = [said("u1"), answer("g1", &[ran("c1", "First")]), said("u2"), answer("g2", &[ran("c2", "Second")])];
    let set = |messages: &[String]| format!(r#"{{"$set":{{"messages":[{}]}}}}"#, messages.join(","));
    let masked = set(&first);
    let story = lines(&[first.as_slice(), &[masked]].concat());
    assert!(!story.steps.contains(&"compacted".to_owned()));
    let summed = set(&[said("sum"), answer("ack", &[]), said("u2"), answer("g2", &[ran("c2", "Second")])]);
    let story = lines(&[first.as_slice(), std::slice::from_ref(&summed)].concat());
    assert_eq!(story.steps.last().map(String::as_str), Some("compacted"));
    assert_eq!(story.list, ["pending Second"]);
    let rewound = lines(&[first.as_slice(), &[summed, r#"{"$rewindTo":"u2"}"#.to_owned()]].concat());
    assert_eq!(rewound.list, ["pending First"]);
    let fresh = lines(&[set(&first)]);
    assert_eq!(fresh.list, ["pending Second"]);
}

#[test]
fn a_session_that_begins_again_is_a_resume() {
    let records = [said("u1"), answer("g1", &[ran("c1", "Look")]), HEAD.to_owned()];
    assert_eq!(lines(&records).steps, ["turn", "request", "main write_todos ran", "resumed"]);
    // A compaction sets the session too.
    let updates = [r#"{"$set":{"lastUpdated":"t"}}"#.to_owned(), r#"{"$set":{"sessionId":"s"}}"#.to_owned()];
    assert_eq!(lines(&[&[said("u1")], &updates[..]].concat()).steps, ["turn"]);
}

#[test]
fn r8_the_list_as_it_was_shown_is_handed_on() {
    let shown = r#","status":"success","resultDisplay":{"todos":[{"description":"Look","status":"pending"}]}"#;
    let story = lines(&[said("u1"), answer("g1", &[call("c1", "Look", shown)])]);
    assert_eq!(story.steps.last().map(String::as_str), Some("recorded on 3: Agree { telling: true }"));
}

#[test]
fn a_saved_history_is_read_by_its_parts() {
    let call =
        r#"{"functionCall":{"name":"write_todos","args":{"todos":[{"description":"Look","status":"pending"}]}}}"#;
    let response = r#"{"functionResponse":{"name":"write_todos","response":{"output":"Successfully updated"}}}"#;
    let contents = format!(
        r#"[{{"role":"user","parts":[{{"text":"go"}}]}},{{"role":"model","parts":[{call}]}},{{"role":"user","parts":[{response}]}}]"#
    );
    assert_eq!(story(Gemini, contents.as_bytes()).steps, ["request", "main write_todos ran"]);
    let saved = format!("{{\n\"history\": {contents}\n}}");
    assert_eq!(story(Gemini, saved.as_bytes()).list, ["pending Look"]);
}

#[test]
fn a_record_of_no_session_is_said_once() {
    let activity = r#"{"type":"console","payload":{"content":"x"},"sessionId":"s"}"#;
    let story = story(Gemini, format!("{activity}\n{activity}\n").as_bytes());
    assert_eq!(story.steps, ["skipped 1:0: records of no session, which are not read"]);
}

#[test]
fn r7_cut_anywhere() {
    let messages = [said("u1"), answer("g1", &[ran("c1", "Look")]), said("u2"), answer("g2", &[ran("c2", "Write")])];
    cut_at_every_byte(Gemini, document(&messages).as_bytes());
    let one_line = document(&messages).replace('\n', "");
    cut_at_every_byte(Gemini, one_line.as_bytes());
    let cut = told(Gemini, one_line.get(..one_line.len() - 4).unwrap_or_default().as_bytes());
    assert_eq!(cut.list, ["pending Write"]);
    cut_at_every_byte(Gemini, format!("{HEAD}\n{}\n", messages.join("\n")).as_bytes());
    let whole = document(&messages);
    let cut = told(Gemini, whole.get(..whole.len() - 4).unwrap_or_default().as_bytes());
    assert_eq!(cut.list, ["pending Write"]);
    assert!(cut.steps.iter().any(|step| step.ends_with("the document is cut off")), "{cut:?}");
    let cut = told(Gemini, whole.trim_end_matches('}').as_bytes());
    assert!(cut.steps.iter().any(|step| step.ends_with("the document is cut off")), "{cut:?}");
}

#[test]
fn r7_a_damaged_message_of_a_document_is_told_and_the_rest_is_read() {
    let messages = [said("u1"), answer("g1", &[ran("c1", "Look")]), answer("g2", &[ran("c2", "Write")])];
    for (whole, damaged) in [(r#""content":"""#, r#""content":"#), ("}]}", "}"), (r#"{"id":"g1""#, r#""id":"g1""#)] {
        let log = document(&messages).replacen(whole, damaged, 1);
        let story = told(Gemini, log.as_bytes());
        assert_eq!(story.list, ["pending Write"], "{log}");
        assert!(story.steps.iter().any(|step| step.ends_with("not a message")), "{story:?}");
    }
}
