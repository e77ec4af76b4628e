//! Codex rollout files: `rollout-<time>-<thread>.jsonl`, lines of `{timestamp, type, payload}`.
//!
//! A call is a `token_count` event whose `info` is there and whose `total_token_usage` differs from the one before:
//! the program repeats unchanged totals. The call's counts are `last_token_usage`; its input includes the cached tokens (they
//! are taken off here) and its output the reasoning. Model and effort are those of the last `turn_context`.
//!
//! `token_count` is written after the tools have run. So a call ends with the last `response_item` that the model
//! made since the call before, and starts with the last thing sent to the model before the first of these: a message, or a tool's
//! output. Forked and subagent files replay their parent's history with new times; the running totals tell the copies. The rules follow public
//! rollouts of 0.140 to 0.142 and ccusage 897, 1288, 1370, 1371. `token_usage_record`, which newer versions write beside
//! `token_count`, says the same once more and is not counted.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use super::json::{self, Count, MAX_PER_CALL, MAX_TOTAL};
use super::log::{Log, LogTurn, TurnKey};
use super::{Format, Health};
use crate::engine::{Grade, Timestamp, Tokens, TurnRecord};

/// The name by which records of this reader go.
pub const SOURCE: &str = "codex-rollout";

const COUNTS: [&str; 5] =
    ["input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens", "total_tokens"];

const QUIET: [&str; 3] = ["compacted", "token_usage_record", "world_state"];

/// Items of a response that the model made; the others were sent to it.
const MADE: [&str; 7] = [
    "reasoning",
    "function_call",
    "custom_tool_call",
    "local_shell_call",
    "web_search_call",
    "tool_search_call",
    "image_generation_call",
];

/// Takes the lines of one file, in order.
#[derive(Debug, Default)]
pub struct Reader {
    turns: Vec<LogTurn>,
    lineage: BTreeSet<Arc<str>>,
    session: Option<Arc<str>>,
    forked: bool,
    model: Option<Arc<str>>,
    effort: Option<Arc<str>>,
    totals: Option<[u64; 5]>,
    /// When something was last sent to the model.
    sent: Option<Timestamp>,
    /// The answer in the making: when its request was sent, and its last item.
    answer: Option<(Option<Timestamp>, Option<Timestamp>)>,
    last_time: Option<Timestamp>,
    /// What was odd so far.
    pub health: Health,
}

impl Reader {
    /// Takes one line, already parsed.
    pub fn line(&mut self, line: &Value) {
        let time = json::time(line, "timestamp");
        self.last_time = self.last_time.max(time);
        let nothing = Value::Null;
        let payload = line.get("payload").unwrap_or(&nothing);
        match json::text(line, "type") {
            Some("session_meta") => self.meta(payload),
            Some("turn_context") => self.context(payload),
            Some("response_item") => self.item(payload, time),
            Some("event_msg") => self.event(payload, time),
            Some(quiet) if QUIET.contains(&quiet) => {}
            Some(other) => self.health.unknown(other),
            None => self.health.unknown(""),
        }
    }

    /// The first description is the file's own; later ones are those of the history that it copied.
    fn meta(&mut self, payload: &Value) {
        let own: Option<Arc<str>> =
            json::text(payload, "id").or_else(|| json::text(payload, "session_id")).map(Arc::from);
        let parent = json::text(payload, "forked_from_id");
        self.forked |=
            parent.is_some() || own.as_ref().is_some_and(|own| self.session.as_ref().is_some_and(|first| first != own));
        self.lineage.extend(parent.map(Arc::from));
        self.lineage.extend(own.clone());
        self.session = self.session.take().or(own);
    }

    fn context(&mut self, payload: &Value) {
        let settings = payload.pointer("/collaboration_mode/settings");
        let effort =
            json::text(payload, "effort").or_else(|| settings.and_then(|set| json::text(set, "reasoning_effort")));
        let model = json::text(payload, "model").or_else(|| settings.and_then(|set| json::text(set, "model")));
        self.effort = effort.map(Arc::from);
        self.model = model.map(Arc::from).or(self.model.take());
    }

    fn item(&mut self, payload: &Value, time: Option<Timestamp>) {
        let kind = json::text(payload, "type").unwrap_or("");
        let made = MADE.contains(&kind) || (kind == "message" && json::text(payload, "role") == Some("assistant"));
        if made {
            let (start, end) = self.answer.unwrap_or((self.sent, None));
            self.answer = Some((start, end.max(time)));
        } else {
            self.sent = time.or(self.sent);
        }
    }

    fn event(&mut self, payload: &Value, time: Option<Timestamp>) {
        match json::text(payload, "type") {
            Some("token_count") => self.counted(payload, time),
            Some("user_message") => self.sent = time.or(self.sent),
            Some("error" | "stream_error") => self.health.errors += 1,
            _ => {}
        }
    }

