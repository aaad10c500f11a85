//! What the benches share: the calls that are measured, and what they are measured against.

#![allow(clippy::expect_used)]

use std::time::Instant;

use serde::Deserialize;
use session_todo::{Agent, Call, Caller, Event, Outcome, Status};

/// A `todo_write` of ten items, about 830 bytes.
#[must_use]
pub fn ten_items() -> String {
    let items: Vec<String> = (1..=10)
        .map(|id| {
            let status = ["completed", "in_progress", "pending"].get(id / 4).unwrap_or(&"pending");
            format!(r#"{{"id":"{id}","content":"Step {id:02} of the plan that is measured here","status":"{status}"}}"#)
        })
        .collect();
    format!(r#"{{"todos":[{}]}}"#, items.join(","))
}

/// The same list as a program would read it that wants nothing but strict JSON.
#[derive(Deserialize)]
pub struct Typed {
    /// The items.
    pub todos: Vec<TypedItem>,
}

/// An item of [`Typed`].
#[derive(Deserialize)]
pub struct TypedItem {
    /// Its id.
    pub id: String,
    /// Its content.
    pub content: String,
    /// Its status.
    pub status: Status,
}

/// A call by main.
#[must_use]
pub fn call<'a>(name: &'a str, arguments: &'a str, outcome: Outcome<'a>) -> Event<'a> {
    Event::ToolCalled(Call { by: Caller::Main, name: name.into(), arguments: arguments.into(), outcome })
}

/// Main's request.
pub const REQUEST: Event<'static> = Event::RequestSent { by: Agent::Main };

/// Nanoseconds of one run: the median of 101 batches.
#[must_use]
pub fn median(batch: u32, mut run: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..101)
        .map(|_| {
            let start = Instant::now();
            (0..batch).for_each(|_| run());
            start.elapsed().as_secs_f64() * 1e9 / f64::from(batch)
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times.get(50).copied().unwrap_or(f64::NAN)
}
