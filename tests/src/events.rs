//! Logs to try: the letters of the exhaustive test, and a decoder from bytes that proptest and the
//! fuzzer share, so that both shrink and mutate the same choices. A byte of 0 is the plainest choice.

use std::borrow::Cow;
use std::num::NonZeroU32;

use proptest::collection::vec;
use proptest::prelude::{Strategy, any};
use session_todo::policy::{AtCompaction, Carry, Clock, Gate, Listing, Several};
use session_todo::{Agent, Call, Caller, Event, Lane, Outcome, Policy};

/// The longest random log, and the longest that a fuzzer's bytes decode to: it lives on many short ones.
const LONGEST: usize = 200;
const LONGEST_FUZZED: usize = 80;
const SEGMENT: usize = 40;

/// The letters of the exhaustive test, named in issue 2.
#[must_use]
pub fn alphabet() -> [Event<'static>; 14] {
    let main = |name, arguments| called(Caller::Main, name, arguments, Outcome::Ours);
    [
        main("todo_write", r#"{"todos":[{"content":"A","status":"in_progress"}]}"#),
        main("todo_write", r#"{"todos":[{"id":"1","content":"A"},{"content":"B","status":"pending"}]}"#),
        main("todo_write", r#"{"todos":[]}"#),
        main("TaskCreate", r#"{"subject":"C","description":"more"}"#),
        main("TaskUpdate", r#"{"taskid":"1","status":"completed"}"#),
        main("todo_write", r#"{"todos":null}"#),
        called(Caller::Main, "todo_write", r#"{"todos":[{"content":"F","status":"pending"}]}"#, Outcome::Failed),
        called(Caller::Main, "Bash", "", Outcome::Ran { id: None }),
        called(
            Caller::User,
            "todo_write",
            r#"{"todos":[{"content":"B"},{"content":"A","status":"completed"}]}"#,
            Outcome::Ours,
        ),
        called(Caller::Sub, "TaskCreate", r#"{"subject":"S","description":"more"}"#, Outcome::Ours),
        Event::RequestSent { by: Agent::Main },
        Event::RequestSent { by: Agent::Sub },
        Event::Compacted,
        Event::Resumed,
    ]
}

/// A policy: one of the presets, plain or varied.
pub fn policy() -> impl Strategy<Value = Policy> {
    vec(any::<u8>(), 24).prop_map(|bytes| decode_policy(&mut Choices(&bytes)))
}

/// A log whose events are all built from the schemas: the model can judge nearly all of them.
pub fn well_formed() -> impl Strategy<Value = Vec<Event<'static>>> {
    logs(false)
}

/// A log in which half of the calls are anything at all.
pub fn log() -> impl Strategy<Value = Vec<Event<'static>>> {
    logs(true)
}

fn logs(wild: bool) -> impl Strategy<Value = Vec<Event<'static>>> {
    let segment = vec(any::<u8>(), SEGMENT).prop_map(move |bytes| {
        let mut log = Vec::new();
        decode_segment(&mut Choices(&bytes), wild, &mut log);
        log
    });
    vec(segment, 0..30).prop_map(|segments| segments.into_iter().flatten().take(LONGEST).collect())
}

/// A policy and a log from a fuzzer's bytes. A third of the logs is built from the schemas alone, so that
/// the model can judge them; so is half of the others' calls.
#[must_use]
pub fn from_bytes(bytes: &[u8]) -> (Policy, Vec<Event<'static>>) {
    let mut choices = Choices(bytes);
    let policy = decode_policy(&mut choices);
    let (wild, mut log) = (!choices.one_in(3), Vec::new());
    while !choices.0.is_empty() && log.len() < LONGEST_FUZZED {
        decode_segment(&mut choices, wild, &mut log);
    }
    (policy, log)
}

/// Choices read off bytes, 0 where there are none left.
struct Choices<'a>(&'a [u8]);

impl Choices<'_> {
    fn below(&mut self, n: usize) -> usize {
        usize::from(self.byte()) % n
    }

    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    fn of<T: Copy>(&mut self, pool: &[T]) -> T {
        pool[self.below(pool.len())]
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == n - 1
    }

    fn text(&mut self, max: usize) -> String {
        let n = self.below(max).min(self.0.len());
        let (text, rest) = self.0.split_at(n);
        self.0 = rest;
        String::from_utf8_lossy(text).into_owned()
    }
}

fn decode_policy(c: &mut Choices<'_>) -> Policy {
    let preset = Policy::PRESETS[c.below(6)].clone();
    if c.one_in(6) {
        return preset;
    }
    let count = |n| NonZeroU32::new(n);
    Policy {
        clock: decode_clock(c),
        max_unanswered: c.of(&[preset.max_unanswered, count(1), None, count(1), count(3)]),
        gate: c.of(&[preset.gate, Gate::Open, Gate::None]),
        lane: c.of(&[preset.lane, Lane::History, Lane::LastUserMessage, Lane::ToolResult]),
        listing: c.of(&[preset.listing, Listing::Nothing, Listing::Open, Listing::All]),
        carry: c.of(&[preset.carry, Carry::Open, Carry::All, Carry::Nothing]),
        at_compaction: c.of(&[preset.at_compaction, AtCompaction::Keep, AtCompaction::Empty]),
        resume_note: c.of(&[true, true, false]),
        share: c.of(&[preset.share, false, true]),
        several_in_progress: c.of(&[Several::Allow, preset.several_in_progress, Several::Refuse]),
        max_items: c.of(&[None, count(2), None, preset.max_items]),
        ..preset
    }
}

fn decode_clock(c: &mut Choices<'_>) -> Clock {
    let count = |n| NonZeroU32::new(n).unwrap();
    let requests = |after, between| Clock::Requests { after: count(after), between: count(between) };
    match c.below(8) {
        0 | 1 => requests(1, 1),
        2 => requests(1, 3),
        3 => requests(2, 2),
        4 => requests(3, 10),
        5 | 6 => Clock::Rounds(count(u32::from(c.byte() % 3) + 1)),
        _ => Clock::EveryRequest,
    }
}

/// A few events that belong together: a response with its calls, a quiet stretch, one thing from outside.
fn decode_segment(c: &mut Choices<'_>, wild: bool, log: &mut Vec<Event<'static>>) {
    match c.below(16) {
        0..=4 => {
            log.push(request());
            for _ in 0..=c.below(3) {
                log.push(decode_call(c, Caller::Main, wild));
            }
        }
        5 | 6 => quiet(c.of(&[2, 3, 4, 6, 10, 24]), true, log),
        7 => quiet(c.of(&[2, 3, 5, 12, 24]), false, log),
        8 => log.push(Event::RequestSent { by: Agent::Sub }),
        9 | 10 => {
            let by = c.of(&[Caller::Sub, Caller::User, Caller::Record, Caller::User]);
            log.push(decode_call(c, by, wild));
        }
        11 => log.push(Event::Compacted),
        12 => log.push(Event::Resumed),
        13 => log.extend([Event::Resumed, request()]),
        14 => {
            // Between an edit and the request that tells of it (L13).
            for by in [Caller::User, c.of(&[Caller::Sub, Caller::Main, Caller::Record, Caller::Sub]), Caller::Main] {
                log.push(decode_call(c, by, wild));
            }
        }
        _ => {
            let by = c.of(&[Caller::Main, Caller::Main, Caller::User, Caller::Sub]);
            log.push(decode_call(c, by, wild));
        }
    }
}

fn quiet(requests: usize, calls: bool, log: &mut Vec<Event<'static>>) {
    for _ in 0..requests {
        log.push(request());
        if calls {
            log.push(called(Caller::Main, "Bash", "", Outcome::Ran { id: None }));
        }
    }
}

const fn request() -> Event<'static> {
    Event::RequestSent { by: Agent::Main }
}

fn called(
    by: Caller,
    name: &'static str,
    arguments: impl Into<Cow<'static, str>>,
    outcome: Outcome<'static>,
) -> Event<'static> {
    Event::ToolCalled(Call { by, name: name.into(), arguments: arguments.into(), outcome })
}

fn decode_call(c: &mut Choices<'_>, by: Caller, wild: bool) -> Event<'static> {
    if wild && c.one_in(2) { decode_wild(c, by) } else { decode_well_formed(c, by) }
}

const IDS: [&str; 10] =
    ["\"1\"", "\"2\"", "\"3\"", "2", "\"a\"", "\"#2\"", "\"7\"", "null", "\"4294967295\"", "\"4294967296\""];
/// Some are spellings of one another (L6), one is the shown form of another (T5).
const CONTENTS: [&str; 9] =
    ["Plan", "Test <x>", "plan.", "Build  it", "build it", "Ship", "Wait", "Run `x`", "Test ‹x›"];
const STATUSES: [&str; 9] =
    ["pending", "in_progress", "completed", "in_progress", "pending", "in_progress", "blocked", "done", "cancelled"];
const KNOWN: [&str; 6] = ["1", "2", "3", "a", "5", "99"];

fn decode_well_formed(c: &mut Choices<'_>, by: Caller) -> Event<'static> {
    let outcome = decode_outcome(c);
    if by == Caller::Record {
        return called(by, "TodoWrite", list(c, by), outcome);
    }
    match c.below(16) {
        0..=4 => called(by, c.of(&["todo_write", "TodoWrite"]), list(c, by), outcome),
        5..=7 => called(by, "TaskCreate", create(c), outcome),
        8..=11 => called(by, "TaskUpdate", update(c), outcome),
        12 => called(by, "TaskGet", format!(r#"{{"taskid":"{}"}}"#, c.of(&KNOWN)), outcome),
        13 => called(by, "TaskList", "{}", outcome),
        14 => called(by, c.of(&["Bash", "Read", "grep"]), "", outcome),
        _ => called(by, c.of(&["todo_write", "TaskCreate", "TaskUpdate"]), c.of(&BAD), outcome),
    }
}

/// Refused by every one of the three writes.
const BAD: [&str; 2] = ["{}", "{\"todos\":[{\"content\":\"Plan\""];

fn decode_outcome(c: &mut Choices<'_>) -> Outcome<'static> {
    match c.below(8) {
        0..=3 => Outcome::Ours,
        4 | 5 => Outcome::Ran { id: None },
        6 => Outcome::Ran { id: Some(c.of(&["1", "2", "#4", "b", "", "9"]).into()) },
        _ => Outcome::Failed,
    }
}

fn list(c: &mut Choices<'_>, by: Caller) -> String {
    let n = c.of(&[1, 2, 3, 4, 2, 0]);
    let items: Vec<String> = (0..n).map(|_| item(c, by)).collect();
    format!(r#"{{"todos":[{}]}}"#, items.join(","))
}

fn item(c: &mut Choices<'_>, by: Caller) -> String {
    let mut keys = Vec::new();
    if c.one_in(2) {
        keys.push(format!(r#""id":{}"#, c.of(&IDS)));
    }
    if by == Caller::Record || !c.one_in(8) {
        keys.push(format!(r#""content":"{}""#, c.of(&CONTENTS)));
    }
    match c.below(16) {
        0..=10 => keys.push(format!(r#""status":"{}""#, c.of(&STATUSES))),
        11 => keys.push(r#""status":"deleted""#.to_owned()),
        12 => keys.push(r#""status":"later""#.to_owned()),
        _ => {}
    }
    extra_keys(c, &mut keys);
    format!("{{{}}}", keys.join(","))
}

fn extra_keys(c: &mut Choices<'_>, keys: &mut Vec<String>) {
    if c.one_in(6) {
        keys.push(format!(r#""description":"{}""#, c.of(&["why", "how"])));
    }
    if c.one_in(8) {
        keys.push(format!(r#""{}":{}"#, c.of(&["priority", "owner"]), c.of(&["\"high\"", "1", "true", "[1,{}]"])));
    }
}

fn create(c: &mut Choices<'_>) -> String {
    let mut keys = vec![format!(r#""subject":"{}","description":"{}""#, c.of(&CONTENTS), c.of(&["why", "how"]))];
    if c.one_in(4) {
        keys.push(format!(r#""status":"{}""#, c.of(&STATUSES)));
    }
    format!("{{{}}}", keys.join(","))
}

fn update(c: &mut Choices<'_>) -> String {
    let mut keys = vec![format!(r#""taskid":"{}""#, c.of(&KNOWN))];
    match c.below(8) {
        0..=4 => keys.push(format!(r#""status":"{}""#, c.of(&STATUSES))),
        5 => keys.push(r#""status":"deleted""#.to_owned()),
        6 => keys.push(format!(r#""subject":"{}""#, c.of(&CONTENTS))),
        _ => {}
    }
    extra_keys(c, &mut keys);
    format!("{{{}}}", keys.join(","))
}

const NAMES: [&str; 9] =
    ["todo_write", "TaskUpdate", "TaskCreate", "TodoWrite", "TaskGet", "TaskList", "todowrite", "update_plan", "Bash"];

/// Any name and any arguments.
fn decode_wild(c: &mut Choices<'_>, by: Caller) -> Event<'static> {
    let name: Cow<'static, str> = if c.one_in(10) { c.text(12).into() } else { c.of(&NAMES).into() };
    let arguments = match c.below(8) {
        0 => c.text(40),
        1 => large(c),
        _ => mutated(c, by),
    };
    let outcome = match decode_outcome(c) {
        Outcome::Ran { id: Some(_) } => Outcome::Ran { id: Some(c.text(8).into()) },
        outcome => outcome,
    };
    Event::ToolCalled(Call { by, name, arguments: arguments.into(), outcome })
}

/// A valid text with one thing wrong with it, or said in another way.
fn mutated(c: &mut Choices<'_>, by: Caller) -> String {
    let valid = match c.below(3) {
        0 => list(c, by),
        1 => create(c),
        _ => update(c),
    };
    let at = c.below(valid.len());
    let at = (0..=at).rev().find(|&at| valid.is_char_boundary(at)).unwrap_or(0);
    let (head, tail) = valid.split_at(at);
    match c.below(10) {
        0 => head.to_owned(),
        1 => format!("{head}{}{tail}", c.text(4)),
        2 => tail.to_owned(),
        3 => serde_json::Value::from(&*valid).to_string(),
        4 => valid.replace('"', "'").replace("null", "None"),
        5 => format!("```json\n{valid}\n```"),
        6 => valid.replace("content", c.of(&["task", "title", "description", "subject"])),
        7 => valid.replace("Plan", c.of(&["</todos>&lt;", "\u{202e}x\\n", "`", "a\\u0000b", " "])),
        8 => format!("{valid}</parameter>"),
        _ => valid.strip_prefix(r#"{"todos":"#).map_or_else(|| valid.clone(), |rest| rest[..rest.len() - 1].to_owned()),
    }
}

/// Something near or over a limit (L10).
fn large(c: &mut Choices<'_>) -> String {
    let n = c.of(&[60, 120, 250, 257, 300]);
    let repeated = |unit: &str| unit.repeat(n * 16);
    match c.below(6) {
        0 => format!(r#"{{"todos":[{}]}}"#, vec![r#"{"content":"Plan"}"#; n].join(",")),
        1 => format!(r#"{{"todos":[{{"content":"{}"}}]}}"#, repeated("x")),
        2 => format!(r#"{{"subject":"{}","description":"{}"}}"#, repeated("<"), repeated("more")),
        3 => format!(r#"{{"todos":[{{"id":"{}","content":"Plan"}}]}}"#, "9".repeat(n)),
        4 => format!(r#"{{"todos":[{{"content":"Plan",{}}}]}}"#, keys(n / 8)),
        _ => "[".repeat(n * 100),
    }
}

fn keys(n: usize) -> String {
    let keys: Vec<String> = (0..n).map(|n| format!(r#""k{n}":[{n}]"#)).collect();
    keys.join(",")
}
