//! Whatever the settings: what is put in can be taken out, and what came meanwhile stays.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};
use session_todo_hooks::change::make;

use super::{Server, planned};

/// How many files were changed.
fn run(folder: &Path, uninstall: bool) -> usize {
    let server = Server { program: "/opt/a folder/todo".to_owned() };
    let changes = planned(&server, folder, uninstall).unwrap();
    make(&changes).unwrap();
    changes.len()
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![Just(Value::Null), any::<i32>().prop_map(Value::from), "\\PC{0,6}".prop_map(Value::from)];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z\"\\\\{/]{1,4}", inner, 0..4).prop_map(|map| json!(map)),
        ]
    })
}

fn any_settings() -> impl Strategy<Value = Value> {
    let servers = prop::collection::btree_map("[a-z]{1,4}", any_json(), 0..3);
    let rest = prop::collection::btree_map("[a-l]{1,4}", any_json(), 0..3);
    (rest, prop::option::of(servers)).prop_map(|(rest, servers)| {
        rest.into_iter().chain(servers.map(|servers| ("mcp".to_owned(), json!(servers)))).collect()
    })
}

fn laid_out(settings: &Value, layout: usize) -> String {
    let pretty = serde_json::to_string_pretty(settings).unwrap();
    match layout {
        0 => settings.to_string(),
        1 => pretty,
        2 => pretty.replace('\n', "\r\n\t"),
        _ => format!("// mine\n{}\n/* end */", pretty.replacen("{\n", "{ // \"mcp\": {}\n\n", 1)),
    }
}

proptest! {
    /// Issue: byte-identical, nothing the second time, nothing left lying. So too where somebody turned it off.
    #[test]
    fn settings_are_as_before(settings in any_settings(), layout in 0..4_usize, off in any::<bool>()) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("opencode.jsonc");
        let text = laid_out(&settings, layout);
        fs::write(&path, &text).unwrap();
        prop_assert_eq!((run(folder.path(), false), run(folder.path(), false)), (1, 0));
        if off {
            let with = fs::read_to_string(&path).unwrap();
            fs::write(&path, with.replacen("\"type\": \"local\"", "\"enabled\": false, \"type\": \"local\"", 1)).unwrap();
            prop_assert_eq!(run(folder.path(), false), 0);
        }
        prop_assert_eq!((run(folder.path(), true), run(folder.path(), true)), (1, 0));
        prop_assert_eq!(fs::read_to_string(&path).unwrap(), text);
        prop_assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn additions_stay(settings in any_settings(), layout in 0..4_usize) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("opencode.jsonc");
        fs::write(&path, settings.to_string()).unwrap();
        run(folder.path(), false);
        let mut with: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let mut expected = settings;
        for settings in [&mut with, &mut expected] {
            settings["mcp"]["later"] = json!({"type": "remote"});
            settings["later"] = json!([1, {"a": null}]);
        }
        fs::write(&path, laid_out(&with, layout)).unwrap();
        prop_assert_eq!((run(folder.path(), false), run(folder.path(), true)), (0, 1));
        let left = super::edit::meaning(&fs::read_to_string(&path).unwrap());
        prop_assert_eq!(left, Some(expected));
        prop_assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
