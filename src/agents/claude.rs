//! Claude Code session files: `<session>.jsonl` and the `agent-*.jsonl` of subagents.
//!
//! One call is one `message.id`. The program writes a line for each block of an answer and repeats the usage on each,
//! sometimes with a start value on all but the last, so a call's counts are the largest of its lines, and they are
//! trusted only if a line of the call has a `stop_reason` (before 2.1.59 most calls never get one: their
//! counts are placeholders, and the call's grade is unknown with an output of 0). Messages of the model `<synthetic>` and API
//! error messages are made up by the program and are no calls. Sidechain lines count. `usage.iterations` repeats
//! the counts and is not read.
//!
//! A call ends with its last line and starts with the last line before it that was sent to the model on the same
//! chain: a `user` line (a prompt or a tool's result) or an `api-request`. Output includes thinking; how much
//! of it is thinking is not said. The rules follow public logs of 2.0 to 2.1.219 and the reports on the program's own tracker
//! (anthropics/claude-code 22686, 28197, 87303, 6805).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use super::json::{self, Count, MAX_PER_CALL};
use super::log::{Log, LogTurn, TurnKey};
use super::{Format, Health};
use crate::engine::{Grade, Timestamp, Tokens, TurnRecord};

/// The name by which records of this reader go.
pub const SOURCE: &str = "claude-session";

/// Line types that carry no usage.
const QUIET: [&str; 17] = [
    "user",
    "system",
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
    "api-request",
    "cost-state",
    "agent-name",
    "permission-mode",
];

#[derive(Debug)]
struct Call {
    id: Arc<str>,
    session: Option<Arc<str>>,
    model: Option<Arc<str>>,
    effort: Option<Arc<str>>,
    start: Option<Timestamp>,
    end: Option<Timestamp>,
    stopped: bool,
    output: Option<u64>,
    input: Option<u64>,
    cache_read: Option<u64>,
    cache_write: Option<u64>,
}

/// Takes the lines of one file, in order.
#[derive(Debug, Default)]
pub struct Reader {
    calls: Vec<Call>,
    places: BTreeMap<Arc<str>, usize>,
    sessions: BTreeSet<Arc<str>>,
    /// The last moment something was sent to the model: on the main chain, on side chains.
    sent: [Option<Timestamp>; 2],
    last_time: Option<Timestamp>,
    /// What was odd so far.
    pub health: Health,
}

impl Reader {
    /// Takes one line, already parsed.
    pub fn line(&mut self, line: &Value) {
        let time = json::time(line, "timestamp");
        self.last_time = self.last_time.max(time);
        let side = usize::from(line.get("isSidechain").and_then(Value::as_bool) == Some(true));
        match json::text(line, "type") {
            Some("assistant") => self.assistant(line, time, side),
            Some("user" | "api-request") => self.sent[side] = time.or(self.sent[side]),
            Some("system") => {
                self.health.errors += u64::from(json::text(line, "subtype") == Some("api_error"));
            }
            Some(quiet) if QUIET.contains(&quiet) => {}
            Some(other) => self.health.unknown(other),
            None => self.health.unknown(""),
        }
    }

    fn assistant(&mut self, line: &Value, time: Option<Timestamp>, side: usize) {
        let nothing = Value::Null;
        let message = line.get("message").unwrap_or(&nothing);
        let model = json::text(message, "model");
        if model == Some("<synthetic>") || line.get("isApiErrorMessage").and_then(Value::as_bool) == Some(true) {
            self.health.synthetic += 1;
            return;
        }
        let named =
            json::text(message, "id").or_else(|| json::text(line, "requestId")).or_else(|| json::text(line, "uuid"));
        let Some(id) = named else {
            self.health.unreadable += 1;
            return;
        };
        let session = json::text(line, "sessionId").map(|session| self.session(session));
        let place = if let Some(&place) = self.places.get(id) {
            self.health.repeats += 1;
            place
        } else {
            let id: Arc<str> = id.into();
            self.places.insert(Arc::clone(&id), self.calls.len());
            self.calls.push(Call {
                id,
                session: None,
                model: None,
                effort: None,
                start: self.sent[side],
                end: None,
                stopped: false,
                output: None,
                input: None,
                cache_read: None,
                cache_write: None,
            });
            self.calls.len() - 1
        };
        let bad = self.calls[place].take(line, message, time, session);
        self.health.bad_numbers += bad;
    }

