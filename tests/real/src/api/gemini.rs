//! Gemini's generateContent. Thoughts are counted beside the candidates, not in them.

use serde_json::{Value, json};

use super::{Answer, Frame};
use crate::tools::{Input, Tool};

pub(super) fn tools(body: &Value) -> Vec<Tool> {
    let lists = body["tools"].as_array().into_iter().flatten().map(|tool| &tool["functionDeclarations"]);
    lists
        .filter_map(Value::as_array)
        .flatten()
        .filter_map(|tool| {
            let name = tool["name"].as_str()?.to_owned();
            let schema = if tool["parametersJsonSchema"].is_null() { "parameters" } else { "parametersJsonSchema" };
            Some(Tool { name, schema: tool[schema].clone(), space: None })
        })
        .collect()
}

fn parts(answer: &Answer<'_>) -> Vec<Value> {
    let mut out = Vec::new();
    if answer.turn.thinking > 0 {
        out.push(json!({"text": "so be it", "thought": true}));
    }
    if let Some(call) = &answer.call {
        let input = match &call.input {
            Input::Json(value) => value.clone(),
            Input::Text(text) => json!({"input": text}),
        };
        let call = json!({"id": answer.id("fc"), "name": call.name, "args": input});
        out.push(json!({"functionCall": call, "thoughtSignature": "c3R1Yg=="}));
    } else if !answer.refuses() {
        out.extend(answer.pieces().map(|text| json!({"text": text})));
    }
    out
}

fn chunk(answer: &Answer<'_>, parts: &[Value], last: bool) -> Value {
    let turn = answer.turn;
    let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
    if last {
        candidate["finishReason"] = if answer.refuses() { "SAFETY" } else { "STOP" }.into();
    }
    json!({
        "candidates": [candidate], "modelVersion": answer.model, "responseId": answer.id("r"),
        "usageMetadata": {
            "promptTokenCount": turn.input + turn.cached, "cachedContentTokenCount": turn.cached,
            "candidatesTokenCount": turn.output - turn.thinking, "thoughtsTokenCount": turn.thinking,
            "totalTokenCount": turn.input + turn.cached + turn.output,
        },
    })
}

pub(super) fn whole(answer: &Answer<'_>) -> Value {
    chunk(answer, &parts(answer), true)
}

pub(super) fn events(answer: &Answer<'_>) -> Vec<Frame> {
    let say = |data: Value| Frame { name: None, data: data.to_string() };
    let mut out: Vec<Frame> = parts(answer).into_iter().map(|part| say(chunk(answer, &[part], false))).collect();
    out.push(say(chunk(answer, &[json!({"text": ""})], true)));
    out
}

pub(super) fn error(status: u16, message: &str) -> Value {
    let kind = match status {
        400 => "INVALID_ARGUMENT",
        401 => "UNAUTHENTICATED",
        429 => "RESOURCE_EXHAUSTED",
        500 => "INTERNAL",
        _ => "UNAVAILABLE",
    };
    json!({"error": {"code": status, "message": message, "status": kind}})
}
