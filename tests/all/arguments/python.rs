//! C3 against a real Python: what its `repr()` and `json.dumps()` write reads back as it was.

use std::fs;
use std::io::Write;
use std::process::Command;

use proptest::collection::vec;
use proptest::prelude::{Strategy, any};
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};
use session_todo_tests::arguments::{Choices, Seen, Todo, todo};

use super::{cases, read};

/// Reads lists, and writes each in every way: a line of JSON with the list's number, the way, the text.
const SCRIPT: &str = r#"
import itertools, json, sys
calls = json.load(open(sys.argv[1], encoding="utf-8"))
options = [
    dict(zip(("ensure_ascii", "indent", "separators", "sort_keys", "skipkeys", "check_circular"), values))
    for values in itertools.product(
        (True, False), (None, 0, 2, "\t"), (None, (",", ":"), (" , ", " : ")), (True, False), (True, False), (True, False)
    )
]
with open(sys.argv[2], "w", encoding="utf-8") as out:
    def write(number, way, text):
        out.write(json.dumps([number, way, text]) + "\n")
    for number, call in enumerate(calls):
        write(number, "repr", repr(call))
        write(number, "repr in JSON", json.dumps({"todos": repr(call["todos"])}))
        write(number, "repr in repr", repr({"todos": repr(call["todos"])}))
        write(number, "dumps in dumps", json.dumps({"todos": json.dumps(call["todos"], ensure_ascii=False)}))
        for step in range(8):
            chosen = options[(number * 8 + step) % len(options)]
            write(number, str(chosen), json.dumps(call, **chosen))
"#;

#[test]
fn c3_what_a_real_python_writes_reads_back() {
    if Command::new("python3").arg("--version").output().is_err() {
        // Not by eprintln!, which the test harness keeps to itself.
        let mut stderr = std::io::stderr();
        stderr.write_all(b"SKIPPED: c3_what_a_real_python_writes_reads_back: there is no python3\n").unwrap();
        return;
    }
    let lists = lists(cases(1000));
    let want: Vec<Vec<Seen>> = lists.iter().map(|list| read("todo_write", &todo::canonical(list)).unwrap()).collect();
    let mut texts = 0;
    for line in written(&lists).lines() {
        let (number, way, text): (usize, String, String) = serde_json::from_str(line).unwrap();
        let got = read("todo_write", &text);
        assert_eq!(got.as_ref(), Ok(&want[number]), "{way}: {text}");
        texts += 1;
    }
    assert_eq!(texts, lists.len() * 12, "Python wrote another number of texts");
    println!("{} lists, {texts} texts", lists.len());
}

/// Random lists, always the same ones.
fn lists(count: u32) -> Vec<Vec<Todo>> {
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let mut list = || {
        let bytes = vec(any::<u8>(), 400).new_tree(&mut runner).unwrap().current();
        let c = &mut Choices::new(&bytes);
        let mut list = todo::any(c);
        for todo in &mut list {
            let scalars = c.below(8);
            todo.content.extend((0..scalars).map(|_| c.scalar()));
        }
        list
    };
    (0..count).map(|_| list()).collect()
}

fn written(lists: &[Vec<Todo>]) -> String {
    let calls = lists.iter().map(|list| json!({ "todos": list.iter().map(Todo::to_json).collect::<Vec<_>>() }));
    let folder = tempfile::tempdir().unwrap();
    let [input, script, output] = ["in.json", "write.py", "out.jsonl"].map(|name| folder.path().join(name));
    fs::write(&input, calls.collect::<Value>().to_string()).unwrap();
    fs::write(&script, SCRIPT).unwrap();
    let done = Command::new("python3").args([&script, &input, &output]).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    fs::read_to_string(output).unwrap()
}
