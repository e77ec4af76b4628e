//! The Copilot CLI: `copilot --output-format json`.
//!
//! What it prints has no counts. They are in the event log of the session, which it names in its very last line only: until
//! then the log is known by being new.

use super::{Ask, Capabilities, CommandSpec, EffortBy, Follow, Permissions};

pub(super) const CAPABILITIES: Capabilities = Capabilities {
    live_turns: true,
    closing_total: true,
    effort: EffortBy::Flag("--reasoning-effort"),
    confirms_effort: false,
    caps_turns: false,
    caps_cost: false,
    tested: &["1.0.102"],
    safe: "tools that would have to be asked for are refused, which are all that write",
    skip: "copilot runs any tool on any path and address without asking (--allow-all)",
    keys: &["COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "COPILOT_PROVIDER_API_KEY"],
    login: Some(".copilot/config.json"),
};

pub(super) fn command(ask: &Ask<'_>) -> CommandSpec {
    let mut spec = CommandSpec::new(ask, "copilot");
    spec.args(["--output-format", "json", "--no-auto-update"]);
    if ask.permissions == Permissions::Skip {
        spec.args(["--allow-all"]);
    }
    if let Some(model) = ask.model {
        spec.args(["--model", model]);
    }
    if let Some(effort) = ask.effort {
        spec.args(["--reasoning-effort", effort]);
    }
    spec.argv.extend_from_slice(ask.extra);
    spec
}

pub(super) fn follows(ask: &Ask<'_>, told: Option<&str>) -> Vec<Follow> {
    let Some(home) = ask.folder("COPILOT_HOME", ".copilot") else { return Vec::new() };
    let folder = home.join("session-state");
    let (name_contains, fresh) =
        told.map_or_else(|| ("events".to_owned(), true), |session| (session.to_owned(), false));
    vec![Follow { folder, depth: 1, name_contains, extension: "jsonl", fresh, begins: None }]
}
