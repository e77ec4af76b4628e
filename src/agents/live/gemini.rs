//! Signs of what the Gemini CLI prints with `-o stream-json`.
//!
//! Exit codes are the backend's status, cut to eight bits, and 0 after a signal. A run went well where `result.status` is `success`. The
//! agent's text comes in pieces; a cut at the largest answer shows nowhere.

use super::super::loose::{Held, Parsed, Text, object, parse};
use super::sign::{Sign, says_limit};

object! {
    struct Failure {
        message: Text<'a> = "message",
    }
    struct Line {
        kind: Text<'a> = "type",
        session: Text<'a> = "session_id",
        model: Text<'a> = "model",
        role: Text<'a> = "role",
        content: Text<'a> = "content",
        severity: Text<'a> = "severity",
        message: Text<'a> = "message",
        status: Text<'a> = "status",
        error: Held<Failure<'a>> = "error",
    }
}

/// Reads signs.
#[derive(Debug, Default)]
pub struct Signs;

impl Signs {
    /// Takes one line.
    pub fn line(&mut self, line: &str, each: &mut dyn FnMut(Sign<'_>)) {
        let mut patched = String::new();
        let Parsed::Object(line, _) = parse::<Line<'_>>(line, &mut patched) else { return };
        match line.kind.word() {
            "init" => {
                line.session.get().into_iter().for_each(|session| each(Sign::Session(session)));
                line.model.get().into_iter().for_each(|model| each(Sign::Model(model)));
            }
            "message" if line.role.word() == "assistant" => each(Sign::Said(line.content.word())),
            "error" if line.severity.get().is_none_or(|severity| severity == "error") => {
                each(Sign::Trouble(line.message.word()));
            }
            "result" => {
                let failure = line.error.or_empty();
                let ok = line.status.word() == "success";
                let why = failure.message.get().map(str::to_owned);
                if !ok && let Some(text) = why.as_deref().filter(|why| says_limit(why)) {
                    each(Sign::Limit { until: None, text });
                }
                each(Sign::Ended { ok, why });
            }
            _ => {}
        }
    }
}
