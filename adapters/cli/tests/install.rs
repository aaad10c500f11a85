//! session-todo in a client's settings, and out again: every other byte stays.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

struct Home {
    folder: TempDir,
    name: &'static str,
}

impl Home {
    fn with(name: &'static str, text: Option<&str>) -> Self {
        let home = Self { folder: TempDir::new().unwrap(), name };
        if let Some(text) = text {
            fs::create_dir(home.folder.path().join("opencode")).unwrap();
            fs::write(home.file(), text).unwrap();
        }
        home
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("opencode").join(self.name)
    }

    fn text(&self) -> Option<String> {
        fs::read_to_string(self.file()).ok()
    }

    /// Every file there is.
    fn files(&self) -> usize {
        fs::read_dir(self.file().parent().unwrap()).map_or(0, Iterator::count)
    }

    fn install(&self, options: &[&str]) -> (i32, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_session-todo"));
        command.args(["install", "opencode"]).args(options).env("XDG_CONFIG_HOME", self.folder.path());
        let output = command.output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    }
}

const KEPT: [&str; 5] = [
    "{\n  \"$schema\": \"https://opencode.ai/config.json\",\n  \"mcp\": {\n    \"other\": {\"type\": \"local\"}\n  },\n  \"unknown\": 1e999\n}\n",
    "// mine\n{\n\t\"theme\": \"dark\", // really\n\t\"list\": [1,2 , 3,],\n}\n",
    "\u{feff}{\"mcp\": {}}",
    "{\r\n  \"a\": 1\r\n}\r\n",
    "{ }",
];

#[test]
fn in_and_out_again_leaves_every_byte() {
    for text in KEPT {
        let home = Home::with("opencode.jsonc", Some(text));
        let (status, shown, words) = home.install(&["--dry-run"]);
        assert_eq!((status, home.text().as_deref(), home.files()), (0, Some(text), 1), "{words}");
        assert!(shown.contains("+ ") && shown.contains("session-todo"), "{shown}");
        let (status, changed, _) = home.install(&[]);
        assert_eq!((status, changed), (0, shown));
        let with = home.text().unwrap();
        let mut rest = with.chars();
        assert!(text.chars().all(|char| rest.any(|other| other == char)), "{with}");
        assert_eq!(home.files(), 2, "a backup");
        let (status, shown, words) = home.install(&[]);
        assert!(status == 0 && shown.is_empty() && words.contains("nothing to do"), "{words}");
        assert_eq!((home.text().unwrap(), home.files()), (with, 2));
        assert_eq!(home.install(&["--uninstall"]).0, 0);
        assert_eq!((home.text().as_deref(), home.files()), (Some(text), 1));
        let (status, _, words) = home.install(&["--uninstall"]);
        assert!(status == 0 && words.contains("nothing to do"), "{words}");
    }
}

#[test]
fn without_settings_they_are_made_and_go_again() {
    let home = Home::with("opencode.json", None);
    assert_eq!(home.install(&[]).0, 0);
    let settings: Value = serde_json::from_str(&home.text().unwrap()).unwrap();
    let server = &settings["mcp"]["session-todo"];
    assert_eq!(server["command"][0], env!("CARGO_BIN_EXE_session-todo"));
    assert_eq!(server["environment"]["SESSION_TODO_SESSION"], "opencode {env:PWD}");
    assert_eq!(home.install(&["--uninstall"]).0, 0);
    assert_eq!(home.files(), 0);
}

/// Who installs again means the command that they start.
#[test]
fn a_command_that_moved_is_found_again() {
    for text in KEPT {
        let home = Home::with("opencode.json", Some(text));
        home.install(&[]);
        let here = home.text().unwrap();
        fs::write(home.file(), here.replace(env!("CARGO_BIN_EXE_session-todo"), "/gone/session-todo")).unwrap();
        let (status, shown, _) = home.install(&[]);
        assert!(status == 0 && shown.contains("- ") && shown.contains("/gone/session-todo"), "{shown}");
        assert_eq!(home.text().unwrap(), here);
        assert_eq!(home.install(&["--uninstall"]).0, 0);
        assert_eq!((home.text().as_deref(), home.files()), (Some(text), 1), "the backup is of the text from before");
    }
}

