//! Trials: any list of cells on any stretch of runs of a scenario, each run's scores kept by themselves.
//!
//! Where a [`sweep`](super::sweep) adds up a grid, a trial keeps what each run of each cell came to, for whoever compares
//! runs one by one: a gate, a search that drops cells as it goes. The luck is that of the sweep: run 7 of a seed is the
//! same run in both, whichever cells are tried, in whatever order and on however many threads. The law is built by the
//! caller, so that one of its own can be tried. It neither sums nor judges.

use std::ops::Range;

use rayon::prelude::*;

use super::ends::RunEnd;
use super::grid::Cell;
use super::runlog::RunLog;
use super::scenario::Scenario;
use super::score::{Scoring, score};
use super::sweep::{Governed, LANES, Play, Scratch, SweepError, Tables, play};
use super::truth::Truth;
use crate::engine::{Band, Law, Over, Target};
use crate::lab::metric::RunScore;

/// What is to be tried.
#[derive(Clone, Debug)]
pub struct Trial<'a> {
    /// The agent, its plan and what counts as right.
    pub scenario: &'a Scenario,
    /// The cells.
    pub cells: &'a [Cell],
    /// Which runs of the seed.
    pub runs: Range<u32>,
    /// Rounds of each run.
    pub rounds: u32,
    /// What all luck comes from.
    pub seed: u64,
}

/// What a run of a cell did, and how it scored.
#[derive(Clone, Copy, Debug)]
pub struct Ran<'a> {
    /// Its cell.
    pub cell: &'a Cell,
    /// The run.
    pub run: u32,
    /// Its log.
    pub log: &'a RunLog,
    /// Its score.
    pub score: &'a RunScore,
}

