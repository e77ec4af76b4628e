//! Codex: the rollout file.
//!
//! `turn_context` names model and effort, again where they change. A call is the items that the model made; its counts
//! come in a `token_count` *after* the tools have run, with the session's running totals, and every seventh comes twice.
//! `input_tokens` includes the cached ones, `output_tokens` the reasoning.

use serde_json::{Value, json};

use super::Session;
use super::line::{Call, digest, push};
use crate::engine::{Timestamp, Tokens};
use crate::trace::iso;

const VERSION: &str = "0.140.0";
/// Every so many counts one is written twice.
const REPEAT: usize = 7;

/// The rollout file.
#[must_use]
pub fn rollout(session: &Session) -> String {
    let mut text = String::new();
    let mut line = |at: Timestamp, kind: &str, payload: Value| {
        push(&mut text, &json!({"timestamp": iso(at), "type": kind, "payload": payload}));
    };
    let began = session.began;
    line(
        began,
        "session_meta",
        json!({"id": session.id, "timestamp": iso(began), "cwd": "/", "originator": "codex_exec", "cli_version": VERSION, "source": "exec", "model_provider": "openai"}),
    );
    line(began, "event_msg", json!({"type": "task_started", "model_context_window": 258_400}));
    let calls = Call::all(session);
    let mut context: Option<(&str, &str)> = None;
    let mut totals = [0_u64; 5];
    let mut pending: Option<Value> = None;
    for (place, call) in calls.iter().enumerate() {
        if place > 0 {
            line(
                call.start,
                "response_item",
                json!({"type": "function_call_output", "call_id": name(&calls[place - 1]), "output": ""}),
            );
        }
        if let Some(counted) = pending.take() {
            if place.is_multiple_of(REPEAT) {
                line(call.start, "event_msg", counted.clone());
            }
            line(call.start, "event_msg", counted);
        }
        if context != Some((call.model, call.effort)) {
            context = Some((call.model, call.effort));
            line(
                call.start,
                "turn_context",
                json!({"cwd": "/", "approval_policy": "never", "model": call.model, "effort": call.effort, "summary": "auto"}),
            );
        }
        if place == 0 {
            line(call.start, "response_item", json!({"type": "message", "role": "user", "content": []}));
            line(call.start, "event_msg", json!({"type": "user_message", "message": ""}));
            line(call.start, "event_msg", json!({"type": "token_count", "info": null}));
        }
        if call.blocks() > 1 {
            line(
                call.moment(1, 2),
                "response_item",
                json!({"type": "reasoning", "summary": [], "encrypted_content": ""}),
            );
        }
        let end = call.record.end;
        if call.last {
            line(end, "response_item", json!({"type": "message", "role": "assistant", "content": []}));
        } else {
            line(
                end,
                "response_item",
                json!({"type": "function_call", "name": "exec_command", "arguments": "{}", "call_id": name(call)}),
            );
        }
        pending = Some(counted(call, &mut totals));
    }
    if let Some((counted, last)) = pending.zip(calls.last()) {
        line(last.record.end, "event_msg", counted);
        line(last.record.end, "event_msg", json!({"type": "task_complete"}));
    }
    text
}

fn name(call: &Call<'_>) -> String {
    format!("call_{}", digest(&call.id))
}

/// The count of a call. One of unknown size has no output.
fn counted(call: &Call<'_>, totals: &mut [u64; 5]) -> Value {
    let count = |tokens: Option<Tokens>| tokens.map_or(0, Tokens::count);
    let output = call.record.output.count();
    let cached = count(call.record.cache_read);
    let input = count(call.record.input).saturating_add(count(call.record.cache_write)).saturating_add(cached);
    let reasoning = call.record.reasoning.map_or(output * 3 / 10, Tokens::count).min(output);
    let last = [input, cached, output, reasoning, input.saturating_add(output)];
    for (total, part) in totals.iter_mut().zip(last) {
        *total = total.saturating_add(part);
    }
    let mut usage = shown(&last);
    if let (None, Value::Object(usage)) = (call.output(), &mut usage) {
        usage.remove("output_tokens");
    }
    json!({"type": "token_count", "info": {"total_token_usage": shown(totals), "last_token_usage": usage, "model_context_window": 258_400}})
}

fn shown(&[input, cached, output, reasoning, all]: &[u64; 5]) -> Value {
    json!({"input_tokens": input, "cached_input_tokens": cached, "output_tokens": output, "reasoning_output_tokens": reasoning, "total_tokens": all})
}
