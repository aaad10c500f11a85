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
        said(&mut command)
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

/// The client reads both names: the server is found in the one that it stands in.
#[test]
fn a_second_file_of_settings_hides_nothing() {
    let home = Home::with("opencode.json", Some("{}"));
    home.install(&[]);
    let commented = home.file().with_extension("jsonc");
    fs::write(&commented, "{} // theirs\n").unwrap();
    let (status, shown, words) = home.install(&[]);
    assert!(status == 0 && shown.is_empty() && words.contains("nothing to do"), "{words}");
    assert_eq!(home.install(&["--uninstall"]).0, 0);
    assert_eq!((home.text().as_deref(), home.files()), (Some("{}"), 2));
    assert_eq!(fs::read_to_string(&commented).unwrap(), "{} // theirs\n");
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

/// Claude Code's two files, in one folder.
struct Claude(TempDir);

impl Claude {
    fn with(settings: &str) -> Self {
        let claude = Self(TempDir::new().unwrap());
        fs::write(claude.file("settings.json"), settings).unwrap();
        claude
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn text(&self) -> String {
        fs::read_to_string(self.file("settings.json")).unwrap()
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.text()).unwrap()
    }

    fn files(&self) -> usize {
        fs::read_dir(self.0.path()).unwrap().count()
    }

    fn install(&self, options: &[&str]) -> (i32, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_session-todo"));
        command.args(["install", "claude-code"]).args(options);
        // No client is asked for its version.
        said(command.env("CLAUDE_CONFIG_DIR", self.0.path()).env("PATH", ""))
    }
}

fn said(command: &mut Command) -> (i32, String, String) {
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// Issue: the change is shown before it is made, all of it; a backup is named where there is one; the second time
/// there is nothing to do; and out again to the byte.
#[test]
fn claude_code_is_shown_the_whole_change() {
    for text in ["{\"a\":1}", "{\n\t\"a\": 1\n}\n", ""] {
        let claude = Claude::with(text);
        let (status, shown, _) = claude.install(&["--dry-run"]);
        assert_eq!((status, claude.text().as_str()), (0, text), "it is only shown");
        let (status, changed, words) = claude.install(&[]);
        assert_eq!((status, changed), (0, shown.clone()));
        assert!(words.contains("settings.json.before-session-todo"), "{words}");
        let written = claude.text();
        for line in written.lines().filter(|line| !text.lines().any(|there| there == *line)) {
            assert!(shown.contains(&format!("+ {line}\n")), "{line} in {shown}");
        }
        let (status, shown, words) = claude.install(&[]);
        assert!(status == 0 && shown.is_empty() && words.contains("nothing to do"), "{words}");
        assert_eq!(claude.install(&["--uninstall"]).0, 0);
        assert_eq!((claude.text().as_str(), claude.files()), (text, 1), "no backup, no other file");
    }
}

/// Issue: what install did not write is never touched; so a hook that somebody put beside ours stays, and ours is
/// found beside it.
#[test]
fn a_hook_beside_ours_stays() {
    let theirs = serde_json::json!({"type": "command", "command": "theirs"});
    for at in [0, 1] {
        let claude = Claude::with("{\n  \"a\": 1\n}\n");
        claude.install(&[]);
        let mut settings = claude.json();
        let group = settings["hooks"]["SessionStart"][0]["hooks"].as_array_mut().unwrap();
        group.insert(at, theirs.clone());
        let with = serde_json::to_string_pretty(&settings).unwrap();
        fs::write(claude.file("settings.json"), &with).unwrap();
        let (status, shown, _) = claude.install(&[]);
        assert_eq!((status, shown.as_str(), claude.text()), (0, "", with), "ours is there");
        assert_eq!(claude.install(&["--uninstall"]).0, 0);
        let left = serde_json::json!([{"matcher": "resume|compact", "hooks": [theirs]}]);
        assert_eq!(claude.json(), serde_json::json!({"a": 1, "hooks": {"SessionStart": left}}));
        assert_eq!(claude.files(), 1, "no backup, no server");
    }
}

#[test]
fn a_name_that_only_looks_like_ours_is_not_touched() {
    for program in [
        "session-todo-extras hook claude-code",
        "/opt/session-todo-0.3 hook claude-code",
        "/opt/session-todo-fork/run hook claude-code",
        "'/opt/my session-todo' hook claude-code",
        "/opt/session-todo hook claude-codex",
        "/opt/session-todo list",
    ] {
        let hook = serde_json::json!([{"hooks": [{"type": "command", "command": program}]}]);
        let text = serde_json::to_string_pretty(&serde_json::json!({"hooks": {"Stop": hook}})).unwrap();
        let claude = Claude::with(&text);
        assert_eq!(claude.install(&[]).0, 0);
        let stop = claude.json()["hooks"]["Stop"].clone();
        assert_eq!((stop.as_array().unwrap().len(), &stop[0]), (2, &hook[0]), "{program}");
        assert_eq!(claude.install(&["--uninstall"]).0, 0);
        assert_eq!((claude.text(), claude.files()), (text, 1));
    }
    let server = r#"{"mcpServers":{"session-todo":{"command":"/opt/session-todo-extras","args":["mcp"]}}}"#;
    let claude = Claude::with("{}");
    fs::write(claude.file(".claude.json"), server).unwrap();
    let (status, _, words) = claude.install(&[]);
    assert!(status == 2 && words.contains("another server named session-todo"), "{words}");
    claude.install(&["--uninstall"]);
    assert_eq!((fs::read_to_string(claude.file(".claude.json")).unwrap().as_str(), claude.files()), (server, 2));
}

/// What a person sets at our server is theirs, and the server is ours still.
#[test]
fn a_server_that_was_set_otherwise_is_found_again() {
    let toggles: [fn(&mut Value); 4] = [
        |server| server["enabled"] = false.into(),
        |server| server["timeout"] = 7.into(),
        |server| server["environment"] = serde_json::json!({"SESSION_TODO_HOME": "/elsewhere"}),
        |server| server["command"].as_array_mut().unwrap().push("--session=x".into()),
    ];
    for toggle in toggles {
        let before = "{\n  \"a\": 1\n}";
        let home = Home::with("opencode.json", Some(before));
        home.install(&[]);
        let mut settings: Value = serde_json::from_str(&home.text().unwrap()).unwrap();
        toggle(&mut settings["mcp"]["session-todo"]);
        let with = serde_json::to_string_pretty(&settings).unwrap();
        fs::write(home.file(), &with).unwrap();
        let (status, shown, words) = home.install(&[]);
        assert_eq!((status, shown.as_str(), home.text()), (0, "", Some(with.clone())), "{words}");
        // The program alone is renewed where it moved.
        fs::write(home.file(), with.replace(env!("CARGO_BIN_EXE_session-todo"), "/gone/session-todo")).unwrap();
        assert_eq!(home.install(&[]).0, 0);
        assert_eq!(home.text(), Some(with));
        assert_eq!(home.install(&["--uninstall"]).0, 0);
        assert_eq!((home.text().as_deref(), home.files()), (Some(before), 1));
    }
    for command in [r#"["/opt/session-todo-extras","mcp"]"#, r#"["session-todo","list"]"#, r#""session-todo mcp""#] {
        let text = format!("{{\"mcp\":{{\"session-todo\":{{\"type\":\"local\",\"command\":{command}}}}}}}");
        let home = Home::with("opencode.json", Some(&text));
        for options in [&[][..], &["--uninstall"]] {
            let (status, _, words) = home.install(options);
            assert!(status == 2 && words.contains("did not write"), "{words}");
            assert_eq!((home.text().as_deref(), home.files()), (Some(text.as_str()), 1));
        }
    }
}

/// A link to a file that is not there yet: the file is made there, and goes again.
#[cfg(unix)]
#[test]
fn a_link_to_nothing_stays_a_link() {
    use std::os::unix::fs::symlink;
    let home = Home::with("opencode.jsonc", Some(""));
    let claude = Claude::with("");
    let elsewhere = TempDir::new().unwrap();
    for (link, install) in [
        (home.file(), &(|options: &[&str]| home.install(options).0) as &dyn Fn(&[&str]) -> i32),
        (claude.file("settings.json"), &|options| claude.install(options).0),
    ] {
        let real = elsewhere.path().join("dotfiles/real.json");
        fs::remove_file(&link).unwrap();
        symlink(&real, &link).unwrap();
        assert_eq!(install(&[]), 0);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink() && !real.is_symlink());
        assert!(fs::read_to_string(&real).unwrap().contains("session-todo"));
        assert_eq!(install(&["--uninstall"]), 0);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_dir(real.parent().unwrap()).unwrap().count(), 0);
    }
}

