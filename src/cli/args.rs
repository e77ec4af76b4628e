//! The arguments: every flag with its unit and its default.

use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};

use crate::lab::fit::bootstrap::{RESAMPLES, SEED};
use crate::lab::report::table::USUAL_ROWS;

mod study;
mod whole;

pub use study::{Explain, Gate, Method, Recommend, Sensitivity};
pub use whole::{any, whole};

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "flyball",
    version,
    about = "The governor for agent loops, and the lab that tunes it before anyone pays for a call",
    long_about = "flyball holds the size of an agent's answers steady by moving its effort along a ladder, one decision a \
                  round. The lab runs that governor against a simulated agent thousands of times, so that target \
                  (juice), window (over) and slack are chosen before anyone pays for a call.",
    after_help = EXAMPLES,
    arg_required_else_help = true
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const EXAMPLES: &str = "\
Examples:
  flyball sweep scenarios/s02-typical.toml
      which window and slack hold the target best? table, files and pictures in out/s02-typical/
  flyball sweep scenarios/s02-typical.toml --over 5m,1h --slack 0.15:0.4:0.05 --format json
  flyball simulate scenarios/s02-typical.toml --law reset --over 1h --slack 0.3
      one run, round by round, with a trace and a picture
  flyball calibrate ~/.claude/projects -o mine.toml
      make a scenario from your own agent's logs
  flyball conform recorded.jsonl --original
      compare the engine with recorded runs of the original governor

Exit codes: 0 done; 1 a comparison failed; 2 usage, bad input or unwritable output; 5 a fault of flyball; 130 interrupted.";

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Try every setting of a grid on a simulated agent and recommend one
    Sweep(Sweep),
    /// Find settings one can defend for an agent, from a scenario or from logs
    Recommend(Recommend),
    /// Say what a scenario and its settings come to, before anything is simulated
    Explain(Explain),
    /// Run one setting once and show what happened, round by round
    Simulate(Simulate),
    /// Rank what the result of a law hangs on: the agent's numbers and the settings
    Sensitivity(Sensitivity),
    /// Check laws against a committed report, so that no change of one goes in unseen
    Gate(Gate),
    /// Compare the engine with recorded runs of the original governor
    Conform(Conform),
    /// Add up what agents' logs say was spent, each token once
    Ledger(Ledger),
    /// Make a scenario from the logs of real agents
    Calibrate(Calibrate),
    /// Set what a fitted agent predicts beside logs that it was not fitted on
    Validate(Validate),
    /// Show what a law would have read and decided on recorded turns
    Replay(Replay),
    /// Plan the shortest run that measures a ladder, and what it costs
    Pilot(Pilot),
    /// Run the loop with an agent, governed, until a control stops it
    Run(Box<crate::cli::cmd::run::args::Run>),
    /// List the runs of a project
    Runs(super::cmd::runs::Runs),
    /// Show how a run stands, the last one unless another is named
    Status(super::cmd::runs::Status),
    /// Write settings, a check list and a container recipe for a project
    Init(super::cmd::init::Init),
    /// Write a run's record in the layout that another tool expects
    Export(super::cmd::export::Export),
    /// Show a run on the whole screen while it goes on
    Watch(super::cmd::watch::Watch),
    /// Look which agents are there, which versions, and what is missing; asks no model
    Doctor(super::cmd::doctor::Doctor),
    /// Play one round of a scenario as an agent would
    #[command(hide = true)]
    FakeAgent(super::cmd::fake_agent::FakeAgent),
    /// Compare all laws on scenarios and on a random family of loops, as a page of Markdown
    Study(Study),
}

