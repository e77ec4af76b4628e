//! pi: its session files (versions 1 to 3), and what `pi -p --mode json` prints. Both hold the same messages.
//!
//! A call is a message of the role `assistant`: a `message` entry of a session file, a `message_end` line of the output. The
//! output says the same message again in `turn_end` and `agent_end`; these are not read, nor are the growing counts of
//! `message_update`. Output includes reasoning, input excludes the cache.
//!
//! A call is known by its response id. Where there is none, or one too short to be unique (servers number their answers from
//! 0 to 999), it is known by the moment of the request and the model, which a branched session's copy of the history keeps
//! too; else by the entry's id within its session.
//!
//! An answer costs input at least, so a message whose counts are all zero was not measured. A failed request that brought
//! nothing back (`stopReason` is `error`, no response, no content) is an error and no call. Any other message without counts, such as
//! one that was aborted, is a call of unknown count, and so is one that began and never ended. Zero output beside known input is a count.
//! A message that failed or was aborted has the counts of the last event that came, often those of the answer's start.
//! Newer versions tell the two apart: without a `rawStopReason` the backend had not finished, and the count is unknown; nor is it known
//! where that reason is one which pi does not know (`Unhandled stop reason`): it gives up before it reads the counts beside it. Older
//! ones (without `durationMs`) tell nothing, and are believed, which may be less than what was spent.
//!
//! The inner time is when the request was sent, the outer when the entry was written. The effort is the message's own
//! `thinkingLevel`, else the last level set: going through the levels writes several changes at once. The call that sums
//! a history up for a compaction is not in the log.
//!
//! Source: public logs of November 2025, runs of 1.6.0 against a scripted server, and the program's own tracker
//! (earendil-works/pi 6445).

use super::book::{Book, Key, Row, Total, Touched, Usage as Counts};
use super::loose::{Count, Flag, Held, List, Price, Text, Time, object, read_line};
use super::{Format, Log};
use crate::engine::{Millis, Timestamp};

/// Line types that carry no usage, or repeat it.
const QUIET: [&str; 21] = [
    "message_update",
    "turn_start",
    "turn_end",
    "agent_start",
    "agent_settled",
    "tool_execution_start",
    "tool_execution_update",
    "tool_execution_end",
    "auto_retry_start",
    "auto_retry_end",
    "entry_appended",
    "queue_update",
    "compaction_start",
    "context_edit",
    "branch_summary",
    "custom",
    "custom_message",
    "label",
    "session_info",
    "session_info_changed",
    "thinking_level_changed",
];

/// The shortest response id that is taken to be unique, in bytes: `chatcmpl-123` is not.
const UNIQUE: usize = 16;

/// The longest answer that is plausible.
const MAX_MILLIS: u64 = 24 * 60 * 60 * 1000;

object! {
    struct Cost {
        total: Price = "total",
    }
    struct Usage {
        input: Count = "input",
        output: Count = "output",
        cache_read: Count = "cacheRead",
        cache_write: Count = "cacheWrite",
        reasoning: Count = "reasoning",
        cost: Held<Cost<'a>> = "cost",
    }
    struct Block {
        kind: Text<'a> = "type",
    }
    struct Message {
        role: Text<'a> = "role",
        model: Text<'a> = "model",
        usage: Held<Usage<'a>> = "usage",
        stop: Text<'a> = "stopReason",
        raw_stop: Text<'a> = "rawStopReason",
        error: Text<'a> = "errorMessage",
        sent: Time = "timestamp",
        response: Text<'a> = "responseId",
        took: Count = "durationMs",
        level: Text<'a> = "thinkingLevel",
        content: List<Block<'a>> = "content",
    }
    struct Line {
        kind: Text<'a> = "type",
        id: Text<'a> = "id",
        time: Time = "timestamp",
        message: Held<Message<'a>> = "message",
        level: Text<'a> = "thinkingLevel",
        model: Text<'a> = "modelId",
        parent: Text<'a> = "parentSession" | "branchedFrom",
        again: Flag = "willRetry",
    }
}

impl Usage<'_> {
    fn counts(&self) -> Counts {
        Counts {
            output: self.output,
            input: self.input,
            cache_read: self.cache_read,
            cache_write: self.cache_write,
            reasoning: self.reasoning,
            cost: self.cost.0.as_ref().map_or(Price::Absent, |cost| cost.total),
        }
    }
}

/// A message that began and has not ended.
#[derive(Debug)]
struct Begun {
    key: Option<String>,
    sent: Option<Timestamp>,
    model: Option<String>,
}

