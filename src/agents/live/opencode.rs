//! Signs of what `opencode run --format json` prints.
//!
//! No event closes a run. It went well where the program ended with 0, no `error` came, and the last step's reason is `stop`.

use super::super::loose::{Held, Parsed, Text, object, parse};
use super::sign::{Sign, says_limit};
use super::size::Size;

object! {
    struct Part {
        message: Text<'a> = "messageID",
        reason: Text<'a> = "reason",
        text: Text<'a> = "text",
        state: Held<State<'a>> = "state",
    }
    struct State {
        input: Size = "input",
        metadata: Held<Metadata<'a>> = "metadata",
    }
    struct Metadata {
        session: Text<'a> = "sessionId",
    }
    struct Data {
        message: Text<'a> = "message",
    }
    struct Failure {
        name: Text<'a> = "name",
        data: Held<Data<'a>> = "data",
    }
    struct Line {
        kind: Text<'a> = "type",
        session: Text<'a> = "sessionID",
        part: Held<Part<'a>> = "part",
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
        line.session.get().into_iter().for_each(|session| each(Sign::Session(session)));
        let part = line.part.or_empty();
        match line.kind.word() {
            "step_start" => each(Sign::Request),
            "text" => {
                each(Sign::Grown { call: part.message.get(), bytes: part.text.word().len(), stated: 0 });
                each(Sign::Said(part.text.word()));
            }
            "tool_use" => {
                let state = part.state.or_empty();
                let bytes = state.input.0;
                state.metadata.or_empty().session.get().into_iter().for_each(|session| each(Sign::Part(session)));
                each(Sign::Grown { call: part.message.get(), bytes, stated: 0 });
            }
            "step_finish" => {
                let reason = part.reason.word();
                let ok = reason == "stop";
                let why = (!ok).then(|| format!("the last step ended by {reason}"));
                each(Sign::SoFar { ok, why });
            }
            "error" => {
                let failure = line.error.or_empty();
                let data = failure.data.or_empty();
                let text = data.message.get().or(failure.name.get()).unwrap_or("error");
                if says_limit(text) {
                    each(Sign::Limit { until: None, text });
                }
                each(Sign::Failed(text.to_owned()));
            }
            _ => {}
        }
    }
}
