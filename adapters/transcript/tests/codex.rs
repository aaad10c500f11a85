//! Codex rollouts: short ones in our own words.

mod story;

use session_todo_transcript::Product::Codex;
use story::{Story, cut_at_every_byte, story, told};

fn line(kind: &str, payload: &str) -> String {
    format!(r#"{{"timestamp":"2026-01-01T00:00:00Z","type":"{kind}","payload":{payload}}}"#) + "\n"
}

fn said(text: &str) -> String {
    let item = format!(r#"{{"type":"message","role":"user","content":[{{"type":"input_text","text":"{text}"}}]}}"#);
    line("response_item", &item) + &line("event_msg", &format!(r#"{{"type":"user_message","message":"{text}"}}"#))
}

fn plan(id: &str, step: &str, status: &str) -> String {
    let arguments = format!(r#"{{\"plan\":[{{\"step\":\"{step}\",\"status\":\"{status}\"}}]}}"#);
    let call = format!(r#"{{"type":"function_call","name":"update_plan","arguments":"{arguments}","call_id":"{id}"}}"#);
    line("response_item", &call)
}

fn output(id: &str, output: &str) -> String {
    line("response_item", &format!(r#"{{"type":"function_call_output","call_id":"{id}","output":{output}}}"#))
}

fn ran(id: &str) -> String {
    output(id, r#""Plan updated""#)
}

fn tokens(total: u32) -> String {
    let info = format!(r#"{{"type":"token_count","info":{{"total_token_usage":{{"total_tokens":{total}}}}}}}"#);
    line("event_msg", &info)
}

fn replay(parts: &[String]) -> Story {
    story(Codex, parts.concat().as_bytes())
}

#[test]
fn r9_a_request_is_a_new_total() {
    let first = [said("do it"), plan("c1", "Look", "pending"), ran("c1"), tokens(10), tokens(10)];
    let second = [plan("c2", "Look", "completed"), ran("c2"), tokens(10), tokens(25)];
    let story = replay(&[first.concat(), second.concat()]);
    assert_eq!(story.steps, ["turn", "request", "main update_plan ran", "request", "main update_plan ran"]);
    assert_eq!(story.list, ["completed Look"]);
}

#[test]
fn r9_without_totals_a_request_is_a_run_of_items() {
    let reasoning = line("response_item", r#"{"summary":[],"type":"reasoning"}"#);
    let answer = line("response_item", r#"{"type":"message","role":"assistant","content":[]}"#);
    let log = [said("do it"), reasoning, plan("c1", "Look", "pending"), ran("c1"), answer];
    assert_eq!(replay(&log).steps, ["turn", "request", "main update_plan ran", "request"]);
}

#[test]
fn r1_a_call_ran_where_its_result_says_so() {
    let refusals = [
        r#""failed to parse function arguments: expected value""#,
        r#""update_plan is a TODO/checklist tool and is not allowed in Plan mode""#,
        r#"[{"type":"input_text","text":"aborted by user after 2s"}]"#,
    ];
    for refusal in refusals {
        let log = [plan("c1", "Kept", "pending"), ran("c1"), plan("c2", "Lost", "pending"), output("c2", refusal)];
        let story = replay(&log);
        assert_eq!(story.list, ["pending Kept"], "{refusal}");
        assert_eq!(story.steps.last().map(String::as_str), Some("main update_plan failed"));
    }
    let blocks = [plan("c1", "Kept", "pending"), output("c1", r#"[{"type":"input_text","text":"Plan updated"}]"#)];
    assert_eq!(replay(&blocks).list, ["pending Kept"]);
}

#[test]
fn r1_without_a_result_pending_at_the_end_else_applied() {
    let log = [said("do it"), plan("c1", "First", "pending"), said("go on"), plan("c2", "Second", "pending")];
    let story = replay(&log);
    let expected =
        ["turn", "request", "unanswered update_plan", "main update_plan ran", "turn", "request", "pending update_plan"];
    assert_eq!(story.steps, expected);
    assert_eq!(story.list, ["pending First"]);
}

#[test]
fn r2_a_rollback_brings_the_list_back() {
    let turn = |words: &str, id: &str, step: &str, total| {
        [said(words), plan(id, step, "pending"), ran(id), tokens(total)].concat()
    };
    let back = |turns| line("event_msg", &format!(r#"{{"type":"thread_rolled_back","num_turns":{turns}}}"#));
    let two = [turn("one", "c1", "First", 10), turn("two", "c2", "Second", 20)].concat();
    assert_eq!(replay(&[two.clone(), back(1)]).list, ["pending First"]);
    assert_eq!(replay(&[two.clone(), back(1), turn("again", "c3", "Third", 30), back(1)]).list, ["pending First"]);
    assert_eq!(replay(&[two.clone(), back(0)]).list, ["pending Second"]);
    assert_eq!(replay(&[two.clone(), back(2)]).list, [""; 0]);
    assert_eq!(replay(&[two, back(9)]).list, [""; 0]);
}

#[test]
fn r2_a_prompt_is_one_turn_in_either_way_it_stands() {
    let item =
        line("response_item", r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}"#);
    let event = line("event_msg", r#"{"type":"user_message","message":"go"}"#);
    let surroundings = line(
        "response_item",
        r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>"}]}"#,
    );
    let aborted = line("event_msg", r#"{"type":"turn_aborted","reason":"interrupted"}"#);
    let turns = |log: &[&String]| {
        let log: String = log.iter().map(|line| line.as_str()).collect();
        replay(&[log]).steps.iter().filter(|step| *step == "turn").count()
    };
    assert_eq!(turns(&[&surroundings, &item, &event]), 1);
    assert_eq!(turns(&[&event, &item]), 1);
    assert_eq!(turns(&[&event]), 1);
    assert_eq!(turns(&[&item]), 1);
    assert_eq!(turns(&[&item, &event, &aborted, &item, &event]), 2);
    assert_eq!(turns(&[&item, &event, &item, &event]), 2);
}

#[test]
fn a_compaction_lets_the_list_live_on() {
    let compacted =
        line("compacted", r#"{"message":"","replacement_history":[{"type":"message","role":"user","content":[]}]}"#);
    let after = line("event_msg", r#"{"type":"context_compacted"}"#);
    let story = replay(&[plan("c1", "Look", "pending"), ran("c1"), tokens(10), compacted, tokens(10), after]);
    assert_eq!(story.steps, ["request", "main update_plan ran", "compacted"]);
    assert_eq!(story.list, ["pending Look"]);
}

#[test]
fn r3_a_fork_holds_its_parents_calls_once() {
    let meta = |id: &str| line("session_meta", &format!(r#"{{"id":"{id}","forked_from_id":"parent"}}"#));
    let past = [said("do it"), plan("c1", "Look", "pending"), ran("c1"), tokens(10)].concat();
    let story = replay(&[meta("child"), meta("parent"), past.clone(), past]);
    assert_eq!(story.steps, ["turn", "request", "main update_plan ran", "turn"]);
    assert_eq!(story.list, ["pending Look"]);
}

#[test]
fn foreign_calls_are_told_without_arguments() {
    let shell = line("response_item", r#"{"type":"function_call","name":"shell","arguments":"{}","call_id":"s1"}"#);
    let patch = line("response_item", r#"{"type":"custom_tool_call","name":"apply_patch","input":"x","call_id":"p1"}"#);
    let search = line("response_item", r#"{"type":"web_search_call","status":"completed"}"#);
    let steps = replay(&[shell, patch, search, tokens(10)]).steps;
    assert_eq!(steps, ["request", "main shell ran", "main apply_patch ran", "main web_search_call ran"]);
    let shell = line("response_item", r#"{"type":"local_shell_call","call_id":"s1"}"#);
    let steps = replay(&[shell, output("s1", r#""ok""#)]).steps;
    assert_eq!(steps, ["request", "main local_shell_call ran"]);
}

#[test]
fn r7_damage_is_told_and_the_rest_is_read() {
    let torn = r#"{"timestamp":"2026-01-01T00:00:00Z","type":"response_item","payload":{"type":"reasoning","enc"#;
    let whole = [plan("c1", "Look", "pending"), ran("c1")].concat();
    let apart = story(Codex, format!("{torn}\n{whole}").as_bytes());
    assert_eq!(apart.list, ["pending Look"]);
    assert_eq!(apart.steps.first().map(String::as_str), Some("skipped 1:0: the record is cut off"));
    let glued = story(Codex, format!("{torn}{whole}").as_bytes());
    assert_eq!(glued.list, ["pending Look"]);
    assert_eq!(glued.steps.first().map(String::as_str), Some("skipped 1:0: not a record"));
    let one_line = whole.replace('\n', "");
    assert_eq!(story(Codex, one_line.as_bytes()).list, ["pending Look"]);
    let other = told(Codex, b"no record\n[1]\n\0\0\n");
    let expected = ["skipped 1:0: not a record", "skipped 2:10: not a record", "skipped 3:14: NUL bytes"];
    assert_eq!(other.steps.get(..3).unwrap_or_default(), expected);
}

#[test]
fn r7_half_a_surrogate_pair_is_kept_for_the_core() {
    let call = plan("c1", r"Look \\ud83d", "pending");
    assert_eq!(replay(&[call, ran("c1")]).list.len(), 1);
    let call = plan("c1", r"Look \ud83d", "pending");
    let story = replay(&[call, ran("c1")]);
    assert_eq!(story.steps, ["request", "main update_plan ran"]);
}

#[test]
fn r7_cut_anywhere() {
    let log = [said("do it"), plan("c1", "Look", "pending"), ran("c1"), tokens(10), plan("c2", "Look", "completed")];
    cut_at_every_byte(Codex, log.concat().as_bytes());
}

#[test]
fn old_rollouts_have_no_envelope() {
    let log = r#"{"id":"t1","timestamp":"2025-06-01T00:00:00Z","instructions":null}
{"record_type":"state"}
{"type":"message","role":"user","content":[{"type":"input_text","text":"do it"}]}
{"type":"function_call","name":"update_plan","arguments":"{\"plan\":[{\"step\":\"Look\",\"status\":\"in_progress\"}]}","call_id":"c1"}
{"type":"function_call_output","call_id":"c1","output":"Plan updated"}
"#;
    assert_eq!(story(Codex, log.as_bytes()).list, ["in_progress Look"]);
}
