//! The grids that the typical scenario is swept over, and a whole sweep.

use std::error::Error;
use std::sync::atomic::AtomicBool;

use flyball::engine::{LawKind, Millis, Ratio, Target};
use flyball::lab::grid::{Axes, Grid};
use flyball::lab::scenario::Scenario;
use flyball::lab::sweep::{Engine, Finished, Job, sweep};

use super::typical::ROUNDS;

/// A law over so many targets, windows (a minute to an hour) and slacks.
pub(crate) fn grid(
    scenario: &Scenario,
    law: LawKind,
    [juices, overs, slacks]: [u32; 3],
) -> Result<Grid, Box<dyn Error>> {
    let axes = Axes {
        law: Some(vec![law]),
        juice: Some((0..juices).map(|place| Target::from_tokens(2048 + 200 * u64::from(place))).collect()),
        over: Some((0..overs).map(|place| Millis::from_secs(60 + 3540 * u64::from(place) / 9)).collect()),
        slack: Some((1..=slacks).map(|place| Ratio::from_ppm(50_000 * place)).collect()),
        ..Axes::default()
    };
    Ok(scenario.grid(axes)?)
}

/// A whole sweep, scores and sums included.
pub(crate) fn swept(scenario: &Scenario, grid: &Grid, runs: u32, threads: usize) -> Result<Finished, Box<dyn Error>> {
    let job = Job { scenario, grid, runs, rounds: ROUNDS, seed: 1, threads, engine: Engine::Tables };
    Ok(sweep(&job, &AtomicBool::new(false), &|_| {})?)
}
