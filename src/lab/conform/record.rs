//! A recorded run, as its line says.

use serde::Deserialize;
use serde_json::{Map, Value};

/// One recorded run: what went in, and what the original came to.
#[derive(Clone, Debug, Deserialize)]
pub struct Recording {
    /// The run's name.
    pub id: String,
    /// What is special about it.
    #[serde(default)]
    pub tags: Vec<String>,
    /// The settings.
    pub config: Config,
    /// The efforts, hardest first.
    pub ladder: Vec<String>,
    /// The effort that the agent was set up with.
    pub configured_effort: String,
    /// What an earlier run kept.
    #[serde(default)]
    pub state_in: Map<String, Value>,
    /// The script.
    pub rounds: Vec<Script>,
    /// What the original came to, a round each.
    pub expect: Vec<Expected>,
    /// Why it stopped.
    pub stopped: String,
    /// What it kept.
    pub state_out: Map<String, Value>,
}

/// Settings as recorded: tokens per turn, seconds, a share, seconds, millions of output tokens.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Config {
    /// Target in output tokens per turn.
    pub juice: f64,
    /// Window in seconds.
    pub over: f64,
    /// Half width of the band, a share of the target.
    pub slack: f64,
    /// Pause between rounds in seconds.
    pub rest: f64,
    /// Millions of output tokens; 0 for none.
    pub budget: f64,
}

/// One round of the script.
#[derive(Clone, Debug, Deserialize)]
pub struct Script {
    /// Reports, in order.
    pub turns: Vec<Report>,
    /// When the agent's turn came back, in seconds. An interrupted round may have none.
    pub ended_at: Option<f64>,
    /// Whether it failed.
    #[serde(default)]
    pub failed: bool,
    /// Whether the run was stopped by hand after the reports.
    #[serde(default)]
    pub interrupted: bool,
}

/// One report of spending.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Report {
    /// When, in seconds.
    pub at: f64,
    /// Output tokens.
    pub output: f64,
    /// Input tokens.
    #[serde(default)]
    pub input: f64,
    /// One answer of the model; otherwise a settle-up.
    pub turn: bool,
}

/// What the original came to in one round.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Expected {
    /// The round's number.
    pub round: f64,
    /// The whole word it was run at.
    pub effort: String,
    /// The average read after it; 0 for none.
    pub juice: f64,
    /// The word kept.
    pub effort_next: String,
    /// Output spent so far.
    pub output_total: f64,
    /// The pause that followed; none after the round that stopped on the budget.
    pub rest: Option<f64>,
}

/// Why a line is no recording that the engine can replay.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordingError {
    /// A number that should be a whole count, or a time, is none.
    #[error("`{key}` is {value}, which is no {what}")]
    Number {
        /// Where it stands.
        key: &'static str,
        /// What stands there.
        value: String,
        /// What should.
        what: &'static str,
    },
    /// The ladder is none.
    #[error("`ladder`: {0}")]
    Ladder(#[from] crate::engine::LadderError),
    /// The settings make no band.
    #[error("`config`: {0}")]
    Band(#[from] crate::engine::BandError),
}

/// A count: a whole number that an integer holds.
pub(super) fn count(key: &'static str, value: f64) -> Result<u64, RecordingError> {
    let whole = (0.0..=9.0e15).contains(&value) && value.fract() == 0.0;
    if !whole {
        return Err(RecordingError::Number { key, value: value.to_string(), what: "whole count below 2^53" });
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked just above")]
    Ok(value as u64)
}

/// Seconds as nanoseconds, to the nearest.
pub(super) fn nanos(key: &'static str, seconds: f64) -> Result<u64, RecordingError> {
    let nanos = (seconds * 1e9).round();
    if !(0.0..1.8e19).contains(&nanos) {
        return Err(RecordingError::Number { key, value: seconds.to_string(), what: "time in seconds" });
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked just above")]
    Ok(nanos as u64)
}
