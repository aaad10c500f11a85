use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use session_todo::{Policy, ToolDef};

use crate::call::Answer;
use crate::json::{elements, insert_element, insert_words, quoted, raw, replace, text};
use crate::turn::{Part, Turn};
use crate::{anthropic, chat, gemini, responses};

/// A provider's form of requests and responses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// Anthropic Messages.
    Anthropic,
    /// `OpenAI` Chat Completions.
    Chat,
    /// `OpenAI` Responses.
    Responses,
    /// Gemini `generateContent`.
    Gemini,
}

/// How a text of the harness's own travels (E3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Carrier {
    /// A message of its own, in the user's role: every provider takes it.
    #[default]
    User,
    /// A message of its own, in the developer's role, where the format has one that may stand anywhere: the
    /// two of `OpenAI`. Else as [`Carrier::User`].
    Developer,
    /// Joined to a message of the user's or of a tool, for servers that want roles to alternate. So is all that leaves
    /// for the first time in one row of the user's role: a summary, a snapshot and a person's words, say.
    Joined,
}

/// What a response adds to the history.
pub(crate) struct Response {
    pub(crate) items: Vec<Box<RawValue>>,
    pub(crate) end: Option<End>,
}

/// How a response ended that is not whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum End {
    /// At the output limit.
    Cut,
    /// In the midst of a turn: sent back as it is, the model goes on.
    Paused,
}

impl Format {
    /// All four.
    pub const ALL: [Self; 4] = [Self::Anthropic, Self::Chat, Self::Responses, Self::Gemini];

