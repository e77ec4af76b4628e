//! What `claude -p --output-format stream-json` prints, and the single object of `--output-format json`.
//!
//! The usage on `assistant` lines is that of the answer's start, repeated for each block: a start value. It is final in the `message_delta` of a
//! partial-message stream, and on lines with a `stop_reason` (a request that was not streamed). All else is known only in sum, from the `result` line:
//! its `modelUsage` counts by model over the process, subagents and summaries included, and its `usage` the main chain of this stretch alone; the first is
//! believed where it is there. `total_cost_usd` runs on over the process too. A run ended by TERM or KILL has no `result`: what its calls wrote stays unknown.
//!
//! A failed request shows as `system/api_retry`, and a failed run as a `result` whose `is_error` is true, whatever its `subtype` says.
//! Lines have a time since 2.1.3xx alone; before, calls stand at the last time read.
//!
//! Source: public logs of 2.1.81 to 2.1.91, runs of 2.1.197 and 2.1.332 against a scripted server.

use super::super::book::{Book, Extent, Key, Row, Total, watched};
use super::super::counter::Fall;
use super::super::loose::{Count, Flag, Held, Named, Price, Text, Time, object, read_line};
use super::super::{Format, Log};
use super::{Message, SYNTHETIC, Usage};
use crate::engine::Timestamp;

/// Line types that carry no usage.
const QUIET: [&str; 5] = ["user", "rate_limit_event", "control_request", "control_response", "tool_progress"];

object! {
    struct ModelUsage {
        output: Count = "outputTokens",
    }
    struct Delta {
        stop: Text<'a> = "stop_reason",
    }
    struct Event {
        kind: Text<'a> = "type",
        message: Held<Message<'a>> = "message",
        usage: Held<Usage<'a>> = "usage",
        delta: Held<Delta<'a>> = "delta",
    }
    struct Line {
        kind: Text<'a> = "type",
        subtype: Text<'a> = "subtype",
        session: Text<'a> = "session_id",
        version: Text<'a> = "claude_code_version",
        uuid: Text<'a> = "uuid",
        time: Time = "timestamp",
        parent: Text<'a> = "parent_tool_use_id",
        request: Text<'a> = "request_id",
        api_error: Flag = "is_api_error_message" | "isApiErrorMessage",
        message: Held<Message<'a>> = "message",
        event: Held<Event<'a>> = "event",
        answer: Text<'a> = "api_message_id",
        error: Text<'a> = "error",
        is_error: Flag = "is_error",
        ended: Text<'a> = "terminal_reason",
        usage: Held<Usage<'a>> = "usage",
        models: Named<'a, ModelUsage<'a>> = "modelUsage",
        cost: Price = "total_cost_usd",
    }
}

/// Takes the lines of one stream, in order.
#[derive(Debug, Default)]
pub struct Reader {
    /// When something was last sent to the model.
    sent: Option<Timestamp>,
    /// The message that partial events speak of where they do not name it.
    open: Option<String>,
    book: Book,
}

impl Reader {
    watched!(Format::ClaudeStream);

    /// Takes one line; says whether it could be read.
    pub fn line(&mut self, line: &str) -> bool {
        read_line!(Line<'_>, line, self.book.health, |line| self.take(&line))
    }

    fn take(&mut self, line: &Line<'_>) {
        self.book.saw(line.time.0);
        self.book.session(line.session.get());
        match line.kind.word() {
            "assistant" => self.assistant(line),
            "stream_event" => self.event(line),
            "system" => self.system(line),
            "result" => self.result(line),
            // the object of --output-format json need not say what it is
            "" if line.cost != Price::Absent => self.result(line),
            "user" => self.sent = line.time.0.or(self.sent),
            quiet if QUIET.contains(&quiet) => {}
            other => self.book.health.unknown(other),
        }
    }

    fn system(&mut self, line: &Line<'_>) {
        match line.subtype.word() {
            "init" => {
                self.book.version(line.version.get());
                self.sent = line.time.0.or(self.sent);
            }
            "api_retry" => self.book.health.error(line.error.word()),
            "compact_boundary" => self.book.health.compactions += 1,
            _ => {}
        }
    }

    fn assistant(&mut self, line: &Line<'_>) {
        let message = line.message.clone().or_empty();
        if message.model.get() == Some(SYNTHETIC) || line.api_error.is_set() {
            self.book.health.synthetic += 1;
            if line.api_error.is_set() || line.error.get().is_some() {
                self.book.health.error(line.error.word());
            }
            return;
        }
        let key = message.id.get().or(line.request.get()).or(line.uuid.get()).map_or(Key::Own, Key::Message);
        self.row(line, key, &message, message.stop.get().is_some());
    }

    fn event(&mut self, line: &Line<'_>) {
        let event = line.event.clone().or_empty();
        match event.kind.word() {
            "message_start" => {
                let message = event.message.or_empty();
                if let Some(id) = message.id.get() {
                    self.open = Some(id.to_owned());
                    self.row(line, Key::Message(id), &message, false);
                }
            }
            "message_delta" => {
                let open = self.open.clone();
                let Some(id) = line.answer.get().or(open.as_deref()) else {
                    self.book.health.unreadable += 1;
                    return;
                };
                let done = event.delta.0.as_ref().is_some_and(|delta| delta.stop.get().is_some());
                let message = Message { usage: event.usage, ..Message::default() };
                self.row(line, Key::Message(id), &message, done);
            }
            _ => {}
        }
    }

    fn row(&mut self, line: &Line<'_>, key: Key<'_>, message: &Message<'_>, last: bool) {
        self.book.row(&Row {
            key,
            session: line.session.get(),
            start: self.sent,
            end: line.time.0,
            model: message.model.get(),
            effort: None,
            usage: message.usage.0.as_ref().map(Usage::counts).unwrap_or_default(),
            last,
            side: line.parent.get().is_some(),
        });
    }

    fn result(&mut self, line: &Line<'_>) {
        let failed = line.is_error.is_set();
        if failed {
            // a failed run may call itself a success, and completed
            let kinds = [line.ended.get(), line.subtype.get()];
            let kind = kinds.into_iter().flatten().find(|word| !["completed", "success"].contains(word));
            self.book.health.error(kind.unwrap_or("error"));
        }
        let main = line.usage.0.as_ref().map_or(Count::Absent, |usage| usage.output);
        let by_model: Vec<_> =
            line.models.0.iter().map(|(model, usage)| (Some(model.as_ref()), usage.output)).collect();
        let main_only = by_model.is_empty();
        self.book.total(&Total {
            id: line.uuid.get(),
            session: line.session.get(),
            time: line.time.0,
            output: if main_only { vec![(None, main)] } else { by_model },
            main_only,
            stretch: main,
            extent: if main_only { Extent::Stretch } else { Extent::Running(Fall::Restart) },
            cost: line.cost,
            ok: line.is_error.0.map(|failed| !failed && line.subtype.get().is_none_or(|word| word == "success")),
            result: true,
            ..Total::default()
        });
    }

    /// Closes the stream.
    #[must_use]
    pub fn finish(self) -> Log {
        self.book.close(Format::ClaudeStream)
    }
}
