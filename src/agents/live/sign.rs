//! What lines say beside usage: requests, text, limits, troubles, and how the run ended.
//!
//! One [`Signs`] a program. It counts no tokens: that is the readers' alone. Of a call that is still open it says how much was
//! printed, for the case that nobody ever says what it came to.

use super::super::Format;
use super::super::adapter::AgentKind;
use super::{claude, codex, copilot, gemini, opencode, pi};

/// What one line says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sign<'a> {
    /// The session's name.
    Session(&'a str),
    /// The name of a session below it, a subagent's, whose counts are not printed.
    Part(&'a str),
    /// The program's version.
    Version(&'a str),
    /// The model that the run is set to.
    Model(&'a str),
    /// A request began, or is tried again.
    Request,
    /// The agent's own text.
    Said(&'a str),
    /// A call that is still open grew by so many bytes of text, or has this count so far.
    Grown {
        /// The call's id, where the line has it.
        call: Option<&'a str>,
        /// Bytes of text.
        bytes: usize,
        /// The count so far.
        stated: u64,
    },
    /// The open call without an id is over: what it came to is told.
    Over,
    /// The backend takes no requests.
    Limit {
        /// Until when, in milliseconds of Unix time.
        until: Option<u64>,
        /// In the program's words.
        text: &'a str,
    },
    /// Something for people.
    Note(String),
    /// Something went wrong; the run may go on.
    Trouble(&'a str),
    /// The run is over, as its own event says.
    Ended {
        /// It went well.
        ok: bool,
        /// Why not, in the program's words.
        why: Option<String>,
    },
    /// How things stand, of a program whose runs no event closes.
    SoFar {
        /// It would have gone well.
        ok: bool,
        /// Why not.
        why: Option<String>,
    },
    /// The run cannot have gone well, whatever else is said; why.
    Failed(String),
    /// What comes now takes an earlier ending or failure back.
    Again,
}

/// Reads the signs of one program.
#[derive(Debug)]
pub enum Signs {
    /// Claude Code.
    Claude(claude::Signs),
    /// Codex.
    Codex(codex::Signs),
    /// pi.
    Pi(pi::Signs),
    /// opencode.
    Opencode(opencode::Signs),
    /// The Gemini CLI.
    Gemini(gemini::Signs),
    /// The Copilot CLI.
    Copilot(copilot::Signs),
}

impl Signs {
    /// Of an agent; none where it is not known what it prints.
    pub fn of(kind: AgentKind) -> Option<Self> {
        Some(match kind {
            AgentKind::Claude => Self::Claude(claude::Signs::default()),
            AgentKind::Codex => Self::Codex(codex::Signs),
            AgentKind::Pi => Self::Pi(pi::Signs::default()),
            AgentKind::Opencode => Self::Opencode(opencode::Signs),
            AgentKind::Gemini => Self::Gemini(gemini::Signs),
            AgentKind::Copilot => Self::Copilot(copilot::Signs),
            AgentKind::Command => return None,
        })
    }

    /// Of what is printed in this format; none for files, which nobody prints.
    pub fn printed(format: Format) -> Option<Self> {
        match format {
            Format::ClaudeStream => Self::of(AgentKind::Claude),
            Format::CodexExec => Self::of(AgentKind::Codex),
            Format::PiJson | Format::PiSession => Self::of(AgentKind::Pi),
            Format::OpencodeJson => Self::of(AgentKind::Opencode),
            Format::GeminiJson => Self::of(AgentKind::Gemini),
            Format::CopilotCli => Self::of(AgentKind::Copilot),
            Format::ClaudeSession
            | Format::CodexRollout
            | Format::OpencodeExport
            | Format::GeminiChat
            | Format::Flyball => None,
        }
    }

    /// Takes one line.
    pub fn line(&mut self, line: &str, each: &mut dyn FnMut(Sign<'_>)) {
        match self {
            Self::Claude(signs) => signs.line(line, each),
            Self::Codex(signs) => signs.line(line, each),
            Self::Pi(signs) => signs.line(line, each),
            Self::Opencode(signs) => signs.line(line, each),
            Self::Gemini(signs) => signs.line(line, each),
            Self::Copilot(signs) => signs.line(line, each),
        }
    }

    /// The end of the run is an event of its own; otherwise the exit code and the absence of failure are all there is.
    pub const fn closes(&self) -> bool {
        !matches!(self, Self::Opencode(_))
    }

    /// Answers are printed while they are made.
    pub const fn prints_pieces(&self) -> bool {
        matches!(self, Self::Claude(_) | Self::Pi(_) | Self::Copilot(_))
    }

    /// Each call's count is printed as it becomes final, so that a call without one broke off.
    pub const fn counts_live(&self) -> bool {
        match self {
            Self::Claude(signs) => signs.is_partial(),
            Self::Pi(_) | Self::Opencode(_) => true,
            Self::Codex(_) | Self::Gemini(_) | Self::Copilot(_) => false,
        }
    }
}

/// Whether a text says that an effort was not taken: programs warn of it in passing, and backends refuse it.
pub fn refuses_effort(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let names = ["effort", "thinking level", "thinking_level", "thinkinglevel"].iter().any(|word| text.contains(word));
    let refuses =
        ["unknown", "invalid", "unsupported", "not support", "ignoring", "must not be empty", "must be one of"];
    names && refuses.iter().any(|word| text.contains(word))
}

/// Whether a text says that an account's limit is reached; a hiccup that is tried again is none.
pub fn says_limit(text: &str) -> bool {
    let text = text.to_ascii_lowercase().replace('\u{2019}', "'");
    let words = [
        "usage limit",
        "hit your limit",
        "rate limit",
        "rate_limit",
        "quota exceeded",
        "quota increase",
        "too many requests",
        "status: 429",
        "(429)",
        "429 ",
    ];
    words.iter().any(|word| text.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_refusal_and_of_limits() {
        for text in [
            "Warning: Unknown --effort value 'bogus' \u{2014} ignoring it and using the default effort.",
            "Warning: Invalid thinking level \"HIGH\". Valid values: off, minimal",
            "error: invalid value 'bogus' for '--reasoning-effort <level>'",
            "Unsupported value: 'reasoning.effort' does not support 'minimal' with this model.",
        ] {
            assert!(refuses_effort(text), "{text}");
        }
        assert!(!refuses_effort("unknown model; the effort was great") || refuses_effort("unknown effort"));
        assert!(!refuses_effort("Ripgrep is not available."));
        assert!(says_limit("You\u{2019}ve hit your usage limit. Try again later."));
        assert!(says_limit("API Error: Request rejected (429) \u{b7} stub says 429"));
        assert!(!says_limit("API Error: 529 overloaded"));
    }
}
