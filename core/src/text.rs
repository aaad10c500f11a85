//! Every word that a model reads, but a policy's own. Item text stands in it in its shown form only.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::{self, Write};

use crate::change::{Called, Carried, Done, Edits, One, Wrote};
use crate::effect::{Lane, Reminder, Snapshot, ToolResult};
use crate::limits;
use crate::list::{Extra, Item, List, Status};
use crate::policy::{Carry, Listing, Policy, ResultList};
use crate::refusal::Refusal;
use crate::session::Session;
use crate::shown::{capped, push_json, shown};
use crate::tools::Answer;

/// The answer to a call (L9, C14).
pub(crate) fn result(called: &Called, session: &Session) -> ToolResult {
    let mut out = String::new();
    match &called.result {
        Ok(Done::Wrote(wrote)) => written(&mut out, wrote, called.answer, session),
        Ok(Done::Read(item)) => read(&mut out, called, item.as_ref(), session),
        Err(Refusal::Edited) => {
            line(&mut out, format_args!("{}", Refusal::Edited));
            if session.state().list().items().is_empty() {
                line(&mut out, format_args!("It is empty."));
            }
            lines(&mut out, session.state().list().items().iter(), false);
        }
        Err(refusal) => line(&mut out, format_args!("{}", capped(&refusal.to_string(), limits::REFUSAL))),
    }
    if called.result.is_ok() && !called.mended.is_empty() {
        line(&mut out, format_args!("Read after mending: {}.", called.mended));
    }
    trim_end(&mut out);
    ToolResult { text: out, is_error: called.result.is_err() }
}

/// What rides on a request: an edit's note, a resume note, a reminder, in this order, as one text.
pub(crate) fn reminder(carried: &Carried, list: &List, policy: &Policy) -> Reminder {
    let mut body = String::new();
    if let Some(edits) = &carried.edits {
        line(&mut body, format_args!("{}", policy.words.edited));
        edited(&mut body, edits);
    }
    if carried.unfinished {
        line(&mut body, format_args!("{}", policy.words.unfinished));
        lines(&mut body, list.items().iter().filter(|item| item.status == Status::InProgress), true);
    }
    let items = carried.reminder.then(|| {
        line(&mut body, format_args!("{}", policy.words.reminder));
        listing(&mut body, list, policy)
    });
    let is_note = carried.edits.is_some() || carried.unfinished;
    let lane = if is_note { Lane::History } else { policy.lane };
    Reminder { lane, text: tagged(&policy.words.tag, &body), items }
}

/// What a compaction carries, if anything (A2 to A5).
pub(crate) fn snapshot(list: &List, policy: &Policy) -> Option<Snapshot> {
    let carried: Vec<&Item> = match policy.carry {
        Carry::Nothing => return None,
        Carry::Open => list.open().collect(),
        Carry::All => list.items().iter().collect(),
    };
    if !carried.iter().any(|item| item.status.is_open()) {
        return None;
    }
    let mut body = String::new();
    line(&mut body, format_args!("{}", policy.words.snapshot));
    body.push_str("```json\n{\"todos\":[\n");
    for (index, item) in carried.iter().enumerate() {
        body.push_str(if index == 0 { "{\"id\":" } else { ",\n{\"id\":" });
        push_json(&mut body, &item.id);
        body.push_str(",\"content\":");
        push_json(&mut body, &item.content);
        body.push_str(",\"status\":\"");
        body.push_str(item.status.as_str());
        body.push_str("\"}");
    }
    body.push_str("\n]}\n```\n");
    let closed = list.items().len() - carried.len();
    if closed > 0 {
        line(&mut body, format_args!("{} not listed.", Amount(closed, "closed item is", "closed items are")));
    }
    Some(Snapshot { text: tagged(&policy.words.tag, &body), items: carried.len() })
}

/// The whole list, for whoever writes the summary (A7).
pub(crate) fn for_summary(list: &List) -> Option<String> {
    if list.items().is_empty() {
        return None;
    }
    let mut out = String::new();
    line(&mut out, format_args!("The task list of this session: {}.", Counts(list)));
    lines(&mut out, list.items().iter(), false);
    trim_end(&mut out);
    Some(out)
}

fn written(out: &mut String, wrote: &Wrote, answer: Answer, session: &Session) {
    let (list, policy) = (session.list(), session.policy());
    let unchanged = if wrote.changed { "" } else { "Nothing changed. " };
    match &wrote.one {
        None if list.items().is_empty() && wrote.changed => line(out, format_args!("The list is cleared.")),
        None => {
            line(out, format_args!("{unchanged}The list has {}.", Counts(list)));
            let answer = if policy.result == ResultList::Boxes { Answer::Boxes } else { answer };
            answered(out, list, answer);
        }
        Some(one) => {
            out.push_str(unchanged);
            about_one(out, one, list);
            line(out, format_args!("The list has {}.", Counts(list)));
        }
    }
    remarks(out, wrote, list, policy);
}

/// The whole list in the form of the tool that was called.
fn answered(out: &mut String, list: &List, answer: Answer) {
    for item in list.items() {
        let content = shown(&item.content);
        match answer {
            Answer::Lines | Answer::Worded(_) => {
                line(out, format_args!("- #{} [{}] {content}", item.id, answer.word(item.status)));
            }
            Answer::Boxes => line(out, format_args!("[{}] {content}", sign(item.status, ">"))),
            Answer::Checklist => line(out, format_args!("- [{}] {content}", sign(item.status, "-"))),
        }
    }
}

fn about_one(out: &mut String, one: &One, list: &List) {
    let (verb, item) = match one {
        One::Created(at) => ("Created", list.items().get(*at)),
        One::Updated(at) => ("Now", list.items().get(*at)),
        One::Deleted(item) => ("Deleted", Some(item)),
    };
    if let Some(item) = item {
        line(out, format_args!("{verb} {}", Line(item)));
    }
}

