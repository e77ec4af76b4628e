//! Anthropic's Messages. Usage in the start of a stream holds a placeholder of one output token, the end states the count.

use serde_json::{Value, json};

use super::{Answer, Frame};
use crate::tools::{Input, Tool};

pub(super) fn tools(body: &Value) -> Vec<Tool> {
    let all = body["tools"].as_array().into_iter().flatten();
    all.filter_map(|tool| {
        let name = tool["name"].as_str()?.to_owned();
        Some(Tool { name, schema: tool["input_schema"].clone(), space: None })
    })
    .collect()
}

fn usage(answer: &Answer<'_>, output: u64) -> Value {
    let turn = answer.turn;
    let mut usage = json!({
        "input_tokens": turn.input,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": turn.cached,
        "output_tokens": output,
    });
    if output == turn.output && turn.thinking > 0 {
        usage["output_tokens_details"] = json!({"thinking_tokens": turn.thinking});
    }
    usage
}

fn stop(answer: &Answer<'_>) -> &'static str {
    match &answer.call {
        Some(_) => "tool_use",
        None if answer.refuses() => "refusal",
        None => "end_turn",
    }
}

/// The blocks of the answer: thinking, text, a call.
fn blocks(answer: &Answer<'_>) -> Vec<Value> {
    let mut out = Vec::new();
    if answer.turn.thinking > 0 {
        out.push(json!({"type": "thinking", "thinking": "so be it", "signature": "c3R1Yg=="}));
    }
    if !answer.refuses() {
        out.push(json!({"type": "text", "text": answer.turn.text}));
    }
    if let Some(call) = &answer.call {
        let input = match &call.input {
            Input::Json(value) => value.clone(),
            Input::Text(text) => json!({"input": text}),
        };
        out.push(json!({"type": "tool_use", "id": answer.id("toolu"), "name": call.name, "input": input}));
    }
    out
}

fn message(answer: &Answer<'_>, content: Vec<Value>, output: u64, stop: Option<&str>) -> Value {
    json!({
        "id": answer.id("msg"), "type": "message", "role": "assistant", "model": answer.model,
        "content": content, "stop_reason": stop, "stop_sequence": null, "usage": usage(answer, output),
    })
}

pub(super) fn whole(answer: &Answer<'_>) -> Value {
    message(answer, blocks(answer), answer.turn.output, Some(stop(answer)))
}

pub(super) fn events(answer: &Answer<'_>) -> Vec<Frame> {
    let mut out = Vec::new();
    let mut say = |name: &'static str, mut data: Value| {
        data["type"] = name.into();
        out.push(Frame { name: Some(name), data: data.to_string() });
    };
    say("message_start", json!({"message": message(answer, Vec::new(), 1, None)}));
    for (index, block) in blocks(answer).into_iter().enumerate() {
        let (mut empty, mut deltas) = (block.clone(), Vec::new());
        match block["type"].as_str() {
            Some("text") => {
                empty["text"] = "".into();
                deltas.extend(answer.pieces().map(|text| json!({"type": "text_delta", "text": text})));
            }
            Some("thinking") => {
                empty["thinking"] = "".into();
                empty["signature"] = "".into();
                deltas.push(json!({"type": "thinking_delta", "thinking": block["thinking"]}));
                deltas.push(json!({"type": "signature_delta", "signature": block["signature"]}));
            }
            _ => {
                empty["input"] = json!({});
                deltas.push(json!({"type": "input_json_delta", "partial_json": block["input"].to_string()}));
            }
        }
        say("content_block_start", json!({"index": index, "content_block": empty}));
        for delta in deltas {
            say("content_block_delta", json!({"index": index, "delta": delta}));
        }
        say("content_block_stop", json!({"index": index}));
    }
    let end = json!({"stop_reason": stop(answer), "stop_sequence": null});
    say("message_delta", json!({"delta": end, "usage": usage(answer, answer.turn.output)}));
    say("message_stop", json!({}));
    out
}

pub(super) fn error(status: u16, message: &str) -> Value {
    let kind = match status {
        400 => "invalid_request_error",
        401 => "authentication_error",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        _ => "api_error",
    };
    json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_stub"})
}
