//! The arguments of the commands that judge settings and laws.

use std::path::PathBuf;

use clap::Args;

use super::{One, ShortFormat};

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
long run, moves, reversals and times to settle are worked out: exact for gamma turns that all take as long, else good to a few points.

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
    /// Compare on other luck than the baseline's: paths exactly, means by intervals
    #[arg(long, value_name = "N", conflicts_with = "write")]
    pub seed: Option<u64>,
}

const GATE: &str = "\
Exits with 0 where every row is as it was, and with 1 where one is not: it names the row, by how much it changed, the run and the seed. A \
change that is meant is renewed with --write, and reviewed as the diff of report.md.

Examples:
  flyball gate
  flyball gate --seed 12345
  flyball gate --write && git diff gate/report.md";
