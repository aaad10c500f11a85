use std::fmt;

/// Names a session. It is never used as a path: see `files`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(String);

/// A text that names no session.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadSessionId {
    /// It is empty.
    #[error("a session id is empty, and should be 1 to {max} bytes", max = SessionId::LONGEST)]
    Empty,
    /// It is too long.
    #[error("a session id has {bytes} bytes, and should be 1 to {max}", max = SessionId::LONGEST)]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// It holds a control character.
    #[error("a session id holds the control character {0:?}, and should hold none")]
    Control(char),
}

impl SessionId {
    /// The most bytes: with every one of them escaped it is still a file's name.
    pub const LONGEST: usize = 80;

    /// The session of this name.
    ///
    /// # Errors
    ///
    /// An empty text, one longer than [`LONGEST`](Self::LONGEST), or one with control characters.
    pub fn new(id: impl Into<String>) -> Result<Self, BadSessionId> {
        let id = id.into();
        if id.is_empty() {
            return Err(BadSessionId::Empty);
        }
        if id.len() > Self::LONGEST {
            return Err(BadSessionId::TooLong { bytes: id.len() });
        }
        match id.chars().find(|char| char.is_control()) {
            Some(control) => Err(BadSessionId::Control(control)),
            None => Ok(Self(id)),
        }
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}
