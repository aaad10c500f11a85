//! Preparing a request: `cargo bench -p session-todo-benches --bench wire`.
//!
//! What a loop pays for the list beside writing its request: putting an effect into a history of 1 MB, against
//! writing that history from typed structs. Absolute figures are the machine's; the ratios are promised.

#![allow(missing_docs, clippy::expect_used)]

use std::hint::black_box;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use serde::Serialize;
use session_todo::{Effect, Lane, Reminder};
use session_todo_benches::median;
use session_todo_wire::{Carrier, Format, History, Message};

#[derive(Serialize)]
struct Typed {
    role: &'static str,
    content: Vec<Block>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block {
    Text { text: String },
    ToolUse { id: String, name: &'static str, input: Input },
    ToolResult { tool_use_id: String, content: String },
}

#[derive(Serialize)]
struct Input {
    command: String,
}

/// A prompt, then calls and their results: about so many bytes as JSON.
fn typed(bytes: usize) -> Vec<Typed> {
    let mut messages = vec![Typed { role: "user", content: vec![Block::Text { text: "Ship it.".to_owned() }] }];
    let output = "fn line(of: &str) -> usize { of.len() } // \"quoted\"\n".repeat(12);
    for n in 0..bytes / 900 {
        let input = Input { command: format!("sed -n {n},{}p src/lib.rs", n + 12) };
        let call = Block::ToolUse { id: format!("toolu_{n:08}"), name: "bash", input };
        let result = Block::ToolResult { tool_use_id: format!("toolu_{n:08}"), content: output.clone() };
        messages.push(Typed { role: "assistant", content: vec![call] });
        messages.push(Typed { role: "user", content: vec![result] });
    }
    messages
}

/// The same as a history, its last results not yet sent.
fn history(typed: &[Typed]) -> History {
    let raw = |message| serde_json::value::to_raw_value(message).expect("typed structs are JSON");
    let whole = History::whole(Format::Anthropic, typed.iter().map(raw)).expect("messages of the format");
    let mut history = History::new(Format::Anthropic, Carrier::User);
    whole.messages().iter().for_each(|message: &Message| history.push(message.clone()));
    history
}

/// A copy to which results were pushed, as they are before a request.
fn with_results(history: &History) -> History {
    let mut copy = history.clone();
    copy.push(history.messages().last().cloned().expect("it ends in results"));
    copy
}

fn reminder(lane: Lane) -> Effect {
    let text = format!("<system-reminder>\n{}\n</system-reminder>", "- #1 [pending] A step of the plan\n".repeat(10));
    Effect::AppendSystemReminder(Reminder { lane, text, items: Some(10) })
}

fn requests(criterion: &mut Criterion) {
    let typed = typed(1_000_000);
    let mut group = criterion.benchmark_group("a request of 1 MB");
    group.sample_size(20);
    group.bench_function("written from typed structs", |bench| bench.iter(|| serde_json::to_string(black_box(&typed))));
    for lane in [Lane::History, Lane::ToolResult, Lane::LastUserMessage] {
        let (history, effect) = (history(&typed), reminder(lane));
        group.bench_function(format!("prepared, {lane:?}"), |bench| {
            let prepare = |history: &mut History| drop(black_box(history.request(Some(black_box(&effect)))));
            bench.iter_batched_ref(|| with_results(&history), prepare, BatchSize::PerIteration);
        });
    }
    let history = history(&typed);
    group.bench_function("written from a history", |bench| bench.iter(|| history.outgoing(None).to_string()));
    group.finish();
    ratios(&typed);
}

/// The promised ratios, medians of this run.
fn ratios(typed: &[Typed]) {
    let bytes = serde_json::to_string(typed).expect("typed structs are JSON").len();
    let written = median(4, || drop(black_box(serde_json::to_string(black_box(typed)))));
    println!("typed structs      {written:10.0} ns for {bytes} bytes");
    for lane in [Lane::History, Lane::ToolResult, Lane::LastUserMessage] {
        let (mut history, effect) = (history(typed), reminder(lane));
        // Each time with a result that was not sent yet, which a lane may put the text behind.
        let results = history.messages().last().cloned().expect("it ends in results");
        let prepared = median(20, || {
            history.push(results.clone());
            drop(black_box(history.request(Some(black_box(&effect)))));
        });
        let percent = prepared / written * 100.0;
        println!("prepared           {prepared:10.0} ns, {percent:5.2} % of it (at most 1 %), {lane:?}");
    }
    let history = history(typed);
    let own = median(4, || drop(black_box(history.outgoing(None).to_string())));
    println!("written by history {own:10.0} ns, {:5.1} % of it", own / written * 100.0);
}

criterion_group!(benches, requests);
criterion_main!(benches);
