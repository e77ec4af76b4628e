//! The arguments of `run`: a flag for each setting, and what to do with earlier runs.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

use crate::cli::settings::keys::{KEYS, Key, Times};

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

/// What was given of the settings, by flag; texts, read later so that faults name their origin. The flags are those of
/// [`KEYS`].
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// What was given, by flag.
    pub given: Vec<(&'static str, String)>,
}

/// The argv is given after `--` and has no flag.
fn flags() -> impl Iterator<Item = &'static Key> {
    KEYS.iter().filter(|key| key.flag != "argv")
}

impl Args for Settings {
    fn augment_args(command: Command) -> Command {
        flags().fold(command, |command, key| {
            let usual = if key.usual.is_empty() || key.times == Times::Switch {
                String::new()
            } else {
                format!(" [default: {}]", key.usual)
            };
            let arg = Arg::new(key.flag).long(key.flag).help(format!("{}{usual}", key.help)).help_heading(key.about());
            command.arg(match key.times {
                Times::Once => arg.value_name(key.value).allow_hyphen_values(true),
                Times::Many => arg.value_name(key.value).allow_hyphen_values(true).action(ArgAction::Append),
                Times::Switch => arg.action(ArgAction::SetTrue),
            })
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Settings {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut settings = Self::default();
        settings.update_from_arg_matches(matches)?;
        Ok(settings)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.given = flags().filter_map(|key| Some((key.flag, given(key, matches)?))).collect();
        Ok(())
    }
}

/// What was given of one setting.
fn given(key: &Key, matches: &ArgMatches) -> Option<String> {
    match key.times {
        Times::Once => matches.get_one::<String>(key.flag).cloned(),
        Times::Many => {
            let all: Vec<&String> = matches.get_many::<String>(key.flag)?.collect();
            serde_json::to_string(&all).ok()
        }
        Times::Switch => matches.get_flag(key.flag).then(|| true.to_string()),
    }
}

const EXAMPLES: &str = "\
Each setting is a flag, a variable FLYBALL_FLAG, or a key of flyball.toml; flag beats variable beats file. --print-config shows all of them.

Examples:
  flyball run --agent sim --max-rounds 30 \"any task\"
      the whole loop with a simulated agent, in a second, without an account
  flyball run -a claude/claude-opus-5:high --max-rounds 20 \"$(cat TASK.md)\"
  flyball run --agent codex --model gpt-5.5 --juice 1500 --prompt-file TASK.md
  flyball run --agent command --ladder high,low --budget 0 --max-rounds 5 \"task\" -- my-agent --effort {effort}

Exit codes: 0 the oracle passed; 1 a control stopped the loop; 2 usage or configuration; 3 the oracle is broken; 4 the agent cannot run; 5 a fault of flyball; 129, 130, 143 stopped by HUP, INT, TERM.";
