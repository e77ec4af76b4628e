//! Claude Code: `claude -p`.
//!
//! Partial messages are asked for: without them its lines carry start values and no count is known before the end. The
//! session is named, so that its file can be followed: the file has the effort that took hold, and the subagents' counts.

use std::path::PathBuf;

use super::{Ask, Capabilities, CommandSpec, EffortBy, Follow, Permissions};

/// A level in the environment beats the flag; a program that believes itself inside another refuses to start.
pub(super) const UNSET: [&str; 2] = ["CLAUDE_CODE_EFFORT_LEVEL", "CLAUDECODE"];

pub(super) const CAPABILITIES: Capabilities = Capabilities {
    live_turns: true,
    closing_total: true,
    effort: EffortBy::Flag("--effort"),
    confirms_effort: true,
    caps_turns: true,
    caps_cost: true,
    tested: &["2.1.197", "2.1.332"],
    safe: "tools that claude's own settings do not allow are refused, which may be all that write",
    skip: "claude runs any tool without asking (--dangerously-skip-permissions)",
    keys: &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"],
    login: Some(".claude/.credentials.json"),
};

pub(super) fn command(ask: &Ask<'_>) -> CommandSpec {
    let mut spec = CommandSpec::new(ask, "claude");
    spec.args(["-p", "--output-format", "stream-json", "--verbose", "--include-partial-messages"]);
    spec.args(["--session-id", ask.session]);
    if ask.permissions == Permissions::Skip {
        spec.args(["--dangerously-skip-permissions"]);
    }
    if let Some(model) = ask.model {
        spec.args(["--model", model]);
    }
    if let Some(effort) = ask.effort {
        spec.args(["--effort", effort]);
    }
    if let Some(turns) = ask.caps.turns {
        spec.args(["--max-turns", &turns.to_string()]);
    }
    if let Some(micro) = ask.caps.usd_micro {
        spec.args(["--max-budget-usd", &format!("{}.{:06}", micro / 1_000_000, micro % 1_000_000)]);
    }
    spec.argv.extend_from_slice(ask.extra);
    spec.unset.extend(UNSET);
    // a version that changes between two rounds would change what is measured
    spec.set("DISABLE_AUTOUPDATER", "1");
    spec
}

/// The session's file lies in a folder named after the project's, and those of its subagents below a folder named after the
/// session.
pub(super) fn follows(ask: &Ask<'_>, told: Option<&str>) -> Vec<Follow> {
    let session = told.unwrap_or(ask.session);
    let Some(home) = ask.folder("CLAUDE_CONFIG_DIR", ".claude") else { return Vec::new() };
    let (folder, plain) = project_folder(&ask.project.to_string_lossy());
    let projects = home.join("projects");
    let file = |folder: PathBuf, depth: usize, name: &str| Follow {
        folder,
        depth,
        name_contains: name.to_owned(),
        extension: "jsonl",
        fresh: false,
        begins: None,
    };
    if plain {
        let own = projects.join(folder);
        vec![file(own.clone(), 0, session), file(own.join(session).join("subagents"), 0, "agent-")]
    } else {
        // how the folder is called is not known for sure; the session's name is like no other
        vec![file(projects, 3, session)]
    }
}

/// What the project's folder is called, and whether that is certain: it is where every mark but letters, digits, `/`, `.`, `_`
/// and `-` is missing, and the name is short.
fn project_folder(project: &str) -> (String, bool) {
    let name = project.chars().map(|mark| if mark.is_ascii_alphanumeric() { mark } else { '-' }).collect();
    let known = |mark: char| mark.is_ascii_alphanumeric() || matches!(mark, '/' | '.' | '-');
    (name, project.chars().all(known) && project.len() < 200)
}
