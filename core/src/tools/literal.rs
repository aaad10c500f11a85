//! JSON, Python and JavaScript literals as one small tree (C3). A parser of literals: nothing is ever
//! evaluated. Linear in the text, and no deeper than [`DEPTH`].

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

use serde_json::value::RawValue;

use crate::shown::push_plain_json;

/// How deep values may nest. A list of items needs five; the rest is room for extras.
const DEPTH: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Node<'a> {
    Null,
    Bool(bool),
    /// Its text, valid as a JSON number.
    Number(&'a str),
    Text(Cow<'a, str>),
    List(Vec<Node<'a>>),
    Map(Vec<Pair<'a>>),
}

/// A key, its value, and the text of the value as it was written.
pub(super) type Pair<'a> = (Cow<'a, str>, Node<'a>, &'a str);

/// Why a text is no literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// It ends inside a value (C12).
    EndsEarly,
    /// It is something else.
    NotALiteral,
}

impl Node<'_> {
    /// What it is, for a refusal.
    pub(super) const fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::Text(_) => "text",
            Self::List(_) => "a list",
            Self::Map(_) => "an object",
        }
    }

    /// Whether it can only be meant as arguments: words around an empty list may just speak of one.
    pub(super) fn is_meant(&self) -> bool {
        match self {
            Self::List(nodes) => !nodes.is_empty(),
            Self::Map(_) => true,
            Self::Text(text) => text.trim_start_matches(['"', '\\']).starts_with('{'),
            Self::Null | Self::Bool(_) | Self::Number(_) => false,
        }
    }

    /// It as JSON: as it was written, where that is JSON (C9).
    pub(super) fn to_json<'w>(&self, written: &'w str) -> Cow<'w, str> {
        // A lone surrogate is JSON, and no text.
        let is_text = || serde_json::from_str::<Cow<'_, str>>(written).is_ok();
        if is_json(written) && (!matches!(self, Self::Text(_)) || is_text()) {
            return Cow::Borrowed(written);
        }
        let mut json = String::new();
        self.push_json(&mut json);
        Cow::Owned(json)
    }

    fn push_json(&self, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Self::Number(text) => out.push_str(text),
            Self::Text(text) => push_plain_json(out, text),
            Self::List(nodes) => {
                out.push('[');
                for (index, node) in nodes.iter().enumerate() {
                    out.push_str(if index == 0 { "" } else { "," });
                    node.push_json(out);
                }
                out.push(']');
            }
            Self::Map(pairs) => {
                out.push('{');
                for (index, (key, node, _)) in pairs.iter().enumerate() {
                    out.push_str(if index == 0 { "" } else { "," });
                    push_plain_json(out, key);
                    out.push(':');
                    node.push_json(out);
                }
                out.push('}');
            }
        }
    }
}

/// Whether a text is one JSON value.
pub(super) fn is_json(text: &str) -> bool {
    serde_json::from_str::<&RawValue>(text).is_ok()
}

/// The first value of a text, and what stands after it.
pub(super) fn parse(text: &str) -> Result<(Node<'_>, &str), Fault> {
    let mut parser = Parser { rest: text };
    let node = parser.value(DEPTH)?;
    Ok((node, parser.rest))
}

struct Parser<'a> {
    rest: &'a str,
}

