//! A provider over plain HTTP.

use std::env;
use std::io::{BufRead, BufReader};

use session_todo_wire::Format;

use crate::agent::Result;
use crate::stream::Stream;

/// Where requests go.
pub(crate) struct Provider {
    pub(crate) format: Format,
    base: String,
    key: String,
    model: String,
    http: ureq::Agent,
}

/// A whole response.
pub(crate) struct Reply {
    /// Its body, as if it had not been streamed.
    pub(crate) body: String,
    /// Its words.
    pub(crate) words: String,
}

impl Provider {
    pub(crate) fn new(format: Format, base: &str, key: &str, model: &str) -> Self {
        // What an error says is in its body.
        let http = ureq::Agent::config_builder().http_status_as_error(false).build().into();
        Self { format, base: base.trim_end_matches('/').to_owned(), key: key.to_owned(), model: model.to_owned(), http }
    }

    /// The provider that the environment names, if it does.
    pub(crate) fn from_env() -> Option<Self> {
        let set = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
        let named = |format, prefix: &str, base: &str, model: &str| {
            let (key, own) = (set(&format!("{prefix}_API_KEY")), set(&format!("{prefix}_BASE_URL")));
            if key.is_none() && own.is_none() {
                return None;
            }
            let model = set(&format!("{prefix}_MODEL")).unwrap_or_else(|| model.to_owned());
            Some(Self::new(format, &own.unwrap_or_else(|| base.to_owned()), &key.unwrap_or_default(), &model))
        };
        let openai = if set("OPENAI_API").as_deref() == Some("responses") { Format::Responses } else { Format::Chat };
        named(Format::Anthropic, "ANTHROPIC", "https://api.anthropic.com", "claude-sonnet-5-5")
            .or_else(|| named(openai, "OPENAI", "https://api.openai.com/v1", "gpt-5.4"))
            .or_else(|| named(Format::Gemini, "GEMINI", "https://generativelanguage.googleapis.com", "gemini-3-pro"))
    }

    /// Sends messages and reads the response as it comes. Its words are shown at once.
    pub(crate) fn send(&self, messages: &str, tools: Option<&str>) -> Result<Reply> {
        let mut request = self.http.post(self.url()).header("content-type", "application/json");
        for (name, value) in self.headers() {
            request = request.header(name, value);
        }
        let mut response = request.send(self.body(messages, tools))?;
        if !response.status().is_success() {
            let said = response.body_mut().read_to_vec()?;
            return Err(
                format!("the provider answered {}: {}", response.status(), String::from_utf8_lossy(&said)).into()
            );
        }
        let (mut stream, mut other) = (Stream::new(self.format), String::new());
        for line in BufReader::new(response.body_mut().as_reader()).lines() {
            let line = line?;
            match line.split_once(':') {
                Some(("data", data)) => stream.data(data.trim())?,
                Some(("event" | "id" | "retry" | "", _)) => {}
                Some(_) | None => other += &line,
            }
        }
        stream.end().map_err(|error| if other.is_empty() { error } else { format!("{error}: {other}").into() })
    }

    fn url(&self) -> String {
        let Self { base, model, .. } = self;
        match self.format {
            Format::Anthropic => format!("{base}/v1/messages"),
            Format::Chat => format!("{base}/chat/completions"),
            Format::Responses => format!("{base}/responses"),
            Format::Gemini => format!("{base}/v1beta/models/{model}:streamGenerateContent?alt=sse"),
        }
    }

    fn headers(&self) -> Vec<(&'static str, String)> {
        match self.format {
            Format::Anthropic => {
                vec![("x-api-key", self.key.clone()), ("anthropic-version", "2023-06-01".to_owned())]
            }
            Format::Chat | Format::Responses => vec![("authorization", format!("Bearer {}", self.key))],
            Format::Gemini => vec![("x-goog-api-key", self.key.clone())],
        }
    }

    /// The body: the messages go in as they are.
    fn body(&self, messages: &str, tools: Option<&str>) -> String {
        let model = serde_json::Value::from(self.model.as_str());
        let tools = tools.map(|tools| format!(r#""tools":{tools},"#)).unwrap_or_default();
        let head = match self.format {
            Format::Anthropic => format!(r#""model":{model},"max_tokens":8192,"stream":true,"#),
            Format::Chat => format!(r#""model":{model},"stream":true,"#),
            Format::Responses => {
                format!(r#""model":{model},"stream":true,"store":false,"include":["reasoning.encrypted_content"],"#)
            }
            Format::Gemini => String::new(),
        };
        format!(r#"{{{head}{tools}"{}":{messages}}}"#, self.format.messages_key())
    }
}
