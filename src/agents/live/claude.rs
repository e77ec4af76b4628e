//! Signs of what `claude -p --output-format stream-json` prints.
//!
//! A run went well where `result.is_error` is false and its subtype `success`; the subtype alone says `success` of failed
//! runs too. A limit of the account comes as a `rate_limit_event` whose status is `rejected`, with the moment of its end in
//! seconds of Unix time (paperclipai/paperclip 5776).

use super::super::loose::{Count, Flag, Held, List, Parsed, Text, object, parse};
use super::sign::{Sign, says_limit};

object! {
    struct Block {
        kind: Text<'a> = "type",
        text: Text<'a> = "text",
        thinking: Text<'a> = "thinking",
        input: Size = "input",
    }
    struct Message {
        id: Text<'a> = "id",
        model: Text<'a> = "model",
        stop: Text<'a> = "stop_reason",
        content: List<Block<'a>> = "content",
    }
    struct Delta {
        kind: Text<'a> = "type",
        stop: Text<'a> = "stop_reason",
        text: Text<'a> = "text",
        thinking: Text<'a> = "thinking",
        json: Text<'a> = "partial_json",
    }
    struct Event {
        kind: Text<'a> = "type",
        message: Held<Message<'a>> = "message",
        delta: Held<Delta<'a>> = "delta",
    }
    struct Window {
        status: Text<'a> = "status",
        resets: Count = "resetsAt",
    }
    struct Line {
        kind: Text<'a> = "type",
        subtype: Text<'a> = "subtype",
        status: Text<'a> = "status",
        session: Text<'a> = "session_id",
        version: Text<'a> = "claude_code_version",
        model: Text<'a> = "model",
        parent: Text<'a> = "parent_tool_use_id",
        message: Held<Message<'a>> = "message",
        event: Held<Event<'a>> = "event",
        answer: Text<'a> = "api_message_id",
        estimate: Count = "estimated_tokens_delta",
        error: Text<'a> = "error",
        error_text: Text<'a> = "result",
        is_error: Flag = "is_error",
        ended: Text<'a> = "terminal_reason",
        code: Count = "api_error_status",
        limit: Held<Window<'a>> = "rate_limit_info",
        content: Text<'a> = "content",
    }
}

use super::size::Size;

/// The model of messages that the program made up itself.
const SYNTHETIC: &str = "<synthetic>";

/// Reads signs.
#[derive(Debug, Default)]
pub struct Signs {
    /// Partial messages are printed.
    partial: bool,
    /// A retry was announced whose request has not been.
    retrying: bool,
    /// Thinking is estimated by the program, and its text is none of it.
    estimates: bool,
    /// The message that partial events speak of where they do not name it.
    open: Option<String>,
}

impl Signs {
    /// Whether partial messages are printed, and final counts with them.
    pub const fn is_partial(&self) -> bool {
        self.partial
    }

    /// Takes one line.
    pub fn line(&mut self, line: &str, each: &mut dyn FnMut(Sign<'_>)) {
        let mut patched = String::new();
        let Parsed::Object(line, _) = parse::<Line<'_>>(line, &mut patched) else { return };
        match line.kind.word() {
            "system" => self.system(&line, each),
            "assistant" => self.assistant(&line, each),
            "stream_event" => self.event(&line, each),
            "rate_limit_event" => limit(&line, each),
            "result" => result(&line, each),
            _ => {}
        }
    }

    fn system(&mut self, line: &Line<'_>, each: &mut dyn FnMut(Sign<'_>)) {
        match line.subtype.word() {
            "init" => {
                line.session.get().into_iter().for_each(|session| each(Sign::Session(session)));
                line.version.get().into_iter().for_each(|version| each(Sign::Version(version)));
                line.model.get().into_iter().for_each(|model| each(Sign::Model(model)));
            }
            // a retry that was announced is this request
            "status" if line.status.word() == "requesting" && core::mem::take(&mut self.retrying) => {}
            "status" if line.status.word() == "requesting" => each(Sign::Request),
            "api_retry" => {
                self.retrying = true;
                each(Sign::Request);
            }
            "thinking_tokens" => {
                self.estimates = true;
                if let (Some(id), Some(more)) = (self.open.as_deref(), line.estimate.get()) {
                    let bytes = usize::try_from(more.saturating_mul(4)).unwrap_or(usize::MAX);
                    each(Sign::Grown { call: Some(id), bytes, stated: 0 });
                }
            }
            kind @ ("permission_denied" | "model_fallback" | "model_refusal_no_fallback" | "compact_boundary") => {
                let text = line.content.get().map(|text| format!(": {text}")).unwrap_or_default();
                each(Sign::Note(format!("claude says {kind}{text}")));
            }
            _ => {}
        }
    }

