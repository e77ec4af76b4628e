//! pi: `pi -p --mode json`.
//!
//! What it prints says all: counts, times and the level that took hold, at the end of each answer. Its exit code says nothing. It
//! has no permissions to give or to take.

use super::{Ask, Capabilities, CommandSpec, EffortBy};

pub(super) const CAPABILITIES: Capabilities = Capabilities {
    live_turns: true,
    closing_total: false,
    effort: EffortBy::Flag("--thinking"),
    confirms_effort: true,
    caps_turns: false,
    caps_cost: false,
    tested: &["1.6.0"],
    safe: "pi has no permissions: it runs any tool without asking, as it always does",
    skip: "pi has no permissions: it runs any tool without asking, as it always does",
    keys: &["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"],
    login: Some(".pi/agent/auth.json"),
};

pub(super) fn command(ask: &Ask<'_>) -> CommandSpec {
    let mut spec = CommandSpec::new(ask, "pi");
    spec.args(["-p", "--mode", "json"]);
    if let Some(model) = ask.model {
        spec.args(["--model", model]);
    }
    if let Some(effort) = ask.effort {
        spec.args(["--thinking", effort]);
    }
    spec.argv.extend_from_slice(ask.extra);
    spec
}
