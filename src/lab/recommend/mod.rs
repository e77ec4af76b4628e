//! `recommend`: from scenarios to settings one can defend.
//!
//! 1. *Worlds*: each scenario as it is, and as it might be ([`perturb`]): gaps, noise and sessions larger or smaller, the
//!    target elsewhere between rungs, a step of the load, a share of each round told late.
//! 2. *Screen* ([`screen`]): what theory rules out is not run.
//! 3. *Race* ([`race`]): all settings meet the same runs; after each stage the better half stays, with twice the runs.
//! 4. *Choice* ([`judge`]): of those that cannot be told from the best, the simplest.
//! 5. *Fresh runs*: what the choice promises is measured on runs that had no part in it, beside the runner-up, the
//!    original's defaults and the settings in use.
//! 6. *Words* ([`text`]): what speaks against it first ([`doubt`]), then what it is for ([`aim`]).
//!
//! What is minimised is the mean of the loss over the worlds and half of it in the worst one, so that a setting that is
//! fine at home and fails next door is none. Not a sweep: it reports no grid. Losses are in millionths; see
//! [`choose`](super::choose) for their parts. Sources: the control study, `recommend`; Karnin, Koren and Somekh (2013) for
//! halving; common random numbers as in Stout and Goldie (2008).

pub mod aim;
pub mod doubt;
pub mod judge;
pub mod perturb;
pub mod race;
pub mod screen;
pub mod text;
pub mod yaml;

use super::choose::{Parts, Weights, settle_scale};
use super::grid::Cell;
use super::metric::Metric;
use super::scenario::Scenario;
use super::stats::{CONFIDENCE, Estimate, Interval, Moments};
use super::sweep::SweepError;
use super::trial::{Ran, Trial, trial};
use crate::engine::{LawKind, Millis, Ratio, Target, counted};

/// Settings that are tried in every world, each at that world's own target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The law.
    pub law: LawKind,
    /// The window.
    pub over: Millis,
    /// Half the width of the band.
    pub slack: Ratio,
    /// The pause between rounds.
    pub rest: Millis,
}

impl Setting {
    /// As a cell at a target.
    #[must_use]
    pub const fn at(&self, juice: Target) -> Cell {
        let Self { law, over, slack, rest } = *self;
        Cell { law, juice, over, slack, rest }
    }
}

/// One agent that settings are tried on.
#[derive(Clone, Debug)]
pub struct World {
    /// What differs from the scenario, in words; `as it is`.
    pub name: String,
    /// Its scenario.
    pub scenario: Scenario,
    /// Whether it is a scenario as it is.
    pub home: bool,
    /// Whether the target lies on or between the rungs' means, to half a token.
    pub reachable: bool,
    /// The tokens that settling is measured by.
    pub scale: u64,
}

impl World {
    /// A world of this scenario.
    #[must_use]
    pub fn new(name: &str, scenario: Scenario, home: bool) -> Self {
        let (rounds, juice) = (scenario.plan.rounds, scenario.governor.juice);
        let budget = scenario.governor.budget.map(crate::engine::Tokens::count);
        let scale = settle_scale(budget, rounds, scenario.agent.spec().turns.mean, juice);
        let means = scenario.derived_at(juice).means;
        let target = super::fixed::ufloat(juice.micros()) / 1e6;
        let least = means.iter().copied().fold(f64::INFINITY, f64::min);
        let most = means.iter().copied().fold(0.0, f64::max);
        // targets are written in whole tokens, and one that is meant to be a rung's mean is no further off
        let reachable = (least - 0.5..=most + 0.5).contains(&target);
        Self { name: name.to_owned(), scenario, home, reachable, scale }
    }
}

/// What is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It is looked which settings are worth running.
    Screen,
    /// So many settings race to so many runs.
    Race {
        /// Settings.
        settings: usize,
        /// Runs of each.
        runs: u32,
    },
    /// What is promised is measured on so many fresh runs.
    Fresh(u32),
}

impl std::fmt::Display for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Screen => f.write_str("looking which settings are worth running"),
            Self::Race { settings, runs } => {
                write!(f, "{} to {} each", counted(settings, "setting"), counted(runs, "run"))
            }
            Self::Fresh(runs) => write!(f, "what is promised, on {}", counted(runs, "fresh run")),
        }
    }
}

/// What is kept of one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// The parts of its loss.
    pub parts: Parts,
    /// Share of rounds on right rungs, millionths.
    pub on_rung: i64,
    /// Reversals per 100 rounds, millionths.
    pub reversals: i64,
    /// Decisions past an end per 100 rounds, millionths.
    pub pinned: i64,
    /// Whether it settled.
    pub settled: bool,
    /// Rounds before settling, millionths; all where it did not.
    pub settle_rounds: i64,
    /// Tokens before settling.
    pub settle_tokens: i64,
    /// Share of tokens on wrong rungs, millionths.
    pub off_tokens: i64,
    /// Output tokens.
    pub tokens: i64,
    /// Milliseconds.
    pub millis: i64,
}

