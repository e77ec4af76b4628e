//! The Gemini CLI: `gemini -o stream-json`.
//!
//! It has no flag for effort. A budget of thinking tokens, or a level, is set by a settings file for the model by its name.
//! The program has no flag for such a file either, and it reads the machine's own only where every folder above is root's. So
//! it is given a home of its own for the round: the person's settings with that addition, and links to whatever else is in
//! the person's. A name that the program replaces by another (previews are) is not reached by it. Counts are in its chat log,
//! whose name ends in the first eight digits of the session; those of subagents lie in a folder named after the session.
//!
//! Source beside the runs: the program's pages on configuration, for the settings and the variable.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::{AgentKind, Ask, AskError, Capabilities, CommandSpec, EffortBy, Follow, Permissions};

/// The home that the program uses, where it is another than the person's.
const HOME: &str = "GEMINI_CLI_HOME";

/// What the program keeps in its home beside settings, and needs to be the same or to be found again.
const KEPT: [&str; 17] = [
    ".env",
    ".gemini/.env",
    ".gemini/GEMINI.md",
    ".gemini/agents",
    ".gemini/commands",
    ".gemini/extensions",
    ".gemini/gemini-credentials.json",
    ".gemini/google_accounts.json",
    ".gemini/history",
    ".gemini/installation_id",
    ".gemini/mcp-oauth-tokens-v2.json",
    ".gemini/oauth_creds.json",
    ".gemini/policies",
    ".gemini/projects.json",
    ".gemini/skills",
    ".gemini/tmp",
    ".gemini/trustedFolders.json",
];

pub(super) const CAPABILITIES: Capabilities = Capabilities {
    live_turns: true,
    closing_total: true,
    effort: EffortBy::File(HOME),
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
    if has_own_home(ask) {
        let Some(person) = ask.folder(HOME, "") else { return Err(AskError::NoHome) };
        let home = own_home(ask);
        spec.set(HOME, &home.to_string_lossy());
        let settings = settings(ask, &person.join(".gemini/settings.json"))?;
        spec.files.push((home.join(".gemini/settings.json"), Value::from(settings).to_string()));
        spec.links.extend(KEPT.map(|name| (home.join(name), person.join(name))));
    }
    Ok(spec)
}

fn has_own_home(ask: &Ask<'_>) -> bool {
    ask.template.is_none() && (ask.effort.is_some() || ask.caps.turns.is_some())
}

fn own_home(ask: &Ask<'_>) -> PathBuf {
    ask.round_dir.join("gemini-home")
}

/// The person's settings with what is asked for.
fn settings(ask: &Ask<'_>, path: &Path) -> Result<Map<String, Value>, AskError> {
    let cannot = |why: &str| AskError::Settings(path.to_owned(), why.to_owned());
    let mut settings = match (ask.file)(path) {
        None => Map::new(),
        Some(text) => match serde_json::from_str(&without_comments(&text)) {
            Ok(Value::Object(settings)) => settings,
            Ok(_) => return Err(cannot("it is no JSON object")),
            Err(error) => return Err(cannot(&error.to_string())),
        },
    };
    if let Some(effort) = ask.effort {
        let Some(model) = ask.model else {
            return Err(AskError::Effort(
                "gemini is asked for an effort by the model's name: name the model".to_owned(),
            ));
        };
        let thinking = thinking(effort)?;
        let config = json!({"generateContentConfig": {"thinkingConfig": thinking}});
        let over = json!({"match": {"model": model}, "modelConfig": config});
        let configs = settings.entry("modelConfigs").or_insert_with(|| json!({})).as_object_mut();
        let configs = configs.ok_or_else(|| cannot("modelConfigs is no object"))?;
        let all = configs.entry("customOverrides").or_insert_with(|| json!([])).as_array_mut();
        // of two for the same model, the later one holds
        all.ok_or_else(|| cannot("modelConfigs.customOverrides is no list"))?.push(over);
    }
    if let Some(turns) = ask.caps.turns {
        let model = settings.entry("model").or_insert_with(|| json!({})).as_object_mut();
        model.ok_or_else(|| cannot("model is no object"))?.insert("maxSessionTurns".to_owned(), turns.into());
    }
    Ok(settings)
}

/// JSON as the program takes it has comments, which are made blank.
fn without_comments(text: &str) -> String {
    let (mut out, mut rest, mut quoted) = (String::with_capacity(text.len()), text.chars().peekable(), false);
    while let Some(mark) = rest.next() {
        match (mark, rest.peek()) {
            ('\\', Some(&next)) if quoted => {
                out.extend([mark, next]);
                rest.next();
                continue;
            }
            ('"', _) => quoted = !quoted,
            ('/', Some('/')) if !quoted => {
                while rest.next_if(|next| *next != '\n').is_some() {}
                continue;
            }
            ('/', Some('*')) if !quoted => {
                let mut last = ' ';
                rest.next();
                for next in rest.by_ref() {
                    if (last, next) == ('*', '/') {
                        break;
                    }
                    last = next;
                }
                continue;
            }
            _ => {}
        }
        out.push(mark);
    }
    out
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
    // its own home leads to the person's logs, where they have a place
    let home = if has_own_home(ask) { Some(own_home(ask)) } else { ask.folder(HOME, "") };
    let (Some(session), Some(home)) = (told, home) else { return Vec::new() };
    let name_contains = session.get(..8).unwrap_or(session).to_owned();
    let folder = home.join(".gemini/tmp");
    vec![Follow { folder, depth: 3, name_contains, extension: "jsonl", fresh: false, begins: None }]
}
