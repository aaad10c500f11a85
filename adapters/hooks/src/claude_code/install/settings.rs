//! The two files of Claude Code that name hooks and servers, as text before and after.

// What is not in a `Value` reads as null.
#![allow(clippy::indexing_slicing)]

use std::ops::Range;

use serde_json::{Value, json};

use super::json::{Container, Style, Unfit, container};

/// The server's name, which the client puts before its tools' names.
const SERVER: &str = "session-todo";

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
        let calls: &[&str] = if self.has_batch { &["PostToolBatch"] } else { &["PostToolUse", "PostToolUseFailure"] };
        let events = [("SessionStart", "resume|compact"), ("UserPromptSubmit", ""), ("Stop", "")];
        let events = events.into_iter().chain(calls.iter().map(|&event| (event, "")));
        let events = events.chain([("PreToolUse", "mcp__session-todo__.*")]);
        events.map(|(event, matcher)| (event, self.hook(matcher))).collect()
    }

    fn hook(&self, matcher: &str) -> Value {
        let command = format!("{} hook claude-code", quoted(&self.command));
        let hooks = json!([{"type": "command", "command": command, "timeout": 10}]);
        if matcher.is_empty() { json!({"hooks": hooks}) } else { json!({"matcher": matcher, "hooks": hooks}) }
    }

    /// The text with all entries: those that are missing are put in.
    pub(super) fn install(&self, before: &str) -> Result<String, Unfit> {
        let mut text = if before.trim().is_empty() { "{}\n".to_owned() } else { before.to_owned() };
        let style = Style::of(&text);
        for (key, value) in self.wanted() {
            text = self.add(&text, &style, key, &value)?;
        }
        Ok(text)
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
            return if self.is_our_server(text, place) { Ok(text.to_owned()) } else { Err(Unfit::Taken(SERVER)) };
        }
        let list = array(text, place)?;
        let is_there = list.entries.iter().any(|entry| self.is_our_hook(text, &entry.value));
        Ok(if is_there { text.to_owned() } else { list.with(text, style, 3, None, value) })
    }

    /// The text without what is ours. What is empty then goes too, if it was not there in `original`.
    pub(super) fn uninstall(&self, text: &str, original: &str) -> Result<String, Unfit> {
        let before = text;
        let mut text = text.to_owned();
        let keys: Vec<String> = match root(&text)?.get(self.member()) {
            Some(member) => {
                object(&text, member, self.member())?.entries.into_iter().filter_map(|entry| entry.key).collect()
            }
            None => return Ok(text),
        };
        for key in keys {
            text = self.remove(&text, &key, original)?;
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

    fn remove(&self, text: &str, key: &str, original: &str) -> Result<String, Unfit> {
        let Some(place) = root(text)?.get(self.member()).cloned() else { return Ok(text.to_owned()) };
        let member = object(text, &place, self.member())?;
        let Some(at) = member.entries.iter().position(|entry| entry.key.as_deref() == Some(key)) else {
            return Ok(text.to_owned());
        };
        if self.file == File::Servers {
            let is_ours = key == SERVER && member.get(key).is_some_and(|place| self.is_our_server(text, place));
            return Ok(if is_ours { member.without(text, at) } else { text.to_owned() });
        }
        let Some(list) = member.get(key).and_then(|place| array(text, place).ok()) else { return Ok(text.to_owned()) };
        let Some(ours) = list.entries.iter().position(|entry| self.is_our_hook(text, &entry.value)) else {
            return Ok(text.to_owned());
        };
        if list.entries.len() == 1 && !has(original, &[self.member(), key]) {
            return Ok(member.without(text, at));
        }
        Ok(list.without(text, ours))
    }

    /// Whether `install` wrote it, also where the command had another path then, or got options since.
    fn is_our_hook(&self, text: &str, place: &Range<usize>) -> bool {
        let value = value(text, place);
        let [hook] = value["hooks"].as_array().map(Vec::as_slice).unwrap_or_default() else { return false };
        let command = hook["command"].as_str().unwrap_or_default();
        command.split_once(" hook claude-code").is_some_and(|(program, _)| self.is_our_program(program))
    }

    fn is_our_server(&self, text: &str, place: &Range<usize>) -> bool {
        let value = value(text, place);
        value["args"][0] == "mcp" && value["command"].as_str().is_some_and(|program| self.is_our_program(program))
    }

    fn is_our_program(&self, program: &str) -> bool {
        // Behind another program, and with a version in its name, it is still ours.
        let last = program.trim_end_matches('\'').rsplit([' ', '/', '\\', '\'']).next().unwrap_or_default();
        program == quoted(&self.command) || program == self.command || last.starts_with(SERVER)
    }
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

/// A path as a shell takes it.
fn quoted(path: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+~:@%".contains(c);
    if path.chars().all(is_plain) { path.to_owned() } else { format!("'{}'", path.replace('\'', r"'\''")) }
}
