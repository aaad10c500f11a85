//! Many logs: found in folders, folded on every core, printed in order.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use indicatif::{ProgressBar, ProgressStyle};
use session_todo::Policy;

use crate::replay::replay;
use crate::report::{Print, Report};
use crate::terminal::words;
use crate::{DONE, UNREADABLE};

/// What is asked of each log.
pub(crate) struct Task {
    /// The request at which to stop.
    pub(crate) at: Option<u64>,
    pub(crate) policy: Policy,
    pub(crate) print: Print,
    /// Whether each change is told.
    pub(crate) timeline: bool,
}

/// A log, and whether it was named or found in a folder.
struct Log {
    path: PathBuf,
    named: bool,
}

/// Logs whose reports are printed.
static PRINTED: AtomicUsize = AtomicUsize::new(0);

/// Exit status of a run that a person ended, as shells have it for their signal.
const INTERRUPTED: i32 = 130;

/// Replays each log; one that can't be read does not stop the rest.
pub(crate) fn run(names: &[PathBuf], task: &Task) -> io::Result<u8> {
    let logs = logs(names);
    say_at_interrupt(logs.len());
    let bar = progress(logs.len());
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        let workers = thread::available_parallelism().map_or(1, usize::from).min(logs.len());
        for _ in 0..workers {
            let (sender, next, logs) = (sender.clone(), &next, &logs);
            scope.spawn(move || {
                while let Some((index, log)) = take(next, logs) {
                    // Nobody listens any more when printing has failed.
                    if sender.send((index, replay(&log.path, task))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        print_in_order(receiver, &logs, task, &bar)
    })
}

/// A run that a person ends says what it had not read.
fn say_at_interrupt(logs: usize) {
    // Where there is no such handler, the run ends in silence.
    let _ = ctrlc::set_handler(move || {
        let unread = logs - PRINTED.load(Ordering::Relaxed);
        words(&format!("interrupted: {unread} of {logs} files were not read"));
        std::process::exit(INTERRUPTED);
    });
}

fn take<'l>(next: &AtomicUsize, logs: &'l [Log]) -> Option<(usize, &'l Log)> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    logs.get(index).map(|log| (index, log))
}

fn print_in_order(
    reports: mpsc::Receiver<(usize, Vec<Report>)>,
    logs: &[Log],
    task: &Task,
    bar: &ProgressBar,
) -> io::Result<u8> {
    let mut waiting = BTreeMap::new();
    let (mut printed, mut strangers, mut status) = (0, 0_usize, DONE);
    for (index, reports) in reports {
        waiting.insert(index, reports);
        while let Some(mut reports) = waiting.remove(&printed) {
            let named = logs.get(printed).is_some_and(|log| log.named);
            printed += 1;
            bar.inc(1);
            let before = reports.len();
            reports.retain(|report| named || !report.is_stranger());
            strangers += before - reports.len();
            status = reports.iter().map(|report| report.status(task)).fold(status, u8::max);
            bar.suspend(|| reports.iter_mut().try_for_each(|report| report.print(task))).map_err(|error| {
                io::Error::new(
                    error.kind(),
                    format!("{error}: {} of {} files were not read", logs.len() - printed, logs.len()),
                )
            })?;
            PRINTED.store(printed, Ordering::Relaxed);
        }
    }
    bar.finish_and_clear();
    if strangers > 0 {
        words(&format!("{strangers} files in the folders are no session logs"));
    }
    if strangers == logs.len() {
        words("there is no session log in the folders");
        return Ok(UNREADABLE);
    }
    Ok(status)
}

fn progress(logs: usize) -> ProgressBar {
    if logs < 2 || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(logs as u64);
    bar.set_style(
        ProgressStyle::with_template("{bar:40} {pos}/{len} logs").unwrap_or_else(|_| ProgressStyle::default_bar()),
    );
    bar
}

/// The files that are named, and those in the folders that are, in the order of their names.
fn logs(names: &[PathBuf]) -> Vec<Log> {
    let mut logs = Vec::new();
    for path in names {
        if path.is_dir() {
            collect(path, &mut logs);
        } else {
            logs.push(Log { path: path.clone(), named: true });
        }
    }
    logs
}

fn collect(folder: &Path, logs: &mut Vec<Log>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        // Opening it will say why.
        logs.push(Log { path: folder.to_path_buf(), named: true });
        return;
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            // A link may lead back to where it stands.
            if !path.is_symlink() {
                collect(&path, logs);
            }
        } else if path.is_file() && !is_of_another(&path) {
            logs.push(Log { path, named: false });
        }
    }
}

/// Whether a file is read with the session that it belongs to: a sub-agent's log beside it.
fn is_of_another(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.starts_with("agent-")
}