    /// The key of a request under which its messages stand.
    #[must_use]
    pub const fn messages_key(self) -> &'static str {
        match self {
            Self::Anthropic | Self::Chat => "messages",
            Self::Responses => "input",
            Self::Gemini => "contents",
        }
    }

    /// The key of a response under which its answer stands.
    pub(crate) const fn answer_key(self) -> &'static str {
        match self {
            Self::Anthropic => "content",
            Self::Chat => "choices",
            Self::Responses => "output",
            Self::Gemini => "candidates",
        }
    }

    /// The value of a request's `tools`: what the policy offers. It is the same for a whole session.
    #[must_use]
    pub fn tools(self, policy: &Policy) -> String {
        let tools: Vec<String> = policy.tools().map(|tool| self.tool(&tool)).collect();
        match self {
            Self::Gemini => format!(r#"[{{"functionDeclarations":[{}]}}]"#, tools.join(",")),
            Self::Anthropic | Self::Chat | Self::Responses => format!("[{}]", tools.join(",")),
        }
    }

    /// A tool as a request defines it: an element of `tools`, of `functionDeclarations` for Gemini.
    #[must_use]
    pub fn tool(self, tool: &ToolDef) -> String {
        match self {
            Self::Anthropic => anthropic::tool(tool),
            Self::Chat => chat::tool(tool),
            Self::Responses => responses::tool(tool),
            Self::Gemini => gemini::tool(tool),
        }
    }

    /// A message with words of the user's role.
    #[must_use]
    pub fn user(self, text: &str) -> String {
        self.message(text, Carrier::User)
    }

    pub(crate) fn message(self, text: &str, carrier: Carrier) -> String {
        let role = if carrier == Carrier::Developer { "developer" } else { "user" };
        match self {
            Self::Anthropic => anthropic::user(text),
            Self::Chat => chat::user(role, text),
            Self::Responses => responses::user(role, text),
            Self::Gemini => gemini::user(text),
        }
    }

    pub(crate) fn answers(self, answers: &[&Answer<'_>]) -> Vec<String> {
        match self {
            Self::Anthropic => anthropic::answers(answers),
            Self::Chat => chat::answers(answers),
            Self::Responses => responses::answers(answers),
            Self::Gemini => gemini::answers(answers),
        }
    }

    pub(crate) fn response(self, body: &str) -> serde_json::Result<Option<Response>> {
        match self {
            Self::Anthropic => anthropic::response(body),
            Self::Chat => chat::response(body),
            Self::Responses => responses::response(body),
            Self::Gemini => gemini::response(body),
        }
    }

    pub(crate) fn turn(self, message: &str) -> serde_json::Result<Turn> {
        match self {
            Self::Anthropic => anthropic::turn(message),
            Self::Chat => chat::turn(message),
            Self::Responses => responses::turn(message),
            Self::Gemini => gemini::turn(message),
        }
    }

    /// Whether all results of a response stand in one message, right after it.
    pub(crate) const fn answers_at_once(self) -> bool {
        matches!(self, Self::Anthropic | Self::Gemini)
    }

    /// Whether a response is one message. Else it is several, which belong together.
    pub(crate) const fn responds_at_once(self) -> bool {
        !matches!(self, Self::Responses)
    }

    fn content(self, message: &str) -> Option<&RawValue> {
        match self {
            Self::Anthropic => anthropic::content(message),
            Self::Chat => chat::content(message),
            Self::Responses => responses::content(message),
            Self::Gemini => gemini::content(message),
        }
    }

    /// The words of a message that holds nothing else.
    pub(crate) fn words(self, message: &str) -> Option<String> {
        let content = self.content(message)?;
        let string = |json: &RawValue| text(json).map(Cow::into_owned);
        let part = |part: &&RawValue| chat::words(part).and_then(string);
        string(content).or_else(|| Some(elements(content)?.iter().map(part).collect::<Option<Vec<_>>>()?.join("\n\n")))
    }

    /// Two messages of one role as one: the second, with the parts of the first before its own.
    pub(crate) fn joined(self, one: &str, two: &str) -> Option<String> {
        let (first, second) = (self.content(one)?, self.content(two)?);
        if second.get().starts_with('"')
            && let Some(words) = self.words(one)
        {
            return insert_words(two, second, true, &words);
        }
        let parts = |content: &RawValue| match content.get() {
            words if words.starts_with('"') => Some(vec![self.words_part(words)]),
            _ => Some(elements(content)?.into_iter().map(|part| part.get().to_owned()).collect()),
        };
        let all = [parts(first)?, parts(second)?].concat();
        replace(two, second.get(), &format!("[{}]", all.join(",")))
    }

    /// A response's item without its texts that hold no word, where it holds something else.
    pub(crate) fn without_blanks(self, item: Box<RawValue>) -> Box<RawValue> {
        let edited = |whole: &str| {
            let content = self.content(whole)?;
            let parts = elements(content)?;
            let is_blank = |part: &Part| matches!(part, Part::Text { is_blank: true });
            let turn = match self {
                Self::Anthropic | Self::Responses | Self::Gemini => self.turn(whole).ok()?.parts,
                Self::Chat => chat::parts(content),
            };
            // Else they are no parts of a message: reasoning, say, which goes back untouched (E4).
            if turn.len() != parts.len() {
                return None;
            }
            let kept = parts.iter().zip(&turn).filter(|(_, part)| !is_blank(part)).map(|(json, _)| json.get());
            let kept: Vec<&str> = kept.collect();
            let is_edited = kept.len() < parts.len() && !self.turn(whole).ok()?.is_empty();
            // Beside calls there may be none, but no empty array.
            let kept = if kept.is_empty() { "null".to_owned() } else { format!("[{}]", kept.join(",")) };
            is_edited.then(|| replace(whole, content.get(), &kept)).flatten()
        };
        edited(item.get()).map_or(item, raw)
    }

    /// A text part of a JSON string.
    fn words_part(self, json: &str) -> String {
        match self {
            Self::Anthropic | Self::Chat => anthropic::words_part(json),
            Self::Responses => responses::words_part(json),
            Self::Gemini => gemini::words_part(json),
        }
    }

    /// The message with words at the end of its last text; a part of their own where it has none.
    pub(crate) fn with_last_words(self, message: &str, words: &str) -> Option<String> {
        let last = match self {
            Self::Gemini => gemini::last_words(message),
            Self::Anthropic | Self::Chat | Self::Responses => anthropic::last_words(message),
        };
        match last {
            Some(text) => insert_words(message, text, false, words),
            None => self.with_part(message, usize::MAX, words),
        }
    }

    /// The message with a text part before the one of this index, else last. Where the content is one
    /// string, it is put before or after its words.
    pub(crate) fn with_part(self, message: &str, index: usize, words: &str) -> Option<String> {
        let content = self.content(message)?;
        if content.get().starts_with('"') {
            return insert_words(message, content, index == 0, words);
        }
        insert_element(message, content, index, &self.words_part(&quoted(words)))
    }
}

impl fmt::Display for Format {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Anthropic => "Anthropic Messages",
            Self::Chat => "OpenAI Chat Completions",
            Self::Responses => "OpenAI Responses",
            Self::Gemini => "Gemini generateContent",
        })
    }
}
