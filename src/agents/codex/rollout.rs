//! Codex rollout files: `rollout-<time>-<thread>.jsonl`, lines of `{timestamp, type, payload}`.
//!
//! A call is a `token_usage_record`, where the version writes them: its `response_id` is the key, and it is written when the answer ended. The `token_count` event that follows says
//! the same once more. In older versions a call is a `token_count` whose `info` is there and whose `total_token_usage` differs from the one before: the program
//! repeats unchanged totals. Model and effort are those of the last `turn_context`: what was asked for.
//!
//! `token_count` is written after the tools have run. So such a call ends with the last `response_item` that the model
//! made since the call before, and starts with the last thing sent to the model before the first of these: a message, or a tool's
//! output. Forked and subagent files replay their parent's history with new times; the running totals, or the response's id, tell the copies. After a
//! signal the file stops, or ends in `turn_aborted`; what it recorded stands.
//!
//! Source: public rollouts of 0.140 to 0.142, runs of 0.171.0 against a scripted server, ccusage 897, 1288, 1370, 1371.

use super::super::book::{Book, Key, Row, watched};
use super::super::loose::{Count, Held, Present, Text, Time, object, read_line};
use super::super::{Format, Log};
use super::Usage;
use crate::engine::Timestamp;

/// Line types that carry no usage.
const QUIET: [&str; 4] = ["world_state", "inter_agent_communication", "ghost_snapshot", "session_state"];

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

object! {
    struct Settings {
        model: Text<'a> = "model",
        effort: Text<'a> = "reasoning_effort",
    }
    struct Mode {
        settings: Held<Settings<'a>> = "settings",
    }
    struct Info {
        total: Held<Usage<'a>> = "total_token_usage",
        last: Held<Usage<'a>> = "last_token_usage",
    }
    struct Payload {
        kind: Text<'a> = "type",
        role: Text<'a> = "role",
        id: Text<'a> = "id",
        session: Text<'a> = "session_id",
        parent: Text<'a> = "forked_from_id",
        version: Text<'a> = "cli_version",
        model: Text<'a> = "model",
        effort: Text<'a> = "effort",
        mode: Held<Mode<'a>> = "collaboration_mode",
        info: Held<Info<'a>> = "info",
        response: Text<'a> = "response_id",
        usage: Held<Usage<'a>> = "usage",
        error: Present = "error",
        reason: Text<'a> = "reason",
    }
    struct Line {
        kind: Text<'a> = "type",
        time: Time = "timestamp",
        payload: Held<Payload<'a>> = "payload",
    }
}

/// By how much totals grew, for versions that state nothing else. A total that fell was lowered, and grew by nothing.
fn grown<'a>(total: &Usage<'a>, [input, cached, output, reasoning, _]: [u64; 5]) -> Usage<'a> {
    let less = |count: Count, before: u64| match count {
        Count::Of(count) => Count::Of(count.saturating_sub(before)),
        Count::Absent | Count::Bad => count,
    };
    Usage {
        input: less(total.input, input),
        cached: less(total.cached, cached),
        output: less(total.output, output),
        reasoning: less(total.reasoning, reasoning),
        ..Usage::default()
    }
}

/// Takes the lines of one file, in order.
#[derive(Debug, Default)]
pub struct Reader {
    session: Option<String>,
    model: Option<String>,
    effort: Option<String>,
    totals: Option<[u64; 5]>,
    /// A record stands of which the next `token_count` is the echo.
    recorded: bool,
    /// When something was last sent to the model.
    sent: Option<Timestamp>,
    /// The answer in the making: when its request was sent, and its last item.
    answer: Option<(Option<Timestamp>, Option<Timestamp>)>,
    book: Book,
}

impl Reader {
    watched!(Format::CodexRollout);

