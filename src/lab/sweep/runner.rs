//! Runs on threads: each worker takes the next run, lays it down, governs every cell on it and adds up.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use thiserror::Error;

use super::Engine;
use super::cells::{Cells, OracleCell, Prepared};
use super::driver::Driver;
use super::lanes::LANES;
use crate::engine::{BandError, Rung, Rungs};
use crate::lab::choose::{Weights, loss};
use crate::lab::ends::EndTally;
use crate::lab::fixed::micros;
use crate::lab::grid::Grid;
use crate::lab::metric::Metric;
use crate::lab::runlog::LogError;
use crate::lab::scenario::Scenario;
use crate::lab::score::{in_band_measured, score, settling_from};
use crate::lab::stats::Moments;
use crate::lab::tally::CellTally;
use crate::lab::truth::{Truth, TruthError};
use crate::sim::Oracle;

/// A sweep to run.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// The agent, its plan and what counts as right.
    pub scenario: &'a Scenario,
    /// The cells.
    pub grid: &'a Grid,
    /// Runs of each cell.
    pub runs: u32,
    /// Rounds of each run.
    pub rounds: u32,
    /// What all luck comes from.
    pub seed: u64,
    /// Threads; 0 takes one for each core.
    pub threads: usize,
    /// What is asked to govern the cells: [`Job::engine`] says what does.
    pub engine: Engine,
}

impl Job<'_> {
    /// What governs the cells: the machine where the scenario's runs hang on their path, which the tables cannot follow.
    #[must_use]
    pub fn engine(&self) -> Engine {
        if self.scenario.hangs_on_the_path() { Engine::Machine } else { self.engine }
    }
}

/// What a sweep came to, before statistics. Cells stand in the grid's order.
#[derive(Clone, Debug)]
pub struct Finished {
    /// What the runs of each cell add up to.
    pub tallies: Vec<CellTally>,
    /// The oracle's `in_band_measured` that belongs to each cell.
    pub oracles: Vec<Moments>,
    /// The loss of each run of each cell, in millionths: those of cell 0 first.
    pub losses: Vec<Vec<i64>>,
    /// How the runs of each cell ended; none where the scenario's runs do not hang on their path.
    pub ends: Vec<EndTally>,
    /// Runs that were finished: runs 0 to this, all of them.
    pub runs: u32,
}

