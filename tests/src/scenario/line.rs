//! One line of the event part.

use session_todo::{Agent, Event, Policy};

use super::call;
use super::policy;

/// What a line asks for.
pub(super) enum Step {
    /// Go on from the state as it is, under this preset (P6).
    Preset(Policy),
    /// Go on from the state as it is, with one thing of the policy changed.
    Set(String, String),
    Events(Vec<Event<'static>>),
    Show(Show),
    /// State to JSON and back (A8).
    StoreAndReadBack,
    /// The expectations of this file are computed from the specification, and never rewritten.
    ByHand,
}

/// What a line `show …` prints.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Show {
    Text,
    List,
    Reminders,
    Tools,
    Guidance,
    Summary,
}

pub(super) fn read(line: &str) -> Result<Step, String> {
    let line = expand(line);
    let (word, rest) = split_word(&line);
    match (word, rest) {
        ("policy", name) => Policy::named(name).map(Step::Preset).ok_or_else(|| format!("no policy is called {name}")),
        ("request", count) => Ok(Step::Events(vec![request(); times(count)?])),
        ("round", count) => Ok(Step::Events(rounds(times(count)?))),
        ("sub", "request") => Ok(one(Event::RequestSent { by: Agent::Sub })),
        ("compacted", "") => Ok(one(Event::Compacted)),
        ("resumed", "") => Ok(one(Event::Resumed)),
        ("show", what) => show(what),
        ("store", "and read back") => Ok(Step::StoreAndReadBack),
        ("by", "hand") => Ok(Step::ByHand),
        (key, value) if policy::SETTINGS.contains(&key) => Ok(Step::Set(key.to_owned(), value.to_owned())),
        _ => call::read(&line).map(one),
    }
}

pub(super) fn split_word(text: &str) -> (&str, &str) {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    (word, rest.trim())
}

fn one(event: Event<'static>) -> Step {
    Step::Events(vec![event])
}

fn request() -> Event<'static> {
    Event::RequestSent { by: Agent::Main }
}

fn rounds(count: usize) -> Vec<Event<'static>> {
    (0..count).flat_map(|_| [request(), call::foreign("Bash")]).collect()
}

fn times(count: &str) -> Result<usize, String> {
    if count.is_empty() {
        return Ok(1);
    }
    let number = count.strip_prefix('x').and_then(|number| number.parse().ok());
    number.ok_or_else(|| format!("`{count}` is not like x10"))
}

fn show(what: &str) -> Result<Step, String> {
    let show = match what {
        "text" => Show::Text,
        "list" => Show::List,
        "reminders" => Show::Reminders,
        "tools" => Show::Tools,
        "guidance" => Show::Guidance,
        "summary" => Show::Summary,
        _ => return Err(format!("`{what}` can't be shown: text, list, reminders, tools, guidance, summary")),
    };
    Ok(Step::Show(show))
}

/// `{{a*3}}` is `aaa`, so that what is too long to type can be written.
pub(super) fn expand(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some((before, repeat, after)) = next_repeat(rest) {
        out.extend([before, &repeat]);
        rest = after;
    }
    out + rest
}

fn next_repeat(text: &str) -> Option<(&str, String, &str)> {
    let (before, rest) = text.split_once("{{")?;
    let (inside, after) = rest.split_once("}}")?;
    let (unit, count) = inside.rsplit_once('*')?;
    Some((before, unit.repeat(count.parse().ok()?), after))
}
