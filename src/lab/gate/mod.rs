//! The gate: a suite of scenarios and laws against a report that was committed, so that no change of a law goes in unseen.
//!
//! Three kinds of row, by what may be asked of them. A *script* feeds a law readings that no seed decides, at the edges
//! where rules break: exact, always. A *still* row runs a scenario without its noise: exact, always. A *noisy* row is runs
//! of a scenario: exact where seed, runs and rounds are those of the baseline, every run being a list of integers; with
//! another seed, intervals of the differences, at a confidence that holds for all of them together.
//!
//! It keeps no files and knows no command line: the caller reads and writes. It does not say which of two laws is better,
//! only that something changed, by how much, and where. Rungs are places from the hardest, 0.
//! After: the checked-in reports of Palantir's dialogue simulation; Welch (1947) for unequal variances.

mod baseline;
mod compare;
pub mod report;
mod rows;
mod script;
mod suite;

pub use baseline::{BaselineError, Mismatch, check, read, write};
pub use compare::{Finding, Kind, Merged, Verdict, compare};
pub use rows::{Build, run};
pub use suite::Suite;

use crate::engine::{LawKind, Millis, Ratio};

/// What happened in one run, in whole numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Rounds on right rungs.
    pub right: u64,
    /// Moves.
    pub moves: u64,
    /// Moves against the direction of the one before.
    pub reversals: u64,
    /// Decisions past an end of the ladder.
    pub pinned: u64,
    /// Rounds before settling; all of them where it did not.
    pub settle: u64,
    /// Output tokens.
    pub tokens: u64,
}

impl Counts {
    /// Their names, in order.
    pub const NAMES: [&'static str; 6] = ["right", "moves", "reversals", "pinned", "settle", "tokens"];

    /// The numbers, in the order of [`Counts::NAMES`].
    #[must_use]
    pub const fn all(&self) -> [u64; 6] {
        [self.right, self.moves, self.reversals, self.pinned, self.settle, self.tokens]
    }
}

/// What a row is of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// The scenario's name; `script` for readings that are no scenario's.
    pub scenario: String,
    /// The law.
    pub law: LawKind,
    /// Its window; none where neither window nor slack makes a difference to it.
    pub over: Option<Millis>,
    /// Its slack; likewise.
    pub slack: Option<Ratio>,
}

/// What a row holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Held {
    /// Rungs, in order: what a law did where nothing is left to luck.
    Path(String),
    /// Runs, in order.
    Runs(Vec<Counts>),
}

/// A row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// What it is of.
    pub key: Key,
    /// What it holds.
    pub held: Held,
}

/// All rows of a suite, and what its runs rest on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rows {
    /// The seed of all luck.
    pub seed: u64,
    /// Runs of a noisy row.
    pub runs: u32,
    /// Rounds of a run.
    pub rounds: u32,
    /// The rows, in order.
    pub rows: Vec<Row>,
}
