//! What a sweep may ask for: counts within bounds, memory that a machine has.
//!
//! It is an estimate from above of what the sweep engine holds, made before anything is allocated. It measures nothing.

use std::fmt;

use super::scenario::Scenario;

/// The most runs of a cell.
pub const MAX_RUNS: u64 = 10_000_000;
/// The most rounds of a run.
pub const MAX_ROUNDS: u64 = 100_000;
/// The most threads.
pub const MAX_THREADS: u64 = 1024;
/// The most bytes that a sweep may hold.
pub const MAX_BYTES: u64 = 8 << 30;

/// A count that is out of bounds, or a sweep that is too large.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BoundsError {
    /// A count.
    Count {
        /// The flag.
        flag: &'static str,
        /// What it says.
        value: u64,
        /// The most that it may say; the least is 1.
        most: u64,
    },
    /// Memory.
    Memory {
        /// Bytes that it would take.
        bytes: u64,
    },
}

impl fmt::Display for BoundsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count { flag, value, most } => write!(f, "{flag}: {value}: it must be from 1 to {most}"),
            Self::Memory { bytes } => {
                let (gib, most) = (bytes >> 30, MAX_BYTES >> 30);
                write!(
                    f,
                    "this sweep would hold about {gib} GiB, and may hold {most}: take fewer cells, runs, rounds or threads"
                )
            }
        }
    }
}

impl std::error::Error for BoundsError {}

/// A count from 1 to `most`, or `default` where none is given.
///
/// # Errors
/// [`BoundsError::Count`].
pub fn count(flag: &'static str, given: Option<u64>, default: u32, most: u64) -> Result<u32, BoundsError> {
    let value = given.unwrap_or_else(|| default.into());
    let fits = u32::try_from(value).ok().filter(|_| (1..=most).contains(&value));
    fits.ok_or(BoundsError::Count { flag, value, most })
}

/// Refuses a sweep that would not fit into memory.
///
/// # Errors
/// [`BoundsError::Memory`].
pub fn memory(scenario: &Scenario, cells: usize, runs: u32, rounds: u32, threads: usize) -> Result<(), BoundsError> {
    let wide = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    let (cells, runs, rounds, threads) = (wide(cells), u64::from(runs), u64::from(rounds), wide(threads));
    // losses by run and by cell; a tally and a histogram of rounds for each cell and thread
    let losses = cells.saturating_mul(runs).saturating_mul(16);
    // four values of a run's end, while two threads' are put together
    let ends = if scenario.hangs_on_the_path() { cells.saturating_mul(runs).saturating_mul(64) } else { 0 };
    let tallies = cells.saturating_mul(threads + 1).saturating_mul(3072 + 8 * rounds);
    // a run laid down: 12 bytes a report on each rung, and 80 a round
    let turns = u64::from(scenario.agent.spec().turns.most());
    let rungs = wide(scenario.agent.rungs());
    let tables = rungs.saturating_mul(rounds).saturating_mul(80 + 12 * turns).saturating_mul(threads);
    let bytes = losses.saturating_add(ends).saturating_add(tallies).saturating_add(tables);
    if bytes > MAX_BYTES { Err(BoundsError::Memory { bytes }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typical() -> Scenario {
        Scenario::load(include_str!("../../scenarios/s02-typical.toml"), "s02-typical.toml").unwrap()
    }

    #[test]
    fn counts_are_bounded_and_named() {
        assert_eq!(count("--runs", None, 7, MAX_RUNS), Ok(7));
        assert_eq!(count("--runs", Some(MAX_RUNS), 7, MAX_RUNS), Ok(10_000_000));
        let zero = count("--runs", Some(0), 7, MAX_RUNS).unwrap_err();
        assert_eq!(zero.to_string(), "--runs: 0: it must be from 1 to 10000000");
        assert!(count("--rounds", Some(u64::MAX), 1, u64::MAX).is_err());
    }

    #[test]
    fn a_sweep_of_a_thousand_cells_fits_and_an_endless_one_does_not() {
        assert_eq!(memory(&typical(), 1000, 1000, 200, 8), Ok(()));
        assert!(matches!(memory(&typical(), 1_000_000, 1_000_000, 200, 2), Err(BoundsError::Memory { .. })));
        assert!(matches!(memory(&typical(), usize::MAX, u32::MAX, u32::MAX, 1024), Err(BoundsError::Memory { .. })));
    }
}
