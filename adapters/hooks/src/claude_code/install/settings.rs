//! The two files of Claude Code that name hooks and servers, as text before and after.

// What is not in a `Value` reads as null.
#![allow(clippy::indexing_slicing)]

use std::ops::Range;
use std::path::Path;

use serde_json::{Value, json};

use super::json::{Container, Style, Unfit, container, splice};
use crate::change::{self, Edit};

/// The server's name, which the client puts before its tools' names.
const SERVER: &str = "session-todo";
/// What our program is told to be a hook.
const HOOK: &str = " hook claude-code";
/// The byte-order mark, which the client reads over.
const MARK: char = '\u{feff}';
/// The event that tells of a response's calls together, and those that tell of each. Never both kinds.
const TOGETHER: &[&str] = &["PostToolBatch"];
const EACH: &[&str] = &["PostToolUse", "PostToolUseFailure"];

/// Where an object that we write stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum File {
    /// Hooks.
    Settings,
    /// Servers.
    Servers,
}

/// What is written into a file.
#[derive(Clone, Debug)]
pub(super) struct Entries {
    pub(super) file: File,
    /// How our command is started.
    pub(super) command: String,
    /// Whether the client tells of a response's calls together.
    pub(super) has_batch: bool,
}

/// A hook of ours among an event's groups of hooks.
struct Found {
    group: usize,
    /// The hooks of that group.
    hooks: Container,
    /// Its place among them.
    at: usize,
}

impl Edit for Entries {
    /// What is missing is put in, what has the program where it was before is renewed, and of a client that tells
    /// of calls in another way since, what was for the old way goes.
    fn install(&self, before: &str) -> Result<String, Box<dyn std::error::Error>> {
        let (mark, plain) = marked(before);
        let mut text = if plain.trim().is_empty() { "{}\n".to_owned() } else { plain.to_owned() };
        let style = Style::of(&text);
        for event in if self.has_batch { EACH } else { TOGETHER } {
            text = self.remove(text, event, "")?;
        }
        for (key, value) in self.wanted() {
            text = self.add(&text, &style, key, &value)?;
        }
        Ok(mark.to_owned() + &text)
    }

    fn uninstall(&self, before: &str, original: &str) -> Result<String, Box<dyn std::error::Error>> {
        let (mark, plain) = marked(before);
        if plain.trim().is_empty() {
            return Ok(before.to_owned());
        }
        Ok(mark.to_owned() + &self.without(plain, marked(original).1)?)
    }
}