/// Why a sweep cannot be run.
#[derive(Debug, Error)]
pub enum SweepError {
    /// A target and a slack make no band.
    #[error("a cell of the grid has no band: {0}")]
    Band(#[from] BandError),
    /// There is nothing to score against.
    #[error("a run of this scenario cannot be scored: {0}")]
    Truth(#[from] TruthError),
    /// A log does not fit its run: a fault of this program.
    #[error("internal: a run's log is malformed: {0}")]
    Log(#[from] LogError),
    /// No thread could be started.
    #[error("cannot start threads: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}

/// Runs a sweep. `stop` ends it after the runs in progress; `progress` is told after each run how many are finished.
///
/// # Errors
/// [`SweepError`].
pub fn sweep(job: &Job<'_>, stop: &AtomicBool, progress: &(dyn Fn(u32) + Sync)) -> Result<Finished, SweepError> {
    let cells = Cells::new(job.scenario, job.grid, job.rounds)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(job.threads).build()?;
    Ok(stretch(job, &cells, &pool, 0..job.runs, stop, progress)?.finish(&cells))
}

/// The fewest runs after which a sweep may stop because its figures are narrow enough: an interval of fewer says little.
const FEWEST: u32 = 50;

/// Runs a sweep until the share of rounds on a right rung is known in every cell to `precision`, half the width of its
/// interval in millionths, or until all runs of the job are finished. It looks after 50 runs, and then after half as
/// many again each time, so that the same job stops at the same run whatever the threads.
///
/// # Errors
/// [`SweepError`].
pub fn sweep_to(
    job: &Job<'_>,
    precision: i64,
    stop: &AtomicBool,
    progress: &(dyn Fn(u32) + Sync),
) -> Result<Finished, SweepError> {
    let cells = Cells::new(job.scenario, job.grid, job.rounds)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(job.threads).build()?;
    let mut whole = Sums::new(&cells);
    let (mut from, mut to) = (0, FEWEST.min(job.runs));
    loop {
        whole.merge(stretch(job, &cells, &pool, from..to, stop, progress)?);
        if to == job.runs || stop.load(Ordering::Relaxed) || whole.narrow(precision) {
            return Ok(whole.finish(&cells));
        }
        (from, to) = (to, to.saturating_add(to.div_ceil(2)).min(job.runs));
    }
}

/// A stretch of a job's runs.
fn stretch(
    job: &Job<'_>,
    cells: &Cells,
    pool: &rayon::ThreadPool,
    runs: Range<u32>,
    stop: &AtomicBool,
    progress: &(dyn Fn(u32) + Sync),
) -> Result<Sums, SweepError> {
    let (next, done) = (AtomicU32::new(runs.start), AtomicU32::new(runs.start));
    let workers = pool.broadcast(|_| {
        let mut worker = Worker::new(job, cells);
        while !stop.load(Ordering::Relaxed) {
            let run = next.fetch_add(1, Ordering::Relaxed);
            if run >= runs.end {
                break;
            }
            if let Err(error) = worker.run(run) {
                stop.store(true, Ordering::Relaxed);
                return Err(error);
            }
            progress(done.fetch_add(1, Ordering::Relaxed) + 1);
        }
        Ok(worker.sums)
    });
    let mut whole = Sums::new(cells);
    for worker in workers {
        whole.merge(worker?);
    }
    Ok(whole)
}

/// What a worker adds up.
struct Sums {
    tallies: Vec<CellTally>,
    oracles: Vec<Moments>,
    /// Losses of all cells in a run, by run.
    losses: Vec<(u32, Vec<i64>)>,
    ends: Vec<EndTally>,
}

impl Sums {
    fn new(cells: &Cells) -> Self {
        Self {
            tallies: vec![CellTally::default(); cells.all.len()],
            oracles: vec![Moments::default(); cells.oracles.len()],
            losses: Vec::new(),
            ends: vec![EndTally::default(); cells.all.len()],
        }
    }

    fn merge(&mut self, other: Self) {
        self.tallies.iter_mut().zip(&other.tallies).for_each(|(mine, theirs)| mine.merge(theirs));
        self.oracles.iter_mut().zip(&other.oracles).for_each(|(mine, theirs)| mine.merge(theirs));
        self.losses.extend(other.losses);
        self.ends.iter_mut().zip(&other.ends).for_each(|(mine, theirs)| mine.merge(theirs));
    }

    /// Whether the share on right rungs is known to this in every cell.
    fn narrow(&self, precision: i64) -> bool {
        self.tallies.iter().all(|tally| {
            let estimate = tally.summary(Metric::OnRung, super::CONFIDENCE);
            let interval = estimate.and_then(|estimate| estimate.interval);
            interval.is_some_and(|interval| micros((interval.hi - interval.lo) / 2.0) <= precision)
        })
    }

    fn finish(mut self, cells: &Cells) -> Finished {
        self.losses.sort_unstable_by_key(|(run, _)| *run);
        let by_cell = |cell: usize| self.losses.iter().map(|(_, losses)| losses[cell]).collect();
        Finished {
            oracles: cells.all.iter().map(|cell| self.oracles[cell.oracle]).collect(),
            losses: (0..cells.all.len()).map(by_cell).collect(),
            runs: u32::try_from(self.losses.len()).unwrap_or(u32::MAX),
            ends: if cells.ends { self.ends } else { Vec::new() },
            tallies: self.tallies,
        }
    }
}

/// One thread's buffers.
struct Worker<'a> {
    job: &'a Job<'a>,
    cells: &'a Cells,
    driver: Driver<'a>,
    truths: Vec<Truth>,
    /// The right rungs of the run, for each target.
    paths: Vec<Vec<Rung>>,
    weights: Weights,
    sums: Sums,
}

impl<'a> Worker<'a> {
    fn new(job: &'a Job<'a>, cells: &'a Cells) -> Self {
        Self {
            job,
            cells,
            driver: Driver::new(job),
            truths: vec![Truth::default(); cells.aims.len()],
            paths: vec![Vec::new(); cells.aims.len()],
            weights: Weights::default(),
            sums: Sums::new(cells),
        }
    }

    /// One run: every cell and every oracle on the same luck.
    fn run(&mut self, run: u32) -> Result<(), SweepError> {
        let cells = self.cells;
        self.driver.draw(run, cells.logs);
        self.aim()?;
        self.oracles();
        let mut losses = Vec::with_capacity(cells.all.len());
        for alike in cells.all.chunk_by(|one, next| one.cell.law == next.cell.law) {
            for batch in alike.chunks(LANES) {
                let governed = |place: usize| cells.governed(&batch[place]);
                self.driver.govern_by(batch[0].cell.law, batch.len(), governed);
                for (place, cell) in batch.iter().enumerate() {
                    losses.push(self.cell(losses.len(), cell, place)?);
                }
            }
        }
        self.sums.losses.push((run, losses));
        Ok(())
    }

    /// What is right in this run, for each target.
    fn aim(&mut self) -> Result<(), SweepError> {
        let (rounds, luck) = (self.job.rounds as usize, self.driver.luck());
        let rungs = self.job.scenario.agent.rungs();
        let ln_mean = |rung, round| luck.ln_mean(rung, u32::try_from(round).unwrap_or(u32::MAX));
        for ((aim, truth), path) in self.cells.aims.iter().zip(&mut self.truths).zip(&mut self.paths) {
            truth.fill(rounds, rungs, aim.target, self.cells.band, ln_mean)?;
            let best = |round| Rungs::new(rungs).and_then(|rungs| rungs.rung(usize::from(truth.best(round))));
            path.clear();
            path.extend((0..rounds).map(|round| best(round).unwrap_or_default()));
        }
        Ok(())
    }

    /// What whoever is told the right rungs would have read.
    fn oracles(&mut self) {
        let (cells, paths) = (self.cells, &self.paths);
        let path = |oracle: &OracleCell| &paths[oracle.aim];
        for (batch, sums) in cells.oracles.chunks(LANES).zip(self.sums.oracles.chunks_mut(LANES)) {
            let told =
                |place: usize| cells.told(batch[place], path(&batch[place]).first().copied().unwrap_or_default());
            self.driver.govern(batch.len(), told, |place| Oracle::new(path(&batch[place])));
            for (place, (oracle, sum)) in batch.iter().zip(sums).enumerate() {
                let log = self.driver.log(place);
                let right = || {
                    score(log, &self.truths[oracle.aim], &cells.aims[oracle.aim].scoring).ok()?.micros(Metric::OnRung)
                };
                debug_assert_eq!(right(), Some(1_000_000), "an oracle is always right");
                if let Some(seen) = in_band_measured(log) {
                    sum.add(seen);
                }
            }
        }
    }

    /// Scores the cell at `index`, which is at `place` of those that were just governed, and gives its loss.
    fn cell(&mut self, index: usize, cell: &Prepared, place: usize) -> Result<i64, SweepError> {
        let (log, truth, aim) = (self.driver.log(place), &self.truths[cell.aim], &self.cells.aims[cell.aim]);
        let scored = score(log, truth, &aim.scoring)?;
        if self.cells.ends {
            self.sums.ends[index].add(self.driver.end(place), log);
        }
        let tally = &mut self.sums.tallies[index];
        tally.add(&scored);
        let steps = &self.job.scenario.agent.spec().drift.steps;
        for (step, place) in steps.iter().zip(0..) {
            let from = step.round as usize;
            let until = steps.get(place + 1).map_or(self.job.rounds as usize, |next| next.round as usize);
            if from < until && until <= self.job.rounds as usize {
                tally.add_resettling(place, settling_from(log, truth, aim.scoring.hold, from, until)?);
            }
        }
        Ok(loss(&scored, &self.weights, aim.scale))
    }
}
