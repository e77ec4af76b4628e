//! The Gemini CLI: `gemini -o stream-json`.
//!
//! It has no flag for effort. A budget of thinking tokens, or a level, is set by a settings file for the model by its name; the
//! file is given as the system's *defaults*, which the person's own settings beat and which hide no policy of the machine.
//! A name that the program replaces by another (previews are) is not reached by it. Counts are in its chat log, whose name ends
//! in the first eight digits of the session.
//!
//! Source beside the runs: the program's pages on configuration, for the order of settings files.

use serde_json::{Map, Value, json};

use super::{AgentKind, Ask, AskError, Capabilities, CommandSpec, EffortBy, Follow, Permissions};

/// Points to the system's defaults.
const DEFAULTS: &str = "GEMINI_CLI_SYSTEM_DEFAULTS_PATH";

pub(super) const CAPABILITIES: Capabilities = Capabilities {
    live_turns: true,
    closing_total: true,
    effort: EffortBy::File(DEFAULTS),
    confirms_effort: false,
    caps_turns: true,
    caps_cost: false,
    tested: &["0.61.0"],
    safe: "tools that would have to be asked for are refused, which are all that write, and the folder must be trusted",
    skip: "gemini runs any tool without asking, in any folder (-y --skip-trust)",
    keys: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    login: Some(".gemini/oauth_creds.json"),
};

pub(super) fn command(ask: &Ask<'_>) -> Result<CommandSpec, AskError> {
    let mut spec = CommandSpec::new(ask, "gemini");
    spec.args(["-o", "stream-json"]);
    if ask.permissions == Permissions::Skip {
        spec.args(["-y", "--skip-trust"]);
    }
    if let Some(model) = ask.model {
        spec.args(["-m", model]);
    }
    spec.argv.extend_from_slice(ask.extra);
    let settings = settings(ask)?;
    if !settings.is_empty() {
        if (ask.home)(DEFAULTS).is_some_and(|path| !path.is_empty()) {
            return Err(AskError::Environment(DEFAULTS, "which is needed to ask gemini for an effort or a cap"));
        }
        let path = ask.round_dir.join("gemini-defaults.json");
        spec.set(DEFAULTS, &path.to_string_lossy());
        spec.files.push((path, Value::from(settings).to_string()));
    }
    Ok(spec)
}

fn settings(ask: &Ask<'_>) -> Result<Map<String, Value>, AskError> {
    let mut settings = Map::new();
    if let Some(effort) = ask.effort {
        let Some(model) = ask.model else {
            return Err(AskError::Effort(
                "gemini is asked for an effort by the model's name: name the model".to_owned(),
            ));
        };
        let thinking = thinking(effort)?;
        let config = json!({"generateContentConfig": {"thinkingConfig": thinking}});
        let over = json!({"match": {"model": model}, "modelConfig": config});
        settings.insert("modelConfigs".to_owned(), json!({"customOverrides": [over]}));
    }
    if let Some(turns) = ask.caps.turns {
        settings.insert("model".to_owned(), json!({"maxSessionTurns": turns}));
    }
    Ok(settings)
}

/// A number is a budget in tokens, a word a level.
fn thinking(effort: &str) -> Result<Value, AskError> {
    if let Ok(budget) = effort.parse::<u32>() {
        return Ok(json!({"thinkingBudget": budget}));
    }
    if matches!(effort, "minimal" | "low" | "medium" | "high") {
        return Ok(json!({"thinkingLevel": effort.to_ascii_uppercase()}));
    }
    let kind = AgentKind::Gemini;
    Err(AskError::Effort(format!(
        "{kind} takes a number of thinking tokens, or minimal, low, medium or high, for an effort, and not `{effort}`"
    )))
}

pub(super) fn follows(ask: &Ask<'_>, told: Option<&str>) -> Vec<Follow> {
    let (Some(session), Some(home)) = (told, ask.home_folder()) else { return Vec::new() };
    let name = session.get(..8).unwrap_or(session).to_owned();
    vec![Follow { folder: home.join(".gemini/tmp"), depth: 2, name_contains: name, extension: "jsonl", fresh: false }]
}