/// What else there is to say of a write, as information.
fn remarks(out: &mut String, wrote: &Wrote, list: &List, policy: &Policy) {
    for (id, number) in &wrote.renumbered {
        line(out, format_args!("#{id} came twice with different contents: the second is now #{number}."));
    }
    let in_progress = list.count(Status::InProgress);
    if in_progress > 1 {
        line(out, format_args!("{in_progress} items are in progress."));
    }
    if !wrote.dropped.is_empty() {
        line(out, format_args!("For information, open items that this list left out:"));
        lines(out, wrote.dropped.iter(), policy.offers_tasks_alone());
    }
}

fn read(out: &mut String, called: &Called, item: Option<&Item>, session: &Session) {
    let list = session.list();
    match item {
        Some(item) => whole(out, item),
        None if list.items().is_empty() => {
            line(out, format_args!("The list is empty."));
        }
        None => {
            line(out, format_args!("The list has {}.", Counts(list)));
            match called.answer {
                Answer::Lines => lines(out, list.items().iter(), session.policy().offers_tasks_alone()),
                answer => answered(out, list, answer),
            }
        }
    }
}

/// Everything that is known of an item.
fn whole(out: &mut String, item: &Item) {
    line(out, format_args!("{}", Line(item)));
    if let Some(description) = &item.description {
        line(out, format_args!("description: {}", shown(description)));
    }
    for Extra { key, json } in &item.extras {
        line(out, format_args!("{}: {}", shown(key), shown(json)));
    }
}

fn edited(out: &mut String, edits: &Edits) {
    let (hidden, shown): (Vec<_>, Vec<_>) = edits.changed.iter().partition(|(_, hidden)| *hidden);
    titled(out, "Added:", edits.added.iter());
    titled(out, "Changed:", shown.into_iter().map(|(item, _)| item));
    titled(out, "Changed in their details:", hidden.into_iter().map(|(item, _)| item));
    titled(out, "Removed:", edits.removed.iter());
    if !edits.order.is_empty() {
        let mut order = String::new();
        for id in &edits.order {
            let _ = write!(order, "{}#{id}", if order.is_empty() { "" } else { ", " });
        }
        line(out, format_args!("The order is now: {}", capped(&order, limits::CAPPED_BYTES)));
    }
}

fn titled<'a>(out: &mut String, title: &str, items: impl Iterator<Item = &'a Item>) {
    let mut items = items.peekable();
    if items.peek().is_some() {
        line(out, format_args!("{title}"));
        lines(out, items, true);
    }
}

/// What a reminder lists, open items first. Returns how many.
fn listing(out: &mut String, list: &List, policy: &Policy) -> usize {
    let closed = list.items().iter().filter(|item| !item.status.is_open());
    let items: Vec<&Item> = match policy.listing {
        Listing::Nothing => return 0,
        Listing::Open => list.open().collect(),
        Listing::All => list.open().chain(closed).collect(),
    };
    lines(out, items.iter().copied(), policy.offers_tasks_alone());
    items.len()
}

/// A line an item; capped lists say how many are left out (T4), the others leave out nothing (T5).
fn lines<'a>(out: &mut String, items: impl Iterator<Item = &'a Item>, cap: bool) {
    let start = out.len();
    let mut left_out = 0;
    for (index, item) in items.enumerate() {
        let full = index >= limits::CAPPED_ITEMS || out.len() - start >= limits::CAPPED_BYTES;
        match cap {
            true if full => left_out += 1,
            true => line(out, format_args!("- {}", Capped(item))),
            false => line(out, format_args!("- {}", Line(item))),
        }
    }
    if left_out > 0 {
        line(out, format_args!("({left_out} more not shown)"));
    }
}

/// One line stays one line inside its tag; more stand between the tags.
fn tagged(tag: &str, body: &str) -> String {
    let body = body.trim_end();
    let around = if body.contains('\n') { "\n" } else { "" };
    alloc::format!("<{tag}>{around}{body}{around}</{tag}>")
}

fn line(out: &mut String, text: fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = writeln!(out, "{text}");
}

fn trim_end(out: &mut String) {
    out.truncate(out.trim_end().len());
}

/// An item on a line.
struct Line<'a>(&'a Item);

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{} [{}] {}", self.0.id, self.0.status.as_str(), shown(&self.0.content))
    }
}

/// An item on a line of bounded length.
struct Capped<'a>(&'a Item);

impl fmt::Display for Capped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let content = shown(&self.0.content);
        write!(f, "#{} [{}] {}", self.0.id, self.0.status.as_str(), capped(&content, limits::CAPPED_CONTENT))
    }
}

/// What stands in an item's box. A status without a sign is written out, since a sign that reads back as
/// another status would change the item.
const fn sign(status: Status, in_progress: &'static str) -> &'static str {
    match status {
        Status::Pending => " ",
        Status::InProgress => in_progress,
        Status::Completed => "x",
        Status::Blocked | Status::Cancelled => status.as_str(),
    }
}

/// How many items there are, by status.
struct Counts<'a>(&'a List);

impl fmt::Display for Counts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = self.0.items().len();
        write!(f, "{}", Amount(total, "item", "items"))?;
        let mut before = " (";
        for status in Status::ALL {
            let count = self.0.count(status);
            if count > 0 {
                write!(f, "{before}{count} {}", status.as_str())?;
                before = ", ";
            }
        }
        f.write_str(if total > 0 { ")" } else { "" })
    }
}

/// A number with its noun.
struct Amount(usize, &'static str, &'static str);

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0, if self.0 == 1 { self.1 } else { self.2 })
    }
}
