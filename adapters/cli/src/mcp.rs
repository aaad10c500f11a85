use std::env;
use std::io;

use serde_json::{Map, Value};
use session_todo::{Dialect, Policy};
use session_todo_hooks::claude_code::{TOOL_USE_ID, Whose, whose};
use session_todo_mcp::{CLAUDE_CODE, Served, Server, Why};
use session_todo_store::{Files, Sync, open};

use crate::list::{folder, tell_torn};
use crate::{DONE, terminal};

/// Serves the tools until the client closes standard input.
pub(crate) fn run(told: Option<&str>, dialect: Option<Dialect>, policy: Policy) -> io::Result<u8> {
    let served = Served::find(told, |name| env::var(name).ok()).map_err(io::Error::other)?;
    let folder = folder()?;
    let mut store = Files::open(&folder, Sync::Os).map_err(io::Error::other)?;
    terminal::words(&format!("{served}, in {}", folder.display()));
    if let Some(opened) = open(&mut store, &served.session).map_err(io::Error::other)? {
        let kept = &opened.session.policy().name;
        if *kept != policy.name {
            terminal::words(&format!("the log of this session goes on under its own policy, {kept}"));
        }
    }
    let _ = tell_torn(&mut store);
    let tools: Vec<_> = dialect.map_or_else(|| policy.tools().collect(), |dialect| dialect.tools().collect());
    let own = (served.why != Why::Variable(CLAUDE_CODE)).then(|| served.session.clone());
    let noted = move |meta: &Map<String, Value>| {
        let Whose { session, by } = whose(&folder, meta.get(TOOL_USE_ID)?.as_str()?)?;
        // A session that the client did not name is not its to leave.
        Some((own.clone().unwrap_or(session), by))
    };
    Server::new(store, served.session, policy, tools)?.with_whose(noted).serve().map_err(io::Error::other)?;
    Ok(DONE)
}
