//! What install and uninstall leave, byte for byte.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::Place;
use super::settings::{Entries, File};
use crate::change::{ChangeError, Edit, backup, make};

fn place(folder: &Path) -> Place {
    let command = "/opt/a folder/todo".into();
    Place { settings: folder.join(".claude"), servers: folder.to_owned(), command, version: None }
}

fn install(place: &Place) -> usize {
    let changes = place.install().unwrap();
    make(&changes).unwrap();
    changes.len()
}

fn uninstall(place: &Place) -> usize {
    let changes = place.uninstall().unwrap();
    make(&changes).unwrap();
    changes.len()
}

/// The file's text through install, install again, and uninstall; and the text in between.
fn round_trip(text: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let place = place(folder.path());
    let path = folder.path().join(".claude/settings.json");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    assert_eq!(install(&place), 2);
    let installed = fs::read_to_string(&path).unwrap();
    assert_eq!(fs::read_to_string(backup(&path)).unwrap(), text);
    assert_eq!(install(&place), 0, "the second time");
    assert_eq!(uninstall(&place), 2);
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    assert!(!backup(&path).exists() && !folder.path().join(".claude.json").exists());
    assert_eq!(uninstall(&place), 0);
    installed
}

const OTHERS: &str = r#"{
    "model": "opus",
    "a key of \"tomorrow\"": 1.0e2,
    "hooks": {
        "Stop": [ ],
        "PostToolBatch": [
            { "hooks": [{ "type": "command", "command": "theirs" }] }
        ]
    }
}
"#;

#[test]
fn what_is_there_stays() {
    for text in [
        "",
        "\n",
        "\u{feff}{\"a\":1}",
        "{}",
        "{ }\n",
        "{\n}\n",
        "{\"a\":[1, 2]}",
        "{\r\n\t\"a\": {}\r\n}\r\n",
        OTHERS,
        "{\"hooks\":{}}",
    ] {
        let installed = round_trip(text);
        let read = |text: &str| serde_json::from_str::<Value>(text.trim_start_matches('\u{feff}'));
        let (mut before, after) =
            (read(text).unwrap_or_else(|_| Value::Object(serde_json::Map::new())), read(&installed).unwrap());
        for event in ["SessionStart", "UserPromptSubmit", "Stop", "PostToolBatch", "PreToolUse"] {
            let command = after["hooks"][event].as_array().unwrap().last().unwrap()["hooks"][0]["command"].as_str();
            assert_eq!(command, Some("'/opt/a folder/todo' hook claude-code"), "{text}");
        }
        before.as_object_mut().unwrap().remove("hooks");
        for (key, value) in before.as_object().unwrap() {
            assert_eq!(&after[key], value);
        }
        // Every line that was there is there, in its order.
        let mut lines = installed.lines();
        for line in text.lines().filter(|line| line.len() > 3 && text.lines().count() > 3) {
            let line = line.trim_end_matches([']', ' ', ',']);
            assert!(lines.any(|there| there.starts_with(line)), "{line} in {installed}");
        }
    }
}

#[test]
fn nothing_was_there() {
    let folder = tempfile::tempdir().unwrap();
    let place = place(folder.path());
    assert_eq!(install(&place), 2);
    let servers: Value =
        serde_json::from_str(&fs::read_to_string(folder.path().join(".claude.json")).unwrap()).unwrap();
    assert_eq!(servers["mcpServers"]["session-todo"]["args"][0], "mcp");
    assert_eq!(uninstall(&place), 2);
    assert!(!folder.path().join(".claude.json").exists() && !folder.path().join(".claude/settings.json").exists());
}

#[test]
fn what_came_later_stays() {
    let folder = tempfile::tempdir().unwrap();
    let place = place(folder.path());
    let path = folder.path().join(".claude/settings.json");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, OTHERS).unwrap();
    install(&place);
    let installed = fs::read_to_string(&path).unwrap();
    fs::write(&path, installed.replace("\"opus\"", "\"sonnet\"")).unwrap();
    uninstall(&place);
    let left = fs::read_to_string(&path).unwrap();
    assert_eq!(left.replace(' ', ""), OTHERS.replace("opus", "sonnet").replace(' ', ""));
    assert!(!backup(&path).exists(), "all of theirs is in the file");
}

