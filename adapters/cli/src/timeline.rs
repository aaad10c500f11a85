//! What happened to the list, request by request.

use session_todo::{Agent, Caller, Change, Effect, Event, List, Session, Status};

use crate::report::count;
use crate::terminal::line;

/// The lines that an event is worth.
pub(crate) fn of(event: &Event<'_>, change: &Change, before: &List, session: &Session) -> Vec<String> {
    let request = session.state().requests();
    match event {
        Event::ToolCalled(call) => {
            let by = match call.by {
                Caller::Main => "",
                Caller::Sub => " by a sub-agent",
                Caller::User => " by the user",
                Caller::Record => " as recorded",
            };
            let refused = matches!(change, Change::Call(called) if called.result.is_err());
            let told = if refused { vec!["refused".into()] } else { changes(before, session.state().list()) };
            told.into_iter().map(|told| format!("{request:6}  {}{by}: {told}", line(&call.name))).collect()
        }
        Event::RequestSent { by: Agent::Main } => reminder(change, session, request).into_iter().collect(),
        Event::RequestSent { by: Agent::Sub } => Vec::new(),
        Event::Compacted => vec![format!("{request:6}  compaction: {}", carried(change, session))],
        Event::Resumed => vec![format!("{request:6}  resume")],
    }
}

fn reminder(change: &Change, session: &Session, request: u64) -> Option<String> {
    let Some(Effect::AppendSystemReminder(reminder)) = session.render(change) else { return None };
    Some(match reminder.items {
        Some(items) => format!("{request:6}  reminder: {}", count(items)),
        None => format!("{request:6}  note"),
    })
}

fn carried(change: &Change, session: &Session) -> String {
    match session.render(change) {
        Some(Effect::InjectCompactSnapshot(snapshot)) => format!("{} carried", count(snapshot.items)),
        _ => "nothing carried".into(),
    }
}

/// How one list differs from the other.
fn changes(before: &List, after: &List) -> Vec<String> {
    let mut told = Vec::new();
    for item in after.items() {
        let shown = || format!("#{} {}", line(&item.id), line(&item.content));
        match before.get(&item.id) {
            None => told.push(format!("+ {} [{}]", shown(), item.status.as_str())),
            Some(old) if old == item => {}
            Some(old) => told.push(format!("~ {} [{}]", shown(), step(old.status, item.status))),
        }
    }
    let gone = before.items().iter().filter(|item| after.get(&item.id).is_none());
    told.extend(gone.map(|item| format!("- #{} {}", line(&item.id), line(&item.content))));
    told
}

fn step(from: Status, to: Status) -> String {
    if from == to { to.as_str().into() } else { format!("{} -> {}", from.as_str(), to.as_str()) }
}
