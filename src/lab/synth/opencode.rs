//! opencode: the export of a session, one document over many lines.
//!
//! A message of the role `assistant` is a call. `completed` includes the tools' time: the model ended where the first of its tools began.
//! `variant` is the effort. A call of unknown size has all zeros. As 1.2.24 writes it, output includes reasoning.

use serde_json::{Value, json};

use super::Session;
use super::line::{Call, digest, uuid};
use crate::engine::Tokens;

const VERSION: &str = "1.2.24";

/// The export.
#[must_use]
pub fn export(session: &Session) -> String {
    let calls = Call::all(session);
    let id = if session.id.starts_with("ses") { session.id.clone() } else { format!("ses_{}", session.id) };
    let began = session.began.millis();
    let prompt = format!("msg_{}", digest(&format!("{id} prompt")));
    let mut messages = vec![json!({
        "info": {"role": "user", "time": {"created": began}, "id": prompt, "sessionID": id},
        "parts": [{"type": "text", "text": "", "id": format!("prt_{}", digest(&prompt)), "sessionID": id, "messageID": prompt}],
    })];
    for (place, call) in calls.iter().enumerate() {
        let next = calls.get(place + 1).map_or(call.record.end, |next| next.start.max(call.record.end));
        messages.push(message(call, &id, &prompt, next.millis()));
    }
    let ended = calls.last().map_or(began, |call| call.record.end.millis());
    let document = json!({
        "info": {"id": id, "version": VERSION, "directory": "/", "time": {"created": began, "updated": ended}},
        "messages": messages,
    });
    // a document of strings and numbers is always written
    serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
}

/// A call; where tools follow it, they run until `next`.
fn message(call: &Call<'_>, session: &str, prompt: &str, next: u64) -> Value {
    let record = call.record;
    let count = |tokens: Option<Tokens>| call.output().map_or(0, |_| tokens.map_or(0, Tokens::count));
    let (output, reasoning) = (count(Some(record.output)), count(record.reasoning));
    let (input, read, write) = (count(record.input), count(record.cache_read), count(record.cache_write));
    let total = [input, output, read, write].into_iter().fold(0, u64::saturating_add);
    let tokens = json!({"total": total, "input": input, "output": output, "reasoning": reasoning, "cache": {"read": read, "write": write}});
    let part = |kind: &str, more: Value| {
        let id = format!("prt_{}", uuid(&format!("{} {kind}", call.id)));
        let mut part = json!({"type": kind, "id": id, "sessionID": session, "messageID": call.id});
        if let (Value::Object(part), Value::Object(more)) = (&mut part, more) {
            part.extend(more);
        }
        part
    };
    let (start, end) = (call.start.millis(), record.end.millis());
    let finish = if call.last { "stop" } else { "tool-calls" };
    let mut parts = vec![part("step-start", json!({}))];
    let completed = if call.last {
        parts.push(part("text", json!({"text": "", "time": {"start": start, "end": end}})));
        end
    } else {
        parts.push(part(
            "tool",
            json!({"callID": format!("call_{}", digest(&call.id)), "tool": "bash", "state": {"status": "completed", "time": {"start": end, "end": next}, "input": {}, "output": ""}}),
        ));
        next
    };
    parts.push(part("step-finish", json!({"reason": finish, "cost": 0, "tokens": tokens})));
    json!({
        "info": {
            "role": "assistant", "time": {"created": start, "completed": completed}, "parentID": prompt, "modelID": call.model,
            "providerID": "opencode", "variant": call.effort, "mode": "build", "cost": 0, "tokens": tokens, "finish": finish,
            "id": call.id, "sessionID": session,
        },
        "parts": parts,
    })
}