#[test]
fn what_is_not_plain_json_is_left_alone_and_said() {
    let cases = [
        ("{\n  // mine\n  \"model\": \"opus\"\n}", "it is not plain JSON"),
        ("{\"model\": ", "it is not plain JSON"),
        ("{\"a\": 1,}", "it is not plain JSON"),
        ("[]", "the whole is not an object"),
        ("{\"hooks\": []}", "hooks is not an object"),
        ("{\"hooks\": {\"Stop\": {}}}", "an event's hooks is not an array"),
        ("{\"hooks\": {}, \"hooks\": {}}", "it names \"hooks\" twice"),
    ];
    for (text, why) in cases {
        let folder = tempfile::tempdir().unwrap();
        let place = place(folder.path());
        fs::create_dir_all(&place.settings).unwrap();
        fs::write(place.settings.join("settings.json"), text).unwrap();
        let Err(ChangeError::Unfit { why: said, .. }) = place.install() else { panic!("{text}") };
        assert!(said.starts_with(why), "{text}: {said}");
    }
}

/// What somebody writes while the change is shown is not lost: nothing is changed, and nothing left lying.
#[test]
fn what_changed_meanwhile_is_not_overwritten() {
    for (name, theirs) in [(".claude.json", "{\"theirs\":1}"), (".claude/settings.json", OTHERS)] {
        let folder = tempfile::tempdir().unwrap();
        let place = place(folder.path());
        fs::create_dir_all(&place.settings).unwrap();
        let files = [".claude.json", ".claude/settings.json"].map(|name| folder.path().join(name));
        for path in &files {
            fs::write(path, "{}").unwrap();
        }
        let changes = place.install().unwrap();
        fs::write(folder.path().join(name), theirs).unwrap();
        let said = make(&changes).unwrap_err().to_string();
        assert!(
            said.contains(name) && said.contains("somebody else") && said.contains("Nothing was changed"),
            "{said}"
        );
        for path in files {
            let expected = if path.ends_with(name) { theirs } else { "{}" };
            assert_eq!(fs::read_to_string(&path).unwrap(), expected);
        }
        let count = |path: &Path| fs::read_dir(path).unwrap().count();
        assert_eq!((count(folder.path()), count(&place.settings)), (2, 1), "no draft, no backup");
    }
}

/// Half of it done is said: which file was changed. (Both names lead to one file, so the second change meets the
/// first.)
#[cfg(unix)]
#[test]
fn what_was_changed_all_the_same_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let place = Place { settings: folder.path().to_owned(), ..place(folder.path()) };
    let [settings, servers] = ["settings.json", ".claude.json"].map(|name| folder.path().join(name));
    fs::write(&settings, "{}").unwrap();
    std::os::unix::fs::symlink("settings.json", &servers).unwrap();
    let said = make(&place.install().unwrap()).unwrap_err().to_string();
    assert!(said.ends_with(&format!("Changed: {}; and nothing else", settings.display())), "{said}");
    assert!(fs::read_to_string(&settings).unwrap().contains("hook claude-code"));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3, "both names and the backup, no draft");
}

/// What somebody else wrote is not ours, however much it looks like it.
#[test]
fn what_others_wrote_is_not_touched() {
    let entries = |file, command: &str| Entries { file, command: command.into(), has_batch: true };
    let hooks = r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"their-tool hook claude-code"}]}]}}"#;
    let installed = entries(File::Settings, "/opt/session-todo").install(hooks).unwrap();
    assert!(installed.contains("their-tool") && installed.contains("/opt/session-todo hook claude-code"));
    for program in ["nice session-todo", "npx session-todo", "'/a b/session-todo'", r#"\"/a b/session-todo.exe\""#] {
        let ours = format!(
            r#"{{"hooks":{{"Stop":[{{"hooks":[{{"type":"command","command":"{program} hook claude-code"}}]}}]}}}}"#
        );
        let with = entries(File::Settings, "/usr/bin/session-todo").install(&ours).unwrap();
        assert_eq!(with.matches("Stop").count() + with.matches(" hook claude-code").count(), 6, "{with}");
    }
    // The command moved since.
    let moved = entries(File::Settings, "/usr/bin/session-todo");
    assert_eq!(moved.uninstall(&installed, hooks).unwrap(), hooks);

    let server = r#"{"mcpServers":{"session-todo":{"type":"http","url":"http://127.0.0.1"}}}"#;
    let servers = entries(File::Servers, "/opt/session-todo");
    assert!(servers.install(server).unwrap_err().to_string().contains("another server named session-todo"));
    assert_eq!(servers.uninstall(server, "").unwrap(), server);
}

