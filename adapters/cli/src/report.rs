use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;
use session_todo::{Item, Status};
use session_todo_transcript::{Skipped, Verdict};

use crate::run::Task;
use crate::terminal::{line, words};
use crate::{DONE, SKIPPED, UNREADABLE};

/// Items and damaged places that a terminal shows (T4).
const SHOWN: usize = 50;

/// How a report is printed.
#[derive(Clone, Copy)]
pub(crate) enum Print {
    /// For a person.
    Text,
    /// A line of JSON.
    Json,
    /// Recorded lists, for a person.
    Checks,
    /// The same as a line of JSON.
    ChecksJson,
    /// Each change.
    Timeline,
}

/// Damaged places that a report keeps.
const KEPT: usize = 1000;

/// What a session's log came to. Its JSON keys are a contract.
#[derive(Serialize)]
pub(crate) struct Report {
    file: String,
    pub(crate) format: Option<String>,
    pub(crate) outcome: Kind,
    pub(crate) requests: u64,
    pub(crate) calls: Calls,
    #[serde(serialize_with = "briefly")]
    pub(crate) items: Vec<Item>,
    pub(crate) reminders: Vec<Reminder>,
    pub(crate) compactions: Vec<Compaction>,
    pub(crate) skipped: Vec<Skip>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    /// Recorded lists, compared; printed where that is what was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    checks: Option<Checks>,
    #[serde(skip)]
    pub(crate) compared: Checks,
    /// Lines of a timeline, where one is asked for.
    #[serde(skip)]
    pub(crate) timeline: Vec<String>,
    /// Whether it is no session log at all.
    #[serde(skip)]
    is_stranger: bool,
    /// Damaged places beyond those that are kept.
    #[serde(skip_serializing_if = "is_zero")]
    skipped_more: u64,
    /// Recorded lists that were put in place, and those that could not be.
    #[serde(skip)]
    pub(crate) corrected: u64,
    #[serde(skip)]
    pub(crate) uncorrected: u64,
    /// Writes of items whose creation is not in the log.
    #[serde(skip)]
    pub(crate) strangers: u64,
    /// Logs in which the session began, and that are not there.
    #[serde(skip)]
    pub(crate) missing: u64,
    /// Sub-agents' logs that are not there.
    #[serde(skip)]
    pub(crate) agents_missing: u64,
    /// Whose reminders they are.
    #[serde(skip)]
    pub(crate) policy: String,
    #[serde(skip)]
    pub(crate) resumes: u64,
    #[serde(skip)]
    pub(crate) unanswered: u64,
    /// Requests that carried a reminder of the product's own.
    #[serde(skip)]
    pub(crate) recorded: Vec<u64>,
}

/// What a log says of the list: never an ambiguous empty (R6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    Items,
    Cleared,
    /// Empty, though the log names items: their creation is not in it.
    HistoryIncomplete,
    NoCalls,
    AllRefused,
    Unreadable,
}

/// Recorded lists, compared before they correct anything.
#[derive(Default, Serialize)]
pub(crate) struct Checks {
    places: u64,
    telling: u64,
    agree: u64,
    disagree: Vec<Disagreement>,
}

#[derive(Serialize)]
struct Disagreement {
    line: u64,
    why: String,
}

impl Checks {
    fn print(&self, out: &mut impl Write, file: &str) -> io::Result<()> {
        let Self { places, telling, agree, disagree } = self;
        writeln!(out, "{}: {agree} of {telling} telling places agree, of {places} in all", line(file))?;
        for Disagreement { line: number, why } in disagree.iter().take(SHOWN) {
            writeln!(out, "  line {number}: {}", line(why))?;
        }
        Ok(())
    }

    pub(crate) fn add(&mut self, line: u64, verdict: &Verdict) {
        self.places += 1;
        match verdict {
            Verdict::Unreadable => {
                self.telling += 1;
                self.disagree.push(Disagreement { line, why: "the recorded list can't be read".into() });
            }
            Verdict::Agree { telling } => {
                self.telling += u64::from(*telling);
                self.agree += u64::from(*telling);
            }
            Verdict::Differ { why, .. } => {
                self.telling += 1;
                self.disagree.push(Disagreement { line, why: why.clone() });
            }
        }
    }
}