impl Run {
    fn of(ran: &Ran<'_>, weights: &Weights, scale: u64) -> Self {
        let of = |metric| ran.score.micros(metric).unwrap_or(0);
        Self {
            parts: Parts::of(ran.score, weights.bias_free, scale),
            on_rung: of(Metric::OnRung),
            reversals: of(Metric::Reversals),
            pinned: of(Metric::Pinned),
            settled: ran.score.settling.settled.is_some(),
            settle_rounds: of(Metric::SettleRounds),
            settle_tokens: of(Metric::SettleTokens) / super::fixed::ONE,
            off_tokens: of(Metric::OffTokens),
            tokens: of(Metric::Tokens) / super::fixed::ONE,
            millis: of(Metric::Secs) / 1000,
        }
    }
}

/// Runs of some settings in some worlds.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// By world, by setting, by run.
    pub runs: Vec<Vec<Vec<Run>>>,
}

impl Record {
    /// Runs settings in all worlds on a stretch of runs.
    ///
    /// # Errors
    /// [`SweepError`].
    pub fn new(
        worlds: &[World],
        settings: &[Setting],
        runs: &std::ops::Range<u32>,
        seed: u64,
        weights: &Weights,
    ) -> Result<Self, SweepError> {
        let of = |world: &World| {
            let cells: Vec<Cell> = settings.iter().map(|setting| setting.at(world.scenario.governor.juice)).collect();
            let rounds = world.scenario.plan.rounds;
            let asked = Trial { scenario: &world.scenario, cells: &cells, runs: runs.clone(), rounds, seed };
            let tuning = &world.scenario.governor.tuning;
            trial(&asked, &|cell| cell.law.tuned(tuning), &|ran| Run::of(ran, weights, world.scale))
        };
        Ok(Self { runs: worlds.iter().map(of).collect::<Result<_, _>>()? })
    }

    /// The runs of one setting: by world.
    #[must_use]
    pub fn of(&self, setting: usize) -> Vec<&[Run]> {
        self.runs.iter().map(|world| world[setting].as_slice()).collect()
    }

    /// Adds later runs of the settings at `places`, which `more` holds in that order; the others are dropped.
    pub(super) fn keep_and_add(&mut self, places: &[usize], more: Self) {
        for (world, added) in self.runs.iter_mut().zip(more.runs) {
            let mut kept: Vec<Vec<Run>> = places.iter().map(|&place| std::mem::take(&mut world[place])).collect();
            kept.iter_mut().zip(added).for_each(|(runs, added)| runs.extend(added));
            *world = kept;
        }
    }
}

/// For each run, what is minimised: the mean of the losses over the worlds, and half of that in the world that is worst in
/// the mean; and which world that is.
#[must_use]
pub fn objective(by_world: &[&[Run]], weights: &Weights) -> (Vec<i64>, usize) {
    let losses: Vec<Vec<i64>> =
        by_world.iter().map(|runs| runs.iter().map(|run| run.parts.weighed(weights)).collect()).collect();
    let total = |losses: &[i64]| losses.iter().map(|loss| i128::from(*loss)).sum::<i128>();
    let worst = (0..losses.len()).max_by_key(|&world| (total(&losses[world]), std::cmp::Reverse(world))).unwrap_or(0);
    let worlds = i64::try_from(losses.len().max(1)).unwrap_or(1);
    let runs = losses.first().map_or(0, Vec::len);
    let one = |run: usize| losses.iter().map(|world| world[run]).sum::<i64>() / worlds + losses[worst][run] / 2;
    ((0..runs).map(one).collect(), worst)
}

/// The mean of integers, as a number.
#[must_use]
pub fn mean(values: impl IntoIterator<Item = i64>) -> f64 {
    let (sum, count) = values.into_iter().fold((0_i128, 0_u64), |(sum, n), value| (sum + i128::from(value), n + 1));
    super::fixed::float(sum) / super::fixed::ufloat(count.max(1))
}

/// The unit of whole tokens, which moments take for millionths.
const WHOLE: f64 = 1e6;

/// The mean with its interval over runs, of values in millionths of `unit`.
fn estimate(values: impl IntoIterator<Item = i64>, unit: f64) -> Estimate {
    let mut moments = Moments::default();
    values.into_iter().for_each(|value| moments.add(value));
    scaled(moments.estimate(CONFIDENCE), unit)
}

/// Moments are of millionths; `unit` is what one of theirs is worth.
fn scaled(estimate: Option<Estimate>, unit: f64) -> Estimate {
    let estimate = estimate.unwrap_or(Estimate { mean: 0.0, interval: None, n: 0 });
    let interval = estimate.interval.map(|interval| Interval { lo: interval.lo * unit, hi: interval.hi * unit });
    Estimate { mean: estimate.mean * unit, interval, n: estimate.n }
}

/// By run, the mean of a value over the scenarios as they are.
fn at_home(worlds: &[World], by_world: &[&[Run]], value: impl Fn(&Run) -> i64) -> Vec<i64> {
    let home: Vec<&[Run]> =
        worlds.iter().zip(by_world).filter(|(world, _)| world.home).map(|(_, runs)| *runs).collect();
    let count = i64::try_from(home.len().max(1)).unwrap_or(1);
    let runs = home.first().map_or(0, |runs| runs.len());
    (0..runs).map(|run| home.iter().map(|runs| value(&runs[run])).sum::<i64>() / count).collect()
}

#[cfg(test)]
mod tests;
