use core::fmt;

/// What had to be mended to read a call: a damaged or nested shape, not another spelling. A small set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mended(u8);

/// One thing that is mended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mend {
    /// C1.
    Quoted,
    /// C2.
    Noise,
    /// C3.
    Literal,
    /// C4, a single object.
    Single,
    /// C4, a list of texts.
    Texts,
    /// C4, a wrapper.
    Wrapper,
    /// C5, where no checklist was asked for.
    Checklist,
}

impl Mended {
    const ALL: [(Mend, &'static str); 7] = [
        (Mend::Quoted, "a list or an item sent as quoted text"),
        (Mend::Noise, "text around the arguments"),
        (Mend::Literal, "a literal that is not JSON"),
        (Mend::Single, "a single item in place of a list"),
        (Mend::Texts, "texts in place of items"),
        (Mend::Wrapper, "an object around an item or a list"),
        (Mend::Checklist, "a checklist in place of a list"),
    ];

    pub(crate) fn add(&mut self, mend: Mend) {
        self.0 |= 1 << mend as u8;
    }

    pub(crate) const fn has(self, mend: Mend) -> bool {
        self.0 & 1 << mend as u8 != 0
    }

    /// Whether nothing was.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Each thing in a few words.
    pub fn words(self) -> impl Iterator<Item = &'static str> {
        Self::ALL.into_iter().filter(move |(mend, _)| self.has(*mend)).map(|(_, words)| words)
    }
}

impl fmt::Display for Mended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, words) in self.words().enumerate() {
            f.write_str(if index == 0 { "" } else { "; " })?;
            f.write_str(words)?;
        }
        Ok(())
    }
}