#[derive(Default, Serialize)]
pub(crate) struct Calls {
    pub(crate) write: u64,
    pub(crate) read: u64,
    pub(crate) refused: u64,
    pub(crate) pending: u64,
}

#[derive(Serialize)]
pub(crate) struct Reminder {
    pub(crate) request: u64,
    pub(crate) items: usize,
}

#[derive(Serialize)]
pub(crate) struct Compaction {
    pub(crate) request: u64,
    pub(crate) items: usize,
}

#[derive(Serialize)]
pub(crate) struct Skip {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    line: u64,
    offset: u64,
    why: &'static str,
}

impl Skip {
    pub(crate) fn of(skipped: Skipped, file: Option<&Path>) -> Self {
        let Skipped { line, offset, why } = skipped;
        Self { file: file.map(|path| path.display().to_string()), line, offset, why }
    }
}

impl Report {
    pub(crate) fn of(path: &Path) -> Self {
        Self {
            file: path.display().to_string(),
            format: None,
            outcome: Kind::NoCalls,
            requests: 0,
            calls: Calls::default(),
            items: Vec::new(),
            reminders: Vec::new(),
            compactions: Vec::new(),
            skipped: Vec::new(),
            why: None,
            checks: None,
            compared: Checks::default(),
            timeline: Vec::new(),
            is_stranger: false,
            skipped_more: 0,
            corrected: 0,
            uncorrected: 0,
            strangers: 0,
            policy: String::new(),
            missing: 0,
            agents_missing: 0,
            resumes: 0,
            unanswered: 0,
            recorded: Vec::new(),
        }
    }

    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    /// Keeps a damaged place, or counts it where there are many.
    pub(crate) fn skip(&mut self, skip: Skip) {
        if self.skipped.len() < KEPT {
            self.skipped.push(skip);
        } else {
            self.skipped_more += 1;
        }
    }

    /// Says what it comes to, once all is read; with a reason where it could not be.
    pub(crate) fn conclude(&mut self, why: Option<io::Error>) {
        self.outcome = match &self.calls {
            _ if why.is_some() => Kind::Unreadable,
            _ if !self.items.is_empty() => Kind::Items,
            _ if self.strangers + self.missing > 0 => Kind::HistoryIncomplete,
            calls if calls.write > 0 => Kind::Cleared,
            calls if calls.refused > 0 => Kind::AllRefused,
            _ => Kind::NoCalls,
        };
        self.is_stranger = why.as_ref().is_some_and(|why| why.kind() == io::ErrorKind::InvalidData);
        self.why = why.map(|why| why.to_string());
    }

    /// Whether it is a file that no product wrote.
    pub(crate) const fn is_stranger(&self) -> bool {
        self.is_stranger
    }

    /// How the command ends for this log.
    pub(crate) fn status(&self, task: &Task) -> u8 {
        let differs = task.print.is_about_checks() && !self.compared.disagree.is_empty();
        match self.outcome {
            Kind::Unreadable => UNREADABLE,
            _ if self.skipped.is_empty() && !differs => DONE,
            _ => SKIPPED,
        }
    }

    pub(crate) fn print(&mut self, task: &Task) -> io::Result<()> {
        let mut out = io::stdout().lock();
        if matches!(task.print, Print::ChecksJson) {
            self.checks = Some(std::mem::take(&mut self.compared));
        }
        match task.print {
            Print::Json | Print::ChecksJson => {
                serde_json::to_writer(&mut out, self)?;
                writeln!(out)?;
            }
            _ if self.why.is_some() => {}
            Print::Text => self.print_text(&mut out)?,
            Print::Checks => self.compared.print(&mut out, &self.file)?,
            Print::Timeline => {
                writeln!(out, "{}: {}", line(&self.file), self.outcome.as_str())?;
                self.timeline.iter().try_for_each(|told| writeln!(out, "{told}"))?;
            }
        }
        drop(out);
        self.print_words();
        Ok(())
    }

