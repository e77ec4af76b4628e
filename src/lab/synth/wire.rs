//! One round of the simulated agent as a program would tell it while it works: lines with the moment of each.
//!
//! Unlike the logs beside it, a wire is what is *printed* (and, of Codex, what is written to its rollout file) line by line
//! as the round goes on, so that a runner can be tried on it. Every line carries its own moment. A turn begins where the
//! one before it ended and ends after its milliseconds; the counts are those of the draw: what landed on each turn, and in the
//! closing event what the round came to.
//!
//! | wire | stands for an accounting where |
//! |---|---|
//! | [`Wire::Claude`] | turns say what landed, and the result what there is beyond |
//! | [`Wire::ClaudeResultOnly`] | turns say start values, and the result the total |
//! | [`Wire::Codex`] | the rollout file says what landed, and the last line the total |
//! | [`Wire::Pi`], [`Wire::Opencode`] | turns say what was billed, and nothing is said at the end |
//!
//! It writes nothing and waits for nothing. Sources of the shapes: runs of Claude Code 2.1.332, Codex 0.171.0, pi 1.6.0 and opencode
//! 1.18.33. A round without a turn has no closing event in pi and opencode that could say that it went well. Units: tokens,
//! milliseconds of Unix time.

use serde_json::{Value, json};

use super::line::{digest, uuid};
use crate::engine::{Millis, Timestamp};
use crate::sim::{Closing, RoundDraw};
use crate::trace::iso;

/// How the round is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// `claude -p --output-format stream-json --verbose --include-partial-messages`.
    Claude,
    /// The same without partial messages.
    ClaudeResultOnly,
    /// `codex exec --json`, and its rollout file.
    Codex,
    /// `pi -p --mode json`.
    Pi,
    /// `opencode run --format json`.
    Opencode,
}

/// Where a line goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// To standard output.
    Stdout,
    /// To the file that the program keeps of the session.
    File,
}

/// A line, without its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// When.
    pub at: Timestamp,
    /// Where.
    pub place: Place,
    /// The line.
    pub line: String,
}

/// How a round ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Well.
    Well,
    /// With an error of the backend.
    Error,
    /// By a signal, after which claude still says its result.
    Cut,
}

/// One round.
#[derive(Clone, Copy, Debug)]
pub struct Round<'a> {
    /// The session.
    pub session: &'a str,
    /// When it began.
    pub began: Timestamp,
    /// The model.
    pub model: &'a str,
    /// The effort.
    pub effort: &'a str,
    /// What it brings.
    pub draw: &'a RoundDraw,
    /// How it ends.
    pub end: End,
}

/// One turn of it.
struct Turn {
    id: String,
    start: Timestamp,
    end: Timestamp,
    millis: u64,
    billed: u64,
    landed: u64,
    text: String,
    last: bool,
}

impl Round<'_> {
    fn turns(&self) -> Vec<Turn> {
        let draw = self.draw;
        let (mut now, mut turns) = (self.began, Vec::with_capacity(draw.tokens.len()));
        for (nth, ((&tokens, &millis), &landed)) in draw.tokens.iter().zip(&draw.millis).zip(&draw.landed).enumerate() {
            let (start, millis) = (now, u64::from(millis));
            now = now.after(Millis::new(millis));
            let last = nth + 1 == draw.tokens.len();
            turns.push(Turn {
                id: format!("msg_{}", digest(&format!("{} {nth}", self.session))),
                start,
                end: now,
                millis,
                billed: tokens.into(),
                landed: landed.into(),
                text: format!("Step {} at effort {}.", nth + 1, self.effort),
                last,
            });
        }
        turns
    }

    /// What the closing event says that the round came to.
    fn total(&self) -> u64 {
        let landed = self.draw.landed.iter().map(|&tokens| u64::from(tokens)).sum::<u64>();
        match self.draw.closing {
            Closing::None => landed,
            Closing::Lump(more) => landed.saturating_add(more),
            Closing::Total(total) => total,
        }
    }

    /// The round's lines in order.
    ///
    /// ```
    /// use flyball::engine::Timestamp;
    /// use flyball::lab::synth::wire::{End, Round, Wire};
    /// use flyball::sim::{Closing, RoundDraw};
    /// let draw = RoundDraw { tokens: vec![70], millis: vec![900], landed: vec![70], closing: Closing::None };
    /// let round = Round { session: "s", began: Timestamp::EPOCH, model: "m", effort: "low", draw: &draw, end: End::Well };
    /// let told = round.told(Wire::Pi);
    /// assert!(told.iter().any(|told| told.line.contains("\"output\":70")));
    /// assert_eq!(told.last().unwrap().at.millis(), 900);
    /// ```
    #[must_use]
    pub fn told(&self, wire: Wire) -> Vec<Told> {
        let mut out = Out(Vec::new());
        match wire {
            Wire::Claude => claude(self, true, &mut out),
            Wire::ClaudeResultOnly => claude(self, false, &mut out),
            Wire::Codex => codex(self, &mut out),
            Wire::Pi => pi(self, &mut out),
            Wire::Opencode => opencode(self, &mut out),
        }
        out.0
    }

    fn ended(&self, turns: &[Turn]) -> Timestamp {
        turns.last().map_or(self.began, |turn| turn.end)
    }
}

