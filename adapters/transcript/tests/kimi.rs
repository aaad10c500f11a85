//! Kimi CLI's and Kimi Code's logs.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod shown;

use session_todo_transcript::Product;
use shown::{cut_at_every_byte, read_as, shown};

fn kimi(log: &str) -> Vec<String> {
    shown(Product::Kimi, log.as_bytes())
}

const CLI: &str = r#"{"type":"metadata","protocol_version":"1.6"}
{"timestamp":1.5,"message":{"type":"TurnBegin","payload":{"user_input":"plan"}}}
{"timestamp":1.5,"message":{"type":"StepBegin","payload":{"n":1}}}
{"timestamp":1.5,"message":{"type":"ToolCall","payload":{"type":"function","id":"a","function":{"name":"SetTodoList","arguments":"{\"todos\":[{\"title\":\"Read"},"extras":null}}}
{"timestamp":1.5,"message":{"type":"ToolCallPart","payload":{"arguments_part":" it\",\"status\":"}}}
{"timestamp":1.5,"message":{"type":"ToolCallPart","payload":{"arguments_part":"\"pending\"}]}"}}}
{"timestamp":1.5,"message":{"type":"ToolCall","payload":{"type":"function","id":"b","function":{"name":"Shell","arguments":"{\"command\""},"extras":null}}}
{"timestamp":1.5,"message":{"type":"ToolResult","payload":{"tool_call_id":"a","return_value":{"is_error":false,"output":"","message":"Todo list updated","display":[{"type":"todo","items":[{"title":"Read it","status":"pending"}]}],"extras":null}}}}
{"timestamp":1.5,"message":{"type":"ToolCallPart","payload":{"arguments_part":":\"true\"}"}}}
{"timestamp":1.5,"message":{"type":"ToolResult","payload":{"tool_call_id":"b","return_value":{"is_error":true,"output":"","message":"no","display":[]}}}}
{"timestamp":1.5,"message":{"type":"StepBegin","payload":{"n":2}}}
{"timestamp":1.5,"message":{"type":"CompactionBegin","payload":{}}}
{"timestamp":1.5,"message":{"type":"CompactionEnd","payload":{}}}
{"timestamp":1.5,"message":{"type":"ToolCall","payload":{"type":"function","id":"a","function":{"name":"SetTodoList","arguments":"{\"todos\":\"x\"}"},"extras":null}}}
{"timestamp":1.5,"message":{"type":"ToolResult","payload":{"tool_call_id":"a","return_value":{"is_error":true,"output":"","message":"no","display":[]}}}}
{"timestamp":1.5,"message":{"type":"TurnEnd","payload":{}}}
"#;

/// Arguments come in parts, which belong to the call before them; results in any order. A compaction inside a
/// step comes before the step's request (A6). An id that is used again in another step is another call (R3).
#[test]
fn cli() {
    let expected = [
        "request",
        r#"SetTodoList{"todos":[{"title":"Read it","status":"pending"}]} ran"#,
        r#"recorded [{"title":"Read it","status":"pending"}] at 8"#,
        "Shell failed",
        "compacted",
        "request",
        r#"SetTodoList{"todos":"x"} failed"#,
    ];
    assert_eq!(kimi(CLI), expected);
}

/// A sub-agent has a list of its own (R9).
#[test]
fn sub_agents_have_lists_of_their_own() {
    let log = r#"{"type":"metadata","protocol_version":"1.6"}
{"timestamp":1,"message":{"type":"StepBegin","payload":{"n":1}}}
{"timestamp":1,"message":{"type":"ToolCall","payload":{"type":"function","id":"t","function":{"name":"Agent","arguments":"{"}}}}
{"timestamp":1,"message":{"type":"SubagentEvent","payload":{"parent_tool_call_id":"t","event":{"type":"StepBegin","payload":{"n":1}}}}}
{"timestamp":1,"message":{"type":"SubagentEvent","payload":{"parent_tool_call_id":"t","event":{"type":"ToolCall","payload":{"id":"s","function":{"name":"SetTodoList","arguments":"{\"todos\":[]}"}}}}}}
{"timestamp":1,"message":{"type":"SubagentEvent","payload":{"parent_tool_call_id":"t","event":{"type":"ToolResult","payload":{"tool_call_id":"s","return_value":{"is_error":false}}}}}}
{"timestamp":1,"message":{"type":"ToolCallPart","payload":{"arguments_part":"}"}}}
{"timestamp":1,"message":{"type":"ToolResult","payload":{"tool_call_id":"t","return_value":{"is_error":false,"output":"ok"}}}}"#;
    assert_eq!(kimi(log), ["request", "request of a sub-agent", "Agent ran"]);
}

