//! Claude Code: the session file, and the stream on standard output.
//!
//! Both have one line for each block of an answer, every one with the whole usage of the call. In the file the counts are final and a
//! `stop_reason` says so; in the stream of 2.1.81 they are start values, and what the session came to stands in its
//! `result`. A prompt, or the result of a tool, goes before each call, at the moment the request was sent.

use serde_json::{Value, json};

use super::Session;
use super::line::{Call, digest, push, uuid};
use crate::engine::{Timestamp, Tokens};
use crate::trace::iso;

const FILE_VERSION: &str = "2.1.217";
const STREAM_VERSION: &str = "2.1.81";
/// What a start value says.
const PLACEHOLDER: u64 = 8;

/// The session file.
#[must_use]
pub fn session(session: &Session) -> String {
    let mut text = String::new();
    let mut tool: Option<String> = None;
    let stamped = |moment: Timestamp| json!({"timestamp": iso(moment), "sessionId": session.id, "version": FILE_VERSION, "cwd": "/", "userType": "external", "isSidechain": false});
    if session.calls.is_empty() {
        push(&mut text, &with(&stamped(session.began), user(None, "file 0")));
    }
    for call in Call::all(session) {
        push(&mut text, &with(&stamped(call.start), user(tool.as_deref(), &call.id)));
        let blocks = call.blocks();
        for at in 1..=blocks {
            let (block, id) = block(&call, at, blocks);
            tool = id.or(tool);
            let (stop, output) = match call.output() {
                Some(output) => (Value::from(if call.last { "end_turn" } else { "tool_use" }), output),
                None => (Value::Null, PLACEHOLDER),
            };
            let message = message(&call, &block, &stop, output);
            let line = json!({"type": "assistant", "uuid": uuid(&format!("{} {at}", call.id)), "requestId": format!("req_{}", digest(&call.id)), "effort": call.effort, "message": message});
            push(&mut text, &with(&stamped(call.moment(at, blocks)), line));
        }
    }
    text
}

/// The stream of `claude -p`.
#[must_use]
pub fn stream(session: &Session) -> String {
    let mut text = String::new();
    let calls = Call::all(session);
    let marks = json!({"session_id": session.id, "parent_tool_use_id": null});
    push(
        &mut text,
        &json!({"type": "system", "subtype": "init", "cwd": "/", "session_id": session.id, "tools": [], "mcp_servers": [], "model": session.model, "permissionMode": "default", "claude_code_version": STREAM_VERSION, "uuid": uuid(&session.id)}),
    );
    let mut tool: Option<String> = None;
    for call in &calls {
        // the prompt is not echoed; a tool's result is
        if tool.is_some() {
            let mut line = with(&marks, user(tool.as_deref(), &call.id));
            line["timestamp"] = iso(call.start).into();
            push(&mut text, &line);
        }
        let blocks = call.blocks();
        for at in 1..=blocks {
            let (block, id) = block(call, at, blocks);
            tool = id.or(tool);
            let start = call.record.output.count().min(PLACEHOLDER);
            let message = message(call, &block, &Value::Null, start);
            let line = json!({"type": "assistant", "uuid": uuid(&format!("{} {at}", call.id)), "message": message});
            push(&mut text, &with(&marks, line));
        }
    }
    // a session that was killed has no result; what one with an unknown call came to is not known
    if calls.iter().all(|call| call.output().is_some()) {
        push(&mut text, &result(session, &calls));
    }
    text
}

fn result(session: &Session, calls: &[Call<'_>]) -> Value {
    let sum = |of: fn(&Call<'_>) -> u64| calls.iter().map(of).fold(0_u64, u64::saturating_add);
    let output = sum(|call| call.record.output.count());
    let input = sum(|call| tokens(call.record.input));
    let (read, write) = (sum(|call| tokens(call.record.cache_read)), sum(|call| tokens(call.record.cache_write)));
    let api = sum(|call| call.record.end.millis() - call.start.millis());
    let ended = calls.last().map_or(session.began, |call| call.record.end);
    json!({
        "type": "result", "subtype": "success", "is_error": false, "num_turns": calls.len(), "stop_reason": "end_turn", "session_id": session.id,
        "duration_ms": ended.millis().saturating_sub(session.began.millis()), "duration_api_ms": api, "total_cost_usd": 0.0,
        "usage": {"input_tokens": input, "cache_creation_input_tokens": write, "cache_read_input_tokens": read, "output_tokens": output},
        "modelUsage": {&session.model: {"inputTokens": input, "outputTokens": output, "cacheReadInputTokens": read, "cacheCreationInputTokens": write, "costUSD": 0.0}},
        "permission_denials": [], "uuid": uuid(&format!("{} result", session.id)), "result": "",
    })
}

/// What is sent to the model: the result of a tool, or a prompt.
fn user(tool: Option<&str>, before: &str) -> Value {
    let content = tool.map_or_else(
        || json!([{"type": "text", "text": ""}]),
        |tool| json!([{"type": "tool_result", "tool_use_id": tool, "content": ""}]),
    );
    json!({"type": "user", "uuid": uuid(&format!("{before} user")), "message": {"role": "user", "content": content}})
}

/// Block `at` of the answer, and the id of the tool's use where it is one: the last of every call but the session's last.
fn block(call: &Call<'_>, at: u64, blocks: u64) -> (Value, Option<String>) {
    if at == blocks && !call.last {
        let id = format!("toolu_{}", digest(&call.id));
        return (json!({"type": "tool_use", "id": id, "name": "Bash", "input": {}}), Some(id));
    }
    let kind = if at == blocks || at > 1 {
        json!({"type": "text", "text": ""})
    } else {
        json!({"type": "thinking", "thinking": "", "signature": ""})
    };
    (kind, None)
}

fn message(call: &Call<'_>, block: &Value, stop: &Value, output: u64) -> Value {
    let (input, read, write) =
        (tokens(call.record.input), tokens(call.record.cache_read), tokens(call.record.cache_write));
    let counts = json!({"input_tokens": input, "cache_creation_input_tokens": write, "cache_read_input_tokens": read, "output_tokens": output});
    let mut usage = counts.clone();
    usage["service_tier"] = "standard".into();
    usage["iterations"] = json!([counts]);
    json!({"model": call.model, "id": call.id, "type": "message", "role": "assistant", "content": [block], "stop_reason": stop, "stop_sequence": null, "usage": usage})
}

fn tokens(count: Option<Tokens>) -> u64 {
    count.map_or(0, Tokens::count)
}

/// The keys of both; `line` has the last word.
fn with(base: &Value, line: Value) -> Value {
    let mut all = base.clone();
    if let (Value::Object(all), Value::Object(line)) = (&mut all, line) {
        all.extend(line);
    }
    all
}