/// Takes the lines of one file, in order.
#[derive(Debug, Default)]
pub struct Reader {
    printed: bool,
    session: Option<String>,
    level: Option<String>,
    model: Option<String>,
    begun: Option<Begun>,
    /// The last call of the run, and whether it went well.
    last: Option<(Option<String>, bool)>,
    book: Book,
}

impl Reader {
    /// From now on the calls can be seen while it reads.
    pub fn watch(&mut self) {
        self.book.watch();
    }

    /// Hands over the calls that changed since it was last asked.
    pub fn drain_touched(&mut self, out: &mut Vec<Touched>) {
        self.book.drain_touched(self.format(), out);
    }

    const fn format(&self) -> Format {
        if self.printed { Format::PiJson } else { Format::PiSession }
    }

    /// Takes one line; says whether it could be read.
    pub fn line(&mut self, line: &str) -> bool {
        read_line!(Line<'_>, line, self.book.health, |line| self.take(&line))
    }

    fn take(&mut self, line: &Line<'_>) {
        self.book.saw(line.time.0);
        let kind = line.kind.word();
        match kind {
            "session" => self.header(line),
            "message" => self.message(line),
            "message_end" => {
                self.printed = true;
                self.message(line);
            }
            "message_start" => {
                self.printed = true;
                self.start(line);
            }
            "thinking_level_change" => self.level = line.level.get().map(str::to_owned),
            "model_change" => self.model = line.model.get().map(str::to_owned),
            "compaction" | "compaction_end" => self.book.health.compactions += 1,
            "agent_end" => {
                self.printed = true;
                self.ended(line);
            }
            quiet if QUIET.contains(&quiet) => self.printed |= kind.starts_with("agent") || kind.starts_with("turn"),
            other => self.book.health.unknown(other),
        }
    }

    fn header(&mut self, line: &Line<'_>) {
        if let Some(parent) = line.parent.get() {
            self.book.forked();
            // a path that ends in `<time>_<session>.jsonl`
            let name = parent.rsplit(['/', '\\', '_']).next().unwrap_or(parent);
            self.book.session(Some(name.strip_suffix(".jsonl").unwrap_or(name)));
        }
        self.book.session(line.id.get());
        self.session = line.id.get().map(str::to_owned);
        self.level = line.level.get().map(str::to_owned);
        self.model = line.model.get().map(str::to_owned);
    }

    fn start(&mut self, line: &Line<'_>) {
        let message = line.message.clone().or_empty();
        if message.role.word() == "assistant" {
            self.unfinished();
            self.begun = Some(Begun {
                key: message.response.get().map(str::to_owned),
                sent: message.sent.0,
                model: message.model.get().map(str::to_owned),
            });
        }
    }

    fn message(&mut self, line: &Line<'_>) {
        let message = line.message.clone().or_empty();
        self.book.saw(message.sent.0);
        if message.role.word() != "assistant" {
            return;
        }
        self.begun = None;
        let usage = message.usage.0.as_ref().map(Usage::counts).unwrap_or_default();
        let (stop, nothing) = (message.stop.word(), usage.is_nothing());
        let failed = matches!(stop, "error" | "aborted");
        if failed {
            self.book.health.error(error(&message));
        }
        let unread = message.raw_stop.get().is_none() || message.error.word().starts_with("Unhandled stop reason");
        let cut = failed && message.took != Count::Absent && unread;
        let key = key(&message, line.id.get(), self.session.as_deref());
        self.last = Some((key.clone(), matches!(stop, "stop" | "toolUse")));
        if nothing && stop == "error" && message.response.get().is_none() && message.content.0.is_empty() {
            self.book.health.synthetic += 1;
            return;
        }
        let took = message.took.within(MAX_MILLIS).get();
        let ended = message.sent.0.zip(took).map(|(sent, took)| sent.after(Millis::new(took)));
        self.book.row(&Row {
            key: key.as_deref().map_or(Key::Own, Key::Message),
            session: self.session.as_deref(),
            start: message.sent.0,
            end: ended.or(line.time.0),
            model: message.model.get().or(self.model.as_deref()),
            effort: message.level.get().or(self.level.as_deref()),
            usage,
            last: !nothing && !cut,
            side: false,
        });
    }

    /// The message that began did not end: a call of which nothing is known.
    fn unfinished(&mut self) {
        let Some(begun) = self.begun.take() else { return };
        let key = begun.key.filter(|id| id.len() >= UNIQUE);
        let key = key.or_else(|| begun.sent.map(|sent| moment(sent, begun.model.as_deref().unwrap_or(""))));
        self.book.row(&Row {
            key: key.as_deref().map_or(Key::Own, Key::Message),
            session: self.session.as_deref(),
            start: begun.sent,
            end: None,
            model: begun.model.as_deref(),
            effort: self.level.as_deref(),
            usage: Counts::default(),
            last: false,
            side: false,
        });
    }

    fn ended(&mut self, line: &Line<'_>) {
        if line.again.is_set() {
            return;
        }
        let (id, ok) = self.last.take().unwrap_or((None, false));
        let session = self.session.clone();
        self.book.total(&Total {
            id: id.as_deref(),
            session: session.as_deref(),
            ok: Some(ok),
            result: true,
            ..Total::default()
        });
    }

    /// Closes the file.
    #[must_use]
    pub fn finish(mut self) -> Log {
        self.unfinished();
        let format = self.format();
        self.book.close(format)
    }
}

/// By what a call is known, where it is.
fn key(message: &Message<'_>, entry: Option<&str>, session: Option<&str>) -> Option<String> {
    let response = message.response.get().filter(|id| id.len() >= UNIQUE).map(str::to_owned);
    let at = || message.sent.0.map(|sent| moment(sent, message.model.word()));
    response.or_else(at).or_else(|| Some(format!("{}/{}", session?, entry?)))
}

fn moment(sent: Timestamp, model: &str) -> String {
    format!("pi/{}/{model}", sent.millis())
}

/// The kind of a failure: the status that its text begins with, what the backend called it, or what pi did.
fn error<'a>(message: &'a Message<'_>) -> &'a str {
    let status = message.error.word().split(' ').next().unwrap_or("");
    if status.len() == 3 && status.bytes().all(|byte| byte.is_ascii_digit()) {
        return status;
    }
    message.raw_stop.get().unwrap_or_else(|| message.stop.word())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Grade, Tokens};
    use proptest::prelude::*;
    use serde_json::{Value, json};