/// `sweep`.
#[derive(Debug, Args)]
#[command(after_help = SWEEP)]
pub struct Sweep {
    /// The scenario file
    #[arg(value_name = "SCENARIO")]
    pub scenario: PathBuf,
    /// Values for the axes.
    #[command(flatten)]
    pub axes: Axes,
    /// Runs of each cell [default: the scenario's]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = any)]
    pub runs: Option<u64>,
    /// Stop as soon as the share of rounds on a right rung is known to this in every cell: half the width of its 95 %
    /// interval, a share; --runs is then the most
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true)]
    pub precision: Option<String>,
    /// A report of one page of HTML, with everything in it
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Rounds of each run [default: the scenario's]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = any)]
    pub rounds: Option<u64>,
    /// What all luck comes from; the same seed gives the same result [default: the scenario's]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = any)]
    pub seed: Option<u64>,
    /// Threads; their number changes no digit [env: FLYBALL_THREADS] [default: one for each core]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = any)]
    pub threads: Option<u64>,
    /// What governs the cells: running totals, or the loop itself, event by event (slow, and the same result)
    #[arg(long, value_enum, default_value = "tables")]
    pub engine: EngineWord,
    /// What to print on stdout
    #[arg(long, value_enum, default_value = "table")]
    pub format: Format,
    /// Folder for result.json, result.csv and the pictures [default: out/SCENARIO]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// The most rows of the table; 0 prints every cell
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = USUAL_ROWS)]
    #[arg(value_parser = whole::<usize, 0, { u64::MAX }>)]
    pub rows: usize,
}

const SWEEP: &str = "\
A list is values and ranges with commas between: --over 60s,5m,1h --slack 0.15:0.4:0.05 (from:to:step). \
A flag replaces the scenario's own list of that axis; the other axes stay.

Examples:
  flyball sweep scenarios/s02-typical.toml
  flyball sweep scenarios/s02-typical.toml --law reference,reset --over 300s:3600s:300s --slack 0.15,0.3
  flyball sweep scenarios/s02-typical.toml --runs 200 --format csv --out try > cells.csv";

/// Values for the axes of a grid.
#[derive(Debug, Default, Args)]
pub struct Axes {
    /// Laws: fixed, reference, reset, confirm, evidence, cusum, integral, stride, stride3, model, hybrid
    #[arg(long, value_name = "LIST", action = ArgAction::Append)]
    pub law: Vec<String>,
    /// Targets, output tokens per turn
    #[arg(long, value_name = "LIST", action = ArgAction::Append, allow_hyphen_values = true)]
    pub juice: Vec<String>,
    /// Windows: 300, 300s, 5m, 1h (a plain number is seconds)
    #[arg(long, value_name = "LIST", action = ArgAction::Append, allow_hyphen_values = true)]
    pub over: Vec<String>,
    /// Half widths of the band, shares of the target from 0 to 1
    #[arg(long, value_name = "LIST", action = ArgAction::Append, allow_hyphen_values = true)]
    pub slack: Vec<String>,
    /// Pauses between rounds: 5, 5s, 1m (a plain number is seconds)
    #[arg(long, value_name = "LIST", action = ArgAction::Append, allow_hyphen_values = true)]
    pub rest: Vec<String>,
}

/// One setting, where it is not the scenario's.
#[derive(Debug, Default, Args)]
pub struct One {
    /// The law: fixed, reference, reset, confirm, evidence, cusum, integral, stride, stride3, model or hybrid [default: the
    /// scenario's]
    #[arg(long, value_name = "LAW")]
    pub law: Option<String>,
    /// The target, output tokens per turn [default: the scenario's]
    #[arg(long, value_name = "TOKENS", allow_hyphen_values = true)]
    pub juice: Option<String>,
    /// The window: 300, 300s, 5m, 1h [default: the scenario's]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub over: Option<String>,
    /// Half width of the band, a share of the target [default: the scenario's]
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true)]
    pub slack: Option<String>,
    /// The pause between rounds: 5, 5s, 1m [default: the scenario's]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub rest: Option<String>,
}

/// `simulate`.
#[derive(Debug, Args)]
#[command(after_help = SIMULATE)]
pub struct Simulate {
    /// The scenario file
    #[arg(value_name = "SCENARIO")]
    pub scenario: PathBuf,
    /// The settings.
    #[command(flatten)]
    pub one: One,
    /// Which of the runs that a sweep would make, from 0
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 0)]
    #[arg(value_parser = whole::<u32, 0, 4_294_967_295>)]
    pub run: u32,
    /// Rounds [default: the scenario's]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = any)]
    pub rounds: Option<u64>,
    /// What all luck comes from [default: the scenario's]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = any)]
    pub seed: Option<u64>,
    /// Folder for trace.jsonl and the picture [default: out/SCENARIO]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// What to print on stdout
    #[arg(long, value_enum, default_value = "table")]
    pub format: SimulateFormat,
}

