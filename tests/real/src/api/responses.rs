//! OpenAI's Responses. Cached tokens are a part of the input, and thinking a part of the output.

use serde_json::{Value, json};

use super::{Answer, Frame};
use crate::tools::{Input, Tool};

pub(super) fn tools(body: &Value) -> Vec<Tool> {
    let mut out = Vec::new();
    let added = body["input"].as_array().into_iter().flatten().filter(|item| item["type"] == "additional_tools");
    let lists = std::iter::once(&body["tools"]).chain(added.map(|item| &item["tools"]));
    for tool in lists.filter_map(Value::as_array).flatten() {
        if tool["type"] == "namespace" {
            let space = tool["name"].as_str();
            tool["tools"].as_array().into_iter().flatten().for_each(|inner| add(inner, space, &mut out));
        } else {
            add(tool, None, &mut out);
        }
    }
    out
}

fn add(tool: &Value, space: Option<&str>, out: &mut Vec<Tool>) {
    let kind = tool["type"].as_str().unwrap_or_default();
    if let (Some(name), "function" | "custom") = (tool["name"].as_str(), kind) {
        let schema = if kind == "custom" { Value::Null } else { tool["parameters"].clone() };
        out.push(Tool { name: name.into(), schema, space: space.map(str::to_owned) });
    }
}

fn usage(answer: &Answer<'_>) -> Value {
    let turn = answer.turn;
    let input = turn.input + turn.cached;
    json!({
        "input_tokens": input, "input_tokens_details": {"cached_tokens": turn.cached},
        "output_tokens": turn.output, "output_tokens_details": {"reasoning_tokens": turn.thinking},
        "total_tokens": input + turn.output,
    })
}

/// The items of the answer: reasoning, then a call or a message.
fn items(answer: &Answer<'_>) -> Vec<Value> {
    let mut out = Vec::new();
    if answer.turn.thinking > 0 {
        out.push(json!({
            "type": "reasoning", "id": answer.id("rs"), "summary": [{"type": "summary_text", "text": "so be it"}],
            "encrypted_content": "c3R1Yg==",
        }));
    }
    let Some(call) = &answer.call else {
        let part = if answer.refuses() {
            json!({"type": "refusal", "refusal": "That I will not do."})
        } else {
            json!({"type": "output_text", "text": answer.turn.text, "annotations": []})
        };
        out.push(json!({
            "type": "message", "id": answer.id("msg"), "role": "assistant", "status": "completed", "content": [part],
        }));
        return out;
    };
    let mut item = match &call.input {
        Input::Json(value) => json!({"type": "function_call", "id": answer.id("fc"), "arguments": value.to_string()}),
        Input::Text(text) => json!({"type": "custom_tool_call", "id": answer.id("ctc"), "input": text}),
    };
    item["call_id"] = answer.id("call").into();
    item["name"] = call.name.as_str().into();
    item["status"] = "completed".into();
    if let Some(space) = &call.space {
        item["namespace"] = space.as_str().into();
    }
    out.push(item);
    out
}

fn response(answer: &Answer<'_>, status: &str, items: &[Value], usage: Value) -> Value {
    json!({
        "id": answer.id("resp"), "object": "response", "created_at": 1_700_000_000, "status": status,
        "model": answer.model, "output": items, "usage": usage, "error": null, "incomplete_details": null,
        "parallel_tool_calls": true, "tools": [], "tool_choice": "auto",
    })
}

pub(super) fn whole(answer: &Answer<'_>) -> Value {
    response(answer, "completed", &items(answer), usage(answer))
}

pub(super) fn events(answer: &Answer<'_>) -> Vec<Frame> {
    let mut out = Vec::new();
    let mut say = |name: &'static str, mut data: Value| {
        data["type"] = name.into();
        data["sequence_number"] = out.len().into();
        out.push(Frame { name: Some(name), data: data.to_string() });
    };
    say("response.created", json!({"response": response(answer, "in_progress", &[], Value::Null)}));
    let items = items(answer);
    for (index, item) in items.iter().enumerate() {
        let mut open = item.clone();
        let at = json!({"output_index": index, "item_id": item["id"]});
        let with = |more: Value| {
            let mut data = at.clone();
            for (key, value) in more.as_object().into_iter().flatten() {
                data[key] = value.clone();
            }
            data
        };
        if item["type"] == "message" {
            open["content"] = json!([]);
            open["status"] = "in_progress".into();
        }
        say("response.output_item.added", json!({"output_index": index, "item": open}));
        if item["type"] == "message" && !answer.refuses() {
            let empty = json!({"type": "output_text", "text": "", "annotations": []});
            say("response.content_part.added", with(json!({"content_index": 0, "part": empty})));
            for delta in answer.pieces() {
                say("response.output_text.delta", with(json!({"content_index": 0, "delta": delta})));
            }
            say("response.output_text.done", with(json!({"content_index": 0, "text": answer.turn.text})));
            say("response.content_part.done", with(json!({"content_index": 0, "part": item["content"][0]})));
        }
        if item["type"] == "function_call" {
            let arguments = &item["arguments"];
            say("response.function_call_arguments.delta", with(json!({"delta": arguments})));
            say("response.function_call_arguments.done", with(json!({"arguments": arguments})));
        }
        if item["type"] == "reasoning" {
            let (empty, full) = (json!({"type": "summary_text", "text": ""}), &item["summary"][0]);
            say("response.reasoning_summary_part.added", with(json!({"summary_index": 0, "part": empty})));
            let text = &full["text"];
            say("response.reasoning_summary_text.delta", with(json!({"summary_index": 0, "delta": text})));
            say("response.reasoning_summary_text.done", with(json!({"summary_index": 0, "text": text})));
            say("response.reasoning_summary_part.done", with(json!({"summary_index": 0, "part": full})));
        }
        say("response.output_item.done", json!({"output_index": index, "item": item}));
    }
    say("response.completed", json!({"response": response(answer, "completed", &items, usage(answer))}));
    out
}

pub(super) fn error(status: u16, message: &str, code: Option<&str>) -> Value {
    let (kind, usual) = match status {
        400 => ("invalid_request_error", None),
        401 => ("invalid_request_error", Some("invalid_api_key")),
        429 => ("rate_limit_exceeded", Some("rate_limit_exceeded")),
        _ => ("server_error", None),
    };
    json!({"error": {"type": kind, "code": code.or(usual), "param": null, "message": message}})
}