    const SENT: u64 = 1_796_053_454_000;

    fn usage(input: u64, output: u64) -> Value {
        json!({"input": input, "output": output, "cacheRead": 0, "cacheWrite": 0, "reasoning": output / 2, "cost": {"total": 0.5}})
    }

    fn answer(at: u64, stop: &str, usage: &Value) -> Value {
        json!({"role": "assistant", "model": "m", "stopReason": stop, "timestamp": SENT + at, "usage": usage,
               "content": [], "responseId": format!("msg_with_a_long_id_{at}"), "thinkingLevel": "high", "durationMs": 250})
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
    fn the_same_message_in_three_events_is_one_call_and_the_file_and_the_output_agree() {
        let message = answer(0, "stop", &usage(500, 20));
        let header =
            json!({"type": "session", "version": 3, "id": "s", "timestamp": "2026-11-30T15:44:14.000Z", "cwd": "/"});
        let printed = read(&[
            header.clone(),
            json!({"type": "message_start", "message": message}),
            json!({"type": "message_update", "usage": usage(500, 9)}),
            json!({"type": "message_end", "message": message}),
            json!({"type": "turn_end", "message": message}),
            json!({"type": "agent_end", "messages": [message], "willRetry": false}),
        ]);
        let filed = read(&[
            header,
            json!({"type": "message", "id": "e", "timestamp": "2026-11-30T15:44:15.000Z", "message": message}),
        ]);
        assert_eq!((printed.format, filed.format), (Format::PiJson, Format::PiSession));
        assert_eq!(outputs(&printed), [(20, Grade::Known)]);
        let record = &printed.turns.at(0).record;
        assert_eq!((record.start.unwrap().millis(), record.end.millis()), (SENT, SENT + 250));
        assert_eq!((record.effort_confirmed.as_deref(), record.reasoning), (Some("high"), Some(Tokens::new(10))));
        assert_eq!(record.cost.unwrap().count(), 500_000);
        assert_eq!((printed.results, printed.closings[0].ok), (1, Some(true)));
        assert_eq!(printed.turns.at(0).key, filed.turns.at(0).key);
        assert_eq!(printed.turns.at(0).record.session, filed.turns.at(0).record.session);
    }

    #[test]
    fn what_a_failed_or_aborted_message_says_and_leaves_out() {
        let line = |message: &Value| json!({"type": "message", "id": "e", "message": message});
        let mut failed = answer(3, "error", &usage(0, 0));
        failed["responseId"] = Value::Null;
        failed["errorMessage"] = json!("529 overloaded");
        let mut old = answer(8, "aborted", &usage(100, 24));
        old.as_object_mut().unwrap().remove("durationMs");
        let mut refused = answer(9, "error", &usage(100, 12));
        refused["rawStopReason"] = json!("refusal");
        let mut strange = answer(10, "error", &usage(100, 1));
        strange["rawStopReason"] = json!("model_context_window_exceeded");
        strange["errorMessage"] = json!("Unhandled stop reason: model_context_window_exceeded");
        let log = read(&[
            line(&answer(1, "toolUse", &usage(100, 30))),
            line(&answer(2, "stop", &usage(500, 0))),
            line(&failed),
            line(&answer(4, "aborted", &usage(0, 0))),
            line(&answer(5, "aborted", &usage(100, 1))),
            line(&old),
            line(&refused),
            line(&answer(6, "error", &Value::Null)),
            line(&answer(7, "stop", &json!({"input": 5, "output": "7"}))),
            line(&strange),
        ]);
        let (known, unknown) = (Grade::Known, Grade::Unknown);
        let open = (0, unknown);
        assert_eq!(outputs(&log), [(30, known), (0, known), open, open, (24, known), (12, known), open, open, open]);
        assert_eq!((log.health.errors, log.health.synthetic, log.health.bad_numbers), (7, 1, 1));
        assert_eq!((log.health.error_kinds["529"], log.health.error_kinds["aborted"]), (1, 3));
        assert_eq!(log.health.error_kinds["refusal"], 1);
    }

    #[test]
    fn a_message_that_began_and_never_ended_is_a_call_of_unknown_count() {
        let start = |at: u64| {
            let mut message = answer(at, "pending", &usage(900, 1));
            message["responseId"] = Value::Null;
            json!({"type": "message_start", "message": message})
        };
        let end = json!({"type": "message_end", "message": answer(0, "stop", &usage(900, 8))});
        let log = read(&[start(0), end, start(9)]);
        assert_eq!(outputs(&log), [(8, Grade::Known), (0, Grade::Unknown)]);
        assert_eq!(log.results, 0);
    }

    #[test]
    fn the_last_of_several_levels_counts_and_old_files_have_times_for_keys() {
        let level = |level: &str| json!({"type": "thinking_level_change", "thinkingLevel": level});
        let old = |at: u64| {
            let mut message = answer(at, "stop", &usage(1, 2));
            for key in ["responseId", "thinkingLevel", "durationMs"] {
                message.as_object_mut().unwrap().remove(key);
            }
            json!({"type": "message", "timestamp": "2026-11-30T15:44:20Z", "message": message})
        };
        let header = json!({"type": "session", "id": "a", "thinkingLevel": "off"});
        let log = read(&[header, old(1), level("low"), level("medium"), level("high"), old(2)]);
        let efforts: Vec<_> = log.turns.iter().map(|turn| turn.record.effort_confirmed.unwrap().to_string()).collect();
        assert_eq!(efforts, ["off", "high"]);
        assert_eq!(log.turns.at(0).record.end.millis(), 1_796_053_460_000);
        let branch =
            json!({"type": "session", "id": "b", "branchedFrom": "/u/sessions/2025-11-20T23-33-50-805Z_a.jsonl"});
        let copy = read(&[branch, old(1), old(5)]);
        assert!(copy.forked && copy.lineage.contains("a") && copy.lineage.contains("b"));
        assert_eq!(
            (copy.turns.at(0).key == log.turns.at(0).key, copy.turns.at(1).key == log.turns.at(1).key),
            (true, false)
        );
    }

    #[test]
    fn short_response_ids_are_no_keys() {
        let numbered = |at: u64| {
            let mut message = answer(at, "stop", &usage(1, 2));
            message["responseId"] = json!("chatcmpl-12");
            json!({"type": "message_end", "message": message})
        };
        assert_eq!(read(&[numbered(1), numbered(2), numbered(2)]).turns.len(), 2);
    }

    proptest! {
        #[test]
        fn damaged_lines_never_make_it_panic(at in 0_usize..400, byte in any::<char>(), end in 0_usize..400) {
            let line = json!({"type": "message_end", "id": "e", "message": answer(0, "stop", &usage(1, 2))}).to_string();
            let mut text: Vec<char> = line.chars().take(end).collect();
            if let Some(place) = text.get_mut(at) {
                *place = byte;
            }
            let mut reader = Reader::default();
            let _ = reader.line(&text.into_iter().collect::<String>());
            let _ = reader.finish();
        }
    }
}
