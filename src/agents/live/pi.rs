//! Signs of what `pi -p --mode json` prints.
//!
//! Its exit code is 0 after any failure of the backend. A run went well where the last answer's `stopReason` is `stop` when the
//! `agent_end` comes that announces no further try.

use super::super::loose::{Count, Flag, Held, List, Parsed, Text, object, parse};
use super::sign::{Sign, says_limit};
use super::size::Size;

object! {
    struct Block {
        kind: Text<'a> = "type",
        text: Text<'a> = "text",
    }
    struct Message {
        role: Text<'a> = "role",
        stop: Text<'a> = "stopReason",
        error: Text<'a> = "errorMessage",
        content: List<Block<'a>> = "content",
    }
    struct Usage {
        output: Count = "output",
    }
    struct Update {
        delta: Size = "delta",
    }
    struct Line {
        kind: Text<'a> = "type",
        id: Text<'a> = "id",
        message: Held<Message<'a>> = "message",
        usage: Held<Usage<'a>> = "usage",
        update: Held<Update<'a>> = "assistantMessageEvent",
        again: Flag = "willRetry",
    }
}

/// Reads signs.
#[derive(Debug, Default)]
pub struct Signs {
    /// How the last answer ended, and what went wrong in it.
    last: Option<(String, Option<String>)>,
}

impl Signs {
    /// Takes one line.
    pub fn line(&mut self, line: &str, each: &mut dyn FnMut(Sign<'_>)) {
        let mut patched = String::new();
        let Parsed::Object(line, _) = parse::<Line<'_>>(line, &mut patched) else { return };
        match line.kind.word() {
            "session" => line.id.get().into_iter().for_each(|session| each(Sign::Session(session))),
            "message_start" if line.message.clone().or_empty().role.word() == "assistant" => each(Sign::Request),
            "message_update" => {
                let stated = line.usage.or_empty().output.get().unwrap_or(0);
                each(Sign::Grown { call: None, bytes: line.update.or_empty().delta.0, stated });
            }
            "message_end" => self.message(&line.message.or_empty(), each),
            "agent_start" => each(Sign::Again),
            "agent_end" if !line.again.is_set() => self.ended(each),
            _ => {}
        }
    }

    fn message(&mut self, message: &Message<'_>, each: &mut dyn FnMut(Sign<'_>)) {
        if message.role.word() != "assistant" {
            return;
        }
        each(Sign::Over);
        for block in message.content.0.iter().filter(|block| block.kind.word() == "text") {
            each(Sign::Said(block.text.word()));
        }
        if let Some(error) = message.error.get() {
            each(Sign::Trouble(error));
        }
        self.last = Some((message.stop.word().to_owned(), message.error.get().map(str::to_owned)));
    }

    fn ended(&mut self, each: &mut dyn FnMut(Sign<'_>)) {
        let (stop, error) = self.last.take().unwrap_or_default();
        let ok = stop == "stop";
        let why = error.unwrap_or_else(|| match stop.as_str() {
            "" => "it ended without an answer".to_owned(),
            stop => format!("the last answer ended by {stop}"),
        });
        if !ok && says_limit(&why) {
            each(Sign::Limit { until: None, text: &why });
        }
        each(Sign::Ended { ok, why: (!ok).then_some(why) });
    }
}
