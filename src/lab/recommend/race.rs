//! The race: all settings on the same few runs, then the better half on twice as many, until few are left.
//!
//! A setting that fails a limit for certain, too many runs that do not settle or too many decisions past an end of the
//! ladder, stands behind all that do not. The cost is counted in runs of a setting in a world.

use super::{Record, Run, Setting, Stage, WHOLE, World, at_home, estimate, mean, objective};
use crate::lab::choose::{TOLERATED, Weights};
use crate::lab::stats::{Estimate, wilson};
use crate::lab::sweep::SweepError;

/// Runs of the first stage.
const FIRST: u32 = 2;
/// Settings that are left at the end, at least.
const LEFT: usize = 6;
/// Confidence at which a limit counts as broken.
const SURE: f64 = 0.95;

/// How a race went.
#[derive(Clone, Debug)]
pub struct Race {
    /// The settings that are left, the best first.
    pub left: Vec<Setting>,
    /// Their runs, in that order.
    pub record: Record,
    /// Settings and runs of each stage.
    pub stages: Vec<(usize, u32)>,
    /// What it cost, in runs of a setting in a world.
    pub cost: u64,
    /// Means of settings that had been dropped by then, with eight runs or more: for the trade-offs.
    pub dropped: Vec<(Setting, Trade)>,
}

/// What a setting trades, over the scenarios as they are; intervals over runs of the race, which had a part in the choice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trade {
    /// Nats above what an oracle has.
    pub excess: Estimate,
    /// Reversals per 100 rounds.
    pub reversals: Estimate,
    /// Tokens before settling.
    pub settle_tokens: Estimate,
    /// Share of rounds on right rungs.
    pub on_rung: Estimate,
}

/// Runs a race to `most` runs of those that are left.
///
/// # Errors
/// [`SweepError`].
pub fn race(
    worlds: &[World],
    settings: &[Setting],
    most: u32,
    seed: u64,
    weights: &Weights,
) -> Result<Race, SweepError> {
    race_told(worlds, settings, most, seed, weights, &|_| {})
}

/// The same, each stage told as it begins.
pub(super) fn race_told(
    worlds: &[World],
    settings: &[Setting],
    most: u32,
    seed: u64,
    weights: &Weights,
    told: &dyn Fn(Stage),
) -> Result<Race, SweepError> {
    let mut left = settings.to_vec();
    let mut done = FIRST.min(most.max(1));
    told(Stage::Race { settings: left.len(), runs: done });
    let mut record = Record::new(worlds, &left, &(0..done), seed, weights)?;
    let price = |settings: usize, runs: u32| settings as u64 * u64::from(runs) * worlds.len() as u64;
    let (mut cost, mut stages, mut dropped) = (price(left.len(), done), vec![(left.len(), done)], Vec::new());
    loop {
        let order = ranked(worlds, &record, left.len(), weights);
        let keep = if left.len() > LEFT { left.len().div_ceil(2).max(LEFT) } else { left.len() };
        let more = if done >= most { done } else { (2 * done).min(most) };
        if done >= 8 {
            dropped.extend(order[keep..].iter().map(|&at| (left[at], trade(worlds, &record.of(at)))));
        }
        let places = &order[..keep];
        let kept: Vec<Setting> = places.iter().map(|&at| left[at]).collect();
        if more > done {
            told(Stage::Race { settings: keep, runs: more });
        }
        let added = Record::new(worlds, &kept, &(done..more), seed, weights)?;
        record.keep_and_add(places, added);
        cost += price(keep, more - done);
        let finished = more == done && keep == left.len();
        (left, done) = (kept, more);
        if finished {
            return Ok(Race { left, record, stages, cost, dropped });
        }
        stages.push((keep, done));
    }
}

/// Places of the settings, the best first.
fn ranked(worlds: &[World], record: &Record, settings: usize, weights: &Weights) -> Vec<usize> {
    let score = |at: usize| {
        let runs = record.of(at);
        let broken = !keeps_limits(worlds, &runs);
        (broken, objective(&runs, weights).0.iter().map(|loss| i128::from(*loss)).sum::<i128>())
    };
    let scores: Vec<_> = (0..settings).map(score).collect();
    let mut order: Vec<usize> = (0..settings).collect();
    order.sort_by_key(|&at| (scores[at], at));
    order
}

/// Whether nothing says for certain that a setting breaks a limit in a scenario as it is.
#[must_use]
pub fn keeps_limits(worlds: &[World], by_world: &[&[Run]]) -> bool {
    worlds.iter().zip(by_world).filter(|(world, _)| world.home && world.reachable).all(|(_, runs)| {
        let lost = runs.iter().filter(|run| !run.settled).count() as u64;
        let certain = wilson(lost, runs.len() as u64, SURE).is_some_and(|share| share.lo > TOLERATED);
        // pinned is per 100 rounds, in millionths
        !certain && mean(runs.iter().map(|run| run.pinned)) / 1e8 <= TOLERATED
    })
}

/// What a setting trades.
#[must_use]
pub fn trade(worlds: &[World], by_world: &[&[Run]]) -> Trade {
    let over = |value: fn(&Run) -> i64, unit: f64| estimate(at_home(worlds, by_world, value), unit);
    let count = |value: fn(&Run) -> i64, unit: f64| over(value, unit).held(0.0, f64::INFINITY);
    Trade {
        excess: over(|run| run.parts.excess, 1.0),
        reversals: count(|run| run.reversals, 1.0),
        settle_tokens: count(|run| run.settle_tokens, WHOLE),
        on_rung: over(|run| run.on_rung, 1.0).held(0.0, 1.0),
    }
}
