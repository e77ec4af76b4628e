//! What a sweep found, as plain numbers ready to print: nothing here is computed from runs any more.
//!
//! All numbers are integers in millionths of their unit, so that printing them cannot differ between machines. Nothing
//! depends on time, threads or the engine that ran it. Cells stand in the grid's order. It is not the tally: that holds
//! the sums of which a [`CellResult`] is the summary.

use super::choose::{Choice, Relaxed};
use super::ends::EndFigures;
use super::fixed::{ONE, micros};
use super::grid::Cell;
use super::metric::{METRICS, Metric};
use super::stats::{Estimate, Moments};
use super::survival::SettleSummary;
use super::tally::CellTally;
use crate::engine::{Ratio, Target};

/// The version that a result is told to come from: with the seed, it makes the result anew.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A mean with its interval, in millionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figure {
    /// The mean over runs.
    pub mean: i64,
    /// Lower and upper end of its interval; none where one run gives none.
    pub interval: Option<(i64, i64)>,
}

impl From<Estimate> for Figure {
    fn from(estimate: Estimate) -> Self {
        let interval = estimate.interval.map(|interval| (micros(interval.lo), micros(interval.hi)));
        Self { mean: micros(estimate.mean), interval }
    }
}

/// When runs settled, in millionths of a round: runs that did not are censored, not slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettleFigure {
    /// The restricted mean: of the rounds to settle, or of all rounds of the run where that is less.
    pub mean: Figure,
    /// The median; none where less than half settled.
    pub median: Option<i64>,
    /// The ends of its interval.
    pub median_interval: (Option<i64>, Option<i64>),
    /// The share of runs that did not settle.
    pub censored: i64,
}

impl From<SettleSummary> for SettleFigure {
    fn from(summary: SettleSummary) -> Self {
        let rounds = |count: Option<u32>| count.map(|count| i64::from(count) * ONE);
        let interval = Some((micros(summary.interval.lo), micros(summary.interval.hi)));
        Self {
            mean: Figure { mean: micros(summary.restricted_mean), interval },
            median: rounds(summary.median),
            median_interval: (rounds(summary.median_interval.0), rounds(summary.median_interval.1)),
            censored: micros(summary.censored),
        }
    }
}

/// One cell of the grid and how its runs went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellResult {
    /// The parameters.
    pub cell: Cell,
    /// Each metric by its place in [`Metric::ALL`]; none where it applies to no run.
    pub figures: [Option<Figure>; METRICS],
    /// The oracle's `in_band_measured`, without which the cell's own is not to be shown.
    pub oracle_in_band_measured: Option<Figure>,
    /// Rounds to settle from the start.
    pub settle: Option<SettleFigure>,
    /// Rounds to settle again after each scheduled step of the load, counted from it.
    pub resettle: Vec<Option<SettleFigure>>,
    /// The mean loss that cells are chosen by; none where nothing was chosen.
    pub loss: Option<Figure>,
    /// How its runs ended; none where the scenario's runs do not hang on their path.
    pub ends: Option<EndFigures>,
}

impl CellResult {
    /// The summary of a cell's runs of up to `rounds` rounds; `losses` are those of its runs, in millionths.
    #[must_use]
    pub fn new(cell: Cell, tally: &CellTally, rounds: u32, losses: &[i64], confidence: f64) -> Self {
        let mut moments = Moments::default();
        losses.iter().for_each(|loss| moments.add(*loss));
        let resettle = tally.resettling().iter().map(|curve| curve.summary(rounds, confidence).map(SettleFigure::from));
        Self {
            cell,
            figures: tally.summaries(confidence).map(|estimate| estimate.map(Figure::from)),
            oracle_in_band_measured: None,
            settle: tally.settle_summary(rounds, confidence).map(SettleFigure::from),
            resettle: resettle.collect(),
            loss: moments.estimate(confidence).map(Figure::from),
            ends: None,
        }
    }

    /// The figure of a metric.
    #[must_use]
    pub const fn figure(&self, metric: Metric) -> Option<Figure> {
        self.figures[metric.index()]
    }

    /// The figure of a metric, in millionths, without its interval.
    #[must_use]
    pub fn mean(&self, metric: Metric) -> Option<i64> {
        self.figure(metric).map(|figure| figure.mean)
    }
}

/// The cell to use for one target, and what the choice rests on. Cells are places in [`SweepResult::cells`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// The target.
    pub juice: Target,
    /// The chosen cell.
    pub cell: usize,
    /// The cell with the least mean loss.
    pub best: usize,
    /// The next by the same rule.
    pub runner_up: Option<usize>,
    /// Mean loss of the chosen cell.
    pub loss: Figure,
    /// Loss of the runner-up less that of the chosen cell, paired by run.
    pub difference: Option<Figure>,
    /// Cells compared.
    pub compared: usize,
    /// Of those, the cells that cannot be told from the best.
    pub as_good: usize,
    /// Why limits were let go, if they were.
    pub relaxed: Option<Relaxed>,
    /// Why, in a sentence.
    pub why: String,
}

impl Chosen {
    /// A choice among the cells at `places` of the grid; none where the choice names a candidate that has no place.
    #[must_use]
    pub fn new(juice: Target, choice: &Choice, places: &[usize]) -> Option<Self> {
        let place = |candidate: usize| places.get(candidate).copied();
        Some(Self {
            juice,
            cell: place(choice.chosen)?,
            best: place(choice.best)?,
            runner_up: choice.runner_up.and_then(place),
            loss: choice.loss.into(),
            difference: choice.difference.map(Figure::from),
            compared: choice.compared,
            as_good: choice.as_good,
            relaxed: choice.relaxed,
            why: choice.why.clone(),
        })
    }
}

/// The result of a sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweepResult {
    /// The scenario's name.
    pub scenario: String,
    /// The seed of all luck.
    pub seed: u64,
    /// Runs of a cell, as planned.
    pub runs: u32,
    /// Rounds of a run, as planned.
    pub rounds: u32,
    /// The band in which a rung is right.
    pub band: Ratio,
    /// So many rounds in a row are settled.
    pub hold: u32,
    /// The cells, in the grid's order.
    pub cells: Vec<CellResult>,
    /// The choice for each target, in the grid's order.
    pub chosen: Vec<Chosen>,
    /// Where it was stopped: so many runs of each cell were finished, and the figures rest on them.
    pub runs_done: Option<u32>,
}

impl SweepResult {
    /// Whether runs hang on their path, so that the loop machine ran them, whichever engine was asked for.
    #[must_use]
    pub fn hangs_on_the_path(&self) -> bool {
        self.cells.iter().any(|cell| cell.ends.is_some())
    }

    /// The cell at a place that a choice names.
    #[must_use]
    pub fn cell(&self, place: usize) -> Option<&Cell> {
        self.cells.get(place).map(|result| &result.cell)
    }
}