impl Entries {
    /// The member of the file's object that holds what is ours.
    fn member(&self) -> &'static str {
        match self.file {
            File::Settings => "hooks",
            File::Servers => "mcpServers",
        }
    }

    /// Key and value of each entry: of an event the last element of its array, of a server the value.
    fn wanted(&self) -> Vec<(&'static str, Value)> {
        if self.file == File::Servers {
            let server = json!({"type": "stdio", "command": self.command, "args": ["mcp"]});
            return vec![(SERVER, server)];
        }
        let calls = if self.has_batch { TOGETHER } else { EACH };
        let events = ["SessionStart", "UserPromptSubmit", "Stop"].iter().chain(calls).chain(&["PreToolUse"]);
        let hook = json!({"type": "command", "command": quoted(&self.command) + HOOK, "timeout": 10});
        events.map(|&event| (event, group(event, &json!([hook])))).collect()
    }

    fn add(&self, text: &str, style: &Style, key: &str, value: &Value) -> Result<String, Unfit> {
        let is_hook = self.file == File::Settings;
        let listed = if is_hook { json!([value]) } else { value.clone() };
        let root = root(text)?;
        let Some(member) = root.get(self.member()) else {
            return Ok(root.with(text, style, 1, Some(self.member()), &json!({ key: listed })));
        };
        let member = object(text, member, self.member())?;
        let Some(place) = member.get(key) else {
            return Ok(member.with(text, style, 2, Some(key), &listed));
        };
        if !is_hook {
            return if self.is_ours(text, place) { Ok(self.renewed(text, place)) } else { Err(Unfit::Taken(SERVER)) };
        }
        let list = array(text, place)?;
        let ours = self.find(text, &list);
        Ok(match ours.as_ref().and_then(|found| found.hooks.entries.get(found.at)) {
            Some(hook) => self.renewed(text, &hook.value),
            None => list.with(text, style, 3, None, value),
        })
    }

    fn without(&self, before: &str, original: &str) -> Result<String, Unfit> {
        let mut text = before.to_owned();
        let keys: Vec<String> = match root(&text)?.get(self.member()) {
            Some(member) => {
                object(&text, member, self.member())?.entries.into_iter().filter_map(|entry| entry.key).collect()
            }
            None => return Ok(text),
        };
        for key in keys {
            text = self.remove(text, &key, original)?;
        }
        if text == before {
            return Ok(text);
        }
        let root = root(&text)?;
        let at = root.entries.iter().position(|entry| entry.key.as_deref() == Some(self.member()));
        let is_empty = root.get(self.member()).is_some_and(|place| is_empty(&text, place));
        Ok(match at.filter(|_| is_empty && !has(original, &[self.member()])) {
            Some(at) => root.without(&text, at),
            None => text,
        })
    }

    /// The text without what is ours under this key.
    fn remove(&self, mut text: String, key: &str, original: &str) -> Result<String, Unfit> {
        while let Some(without) = self.removed(&text, key, original)? {
            text = without;
        }
        Ok(text)
    }

    /// The text without one entry of ours, if there is one.
    fn removed(&self, text: &str, key: &str, original: &str) -> Result<Option<String>, Unfit> {
        let Some(place) = root(text)?.get(self.member()).cloned() else { return Ok(None) };
        let member = object(text, &place, self.member())?;
        let Some(at) = member.entries.iter().position(|entry| entry.key.as_deref() == Some(key)) else {
            return Ok(None);
        };
        let Some(place) = member.get(key) else { return Ok(None) };
        if self.file == File::Servers {
            return Ok((key == SERVER && self.is_ours(text, place)).then(|| member.without(text, at)));
        }
        let Ok(list) = array(text, place) else { return Ok(None) };
        let Some(found) = self.find(text, &list) else { return Ok(None) };
        let is_group_ours = list.entries.get(found.group).is_some_and(|place| is_our_group(key, text, &place.value));
        Ok(Some(if found.hooks.entries.len() > 1 || !is_group_ours {
            found.hooks.without(text, found.at)
        } else if list.entries.len() > 1 || has(original, &[self.member(), key]) {
            list.without(text, found.group)
        } else {
            member.without(text, at)
        }))
    }

    /// The first hook of ours in an event's list. Others may stand in its group.
    fn find(&self, text: &str, list: &Container) -> Option<Found> {
        list.entries.iter().enumerate().find_map(|(group, entry)| {
            let hooks = array(text, object(text, &entry.value, "a group").ok()?.get("hooks")?).ok()?;
            let at = hooks.entries.iter().position(|hook| self.is_ours(text, &hook.value))?;
            Some(Found { group, hooks, at })
        })
    }

    /// Whether it starts our program as `install` would, also where that had another path then, or got options since.
    fn is_ours(&self, text: &str, place: &Range<usize>) -> bool {
        self.program(&value(text, place)).is_some_and(|program| {
            let is_hook = self.file == File::Settings;
            program == self.command
                || program == quoted(&self.command)
                || change::is_our_program(if is_hook { last_word(program) } else { program })
        })
    }

    /// What an entry starts, if that is told what we would be.
    fn program<'v>(&self, entry: &'v Value) -> Option<&'v str> {
        let command = entry["command"].as_str()?;
        if self.file == File::Servers {
            return (entry["args"][0] == "mcp").then_some(command);
        }
        let (program, rest) = command.split_once(HOOK)?;
        (rest.is_empty() || rest.starts_with(char::is_whitespace)).then_some(program)
    }

    /// The text with our program's path as it is now. One that somebody starts in a way of their own stays.
    fn renewed(&self, text: &str, place: &Range<usize>) -> String {
        let entry = value(text, place);
        let is_hook = self.file == File::Settings;
        let spelled = |path: &str| if is_hook { quoted(path) } else { path.to_owned() };
        let is_as_written = |program: &&str| {
            let path = if is_hook { unquoted(program) } else { (*program).to_owned() };
            Path::new(&path).is_absolute() && spelled(&path) == *program
        };
        let Some(program) = self.program(&entry).filter(is_as_written) else { return text.to_owned() };
        let end = if is_hook { HOOK } else { "\"" };
        let json = |program: &str| {
            let json = Value::from(program).to_string();
            json.strip_suffix('"').unwrap_or_default().to_owned() + end
        };
        let raw = text.get(place.clone()).unwrap_or_default();
        splice(text, place.clone(), &raw.replacen(&json(program), &json(&spelled(&self.command)), 1))
    }
}

