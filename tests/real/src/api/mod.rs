//! The four APIs that the CLIs speak, as pure functions: what a request asks for, and the body or the events of an answer.
//!
//! Only what a client reads is there. Counts come from the script: output includes thinking, and `input` is without what
//! came from a cache; each API is told in its own way of counting.

mod anthropic;
mod chat;
mod gemini;
mod responses;

use serde_json::Value;

use crate::script::{Act, Turn};
use crate::tools::{self, Call, Tool};

/// An API of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    Anthropic,
    Responses,
    Chat,
    Gemini,
}

/// One event of a stream.
pub struct Frame {
    pub name: Option<&'static str>,
    pub data: String,
}

/// A turn with all that its API needs to say it.
pub struct Answer<'a> {
    pub turn: &'a Turn,
    pub model: &'a str,
    pub call: Option<Call>,
    /// Makes the identifiers of one answer unlike all others.
    pub number: u64,
}

impl Answer<'_> {
    /// An identifier of this answer's own.
    fn id(&self, head: &str) -> String {
        format!("{head}_stub{:016x}", self.number)
    }

    fn refuses(&self) -> bool {
        self.turn.act == Act::Refusal
    }

    /// The text as pieces that give it when put together.
    fn pieces(&self) -> impl Iterator<Item = String> {
        self.turn.text.split(' ').enumerate().map(|(at, word)| if at == 0 { word.into() } else { format!(" {word}") })
    }
}

impl Api {
    /// The API of a path, by its end.
    pub fn of(path: &str) -> Option<Self> {
        let path = path.split('?').next().unwrap_or_default();
        if path.ends_with("/messages") {
            Some(Self::Anthropic)
        } else if path.ends_with("/responses") {
            Some(Self::Responses)
        } else if path.ends_with("/chat/completions") {
            Some(Self::Chat)
        } else if path.ends_with(":generateContent") || path.ends_with(":streamGenerateContent") {
            Some(Self::Gemini)
        } else {
            None
        }
    }

    /// The model that is asked.
    pub fn model(self, path: &str, body: &Value) -> String {
        let in_path = || path.split("/models/").nth(1)?.split(':').next();
        let model = match self {
            Self::Gemini => in_path(),
            _ => body["model"].as_str(),
        };
        model.unwrap_or("unnamed").to_owned()
    }

    /// Whether events are asked for.
    pub fn streams(self, path: &str, body: &Value) -> bool {
        match self {
            Self::Gemini => path.contains(":streamGenerateContent"),
            _ => body["stream"].as_bool().unwrap_or(false),
        }
    }

    /// What the request says of effort, word or number, as it stands there.
    pub fn effort(self, body: &Value) -> Option<String> {
        let config = &body["generationConfig"]["thinkingConfig"];
        let at = match self {
            Self::Anthropic => &body["output_config"]["effort"],
            Self::Responses => &body["reasoning"]["effort"],
            Self::Chat => &body["reasoning_effort"],
            Self::Gemini if config["thinkingLevel"].is_null() => &config["thinkingBudget"],
            Self::Gemini => &config["thinkingLevel"],
        };
        match at {
            Value::Null => None,
            Value::String(word) => Some(word.clone()),
            other => Some(other.to_string()),
        }
    }

    /// The fields about thinking, for the digest.
    pub fn thinking(self, body: &Value) -> Value {
        match self {
            Self::Anthropic => body["thinking"].clone(),
            Self::Responses => body["reasoning"].clone(),
            Self::Chat => body["reasoning"].clone(),
            Self::Gemini => body["generationConfig"]["thinkingConfig"].clone(),
        }
    }

    /// The tools that are offered.
    pub fn tools(self, body: &Value) -> Vec<Tool> {
        match self {
            Self::Anthropic => anthropic::tools(body),
            Self::Responses => responses::tools(body),
            Self::Chat => chat::tools(body),
            Self::Gemini => gemini::tools(body),
        }
    }

    /// The call that the turn makes, if it makes one.
    pub fn call(self, turn: &Turn, tools: &[Tool]) -> Option<Call> {
        match &turn.act {
            Act::Shell(command) => tools::shell(tools, command),
            Act::SubAgent(prompt) => tools::sub_agent(tools, prompt),
            Act::Await => tools::wait(tools),
            Act::Text => tools::hand_over(tools, &turn.text),
            _ => None,
        }
    }

    /// The answer as one body.
    pub fn whole(self, answer: &Answer<'_>) -> Value {
        match self {
            Self::Anthropic => anthropic::whole(answer),
            Self::Responses => responses::whole(answer),
            Self::Chat => chat::whole(answer),
            Self::Gemini => gemini::whole(answer),
        }
    }

    /// The answer as events.
    pub fn events(self, answer: &Answer<'_>) -> Vec<Frame> {
        match self {
            Self::Anthropic => anthropic::events(answer),
            Self::Responses => responses::events(answer),
            Self::Chat => chat::events(answer),
            Self::Gemini => gemini::events(answer),
        }
    }

    /// The body of an error.
    pub fn error(self, status: u16, message: &str, code: Option<&str>) -> Value {
        match self {
            Self::Anthropic => anthropic::error(status, message),
            Self::Responses | Self::Chat => responses::error(status, message, code),
            Self::Gemini => gemini::error(status, message),
        }
    }
}