    fn session(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.sessions.get(name) {
            return Arc::clone(known);
        }
        let name: Arc<str> = name.into();
        self.sessions.insert(Arc::clone(&name));
        name
    }

    /// Closes the file.
    #[must_use]
    pub fn finish(mut self) -> Log {
        let fallback = self.last_time.unwrap_or(Timestamp::EPOCH);
        let mut turns = Vec::with_capacity(self.calls.len());
        for call in self.calls {
            self.health.bad_times += u64::from(call.end.is_none());
            let record = call.record(fallback);
            self.health.placeholders += u64::from(record.grade == Grade::Unknown);
            turns.push(LogTurn { key: TurnKey::Message(call.id), record });
        }
        Log { format: Format::ClaudeSession, lineage: self.sessions, forked: false, turns, health: self.health }
    }
}

impl Call {
    /// Takes one line of the call; how many of its numbers were refused.
    fn take(&mut self, line: &Value, message: &Value, time: Option<Timestamp>, session: Option<Arc<str>>) -> u64 {
        self.session = session.or(self.session.take());
        renew(&mut self.model, json::text(message, "model"));
        renew(&mut self.effort, json::text(line, "effort"));
        self.end = self.end.max(time);
        self.stopped |= json::text(message, "stop_reason").is_some();
        let Some(usage) = message.get("usage") else { return 0 };
        let parts = [
            (&mut self.output, "output_tokens"),
            (&mut self.input, "input_tokens"),
            (&mut self.cache_read, "cache_read_input_tokens"),
            (&mut self.cache_write, "cache_creation_input_tokens"),
        ];
        let mut bad = 0;
        for (part, key) in parts {
            let count = json::count(usage, key, MAX_PER_CALL);
            bad += u64::from(count == Count::Bad);
            *part = (*part).max(count.get());
        }
        bad
    }

    fn record(&self, fallback: Timestamp) -> TurnRecord {
        let known = self.output.filter(|_| self.stopped);
        let end = self.end.unwrap_or(fallback);
        let mut record = TurnRecord::new(1, end, Tokens::new(known.unwrap_or(0)), SOURCE);
        record.grade = if known.is_some() { Grade::Known } else { Grade::Unknown };
        record.id = Some(Arc::clone(&self.id));
        record.session.clone_from(&self.session);
        record.start = self.start.filter(|&start| self.end.is_some() && start <= end);
        record.model.clone_from(&self.model);
        record.effort_confirmed.clone_from(&self.effort);
        record.input = self.input.map(Tokens::new);
        record.cache_read = self.cache_read.map(Tokens::new);
        record.cache_write = self.cache_write.map(Tokens::new);
        record
    }
}

fn renew(word: &mut Option<Arc<str>>, stated: Option<&str>) {
    if let Some(stated) = stated
        && word.as_deref() != Some(stated)
    {
        *word = Some(stated.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
            reader.line(line);
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
        assert_eq!(turn.record.start, json::parse_time(T[0]));
        assert_eq!(Some(turn.record.end), json::parse_time(T[3]));
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
        assert_eq!((log.turns.len(), log.health.synthetic, log.health.errors), (0, 2, 1));
    }

    #[test]
    fn a_side_chain_counts_and_has_a_start_of_its_own() {
        let mut side = assistant("side", T[3], Some("end_turn"), &json!(5));
        side["isSidechain"] = json!(true);
        let log =
            read(&[user(T[0], true), user(T[2], false), side, json!({"type": "brand-new"}), json!({"no": "type"})]);
        assert_eq!(log.turns[0].record.start, json::parse_time(T[0]));
        assert_eq!(log.health.unknown_types, 2);
    }

    #[test]
    fn a_call_without_a_time_stands_at_the_last_time_read() {
        let mut timeless = assistant("m", "not a time", Some("end_turn"), &json!(5));
        timeless["message"]["id"] = Value::Null;
        timeless["uuid"] = json!("u");
        let log = read(&[user(T[1], false), timeless]);
        assert_eq!((Some(log.turns[0].record.end), log.turns[0].record.start), (json::parse_time(T[1]), None));
        assert_eq!(log.health.bad_times, 1);
    }
}