    fn print_text(&self, out: &mut impl Write) -> io::Result<()> {
        let Calls { write, read, refused, pending } = self.calls;
        writeln!(out, "{}: {}", line(&self.file), self.outcome.as_str())?;
        writeln!(out, "  requests     {}", self.requests)?;
        writeln!(out, "  list calls   {write} writes, {read} reads, {refused} refused, {pending} pending")?;
        if self.corrected > 0 {
            writeln!(out, "  corrected    {} times, by a list that the client recorded", self.corrected)?;
        }
        if self.resumes > 0 {
            writeln!(out, "  resumes      {} that left a mark", self.resumes)?;
        }
        for item in self.items.iter().take(SHOWN) {
            writeln!(out, "  {} #{} {}", sign(item.status), line(&item.id), line(&item.content))?;
        }
        if let Some(more) = self.items.len().checked_sub(SHOWN + 1) {
            writeln!(out, "  … and {} more", more + 1)?;
        }
        let reminders =
            self.reminders.iter().map(|Reminder { request, items }| format!("{request} ({})", count(*items)));
        writeln!(out, "  reminders    policy {}, on request {}", self.policy, listed(reminders))?;
        if !self.recorded.is_empty() {
            writeln!(
                out,
                "  recorded     the client's own, on request {}",
                listed(self.recorded.iter().map(u64::to_string))
            )?;
        }
        for Compaction { request, items } in &self.compactions {
            writeln!(out, "  compaction   before request {request}, {} carried", count(*items))?;
        }
        Ok(())
    }

    /// What went wrong, in words.
    fn print_words(&self) {
        let say = |told: String| words(&format!("{}: {told}", self.file));
        if let Some(why) = &self.why {
            say(why.clone());
        }
        for (count, what) in [
            (self.unanswered, "list calls without a result, though the log goes on: taken as run"),
            (self.missing, "earlier log of the session, which is not beside this one: what it holds is not known"),
            (self.agents_missing, "sub-agents' logs are not beside this one: what they did to its tasks is not known"),
            (self.strangers, "writes of items whose creation is not in the log"),
            (self.uncorrected, "recorded lists that could not be put in place"),
        ] {
            if count > 0 {
                say(format!("{count} {what}"));
            }
        }
        for Skip { file, line: number, offset, why } in self.skipped.iter().take(SHOWN) {
            let file = file.as_ref().map(|file| format!("{file}: ")).unwrap_or_default();
            say(format!("{file}line {number}, byte {offset}: {why}; skipped"));
        }
        let more = self.skipped.len().saturating_sub(SHOWN) as u64 + self.skipped_more;
        if more > 0 {
            say(format!("… and {more} more"));
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Print {
    const fn is_about_checks(self) -> bool {
        matches!(self, Self::Checks | Self::ChecksJson)
    }
}

/// A number of items, in words.
pub(crate) fn count(items: usize) -> String {
    format!("{items} {}", if items == 1 { "item" } else { "items" })
}

impl Kind {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Items => "items",
            Self::Cleared => "cleared",
            Self::HistoryIncomplete => "history_incomplete",
            Self::NoCalls => "no_calls",
            Self::AllRefused => "all_refused",
            Self::Unreadable => "unreadable",
        }
    }
}

fn listed(parts: impl Iterator<Item = String>) -> String {
    let parts: Vec<String> = parts.collect();
    if parts.is_empty() { "none".into() } else { parts.join(", ") }
}

const fn sign(status: Status) -> &'static str {
    match status {
        Status::Pending => "[ ]",
        Status::InProgress => "[>]",
        Status::Blocked => "[!]",
        Status::Completed => "[x]",
        Status::Cancelled => "[-]",
    }
}

fn briefly<S: serde::Serializer>(items: &[Item], serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Brief<'a> {
        id: &'a str,
        content: &'a str,
        status: Status,
    }
    serializer.collect_seq(items.iter().map(|Item { id, content, status, .. }| Brief { id, content, status: *status }))
}
