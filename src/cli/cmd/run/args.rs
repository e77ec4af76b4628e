//! The arguments of `run`: a flag for each setting, and what to do with earlier runs.

use std::path::PathBuf;

use clap::{ArgAction, Args};

/// `run`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Run {
    /// What the agent is asked to do, the same in every round
    #[arg(value_name = "TASK")]
    pub task: Option<String>,
    /// A file that holds the task; `-` is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "task")]
    pub prompt_file: Option<PathBuf>,
    /// Agent, model and effort in one: claude/claude-opus-5:high
    #[arg(short = 'a', value_name = "AGENT[/MODEL][:EFFORT]", conflicts_with_all = ["agent"])]
    pub all: Option<String>,
    /// Settings, each a flag.
    #[command(flatten)]
    pub settings: Settings,
    /// A settings file: flyball.toml, or the original's juice.yaml [default: the project's flyball.toml]
    #[arg(long = "settings", value_name = "FILE")]
    pub settings_file: Option<PathBuf>,
    /// The project's folder, in which the agent is started
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub project: PathBuf,
    /// Where the records go [default: .flyball in the project]
    #[arg(long, value_name = "DIR")]
    pub state: Option<PathBuf>,
    /// Go on with the last run, whatever stopped it; one that was interrupted goes on without this
    #[arg(long, conflicts_with = "fresh")]
    pub resume: bool,
    /// Lift a cap of the run that goes on, and record it: --raise budget=20
    #[arg(long, value_name = "CAP=VALUE", requires = "resume", action = ArgAction::Append)]
    pub raise: Vec<String>,
    /// Start a new run that takes over nothing
    #[arg(long)]
    pub fresh: bool,
    /// Keep the rung where a run after a spent budget would start clean
    #[arg(long)]
    pub keep_rung: bool,
    /// Print the effective settings, each with its origin, and do nothing
    #[arg(long)]
    pub print_config: bool,
    /// What to print: a line a round, or one JSON object a line
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
    /// Say only how it ended
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Say what each turn brings, and what the agent says
    #[arg(short, long)]
    pub verbose: bool,
    /// The whole argv of the agent, in place of what its adapter makes; {model}, {effort}, {session} and {prompt_file} are filled in
    #[arg(last = true, value_name = "ARGV")]
    pub argv: Vec<String>,
}

/// What `run` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Lines for people.
    Text,
    /// One JSON object a line.
    Json,
}

/// A flag for each setting; texts, read later so that faults name their origin.
#[derive(Debug, Default, Args)]
pub struct Settings {
    /// claude, codex, pi, opencode, gemini, copilot, command (any argv after --), or sim: no account needed
    #[arg(long, value_name = "AGENT", help_heading = "Agent")]
    pub agent: Option<String>,
    /// The model, as the agent's program calls it
    #[arg(long, value_name = "MODEL", help_heading = "Agent")]
    pub model: Option<String>,
    /// The effort to start at [default: the model's own]
    #[arg(long, value_name = "WORD", help_heading = "Agent")]
    pub effort: Option<String>,
    /// The efforts, hardest first, with commas between [default: what is known of the model]
    #[arg(long, value_name = "WORDS", help_heading = "Agent")]
    pub ladder: Option<String>,
    /// What the agent may do unasked: safe is its program's own mode without a terminal, skip is anything
    #[arg(long, value_name = "safe|skip", help_heading = "Agent")]
    pub permissions: Option<String>,
    /// The program to start in place of the agent's usual name
    #[arg(long, value_name = "PATH", help_heading = "Agent")]
    pub program: Option<String>,
    /// A further argument for the agent's program; may be given again
    #[arg(long, value_name = "WORD", action = ArgAction::Append, allow_hyphen_values = true, help_heading = "Agent")]
    pub argument: Vec<String>,
    /// The law [default: reference]
    #[arg(long, value_name = "LAW", help_heading = "Governor")]
    pub law: Option<String>,
    /// The target, output tokens per turn of the model [default: 2000]
    #[arg(long, value_name = "TOKENS", allow_hyphen_values = true, help_heading = "Governor")]
    pub juice: Option<String>,
    /// The window [default: 300s]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, help_heading = "Governor")]
    pub over: Option<String>,
    /// Half width of the band, a share of the target [default: 0.15]
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true, help_heading = "Governor")]
    pub slack: Option<String>,
    /// The pause between rounds [default: 5s]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, help_heading = "Governor")]
    pub rest: Option<String>,
    /// Millions of output tokens, 0 for no limit [default: 10]
    #[arg(long, value_name = "MILLIONS", allow_hyphen_values = true, help_heading = "Caps")]
    pub budget: Option<String>,
    /// Rounds of the whole loop
    #[arg(long, value_name = "N", allow_hyphen_values = true, help_heading = "Caps")]
    pub max_rounds: Option<String>,
    /// Millions of tokens of all kinds
    #[arg(long, value_name = "MILLIONS", allow_hyphen_values = true, help_heading = "Caps")]
    pub max_tokens: Option<String>,
    /// US dollars, as the agent states its cost
    #[arg(long, value_name = "USD", allow_hyphen_values = true, help_heading = "Caps")]
    pub max_cost: Option<String>,
    /// Wall time of this invocation
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, help_heading = "Caps")]
    pub max_wall: Option<String>,
    /// Wall time of one round: it is ended, the loop goes on [default: 45m]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, help_heading = "Caps")]
    pub round_cap: Option<String>,
    /// Time without a sign of life in a round: it is ended, the loop goes on [default: 10m]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, help_heading = "Caps")]
    pub inactivity: Option<String>,
    /// Requests to the model in one round: more of them stop the loop [default: 500]
    #[arg(long, value_name = "N", allow_hyphen_values = true, help_heading = "Caps")]
    pub max_requests: Option<String>,
    /// Failed rounds in a row [default: 3]
    #[arg(long, value_name = "N", allow_hyphen_values = true, help_heading = "Caps")]
    pub max_failures: Option<String>,
    /// The pause after a failed round, doubled for each further one [default: 5s]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, help_heading = "Caps")]
    pub backoff: Option<String>,
    /// How long an agent that was told to end may take [default: 10s]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, help_heading = "Caps")]
    pub grace: Option<String>,
    /// How long an agent may go on after its closing line [default: 30s]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, help_heading = "Caps")]
    pub after_result: Option<String>,
    /// Requests of one round, for programs that take such a cap themselves
    #[arg(long, value_name = "N", allow_hyphen_values = true, help_heading = "Caps")]
    pub call_turns: Option<String>,
    /// US dollars of one round, for programs that take such a cap themselves
    #[arg(long, value_name = "USD", allow_hyphen_values = true, help_heading = "Caps")]
    pub call_cost: Option<String>,
    /// Run without any cap that ends the loop
    #[arg(long, help_heading = "Caps")]
    pub unlimited: bool,
    /// The scenario that the simulated agent plays [default: a typical one]
    #[arg(long, value_name = "FILE", help_heading = "Simulated agent")]
    pub scenario: Option<String>,
    /// What the simulated agent's luck comes from [default: 1]
    #[arg(long, value_name = "N", allow_hyphen_values = true, help_heading = "Simulated agent")]
    pub seed: Option<String>,
    /// Which run of that seed [default: 0]
    #[arg(long = "run", value_name = "N", allow_hyphen_values = true, help_heading = "Simulated agent")]
    pub run_number: Option<String>,
    /// Whose lines it speaks: claude, claude-result-only, codex, pi, opencode [default: claude]
    #[arg(long, value_name = "WIRE", help_heading = "Simulated agent")]
    pub wire: Option<String>,
    /// How many times faster than real it plays, or instant [default: instant]
    #[arg(long, value_name = "FACTOR", help_heading = "Simulated agent")]
    pub speed: Option<String>,
}

