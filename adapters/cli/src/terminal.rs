use std::fmt::Write as _;
use std::io::{self, Write as _};

/// Bytes of one content on a terminal (T4).
const CONTENT: usize = 200;

/// Says something to a person. Where nobody can be told, nobody is.
pub(crate) fn words(text: &str) {
    let _ = writeln!(io::stderr(), "session-todo: {}", shown(text));
}

/// Text as a terminal may have it: control sequences and bidirectional controls are shown, not obeyed
/// (T3), and what is too long for a line is cut with a mark (T4).
pub(crate) fn line(text: &str) -> String {
    let mut out = shown(text);
    if out.len() > CONTENT {
        let end = (0..=CONTENT).rev().find(|end| out.is_char_boundary(*end)).unwrap_or_default();
        out.truncate(end);
        out.push('…');
    }
    out
}

/// The same, whole.
pub(crate) fn shown(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if c.is_control() || is_bidirectional(c) {
            let _ = write!(out, "{}", c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}

const fn is_bidirectional(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t3_sequences_are_shown() {
        assert_eq!(line("a\u{1b}[31mb\u{202e}c\n"), "a\\u{1b}[31mb\\u{202e}c\\u{a}");
    }

    #[test]
    fn t4_long_lines_are_cut() {
        assert_eq!(line(&"é".repeat(500)), format!("{}…", "é".repeat(100)));
    }
}
