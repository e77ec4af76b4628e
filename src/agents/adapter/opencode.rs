//! opencode: `opencode run --format json`.
//!
//! What it prints has the steps' counts, with reasoning beside them, and neither the effort that took hold nor an event that closes a
//! run. Sessions of subagents are named and no more; each is asked for afterwards. The call that gives a session its title
//! shows nowhere.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{Ask, AskError, Capabilities, CommandSpec, EffortBy, Permissions};

/// Settings as text, merged over those of its files.
const CONTENT: &str = "OPENCODE_CONFIG_CONTENT";

pub(super) const CAPABILITIES: Capabilities = Capabilities {
    live_turns: true,
    closing_total: false,
    effort: EffortBy::Flag("--variant"),
    confirms_effort: false,
    caps_turns: false,
    caps_cost: false,
    tested: &["1.18.33"],
    safe: "what opencode's own settings would ask for is refused",
    skip: "opencode runs any tool without asking (permission: allow)",
    keys: &["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENCODE_API_KEY"],
    login: Some(".local/share/opencode/auth.json"),
};

pub(super) fn command(ask: &Ask<'_>) -> Result<CommandSpec, AskError> {
    let mut spec = CommandSpec::new(ask, "opencode");
    spec.args(["run", "--format", "json"]);
    if let Some(model) = ask.model {
        spec.args(["-m", model]);
    }
    if let Some(effort) = ask.effort {
        spec.args(["--variant", effort]);
    }
    spec.argv.extend_from_slice(ask.extra);
    spec.set("OPENCODE_DISABLE_AUTOUPDATE", "1");
    if ask.permissions == Permissions::Skip {
        let held = (ask.home)(CONTENT).filter(|text| !text.trim().is_empty());
        let mut settings = match held.as_deref().map(serde_json::from_str::<Value>) {
            None => Map::new(),
            Some(Ok(Value::Object(settings))) => settings,
            Some(_) => return Err(AskError::Environment(CONTENT, "which is no JSON object to add permissions to")),
        };
        settings.insert("permission".to_owned(), "allow".into());
        spec.set(CONTENT, &Value::from(settings).to_string());
    }
    Ok(spec)
}

/// The whole of a session that ran below the round's own.
pub(super) fn afterwards(ask: &Ask<'_>, parts: &[Arc<str>]) -> Vec<CommandSpec> {
    let export = |part: &Arc<str>| {
        let mut spec = CommandSpec::new(ask, "opencode");
        spec.args(["export", part]);
        spec.set("OPENCODE_DISABLE_AUTOUPDATE", "1");
        spec
    };
    parts.iter().map(export).collect()
}
