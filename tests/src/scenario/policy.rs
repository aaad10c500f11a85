//! Lines that change one thing of the policy.

use std::borrow::Cow;
use std::num::NonZeroU32;

use session_todo::policy::{AtCompaction, Carry, Clock, Gate, Listing, ResultList, Several};
use session_todo::{Dialect, Lane, Policy};

/// Their first words.
pub(super) const SETTINGS: [&str; 14] = [
    "clock",
    "cap",
    "gate",
    "lane",
    "listing",
    "carry",
    "at-compaction",
    "resume-note",
    "share",
    "several",
    "max-items",
    "offer",
    "result",
    "words",
];

pub(super) fn set(policy: &mut Policy, key: &str, value: &str) -> Result<(), String> {
    match key {
        "clock" => policy.clock = clock(value)?,
        "cap" => policy.max_unanswered = number_or_none(value)?,
        "max-items" => policy.max_items = number_or_none(value)?,
        "gate" => policy.gate = one_of(value, [("open", Gate::Open), ("none", Gate::None)])?,
        "lane" => policy.lane = one_of(value, LANES)?,
        "listing" => policy.listing = one_of(value, LISTINGS)?,
        "carry" => policy.carry = one_of(value, CARRIES)?,
        "at-compaction" => policy.at_compaction = one_of(value, AT_COMPACTION)?,
        "resume-note" => policy.resume_note = one_of(value, SWITCH)?,
        "share" => policy.share = one_of(value, SWITCH)?,
        "several" => policy.several_in_progress = one_of(value, SEVERAL)?,
        "offer" => policy.offer = offer(value)?,
        "result" => policy.result = one_of(value, RESULTS)?,
        _ => words(policy, value)?,
    }
    Ok(())
}

pub(super) const LANES: [(&str, Lane); 3] =
    [("history", Lane::History), ("last_user", Lane::LastUserMessage), ("tool_result", Lane::ToolResult)];
const LISTINGS: [(&str, Listing); 3] = [("nothing", Listing::Nothing), ("open", Listing::Open), ("all", Listing::All)];
const CARRIES: [(&str, Carry); 3] = [("none", Carry::Nothing), ("open", Carry::Open), ("all", Carry::All)];
const AT_COMPACTION: [(&str, AtCompaction); 2] = [("keep", AtCompaction::Keep), ("empty", AtCompaction::Empty)];
const SWITCH: [(&str, bool); 2] = [("on", true), ("off", false)];
const SEVERAL: [(&str, Several); 2] = [("allow", Several::Allow), ("refuse", Several::Refuse)];
const RESULTS: [(&str, ResultList); 2] = [("as-called", ResultList::AsCalled), ("boxes", ResultList::Boxes)];

fn one_of<T: Copy, const N: usize>(value: &str, values: [(&str, T); N]) -> Result<T, String> {
    let found = values.iter().find(|(name, _)| *name == value).map(|(_, found)| *found);
    let names = || values.map(|(name, _)| name).join(", ");
    found.ok_or_else(|| format!("`{value}` is none of: {}", names()))
}

/// One dialect or more, with spaces between them.
fn offer(value: &str) -> Result<Cow<'static, [Dialect]>, String> {
    let names = || Dialect::ALL.map(Dialect::name).join(", ");
    let dialect = |name| Dialect::named(name).ok_or_else(|| format!("`{name}` is none of: {}", names()));
    value.split_whitespace().map(dialect).collect::<Result<Vec<_>, _>>().map(Cow::Owned)
}

/// `10/10`, `rounds 3` or `every-request`.
fn clock(value: &str) -> Result<Clock, String> {
    if value == "every-request" {
        return Ok(Clock::EveryRequest);
    }
    if let Some(rounds) = value.strip_prefix("rounds ") {
        return Ok(Clock::Rounds(number(rounds)?));
    }
    let (after, between) = value.split_once('/').ok_or("a clock is like 10/10, rounds 3 or every-request")?;
    Ok(Clock::Requests { after: number(after)?, between: number(between)? })
}

fn number(value: &str) -> Result<NonZeroU32, String> {
    value.parse().map_err(|_| format!("`{value}` is no number from 1"))
}

fn number_or_none(value: &str) -> Result<Option<NonZeroU32>, String> {
    if value == "none" { Ok(None) } else { number(value).map(Some) }
}

/// `words reminder Mind the list.`
fn words(policy: &mut Policy, value: &str) -> Result<(), String> {
    let (which, text) = super::line::split_word(value);
    let place = match which {
        "tag" => &mut policy.words.tag,
        "reminder" => &mut policy.words.reminder,
        "edited" => &mut policy.words.edited,
        "unfinished" => &mut policy.words.unfinished,
        "snapshot" => &mut policy.words.snapshot,
        "guidance" => &mut policy.guidance,
        _ => return Err(format!("`{which}` is none of: tag, reminder, edited, unfinished, snapshot, guidance")),
    };
    *place = text.to_owned().into();
    Ok(())
}
