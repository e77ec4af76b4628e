//! Sweeps: one run's luck is drawn once, and every cell of a grid is governed on it.
//!
//! Two engines fill the same [`RunLog`](super::runlog::RunLog). [`Engine::Tables`] lays a run down as running totals per
//! rung and answers each reading with a look into one round and two subtractions, several cells side by side; [`Engine::Machine`] drives the whole loop, event by
//! event, and is slow. The law, the band and the laying of closing totals onto turns are the engine's own in both, and
//! both must come to the same bytes: that is a test. It is not statistics: what the runs add up to is in
//! [`tally`](super::tally) and [`choose`](super::choose).
//!
//! What hangs on the path that a run takes is not in running totals: a scenario with outcomes, prices or controls goes through the machine
//! whatever was asked for ([`Job::engine`]), and the report says so.
//!
//! Runs are handed out in order to as many threads as asked for, each with buffers of its own. All sums are integers, so
//! neither the number of threads nor their order can change a digit; a sweep that is stopped early equals a sweep of the
//! runs that it finished. Source: the performance study, "sample once, govern many".

mod cells;
mod driver;
mod events;
mod lanes;
mod outcome;
mod runner;
mod tables;

use std::fmt;
use std::str::FromStr;

pub(in crate::lab) use events::{Play, machine, run as play};
pub use lanes::{Governed, LANES, Scratch};
pub use outcome::{CONFIDENCE, summarise};
pub use runner::{Finished, Job, SweepError, sweep, sweep_to};
pub use tables::Tables;

/// What governs the cells of a sweep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// Running totals per rung: fast.
    #[default]
    Tables,
    /// The loop machine, event by event: slow, and the judge of the other.
    Machine,
}

impl Engine {
    /// The stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tables => "tables",
            Self::Machine => "machine",
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Engine {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        [Self::Tables, Self::Machine]
            .into_iter()
            .find(|engine| engine.name() == name)
            .ok_or_else(|| "the engines are tables, machine".into())
    }
}

#[cfg(test)]
mod tests;
