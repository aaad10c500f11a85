//! JSON looked at, not validated: the members of an object and the elements of an array, as the text that
//! they are. What is not needed is stepped over at the speed of a search for quotes.

use memchr::memchr_iter;

/// The members of an object: [`key`](Self::key), then [`value`](Self::value), or no more of it.
pub(crate) struct Members<'a> {
    rest: &'a [u8],
}

impl<'a> Members<'a> {
    /// The members of a text that begins with an object; none of another.
    pub(crate) fn of(text: &'a [u8]) -> Self {
        Self { rest: skip_space(text).strip_prefix(b"{").unwrap_or_default() }
    }

    /// The next key, without its quotes.
    pub(crate) fn key(&mut self) -> Option<&'a [u8]> {
        let rest = skip_space(self.rest);
        let rest = skip_space(rest.strip_prefix(b",").unwrap_or(rest));
        let end = string_end(rest)?;
        let key = rest.get(1..end - 1)?;
        self.rest = skip_space(rest.get(end..)?).strip_prefix(b":")?;
        Some(key)
    }

    /// The value of the key that was read last.
    pub(crate) fn value(&mut self) -> Option<&'a [u8]> {
        let rest = skip_space(self.rest);
        let (value, rest) = rest.split_at_checked(value_end(rest)?)?;
        self.rest = rest;
        Some(value)
    }

    /// The value of the key that was read last, read by another reader that says what stands behind it: one
    /// pass over nested values.
    pub(crate) fn descend<T>(&mut self, read: impl FnOnce(&'a [u8]) -> Option<(T, &'a [u8])>) -> Option<T> {
        let (value, behind) = read(skip_space(self.rest))?;
        self.rest = behind;
        Some(value)
    }

    /// What stands behind the object, once its last member is read; none where it does not end.
    pub(crate) fn behind(&self) -> Option<&'a [u8]> {
        skip_space(self.rest).strip_prefix(b"}")
    }
}

/// The value of a key of an object.
pub(crate) fn member<'a>(object: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let mut members = Members::of(object);
    while let Some(key) = members.key() {
        let value = members.value()?;
        if key == name {
            return Some(value);
        }
    }
    None
}

/// The elements of an array; none of another value.
pub(crate) fn elements(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = skip_space(text).strip_prefix(b"[").unwrap_or_default();
    std::iter::from_fn(move || {
        rest = skip_space(rest);
        rest = skip_space(rest.strip_prefix(b",").unwrap_or(rest));
        let (value, after) = rest.split_at_checked(value_end(rest)?)?;
        rest = after;
        Some(value)
    })
}

/// The elements of an array that a text begins with, each read by a reader that says what stands behind it,
/// and what stands behind the array.
pub(crate) fn descend_elements<'a, T>(
    text: &'a [u8],
    read: impl Fn(&'a [u8]) -> Option<(Option<T>, &'a [u8])>,
) -> Option<(Vec<T>, &'a [u8])> {
    let mut found = Vec::new();
    let mut rest = skip_space(text).strip_prefix(b"[")?;
    loop {
        rest = skip_space(rest);
        if let Some(behind) = rest.strip_prefix(b"]") {
            return Some((found, behind));
        }
        rest = skip_space(rest.strip_prefix(b",").unwrap_or(rest));
        let (value, behind) = read(rest)?;
        found.extend(value);
        rest = behind;
    }
}

/// A value that a text begins with, and what stands behind it.
pub(crate) fn value(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let text = skip_space(text);
    text.split_at_checked(value_end(text)?)
}

/// The text of a string, where it is one.
pub(crate) fn text(value: &[u8]) -> Option<std::borrow::Cow<'_, str>> {
    let inner = value.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    if inner.contains(&b'\\') {
        return serde_json::from_slice::<String>(value).ok().map(Into::into);
    }
    std::str::from_utf8(inner).ok().map(Into::into)
}

/// Where the value ends that a text begins with.
fn value_end(text: &[u8]) -> Option<usize> {
    match text.first()? {
        b'"' => string_end(text),
        b'{' | b'[' => nested_end(text),
        b'}' | b']' | b',' | b':' => None,
        _ => Some(text.iter().position(|byte| b",}] \t\r\n".contains(byte)).unwrap_or(text.len())),
    }
}

/// Where the string ends that a text begins with, behind its closing quote.
fn string_end(text: &[u8]) -> Option<usize> {
    let inner = text.strip_prefix(b"\"")?;
    // Quotes are fewer than escapes, and only those say whether one is escaped itself.
    memchr_iter(b'"', inner).find(|at| !is_escaped(inner, *at)).map(|at| at + 2)
}

fn is_escaped(text: &[u8], at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    before.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

fn nested_end(text: &[u8]) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = 0;
    loop {
        match text.get(at)? {
            b'"' => at += string_end(text.get(at..)?)? - 1,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return Some(at);
        }
    }
}

fn skip_space(text: &[u8]) -> &[u8] {
    match text.first() {
        Some(b' ' | b'\t' | b'\r' | b'\n') => text.trim_ascii_start(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(text: &str) -> Vec<(&str, &str)> {
        let mut members = Members::of(text.as_bytes());
        let mut found = Vec::new();
        while let Some(key) = members.key() {
            let Some(value) = members.value() else { break };
            found.push((std::str::from_utf8(key).unwrap_or("?"), std::str::from_utf8(value).unwrap_or("?")));
        }
        found
    }

    #[test]
    fn members_are_their_text() {
        let object = r#" {"a":1, "b":"x\"}", "c":{"d":["]}"]}, "e":null}"#;
        let expected = [("a", "1"), ("b", r#""x\"}""#), ("c", r#"{"d":["]}"]}"#), ("e", "null")];
        assert_eq!(members(object), expected);
        assert_eq!(elements(b"[1, [2,3], \"],\"]").count(), 3);
    }

    #[test]
    fn damage_ends_the_members() {
        assert_eq!(members(r#"{"a":1,"b":"cut"#), [("a", "1")]);
        assert_eq!(members(r#"{"a":{"b":1"#), []);
        assert_eq!(members("[1]"), []);
        assert_eq!(members("\u{0}{}"), []);
    }
}
