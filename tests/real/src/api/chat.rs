//! Chat completions, as OpenAI and many others serve them. Counts as in Responses, in a last chunk of a stream if asked for.

use serde_json::{Value, json};

use super::{Answer, Frame};
use crate::tools::{Input, Tool};

pub(super) fn tools(body: &Value) -> Vec<Tool> {
    let all = body["tools"].as_array().into_iter().flatten().map(|tool| &tool["function"]);
    all.filter_map(|tool| {
        let name = tool["name"].as_str()?.to_owned();
        Some(Tool { name, schema: tool["parameters"].clone(), space: None })
    })
    .collect()
}

fn usage(answer: &Answer<'_>) -> Value {
    let turn = answer.turn;
    let input = turn.input + turn.cached;
    json!({
        "prompt_tokens": input, "completion_tokens": turn.output, "total_tokens": input + turn.output,
        "prompt_tokens_details": {"cached_tokens": turn.cached},
        "completion_tokens_details": {"reasoning_tokens": turn.thinking},
    })
}

fn call(answer: &Answer<'_>) -> Option<Value> {
    let call = answer.call.as_ref()?;
    let arguments = match &call.input {
        Input::Json(value) => value.to_string(),
        Input::Text(text) => text.clone(),
    };
    let function = json!({"name": call.name, "arguments": arguments});
    Some(json!({"index": 0, "id": answer.id("call"), "type": "function", "function": function}))
}

fn finish(answer: &Answer<'_>) -> &'static str {
    match &answer.call {
        Some(_) => "tool_calls",
        None if answer.refuses() => "content_filter",
        None => "stop",
    }
}

pub(super) fn whole(answer: &Answer<'_>) -> Value {
    let mut message = json!({"role": "assistant", "content": answer.turn.text});
    if let Some(call) = call(answer) {
        message["tool_calls"] = json!([call]);
    }
    json!({
        "id": answer.id("chatcmpl"), "object": "chat.completion", "created": 1_700_000_000, "model": answer.model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish(answer)}], "usage": usage(answer),
    })
}

pub(super) fn events(answer: &Answer<'_>) -> Vec<Frame> {
    let mut out = Vec::new();
    let mut say = |choices: Value, usage: Option<Value>| {
        let mut data = json!({
            "id": answer.id("chatcmpl"), "object": "chat.completion.chunk", "created": 1_700_000_000,
            "model": answer.model, "choices": choices,
        });
        if let Some(usage) = usage {
            data["usage"] = usage;
        }
        out.push(Frame { name: None, data: data.to_string() });
    };
    let choice = |delta: Value, finish: Option<&str>| json!([{"index": 0, "delta": delta, "finish_reason": finish}]);
    say(choice(json!({"role": "assistant", "content": ""}), None), None);
    if answer.turn.thinking > 0 {
        say(choice(json!({"reasoning_content": "so be it"}), None), None);
    }
    if let Some(call) = call(answer) {
        say(choice(json!({"tool_calls": [call]}), None), None);
    } else if !answer.refuses() {
        answer.pieces().for_each(|text| say(choice(json!({"content": text}), None), None));
    }
    say(choice(json!({}), Some(finish(answer))), None);
    say(json!([]), Some(usage(answer)));
    out.push(Frame { name: None, data: "[DONE]".into() });
    out
}
