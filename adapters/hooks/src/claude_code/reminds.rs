//! Whether the client reminds of a list by itself. It does where it offers its list tools and its reminders are
//! not off, whether or not its tools are used. No event says so; this is what does:
//!
//! | what | says |
//! |---|---|
//! | `CLAUDE_CODE_TODO_REMINDER_MODE=off` | its reminders are off |
//! | `AI_AGENT=claude-code_2-1-197_…`, a version before 2.1.233 | the tools are offered to every model |
//! | `CLAUDE_CODE_ENABLE_TODO_TOOLS=1` | the tools are offered |
//! | the session's transcript has one of the tools in an array of names | it is offered: since not every model is, the client records which tools it offers late |
//!
//! All four were seen on 2.1.197 and 2.1.332. A call alone says nothing, as models call what is not there. What
//! can't be seen: a tool that the user's settings deny (who denies the client's list tools sets the first
//! variable too), and one that a newer version offers at once, its tool search being off.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use memchr::memmem::Finder;

/// What the client says of itself to the programs that it starts, and what its user set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// Its list tools are switched on where they would not be offered.
    pub tools: bool,
    /// Its own reminders are off.
    pub silent: bool,
    /// Its version.
    pub version: Option<[u32; 3]>,
}

/// From this version on most models are offered no list tools.
const TOOLS_GONE: [u32; 3] = [2, 1, 233];
/// The tools whose presence makes the client remind, as they stand in an array. First in one is neither: the names
/// are in their order.
const TOOLS: [&[u8]; 2] = [b",\"TaskUpdate\"", b",\"TodoWrite\""];
/// Bytes of a transcript that are looked at together.
const CHUNK: usize = 256 * 1024;

impl Environment {
    /// As the variables of this process have it.
    #[must_use]
    pub fn of_process() -> Self {
        Self::of(|name| std::env::var(name).ok())
    }

    fn of(variable: impl Fn(&str) -> Option<String>) -> Self {
        let is_on = |value: String| !matches!(value.to_ascii_lowercase().as_str(), "" | "0" | "false" | "no" | "off");
        Self {
            tools: variable("CLAUDE_CODE_ENABLE_TODO_TOOLS").is_some_and(is_on),
            silent: variable("CLAUDE_CODE_TODO_REMINDER_MODE").as_deref() == Some("off"),
            version: variable("AI_AGENT").as_deref().and_then(version),
        }
    }

    /// Whether the client reminds. Asked only when a reminder of ours is due: it may read the transcript.
    pub(super) fn client_reminds(&self, transcript: Option<&Path>) -> bool {
        let offers = || {
            self.tools
                || self.version.is_some_and(|version| version < TOOLS_GONE)
                // One that can't be read says nothing.
                || transcript.is_some_and(|path| names_a_tool(path).unwrap_or(false))
        };
        !self.silent && offers()
    }
}

/// `claude-code_2-1-197_harness`
fn version(agent: &str) -> Option<[u32; 3]> {
    let numbers = agent.strip_prefix("claude-code_")?.split('_').next()?;
    let mut numbers = numbers.split('-').map(str::parse);
    let mut next = || numbers.next()?.ok();
    Some([next()?, next()?, next()?])
}

fn names_a_tool(transcript: &Path) -> io::Result<bool> {
    let finders = TOOLS.map(Finder::new);
    let longest = TOOLS.iter().map(|tool| tool.len()).max().unwrap_or_default();
    let mut file = File::open(transcript)?;
    let mut held = Vec::with_capacity(CHUNK + longest);
    loop {
        if file.by_ref().take(CHUNK as u64).read_to_end(&mut held)? == 0 {
            return Ok(false);
        }
        if finders.iter().any(|finder| finder.find(&held).is_some()) {
            return Ok(true);
        }
        // A name may stand across the border.
        held.drain(..held.len().saturating_sub(longest));
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn environment(variables: &[(&str, &str)]) -> Environment {
        Environment::of(|name| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn what_the_client_says_of_itself() {
        let old = environment(&[("AI_AGENT", "claude-code_2-1-197_harness")]);
        assert_eq!(old.version, Some([2, 1, 197]));
        assert!(old.client_reminds(None));
        let new = environment(&[("AI_AGENT", "claude-code_2-1-332_harness")]);
        assert!(!new.client_reminds(None));
        assert!(environment(&[("CLAUDE_CODE_ENABLE_TODO_TOOLS", "1")]).client_reminds(None));
        assert!(!environment(&[("CLAUDE_CODE_ENABLE_TODO_TOOLS", "0")]).client_reminds(None));
        let off = ("CLAUDE_CODE_TODO_REMINDER_MODE", "off");
        assert!(!environment(&[("CLAUDE_CODE_ENABLE_TODO_TOOLS", "1"), off]).client_reminds(None));
        assert!(!environment(&[]).client_reminds(None));
    }

    #[test]
    fn a_transcript_offers_the_tools_wherever_it_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        let names = |text: &str| {
            std::fs::write(&path, text).unwrap();
            Environment::default().client_reminds(Some(&path))
        };
        for before in [0, 1, CHUNK - 13, CHUNK - 12, CHUNK - 5, CHUNK - 1, CHUNK, 3 * CHUNK - 3] {
            let filler = "x".repeat(before);
            assert!(names(&format!("{filler},\"TaskUpdate\"]")), "{before}");
            assert!(!names(&format!("{filler},\\\"TaskUpdate\\\"]")), "{before}: a text that names it");
            assert!(!names(&format!("{filler},\"name\":\"TaskUpdate\"")), "{before}: a call");
        }
        assert!(!names(""));
    }
}
