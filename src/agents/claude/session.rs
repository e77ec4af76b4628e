//! Claude Code session files: `<session>.jsonl` and the `agent-*.jsonl` of subagents.
//!
//! One call is one `message.id`. The program writes a line for each block of an answer and repeats the usage on each,
//! sometimes with a start value on all but the last, so a call's counts are the largest of its lines, and they are
//! trusted only if a line of the call has a `stop_reason` (before 2.1.59 most calls never get one: their
//! counts are placeholders; after a signal the last call has none). Messages of the model `<synthetic>` and API
//! error messages are made up by the program and are no calls. Sidechain lines count.
//!
//! A call ends with its last line and starts with the last line before it that was sent to the model on the same
//! chain: a `user` line (a prompt or a tool's result) or an `api-request`, which also says at which effort. The `cost-state` at
//! the end has the cost of the session. The rules follow public logs of 2.0 to 2.1.219, runs of 2.1.332 against a
//! scripted server, and the reports on the program's own tracker (anthropics/claude-code 22686, 28197, 87303, 6805).

use super::super::book::{Book, Extent, Key, Row, Total, watched};
use super::super::counter::Fall;
use super::super::loose::{Flag, Held, Price, Text, Time, object, read_line};
use super::super::{Format, Log};
use super::{Message, SYNTHETIC, Usage};
use crate::engine::Timestamp;

/// Line types that carry no usage.
const QUIET: [&str; 21] = [
    "user",
    "attachment",
    "progress",
    "queue-operation",
    "last-prompt",
    "custom-title",
    "ai-title",
    "mode",
    "file-history-snapshot",
    "summary",
    "pr-link",
    "frame-link",
    "agent-name",
    "permission-mode",
    "atis-latch",
    "tools-used",
    "api-request-shape",
    "api-request-blob",
    "content-replacement",
    "worktree-state",
    "task-summary",
];

object! {
    struct OutputConfig {
        effort: Text<'a> = "effort",
    }
    struct Params {
        config: Held<OutputConfig<'a>> = "output_config",
    }
    struct Line {
        kind: Text<'a> = "type",
        subtype: Text<'a> = "subtype",
        session: Text<'a> = "sessionId",
        version: Text<'a> = "version",
        time: Time = "timestamp",
        side: Flag = "isSidechain",
        api_error: Flag = "isApiErrorMessage",
        effort: Text<'a> = "effort",
        error: Text<'a> = "error",
        uuid: Text<'a> = "uuid",
        request: Text<'a> = "requestId",
        message: Held<Message<'a>> = "message",
        params: Held<Params<'a>> = "params",
        cost: Price = "totalCostUSD",
    }
}

/// Takes the lines of one file, in order.
#[derive(Debug, Default)]
pub struct Reader {
    /// The last moment something was sent to the model: on the main chain, on side chains.
    sent: [Option<Timestamp>; 2],
    /// The effort of the last request that said so.
    asked: Option<String>,
    book: Book,
}

impl Reader {
    watched!(Format::ClaudeSession);

