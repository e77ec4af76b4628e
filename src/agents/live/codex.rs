//! Signs of what `codex exec --json` prints.
//!
//! An `error` is often a try that will be repeated (`Reconnecting... 1/2`). A run went well where `turn.completed` came; a refusal is
//! one too, and shows as a run without any message of the agent's: that it was refused is said nowhere.

use super::super::loose::{Held, Parsed, Text, object, parse};
use super::sign::{Sign, says_limit};

object! {
    struct Item {
        kind: Text<'a> = "type",
        text: Text<'a> = "text",
        message: Text<'a> = "message",
    }
    struct Failure {
        message: Text<'a> = "message",
    }
    struct Line {
        kind: Text<'a> = "type",
        thread: Text<'a> = "thread_id",
        message: Text<'a> = "message",
        item: Held<Item<'a>> = "item",
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
            "thread.started" => line.thread.get().into_iter().for_each(|thread| each(Sign::Session(thread))),
            "turn.started" => each(Sign::Request),
            "item.completed" => {
                let item = line.item.or_empty();
                match item.kind.word() {
                    "agent_message" => each(Sign::Said(item.text.word())),
                    "error" => each(Sign::Note(format!("codex says: {}", item.message.word()))),
                    _ => {}
                }
            }
            "error" if line.message.word().starts_with("Reconnecting") => {
                each(Sign::Trouble(line.message.word()));
                each(Sign::Request);
            }
            "error" => each(Sign::Trouble(line.message.word())),
            "turn.completed" => each(Sign::Ended { ok: true, why: None }),
            "turn.failed" => {
                let failure = line.error.or_empty();
                let why = failure.message.get().unwrap_or("turn.failed");
                if says_limit(why) {
                    each(Sign::Limit { until: None, text: why });
                }
                each(Sign::Ended { ok: false, why: Some(why.to_owned()) });
            }
            _ => {}
        }
    }
}