const SIMULATE: &str = "\
Examples:
  flyball simulate scenarios/s02-typical.toml --rounds 40
  flyball simulate scenarios/s02-typical.toml --law reset --over 1h --slack 0.3 --run 7";

/// `conform`.
#[derive(Debug, Args)]
#[command(after_help = CONFORM)]
pub struct Conform {
    /// Recorded runs, one JSON object a line; `-` reads stdin
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Put back the four named differences: compare with the original as it was
    #[arg(long)]
    pub original: bool,
    /// Pass over runs with this tag; may be repeated
    #[arg(long, value_name = "TAG")]
    pub skip_tag: Vec<String>,
}

const CONFORM: &str = "\
Without --original, a run that differs is explained by the smallest set of put-backs that removes the difference:
memory (300 s beside the newest report), edges (thresholds in float64), charging (an interrupted round is not charged), \
budget-order (a spent budget still allows one round). The last line is `N runs: A agree, E explained, D differ, S skipped`.

Examples:
  flyball conform recorded.jsonl
  flyball conform recorded.jsonl --original --skip-tag float-window
  zcat recorded.jsonl.gz | flyball conform -";

/// `ledger`.
#[derive(Debug, Args)]
#[command(after_help = LEDGER)]
pub struct Ledger {
    /// Logs, folders that are searched for *.jsonl and *.json, patterns, or - for stdin; what they are is found out from their content
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<PathBuf>,
    /// What a file's own row counts
    #[arg(long, value_enum, default_value = "all")]
    pub dedup: DedupWord,
    /// What to print on stdout
    #[arg(long, value_enum, default_value = "table")]
    pub format: LedgerFormat,
}

const LEDGER: &str = "\
A turn is one answer of a model. It is final where its log states a count that can be trusted. Where a log states only a sum, the turns \
share it and are estimated; where it states nothing, they are unknown, and never zero. Copies (checkpoints, forks, resumed sessions, a run's \
output beside its session file) count once. Coverage is what was counted turn by turn, of what the log states in sum.

Examples:
  flyball ledger ~/.claude/projects
  flyball ledger run-1.jsonl run-2.jsonl --dedup per-file --format csv
  claude -p --output-format stream-json --verbose ... | flyball ledger -";

/// How copies are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DedupWord {
    /// The turns that it is the best copy of
    All,
    /// All its turns, whatever other files have
    PerFile,
}

/// What a ledger prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LedgerFormat {
    /// For people, with models and efforts
    Table,
    /// One object with every figure
    Json,
    /// A row a file
    Csv,
}

/// `calibrate`.
#[derive(Debug, Args)]
#[command(after_help = CALIBRATE)]
pub struct Calibrate {
    /// Session logs, or folders that are searched for *.jsonl and *.json; what they are is found out from their content
    #[arg(value_name = "LOGS", required = true)]
    pub logs: Vec<PathBuf>,
    /// The scenario file to write; `-` writes it to stdout, and the table to stderr. Without it there is a survey and no
    /// scenario
    #[arg(short, long, value_name = "SCENARIO")]
    pub output: Option<PathBuf>,
    /// The model, or a part of its name that only it has [default: the one with the most calls]
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// An effort of the ladder, hardest first; may be repeated or a comma list [default: the model's own ladder]
    #[arg(long, value_name = "EFFORT", value_delimiter = ',')]
    pub effort: Vec<String>,
    /// What to print on stdout
    #[arg(long, value_enum, default_value = "table")]
    pub format: Format,
    /// Folder for the pictures of the fit: qq, density, time, windows
    #[arg(long, value_name = "DIR")]
    pub plots: Option<PathBuf>,
    /// Write over a scenario file that was not made by this command
    #[arg(long)]
    pub force: bool,
    /// How often sessions are drawn again for the intervals, from 20 to 100000
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = RESAMPLES)]
    #[arg(value_parser = whole::<u32, 20, 100_000>)]
    pub resamples: u32,
    /// What these draws come from
    #[arg(long, value_name = "N", default_value_t = SEED, allow_negative_numbers = true, value_parser = any)]
    pub seed: u64,
}