    /// Takes one line; says whether it could be read.
    pub fn line(&mut self, line: &str) -> bool {
        read_line!(Line<'_>, line, self.book.health, |line| self.take(line))
    }

    fn take(&mut self, line: Line<'_>) {
        let time = line.time.0;
        self.book.saw(time);
        let payload = line.payload.or_empty();
        match line.kind.word() {
            "session_meta" => self.meta(&payload),
            "turn_context" => self.context(&payload),
            "response_item" => self.item(&payload, time),
            "event_msg" => self.event(&payload, time),
            "token_usage_record" => self.record(&payload, time),
            "compacted" => self.book.health.compactions += 1,
            quiet if QUIET.contains(&quiet) => {}
            other => self.book.health.unknown(other),
        }
    }

    /// The first description is the file's own; later ones are those of the history that it copied.
    fn meta(&mut self, payload: &Payload<'_>) {
        self.book.version(payload.version.get());
        let own = payload.id.get().or(payload.session.get());
        let parent = payload.parent.get();
        if parent.is_some() || own.zip(self.session.as_deref()).is_some_and(|(own, first)| own != first) {
            self.book.forked();
        }
        self.book.session(parent);
        self.book.session(own);
        self.session = self.session.take().or_else(|| own.map(str::to_owned));
    }

    fn context(&mut self, payload: &Payload<'_>) {
        let settings = payload.mode.0.as_ref().and_then(|mode| mode.settings.0.as_ref());
        let effort = payload.effort.get().or_else(|| settings.and_then(|settings| settings.effort.get()));
        let model = payload.model.get().or_else(|| settings.and_then(|settings| settings.model.get()));
        self.effort = effort.map(str::to_owned);
        self.model = model.map(str::to_owned).or(self.model.take());
    }

    fn item(&mut self, payload: &Payload<'_>, time: Option<Timestamp>) {
        let kind = payload.kind.word();
        let made = MADE.contains(&kind) || (kind == "message" && payload.role.get() == Some("assistant"));
        if made {
            let (start, end) = self.answer.unwrap_or((self.sent, None));
            self.answer = Some((start, end.max(time)));
        } else {
            self.sent = time.or(self.sent);
        }
    }

    fn event(&mut self, payload: &Payload<'_>, time: Option<Timestamp>) {
        match payload.kind.word() {
            "token_count" => self.counted(payload, time),
            "user_message" => self.sent = time.or(self.sent),
            "task_complete" if payload.error.0 => self.book.health.error("task failed"),
            "turn_aborted" => {
                let reason = payload.reason.get().unwrap_or("aborted");
                self.book.health.error(reason);
            }
            kind @ ("error" | "stream_error") => self.book.health.error(kind),
            _ => {}
        }
    }

    fn record(&mut self, payload: &Payload<'_>, time: Option<Timestamp>) {
        let Some(usage) = payload.usage.0.clone() else { return };
        self.recorded = true;
        let key = payload.response.get().map_or(Key::Own, Key::Message);
        self.call(key, &usage, time);
    }

    fn counted(&mut self, payload: &Payload<'_>, time: Option<Timestamp>) {
        let Some(info) = payload.info.0.as_ref() else { return };
        let Some(total) = info.total.0.as_ref() else { return };
        self.book.health.bad_numbers += total.bad();
        let totals = total.totals();
        let echo = core::mem::take(&mut self.recorded);
        if echo || self.totals == Some(totals) {
            self.book.health.repeats += 1;
            self.totals = Some(totals);
            return;
        }
        self.book.health.falls += u64::from(self.totals.is_some_and(|before| totals[2] < before[2]));
        let before = self.totals.replace(totals).unwrap_or_default();
        let last = info.last.0.clone().unwrap_or_else(|| grown(total, before));
        self.call(Key::Totals(totals), &last, time);
    }

    fn call(&mut self, key: Key<'_>, usage: &Usage<'_>, time: Option<Timestamp>) {
        let (start, end) = self.answer.take().unwrap_or((None, None));
        self.book.row(&Row {
            key,
            session: self.session.as_deref(),
            start,
            end: end.or(time),
            model: self.model.as_deref(),
            effort: self.effort.as_deref(),
            usage: usage.counts(),
            last: true,
            side: false,
        });
    }

    /// Closes the file.
    #[must_use]
    pub fn finish(self) -> Log {
        self.book.close(Format::CodexRollout)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Grade, Tokens};
    use serde_json::{Value, json};

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
            assert!(reader.line(&line.to_string()));
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
            counted(2, 9, &json!({"output_tokens": [4]})),
            counted(3, 12, &json!({"output_tokens": -3.5})),
            line(4, "event_msg", &json!({"type": "token_count", "info": {"total_token_usage": 7}})),
        ]);
        assert!(log.turns.iter().all(|turn| turn.record.grade == Grade::Unknown && turn.record.output == Tokens::ZERO));
        assert_eq!((log.turns.len(), log.health.placeholders, log.health.bad_numbers), (3, 3, 3));
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
