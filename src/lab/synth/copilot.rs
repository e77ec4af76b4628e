//! The Copilot CLI: its event log, as 1.0.64 writes it.
//!
//! `assistant.message` has the output count of a call and nothing else of its usage; the turn around it says when the request was sent.
//! The effort stands in `session.model_change`. A call of unknown size has no count, and a session with one has no closing
//! total, as one that was killed has none.

use serde_json::{Map, Value, json};

use super::Session;
use super::line::{Call, digest, push, uuid};
use crate::engine::Timestamp;
use crate::trace::iso;

const VERSION: &str = "1.0.64";

/// The event log.
#[must_use]
pub fn events(session: &Session) -> String {
    let mut text = String::new();
    let (mut before, mut nth) = (Value::Null, 0_u64);
    let mut event = |at: Timestamp, kind: &str, data: Value| {
        let id = uuid(&format!("{} {nth}", session.id));
        nth += 1;
        push(&mut text, &json!({"type": kind, "data": data, "id": id, "timestamp": iso(at), "parentId": before}));
        before = id.into();
    };
    let began = session.began;
    event(
        began,
        "session.start",
        json!({"sessionId": session.id, "version": 1, "producer": "copilot-agent", "copilotVersion": VERSION, "startTime": iso(began)}),
    );
    event(began, "user.message", json!({"content": ""}));
    let mut set: Option<(&str, &str)> = None;
    let mut totals: Map<String, Value> = Map::new();
    let calls = Call::all(session);
    let mut tool: Option<String> = None;
    for call in &calls {
        if let Some(id) = tool.take() {
            event(call.start, "tool.execution_complete", json!({"toolCallId": id, "success": true}));
        }
        if set != Some((call.model, call.effort)) {
            set = Some((call.model, call.effort));
            event(call.start, "session.model_change", json!({"newModel": call.model, "reasoningEffort": call.effort}));
        }
        let turn = &digest(&call.id)[..16];
        event(call.start, "assistant.turn_start", json!({"turnId": turn}));
        let mut data = json!({"messageId": uuid(&call.id), "model": call.model, "content": "", "toolRequests": [], "turnId": turn, "apiCallId": call.id});
        if let Some(output) = call.output() {
            data["outputTokens"] = output.into();
            let sum = totals.get(call.model).and_then(Value::as_u64).unwrap_or(0);
            totals.insert(call.model.to_owned(), sum.saturating_add(output).into());
        }
        event(call.record.end, "assistant.message", data);
        if !call.last {
            let id = format!("toolu_{}", digest(&call.id));
            event(
                call.record.end,
                "tool.execution_start",
                json!({"toolCallId": id, "toolName": "bash", "arguments": {}}),
            );
            tool = Some(id);
        }
        event(call.record.end, "assistant.turn_end", json!({"turnId": turn}));
    }
    let usage = |(model, output): (String, Value)| (model, json!({"usage": {"outputTokens": output}}));
    let metrics: Map<String, Value> = totals.into_iter().map(usage).collect();
    let ended = calls.last().map_or(began, |call| call.record.end);
    if calls.iter().all(|call| call.output().is_some()) {
        event(ended, "session.shutdown", json!({"shutdownType": "routine", "modelMetrics": metrics}));
    }
    text
}
