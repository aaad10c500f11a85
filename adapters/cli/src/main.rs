//! The command `session-todo`: data on stdout, words on stderr, and an exit status that says which.

mod call;
mod claude_code;
mod hook;
mod install;
mod list;
mod log;
mod mcp;
mod opencode;
mod replay;
mod report;
mod run;
mod terminal;
mod timeline;
mod tools;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use report::Print;
use run::Task;
use session_todo::{Dialect, Policy};

/// Exit status: all was read.
const DONE: u8 = 0;
/// Exit status: something was skipped.
const SKIPPED: u8 = 1;
/// Exit status: wrong usage, a missing file, or one that can't be read.
const UNREADABLE: u8 = 2;

#[derive(Parser)]
#[command(name = "session-todo", version, about = "The task list of LLM agent sessions")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Fold session logs into their list, and say what happened
    Replay {
        /// Session logs, or folders of them
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// One JSON object a session, a line each
        #[arg(long)]
        json: bool,
        /// The list as this request of the main agent leaves
        #[arg(long, value_name = "REQUEST")]
        at: Option<u64>,
        /// What this policy would have said: `default` where none is named, and in a log of our own its own
        #[arg(long, value_name = "NAME", value_parser = policy)]
        policy: Option<Policy>,
    },
    /// Compare the replayed list with the lists that the product itself recorded
    Verify {
        /// Session logs, or folders of them
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// One JSON object a session, a line each
        #[arg(long)]
        json: bool,
    },
    /// Each change and each reminder of a session, request by request
    Timeline {
        /// Session logs, or folders of them
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// What this policy would have said: `default` where none is named, and in a log of our own its own
        #[arg(long, value_name = "NAME", value_parser = policy)]
        policy: Option<Policy>,
    },
    /// Tool definitions that can be pasted into a request
    Tools {
        /// Whose spelling of the tools
        #[arg(long, value_name = "NAME", default_value = "todo-write", value_parser = dialect)]
        dialect: Dialect,
        /// The request that takes them
        #[arg(long, value_enum, default_value = "anthropic")]
        format: tools::Format,
    },
    /// One tool call: raw arguments on stdin, its answer as JSON on stdout
    Call {
        /// The tool, e.g. `todo_write`
        name: String,
        /// The policy that checks and answers
        #[arg(long, value_name = "NAME", default_value = "default", value_parser = policy)]
        policy: Policy,
        /// The list before the call: a JSON file, as `call` prints it or as `todo_write` takes it
        #[arg(long, value_name = "FILE")]
        list: Option<PathBuf>,
    },
    /// An agent client's hook: its event on stdin, its answer on stdout
    Hook(hook::Arguments),
    /// Put session-todo into a client's settings: shows the change, keeps a backup
    Install {
        /// The client
        client: install::Client,
        /// Only show what would change
        #[arg(long)]
        dry_run: bool,
        /// Take out what was put in
        #[arg(long)]
        uninstall: bool,
    },
    /// What stands on the lists of all sessions in the log folder
    List {
        /// Only what is open
        #[arg(long)]
        open: bool,
        /// One JSON object a session, a line each
        #[arg(long)]
        json: bool,
    },
    /// A session's event log
    #[command(subcommand)]
    Log(log::Task),
    /// The tools over MCP, on stdin and stdout
    Mcp {
        /// Whose list; else the environment says, else it is this process's own
        #[arg(long, value_name = "ID")]
        session: Option<String>,
        /// Whose spelling of the tools; the policy's own unless named
        #[arg(long, value_name = "NAME", value_parser = dialect)]
        dialect: Option<Dialect>,
        /// The policy that a new list begins with
        #[arg(long, value_name = "NAME", default_value = "default", value_parser = policy)]
        policy: Policy,
    },
}

fn main() -> ExitCode {
    let arguments = Arguments::try_parse().unwrap_or_else(|error| hook::exit(&error));
    let result = match arguments.command {
        Command::Replay { files, json, at, policy } => {
            let print = if json { Print::Json } else { Print::Text };
            run::run(&files, &Task { at, policy, print, timeline: false })
        }
        Command::Verify { files, json } => {
            let print = if json { Print::ChecksJson } else { Print::Checks };
            run::run(&files, &Task { at: None, policy: None, print, timeline: false })
        }
        Command::Timeline { files, policy } => {
            run::run(&files, &Task { at: None, policy, print: Print::Timeline, timeline: true })
        }
        Command::Tools { dialect, format } => tools::run(dialect, format),
        Command::Call { name, policy, list } => call::run(&name, policy, list.as_deref()),
        Command::Hook(arguments) => Ok(hook::run(&arguments)),
        Command::Install { client, dry_run, uninstall } => install::run(client, dry_run, uninstall),
        Command::List { open, json } => list::run(open, json),
        Command::Log(task) => log::run(&task),
        Command::Mcp { session, dialect, policy } => mcp::run(session.as_deref(), dialect, policy),
    };
    match result {
        Ok(status) => ExitCode::from(status),
        // Whoever read has what they wanted, as in `session-todo list | head -1`.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::from(DONE),
        Err(error) => {
            terminal::words(&error.to_string());
            ExitCode::from(UNREADABLE)
        }
    }
}

fn policy(name: &str) -> Result<Policy, String> {
    Policy::named(name).ok_or_else(|| {
        let names: Vec<_> = Policy::PRESETS.into_iter().map(|policy| policy.name).collect();
        format!("no such policy. There are: {}", names.join(", "))
    })
}

fn dialect(name: &str) -> Result<Dialect, String> {
    Dialect::named(name).ok_or_else(|| {
        let names: Vec<_> = Dialect::ALL.into_iter().map(Dialect::name).collect();
        format!("no such dialect. There are: {}", names.join(", "))
    })
}
