//! What outlives a process: rounds, spending, the effort's word, and how long nothing has come of it; never the average.
//!
//! The window is an average over the last minutes of turns, and a run that starts today has none of yesterday's minutes.
//! The rung is kept as its word, because the ladder may change between two runs. After a budget stop nothing is kept: the
//! next run starts clean. It is not a file format; where and how it is stored is the host's business.

use super::control::{Rows, Spent};
use super::ladder::Effort;
use super::law::LawState;
use super::units::{MicroUsd, Tokens};

/// What is kept between two runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checkpoint {
    /// Rounds begun. An attempt is counted before its agent starts.
    pub rounds: u64,
    /// Output tokens spent. `None` before the first was counted.
    pub output: Option<Tokens>,
    /// The rung to run at next, by its word, without a width prefix. `None` before the first decision.
    pub effort: Option<Effort>,
    /// Tokens of all kinds.
    pub tokens: Tokens,
    /// Cost.
    pub cost: MicroUsd,
    /// What the law remembers.
    pub law: LawState,
    /// Rounds in a row that went nowhere.
    pub rows: Rows,
}

impl Checkpoint {
    /// Whether nothing is kept: a first run, or the run after a budget stop.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        *self == Self::default()
    }

    /// The spending that it carries into a new run.
    #[must_use]
    pub fn spent(&self) -> Spent {
        Spent {
            rounds: self.rounds,
            output: self.output.unwrap_or_default(),
            tokens: self.tokens,
            cost: self.cost,
            ..Spent::default()
        }
    }
}
