use std::fmt;

use memchr::memmem;

use crate::skim::{Members, member};

/// A product by the shape of its log. Names of files say nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Product {
    /// Claude Code's session and sub-agent logs.
    ClaudeCode,
    /// Codex CLI's rollouts.
    Codex,
    /// Gemini CLI's chats.
    Gemini,
    /// Kimi CLI's and Kimi Code's wire logs.
    Kimi,
    /// `OpenCode`'s exports and stored parts.
    OpenCode,
    /// `OpenCode`'s and others' `SQLite` databases.
    Sqlite,
    /// Qwen Code's chats.
    Qwen,
    /// Roo Code's histories.
    Roo,
    /// Cline's sessions.
    Cline,
    /// Copilot CLI's events.
    CopilotCli,
    /// Copilot Chat's replays.
    CopilotChat,
    /// Cursor's transcripts.
    Cursor,
    /// Droid's sessions.
    Droid,
    /// `OpenHands`' events.
    OpenHands,
    /// pi's sessions.
    Pi,
}

impl Product {
    /// The product whose log begins like this. A few kilobytes of it are enough.
    #[must_use]
    pub fn of(head: &[u8]) -> Option<Self> {
        if head.starts_with(b"SQLite format 3\0") {
            return Some(Self::Sqlite);
        }
        let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
        Self::of_document(head).or_else(|| head.split(|byte| *byte == b'\n').take(LINES).find_map(Self::of_record))
    }

    fn of_record(line: &[u8]) -> Option<Self> {
        let line = line.trim_ascii_start();
        let line = line.get(line.iter().take_while(|byte| **byte == 0).count()..).unwrap_or_default();
        let keys = Keys::of(line);
        let kind = member(line, b"type").and_then(crate::skim::text);
        match kind.as_deref() {
            Some("console" | "network") if keys.has("payload") => Some(Self::Gemini),
            _ if keys.has("payload") && keys.has("type") => Some(Self::Codex),
            Some("function_call" | "function_call_output" | "reasoning") => Some(Self::Codex),
            Some("message") if keys.has("role") && keys.has("content") && !keys.has("parentId") => Some(Self::Codex),
            Some("gemini") if keys.has("id") => Some(Self::Gemini),
            None if GEMINI.iter().any(|names| names.iter().all(|name| keys.has(name))) => Some(Self::Gemini),
            _ if keys.has("uuid") && keys.has("sessionId") && keys.has("systemPayload") => Some(Self::Qwen),
            _ if member(line, b"message").is_some_and(|message| member(message, b"parts").is_some()) => {
                Some(Self::Qwen)
            }
            Some("session_start" | "message") if keys.has("id") && keys.has("parentId") => Some(Self::Droid),
            Some("session_start") => Some(Self::Droid),
            // What Droid streams: a message has its text beside its role, and no record has a uuid.
            Some("message") if keys.has("role") && keys.has("text") => Some(Self::Droid),
            Some("system") if keys.has("model") && !keys.has("uuid") => Some(Self::Droid),
            Some("session") => Some(Self::Pi),
            Some(kind) if kind.contains('.') && keys.has("data") => Some(Self::CopilotCli),
            Some("metadata") if keys.has("protocol_version") => Some(Self::Kimi),
            Some(kind) if kind.starts_with("context.") || kind == "turn.prompt" => Some(Self::Kimi),
            None if member(line, b"message").is_some_and(|message| member(message, b"payload").is_some()) => {
                Some(Self::Kimi)
            }
            Some(_) if ["sessionId", "leafUuid", "snapshot", "parentUuid"].iter().any(|key| keys.has(key)) => {
                Some(Self::ClaudeCode)
            }
            None if keys.has("role") && keys.has("message") => Some(Self::Cursor),
            None if keys.has("role") && keys.has("content") => Some(Self::Kimi),
            _ => None,
        }
    }