/// Who installs again means the command that they start: its path is renewed, wherever it was before. What was
/// written around it stays, and so does a way of their own to start it.
#[test]
fn a_command_that_moved_is_found_again() {
    let at = |file, command: &str| Entries { file, command: command.into(), has_batch: true };
    for (old, new) in [("/opt/session-todo", "/opt/a folder/todo's"), ("/a \"b\"/session-todo", "/b/session-todo")] {
        for file in [File::Settings, File::Servers] {
            let installed = at(file, old).install("{\n \"a\": 1.0\n}").unwrap();
            let renewed = at(file, new).install(&installed).unwrap();
            assert_eq!(renewed, at(file, new).install("{\n \"a\": 1.0\n}").unwrap());
            assert_eq!(at(file, new).install(&renewed).unwrap(), renewed);
        }
    }
    let installed = at(File::Settings, "/opt/session-todo").install("{}").unwrap();
    let theirs = installed.replace("claude-code\"", "claude-code --policy off\"");
    let renewed = at(File::Settings, "/usr/bin/session-todo").install(&theirs).unwrap();
    assert_eq!(renewed, theirs.replace("/opt/", "/usr/bin/"));
    let wrapped = installed.replace("/opt/session-todo", "nice /opt/session-todo");
    assert_eq!(at(File::Settings, "/usr/bin/session-todo").install(&wrapped).unwrap(), wrapped);
}

/// Issue: calls come from the batch alone, or from the single events, never from both.
#[test]
fn a_client_that_was_updated_has_one_kind_of_event() {
    let folder = tempfile::tempdir().unwrap();
    let at = |version| Place { version: Some(version), ..place(folder.path()) };
    let text = || fs::read_to_string(folder.path().join(".claude/settings.json")).unwrap();
    for version in [[2, 1, 140], [2, 1, 197], [2, 1, 140]] {
        install(&at(version));
        let has_batch = version == [2, 1, 197];
        assert_eq!((text().contains("PostToolBatch"), text().contains("PostToolUse\"")), (has_batch, !has_batch));
        assert_eq!(install(&at(version)), 0);
    }
    assert_eq!(uninstall(&at([2, 1, 197])), 2);
    assert!(!folder.path().join(".claude/settings.json").exists(), "it was not there before");
}

#[test]
fn a_version_without_batch_gets_the_single_events() {
    let folder = tempfile::tempdir().unwrap();
    for (version, has_batch) in [([2, 1, 144], false), ([2, 1, 145], true), ([2, 2, 0], true)] {
        let place = Place { version: Some(version), ..place(folder.path()) };
        let text = place.install().unwrap().swap_remove(0).after.unwrap();
        assert_eq!(text.contains("PostToolBatch"), has_batch);
        assert_eq!(text.contains("PostToolUseFailure"), !has_batch);
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![Just(Value::Null), any::<i32>().prop_map(Value::from), "\\PC{0,6}".prop_map(Value::from)];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let key = prop_oneof![Just("hooks".to_owned()), Just("Stop".to_owned()), "[a-z\"\\\\{\\[]{1,4}"];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(key, inner, 0..4).prop_map(|map| map.into_iter().collect::<Value>()),
        ]
    })
}

