//! Which lines matter. Almost none does, and those show it by a few words; in a text their quotes would be
//! escaped. Any other line is looked at in one search.

use std::sync::LazyLock;

use aho_corasick::packed::Searcher;
use memchr::memmem::Finder;

use crate::lines::Shows;
use crate::skim::member;

/// What a line has to be read for: more than one record or a torn one, a list that the client recorded, a
/// compaction, a call of a Task tool. None is proof.
const OTHER: [&[u8]; 7] = [b"}{\"", b"} {\"", b"\0{\"", b"todos\"", b"_reminder\"", b"_boundary\"", b"\"Task"];
/// What a response holds: the end of its role, as more words begin like it than end.
const RESPONSE: &[u8] = b"istant\"";

/// None on a processor that can't search for several words at once: then every line is read.
static WORDS: LazyLock<Option<Searcher>> = LazyLock::new(|| Searcher::new(OTHER.into_iter().chain([RESPONSE])));
static CALL: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("\"tool_use\""));
static PROGRESS: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("\"agent_progress\""));

/// What a line of one record shows. The result of a call that is waited for shows nothing.
pub(super) fn look(line: &[u8]) -> Shows {
    let Some(words) = &*WORDS else { return Shows::Other };
    let mut is_response = false;
    // Most records begin like a torn one's successor.
    for word in words.find_iter(line.get(1..).unwrap_or_default()) {
        if word.pattern().as_usize() < OTHER.len() {
            return Shows::Other;
        }
        is_response = true;
    }
    // A sub-agent's response inside a record of main's, and without a call of a Task tool, is nothing to us.
    let is_progress = || PROGRESS.find(line).is_some() && member(line, b"type") == Some(b"\"progress\"");
    if !is_response || is_progress() {
        return Shows::Nothing;
    }
    match CALL.find_iter(line).take(2).count() {
        0 => Shows::Response { call: false },
        1 => Shows::Response { call: true },
        _ => Shows::Other,
    }
}