impl Settings {
    /// What was given, by flag.
    #[must_use]
    pub fn given(&self) -> Vec<(&'static str, String)> {
        let plain = [
            ("agent", &self.agent),
            ("model", &self.model),
            ("effort", &self.effort),
            ("ladder", &self.ladder),
            ("permissions", &self.permissions),
            ("program", &self.program),
            ("law", &self.law),
            ("juice", &self.juice),
            ("over", &self.over),
            ("slack", &self.slack),
            ("rest", &self.rest),
            ("budget", &self.budget),
            ("max-rounds", &self.max_rounds),
            ("max-tokens", &self.max_tokens),
            ("max-cost", &self.max_cost),
            ("max-wall", &self.max_wall),
            ("round-cap", &self.round_cap),
            ("inactivity", &self.inactivity),
            ("max-requests", &self.max_requests),
            ("max-failures", &self.max_failures),
            ("backoff", &self.backoff),
            ("grace", &self.grace),
            ("after-result", &self.after_result),
            ("call-turns", &self.call_turns),
            ("call-cost", &self.call_cost),
            ("scenario", &self.scenario),
            ("seed", &self.seed),
            ("run", &self.run_number),
            ("wire", &self.wire),
            ("speed", &self.speed),
        ];
        let mut given: Vec<(&'static str, String)> =
            plain.into_iter().filter_map(|(flag, text)| Some((flag, text.clone()?))).collect();
        if !self.argument.is_empty() {
            given.push(("argument", serde_json::to_string(&self.argument).unwrap_or_default()));
        }
        if self.unlimited {
            given.push(("unlimited", true.to_string()));
        }
        given
    }
}

const EXAMPLES: &str = "\
Each setting is a flag, a variable FLYBALL_FLAG, or a key of flyball.toml; flag beats variable beats file. --print-config shows all of them.

Examples:
  flyball run --agent sim --max-rounds 30 \"any task\"
      the whole loop with a simulated agent, in a second, without an account
  flyball run -a claude/claude-opus-5:high --max-rounds 20 \"$(cat TASK.md)\"
  flyball run --agent codex --model gpt-5.5 --juice 1500 --prompt-file TASK.md
  flyball run --agent command \"task\" -- my-agent --effort {effort}

Exit codes: 0 the oracle passed; 1 a control stopped the loop; 2 usage or configuration; 4 the agent cannot run; 5 a fault of flyball; 129, 130, 143 stopped by HUP, INT, TERM.";