    /// Takes one line; says whether it could be read.
    pub fn line(&mut self, line: &str) -> bool {
        read_line!(Line<'_>, line, self.book.health, |line| self.take(&line))
    }

    fn take(&mut self, line: &Line<'_>) {
        self.book.saw(line.time.0);
        self.book.version(line.version.get());
        let side = usize::from(line.side.is_set());
        match line.kind.word() {
            "assistant" => self.assistant(line, side),
            "user" => self.sent[side] = line.time.0.or(self.sent[side]),
            "api-request" => {
                self.sent[side] = line.time.0.or(self.sent[side]);
                let params = line.params.0.as_ref().and_then(|params| params.config.0.as_ref());
                self.asked = params.and_then(|config| config.effort.get()).map(str::to_owned);
            }
            "system" => match line.subtype.word() {
                "api_error" => self.book.health.error("api_error"),
                "compact_boundary" => self.book.health.compactions += 1,
                _ => {}
            },
            "cost-state" => self.book.total(&Total {
                id: line.session.get(),
                session: line.session.get(),
                time: line.time.0,
                extent: Extent::Running(Fall::Restart),
                cost: line.cost,
                ..Total::default()
            }),
            quiet if QUIET.contains(&quiet) => {}
            other => self.book.health.unknown(other),
        }
    }

    fn assistant(&mut self, line: &Line<'_>, side: usize) {
        let message = line.message.clone().or_empty();
        if message.model.get() == Some(SYNTHETIC) || line.api_error.is_set() {
            self.book.health.synthetic += 1;
            if line.api_error.is_set() || line.error.get().is_some() {
                self.book.health.error(line.error.word());
            }
            return;
        }
        let named = message.id.get().or(line.request.get()).or(line.uuid.get());
        let asked = self.asked.take();
        let usage = message.usage.0.as_ref().map(Usage::counts).unwrap_or_default();
        self.book.row(&Row {
            key: named.map_or(Key::Own, Key::Message),
            session: line.session.get(),
            start: self.sent[side],
            end: line.time.0,
            model: message.model.get(),
            effort: line.effort.get().or(asked.as_deref()),
            usage,
            last: message.stop.get().is_some(),
            side: side == 1,
        });
        self.asked = asked;
    }

    /// Closes the file.
    #[must_use]
    pub fn finish(self) -> Log {
        self.book.close(Format::ClaudeSession)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::time::parse_time;
    use crate::engine::{Grade, Tokens};
    use serde_json::{Value, json};

    fn user(at: &str, side: bool) -> Value {
        json!({"type": "user", "sessionId": "s", "timestamp": at, "isSidechain": side})
    }

    fn assistant(id: &str, at: &str, stop: Option<&str>, output: &Value) -> Value {
        json!({"type": "assistant", "sessionId": "s", "timestamp": at, "effort": "high", "isSidechain": false,
               "message": {"id": id, "model": "claude-x", "stop_reason": stop,
                           "usage": {"output_tokens": output, "input_tokens": 2, "iterations": [{"output_tokens": 9999}]}}})
    }

    fn read(lines: &[Value]) -> Log {
        let mut reader = Reader::default();
        for line in lines {
            assert!(reader.line(&line.to_string()));
        }
        reader.finish()
    }

    const T: [&str; 4] =
        ["2026-01-01T00:00:01Z", "2026-01-01T00:00:02Z", "2026-01-01T00:00:03Z", "2026-01-01T00:00:05Z"];

    #[test]
    fn a_call_is_one_id_with_its_largest_count_and_its_last_line() {
        let log = read(&[
            user(T[0], false),
            assistant("m1", T[1], None, &json!(1)),
            assistant("m1", T[2], Some("tool_use"), &json!(735)),
            assistant("m1", T[3], None, &json!(3)),
        ]);
        let [turn] = &log.turns[..] else { panic!("one call, not {:?}", log.turns) };
        assert_eq!((turn.record.output.count(), turn.record.grade), (735, Grade::Known));
        assert_eq!(turn.record.start, parse_time(T[0]));
        assert_eq!(Some(turn.record.end), parse_time(T[3]));
        assert_eq!(turn.record.effort_confirmed.as_deref(), Some("high"));
        assert_eq!(turn.record.input, Some(Tokens::new(2)));
        assert_eq!(log.health.repeats, 2);
    }

    #[test]
    fn without_a_stop_reason_or_a_plausible_count_it_is_unknown_and_nothing_is_added() {
        let log = read(&[
            assistant("a", T[0], None, &json!(8)),
            assistant("b", T[1], Some("end_turn"), &json!("735")),
            assistant("c", T[2], Some("end_turn"), &json!(-3)),
            assistant("d", T[3], Some("end_turn"), &json!(1e300)),
            assistant("e", T[3], Some("end_turn"), &Value::Null),
        ]);
        for turn in &log.turns {
            assert_eq!((turn.record.output, turn.record.grade), (Tokens::ZERO, Grade::Unknown));
        }
        assert_eq!((log.turns.len(), log.health.placeholders, log.health.bad_numbers), (5, 5, 3));
    }

    #[test]
    fn messages_of_the_program_itself_are_no_calls() {
        let mut synthetic = assistant("s", T[0], Some("stop_sequence"), &json!(0));
        synthetic["message"]["model"] = json!("<synthetic>");
        let mut error = assistant("e", T[0], Some("stop_sequence"), &json!(0));
        error["isApiErrorMessage"] = json!(true);
        let log =
            read(&[synthetic, error, json!({"type": "system", "subtype": "api_error", "error": {"status": 529}})]);
        assert_eq!((log.turns.len(), log.health.synthetic, log.health.errors), (0, 2, 2));
    }

    #[test]
    fn a_side_chain_counts_and_has_a_start_of_its_own() {
        let mut side = assistant("side", T[3], Some("end_turn"), &json!(5));
        side["isSidechain"] = json!(true);
        let log =
            read(&[user(T[0], true), user(T[2], false), side, json!({"type": "brand-new"}), json!({"no": "type"})]);
        assert_eq!(log.turns[0].record.start, parse_time(T[0]));
        assert_eq!(log.health.unknown_types, 2);
    }

    #[test]
    fn a_call_without_a_time_stands_at_the_last_time_read() {
        let mut timeless = assistant("m", "not a time", Some("end_turn"), &json!(5));
        timeless["message"]["id"] = Value::Null;
        timeless["uuid"] = json!("u");
        let log = read(&[user(T[1], false), timeless]);
        assert_eq!((Some(log.turns[0].record.end), log.turns[0].record.start), (parse_time(T[1]), None));
        assert_eq!(log.health.bad_times, 1);
    }
}
