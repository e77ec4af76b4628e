//! What `opencode run --format json` prints: an event a line.
//!
//! A call is a step: it begins with `step_start` and has its counts in `step_finish`, which comes after the step's tools,
//! so that the answer ended when the first of them began. A step that never finishes, or finishes with zero for every count, is a
//! call of unknown count. Neither model nor effort is said, nor when a request was sent.
//!
//! Retries after 429 and 5xx show nowhere; what fails for good is an `error` event.
//!
//! Source: runs of 1.18.33 against a scripted server.

use super::super::book::{Book, Key, Row, Usage, watched};
use super::super::loose::{Held, Price, Text, Time, object, read_line};
use super::super::{Format, Log};
use super::{Error, State, Tokens, id};
use crate::engine::Timestamp;

/// Line types that carry no usage.
const QUIET: [&str; 2] = ["text", "reasoning"];

object! {
    struct Part {
        message: Text<'a> = "messageID",
        tokens: Held<Tokens<'a>> = "tokens",
        cost: Price = "cost",
        state: Held<State<'a>> = "state",
    }
    struct Line {
        kind: Text<'a> = "type",
        time: Time = "timestamp",
        session: Text<'a> = "sessionID",
        part: Held<Part<'a>> = "part",
        error: Held<Error<'a>> = "error",
    }
}

/// Takes the lines of one stream, in order.
#[derive(Debug, Default)]
pub struct Reader {
    /// The message and session of the open step.
    open: Option<[Option<String>; 2]>,
    /// When the first tool of the open step began.
    began: Option<Timestamp>,
    /// Reasoning is counted beside the output, as far as a step told.
    beside: Option<bool>,
    book: Book,
}

impl Reader {
    watched!(Format::OpencodeJson);

    /// Takes one line; says whether it could be read.
    pub fn line(&mut self, line: &str) -> bool {
        read_line!(Line<'_>, line, self.book.health, |line| self.take(&line))
    }

    fn take(&mut self, line: &Line<'_>) {
        self.book.saw(line.time.0);
        self.book.session(id(&line.session, "ses"));
        let part = line.part.clone().or_empty();
        match line.kind.word() {
            "step_start" => {
                self.unfinished();
                self.began = None;
                let (message, session) = (id(&part.message, "msg"), id(&line.session, "ses"));
                self.open = Some([message.map(str::to_owned), session.map(str::to_owned)]);
            }
            "tool_use" => {
                let began = part.state.0.as_ref().and_then(State::began);
                self.began = self.began.into_iter().chain(began).min();
            }
            "step_finish" => {
                self.open = None;
                let tokens = part.tokens.clone().or_empty();
                self.beside = tokens.beside().or(self.beside);
                let end = self.began.take().or(line.time.0);
                let usage = tokens.counts(self.beside.unwrap_or(true), part.cost);
                self.row([id(&part.message, "msg"), id(&line.session, "ses")], usage, end);
            }
            "error" => self.book.health.error(&line.error.clone().or_empty().kind()),
            quiet if QUIET.contains(&quiet) => {}
            other => self.book.health.unknown(other),
        }
    }

    /// The open step did not finish: a call of which nothing is known.
    fn unfinished(&mut self) {
        if let Some([message, session]) = self.open.take() {
            self.row([message.as_deref(), session.as_deref()], Usage::default(), None);
        }
    }

    fn row(&mut self, [message, session]: [Option<&str>; 2], usage: Usage, end: Option<Timestamp>) {
        self.book.row(&Row {
            key: message.map_or(Key::Own, Key::Message),
            session,
            start: None,
            end,
            model: None,
            effort: None,
            usage,
            last: !usage.is_nothing(),
            side: false,
        });
    }

    /// Closes the stream.
    #[must_use]
    pub fn finish(mut self) -> Log {
        self.unfinished();
        self.book.close(Format::OpencodeJson)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Grade;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    const AT: u64 = 1_796_053_726_000;

    fn event(kind: &str, at: u64, part: &Value) -> Value {
        json!({"type": kind, "timestamp": AT + at, "sessionID": "ses_1", "part": part})
    }

    fn finish(id: &str, at: u64, tokens: &Value) -> Value {
        event("step_finish", at, &json!({"messageID": id, "tokens": tokens, "cost": 0.5, "reason": "stop"}))
    }

    fn read(lines: &[Value]) -> Log {
        let mut reader = Reader::default();
        for line in lines {
            assert!(reader.line(&line.to_string()));
        }
        reader.finish()
    }

    #[test]
    fn steps_are_calls_and_end_with_their_first_tool() {
        let tokens =
            json!({"total": 1620, "input": 600, "output": 90, "reasoning": 30, "cache": {"write": 0, "read": 900}});
        let zero = json!({"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}});
        let start = |id: &str| event("step_start", 0, &json!({"messageID": id}));
        let tool = |start: u64| event("tool_use", 9000, &json!({"state": {"time": {"start": AT + start}}}));
        let log = read(&[
            start("msg_1"),
            tool(500),
            tool(400),
            tool(600),
            finish("msg_1", 9000, &tokens),
            start("msg_2"),
            event("text", 9100, &Value::Null),
            finish("msg_2", 9500, &json!({"input": 5, "output": 22, "reasoning": 11})),
            start("msg_3"),
            finish("msg_3", 9600, &zero),
            start("msg_4"),
            json!({"type": "error", "sessionID": "ses_1", "error": {"name": "APIError", "data": {"statusCode": 400}}}),
        ]);
        let seen: Vec<_> = log.turns.iter().map(|turn| (turn.record.output.count(), turn.record.grade)).collect();
        let unknown = (0, Grade::Unknown);
        assert_eq!(seen, [(120, Grade::Known), (33, Grade::Known), unknown, unknown]);
        assert_eq!((log.turns[0].record.end.millis(), log.turns[1].record.end.millis()), (AT + 400, AT + 9500));
        assert_eq!((log.health.error_kinds["400"], log.health.unknown_types, log.health.repeats), (1, 0, 0));
        assert_eq!(log.turns[0].record.session.as_deref(), Some("ses_1"));
    }

    proptest! {
        #[test]
        fn damaged_lines_never_make_it_panic(at in 0_usize..200, mark in any::<char>()) {
            let text = finish("msg_1", 0, &json!({"total": 3, "input": 1, "output": 1, "reasoning": 1})).to_string();
            let text: String = text.chars().enumerate().map(|(nth, own)| if nth == at { mark } else { own }).collect();
            let mut reader = Reader::default();
            let _ = reader.line(&text);
            let _ = reader.finish();
        }
    }
}
