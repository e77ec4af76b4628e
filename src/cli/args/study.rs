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