const CALIBRATE: &str = "\
Each number has a 95 % interval from drawing sessions again; where an effort has fewer than five, blocks of calls stand in for \
them and the table marks its count. An effort that was never observed is filled from a stated prior and marked `assumed` in the \
scenario. The survey without -o has every model and effort of the logs.

Examples:
  flyball calibrate ~/.claude/projects
  flyball calibrate ~/.claude/projects/my-project -o mine.toml --plots out/mine
  flyball calibrate ~/.codex/sessions --model gpt-5.5 -o gpt.toml --format json";

/// `validate`.
#[derive(Debug, Args)]
#[command(after_help = VALIDATE)]
pub struct Validate {
    /// The scenario file of the fitted agent
    #[arg(value_name = "SCENARIO")]
    pub scenario: PathBuf,
    /// Session logs that the agent was not fitted on, or folders that are searched for *.jsonl and *.json
    #[arg(value_name = "LOGS", required = true)]
    pub logs: Vec<PathBuf>,
    /// The window whose mean is compared: 300, 300s, 5m, 1h
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, default_value = "300s")]
    pub over: String,
    /// Refit the scenario's model and ladder on all but one of so many folds of the sessions, and compare with that one
    #[arg(long, value_name = "K", allow_negative_numbers = true, value_parser = any)]
    pub folds: Option<u64>,
    /// The model, or a part of its name that only it has [default: the one that the scenario's name is part of, else the
    /// one with the most calls]
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// The fewest turns of a session that is looked at
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 30, value_parser = any)]
    pub turns: u64,
    /// Samples behind each interval
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 400, value_parser = any)]
    pub samples: u64,
    /// What all luck comes from [default: the scenario's]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = any)]
    pub seed: Option<u64>,
    /// What to print on stdout
    #[arg(long, value_enum, default_value = "table")]
    pub format: ShortFormat,
    /// Folder for the picture: validate.svg, .png and .json
    #[arg(long, value_name = "DIR")]
    pub plots: Option<PathBuf>,
}

const VALIDATE: &str = "\
For each effort, recorded sessions are set beside simulated ones with as many turns, at that effort throughout: the mean of the \
last --over at each turn's end, the sizes and times of turns, and how many turns a window holds, each with a 95 % interval. The \
verdict is pass, fail or too-little-data; the exit code is 0 whichever it is.

With --folds the agent is not the scenario's: the scenario names the model and the ladder, and each fold of the sessions is \
set beside a fit to the others. Use it where the scenario was fitted on these very logs.

Examples:
  flyball validate scenarios/sonnet-5.toml ~/.claude/projects/another-project
  flyball validate mine.toml ~/.claude/projects/my-project --folds 5 --plots out/mine";

/// `replay`.
#[derive(Debug, Args)]
#[command(after_help = REPLAY)]
pub struct Replay {
    /// Session logs of agents, traces of runs, or folders that are searched for *.jsonl and *.json
    #[arg(value_name = "LOG|RUN", required = true)]
    pub files: Vec<PathBuf>,
    /// Settings, as a flyball.toml [default: a run's own; the original's for logs]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// One law, or several to set side by side: fixed, reference, reset, confirm, evidence, cusum, integral, stride, stride3,
    /// model, hybrid [default: that of the settings]
    #[arg(long, value_name = "LIST", action = ArgAction::Append)]
    pub law: Vec<String>,
    /// The target, output tokens per turn [default: that of the settings]
    #[arg(long, value_name = "TOKENS", allow_hyphen_values = true)]
    pub juice: Option<String>,
    /// The window: 300, 300s, 5m, 1h [default: that of the settings]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub over: Option<String>,
    /// Half width of the band, a share of the target [default: that of the settings]
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true)]
    pub slack: Option<String>,
    /// The model of the logs, or a part of its name that only it has [default: the one with the most calls]
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// An effort of the logs' ladder, hardest first; may be repeated or a comma list [default: the model's own ladder]
    #[arg(long, value_name = "EFFORT", value_delimiter = ',')]
    pub effort: Vec<String>,
    /// Show what would be read after each turn too, not only at the end of each round
    #[arg(long)]
    pub every_turn: bool,
    /// What to print on stdout
    #[arg(long, value_enum, default_value = "table")]
    pub format: Format,
}

