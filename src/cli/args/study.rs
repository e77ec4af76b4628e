//! The arguments of the commands that judge settings and laws.

use std::path::PathBuf;

use clap::{ArgAction, Args, ValueEnum};

use super::{One, ShortFormat, any, whole};

/// `explain`.
#[derive(Debug, Args)]
#[command(after_help = EXPLAIN)]
pub struct Explain {
    /// The scenario file
    #[arg(value_name = "SCENARIO")]
    pub scenario: PathBuf,
    /// The settings.
    #[command(flatten)]
    pub one: One,
    /// What to print on stdout
    #[arg(long, value_enum, default_value = "table")]
    pub format: ShortFormat,
}

const EXPLAIN: &str = "\
Nothing is simulated, save the loop without any noise. Where a window reads one round at most, reference and reset are a chain whose \
shares of rounds, moves, reversals and times to settle are worked out: exact for gamma turns that all take as long, else an estimate that says \
what it takes for granted and is not so, and how far off it may be. Of other laws all but the chain is told.

Examples:
  flyball explain scenarios/s02-typical.toml
  flyball explain scenarios/sonnet-5.toml --juice 680 --over 1h --slack 0.3
  flyball explain mine.toml --format json";

/// `gate`.
#[derive(Debug, Args)]
#[command(after_help = GATE)]
pub struct Gate {
    /// The suite: scenarios, laws, settings, runs, rounds, seed; its baseline and report stand beside it
    #[arg(value_name = "SUITE", default_value = "gate/suite.toml")]
    pub suite: PathBuf,
    /// Renew the baseline and the report instead of comparing with them
    #[arg(long)]
    pub write: bool,
    /// A report of one page of HTML, with everything in it
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Compare on other luck than the baseline's: paths exactly, means by intervals
    #[arg(long, value_name = "N", conflicts_with = "write", allow_negative_numbers = true, value_parser = any)]
    pub seed: Option<u64>,
}

const GATE: &str = "\
Exits with 0 where every row is as it was, and with 1 where one is not: it names the row, by how much it changed, the run and the seed. A \
change that is meant is renewed with --write, and reviewed as the diff of report.md.

Examples:
  flyball gate
  flyball gate --seed 12345
  flyball gate --write && git diff gate/report.md";

/// `recommend`.
#[derive(Debug, Args)]
#[command(after_help = RECOMMEND)]
pub struct Recommend {
    /// Scenario files, or logs and folders of logs, of which a scenario is made as by `calibrate`
    #[arg(value_name = "SCENARIO|LOGS", required = true)]
    pub paths: Vec<PathBuf>,
    /// The settings in use, as the original's juice.yaml or a flyball.toml: their target is taken, and what they waste is told
    #[arg(long, value_name = "FILE")]
    pub current: Option<PathBuf>,
    /// The target, output tokens per turn [default: that of the settings in use, else the scenario's]
    #[arg(long, value_name = "TOKENS", allow_hyphen_values = true)]
    pub juice: Option<String>,
    /// Take the mean of the rung nearest the target as the target
    #[arg(long)]
    pub snap: bool,
    /// Laws to try [default: all but fixed]
    #[arg(long, value_name = "LIST", action = ArgAction::Append)]
    pub law: Vec<String>,
    /// Windows to try [default: from 1 m to 2 h]
    #[arg(long, value_name = "LIST", action = ArgAction::Append, allow_hyphen_values = true)]
    pub over: Vec<String>,
    /// Slacks to try [default: from 0.05 to 0.5]
    #[arg(long, value_name = "LIST", action = ArgAction::Append, allow_hyphen_values = true)]
    pub slack: Vec<String>,
    /// Try settings on the scenarios as they are, and not as they might be
    #[arg(long)]
    pub as_is: bool,
    /// What the parts of the loss weigh: excess, bias, reversals, settle [default: excess=1,bias=0.5,reversals=0.2,settle=1]
    #[arg(long, value_name = "LIST")]
    pub weights: Option<String>,
    /// US dollars for a million output tokens, to tell waste in money
    #[arg(long, value_name = "USD", allow_hyphen_values = true)]
    pub price: Option<String>,
    /// The model of the logs, or a part of its name that only it has [default: the one with the most calls]
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// An effort of the logs' ladder, hardest first; may be repeated or a comma list [default: the model's own ladder]
    #[arg(long, value_name = "EFFORT", value_delimiter = ',')]
    pub effort: Vec<String>,
    /// Fresh runs, on which the promise is measured
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 200, value_parser = any)]
    pub runs: u64,
    /// Runs of the settings that are left at the end of the race
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 128, value_parser = any)]
    pub race: u64,
    /// Rounds of each run [default: the scenario's]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = any)]
    pub rounds: Option<u64>,
    /// What all luck comes from [default: the first scenario's]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = any)]
    pub seed: Option<u64>,
    /// Folder for flyball.toml, juice.yaml and the scenario made of logs [default: out/recommend-SCENARIO]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// What to print on stdout
    #[arg(long, value_enum, default_value = "table")]
    pub format: ShortFormat,
    /// A report of one page of HTML, with everything in it
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