struct Out(Vec<Told>);

impl Out {
    fn say(&mut self, place: Place, at: Timestamp, mut line: Value) {
        line["timestamp"] = iso(at).into();
        self.0.push(Told { at, place, line: line.to_string() });
    }

    fn print(&mut self, at: Timestamp, line: Value) {
        self.say(Place::Stdout, at, line);
    }
}

fn claude(round: &Round<'_>, partial: bool, out: &mut Out) {
    let (turns, session) = (round.turns(), round.session);
    let marked = |mut line: Value| {
        (line["session_id"], line["parent_tool_use_id"]) = (session.into(), Value::Null);
        line
    };
    out.print(
        round.began,
        json!({"type": "system", "subtype": "init", "cwd": "/", "session_id": session, "tools": [], "model": round.model,
               "permissionMode": "default", "claude_code_version": "2.1.332"}),
    );
    for turn in &turns {
        let start = if partial { turn.landed.min(1) } else { turn.landed };
        let usage = |output: u64| json!({"input_tokens": 1, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": output});
        let message = |content: Value| {
            json!({"id": turn.id, "type": "message", "role": "assistant", "model": round.model, "content": content,
                   "stop_reason": null, "usage": usage(start)})
        };
        let event = |event: Value| marked(json!({"type": "stream_event", "api_message_id": turn.id, "event": event}));
        if partial {
            out.print(
                turn.start,
                json!({"type": "system", "subtype": "status", "status": "requesting", "session_id": session}),
            );
            out.print(turn.start, event(json!({"type": "message_start", "message": message(json!([]))})));
            let delta = json!({"type": "text_delta", "text": turn.text});
            out.print(turn.end, event(json!({"type": "content_block_delta", "index": 0, "delta": delta})));
        }
        let text = message(json!([{"type": "text", "text": turn.text}]));
        out.print(turn.end, marked(json!({"type": "assistant", "message": text, "uuid": uuid(&turn.id)})));
        if partial {
            let stop = if turn.last { "end_turn" } else { "tool_use" };
            let delta = json!({"stop_reason": stop});
            out.print(turn.end, event(json!({"type": "message_delta", "delta": delta, "usage": usage(turn.landed)})));
        }
        if !turn.last {
            let content =
                json!([{"type": "tool_result", "tool_use_id": format!("toolu_{}", digest(&turn.id)), "content": ""}]);
            out.print(turn.end, marked(json!({"type": "user", "message": {"role": "user", "content": content}})));
        }
    }
    let total = round.total();
    let (subtype, reason, text) = match round.end {
        End::Well => ("success", "completed", ""),
        End::Error => ("success", "api_error", "API Error: 529 made up for a test"),
        End::Cut => ("error_during_execution", "aborted_streaming", ""),
    };
    let mut models = serde_json::Map::new();
    if !turns.is_empty() {
        models.insert(round.model.to_owned(), json!({"inputTokens": turns.len(), "outputTokens": total}));
    }
    out.print(
        round.ended(&turns),
        json!({"type": "result", "subtype": subtype, "is_error": round.end != End::Well, "terminal_reason": reason, "session_id": session,
               "num_turns": turns.len(), "total_cost_usd": 0.0, "usage": {"output_tokens": total}, "modelUsage": models,
               "result": text, "uuid": uuid(&format!("{session} result"))}),
    );
}

fn codex(round: &Round<'_>, out: &mut Out) {
    let (turns, thread, began) = (round.turns(), round.session, round.began);
    let file = |out: &mut Out, at: Timestamp, kind: &str, payload: Value| {
        out.say(Place::File, at, json!({"type": kind, "payload": payload}));
    };
    file(
        out,
        began,
        "session_meta",
        json!({"id": thread, "cwd": "/", "originator": "codex_exec", "cli_version": "0.171.0"}),
    );
    file(out, began, "turn_context", json!({"cwd": "/", "model": round.model, "effort": round.effort}));
    file(out, began, "response_item", json!({"type": "message", "role": "user", "content": []}));
    out.print(began, json!({"type": "thread.started", "thread_id": thread}));
    out.print(began, json!({"type": "turn.started"}));
    let usage = |input: u64, output: u64| {
        json!({"input_tokens": input, "cached_input_tokens": 0, "output_tokens": output, "reasoning_output_tokens": 0,
               "total_tokens": input.saturating_add(output)})
    };
    for (nth, turn) in turns.iter().enumerate() {
        let call = format!("call_{}", digest(&turn.id));
        if turn.last {
            file(out, turn.end, "response_item", json!({"type": "message", "role": "assistant", "content": []}));
        } else {
            let made = json!({"type": "function_call", "name": "exec_command", "arguments": "{}", "call_id": call});
            file(out, turn.end, "response_item", made);
        }
        file(
            out,
            turn.end,
            "token_usage_record",
            json!({"thread_id": thread, "response_id": turn.id, "usage": usage(1, turn.landed)}),
        );
        if !turn.last {
            file(
                out,
                turn.end,
                "response_item",
                json!({"type": "function_call_output", "call_id": call, "output": ""}),
            );
        }
        let item = json!({"id": format!("item_{nth}"), "type": "agent_message", "text": turn.text});
        out.print(turn.end, json!({"type": "item.completed", "item": item}));
    }
    let ended = round.ended(&turns);
    if round.end == End::Error {
        out.print(
            ended,
            json!({"type": "turn.failed", "error": {"message": "unexpected status 529, made up for a test"}}),
        );
        return;
    }
    let requests = u64::try_from(turns.len()).unwrap_or(u64::MAX);
    out.print(ended, json!({"type": "turn.completed", "usage": usage(requests, round.total())}));
}

fn pi(round: &Round<'_>, out: &mut Out) {
    let turns = round.turns();
    out.print(round.began, json!({"type": "session", "version": 3, "id": round.session, "cwd": "/"}));
    out.print(round.began, json!({"type": "agent_start"}));
    let error = round.end == End::Error;
    for turn in &turns {
        let message = |output: u64, stop: &str, content: Value| {
            json!({"role": "assistant", "content": content, "model": round.model, "stopReason": stop, "rawStopReason": stop,
                   "usage": {"input": 1, "output": output, "cacheRead": 0, "cacheWrite": 0, "totalTokens": output.saturating_add(1)},
                   "timestamp": iso(turn.start), "responseId": turn.id})
        };
        out.print(turn.start, json!({"type": "turn_start"}));
        out.print(turn.start, json!({"type": "message_start", "message": message(1, "pending", json!([]))}));
        let stop = if turn.last { "stop" } else { "toolUse" };
        let mut said = message(turn.billed, stop, json!([{"type": "text", "text": turn.text}]));
        (said["durationMs"], said["thinkingLevel"]) = (turn.millis.into(), round.effort.into());
        out.print(turn.end, json!({"type": "message_end", "message": said}));
        out.print(turn.end, json!({"type": "turn_end"}));
    }
    let ended = round.ended(&turns);
    if error {
        let message = json!({"role": "assistant", "content": [], "model": round.model, "stopReason": "error", "usage": {},
                             "errorMessage": "529 made up for a test", "timestamp": iso(ended)});
        out.print(ended, json!({"type": "message_end", "message": message}));
    }
    out.print(ended, json!({"type": "agent_end", "messages": [], "willRetry": false}));
    out.print(ended, json!({"type": "agent_settled", "aborted": false}));
}

fn opencode(round: &Round<'_>, out: &mut Out) {
    let (turns, session) = (round.turns(), format!("ses_{}", round.session));
    for turn in &turns {
        let line = |kind: &str, part: Value| json!({"type": kind, "sessionID": session, "part": part});
        out.print(turn.start, line("step_start", json!({"messageID": turn.id, "type": "step-start"})));
        out.print(turn.end, line("text", json!({"messageID": turn.id, "type": "text", "text": turn.text})));
        let reason = if turn.last { "stop" } else { "tool-calls" };
        let tokens = json!({"total": turn.billed.saturating_add(1), "input": 1, "output": turn.billed, "reasoning": 0,
                            "cache": {"read": 0, "write": 0}});
        out.print(
            turn.end,
            line("step_finish", json!({"messageID": turn.id, "reason": reason, "tokens": tokens, "cost": 0})),
        );
    }
    if round.end == End::Error {
        let error = json!({"name": "APIError", "data": {"message": "made up for a test", "statusCode": 529}});
        out.print(round.ended(&turns), json!({"type": "error", "sessionID": session, "error": error}));
    }
}