/// A group as `install` writes it.
fn group(event: &str, hooks: &Value) -> Value {
    match event {
        "SessionStart" => json!({"matcher": "resume|compact", "hooks": hooks}),
        "PreToolUse" => json!({"matcher": "mcp__session-todo__.*", "hooks": hooks}),
        _ => json!({"hooks": hooks}),
    }
}

/// Whether a group is as `install` writes it, its hooks apart.
fn is_our_group(event: &str, text: &str, place: &Range<usize>) -> bool {
    let value = value(text, place);
    value == group(event, &value["hooks"])
}

/// The program behind those that start it, without the quotes of a path.
fn last_word(command: &str) -> &str {
    match command.strip_suffix(['\'', '"']) {
        Some(quoted) => quoted.rsplit(['\'', '"']).next(),
        None => command.rsplit(char::is_whitespace).next(),
    }
    .unwrap_or_default()
}

fn value(text: &str, place: &Range<usize>) -> Value {
    text.get(place.clone()).and_then(|value| serde_json::from_str(value).ok()).unwrap_or_default()
}

fn root(text: &str) -> Result<Container, Unfit> {
    object(text, &(0..text.len()), "the whole")
}

fn object(text: &str, place: &Range<usize>, what: &'static str) -> Result<Container, Unfit> {
    let is_object = text.get(place.clone()).is_some_and(|value| value.trim_start().starts_with('{'));
    let found = container(text, place).filter(|_| is_object);
    found.unwrap_or(Err(Unfit::Kind(what, "an object")))
}

fn array(text: &str, place: &Range<usize>) -> Result<Container, Unfit> {
    let is_array = text.get(place.clone()).is_some_and(|value| value.starts_with('['));
    let found = container(text, place).filter(|_| is_array);
    found.unwrap_or(Err(Unfit::Kind("an event's hooks", "an array")))
}

fn is_empty(text: &str, place: &Range<usize>) -> bool {
    matches!(container(text, place), Some(Ok(container)) if container.entries.is_empty())
}

/// Whether the text has this member.
fn has(text: &str, path: &[&str]) -> bool {
    let value: Value = serde_json::from_str(text).unwrap_or_default();
    path.iter().try_fold(&value, |value, key| value.get(key)).is_some()
}

/// A byte-order mark, and the text behind it.
fn marked(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with(MARK) { MARK.len_utf8() } else { 0 })
}

/// The path that [`quoted`] had quoted.
fn unquoted(word: &str) -> String {
    let quoted = word.strip_prefix('\'').and_then(|word| word.strip_suffix('\''));
    quoted.map_or_else(|| word.to_owned(), |path| path.replace(r"'\''", "'"))
}

/// A path as a shell takes it.
fn quoted(path: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+~:@%".contains(c);
    if path.chars().all(is_plain) { path.to_owned() } else { format!("'{}'", path.replace('\'', r"'\''")) }
}
