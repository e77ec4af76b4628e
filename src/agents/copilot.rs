//! The Copilot CLI: its event log (`events.jsonl`), and what it prints with `--output-format json`.
//!
//! A call is known by its `apiCallId`. Newer versions write a `session.usage_record` for each call, and the
//! `assistant.message` that follows names the same id and states no count; older ones have the output count on
//! `assistant.message` and nothing else. Both are rows of one call. A zero with no other count beside it was not
//! measured. A message without an id or a count that follows a record in its turn is that record's answer; ids with a
//! space in them, as redacted logs have, are none.
//!
//! Output includes reasoning. Input includes what was read from and written to the cache, which is taken off here; older
//! versions state no input. `modelMetrics` of the `session.shutdown` are closing totals, of the process or of the whole
//! session; a log may end without one. A turn that was aborted before its answer was written is an error and no call: the
//! program says nothing of it.
//!
//! What the program prints has the same events without any count: its calls are unknown, unless its event log is given
//! too. It names its session only in the last line, `result`.
//!
//! Source: public logs of 1.0.64, runs of 1.0.102 against a scripted server.

use super::book::{Book, Extent, Key, Row, Total, Usage as Counts, watched};
use super::counter::Fall;
use super::loose::{Count, Held, Named, Price, Text, Time, object, read_line};
use super::{Format, Log};
use crate::engine::{Millis, Timestamp};

/// Families of line types that carry no usage, by what their names begin with.
const QUIET: [&str; 15] = [
    "session.",
    "agent.",
    "assistant.",
    "user.",
    "system.",
    "tool.",
    "hook.",
    "model.",
    "subagent.",
    "skill.",
    "permission.",
    "command.",
    "mcp.",
    "external_tool.",
    "pending_messages.",
];

/// The longest answer that is plausible.
const MAX_MILLIS: u64 = 24 * 60 * 60 * 1000;

object! {
    struct Usage {
        model: Text<'a> = "model",
        call: Text<'a> = "apiCallId",
        input: Count = "inputTokens",
        output: Count = "outputTokens",
        cache_read: Count = "cacheReadTokens",
        cache_write: Count = "cacheWriteTokens",
        reasoning: Count = "reasoningTokens",
        took: Count = "duration",
        effort: Text<'a> = "reasoningEffort",
    }
    struct Metrics {
        usage: Held<Usage<'a>> = "usage",
    }
    struct Data {
        session: Text<'a> = "sessionId",
        version: Text<'a> = "copilotVersion",
        effort: Text<'a> = "reasoningEffort",
        usage: Held<Usage<'a>> = "usage",
        message: Text<'a> = "messageId",
        call: Text<'a> = "apiCallId",
        model: Text<'a> = "model",
        output: Count = "outputTokens",
        metrics: Named<'a, Metrics<'a>> = "modelMetrics",
        reason: Text<'a> = "reason",
        status: Count = "statusCode",
        error: Text<'a> = "errorType" | "failureKind",
    }
    struct Line {
        kind: Text<'a> = "type",
        id: Text<'a> = "id",
        time: Time = "timestamp",
        session: Text<'a> = "sessionId",
        exit: Count = "exitCode",
        data: Held<Data<'a>> = "data",
    }
}

impl Usage<'_> {
    fn counts(&self) -> Counts {
        let cached = [self.cache_read, self.cache_write].iter().filter_map(|count| count.get()).sum();
        let input = match self.input {
            Count::Of(input) => Count::Of(input.saturating_sub(cached)),
            Count::Absent | Count::Bad => self.input,
        };
        Counts {
            output: self.output,
            input,
            cache_read: self.cache_read,
            cache_write: self.cache_write,
            reasoning: self.reasoning,
            cost: Price::Absent,
        }
    }
}

/// Takes the lines of one file, in order.
#[derive(Debug, Default)]
pub struct Reader {
    session: Option<String>,
    effort: Option<String>,
    /// When the open turn began.
    began: Option<Timestamp>,
    /// A record stands in the open turn whose answer has not come.
    recorded: bool,
    /// A try failed, and nothing came since.
    failed: bool,
    book: Book,
}

impl Reader {
    watched!(Format::CopilotCli);

