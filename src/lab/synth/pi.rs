//! pi: the session file, format version 1.
//!
//! The inner `timestamp` of an answer is when its request was sent, in milliseconds; the outer one is when it was complete. A
//! level of thinking holds until the next change. A call of unknown size reads as pi writes aborted ones: all zeros.

use serde_json::{Value, json};

use super::Session;
use super::line::{Call, digest, push, uuid};
use crate::engine::{Timestamp, Tokens};
use crate::trace::iso;

/// The session file.
#[must_use]
pub fn session(session: &Session) -> String {
    let mut text = String::new();
    push(
        &mut text,
        &json!({"type": "session", "id": session.id, "timestamp": iso(session.began), "cwd": "/", "provider": "anthropic", "modelId": session.model, "thinkingLevel": session.effort}),
    );
    let (mut level, mut model) = (session.effort.as_str(), session.model.as_str());
    let mut tool: Option<String> = None;
    for call in Call::all(session) {
        if call.model != model {
            model = call.model;
            push(
                &mut text,
                &json!({"type": "model_change", "timestamp": iso(call.start), "provider": "anthropic", "modelId": model}),
            );
        }
        if call.effort != level {
            level = call.effort;
            push(
                &mut text,
                &json!({"type": "thinking_level_change", "timestamp": iso(call.start), "thinkingLevel": level}),
            );
        }
        let sent = match tool.take() {
            Some(id) => {
                json!({"role": "toolResult", "toolCallId": id, "toolName": "bash", "content": [], "isError": false, "timestamp": call.start.millis()})
            }
            None => json!({"role": "user", "content": [], "timestamp": call.start.millis()}),
        };
        message(&mut text, call.start, &call.id, &sent);
        let known = call.output().is_some();
        let stop = if !known {
            "aborted"
        } else if call.last {
            "stop"
        } else {
            "toolUse"
        };
        if known && !call.last {
            tool = Some(format!("toolu_{}", digest(&call.id)));
        }
        let count = |tokens: Option<Tokens>| if known { tokens.map_or(0, Tokens::count) } else { 0 };
        let record = call.record;
        let [input, output, read, write] =
            [record.input, Some(record.output), record.cache_read, record.cache_write].map(count);
        let total = [input, output, read, write].into_iter().fold(0, u64::saturating_add);
        let content = tool.as_ref().map_or_else(
            || json!([{"type": "text", "text": ""}]),
            |id| json!([{"type": "toolCall", "id": id, "name": "bash", "arguments": {}}]),
        );
        let answer = json!({
            "role": "assistant", "content": content, "api": "anthropic-messages", "provider": "anthropic", "model": call.model,
            "usage": {"input": input, "output": output, "cacheRead": read, "cacheWrite": write, "totalTokens": total, "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}},
            "stopReason": stop, "timestamp": call.start.millis(),
        });
        message(&mut text, record.end, &format!("{} answer", call.id), &answer);
    }
    text
}

fn message(text: &mut String, at: Timestamp, id: &str, message: &Value) {
    push(text, &json!({"type": "message", "id": &uuid(id)[..8], "timestamp": iso(at), "message": message}));
}