    fn of_document(head: &[u8]) -> Option<Self> {
        let head = head.trim_ascii_start();
        if head.starts_with(b"[") {
            let keys = Keys::of(head.get(1..).unwrap_or_default());
            return match () {
                () if keys.has("role") && keys.has("parts") => Some(Self::Gemini),
                () if keys.has("role") && memmem::find(head, b"task_progress").is_some() => Some(Self::Cline),
                () if keys.has("role") && keys.has("content") || keys.has("ts") => Some(Self::Roo),
                () => None,
            };
        }
        let keys = Keys::of(head);
        match () {
            () if keys.has("sessionId") && keys.has("messages") && keys.has("projectHash") => Some(Self::Gemini),
            () if keys.has("history") => Some(Self::Gemini),
            () if keys.has("messages") && keys.has("agent") => Some(Self::Cline),
            () if keys.has("exportedAt") && keys.has("prompts") => Some(Self::CopilotChat),
            () if keys.has("info") && keys.has("messages") => Some(Self::OpenCode),
            () if keys.has("messageID") || keys.has("sessionID") || keys.has("projectID") => Some(Self::OpenCode),
            () if keys.has("id") && keys.has("text") && keys.has("time") => Some(Self::OpenCode),
            () if keys.has("kind") && keys.has("source") || keys.has("trajectory") => Some(Self::OpenHands),
            () => None,
        }
    }
}

/// Keys by which Gemini CLI's records without a type are known.
const GEMINI: [&[&str]; 4] = [&["sessionId", "projectHash"], &["$set"], &["$rewindTo"], &["method", "response"]];

/// Lines that are looked at for one that is a record.
const LINES: usize = 50;

/// The keys of an object, as far as it goes.
struct Keys<'a>(Vec<&'a [u8]>);

impl<'a> Keys<'a> {
    fn of(object: &'a [u8]) -> Self {
        let mut keys = Vec::new();
        let mut members = Members::of(object);
        while let Some(key) = members.key() {
            keys.push(key);
            if members.value().is_none() {
                break;
            }
        }
        Self(keys)
    }

    fn has(&self, name: &str) -> bool {
        self.0.contains(&name.as_bytes())
    }
}

impl fmt::Display for Product {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Kimi => "kimi",
            Self::OpenCode => "opencode",
            Self::Sqlite => "sqlite",
            Self::Qwen => "qwen",
            Self::Roo => "roo",
            Self::Cline => "cline",
            Self::CopilotCli => "copilot-cli",
            Self::CopilotChat => "copilot-vscode",
            Self::Cursor => "cursor",
            Self::Droid => "droid",
            Self::OpenHands => "openhands",
            Self::Pi => "pi",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r6_a_log_that_is_not_read_is_known_for_whose_it_is() {
        let rows = [
            (r#"{"type":"message","session_id":"s","role":"user","text":"Hello"}"#, Product::Droid),
            (r#"{"type":"system","subtype":"init","sessionId":"s","model":"m","tools":[]}"#, Product::Droid),
            (r#"{"type":"session_start","id":"s","cwd":"/home/dev"}"#, Product::Droid),
            (r#"{"type":"session","version":3,"id":"s"}"#, Product::Pi),
            (r#"{"type":"session.start","data":{"sessionId":"s"}}"#, Product::CopilotCli),
            (r#"{"role":"user","message":{"content":[]}}"#, Product::Cursor),
            (r#"{"exportedAt":"now","prompts":[]}"#, Product::CopilotChat),
            (r#"{"id":"e","kind":"MessageEvent","source":"user"}"#, Product::OpenHands),
        ];
        for (log, product) in rows {
            assert_eq!(Product::of(log.as_bytes()), Some(product), "{log}");
            assert!(crate::read(product, log.as_bytes(), &mut |_| {}).is_err(), "{log}");
        }
        let of_claude_code = br#"{"type":"system","subtype":"init","sessionId":"s","uuid":"u","model":"m"}"#;
        assert_eq!(Product::of(of_claude_code), Some(Product::ClaudeCode));
    }
}
