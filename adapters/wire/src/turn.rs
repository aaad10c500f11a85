use crate::call::ToolCall;

/// What one message of a history holds, in every format the same.
#[derive(Debug)]
pub(crate) struct Turn {
    pub(crate) is_model: bool,
    pub(crate) parts: Vec<Part>,
}

/// A part of a message, as far as order and pairing ask for it.
#[derive(Debug)]
pub(crate) enum Part {
    Call(ToolCall),
    Result(ResultOf),
    Text { is_blank: bool },
    Other,
}

/// Which call a result is of.
#[derive(Debug)]
pub(crate) struct ResultOf {
    pub(crate) id: String,
    /// Where the format names the tool, as Gemini does; else empty.
    pub(crate) name: String,
    pub(crate) is_error: bool,
    /// Whether the provider may have run the call itself: its response may go on behind it.
    pub(crate) is_hosted: bool,
}

impl ResultOf {
    pub(crate) const fn new(id: String, is_error: bool) -> Self {
        Self { id, name: String::new(), is_error, is_hosted: false }
    }

    /// By its id; where there is none, by its name; where there is neither, the next one in order.
    pub(crate) fn is_of(&self, call: &ToolCall) -> bool {
        if self.id.is_empty() || call.id.is_empty() {
            self.name.is_empty() || self.name == call.name
        } else {
            self.id == call.id
        }
    }
}

impl Part {
    pub(crate) fn text(text: &str) -> Self {
        Self::Text { is_blank: text.trim().is_empty() }
    }
}

impl Turn {
    pub(crate) fn has_results(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Result(_)))
    }

    /// Whether there is nothing in it that a provider would take back.
    pub(crate) fn is_empty(&self) -> bool {
        self.parts.iter().all(|part| matches!(part, Part::Text { is_blank: true }))
    }

    /// How many parts there are up to the last result; 0 where there is none.
    pub(crate) fn results_end(&self) -> usize {
        self.parts.iter().rposition(|part| matches!(part, Part::Result(_))).map_or(0, |at| at + 1)
    }
}
