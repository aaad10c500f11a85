//! Scenarios: event lines, `----`, and what has to come of them. `tests/scenarios/README.md` has the form.

mod call;
mod line;
mod policy;
mod print;
mod stage;

use std::ops::Range;

use stage::Stage;

const DIVIDER: &str = "----";
const ANY: &str = "...";

/// What came of one file.
#[derive(Debug, Default)]
pub struct Checked {
    /// Each with file, line and a diff. Empty where all came as expected.
    pub failures: Vec<String>,
    /// The file with the expectations that did not hold replaced; none where that is not allowed.
    pub rewritten: Option<String>,
}

/// Event lines, each with its index, and the indices of the lines that are expected of them.
struct Block<'a> {
    steps: Vec<(usize, &'a str)>,
    expected: Range<usize>,
}

/// A line that can't be read, or a law that does not hold there.
struct Fault {
    line: usize,
    message: String,
}

/// Plays a scenario and compares.
#[must_use]
pub fn check(file: &str, text: &str) -> Checked {
    let lines: Vec<&str> = text.lines().collect();
    let mut checked = Checked::default();
    match play(file, &lines, &mut checked.failures) {
        Ok(rewritten) => checked.rewritten = rewritten.map(|lines| lines.join("\n") + "\n"),
        Err(fault) => checked.failures.push(format!("{file}:{}: {}", fault.line + 1, fault.message)),
    }
    checked
}

fn play(file: &str, lines: &[&str], failures: &mut Vec<String>) -> Result<Option<Vec<String>>, Fault> {
    let mut stage = Stage::default();
    let mut rewritten: Vec<String> = Vec::new();
    let mut kept = 0;
    for block in blocks(lines)? {
        let expected = &lines[block.expected.clone()];
        let actual = stage.play(&block.steps)?;
        if !fits(expected, &actual) {
            let diff = diff(expected, &actual);
            failures.push(format!("{file}:{}: not as expected\n{diff}", block.expected.start + 1));
            rewritten.extend(lines[kept..block.expected.start].iter().map(ToString::to_string));
            rewritten.extend(actual);
            kept = block.expected.end;
        }
    }
    rewritten.extend(lines[kept..].iter().map(ToString::to_string));
    Ok((!stage.by_hand()).then_some(rewritten))
}

fn blocks<'a>(lines: &[&'a str]) -> Result<Vec<Block<'a>>, Fault> {
    let mut blocks = Vec::new();
    let mut steps = Vec::new();
    let mut index = 0;
    while let Some(&line) = lines.get(index) {
        index += 1;
        if line.trim_end() == DIVIDER {
            let rest = lines[index..].iter();
            let end = index + rest.take_while(|line| !line.trim().is_empty()).count();
            blocks.push(Block { steps: std::mem::take(&mut steps), expected: index..end });
            index = end;
        } else if !line.trim().is_empty() && !line.starts_with('#') {
            steps.push((index - 1, line.trim()));
        }
    }
    if blocks.is_empty() || !steps.is_empty() {
        let message = "the events at the end have no `----` and no expectation".to_owned();
        return Err(Fault { line: lines.len().saturating_sub(1), message });
    }
    Ok(blocks)
}

/// Whether the lines are the expected ones, where `...` alone stands for any lines and inside a line for
/// any text.
fn fits(expected: &[&str], actual: &[String]) -> bool {
    match expected.split_first() {
        None => actual.is_empty(),
        Some((first, rest)) if is_any(first) => (0..=actual.len()).any(|skipped| fits(rest, &actual[skipped..])),
        Some((first, rest)) => actual
            .split_first()
            .is_some_and(|(line, after)| fits_line(&line::expand(first.trim_end()), line) && fits(rest, after)),
    }
}

fn is_any(line: &str) -> bool {
    line.trim_start_matches("| ").trim() == ANY
}

fn fits_line(expected: &str, actual: &str) -> bool {
    match expected.split_once(ANY) {
        None => expected == actual,
        Some((start, rest)) => actual.strip_prefix(start).is_some_and(|after| {
            let mut starts = after.char_indices().map(|(at, _)| at).chain([after.len()]);
            starts.any(|at| fits_line(rest, &after[at..]))
        }),
    }
}

/// What both begin and end with once; between them what was expected (`-`) and what came (`+`).
fn diff(expected: &[&str], actual: &[String]) -> String {
    let same = |(a, b): &(&&str, &String)| fits_line(&line::expand(a), b);
    let head = expected.iter().zip(actual).take_while(same).count();
    let (expected_rest, actual_rest) = (&expected[head..], &actual[head..]);
    let tail = expected_rest.iter().rev().zip(actual_rest.iter().rev()).take_while(same).count();
    let mut out = String::new();
    let mut push = |sign: char, line: &str| out.extend([" ", &sign.to_string(), " ", line, "\n"]);
    actual[..head].iter().for_each(|line| push(' ', line));
    expected_rest[..expected_rest.len() - tail].iter().for_each(|line| push('-', line));
    actual_rest[..actual_rest.len() - tail].iter().for_each(|line| push('+', line));
    actual_rest[actual_rest.len() - tail..].iter().for_each(|line| push(' ', line));
    out
}