/// The history that Kimi CLI keeps beside its wire log holds the same calls.
#[test]
fn cli_history() {
    let log = r#"{"role":"_system_prompt","content":"You are."}
{"role":"_checkpoint","id":0}
{"role":"user","content":"plan"}
{"role":"assistant","content":[{"type":"text","text":"Yes."}],"tool_calls":[{"type":"function","id":"a","function":{"name":"SetTodoList","arguments":"{\"todos\":[]}"}},{"type":"function","id":"b","function":{"name":"SetTodoList","arguments":"{}"}}]}
{"role":"_usage","token_count":7}
{"role":"tool","content":[{"type":"text","text":"<system>ERROR: no such tool</system>"}],"tool_call_id":"b"}
{"role":"tool","content":"<system>Todo list updated</system>","tool_call_id":"a"}
{"role":"assistant","content":[{"type":"text","text":"Done."}]}"#;
    assert_eq!(kimi(log), ["request", r#"SetTodoList{"todos":[]} ran"#, "SetTodoList{} failed", "request"]);
}

const CODE: &str = r#"{"type":"metadata","protocol_version":"1.4","created_at":1}
{"type":"turn.prompt","input":[{"type":"text","text":"plan"}],"origin":{"kind":"user"},"time":1}
{"type":"context.append_message","message":{"role":"user","content":[],"toolCalls":[],"origin":{"kind":"user"}},"time":1}
{"type":"context.append_loop_event","event":{"type":"step.begin","uuid":"s1","turnId":"0","step":1},"time":1}
{"type":"llm.request","kind":"loop","turnStep":"0.1","time":1}
{"type":"llm.request","kind":"loop","turnStep":"0.1","attempt":"2/10","time":1}
{"type":"context.append_loop_event","event":{"type":"tool.call","uuid":"c0","stepUuid":"s1","toolCallId":"TodoList_0","name":"TodoList","args":{"todos":[{"title":"Read","status":"done"}]}},"time":1}
{"type":"context.append_loop_event","event":{"type":"tool.call","uuid":"c1","stepUuid":"s1","toolCallId":"TaskList_1","name":"TaskList","args":{"active":true}},"time":1}
{"type":"tools.update_store","key":"todo","value":[{"title":"Read","status":"done"}],"time":1}
{"type":"context.append_loop_event","event":{"type":"tool.result","parentUuid":"c0","toolCallId":"TodoList_0","result":{"output":"Todo list updated."}},"time":1}
{"type":"context.append_loop_event","event":{"type":"tool.result","parentUuid":"c1","toolCallId":"TaskList_1","result":{"output":"no tasks"}},"time":1}
{"type":"context.append_loop_event","event":{"type":"step.end","uuid":"s1"},"time":1}
{"type":"context.append_message","message":{"role":"user","content":[],"toolCalls":[],"origin":{"kind":"injection","variant":"todo_list_reminder"}},"time":1}
{"type":"context.append_message","message":{"role":"user","content":[],"toolCalls":[]},"time":1}
{"type":"context.append_loop_event","event":{"type":"step.begin","uuid":"s2","turnId":"1","step":1},"time":1}
{"type":"context.append_loop_event","event":{"type":"tool.call","uuid":"c2","stepUuid":"s2","toolCallId":"TodoList_0","name":"TodoList","args":{"todos":[]}},"time":1}
{"type":"context.append_loop_event","event":{"type":"tool.result","parentUuid":"c2","toolCallId":"TodoList_0","result":{"output":"denied","isError":true}},"time":1}
{"type":"context.undo","count":1,"time":1}
"#;

/// One request a step, however often it was tried; a background task is no list; an undo takes back a prompt
/// (R2); what the client stored belongs to the call that was running (R8).
#[test]
fn code() {
    let expected = [
        "turn",
        "request",
        r#"TodoList{"todos":[{"title":"Read","status":"done"}]} ran"#,
        r#"recorded [{"title":"Read","status":"done"}] at 9"#,
        "kimi/TaskList ran",
        "reminded",
        "turn",
        "request",
        r#"TodoList{"todos":[]} failed"#,
        "rewound 1",
    ];
    let mut found = kimi(CODE);
    // What is over is told when the next thing shows it.
    found.sort_by_key(|row| row == "reminded");
    let mut sorted = expected.map(String::from).to_vec();
    sorted.sort_by_key(|row| row == "reminded");
    assert_eq!(found, sorted);
}

/// A compaction is one record of three, and no undo reaches behind it.
#[test]
fn an_undo_ends_at_a_compaction() {
    let log = r#"{"type":"metadata","protocol_version":"1.4"}
{"type":"context.append_message","message":{"role":"user","content":[],"origin":{"kind":"user"}}}
{"type":"full_compaction.begin","source":"manual"}
{"type":"llm.request","kind":"compaction"}
{"type":"context.apply_compaction","summary":"s","compactedCount":1}
{"type":"full_compaction.complete"}
{"type":"context.append_message","message":{"role":"user","content":[],"origin":{"kind":"skill_activation","trigger":"user-slash"}}}
{"type":"context.append_message","message":{"role":"user","content":[],"origin":{"kind":"background_task"}}}
{"type":"context.undo","count":4}"#;
    assert_eq!(kimi(log), ["turn", "compacted", "turn", "rewound 1"]);
}

/// A step that nothing came of and the one in its place are one request.
#[test]
fn a_request_that_died_is_none() {
    let log = r#"{"type":"metadata","protocol_version":"1.4"}
{"type":"context.append_loop_event","event":{"type":"step.begin","uuid":"s1"}}
{"type":"turn.cancel"}
{"type":"context.append_loop_event","event":{"type":"step.begin","uuid":"s2"}}
{"type":"context.append_loop_event","event":{"type":"content.part","part":{"type":"text","text":"Hi"}}}
{"type":"context.append_loop_event","event":{"type":"step.begin","uuid":"s3"}}"#;
    assert_eq!(kimi(log), ["request", "request"]);
}

/// A call without a result is pending where the log ends, and ran where it goes on (R1).
#[test]
fn calls_without_results() {
    let call = r#"{"type":"context.append_loop_event","event":{"type":"tool.call","toolCallId":"a","name":"TodoList","args":{"todos":[]}}}"#;
    let step = r#"{"type":"context.append_loop_event","event":{"type":"step.begin","uuid":"s"}}"#;
    let log = [step, call, step, call].join("\n");
    let expected = ["request", "unanswered TodoList", r#"TodoList{"todos":[]} ran"#, "request", "pending TodoList"];
    assert_eq!(kimi(&log), expected);
}

/// A damaged line is skipped with its place, the rest is read (R7).
#[test]
fn damage() {
    let step = r#"{"type":"context.append_loop_event","event":{"type":"step.begin","uuid":"s"}}"#;
    let part = r#"{"type":"context.append_loop_event","event":{"type":"content.part"}}"#;
    let call = r#"{"type":"context.append_loop_event","event":{"type":"tool.call","toolCallId":"a","name":"TodoList","args":{"todos":[}]}}}"#;
    let log = format!("{step}{part}\nnot a record\n{step}\n{call}\n{part}\n{{\"type\":\"context.app");
    let expected = [
        "request",
        "skipped 2:146 not a record",
        "request",
        "skipped 4:237 not a record",
        "skipped 6:428 the record is cut off",
    ];
    assert_eq!(kimi(&log), expected);
    cut_at_every_byte(Product::Kimi, CLI.as_bytes());
    cut_at_every_byte(Product::Kimi, CODE.as_bytes());
    assert!(read_as(Product::Kimi, b"").is_empty());
}