/// What a person changed in between stays; what install made goes.
#[test]
fn a_later_change_stays() {
    let home = Home::with("opencode.json", Some("{\n  \"a\": 1\n}\n"));
    home.install(&[]);
    fs::write(home.file(), home.text().unwrap().replace("\"a\": 1", "\"a\": 2")).unwrap();
    assert_eq!(home.install(&["--uninstall"]).0, 0);
    assert_eq!(home.text().unwrap(), "{\n  \"a\": 2\n}\n");
}

#[test]
fn what_install_did_not_write_is_not_touched_and_said() {
    let other = "{\"mcp\": {\"session-todo\": {\"type\": \"remote\", \"url\": \"x\"}}}";
    for (text, why) in [
        ("{\"a\": 1", "not JSON"),
        ("{\"a\": 1}}", "not JSON"),
        ("[1]", "should hold an object"),
        ("{\"mcp\": 7}", "\"mcp\" in it should be an object"),
        (other, "did not write"),
    ] {
        let home = Home::with("opencode.json", Some(text));
        let (status, shown, words) = home.install(&[]);
        assert!(status == 2 && shown.is_empty() && words.contains(why), "{words}");
        assert!(words.contains("opencode.json"), "{words}");
        assert_eq!((home.text().as_deref(), home.files()), (Some(text), 1));
    }
    let home = Home::with("opencode.json", Some(other));
    assert_eq!(home.install(&["--uninstall"]).0, 2);
    assert_eq!(home.text().as_deref(), Some(other));
}

/// Issue: the change is shown before it is made, all of it; a backup is named where there is one; the second time
/// there is nothing to do; and out again to the byte.
#[test]
fn claude_code_is_shown_the_whole_change() {
    for text in ["{\"a\":1}", "{\n\t\"a\": 1\n}\n", ""] {
        let home = TempDir::new().unwrap();
        let file = home.path().join("settings.json");
        fs::write(&file, text).unwrap();
        let install = |options: &[&str]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_session-todo"));
            command.args(["install", "claude-code"]).args(options);
            // No client is asked for its version.
            let output = command.env("CLAUDE_CONFIG_DIR", home.path()).env("PATH", "").output().unwrap();
            assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), b"".as_slice()));
            String::from_utf8(output.stdout).unwrap()
        };
        let shown = install(&["--dry-run"]);
        assert_eq!(fs::read_to_string(&file).unwrap(), text, "it is only shown");
        let kept = format!("Kept: {}.before-session-todo\n", file.display());
        assert_eq!(install(&[]), shown.clone() + &kept);
        let written = fs::read_to_string(&file).unwrap();
        for line in written.lines().filter(|line| !text.lines().any(|there| there == *line)) {
            assert!(shown.contains(&format!("+ {line}\n")), "{line} in {shown}");
        }
        assert_eq!(install(&[]), "Nothing to change.\n");
        install(&["--uninstall"]);
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1, "no backup, no other file");
    }
}

/// Who keeps settings elsewhere and links to them goes on doing so.
#[cfg(unix)]
#[test]
fn a_link_stays_a_link_and_permissions_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let home = Home::with("opencode.json", Some("{}"));
    let real = home.folder.path().join("real.json");
    fs::rename(home.file(), &real).unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o600)).unwrap();
    symlink(&real, home.file()).unwrap();
    assert_eq!(home.install(&[]).0, 0);
    assert!(fs::symlink_metadata(home.file()).unwrap().is_symlink());
    assert!(fs::read_to_string(&real).unwrap().contains("session-todo"));
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o600);
}
