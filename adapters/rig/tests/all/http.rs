//! Over loopback HTTP, with rig's own clients of two providers: what really leaves.

use rig_agent::AgentBuilder;
use rig_core::DynModel;
use rig_core::completion::Message;
use rig_core::operation::Completion;
use rig_core::providers::{anthropic::AnthropicConfig, openai::OpenAIConfig};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use session_todo::Policy;
use session_todo_rig::Handle;

use crate::script::{Response, assert_prefix_stable, bash, block_on, holding, prompt, session_of};
use crate::server::Server;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Provider {
    Anthropic,
    OpenAi,
}

/// The parts of a body that must not change, by their bytes.
#[derive(Deserialize)]
struct Body<'a> {
    #[serde(borrow)]
    messages: Vec<&'a RawValue>,
    #[serde(borrow)]
    tools: &'a RawValue,
    #[serde(borrow)]
    system: Option<&'a RawValue>,
}

fn reply(provider: Provider, number: usize, response: &Response, streaming: bool) -> String {
    match (provider, streaming) {
        (Provider::Anthropic, false) => anthropic(number, response).to_string(),
        (Provider::Anthropic, true) => anthropic_events(number, response),
        (Provider::OpenAi, false) => openai(number, response).to_string(),
        (Provider::OpenAi, true) => openai_events(number, response),
    }
}

fn anthropic(number: usize, response: &Response) -> Value {
    let call = |(name, input): &(&str, Value)| json!({"type":"tool_use","id":format!("toolu_{number}"),"name":name,"input":input});
    let mut content: Vec<_> = response.iter().map(call).collect();
    let stop_reason = if content.is_empty() { "end_turn" } else { "tool_use" };
    if content.is_empty() {
        content.push(json!({"type":"text","text":format!("Answer {number}.")}));
    }
    json!({"id":format!("msg_{number}"),"type":"message","role":"assistant","model":"claude-sonnet-4-5","content":content,
        "stop_reason":stop_reason,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}})
}

fn anthropic_events(number: usize, response: &Response) -> String {
    let mut message = anthropic(number, response);
    let mut block = message["content"][0].clone();
    let stop_reason = message["stop_reason"].take();
    message["content"] = json!([]);
    let delta = if response.is_empty() {
        json!({"type":"text_delta","text":block["text"].take()})
    } else {
        json!({"type":"input_json_delta","partial_json":block["input"].take().to_string()})
    };
    if response.is_empty() {
        block["text"] = json!("");
    } else {
        block["input"] = json!({});
    }
    let events = [
        json!({"type":"message_start","message":message}),
        json!({"type":"content_block_start","index":0,"content_block":block}),
        json!({"type":"content_block_delta","index":0,"delta":delta}),
        json!({"type":"content_block_stop","index":0}),
        json!({"type":"message_delta","delta":{"stop_reason":stop_reason,"stop_sequence":null},"usage":{"output_tokens":1}}),
        json!({"type":"message_stop"}),
    ];
    let event = |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap());
    events.iter().map(event).collect()
}

fn openai_calls(number: usize, response: &Response) -> Vec<Value> {
    let call = |(name, arguments): &(&str, Value)| json!({"index":0,"id":format!("call_{number}"),"type":"function","function":{"name":name,"arguments":arguments.to_string()}});
    response.iter().map(call).collect()
}