    fn counted(&mut self, payload: &Value, time: Option<Timestamp>) {
        let Some(info) = payload.get("info").filter(|info| info.is_object()) else { return };
        let Some(totals) = self.totals_of(info) else { return };
        if self.totals == Some(totals) {
            self.health.repeats += 1;
            return;
        }
        self.totals = Some(totals);
        let nothing = Value::Null;
        let last = info.get("last_token_usage").unwrap_or(&nothing);
        let counts = COUNTS.map(|key| json::count(last, key, MAX_PER_CALL));
        self.health.bad_numbers += counts.iter().map(|&count| u64::from(count == Count::Bad)).sum::<u64>();
        let [input, cached, output, reasoning, _] = counts.map(Count::get);

        let (start, end) = self.answer.take().unwrap_or((None, None));
        let end = end.or(time);
        self.health.bad_times += u64::from(end.is_none());
        let end = end.or(self.last_time).unwrap_or(Timestamp::EPOCH);
        let mut record = TurnRecord::new(1, end, Tokens::new(output.unwrap_or(0)), SOURCE);
        record.grade = if output.is_some() { Grade::Known } else { Grade::Unknown };
        self.health.placeholders += u64::from(output.is_none());
        record.session.clone_from(&self.session);
        record.start = start.filter(|&start| start <= end);
        record.model.clone_from(&self.model);
        record.effort_confirmed.clone_from(&self.effort);
        record.input = input.map(|input| Tokens::new(input.saturating_sub(cached.unwrap_or(0))));
        record.cache_read = cached.map(Tokens::new);
        record.reasoning = reasoning.map(Tokens::new);
        self.turns.push(LogTurn { key: TurnKey::Totals(totals), record });
    }

    fn totals_of(&mut self, info: &Value) -> Option<[u64; 5]> {
        let stated = info.get("total_token_usage").filter(|total| total.is_object())?;
        let counts = COUNTS.map(|key| json::count(stated, key, MAX_TOTAL));
        self.health.bad_numbers += counts.iter().map(|&count| u64::from(count == Count::Bad)).sum::<u64>();
        Some(counts.map(|count| count.get().unwrap_or(0)))
    }

    /// Closes the file.
    #[must_use]
    pub fn finish(self) -> Log {
        Log {
            format: Format::CodexRollout,
            lineage: self.lineage,
            forked: self.forked,
            turns: self.turns,
            health: self.health,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn line(at: u32, kind: &str, payload: &Value) -> Value {
        json!({"timestamp": format!("2026-01-01T00:00:{at:02}Z"), "type": kind, "payload": payload})
    }

    fn item(at: u32, kind: &str, role: &str) -> Value {
        line(at, "response_item", &json!({"type": kind, "role": role}))
    }

    fn counted(at: u32, total: u64, last: &Value) -> Value {
        let info = json!({"total_token_usage": {"output_tokens": total, "total_tokens": total + 10}, "last_token_usage": last});
        line(at, "event_msg", &json!({"type": "token_count", "info": info}))
    }

    fn read(lines: &[Value]) -> Log {
        let mut reader = Reader::default();
        for line in lines {
            reader.line(line);
        }
        reader.finish()
    }

    fn second(moment: Timestamp) -> u64 {
        moment.millis() / 1000 % 60
    }

    #[test]
    fn a_call_ends_with_the_models_last_item_and_repeats_are_passed_over() {
        let log = read(&[
            line(0, "session_meta", &json!({"id": "s"})),
            line(1, "turn_context", &json!({"model": "gpt-x", "effort": "xhigh"})),
            item(2, "message", "user"),
            line(3, "event_msg", &json!({"type": "token_count", "info": null})),
            item(5, "reasoning", ""),
            item(6, "function_call", ""),
            item(20, "function_call_output", ""),
            counted(
                21,
                100,
                &json!({"input_tokens": 50, "cached_input_tokens": 30, "output_tokens": 100, "reasoning_output_tokens": 40}),
            ),
            counted(22, 100, &json!({"output_tokens": 100})),
            line(23, "turn_context", &json!({"model": "gpt-y"})),
            item(25, "message", "assistant"),
            counted(30, 150, &json!({"output_tokens": 50})),
        ]);
        let [first, next] = &log.turns[..] else { panic!("two calls, not {:?}", log.turns) };
        assert_eq!((first.record.start.map(second), second(first.record.end)), (Some(2), 6));
        assert_eq!((next.record.start.map(second), second(next.record.end)), (Some(20), 25));
        assert_eq!((first.record.output.count(), next.record.output.count()), (100, 50));
        assert_eq!((first.record.input, first.record.cache_read), (Some(Tokens::new(20)), Some(Tokens::new(30))));
        assert_eq!(first.record.reasoning, Some(Tokens::new(40)));
        assert_eq!(
            (first.record.effort_confirmed.as_deref(), next.record.effort_confirmed.as_deref()),
            (Some("xhigh"), None)
        );
        assert_eq!((next.record.model.as_deref(), log.health.repeats), (Some("gpt-y"), 1));
    }

    #[test]
    fn counts_that_are_no_counts_leave_an_unknown_call() {
        let log = read(&[
            counted(1, 5, &json!({"output_tokens": "5"})),
            counted(2, 9, &Value::Null),
            counted(3, 12, &json!({"output_tokens": -3.5})),
            line(4, "event_msg", &json!({"type": "token_count", "info": {"total_token_usage": 7}})),
        ]);
        assert!(log.turns.iter().all(|turn| turn.record.grade == Grade::Unknown && turn.record.output == Tokens::ZERO));
        assert_eq!((log.turns.len(), log.health.placeholders, log.health.bad_numbers), (3, 3, 2));
        assert_eq!(second(log.turns[0].record.end), 1);
    }

    #[test]
    fn a_fork_names_its_ancestors() {
        let log = read(&[
            line(0, "session_meta", &json!({"id": "child", "forked_from_id": "parent"})),
            line(0, "session_meta", &json!({"id": "parent"})),
            counted(1, 5, &json!({"output_tokens": 5})),
            line(2, "never-seen", &Value::Null),
        ]);
        assert!(log.forked);
        assert_eq!(log.lineage.iter().map(AsRef::as_ref).collect::<Vec<_>>(), ["child", "parent"]);
        assert_eq!(log.turns[0].record.session.as_deref(), Some("child"));
        assert_eq!(log.health.unknown_types, 1);
    }
}
