//! What a model writes, on a terminal: control and bidirectional characters are shown, not obeyed (T3).

/// The text, its line breaks kept.
pub(crate) fn plain(text: &str) -> String {
    let is_obeyed = |c: char| {
        c.is_control() && c != '\n'
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        if is_obeyed(c) { plain.extend(c.escape_unicode()) } else { plain.push(c) }
    }
    plain
}