/// On a full disk nothing is changed, nothing is left lying, and it is said of which files. (A limit on a file's
/// size stands for the disk.)
#[cfg(unix)]
#[test]
fn a_full_disk_changes_nothing() {
    let full = |blocks: u64, client: &str, folder: &std::path::Path| {
        let mut shell = Command::new("sh");
        let limit = format!("trap '' XFSZ; ulimit -f {blocks}; PATH=; exec \"$0\" install {client}");
        shell.args(["-c", &limit, env!("CARGO_BIN_EXE_session-todo")]);
        said(shell.env("CLAUDE_CONFIG_DIR", folder).env("XDG_CONFIG_HOME", folder))
    };
    // Both files, or the second alone, have no place.
    for blocks in [0, 32] {
        let claude = Claude::with("{}");
        let servers = format!("{{\"long\":\"{}\"}}", "x".repeat(100_000));
        fs::write(claude.file(".claude.json"), &servers).unwrap();
        let (status, _, words) = full(blocks, "claude-code", claude.0.path());
        assert!(status == 2 && words.contains("Nothing was changed"), "{words}");
        assert_eq!((claude.text().as_str(), claude.files()), ("{}", 2), "{words}");
        assert_eq!(fs::read_to_string(claude.file(".claude.json")).unwrap(), servers);
    }
    for text in [None, Some("{}")] {
        let home = Home::with("opencode.json", text);
        let (status, _, words) = full(0, "opencode", home.folder.path());
        assert!(status == 2 && words.contains("Nothing was changed"), "{words}");
        assert_eq!((home.text().as_deref(), home.files()), (text, usize::from(text.is_some())));
    }
}

/// A path that no settings can hold is said, and not written as another one.
#[cfg(target_os = "linux")]
#[test]
fn a_path_that_is_no_text_is_refused() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let program = PathBuf::from(env!("CARGO_BIN_EXE_session-todo"));
    let folder = TempDir::new_in(program.parent().unwrap()).unwrap();
    let odd = folder.path().join(OsStr::from_bytes(b"\xff"));
    fs::hard_link(&program, &odd).unwrap();
    for client in ["claude-code", "opencode"] {
        let home = TempDir::new().unwrap();
        let mut command = Command::new(&odd);
        command.args(["install", client]).env("PATH", "");
        let command = command.env("CLAUDE_CONFIG_DIR", home.path()).env("XDG_CONFIG_HOME", home.path());
        let (status, _, words) = said(command);
        assert!(status == 2 && words.contains("not UTF-8"), "{client}: {words}");
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
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