    /// Takes one line; says whether it could be read.
    pub fn line(&mut self, line: &str) -> bool {
        read_line!(Line<'_>, line, self.book.health, |line| self.take(&line))
    }

    fn take(&mut self, line: &Line<'_>) {
        self.book.saw(line.time.0);
        let data = line.data.clone().or_empty();
        match line.kind.word() {
            "session.start" | "session.resume" => {
                self.book.version(data.version.get());
                self.named(data.session.get());
                self.effort = data.effort.get().map(str::to_owned).or(self.effort.take());
            }
            "session.model_change" => self.effort = data.effort.get().map(str::to_owned),
            "assistant.turn_start" => {
                self.began = line.time.0;
                self.recorded = false;
            }
            "session.usage_record" => self.record(line, &data),
            "assistant.message" => self.message(line, &data),
            "session.shutdown" => self.shutdown(line, &data),
            "session.compaction_complete" => self.book.health.compactions += 1,
            // what is printed tells each try, and at last the failure of the turn once more
            "session.error" if core::mem::take(&mut self.failed) => {}
            kind @ ("session.error" | "model.call_failure") => {
                self.failed = kind == "model.call_failure";
                let status = data.status.get().map(|status| status.to_string());
                self.book.health.error(status.as_deref().unwrap_or_else(|| data.error.word()));
            }
            "abort" => self.book.health.error(data.reason.get().unwrap_or("abort")),
            "result" => self.result(line),
            quiet if QUIET.iter().any(|family| quiet.starts_with(family)) => {}
            other => self.book.health.unknown(other),
        }
    }

    fn named(&mut self, session: Option<&str>) {
        self.book.session(session);
        self.session = session.map(str::to_owned).or(self.session.take());
    }

    fn record(&mut self, line: &Line<'_>, data: &Data<'_>) {
        let Some(usage) = &data.usage.0 else { return };
        self.recorded = true;
        let took = usage.took.within(MAX_MILLIS).get();
        let counts = usage.counts();
        let sent = line.time.0.zip(took).map(|(end, took)| end.before(Millis::new(took)));
        self.row(&Row {
            key: id(&usage.call).map_or(Key::Own, Key::Message),
            session: None,
            start: sent.or(self.began),
            end: line.time.0,
            model: usage.model.get(),
            effort: usage.effort.get(),
            usage: counts,
            last: !counts.is_nothing(),
            side: false,
        });
    }

    fn message(&mut self, line: &Line<'_>, data: &Data<'_>) {
        let recorded = core::mem::take(&mut self.recorded);
        self.failed = false;
        let call = id(&data.call);
        if recorded && (call.is_none() || data.output == Count::Absent) {
            return;
        }
        let usage = Counts { output: data.output, ..Counts::default() };
        self.row(&Row {
            key: call.or(id(&data.message)).map_or(Key::Own, Key::Message),
            session: None,
            start: self.began,
            end: line.time.0,
            model: data.model.get(),
            effort: None,
            usage,
            last: !usage.is_nothing(),
            side: false,
        });
    }

    fn row(&mut self, row: &Row<'_>) {
        let (session, effort) = (self.session.clone(), self.effort.clone());
        self.book.row(&Row { session: session.as_deref(), effort: row.effort.or(effort.as_deref()), ..*row });
    }

    fn shutdown(&mut self, line: &Line<'_>, data: &Data<'_>) {
        let output = data.metrics.0.iter();
        let output =
            output.filter_map(|(model, metrics)| Some((Some(model.as_ref()), metrics.usage.0.as_ref()?.output)));
        let session = self.session.clone();
        self.book.total(&Total {
            id: line.id.get(),
            session: session.as_deref(),
            time: line.time.0,
            output: output.collect(),
            extent: Extent::Running(Fall::Restart),
            ..Total::default()
        });
    }

    fn result(&mut self, line: &Line<'_>) {
        self.named(line.session.get());
        self.book.belong_to(line.session.get());
        let session = self.session.clone();
        self.book.total(&Total {
            session: session.as_deref(),
            time: line.time.0,
            // the program exits with 0 after a signal and a refusal too
            ok: line.exit.get().filter(|&code| code != 0).map(|_| false),
            result: true,
            ..Total::default()
        });
    }

    /// Closes the file.
    #[must_use]
    pub fn finish(self) -> Log {
        self.book.close(Format::CopilotCli)
    }
}

/// The id, where it is one.
fn id<'a>(text: &'a Text<'_>) -> Option<&'a str> {
    text.get().filter(|id| !id.contains(' '))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::join;
    use crate::engine::{Grade, Tokens};
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn event(kind: &str, at: u32, data: &Value) -> Value {
        json!({"type": kind, "id": format!("e{at}"), "timestamp": format!("2026-11-30T15:57:{at:02}Z"), "data": data})
    }

    fn start(effort: &Value) -> Value {
        event("session.start", 0, &json!({"sessionId": "s", "copilotVersion": "1.0.102", "reasoningEffort": effort}))
    }

    fn record(at: u32, call: &str, output: u64) -> Value {
        let usage = json!({"model": "m", "apiCallId": call, "inputTokens": 2400, "outputTokens": output, "cacheReadTokens": 900,
                           "cacheWriteTokens": 100, "reasoningTokens": 30, "duration": 2000, "reasoningEffort": "low"});
        event("session.usage_record", at, &json!({"usage": usage}))
    }

    fn message(at: u32, call: &str, output: &Value) -> Value {
        let data = json!({"messageId": format!("m{at}"), "apiCallId": call, "model": "m", "outputTokens": output});
        event("assistant.message", at, &data)
    }

    fn turn(at: u32) -> Value {
        event("assistant.turn_start", at, &json!({"turnId": "0"}))
    }

    fn totals(at: u32, output: u64) -> Value {
        event(
            "session.shutdown",
            at,
            &json!({"modelMetrics": {"m": {"requests": {"count": 2}, "usage": {"outputTokens": output}}}}),
        )
    }

    fn read(lines: &[Value]) -> Log {
        let mut reader = Reader::default();
        for line in lines {
            assert!(reader.line(&line.to_string()));
        }
        reader.finish()
    }

    fn outputs(log: &Log) -> Vec<(u64, Grade)> {
        log.turns.iter().map(|turn| (turn.record.output.count(), turn.record.grade)).collect()
    }

    #[test]
    fn a_record_and_its_message_are_one_call() {
        let log = read(&[
            start(&json!("high")),
            turn(1),
            record(5, "call-1", 120),
            message(6, "call-1", &Value::Null),
            turn(7),
            record(9, "call-2", 33),
            message(10, "[stripped 9 chars]", &Value::Null),
            totals(11, 153),
        ]);
        assert_eq!(outputs(&log), [(120, Grade::Known), (33, Grade::Known)]);
        let record = &log.turns[0].record;
        assert_eq!(record.end.since(record.start.unwrap()).count(), 2000);
        assert_eq!((record.input, record.cache_read), (Some(Tokens::new(1400)), Some(Tokens::new(900))));
        assert_eq!((record.effort_confirmed.as_deref(), record.session.as_deref()), (Some("low"), Some("s")));
        let stated = log.stated.unwrap();
        assert_eq!((stated.counted.count(), stated.stated.count()), (153, 153));
        assert_eq!((log.health.unknown_types, log.health.lost_lines()), (0, 0));
    }

    #[test]
    fn older_logs_count_by_message_and_take_the_effort_of_the_session() {
        let log = read(&[
            start(&Value::Null),
            event("session.model_change", 0, &json!({"newModel": "m", "reasoningEffort": "medium"})),
            turn(1),
            message(4, "[stripped 9 chars]", &json!(39)),
            turn(5),
            message(7, "[stripped 9 chars]", &json!(0)),
            turn(8),
            event("abort", 9, &json!({"reason": "user_initiated"})),
        ]);
        assert_eq!(outputs(&log), [(39, Grade::Known), (0, Grade::Unknown)], "a zero and nothing beside it");
        let record = &log.turns[0].record;
        assert_eq!((record.effort_confirmed.as_deref(), record.input), (Some("medium"), None));
        assert_eq!(record.end.since(record.start.unwrap()).count(), 3000);
        assert_eq!((log.health.error_kinds["user_initiated"], log.stated), (1, None));
    }

    #[test]
    fn totals_that_run_on_settle_what_the_messages_leave_open() {
        let log = read(&[
            start(&Value::Null),
            message(1, "c1", &json!("many")),
            totals(2, 50),
            message(3, "c2", &json!(10)),
            totals(4, 70),
        ]);
        let joined = join(&[log]);
        let shown: Vec<_> =
            joined.turns.iter().map(|turn| (turn.output.count(), turn.grade, turn.counts_as_turn)).collect();
        let known = Grade::Known;
        assert_eq!(shown, [(50, Grade::Estimated, true), (10, known, true), (10, known, false)]);
    }

    #[test]
    fn what_it_prints_has_calls_without_counts() {
        let printed = |code: u64| {
            read(&[
                turn(1),
                message(2, "c1", &Value::Null),
                event("model.call_failure", 3, &json!({"statusCode": 500, "failureKind": "api"})),
                event("session.error", 3, &json!({"statusCode": 500, "errorType": "query"})),
                json!({"type": "result", "timestamp": "2026-11-30T15:57:05Z", "sessionId": "s", "exitCode": code, "usage": {}}),
            ])
        };
        let log = printed(1);
        assert_eq!(outputs(&log), [(0, Grade::Unknown)]);
        assert_eq!(
            (log.turns[0].record.session.as_deref(), log.closings[0].ok, log.results),
            (Some("s"), Some(false), 1)
        );
        assert_eq!((printed(0).closings[0].ok, log.health.error_kinds["500"]), (None, 1));
        let both = join(&[log, read(&[start(&Value::Null), record(2, "c1", 77)])]);
        assert_eq!((both.turns.len(), both.turns[0].output.count(), both.sessions), (1, 77, 1));
    }

    proptest! {
        #[test]
        fn damaged_lines_never_make_it_panic(at in 0_usize..300, mark in any::<char>()) {
            let text = record(1, "c", 5).to_string();
            let text: String = text.chars().enumerate().map(|(nth, own)| if nth == at { mark } else { own }).collect();
            let mut reader = Reader::default();
            let _ = reader.line(&text);
            let _ = reader.finish();
        }
    }
}
