use std::fmt;
use std::process;
use std::time::{SystemTime, UNIX_EPOCH};

use session_todo_store::{BadSessionId, SessionId};

/// What `install` sets in the settings of a client that names no session.
const INSTALLED: &str = "SESSION_TODO_SESSION";
/// The variable that holds the session for the servers that Claude Code starts.
pub const CLAUDE_CODE: &str = "CLAUDE_CODE_SESSION_ID";

/// The session that a server serves, and why this one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Served {
    /// The session.
    pub session: SessionId,
    /// Why.
    pub why: Why,
}

/// Where a session's name came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It was told.
    Told,
    /// This variable of the environment holds it.
    Variable(&'static str),
    /// Nothing names one: it is this process's own.
    Own,
}

impl Served {
    /// The session to serve: the one that was told, else the one that the environment names, else one of this
    /// process's own. A variable that is empty is none. What a variable holds may be longer than a session id,
    /// a folder's path for example: then its end stands for it, with a checksum of the whole.
    ///
    /// # Errors
    ///
    /// A text that names no session.
    pub fn find(told: Option<&str>, variable: impl Fn(&str) -> Option<String>) -> Result<Self, BadSessionId> {
        if let Some(told) = told {
            return Ok(Self { session: SessionId::new(told)?, why: Why::Told });
        }
        for name in [INSTALLED, CLAUDE_CODE] {
            if let Some(value) = variable(name).filter(|value| !value.trim().is_empty()) {
                return Ok(Self { session: SessionId::new(shortened(&value))?, why: Why::Variable(name) });
            }
        }
        Ok(Self { session: SessionId::new(own())?, why: Why::Own })
    }
}

impl fmt::Display for Served {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { session, why } = self;
        match why {
            Why::Told => write!(out, "session {session}"),
            Why::Variable(name) => write!(out, "session {session}, which {name} names"),
            Why::Own => write!(out, "session {session}, of this process alone"),
        }
    }
}

fn shortened(value: &str) -> String {
    if value.len() <= SessionId::LONGEST {
        return value.to_owned();
    }
    let sum = format!("{:08x} ", crc32fast::hash(value.as_bytes()));
    let end = value.ceil_char_boundary(value.len() + sum.len() - SessionId::LONGEST);
    sum + value.get(end..).unwrap_or_default()
}

/// No two processes of a machine have it, not even one after the other.
fn own() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("mcp-{:x}-{:x}", now.as_nanos(), process::id())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;

    use super::*;

    fn found(told: Option<&str>, variables: &[(&str, &str)]) -> Served {
        let variable =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).into());
        Served::find(told, variable).unwrap()
    }

    #[test]
    fn first_what_was_told_then_install_then_the_client() {
        let both = [(INSTALLED, "installed"), (CLAUDE_CODE, "client's")];
        let named = |told, variables| found(told, variables).session.to_string();
        assert_eq!(named(Some("told"), &both), "told");
        assert_eq!(named(None, &both), "installed");
        assert_eq!(named(None, &[(INSTALLED, " "), (CLAUDE_CODE, "client's")]), "client's");
        assert_eq!(found(None, &[]).why, Why::Own);
        assert_ne!(found(None, &[]).session, found(None, &[]).session);
    }

    #[test]
    fn a_session_that_was_told_is_taken_as_it_is_or_not_at_all() {
        assert_eq!(Served::find(Some(""), |_| None), Err(BadSessionId::Empty));
        assert_eq!(Served::find(Some(&"x".repeat(81)), |_| None), Err(BadSessionId::TooLong { bytes: 81 }));
    }

    proptest! {
        #[test]
        fn any_folder_names_a_session_and_no_other(folder in "/[^\\pC]{0,300}") {
            let session = found(None, &[(INSTALLED, &folder)]).session;
            prop_assert!(session.as_str().len() <= SessionId::LONGEST);
            prop_assert_eq!(&session, &found(None, &[(INSTALLED, &folder)]).session);
            let other = folder.replacen('/', "/other", 1);
            prop_assert_ne!(session, found(None, &[(INSTALLED, &other)]).session);
        }
    }
}
