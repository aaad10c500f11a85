use std::io::{Read, Write};
use std::path::Path;
use std::{fs, io};

use serde::Serialize;
use serde_json::value::RawValue;
use session_todo::{Call, Called, Caller, Change, Effect, Event, Item, Outcome, Policy, Session, Tool};

use crate::DONE;

#[derive(Serialize)]
struct Answer<'a> {
    is_error: bool,
    text: &'a str,
    items: Vec<Box<RawValue>>,
    mended: Vec<&'static str>,
}

/// One call on a list.
pub(crate) fn run(name: &str, policy: Policy, list: Option<&Path>) -> io::Result<u8> {
    if Tool::named(name).is_none() {
        return Err(io::Error::other(format!("{name:?} is no tool of the list. Wanted: todo_write, TaskCreate, …")));
    }
    let mut session = Session::new(policy);
    if let Some(path) = list {
        start(&mut session, path)?;
    }
    let mut arguments = Vec::new();
    io::stdin().read_to_end(&mut arguments)?;
    let arguments = String::from_utf8(arguments).map_err(|_| io::Error::other("the arguments are not UTF-8"))?;
    let call = Call { by: Caller::Main, name: name.into(), arguments: arguments.into(), outcome: Outcome::Ours };
    let change = session.apply(&Event::ToolCalled(call));
    let (Change::Call(Called { mended, .. }), Some(Effect::ReturnToolResult(result))) =
        (&change, session.render(&change))
    else {
        return Err(io::Error::other("the call has no result"));
    };
    let answer = Answer {
        is_error: result.is_error,
        text: &result.text,
        items: session.list().items().iter().map(written).collect::<Result<_, _>>()?,
        mended: mended.words().collect(),
    };
    writeln!(io::stdout().lock(), "{}", serde_json::to_string(&answer)?)?;
    Ok(DONE)
}

/// An item as `todo_write` takes it, so that an answer can be the list of the next call.
pub(crate) fn written(item: &Item) -> serde_json::Result<Box<RawValue>> {
    let mut json = String::new();
    item.push_json(&mut json);
    RawValue::from_string(json)
}

/// Puts the list of a file in place.
fn start(session: &mut Session, path: &Path) -> io::Result<()> {
    let named = |error: &dyn std::fmt::Display| io::Error::other(format!("{}: {error}", path.display()));
    let list = fs::read_to_string(path).map_err(|error| named(&error))?;
    let call = Call {
        by: Caller::Main,
        name: "todo_write".into(),
        arguments: list.into(),
        outcome: Outcome::Ran { id: None },
    };
    match session.apply(&Event::ToolCalled(call)) {
        Change::Call(Called { result: Err(refusal), .. }) => Err(named(&refusal)),
        _ => Ok(()),
    }
}