/// Tries every cell on every run with the law that `build` makes of it, and keeps what `keep` takes of each: by cell, then
/// by run.
///
/// # Errors
/// [`SweepError`] where a cell has no band, or a run cannot be scored.
pub fn trial<L: Law, T: Send>(
    trial: &Trial<'_>,
    build: &(dyn Fn(&Cell) -> L + Sync),
    keep: &(dyn Fn(&Ran<'_>) -> T + Sync),
) -> Result<Vec<Vec<T>>, SweepError> {
    let ready = trial.cells.iter().map(|cell| Ready::new(trial.scenario, cell)).collect::<Result<Vec<_>, _>>()?;
    let logs = trial.cells.iter().any(|cell| build(cell).reads_logs());
    let runs: Vec<Vec<T>> = trial
        .runs
        .clone()
        .into_par_iter()
        .map_init(Buffers::default, |buffers, run| buffers.run(trial, &ready, logs, run, build, keep))
        .collect::<Result<_, _>>()?;
    let mut by_cell: Vec<Vec<T>> = trial.cells.iter().map(|_| Vec::with_capacity(runs.len())).collect();
    for run in runs {
        by_cell.iter_mut().zip(run).for_each(|(cell, one)| cell.push(one));
    }
    Ok(by_cell)
}

/// A cell's bands.
struct Ready {
    band: Band,
    seen: Band,
}

impl Ready {
    fn new(scenario: &Scenario, cell: &Cell) -> Result<Self, SweepError> {
        Ok(Self {
            band: scenario.governor.tuning.band(cell.juice, cell.slack)?,
            seen: Band::new(cell.juice, scenario.evaluate.band)?,
        })
    }
}

/// One thread's buffers.
#[derive(Default)]
struct Buffers {
    tables: Tables,
    scratch: Scratch,
    logs: [RunLog; LANES],
    truth: Truth,
}

impl Buffers {
    fn run<L: Law, T>(
        &mut self,
        trial: &Trial<'_>,
        ready: &[Ready],
        logs: bool,
        run: u32,
        build: &(dyn Fn(&Cell) -> L + Sync),
        keep: &(dyn Fn(&Ran<'_>) -> T + Sync),
    ) -> Result<Vec<T>, SweepError> {
        let Trial { scenario, cells, rounds, seed, .. } = trial;
        let mut luck = scenario.agent.luck(*seed, run, *rounds);
        let rungs = scenario.agent.rungs();
        let tabled = !scenario.hangs_on_the_path();
        if tabled {
            self.tables.fill(&mut luck, rungs, logs);
        }
        let mut aimed: Option<Target> = None;
        let mut kept = Vec::with_capacity(cells.len());
        for (cells, ready) in cells.chunks(LANES).zip(ready.chunks(LANES)) {
            let batch: Vec<Governed<'_>> = cells
                .iter()
                .zip(ready)
                .map(|(cell, ready)| Governed {
                    band: &ready.band,
                    seen: &ready.seen,
                    over: Over::new(cell.over),
                    rest: cell.rest,
                    budget: scenario.governor.budget,
                    start: scenario.plan.start,
                })
                .collect();
            let mut laws: Vec<L> = cells.iter().map(build).collect();
            if tabled {
                self.tables.govern_all(&batch, &mut laws, &mut self.scratch, &mut self.logs);
            } else {
                let played = Play { scenario, seed: *seed, run };
                for ((cell, law), log) in batch.iter().zip(laws).zip(&mut self.logs) {
                    play(&played, &mut luck, cell, law, log, &mut RunEnd::default());
                }
            }
            for (cell, log) in cells.iter().zip(&self.logs) {
                if aimed != Some(cell.juice) {
                    let ln_mean = |rung, round| luck.ln_mean(rung, u32::try_from(round).unwrap_or(u32::MAX));
                    self.truth.fill(*rounds as usize, rungs, cell.juice, scenario.evaluate.band, ln_mean)?;
                    aimed = Some(cell.juice);
                }
                let scoring = Scoring { hold: scenario.evaluate.hold, ..Scoring::new(cell.juice) };
                let scored = score(log, &self.truth, &scoring)?;
                kept.push(keep(&Ran { cell, run, log, score: &scored }));
            }
        }
        Ok(kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{LawKind, Millis, Ratio};
    use crate::lab::choose::{Weights, loss, settle_scale};
    use crate::lab::grid::Axes;
    use crate::lab::sweep::{Engine, Job, sweep};
    use std::sync::atomic::AtomicBool;

    /// A trial of a grid's cells has the losses of the sweep, run by run, and any stretch of runs is that stretch.
    #[test]
    fn runs_are_those_of_the_sweep() {
        let text = include_str!("../../scenarios/s06-short-rounds.toml");
        let scenario = Scenario::load(text, "x.toml").unwrap();
        let axes = Axes {
            law: Some(LawKind::ALL.to_vec()),
            juice: Some([1500, 2048].map(Target::from_tokens).to_vec()),
            over: Some([60, 300, 3600].map(Millis::from_secs).to_vec()),
            slack: Some([150_000, 300_000].map(Ratio::from_ppm).to_vec()),
            ..Axes::default()
        };
        let grid = scenario.grid(axes).unwrap();
        let job =
            Job { scenario: &scenario, grid: &grid, runs: 4, rounds: 60, seed: 3, threads: 2, engine: Engine::Tables };
        let swept = sweep(&job, &AtomicBool::new(false), &|_| {}).unwrap().losses;
        let cells: Vec<Cell> = grid.cells().collect();
        let losses = |runs: Range<u32>| {
            let asked = Trial { scenario: &scenario, cells: &cells, runs, rounds: 60, seed: 3 };
            let of = |ran: &Ran<'_>| {
                let turns = scenario.agent.spec().turns.mean;
                loss(ran.score, &Weights::default(), settle_scale(None, 60, turns, ran.cell.juice))
            };
            trial(&asked, &|cell| cell.law.build(), &of).unwrap()
        };
        assert_eq!(losses(0..4), swept);
        let late: Vec<Vec<i64>> = swept.iter().map(|cell| cell[2..4].to_vec()).collect();
        assert_eq!(losses(2..4), late);
    }
}
