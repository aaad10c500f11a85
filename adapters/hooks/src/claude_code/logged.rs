//! The calls that our MCP server has logged in the same log.

use serde_json::Value;
use session_todo::{Agent, Call, Caller, Event, Outcome};
use session_todo_store::{Files, Record, SessionId, Store, StoreError, Version};

use super::calls;
use super::input::ToolCall;

/// Calls, each by its name and its arguments as a value: client and server print one each in their own way.
#[derive(Clone, Debug, Default)]
pub(super) struct Logged(Vec<(Caller, String, Option<Value>)>);

/// The calls that were answered since main's last request, as far as these need. A sub-agent's stay longer: it may
/// work while main goes on.
pub(super) fn since_request(
    files: &mut Files,
    session: &SessionId,
    calls: &[ToolCall<'_>],
    by: Caller,
) -> Result<Logged, StoreError> {
    // What is behind the cached state costs nothing to read, and holds them almost always.
    let cached = files.cached_state(session)?.map_or(Version::START, |cached| cached.version);
    let (logged, is_whole) = read(files, session, cached)?;
    if cached == Version::START || (is_whole && by == Caller::Main) || logged.has(calls, by) {
        return Ok(logged);
    }
    read(files, session, Version::START).map(|(logged, _)| logged)
}

/// And whether main's last request was among what was read.
fn read(files: &mut Files, session: &SessionId, from: Version) -> Result<(Logged, bool), StoreError> {
    let (mut logged, mut found) = (Logged::default(), false);
    files.read(session, from, &mut |_, record| {
        match record {
            Record::Event(Event::RequestSent { by: Agent::Main }) => {
                logged.0.retain(|(by, ..)| *by == Caller::Sub);
                found = true;
            }
            Record::Event(Event::ToolCalled(Call { by, name, arguments, outcome: Outcome::Ours })) => {
                logged.0.push((by, name.into_owned(), value(&arguments)));
            }
            _ => {}
        }
        Ok(())
    })?;
    Ok((logged, found))
}

impl Logged {
    /// The events of these calls, but not of those that are logged: as often as they are.
    pub(super) fn without<'a>(mut self, calls: &[ToolCall<'a>], by: Caller) -> Vec<Event<'a>> {
        let mut events = Vec::with_capacity(calls.len());
        for call in calls {
            let event = calls::event(by, call);
            match &event {
                Event::ToolCalled(event) if calls::is_ours(call) && self.take(by, &event.name, call) => {}
                _ => events.push(event),
            }
        }
        events
    }

    /// Whether each of them that our server may have logged is here.
    fn has(&self, calls: &[ToolCall<'_>], by: Caller) -> bool {
        let others = calls.iter().filter(|call| !calls::is_ours(call)).count();
        self.clone().without(calls, by).len() == others
    }

    /// A sub-agent's call may be logged as main's: of some versions the server can't tell who calls.
    fn take(&mut self, by: Caller, name: &str, call: &ToolCall<'_>) -> bool {
        let wanted = value(call.arguments());
        let is_of = |logged: Caller| by == Caller::Sub || logged == by;
        let at = self.0.iter().position(|(by, logged, values)| is_of(*by) && logged == name && *values == wanted);
        at.map(|at| self.0.remove(at)).is_some()
    }
}

fn value(arguments: &str) -> Option<Value> {
    serde_json::from_str(arguments).ok()
}