impl<'a> Parser<'a> {
    fn value(&mut self, depth: usize) -> Result<Node<'a>, Fault> {
        self.skip_space()?;
        match self.peek()? {
            '[' => self.list(']', depth),
            '(' => self.list(')', depth),
            '{' => self.map(depth),
            '"' | '\'' => self.text().map(Node::Text),
            c if c.is_ascii_digit() || matches!(c, '-' | '+' | '.') => self.number(),
            c if is_name(c) => self.word(),
            _ => Err(Fault::NotALiteral),
        }
    }

    fn list(&mut self, close: char, depth: usize) -> Result<Node<'a>, Fault> {
        let depth = depth.checked_sub(1).ok_or(Fault::NotALiteral)?;
        self.bump();
        let mut nodes = Vec::new();
        let mut comma = false;
        loop {
            self.skip_space()?;
            if self.eat(close)? {
                // A pair of parentheses around one value is that value; a tuple of one has a comma.
                let single = close == ')' && !comma && nodes.len() == 1;
                return Ok(if single { nodes.remove(0) } else { Node::List(nodes) });
            }
            if !nodes.is_empty() && !comma {
                return Err(Fault::NotALiteral);
            }
            nodes.push(self.value(depth)?);
            self.skip_space()?;
            comma = self.eat(',')?;
        }
    }

    fn map(&mut self, depth: usize) -> Result<Node<'a>, Fault> {
        let depth = depth.checked_sub(1).ok_or(Fault::NotALiteral)?;
        self.bump();
        let mut pairs = Vec::new();
        let mut comma = true;
        loop {
            self.skip_space()?;
            if self.eat('}')? {
                return Ok(Node::Map(pairs));
            }
            if !comma {
                return Err(Fault::NotALiteral);
            }
            let key = self.key()?;
            self.skip_space()?;
            if !self.eat(':')? {
                return Err(Fault::NotALiteral);
            }
            self.skip_space()?;
            let before = self.rest;
            let value = self.value(depth)?;
            let (written, _) = before.split_at(before.len() - self.rest.len());
            pairs.push((key, value, written));
            self.skip_space()?;
            comma = self.eat(',')?;
        }
    }

    fn key(&mut self) -> Result<Cow<'a, str>, Fault> {
        match self.peek()? {
            '"' | '\'' => self.text(),
            c if is_name(c) || c.is_ascii_digit() => {
                Ok(Cow::Borrowed(self.take_while(|c| is_name(c) || c.is_ascii_digit())))
            }
            _ => Err(Fault::NotALiteral),
        }
    }

    fn number(&mut self) -> Result<Node<'a>, Fault> {
        let text = self.take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '.'));
        match text {
            _ if is_json(text) => Ok(Node::Number(text)),
            // What comes next could make it whole.
            _ if self.rest.is_empty() => Err(Fault::EndsEarly),
            _ => Err(Fault::NotALiteral),
        }
    }

    fn word(&mut self) -> Result<Node<'a>, Fault> {
        const WORDS: [&str; 7] = ["null", "None", "undefined", "true", "True", "false", "False"];
        match self.take_while(|c| is_name(c) || c.is_ascii_digit()) {
            "null" | "None" | "undefined" => Ok(Node::Null),
            "true" | "True" => Ok(Node::Bool(true)),
            "false" | "False" => Ok(Node::Bool(false)),
            cut if self.rest.is_empty() && WORDS.iter().any(|word| word.starts_with(cut)) => Err(Fault::EndsEarly),
            _ => Err(Fault::NotALiteral),
        }
    }

    fn text(&mut self) -> Result<Cow<'a, str>, Fault> {
        let quote = self.bump().unwrap_or('"');
        let is_plain = |c| c != quote && c != '\\';
        let plain = self.take_while(is_plain);
        if self.eat(quote)? {
            return Ok(Cow::Borrowed(plain));
        }
        let mut out = String::from(plain);
        while !self.eat(quote)? {
            self.bump();
            self.escape(&mut out)?;
            out.push_str(self.take_while(is_plain));
        }
        Ok(Cow::Owned(out))
    }

    fn escape(&mut self, out: &mut String) -> Result<(), Fault> {
        let c = self.bump().ok_or(Fault::EndsEarly)?;
        let escaped = match c {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'v' => '\u{b}',
            'a' => '\u{7}',
            '0' => '\0',
            'x' => self.scalar(2)?,
            'u' => self.utf16()?,
            'U' => self.scalar(8)?,
            '\n' => return Ok(()),
            '"' | '\'' | '\\' | '/' | '`' => c,
            other => {
                out.push('\\');
                other
            }
        };
        out.push(escaped);
        Ok(())
    }

    /// `\uXXXX`, joined with the next where the two are a surrogate pair. A lone surrogate is no text.
    fn utf16(&mut self) -> Result<char, Fault> {
        let first = self.hex(4)?;
        if !(0xd800..0xdc00).contains(&first) || !self.rest.starts_with("\\u") {
            return Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        let before = self.rest;
        self.bump();
        self.bump();
        let second = self.hex(4)?;
        if (0xdc00..0xe000).contains(&second) {
            let joined = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
            return Ok(char::from_u32(joined).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        self.rest = before;
        Ok(char::REPLACEMENT_CHARACTER)
    }

    fn scalar(&mut self, digits: usize) -> Result<char, Fault> {
        Ok(char::from_u32(self.hex(digits)?).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn hex(&mut self, digits: usize) -> Result<u32, Fault> {
        let Some(text) = self.rest.get(..digits) else { return Err(Fault::EndsEarly) };
        if !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(Fault::NotALiteral);
        }
        self.rest = self.rest.get(digits..).unwrap_or_default();
        u32::from_str_radix(text, 16).map_err(|_| Fault::NotALiteral)
    }

    fn skip_space(&mut self) -> Result<(), Fault> {
        loop {
            self.rest = self.rest.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
            if self.rest.starts_with("//") || self.rest.starts_with('#') {
                self.rest = self.rest.split_once('\n').map_or("", |(_, after)| after);
            } else if let Some(comment) = self.rest.strip_prefix("/*") {
                self.rest = comment.split_once("*/").ok_or(Fault::EndsEarly)?.1;
            } else {
                return Ok(());
            }
        }
    }

    fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !wanted(c)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    fn peek(&self) -> Result<char, Fault> {
        self.rest.chars().next().ok_or(Fault::EndsEarly)
    }

    fn bump(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let c = chars.next();
        self.rest = chars.as_str();
        c
    }

    fn eat(&mut self, wanted: char) -> Result<bool, Fault> {
        let found = self.peek()? == wanted;
        if found {
            self.bump();
        }
        Ok(found)
    }
}

fn is_name(c: char) -> bool {
    c.is_alphabetic() || c == '_' || c == '$'
}