    fn assistant(&mut self, line: &Line<'_>, each: &mut dyn FnMut(Sign<'_>)) {
        let message = line.message.clone().or_empty();
        let text = || {
            message.content.0.iter().filter(|block| block.kind.word() == "text").filter_map(|block| block.text.get())
        };
        if message.model.get() == Some(SYNTHETIC) {
            let words: Vec<&str> = text().collect();
            let words = words.join(" ");
            if !words.is_empty() {
                each(Sign::Trouble(&words));
            }
            return;
        }
        if line.parent.get().is_none() {
            text().for_each(|text| each(Sign::Said(text)));
        }
        if !self.partial && message.stop.get().is_none() {
            let size = |block: &Block<'_>| block.text.word().len() + block.thinking.word().len() + block.input.0;
            let bytes = message.content.0.iter().map(size).sum();
            each(Sign::Grown { call: message.id.get(), bytes, stated: 0 });
        }
    }

    fn event(&mut self, line: &Line<'_>, each: &mut dyn FnMut(Sign<'_>)) {
        self.partial = true;
        let event = line.event.clone().or_empty();
        match event.kind.word() {
            "message_start" => self.open = event.message.or_empty().id.get().map(str::to_owned).or(self.open.take()),
            "content_block_delta" => {
                let delta = event.delta.or_empty();
                let thinking = if self.estimates { 0 } else { delta.thinking.word().len() };
                let bytes = delta.text.word().len() + delta.json.word().len() + thinking;
                let call = line.answer.get().or(self.open.as_deref());
                each(Sign::Grown { call, bytes, stated: 0 });
            }
            _ => {}
        }
    }
}

fn limit(line: &Line<'_>, each: &mut dyn FnMut(Sign<'_>)) {
    let window = line.limit.clone().or_empty();
    if window.status.word() == "rejected" {
        let until = window.resets.get().map(|seconds| seconds.saturating_mul(1000));
        each(Sign::Limit { until, text: "the account's limit is reached" });
    }
}

fn result(line: &Line<'_>, each: &mut dyn FnMut(Sign<'_>)) {
    line.session.get().into_iter().for_each(|session| each(Sign::Session(session)));
    let ok = line.is_error.0 == Some(false) && line.subtype.get().is_none_or(|word| word == "success");
    if ok {
        return each(Sign::Ended { ok, why: None });
    }
    let kinds = [line.ended.get(), line.subtype.get()];
    let kind = kinds.into_iter().flatten().find(|word| !["completed", "success"].contains(word)).unwrap_or("error");
    let text = line.error_text.get().or(line.error.get());
    if line.code == Count::Of(429) || text.is_some_and(says_limit) {
        let text = text.unwrap_or("requests are refused (429)");
        // an older version appends the moment in seconds of Unix time after a bar
        let until = text.rsplit_once('|').and_then(|(_, moment)| moment.trim().parse::<u64>().ok());
        each(Sign::Limit { until: until.map(|seconds| seconds.saturating_mul(1000)), text });
    }
    let why = text.map_or_else(|| kind.to_owned(), |text| format!("{kind}: {text}"));
    each(Sign::Ended { ok, why: Some(why) });
}