const RECOMMEND: &str = "\
All settings meet the same luck, in the scenario as it is and as it might be: gaps wider and narrower, noisier turns, sessions that \
differ more, the target elsewhere between rungs, a step of the load, a tenth told late. The better half goes on to twice the runs until few \
are left. Of those that cannot be told from the best, the simplest is taken, and what it promises is measured on fresh runs.
FLYBALL_THREADS in the environment says how many threads work [default: one a core]; the result is the same with any number.

Examples:
  flyball recommend scenarios/s02-typical.toml
  flyball recommend ~/.claude/projects/my-project --current juice.yaml --price 15 --html report.html
  flyball recommend mine.toml --law reset --juice 700 --weights reversals=0.4";

/// `sensitivity`.
#[derive(Debug, Args)]
#[command(after_help = SENSITIVITY)]
pub struct Sensitivity {
    /// The scenario file that everything is changed about
    #[arg(value_name = "SCENARIO")]
    pub scenario: PathBuf,
    /// The law: fixed, reference, reset, confirm, evidence, cusum, integral, stride, stride3, model or hybrid [default: the
    /// scenario's]
    #[arg(long, value_name = "LAW")]
    pub law: Option<String>,
    /// How to ask
    #[arg(long, value_enum, default_value = "morris")]
    pub method: Method,
    /// Trajectories (morris, 2 at least) or points (sobol, 20 at least) [default: 20, 256]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole::<u32, 2, 65_536>)]
    pub points: Option<u32>,
    /// Runs at each point
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 4)]
    #[arg(value_parser = whole::<u32, 1, 10_000>)]
    pub runs: u32,
    /// Rounds of each run [default: the scenario's]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = any)]
    pub rounds: Option<u64>,
    /// What all luck and the design come from [default: the scenario's]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = any)]
    pub seed: Option<u64>,
    /// What to print on stdout
    #[arg(long, value_enum, default_value = "table")]
    pub format: ShortFormat,
    /// Folder for the picture: sensitivity.svg, .png and .json
    #[arg(long, value_name = "DIR")]
    pub plots: Option<PathBuf>,
    /// A report of one page of HTML, with everything in it
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

const SENSITIVITY: &str = "\
Eight factors are moved together, each over a range that is printed with what it is: gaps, phase, noise, turns, seconds, sessions, over, \
slack. Screening (morris) \
tells how far each moves the result across its range, and ranks; indices (sobol) tell which share of the variance would be left if \
all others were known (total), and which would go if it alone were (first).

Examples:
  flyball sensitivity scenarios/s02-typical.toml --law reset
  flyball sensitivity scenarios/s02-typical.toml --method sobol --points 1024";

/// How sensitivity is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Method {
    /// Effects along trajectories: cheap, ranks
    Morris,
    /// Indices of variance
    Sobol,
}
