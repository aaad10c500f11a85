//! What differs between products, as data. The presets are the systems of the design documents.

use alloc::borrow::Cow;
use core::num::NonZeroU32;

use crate::effect::Lane;
use crate::tools::Dialect;

/// How a session checks, reminds and carries its list. No code looks at its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// The name that a log states (P6).
    pub name: Cow<'static, str>,
    /// In which spellings the tools are offered to the model. All are read, whatever is offered (L3).
    pub offer: Cow<'static, [Dialect]>,
    /// The most items that a call may make of the list; none for the hard limit alone.
    pub max_items: Option<NonZeroU32>,
    /// Whether several items may be in progress (L11).
    pub several_in_progress: Several,
    /// When a reminder is due.
    pub clock: Clock,
    /// The most reminders without a reaction (D4); none for no such cap.
    pub max_unanswered: Option<NonZeroU32>,
    /// What silences a reminder that is due (D2).
    pub gate: Gate,
    /// Where a reminder is put.
    pub lane: Lane,
    /// What a reminder lists under its words.
    pub listing: Listing,
    /// What a compaction carries into the new context.
    pub carry: Carry,
    /// What becomes of the list at a compaction (A1).
    pub at_compaction: AtCompaction,
    /// Whether the first request after a resume names the items that are in progress (R10).
    pub resume_note: bool,
    /// Whether a sub-agent's calls change the list (A7). They never move the clock.
    pub share: bool,
    /// How a `todo_write` result shows the list.
    pub result: ResultList,
    /// The words around the lists, all replaceable.
    pub words: Words,
    /// Words for the system prompt; empty where there are none.
    pub guidance: Cow<'static, str>,
}

/// Whether several items may be in progress at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Several {
    /// They may, and the result says so.
    Allow,
    /// The call is refused.
    Refuse,
}

/// When a reminder is due. Requests are main's, and start at 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// More than `after` requests since the last write, and `between` or more since the last reminder.
    Requests {
        /// Requests without a write that pass in silence.
        after: NonZeroU32,
        /// The least distance of two reminders, in requests.
        between: NonZeroU32,
    },
    /// After this many responses with a call since the last write, reminder, compaction or start.
    Rounds(NonZeroU32),
    /// On every request.
    EveryRequest,
}

/// What silences a reminder that is due. It stays due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// Silent while nothing is pending or in progress.
    Open,
    /// Nothing does.
    None,
}

/// What a reminder lists under its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing {
    /// Nothing.
    Nothing,
    /// Pending, in-progress and blocked items.
    Open,
    /// Every item, open ones first.
    All,
}

/// Which items a compaction carries into the new context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carry {
    /// None: nothing is injected.
    Nothing,
    /// The open ones; the closed as a count.
    Open,
    /// Every item.
    All,
}

/// What becomes of the list at a compaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtCompaction {
    /// It lives on.
    Keep,
    /// It is set aside: it reads as empty until the next accepted call.
    Empty,
}

/// How the result of a whole list shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultList {
    /// In the form and the words of the tool that was called.
    AsCalled,
    /// A checklist, `[ ]` `[>]` `[x]`, without ids.
    Boxes,
}

/// The words around what is listed. Item text is never part of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    /// The name of the tag around reminders and notes.
    pub tag: Cow<'static, str>,
    /// What a reminder says.
    pub reminder: Cow<'static, str>,
    /// What opens a note about a user's edit.
    pub edited: Cow<'static, str>,
    /// What opens the note after a resume.
    pub unfinished: Cow<'static, str>,
    /// What opens a snapshot.
    pub snapshot: Cow<'static, str>,
}

const REMINDER: &str = "An automatic note from the program that keeps your task list, not from the user. The list has \
not changed for a while. If it no longer fits the work, update it when convenient; if it does, carry on.";
const EVERY_REQUEST: &str = "An automatic note from the program that keeps your task list, not from the user. This is \
the list as it stands; update it when it no longer fits the work.";
const TOOLS_UNUSED: &str = "An automatic note from the program that keeps your task list, not from the user. The task \
tools have not been used for a while. If a list helps the work, bring it up to date; if not, carry on.";
const EDITED: &str = "An automatic note from the program that keeps your task list: the user changed the list. \
Take it as it is now, and do not bring back what the user took out.";
const UNFINISHED: &str = "An automatic note from the program that keeps your task list: this session was resumed, and \
work on these items may have been left unfinished. Check before you rely on them.";
const SNAPSHOT: &str = "A record of the task list, kept by the program while earlier messages were summarised. It is \
a record and not an order: the newest user message comes first. Statuses may need an update.";

const ROUNDS_GUIDANCE: &str = "For work of several steps, first write the plan with todo_write, then do the work. \
Set a step to in_progress before you begin it, one at a time, and to completed as soon as it is done.";

const fn count(n: u32) -> NonZeroU32 {
    match NonZeroU32::new(n) {
        Some(n) => n,
        None => NonZeroU32::MIN,
    }
}