const REPLAY: &str = "\
A session of a log is a round that is read at its end; all sessions of one model are one loop, in the order in which they ended. A run is \
replayed round by round. Past tokens do not react to decisions: each round is read at the effort that it ran at, whatever a law \
asked for after the one before.

Examples:
  flyball replay out/s02-typical/trace.jsonl --law reference,reset
  flyball replay ~/.claude/projects/my-project --config flyball.toml --law reset --over 1h
  flyball replay ~/.codex/sessions --juice 400 --every-turn --format csv > readings.csv";

/// `study`.
#[derive(Debug, Args)]
pub struct Study {
    /// Scenario files
    #[arg(value_name = "SCENARIO")]
    pub scenarios: Vec<PathBuf>,
    /// Runs of each law on each scenario
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 1000, value_parser = any)]
    pub runs: u64,
    /// Random families, by their seeds, a table each: what was tuned on one is judged on another [default: the seed]
    #[arg(long = "family", value_name = "SEED", allow_negative_numbers = true, value_parser = any)]
    pub families: Vec<u64>,
    /// Loops of each random family; 0 for none
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 2000, value_parser = any)]
    pub loops: u64,
    /// Rounds of each run
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 200, value_parser = any)]
    pub rounds: u64,
    /// What all luck comes from
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 1, value_parser = any)]
    pub seed: u64,
    /// Threads [default: one for each core]; they change no number
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = any)]
    pub threads: Option<u64>,
}

/// `pilot`.
#[derive(Debug, Args)]
#[command(after_help = PILOT)]
pub struct Pilot {
    /// The scenario file to plan by [default: a prior from public logs, with --model or --effort]
    #[arg(value_name = "SCENARIO", conflicts_with_all = ["model", "effort"])]
    pub scenario: Option<PathBuf>,
    /// The model whose ladder is to be measured
    #[arg(long, value_name = "MODEL", conflicts_with = "effort")]
    pub model: Option<String>,
    /// An effort of the ladder, hardest first; may be repeated or a comma list
    #[arg(long, value_name = "EFFORT", value_delimiter = ',')]
    pub effort: Vec<String>,
    /// The half width of the 95 % interval of each rung's mean, a share of that mean
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true, default_value = "0.1")]
    pub precision: String,
    /// US dollars for a million output tokens, to tell the cost in money
    #[arg(long, value_name = "USD", allow_hyphen_values = true)]
    pub price: Option<String>,
    /// What the order of rounds comes from [default: the scenario's]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = any)]
    pub seed: Option<u64>,
    /// What to print on stdout
    #[arg(long, value_enum, default_value = "table")]
    pub format: ShortFormat,
}

const PILOT: &str = "\
Prints how many rounds of each effort it takes, in what order, and what that costs. Run it, and `flyball calibrate` makes a \
scenario of the logs. The cost is of output tokens alone: input and cache come on top.

Examples:
  flyball pilot scenarios/gpt-5.5.toml --price 10
  flyball pilot --model claude-opus-5 --precision 0.15
  flyball pilot --effort high,medium,low --format json";

/// What a sweep prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    Table,
    /// One object with every figure
    Json,
    /// A row a cell, an effort or a round
    Csv,
}

/// What a comparison or a plan prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ShortFormat {
    /// For people
    Table,
    /// One object
    Json,
}

/// What a simulation prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SimulateFormat {
    /// A row a round
    Table,
    /// One object with every round
    Json,
}

/// What governs the cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EngineWord {
    /// Running totals: fast
    Tables,
    /// The loop, event by event: slow
    Machine,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_sound_and_every_flag_has_help() {
        let mut command = Cli::command();
        command.build();
        command.clone().debug_assert();
        for sub in command.get_subcommands() {
            for arg in sub.get_arguments() {
                assert!(arg.get_help().is_some(), "{} {}", sub.get_name(), arg.get_id());
            }
        }
    }

    #[test]
    fn negative_values_reach_the_axis_that_refuses_them() {
        let cli = Cli::try_parse_from(["flyball", "sweep", "x.toml", "--slack", "-0.1", "--slack", "0.2"]).unwrap();
        let Command::Sweep(sweep) = cli.command else { panic!("another command") };
        assert_eq!(sweep.axes.slack, ["-0.1", "0.2"]);
    }
}
