use std::io::{self, IsTerminal, Read, Write};
use std::path::Path;

use clap::{Args, ValueEnum};
use session_todo::Policy;
use session_todo_hooks::claude_code::{Environment, Hook};
use session_todo_hooks::{ERRORS, report};

use crate::{DONE, terminal};

/// The policy where no flag names one.
const VARIABLE: &str = "SESSION_TODO_POLICY";
/// The policy under which nothing is read, logged or said.
const OFF: &str = "off";
/// The most bytes of an event that are read, should there be no end to them. What tools answered with stands in one.
const MOST: u64 = 256 * 1024 * 1024;

#[derive(Args)]
pub(crate) struct Arguments {
    /// Whose hook it is
    #[arg(value_enum)]
    client: Client,
    /// What is said, and when: a preset, or `off`. Else `SESSION_TODO_POLICY` says; else the log's own, which
    /// begins as `default`
    #[arg(long, value_name = "NAME")]
    policy: Option<String>,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Client {
    ClaudeCode,
}

/// One hook call. Its exit status is always 0: the client goes on whatever happens here.
pub(crate) fn run(arguments: &Arguments) -> u8 {
    let Client::ClaudeCode = arguments.client;
    let named = named(arguments.policy.as_deref());
    if named.as_deref().is_some_and(|name| spelled(name) == OFF) {
        drain();
        return DONE;
    }
    let Some(folder) = session_todo_store::home() else {
        terminal::words("there is no folder for the logs. Name one in SESSION_TODO_HOME");
        drain();
        return DONE;
    };
    let policy = named.and_then(|name| known(&folder, &name));
    if let Err(error) = answer(&Hook { folder: &folder, policy, environment: Environment::of_process() }) {
        tell(&folder, &error.to_string());
    }
    DONE
}

/// The policy that is named: by the flag, unless it is blank and the environment names one.
fn named(flag: Option<&str>) -> Option<String> {
    let variable = std::env::var_os(VARIABLE).map(|name| name.to_string_lossy().into_owned());
    let variable = variable.filter(|name| !name.trim().is_empty());
    flag.filter(|flag| !flag.trim().is_empty()).map(str::to_owned).or(variable).or_else(|| flag.map(str::to_owned))
}

/// A name as people may spell it.
fn spelled(name: &str) -> String {
    name.trim().to_ascii_lowercase()
}

/// The client must not find its pipe closed.
fn drain() {
    let _ = io::copy(&mut io::stdin().lock().take(MOST), &mut io::sink());
}

fn answer(hook: &Hook<'_>) -> Result<(), Box<dyn std::error::Error>> {
    let mut stdin = Vec::new();
    let read = io::stdin().take(MOST).read_to_end(&mut stdin);
    if read.map_err(|error| format!("the hook's input can't be read: {error}"))? as u64 == MOST {
        return Err(format!("the hook's input has {MOST} bytes or more, and is not read").into());
    }
    if let Some(answer) = hook.answer(&stdin)? {
        let printed = io::stdout().write_all(format!("{answer}\n").as_bytes());
        printed.map_err(|error| format!("the hook's answer is logged, and can't be printed: {error}"))?;
    }
    Ok(())
}

/// A policy that nobody knows is as if none was named.
fn known(folder: &Path, name: &str) -> Option<Policy> {
    match crate::policy(&spelled(name)) {
        Ok(policy) => Some(policy),
        Err(error) => {
            tell(folder, &format!("policy {name:?}: {error}, {OFF}"));
            None
        }
    }
}

fn tell(folder: &Path, what: &str) {
    let also =
        if report(folder, what) { format!(" (also in {})", folder.join(ERRORS).display()) } else { String::new() };
    terminal::words(&format!("{what}{also}"));
}

/// Wrong usage ends the command; but a hook's exit status says things to its client, and 2 stops its work.
pub(crate) fn exit(error: &clap::Error) -> ! {
    let is_hook = std::env::args_os().nth(1).is_some_and(|command| command == "hook");
    if is_hook && error.use_stderr() {
        let _ = error.print();
        if let Some(folder) = session_todo_store::home() {
            let _ = report(&folder, &error.to_string());
        }
        if !io::stdin().is_terminal() {
            drain();
        }
        std::process::exit(0)
    }
    error.exit()
}
