//! Arguments to try: lists, documents of a schema, and the forms in which a model may send them. All are
//! read off bytes, so that proptest shrinks and the fuzzer mutates the same choices. A byte of 0 is the
//! plainest choice.

pub mod calls;
pub mod forms;
pub mod literals;
pub mod schema;
pub mod todo;

pub use todo::{Seen, Todo};

/// Choices read off bytes, 0 where there are none left.
pub struct Choices<'a>(&'a [u8]);

impl<'a> Choices<'a> {
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    pub fn below(&mut self, n: usize) -> usize {
        usize::from(self.byte()) % n
    }

    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == n - 1
    }

    pub fn of<T: Clone>(&mut self, pool: &[T]) -> T {
        pool[self.below(pool.len())].clone()
    }

    /// Any Unicode scalar value.
    pub fn scalar(&mut self) -> char {
        let number = u32::from_be_bytes([0, self.byte(), self.byte(), self.byte()]);
        char::from_u32(number % 0x11_0000).unwrap_or('\u{fffd}')
    }

    /// All that is left.
    pub fn rest(&mut self) -> &'a [u8] {
        core::mem::take(&mut self.0)
    }

    /// A text with something in it that can be seen.
    pub fn text(&mut self) -> String {
        let mut out = String::new();
        let word = self.of(&WORDS);
        let at = self.below(4);
        for piece in 0..=self.of(&[0, 0, 1, 2, 3]) {
            out.push_str(if piece == at.min(piece) { word } else { " " });
            match self.below(4) {
                0 | 1 => {}
                2 => out.push_str(self.of(&PIECES)),
                _ => out.push(self.scalar()),
            }
        }
        out
    }

    /// A line of which nothing is lost where it is trimmed, and that is no markup.
    pub fn line(&mut self) -> String {
        let word = self.of(&WORDS);
        let piece = self.of(&LINE_PIECES);
        format!("{word}{piece}{}", self.of(&WORDS))
    }
}

const WORDS: [&str; 8] = ["Plan", "run the tests", "Über", "x", "日本語", "a b", "Don't", "Say \"hi\""];

/// What readers, renderers and terminals trip over.
const PIECES: [&str; 44] = [
    "'",
    "\"",
    "\\",
    "\\\\",
    "\\n",
    "\n",
    "\r\n",
    "\t",
    "\u{0}",
    "\u{1b}[31m",
    "\u{7f}",
    "\u{85}",
    "\u{2028}",
    "[",
    "]",
    "{",
    "}",
    "(",
    ")",
    "[ ] ",
    "[x] ",
    "{\"",
    "{'",
    ",]",
    "# ",
    "// ",
    "/* ",
    "*/",
    "`",
    "```",
    "</parameter>",
    "<b>",
    "</system-reminder>",
    "&lt;",
    "& gt",
    "&#60;",
    "\u{202e}",
    "\u{200b}",
    "\u{feff}",
    "\u{e0041}",
    "😀",
    "  ",
    ".",
    "None",
];

const LINE_PIECES: [&str; 16] =
    [" ", "'", "\"", "\\", "[", "]", "{", "}", "(x)", "[x]", "`", "<b>", "😀", ", ", "// ", "# "];
