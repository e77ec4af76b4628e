//! The tools that a request offers, and arguments for the one that the script wants called.

use serde_json::{Map, Value, json};

/// One tool of a request.
pub struct Tool {
    pub name: String,
    /// The JSON schema of its arguments; null where its input is free text.
    pub schema: Value,
    /// The name space that a call must repeat, where the API has them.
    pub space: Option<String>,
}

impl Tool {
    /// Its input is text, not JSON.
    pub fn is_free(&self) -> bool {
        self.schema.is_null()
    }
}

/// The names under which the CLIs offer a shell, the best first.
const SHELLS: &[&str] = &["Bash", "bash", "shell_command", "exec_command", "exec", "shell", "run_shell_command"];

/// The names under which they offer sub-agents.
const AGENTS: &[&str] = &["Agent", "Task", "task", "invoke_agent", "agent", "spawn_agent"];

/// A call of a tool.
pub struct Call {
    pub name: String,
    pub space: Option<String>,
    pub input: Input,
}

/// What a tool is called with.
pub enum Input {
    Json(Value),
    Text(String),
}

fn find<'a>(tools: &'a [Tool], names: &[&str]) -> Option<&'a Tool> {
    names.iter().find_map(|name| tools.iter().find(|tool| tool.name == *name))
}

/// A call of the shell; of whatever there is where no shell is offered.
pub fn shell(tools: &[Tool], command: &str) -> Option<Call> {
    let tool = find(tools, SHELLS).or(tools.first())?;
    let input = if tool.is_free() {
        let quoted = Value::from(command).to_string();
        Input::Text(format!("const r = await tools.exec_command({{cmd: {quoted}}}); text(r.output)"))
    } else {
        Input::Json(fill(&tool.schema, |key, kind| match key {
            "command" | "cmd" if kind == "array" => Some(json!(["bash", "-lc", command])),
            "command" | "cmd" => Some(command.into()),
            "description" => Some("a step".into()),
            // a call that outlives what the tool itself waits for would come back as a job
            "timeout" | "timeout_ms" | "yield_time_ms" | "yieldTimeMs" => Some(30_000.into()),
            _ => None,
        }))
    };
    Some(Call { name: tool.name.clone(), space: tool.space.clone(), input })
}

/// A call of the tool for sub-agents, which is to be waited for; `None` where there is none.
pub fn sub_agent(tools: &[Tool], prompt: &str) -> Option<Call> {
    let tool = find(tools, AGENTS)?;
    let schema = &tool.schema;
    let input = fill(schema, |key, _| match key {
        "prompt" | "message" | "task" | "objective" => Some(prompt.into()),
        "description" | "name" | "task_name" => Some("part".into()),
        "subagent_type" | "agent_type" | "agent_name" => Some(general(&tool.name, &schema["properties"][key]["enum"])),
        "run_in_background" => Some(false.into()),
        "mode" => Some("sync".into()),
        _ => None,
    });
    Some(Call { name: tool.name.clone(), space: tool.space.clone(), input: Input::Json(input) })
}

/// A call of the tool that waits for sub-agents; `None` where there is none.
pub fn wait(tools: &[Tool]) -> Option<Call> {
    let tool = find(tools, &["wait_agent", "wait"])?;
    let input = fill(&tool.schema, |key, _| (key == "timeout_ms").then(|| 60_000.into()));
    Some(Call { name: tool.name.clone(), space: tool.space.clone(), input: Input::Json(input) })
}

/// A call of the tool with which some sub-agents must hand over what they have; `None` for all others.
pub fn hand_over(tools: &[Tool], text: &str) -> Option<Call> {
    let tool = find(tools, &["complete_task"])?;
    let input = fill(&tool.schema, |_, kind| (kind == "string").then(|| text.into()));
    Some(Call { name: tool.name.clone(), space: tool.space.clone(), input: Input::Json(input) })
}

/// The kind of sub-agent that can do anything, as the tool's schema or its own CLI calls it.
fn general(tool: &str, allowed: &Value) -> Value {
    let words = ["general-purpose", "general", "generalist"];
    let named = |word: &&&str| allowed.as_array().is_some_and(|all| all.iter().any(|one| one == **word));
    let usual = match tool {
        "task" => "general",
        "invoke_agent" => "generalist",
        _ => "general-purpose",
    };
    words.iter().find(named).copied().or(allowed[0].as_str()).unwrap_or(usual).into()
}

/// Arguments that a schema accepts: those that are known by name, and whatever else it requires.
fn fill(schema: &Value, known: impl Fn(&str, &str) -> Option<Value>) -> Value {
    fill_with(schema, &known)
}

fn fill_with(schema: &Value, known: &dyn Fn(&str, &str) -> Option<Value>) -> Value {
    let mut out = Map::new();
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    for (key, of) in schema["properties"].as_object().into_iter().flatten() {
        let kind = match &of["type"] {
            Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null"),
            kind => kind.as_str(),
        };
        let kind = kind.unwrap_or("string");
        if let Some(value) = known(key, kind) {
            out.insert(key.clone(), value);
        } else if required.iter().any(|name| name == key) {
            out.insert(key.clone(), any(of, kind, known));
        }
    }
    Value::Object(out)
}

/// Some value of a kind.
fn any(of: &Value, kind: &str, known: &dyn Fn(&str, &str) -> Option<Value>) -> Value {
    if let Some(first) = of["enum"].as_array().and_then(|all| all.first()) {
        return first.clone();
    }
    match kind {
        "integer" | "number" => 10.into(),
        "boolean" => false.into(),
        "array" => json!([]),
        "object" => fill_with(of, known),
        _ => "x".into(),
    }
}
