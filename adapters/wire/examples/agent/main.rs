//! A whole agent over plain HTTP, with a list that outlives its context and its process.
//!
//! `cargo run -p session-todo-wire --example agent [FOLDER]`
//!
//! With `ANTHROPIC_API_KEY`, `OPENAI_API_KEY` or `GEMINI_API_KEY` set, or the `…_BASE_URL` of a server that
//! speaks the same, it talks with a model (`…_MODEL` says which; `OPENAI_API=responses` for that format). Type
//! what you want done; `/edit TOOL JSON` changes the list yourself, `/compact` sums the history up, `/list`
//! shows the list, and an empty line tries again what failed. Stop it whenever you like: started on the same
//! folder it goes on. Without variables it plays a script against a server of its own, once for each format.
//!
//! The list's log stands in `FOLDER/log`: `session-todo replay FOLDER/log/agent.jsonl`, or `session-todo log show agent`
//! with `SESSION_TODO_HOME` set to that folder.

mod agent;
mod journal;
mod log;
mod provider;
mod screen;
mod scripted;
mod stream;
mod tools;

use std::io::{self, BufRead};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::json;
use session_todo::Policy;
use session_todo_wire::Format;

use agent::{Agent, Result};
use provider::Provider;
use screen::plain;
use scripted::{Script, Server};

/// When a history is compacted, in bytes.
const LIMIT: usize = 400_000;
const SCRIPTED_LIMIT: usize = 4_500;

fn main() -> ExitCode {
    let folder = std::env::args_os().nth(1).map(PathBuf::from);
    let done = match Provider::from_env() {
        Some(provider) => talk(&folder.unwrap_or_else(|| "agent-session".into()), provider),
        None => Format::ALL.into_iter().try_for_each(|format| play(folder.as_deref(), format)),
    };
    tell(done.as_ref());
    if done.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// What went wrong. A provider's words are in it, or a whole page of them.
fn tell(done: std::result::Result<&(), &agent::Error>) {
    if let Err(error) = done {
        let words: String = error.to_string().chars().take(1_000).collect();
        eprintln!("\n{}", plain(&words));
    }
}

fn talk(folder: &Path, provider: Provider) -> Result<()> {
    let mut agent = Agent::open(folder, Policy::DEFAULT, provider, LIMIT)?;
    agent.show();
    tell(agent.run().as_ref());
    for line in io::stdin().lock().lines() {
        let line = line?;
        let said = match line.trim() {
            "" => agent.run(),
            "/list" => {
                agent.show();
                Ok(())
            }
            "/compact" => agent.compact(),
            words => match words.strip_prefix("/edit ").and_then(|edit| edit.split_once(' ')) {
                Some((tool, arguments)) => agent.edit(tool, arguments),
                None => agent.say(words),
            },
        };
        tell(said.as_ref());
        println!();
    }
    Ok(())
}

/// Plays the script against a server of our own.
fn play(folder: Option<&Path>, format: Format) -> Result<()> {
    println!("\n== {format}, scripted");
    let server = Server::start(format, script())?;
    let provider = Provider::new(format, &server.address, "", "scripted");
    let own = std::env::temp_dir().join(format!("session-todo-agent-{}-{format:?}", std::process::id()));
    let folder = folder.map_or(own, |folder| folder.join(format!("{format:?}")));
    let mut agent = Agent::open(&folder, Policy::DEFAULT, provider, SCRIPTED_LIMIT)?;
    agent.run()?;
    agent.say("Write the report, and check its numbers.")?;
    println!();
    agent.edit("TaskUpdate", r#"{"taskid":"3","status":"cancelled"}"#)?;
    agent.say("I took the last step out. What is left?")?;
    println!(
        "\n{} requests; the session is in {}",
        server.bodies.lock().map_or(0, |bodies| bodies.len()),
        folder.display()
    );
    Ok(())
}

fn script() -> Script {
    let plan = json!({"todos": [
        {"content": "Collect the numbers", "status": "in_progress"},
        {"content": "Check them", "status": "pending"},
        {"content": "Write it up", "status": "pending"},
    ]});
    let mut script = vec![vec![("todo_write", plan)]];
    script.extend((1..=14).map(|n| vec![("add", json!({"a": n, "b": n}))]));
    script.push(vec![
        ("TaskUpdate", json!({"taskid": "1", "status": "completed"})),
        ("TaskUpdate", json!({"taskid": "2", "status": "in_progress"})),
        ("count_words", json!({"text": "parallel calls are answered in order"})),
    ]);
    script
}
