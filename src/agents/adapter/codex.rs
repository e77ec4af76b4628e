//! Codex: `codex exec --json`.
//!
//! What it prints has one sum, and that only where all went well. The calls are in its rollout file, which is named after the
//! thread that the first line tells. Subagents are threads with files of their own, which begin with the name of the first.

use super::{Ask, Capabilities, CommandSpec, EffortBy, Follow, Permissions};

pub(super) const CAPABILITIES: Capabilities = Capabilities {
    live_turns: true,
    closing_total: true,
    effort: EffortBy::Setting("model_reasoning_effort"),
    confirms_effort: false,
    caps_turns: false,
    caps_cost: false,
    tested: &["0.171.0"],
    safe: "codex may write in the project and below the temporary folder, without the network (-s workspace-write), and the project must be \
           a git repository",
    skip: "codex runs any command outside of its sandbox (--dangerously-bypass-approvals-and-sandbox)",
    keys: &["CODEX_API_KEY", "OPENAI_API_KEY"],
    login: Some(".codex/auth.json"),
};

pub(super) fn command(ask: &Ask<'_>) -> CommandSpec {
    let mut spec = CommandSpec::new(ask, "codex");
    spec.args(["exec", "--json"]);
    match ask.permissions {
        Permissions::Safe => spec.args(["-s", "workspace-write"]),
        Permissions::Skip => spec.args(["--dangerously-bypass-approvals-and-sandbox", "--skip-git-repo-check"]),
    };
    if let Some(model) = ask.model {
        spec.args(["-m", model]);
    }
    if let Some(effort) = ask.effort {
        // the value is TOML, where a text is written as in JSON
        let word = serde_json::Value::from(effort);
        spec.args(["-c", &format!("model_reasoning_effort={word}")]);
    }
    spec.argv.extend_from_slice(ask.extra);
    // the prompt is read from standard input
    spec.args(["-"]);
    spec
}

pub(super) fn follows(ask: &Ask<'_>, told: Option<&str>) -> Vec<Follow> {
    let (Some(thread), Some(home)) = (told, ask.folder("CODEX_HOME", ".codex")) else { return Vec::new() };
    let folder = home.join("sessions");
    let file = |name: &str, begins: Option<String>| Follow {
        folder: folder.clone(),
        depth: 3,
        name_contains: name.to_owned(),
        extension: "jsonl",
        fresh: begins.is_some(),
        begins,
    };
    let of_thread = serde_json::json!(thread).to_string();
    vec![file(thread, None), file("rollout-", Some(format!("\"session_id\":{of_thread}")))]
}
