//! What is believed about every rung at once: the filter that `model` and `hybrid` share.
//!
//! It is not a law. A normal prior over ln tokens of all rungs (a common level, a common slope, a deviation of each) is
//! corrected by every reading of one of them, so that a rung that was never run is predicted, and one that was run is
//! remembered. Units: nats. The covariance is full; a ladder has few rungs.
//!
//! # Theory
//!
//! Rung l has a + b (l - l0) + d_l with l0 the first rung read, a normal about the target with [`LEVEL`], b about ln `ratio` with
//! [`SLOPE`], d_l with [`DEVIATION`]: linear regression with an exchangeable residual, as in the Bayesian dose models of O'Quigley, Pepe and
//! Fisher (1990). Each round every rung may drift together by `drift`: without that a changed load is never believed. A
//! Kalman update with one reading at rung l costs one outer product.

use alloc::vec::Vec;

use super::aim::Aim;
use super::estimate::{Estimate, Estimator};
use super::real::place;
use super::track::small;
use crate::engine::law::{LawState, Reading};

/// Standard deviation of the level at the first rung.
const LEVEL: f64 = 2.0;
/// Standard deviation of the slope.
const SLOPE: f64 = 0.25;
/// Standard deviation of each rung's own deviation.
const DEVIATION: f64 = 0.15;

/// The filter. Rungs count from the softest.
#[derive(Clone, Debug, Default)]
pub(super) struct Beliefs {
    estimator: Estimator,
    pub(super) aim: Aim,
    /// ln tokens of each rung.
    mean: Vec<f64>,
    /// Their covariance, row by row.
    spread: Vec<f64>,
    pub(super) here: usize,
}

impl Beliefs {
    /// Takes in the round; none where it had no turns.
    pub(super) fn observe(&mut self, reading: &Reading<'_>, slope: f64, drift: f64) -> Option<Estimate> {
        let rungs = reading.rungs.count();
        let here = rungs - 1 - reading.rung.index().min(rungs - 1);
        self.aim.at(reading);
        if self.mean.len() != rungs {
            self.begin(here, rungs, slope);
        }
        let seen = self.estimator.observe(here, rungs, &reading.round)?;
        self.here = here;
        self.spread.iter_mut().for_each(|value| *value += drift * drift);
        self.correct(here, seen.level, seen.variance);
        Some(seen)
    }

    fn begin(&mut self, here: usize, rungs: usize, slope: f64) {
        self.estimator.new_ladder();
        let steps = |rung: usize| place(rung) - place(here);
        self.mean = (0..rungs).map(|rung| self.aim.ln + slope * steps(rung)).collect();
        self.spread.clear();
        for row in 0..rungs {
            let shared = |column: usize| LEVEL * LEVEL + SLOPE * SLOPE * steps(row) * steps(column);
            let own = |column: usize| if row == column { DEVIATION * DEVIATION } else { 0.0 };
            self.spread.extend((0..rungs).map(|column| shared(column) + own(column)));
        }
    }

    fn correct(&mut self, here: usize, level: f64, variance: f64) {
        let rungs = self.mean.len();
        let column: Vec<f64> = (0..rungs).map(|row| self.spread[row * rungs + here]).collect();
        let (innovation, whole) = (level - self.mean[here], column[here] + variance);
        for (mean, spread) in self.mean.iter_mut().zip(&column) {
            *mean += spread / whole * innovation;
        }
        for (row, left) in self.spread.chunks_exact_mut(rungs).zip(&column) {
            row.iter_mut().zip(&column).for_each(|(value, right)| *value -= left * right / whole);
        }
    }

    /// ln of a rung's tokens over the target.
    pub(super) fn error(&self, rung: usize) -> f64 {
        self.mean[rung] - self.aim.ln
    }

    /// Standard deviation of that.
    pub(super) fn sd(&self, rung: usize) -> f64 {
        libm::sqrt(self.spread[rung * self.mean.len() + rung].max(0.0))
    }

    /// The rung whose tokens are expected nearest to the target.
    pub(super) fn nearest(&self) -> usize {
        let rungs = 0..self.mean.len();
        rungs.fold(0, |best, rung| if self.error(rung).abs() < self.error(best).abs() { rung } else { best })
    }

    /// Those of least error on either side: below the target, and at or above it.
    pub(super) fn astride(&self) -> (Option<usize>, Option<usize>) {
        let nearer = |best: Option<usize>, rung: usize| match best {
            Some(best) if self.error(best).abs() <= self.error(rung).abs() => Some(best),
            Some(_) | None => Some(rung),
        };
        let (below, above): (Vec<usize>, Vec<usize>) = (0..self.mean.len()).partition(|rung| self.error(*rung) < 0.0);
        (below.into_iter().fold(None, nearer), above.into_iter().fold(None, nearer))
    }

    pub(super) fn save(&self, state: &mut LawState) {
        self.estimator.save(state);
        let rungs = self.mean.len();
        state.set("rungs", rungs as u64);
        state.set("rung", self.here as u64);
        for row in 0..rungs {
            state.set_real(&alloc::format!("ln.{row}"), self.mean[row]);
            for column in 0..=row {
                state.set_real(&alloc::format!("spread.{row}.{column}"), self.spread[row * rungs + column]);
            }
        }
    }

    pub(super) fn restore(&mut self, state: &LawState) {
        *self = Self::default();
        self.estimator.restore(state);
        if let Some((mean, spread)) = restored(state) {
            self.here = small(state, "rung").unwrap_or(0).min(mean.len() - 1);
            (self.mean, self.spread) = (mean, spread);
        }
    }
}

/// Means and covariance, if all of them are there and can be.
fn restored(state: &LawState) -> Option<(Vec<f64>, Vec<f64>)> {
    let rungs = small(state, "rungs").filter(|rungs| *rungs > 0)?;
    let real = |name: &str| state.real(name).filter(|value| value.abs() < 1e6);
    let mean = (0..rungs).map(|row| real(&alloc::format!("ln.{row}"))).collect::<Option<Vec<_>>>()?;
    let mut spread = alloc::vec![0.0; rungs * rungs];
    for row in 0..rungs {
        for column in 0..=row {
            let value = real(&alloc::format!("spread.{row}.{column}"))?;
            (spread[row * rungs + column], spread[column * rungs + row]) = (value, value);
        }
        if spread[row * rungs + row] < 0.0 {
            return None;
        }
    }
    Some((mean, spread))
}
