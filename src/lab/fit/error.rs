//! Why nothing could be fitted, with what is missing.

use super::{CALLS_FLOOR, COVERAGE_FLOOR_PERCENT};

/// What stands in the way of a calibration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// There is no call at all.
    #[error("there is no call to a model in these records")]
    NoCalls,
    /// No call, or calls of several models, fit the name.
    #[error("no single model is meant by {asked:?}; the records have {}", seen.join(", "))]
    Model {
        /// The name that was asked for.
        asked: String,
        /// The models seen.
        seen: Vec<String>,
    },
    /// Too many calls lack a count that can be trusted.
    #[error(
        "only {known} of {calls} calls of {model} have an output count that can be trusted, less than {COVERAGE_FLOOR_PERCENT} %: \
         the rest are placeholders, or were cut short. Session files of Claude Code before 2.1.59 are like that"
    )]
    Coverage {
        /// The model.
        model: String,
        /// Calls with a known count.
        known: u64,
        /// All calls.
        calls: u64,
    },
    /// The records do not say at which effort the calls were made.
    #[error(
        "none of the {calls} calls of {model} says at which effort it was made: rungs cannot be told apart. Claude Code writes it since \
         2.1.215, Codex in each turn_context"
    )]
    NoEffort {
        /// The model.
        model: String,
        /// Calls with a known count.
        calls: u64,
    },
    /// No rung has enough calls.
    #[error(
        "too few calls of {model}: {effort} has the most, {calls}, and a rung takes at least {CALLS_FLOOR} from at least one session"
    )]
    TooFew {
        /// The model.
        model: String,
        /// The effort with the most calls on the ladder.
        effort: String,
        /// How many that is.
        calls: u64,
    },
    /// Too few calls have a start, or they do not take longer the more they say.
    #[error(
        "the times of {model}'s calls say nothing: fewer than {CALLS_FLOOR} have a start, or longer answers took no longer"
    )]
    NoTimes {
        /// The model.
        model: String,
    },
    /// The model takes no effort, or none is known of.
    #[error("no ladder of efforts is known for {model}; name its efforts, hardest first")]
    NoLadder {
        /// The model.
        model: String,
    },
    /// A ladder names an effort twice, or has fewer than two.
    #[error("a ladder takes two efforts or more, each once, not {}", efforts.join(", "))]
    Ladder {
        /// The efforts asked for.
        efforts: Vec<String>,
    },
    /// A ladder stands softest first.
    #[error("a ladder stands hardest first: {}", efforts.iter().rev().map(String::as_str).collect::<Vec<_>>().join(", "))]
    Backwards {
        /// The efforts asked for.
        efforts: Vec<String>,
    },
    /// An effort was neither measured nor is there anything to guess it by.
    #[error(
        "{effort} has too few calls, and what it is worth beside the measured efforts is not known: leave it out of the ladder"
    )]
    NoPrior {
        /// The effort.
        effort: String,
    },
    /// The name of the scenario is no file name.
    #[error("a scenario's name has letters, digits, dots, dashes and underscores, not {name:?}")]
    Name {
        /// The name.
        name: String,
    },
}
