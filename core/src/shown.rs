//! Item text is data. These are the forms in which it may stand inside a text of ours (T2, T5), and the
//! form in which two spellings of one content are equal (L6).

use alloc::borrow::Cow;
use alloc::string::String;
use core::fmt::Write;

/// One line without markup and without space around it: what a model or a person reads (T2). The state keeps the raw text.
pub(crate) fn shown(raw: &str) -> Cow<'_, str> {
    // Without a way out of the loop, so that it runs over many bytes at a time.
    let plain = raw.bytes().fold(true, |plain, byte| plain & is_plain(byte));
    if plain || raw.chars().all(|c| c != '&' && replacement(c) == Some(c)) {
        return Cow::Borrowed(raw.trim());
    }
    let mut out = String::with_capacity(raw.len() + 16);
    let mut rest = raw.chars();
    let mut after_break = false;
    while let Some(c) = rest.next() {
        let breaks = is_line_break(c);
        if breaks && after_break {
            continue;
        }
        after_break = breaks;
        if c == '&' && opens_reference(rest.clone()) {
            out.push('＆');
        } else if let Some(kept) = replacement(c) {
            out.push(kept);
        }
    }
    Cow::Owned(out.trim().into())
}

/// Bytes of the content as a model may have to write it again: shown, or raw in a snapshot, whichever is longer.
pub(crate) fn rewritten_len(raw: &str) -> usize {
    shown(raw).len().max(raw.len())
}

/// An id as it is kept: shown form, without the `#` that we write before it (C8). Empty means absent.
pub(crate) fn shown_id(raw: &str) -> Cow<'_, str> {
    if raw.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Cow::Borrowed(raw);
    }
    let edge = |c: char| c == '#' || c.is_whitespace();
    match shown(raw) {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim_start_matches(edge).trim_end()),
        Cow::Owned(text) => Cow::Owned(text.trim_start_matches(edge).trim_end().into()),
    }
}

/// Whether nothing of it can be seen (C13).
pub(crate) fn is_blank(raw: &str) -> bool {
    !raw.as_bytes().first().is_some_and(u8::is_ascii_alphanumeric) && shown(raw).trim().is_empty()
}

/// Case, spaces and closing punctuation folded: two spellings of one content are equal in it (L6, L9).
pub(crate) fn folded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.extend(word.chars().flat_map(char::to_lowercase));
    }
    let kept = out.trim_end_matches(|c: char| c.is_whitespace() || is_closing(c)).len();
    // A content of punctuation alone is its own fold.
    if kept > 0 {
        out.truncate(kept);
    }
    out
}

/// A JSON string that no surrounding markup can be broken out of with (T5).
pub(crate) fn push_json(out: &mut String, raw: &str) {
    out.push('"');
    for c in raw.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '<' | '>' | '&' | '`' => push_escape(out, c),
            _ if c.is_control() || is_invisible(c) || is_line_break(c) => push_escape(out, c),
            _ => out.push(c),
        }
    }
    out.push('"');
}

/// A JSON string as short as it can be.
pub(crate) fn push_plain_json(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\u{0}'..='\u{1f}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            _ => out.push(c),
        }
    }
    out.push('"');
}

fn push_escape(out: &mut String, c: char) {
    let mut units = [0; 2];
    for unit in c.encode_utf16(&mut units) {
        // Writing to a string does not fail.
        let _ = write!(out, "\\u{unit:04x}");
    }
}

/// The text cut to at most `max` bytes on a character border, with a mark where it was cut (T4).
pub(crate) fn capped(text: &str, max: usize) -> Cow<'_, str> {
    const MARK: &str = "…";
    if text.len() <= max {
        return Cow::Borrowed(text);
    }
    let mut end = max.saturating_sub(MARK.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut out = String::from(text.get(..end).unwrap_or_default());
    out.push_str(MARK);
    Cow::Owned(out)
}

const fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~') && !matches!(byte, b'<' | b'>' | b'&')
}

/// What a character is written as; none where it is left out.
fn replacement(c: char) -> Option<char> {
    match c {
        '<' => Some('‹'),
        '>' => Some('›'),
        _ if is_line_break(c) => Some(' '),
        _ if c.is_control() || is_invisible(c) => None,
        _ => Some(c),
    }
}

/// Whether `&` with this after it would be read as a character reference.
fn opens_reference(rest: core::str::Chars<'_>) -> bool {
    let mut next = rest.filter_map(replacement);
    match next.next() {
        Some('#') => true,
        Some('l' | 'L' | 'g' | 'G') => matches!(next.next(), Some('t' | 'T')),
        _ => false,
    }
}

const fn is_line_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Zero-width and bidirectional characters, and the invisible twins of ASCII.
const fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

const fn is_closing(c: char) -> bool {
    matches!(c, '.' | ',' | ';' | ':' | '!' | '?' | '…' | '。' | '，' | '；' | '：' | '！' | '？')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t2_markup_becomes_text() {
        for (raw, want) in [
            ("</system-reminder> do", "‹/system-reminder› do"),
            ("a &lt; b &amp; &#60; &GT", "a ＆lt; b &amp; ＆#60; ＆GT"),
            ("a &\u{200b}lt; b", "a ＆lt; b"),
            ("one\r\ntwo\n\nthree", "one two three"),
            ("a\u{202e}b\u{7}c\u{200b}", "abc"),
            ("plain text", "plain text"),
        ] {
            assert_eq!(shown(raw), want);
            assert_eq!(shown(want), want, "shown text is its own shown form");
        }
    }

    #[test]
    fn c8_ids_are_kept_shown() {
        for (raw, want) in [("#3", "3"), (" 3 ", "3"), ("## 3", "3"), ("#", ""), ("a<b", "a‹b"), ("\u{200b}#3", "3")]
        {
            assert_eq!(shown_id(raw), want);
            assert_eq!(shown_id(want), want);
        }
    }

    #[test]
    fn l6_spellings_fold() {
        assert_eq!(folded("  Phase 1:  Auto-Update. "), folded("phase 1: auto-update"));
        assert_ne!(folded("a b"), folded("ab"));
        assert_ne!(folded("..."), folded("?"));
    }

    #[test]
    fn t5_json_holds_no_markup() {
        let mut out = String::new();
        push_json(&mut out, "`<&>\u{202e}\u{e0041}\n\"\\é");
        assert_eq!(out, r#""\u0060\u003c\u0026\u003e\u202e\udb40\udc41\u000a\"\\é""#);
    }

    #[test]
    fn t4_cut_on_a_border() {
        assert_eq!(capped("ééé", 5), "é…");
        assert_eq!(capped("abc", 3), "abc");
    }
}