fn openai(number: usize, response: &Response) -> Value {
    let mut message = json!({"role":"assistant","content":null,"tool_calls":openai_calls(number, response)});
    if response.is_empty() {
        message = json!({"role":"assistant","content":format!("Answer {number}.")});
    }
    let finish = if response.is_empty() { "stop" } else { "tool_calls" };
    json!({"id":format!("chatcmpl-{number}"),"object":"chat.completion","created":1,"model":"m",
        "choices":[{"index":0,"message":message,"finish_reason":finish}],
        "usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}})
}

fn openai_events(number: usize, response: &Response) -> String {
    let whole = openai(number, response);
    let chunk = |delta: &Value, finish: &Value| {
        json!({"id":whole["id"],"object":"chat.completion.chunk","created":1,"model":"m",
            "choices":[{"index":0,"delta":delta,"finish_reason":finish}]})
    };
    let first = chunk(&whole["choices"][0]["message"], &Value::Null);
    let last = chunk(&json!({}), &whole["choices"][0]["finish_reason"]);
    format!("data: {first}\n\ndata: {last}\n\ndata: [DONE]\n\n")
}

fn model(provider: Provider, url: &str) -> DynModel<Completion> {
    let http = rig_reqwest::shared();
    match provider {
        Provider::Anthropic => {
            AnthropicConfig::new("key").with_base_url(url).connect(http).completion("claude-sonnet-4-5").erase()
        }
        Provider::OpenAi => OpenAIConfig::new("key").with_base_url(url).connect(http).chat("m").erase(),
    }
}

/// Thirty requests in three runs, a compaction before the third.
fn play(provider: Provider, streaming: bool) -> Vec<String> {
    let script = session_of(30, &[10, 20, 30]);
    let replies = (1..).zip(&script).map(|(number, response)| reply(provider, number, response, streaming)).collect();
    let server = Server::playing(replies, if streaming { "text/event-stream" } else { "application/json" });
    let todo = Handle::new(Policy { clock: Policy::TODO_HISTORY.clock, ..Policy::DEFAULT });
    let builder = AgentBuilder::new(model(provider, &server.url)).preamble("Work.").max_tokens(1000);
    let agent =
        builder.add_hook(todo.hook()).dynamic_tools(todo.tools()).dynamic_tool(bash()).default_max_turns(40).build();
    block_on(async {
        let mut history = Vec::new();
        prompt(&agent, "Prompt 0.", &mut history, streaming).await;
        prompt(&agent, "Prompt 1.", &mut history, streaming).await;
        todo.compacted();
        let mut history = vec![Message::user("Summary."), Message::assistant("Understood.")];
        prompt(&agent, "Prompt 2.", &mut history, streaming).await;
    });
    server.bodies()
}

/// E1 by the bytes that left: the reminder is on exactly the requests that the core says (write in response
/// 2, 8 / 8, compaction before 21: 11, 19, 29), and the new context holds the open items once.
fn check(provider: Provider, streaming: bool) {
    let bodies = play(provider, streaming);
    let bodies: Vec<Body<'_>> = bodies.iter().map(|body| serde_json::from_str(body).unwrap()).collect();
    assert_eq!(bodies.len(), 30);
    let messages: Vec<Vec<String>> =
        bodies.iter().map(|body| body.messages.iter().map(|message| message.get().to_owned()).collect()).collect();
    assert_prefix_stable(&messages[..20]);
    assert_prefix_stable(&messages[20..]);
    for body in &bodies {
        assert_eq!(body.tools.get(), bodies[0].tools.get());
        assert_eq!(body.system.map(RawValue::get), bodies[0].system.map(RawValue::get));
    }
    let reminders = |messages: &Vec<String>| messages.concat().matches("has not changed for a while").count();
    let counts: Vec<_> = messages.iter().map(reminders).collect();
    let expected = |number: usize| match number {
        19..=20 => 2,
        11..19 | 29.. => 1,
        _ => 0,
    };
    assert_eq!(counts, (1..=30).map(expected).collect::<Vec<_>>(), "{provider:?}");
    assert!(messages[20..].iter().all(|messages| holding(messages, "```json") == 1));
    assert_where(provider, messages[18].last().unwrap());
}

/// Request 19 ends with a tool result and the reminder after it (E2, E4).
fn assert_where(provider: Provider, last: &str) {
    let last: Value = serde_json::from_str(last).unwrap();
    assert_eq!(last["role"], "user");
    if provider == Provider::Anthropic {
        assert_eq!(last["content"][0]["type"], "tool_result");
        assert!(last["content"][1]["text"].as_str().unwrap().starts_with("<system-reminder>"));
    } else {
        assert!(last["content"].to_string().contains("<system-reminder>"), "{last}");
    }
}

#[test]
fn e1_anthropic() {
    check(Provider::Anthropic, false);
    check(Provider::Anthropic, true);
}

#[test]
fn e1_openai() {
    check(Provider::OpenAi, false);
    check(Provider::OpenAi, true);
}