/// Settings that the client takes.
fn any_settings() -> impl Strategy<Value = Value> {
    let event = prop_oneof![Just("Stop"), Just("PostToolBatch"), Just("PostToolUse"), Just("SessionStart")];
    let hook = "[a-z]{1,3}".prop_map(|command| json!({"type": "command", "command": command}));
    let group = prop::collection::vec(hook, 0..3).prop_map(|hooks| json!({"hooks": hooks}));
    let hooks = prop::collection::btree_map(event, prop::collection::vec(group, 0..3), 0..3);
    (prop::collection::btree_map("[a-z]{1,4}", any_json(), 0..3), prop::option::of(hooks)).prop_map(|(rest, hooks)| {
        let rest = rest.into_iter().filter(|(key, _)| key != "hooks");
        rest.chain(hooks.map(|hooks| ("hooks".to_owned(), json!(hooks)))).collect()
    })
}

fn laid_out(value: &Value, layout: usize) -> String {
    let pretty = serde_json::to_string_pretty(value).unwrap();
    match layout {
        0 => value.to_string(),
        1 => pretty,
        // No string has these, so they are between values.
        _ => pretty.replace('\n', "\r\n\t").replace("\": [", "\" :\t["),
    }
}

proptest! {
    /// Whatever the settings, and however they are laid out: what is put in can be taken out, also without the
    /// text from before, and the value is the old one.
    #[test]
    fn taken_out_again(value in any_json(), layout in 0..3_usize) {
        let text = laid_out(&value, layout);
        for file in [File::Settings, File::Servers] {
            let entries = Entries { file, command: "session-todo".into(), has_batch: true };
            let Ok(installed) = entries.install(&text) else { continue };
            prop_assert_eq!(&entries.install(&installed).unwrap(), &installed);
            let left = entries.uninstall(&installed, &text).unwrap();
            if layout < 2 {
                prop_assert_eq!(serde_json::from_str::<Value>(&left).unwrap(), value.clone());
                prop_assert_eq!(&left, &text);
            }
        }
    }

    /// Issue: install and uninstall leave a file byte-identical, the second install changes nothing, and nothing
    /// else is left. This of files, and of every layout.
    #[test]
    fn files_are_as_before(settings in any_settings(), layout in 0..3_usize) {
        round_trip(&laid_out(&settings, layout));
    }

    /// What is added meanwhile stays: a hook beside ours, before or behind it; a group; an event; a key.
    #[test]
    fn additions_stay(before in any_settings(), at in 0..5_usize, first in any::<bool>(), layout in 0..3_usize) {
        let folder = tempfile::tempdir().unwrap();
        let place = place(folder.path());
        let path = place.settings.join("settings.json");
        fs::create_dir_all(&place.settings).unwrap();
        fs::write(&path, laid_out(&before, 1)).unwrap();
        install(&place);
        let theirs = json!({"type": "command", "command": "later", "timeout": 1});
        let read = || serde_json::from_str::<Value>(&fs::read_to_string(&path).unwrap()).unwrap();
        let (mut with, mut expected) = (read(), before);
        let event = ["SessionStart", "UserPromptSubmit", "Stop", "PostToolBatch", "PreToolUse"][at];
        let ours = with["hooks"][event].as_array_mut().unwrap().last_mut().unwrap();
        let mut left = ours.clone();
        left["hooks"] = json!([theirs]);
        ours["hooks"].as_array_mut().unwrap().insert(usize::from(!first), theirs.clone());
        with["hooks"][event].as_array_mut().unwrap().push(json!({"hooks": [theirs]}));
        with["hooks"]["Later"] = json!([{"hooks": [theirs]}]);
        with["later"] = json!([1, {"a": null}]);
        if expected["hooks"][event].is_null() {
            expected["hooks"][event] = json!([]);
        }
        expected["hooks"][event].as_array_mut().unwrap().extend([left, json!({"hooks": [theirs]})]);
        expected["hooks"]["Later"] = with["hooks"]["Later"].clone();
        expected["later"] = with["later"].clone();
        fs::write(&path, laid_out(&with, layout)).unwrap();
        prop_assert_eq!(install(&place), 0);
        uninstall(&place);
        prop_assert_eq!(read(), expected);
        prop_assert!(!backup(&path).exists());
    }
}