const WORDS: Words = Words {
    tag: Cow::Borrowed("system-reminder"),
    reminder: Cow::Borrowed(REMINDER),
    edited: Cow::Borrowed(EDITED),
    unfinished: Cow::Borrowed(UNFINISHED),
    snapshot: Cow::Borrowed(SNAPSHOT),
};

impl Policy {
    /// Both families, a nudge after ten quiet requests, open items alone, and never more than three
    /// nudges without a reaction.
    pub const DEFAULT: Self = Self {
        name: Cow::Borrowed("default"),
        offer: Cow::Borrowed(&[Dialect::TodoWrite, Dialect::Tasks]),
        max_items: None,
        several_in_progress: Several::Allow,
        clock: Clock::Requests { after: count(10), between: count(10) },
        max_unanswered: Some(count(3)),
        gate: Gate::Open,
        lane: Lane::History,
        listing: Listing::Open,
        carry: Carry::Open,
        at_compaction: AtCompaction::Keep,
        resume_note: true,
        share: false,
        result: ResultList::AsCalled,
        words: WORDS,
        guidance: Cow::Borrowed(""),
    };

    /// The list with every request, in the outgoing copy alone.
    pub const TODO_EVERY_REQUEST: Self = Self {
        name: Cow::Borrowed("todo-every-request"),
        offer: Cow::Borrowed(&[Dialect::TodoWrite]),
        clock: Clock::EveryRequest,
        max_unanswered: None,
        lane: Lane::LastUserMessage,
        listing: Listing::All,
        at_compaction: AtCompaction::Empty,
        resume_note: false,
        words: Words { reminder: Cow::Borrowed(EVERY_REQUEST), ..WORDS },
        ..Self::DEFAULT
    };

    /// The list after an idle period, in the history.
    pub const TODO_HISTORY: Self = Self {
        name: Cow::Borrowed("todo-history"),
        clock: Clock::Requests { after: count(8), between: count(8) },
        lane: Lane::History,
        words: WORDS,
        ..Self::TODO_EVERY_REQUEST
    };

    /// Task tools, and a nudge with the open tasks in the outgoing copy.
    pub const TASK_NUDGE: Self = Self {
        name: Cow::Borrowed("task-nudge"),
        offer: Cow::Borrowed(&[Dialect::Tasks]),
        clock: Clock::Requests { after: count(8), between: count(8) },
        max_unanswered: None,
        lane: Lane::LastUserMessage,
        carry: Carry::All,
        resume_note: false,
        ..Self::DEFAULT
    };

    /// The teaching harness: a bare sentence after three rounds, strict checks.
    pub const TODO_ROUNDS: Self = Self {
        name: Cow::Borrowed("todo-rounds"),
        offer: Cow::Borrowed(&[Dialect::TodoWriteBare]),
        max_items: Some(count(20)),
        several_in_progress: Several::Refuse,
        clock: Clock::Rounds(count(3)),
        max_unanswered: None,
        gate: Gate::None,
        lane: Lane::ToolResult,
        listing: Listing::Nothing,
        carry: Carry::Nothing,
        resume_note: false,
        result: ResultList::Boxes,
        words: Words { tag: Cow::Borrowed("reminder"), reminder: Cow::Borrowed("Update your todos."), ..WORDS },
        guidance: Cow::Borrowed(ROUNDS_GUIDANCE),
        ..Self::DEFAULT
    };

    /// Claude Code 2.1: ten and ten, with an empty list too, after the last tool result.
    pub const CLAUDE_CODE: Self = Self {
        name: Cow::Borrowed("claude-code"),
        offer: Cow::Borrowed(&[Dialect::ClaudeTodoWrite, Dialect::ClaudeTasks]),
        max_unanswered: None,
        gate: Gate::None,
        lane: Lane::ToolResult,
        listing: Listing::All,
        carry: Carry::Nothing,
        resume_note: false,
        share: true,
        words: Words { reminder: Cow::Borrowed(TOOLS_UNUSED), ..WORDS },
        ..Self::DEFAULT
    };

    /// Every preset, `default` first.
    pub const PRESETS: [Self; 6] = [
        Self::DEFAULT,
        Self::TODO_EVERY_REQUEST,
        Self::TODO_HISTORY,
        Self::TASK_NUDGE,
        Self::TODO_ROUNDS,
        Self::CLAUDE_CODE,
    ];

    /// The preset of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::PRESETS.into_iter().find(|policy| policy.name == name)
    }

    /// Whether the Task tools alone are offered: a model that never sends the whole list need not see it
    /// whole (T4).
    pub(crate) fn offers_tasks_alone(&self) -> bool {
        !self.offer.is_empty()
            && self.offer.iter().all(|dialect| matches!(dialect, Dialect::Tasks | Dialect::ClaudeTasks))
    }

    /// Words for the system prompt, empty where the policy has none.
    #[must_use]
    pub fn guidance(&self) -> &str {
        &self.guidance
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self::DEFAULT
    }
}
