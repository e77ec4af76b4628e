//! Signs of what the Copilot CLI prints with `--output-format json`.
//!
//! It ends with 0 after a signal and a refusal too. A run went well where `result.exitCode` is 0 and nothing before it says otherwise:
//! an `abort`, a `session.error`, or a message that the program put in place of a refused answer.

use super::super::loose::{Count, Held, Parsed, Text, object, parse};
use super::sign::{Sign, says_limit};

/// How the program's own words for a refused answer begin.
const REFUSED: &str = "The model returned no content";

object! {
    struct Data {
        session: Text<'a> = "sessionId",
        version: Text<'a> = "copilotVersion",
        model: Text<'a> = "model",
        content: Text<'a> = "content",
        delta: Text<'a> = "deltaContent",
        input: Text<'a> = "inputDelta",
        message: Text<'a> = "message",
        reason: Text<'a> = "reason",
        status: Count = "statusCode",
    }
    struct Line {
        kind: Text<'a> = "type",
        session: Text<'a> = "sessionId",
        exit: Count = "exitCode",
        data: Held<Data<'a>> = "data",
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
        let data = line.data.or_empty();
        match line.kind.word() {
            "session.start" => {
                data.session.get().into_iter().for_each(|session| each(Sign::Session(session)));
                data.version.get().into_iter().for_each(|version| each(Sign::Version(version)));
            }
            "session.tools_updated" => data.model.get().into_iter().for_each(|model| each(Sign::Model(model))),
            "model.call_start" => {
                each(Sign::Over);
                each(Sign::Request);
            }
            "assistant.message_delta" | "assistant.reasoning_delta" | "assistant.tool_call_delta" => {
                let bytes = data.delta.word().len() + data.input.word().len();
                each(Sign::Grown { call: None, bytes, stated: 0 });
            }
            "assistant.message" => {
                each(Sign::Over);
                if data.content.word().starts_with(REFUSED) {
                    each(Sign::Failed(data.content.word().to_owned()));
                } else {
                    each(Sign::Again);
                    each(Sign::Said(data.content.word()));
                }
            }
            "model.call_failure" => {
                each(Sign::Over);
                let status =
                    data.status.get().map_or_else(|| "a request failed".to_owned(), |status| status.to_string());
                each(Sign::Trouble(data.message.get().unwrap_or(&status)));
            }
            "session.error" => {
                let text = data.message.get().unwrap_or("session.error");
                if data.status == Count::Of(429) || says_limit(text) {
                    each(Sign::Limit { until: None, text });
                }
                each(Sign::Failed(text.to_owned()));
            }
            "abort" => each(Sign::Failed(format!("aborted: {}", data.reason.word()))),
            "result" => {
                line.session.get().into_iter().for_each(|session| each(Sign::Session(session)));
                let ok = line.exit == Count::Of(0);
                let why = line.exit.get().filter(|_| !ok).map(|code| format!("it says that its exit code is {code}"));
                each(Sign::Ended { ok, why });
            }
            _ => {}
        }
    }
}
