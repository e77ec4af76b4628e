//! How a call leans on the one before: by its size within a kind, and by its kind, told apart.
//!
//! Behind a call stand two normals, one for its kind, narrow or wide, and one for its size within it, and each leans on its own of the call before.
//! The two correlations are those that make pairs of neighbours likeliest (composite likelihood: Lindsay 1988; Varin, Reid and Firth 2011),
//! the rungs' sizes given. The session's effect is taken off as far as its calls tell it from chance, and what they leave open both calls
//! of a pair have in common. A penalty of a standard
//! normal on Fisher's z holds what pairs say nothing of near zero; beside a hundred pairs that do say something it is nothing.
//!
//! The likelihood is worked out on a grid of both, once a unit; a draw adds up units and climbs to the top between its points.

use std::sync::Arc;

use super::components::Decay;
use super::families::Mixture;
use super::ladder::RungFit;
use super::numeric::len;
use super::units::Units;
use super::weighted::{Ranked, climb};
use crate::sim::normal::{both_below, inverse_cdf};

/// Fisher's z of the grid: the first, how many, and the step.
const SIZES: (f64, usize, f64) = (-1.0, 21, 0.125);
const KINDS: (f64, usize, f64) = (-1.0, 31, 0.125);
/// How far around a top is looked for the next, on the same scale, and how many such lengths the step there may have.
const NEAR: f64 = 0.2;
const FAR: f64 = 4.0;

/// How calls lean on the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Lean {
    /// Correlation of the normals behind sizes.
    pub rho: f64,
    /// Correlation of the normals behind kinds.
    pub kind_rho: f64,
}

/// A rung as the pairs see it.
pub(super) struct Rung<'a> {
    pub(super) effort: &'a str,
    /// Its sizes without the session's effect.
    pub(super) sizes: Mixture,
}

impl<'a> Rung<'a> {
    pub(super) fn of(rung: &'a RungFit) -> Self {
        Self { effort: &rung.effort, sizes: rung.sizes }
    }
}

/// The log likelihood of each unit's pairs on the grid, and the pairs themselves.
#[derive(Clone, Debug, Default)]
pub(super) struct Surface {
    rows: Vec<Vec<f64>>,
    /// Of each unit.
    pairs: Vec<Vec<Near>>,
    /// ln sizes of each rung.
    logs: Vec<Ranked>,
}

/// A pair with the session's effect taken off.
#[derive(Clone, Copy, Debug)]
struct Near {
    rung: usize,
    before: f64,
    after: f64,
    common: f64,
}

impl Surface {
    /// Of the units, `tau` being the session's effect.
    pub(super) fn of(units: &Units, rungs: &[Rung<'_>], tau: f64) -> Self {
        let tables: Vec<Table> = rungs.iter().map(|rung| Table::of(&rung.sizes, KINDS)).collect();
        let decay = Decay::of(units.whole(), &vec![1.0; units.whole().len()]);
        let (mut surface, mut logs) = (Self::default(), vec![Vec::new(); rungs.len()]);
        for (number, unit) in units.all.iter().enumerate() {
            let (mut row, mut near) = (vec![0.0; SIZES.1 * KINDS.1], Vec::new());
            let mut known: Option<(&Arc<[f64]>, Effect)> = None;
            for pair in &unit.pairs {
                let Some((effort, _)) = unit.logs.get(pair.effort) else { continue };
                let Some(rung) = rungs.iter().position(|rung| rung.effort == effort) else { continue };
                let same = known.filter(|(stretch, _)| Arc::ptr_eq(stretch, &pair.stretch)).map(|(_, effect)| effect);
                if same.is_none() {
                    logs[rung].push((pair.before, number));
                }
                logs[rung].push((pair.after, number));
                let effect = same.unwrap_or_else(|| Effect::of(&pair.stretch, &rungs[rung].sizes, tau, decay));
                known = Some((&pair.stretch, effect));
                let (before, after) = (pair.before - effect.off, pair.after - effect.off);
                near.push(Near { rung, before, after, common: effect.common });
            }
            for pair in &near {
                tables[pair.rung].add(&rungs[pair.rung].sizes, pair, SIZES, &mut row);
            }
            surface.rows.push(row);
            surface.pairs.push(near);
        }
        surface.logs = logs.into_iter().map(Ranked::new).collect();
        surface
    }

    /// The likeliest where the rungs' sizes are fitted anew as well, from those of `fitted`, which have the session's effect in them: one
    /// step of Newton's from the likeliest at the old sizes. What depends on sizes that are not known for sure is not surer than they are.
    pub(super) fn top_anew(&self, times: &[f64], fitted: &[Mixture], tau: f64) -> Option<Lean> {
        let top = self.top(times)?;
        let (size, kind) = (libm::atanh(top.rho), libm::atanh(top.kind_rho));
        let sizes: Vec<Mixture> = fitted
            .iter()
            .zip(&self.logs)
            .map(|(start, logs)| without(&climb(*start, logs, times).unwrap_or(*start), tau))
            .collect();
        let (along_sizes, along_kinds) = ((size - NEAR, 3, NEAR), (kind - NEAR, 3, NEAR));
        let tables: Vec<Table> = sizes.iter().map(|sizes| Table::of(sizes, along_kinds)).collect();
        let mut sum = [0.0; 9];
        for (pairs, times) in self.pairs.iter().zip(times).filter(|(_, times)| **times > 0.0) {
            let mut row = [0.0; 9];
            pairs.iter().for_each(|pair| tables[pair.rung].add(&sizes[pair.rung], pair, along_sizes, &mut row));
            sum.iter_mut().zip(row).for_each(|(sum, part)| *sum += times * part);
        }
        for (at, sum) in sum.iter_mut().enumerate() {
            *sum -= penalty(z(along_sizes, at / 3), z(along_kinds, at % 3));
        }
        let (slope, other) = (0.5 * (sum[7] - sum[1]), 0.5 * (sum[5] - sum[3]));
        let (bend, other_bend) = (sum[7] - 2.0 * sum[4] + sum[1], sum[5] - 2.0 * sum[4] + sum[3]);
        let both = 0.25 * (sum[8] - sum[6] - sum[2] + sum[0]);
        let determinant = bend * other_bend - both * both;
        if !(bend < 0.0 && other_bend < 0.0 && determinant > 0.0) {
            return Some(top);
        }
        let step = |over: f64| (over / determinant).clamp(-FAR, FAR) * NEAR;
        Some(Lean {
            rho: libm::tanh(size + step(both * other - other_bend * slope)),
            kind_rho: libm::tanh(kind + step(both * slope - bend * other)),
        })
    }

    /// The likeliest, each unit there so many times; none where there is no pair.
    pub(super) fn top(&self, times: &[f64]) -> Option<Lean> {
        let mut sum = vec![0.0; SIZES.1 * KINDS.1];
        for (row, times) in self.rows.iter().zip(times).filter(|(_, times)| **times > 0.0) {
            sum.iter_mut().zip(row).for_each(|(sum, part)| *sum += times * part);
        }
        if sum.iter().all(|part| *part == 0.0) {
            return None;
        }
        for (at, sum) in sum.iter_mut().enumerate() {
            let (size, kind) = (z(SIZES, at / KINDS.1), z(KINDS, at % KINDS.1));
            *sum -= penalty(size, kind);
        }
        // the first of equals
        let best = (0..sum.len()).rev().max_by(|a, b| sum[*a].total_cmp(&sum[*b]))?;
        let (size, kind) = (best / KINDS.1, best % KINDS.1);
        let along_sizes = |at: usize| sum[at * KINDS.1 + kind];
        let along_kinds = |at: usize| sum[size * KINDS.1 + at];
        Some(Lean {
            rho: libm::tanh(crest(SIZES, size, along_sizes)),
            kind_rho: libm::tanh(crest(KINDS, kind, along_kinds)),
        })
    }
}

fn penalty(size: f64, kind: f64) -> f64 {
    0.5 * (size * size + kind * kind)
}

/// A rung's sizes without the session's effect, their mean kept.
pub(super) fn without(sizes: &Mixture, tau: f64) -> Mixture {
    Mixture { narrow: sizes.narrow.narrowed(tau * tau), wide: sizes.wide.narrowed(tau * tau), ..*sizes }
}

/// Fisher's z at a place of an axis.
fn z((first, _, step): (f64, usize, f64), at: usize) -> f64 {
    first + step * f64::from(u32::try_from(at).unwrap_or(u32::MAX))
}

/// The top of the parabola through the highest point and its neighbours.
fn crest(axis: (f64, usize, f64), at: usize, height: impl Fn(usize) -> f64) -> f64 {
    if at == 0 || at + 1 >= axis.1 {
        return z(axis, at);
    }
    let (before, here, after) = (height(at - 1), height(at), height(at + 1));
    let bend = before - 2.0 * here + after;
    z(axis, at) + if bend < 0.0 { 0.5 * axis.2 * (before - after) / bend } else { 0.0 }
}

/// The session's effect on ln size, as far as the stretch tells.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Effect {
    /// To be taken off.
    off: f64,
    /// What two calls have in common after it: each had a part in what was taken off both.
    common: f64,
}

/// Steps to the effect of a stretch, far more than it takes.
const STEPS: u32 = 60;

impl Effect {
    /// The likeliest, the rung's sizes and the effect's own spread given; a call's kind is weighed by how likely it is (expectation and
    /// maximisation by turns). What calls have in common with their neighbours makes them worth less.
    fn of(stretch: &[f64], sizes: &Mixture, tau: f64, decay: Decay) -> Self {
        let (between, calls) = (tau * tau, len(stretch));
        if between <= 0.0 || stretch.is_empty() {
            return Self { off: 0.0, common: 0.0 };
        }
        let [narrow, wide] = [sizes.narrow, sizes.wide].map(|kind| 1.0 / (kind.sigma * kind.sigma));
        // its mean is one on the scale of tokens
        let (middle, worth) = (-0.5 * between, 1.0 / decay.swell(calls).max(0.5));
        let (mut off, mut sure) = (middle, 1.0 / between);
        for _ in 0..STEPS {
            let (mut pull, mut weight) = (middle / between, 1.0 / between);
            for log in stretch {
                let of_narrow = sizes.weight * sizes.narrow.density_of_log(log - off);
                let of_wide = (1.0 - sizes.weight) * sizes.wide.density_of_log(log - off);
                let share = of_narrow / (of_narrow + of_wide).max(f64::MIN_POSITIVE);
                pull +=
                    worth * (share * narrow * (log - sizes.narrow.mu) + (1.0 - share) * wide * (log - sizes.wide.mu));
                weight += worth * (share * narrow + (1.0 - share) * wide);
            }
            let next = pull / weight;
            sure = weight;
            if (next - off).abs() < 1e-6 {
                off = next;
                break;
            }
            off = next;
        }
        Self { off, common: -1.0 / sure }
    }
}

/// What of the grid a rung decides: at each correlation of kinds, how likely both of two calls are narrow, one is, or none.
struct Table(Vec<[f64; 3]>);

impl Table {
    fn of(sizes: &Mixture, kinds: (f64, usize, f64)) -> Self {
        let edge = inverse_cdf(sizes.weight);
        let at = |at: usize| {
            let both = both_below(edge, libm::tanh(z(kinds, at)));
            [both, (sizes.weight - both).max(0.0), (1.0 - 2.0 * sizes.weight + both).max(0.0)]
        };
        Self((0..kinds.1).map(at).collect())
    }

    /// Adds a pair's log likelihood to each point of the grid.
    fn add(&self, sizes: &Mixture, pair: &Near, along_sizes: (f64, usize, f64), row: &mut [f64]) {
        let kinds = [sizes.narrow, sizes.wide];
        // as much as leaves a covariance at every point of the grid
        let least = kinds.map(|kind| kind.sigma * kind.sigma).into_iter().fold(f64::INFINITY, f64::min);
        let common = pair.common.max(-0.1 * least);
        let off = |log: f64| kinds.map(|kind| log - kind.mu);
        let (before, after) = (off(pair.before), off(pair.after));
        for (at, row) in row.chunks_exact_mut(self.0.len()).enumerate() {
            let rho = libm::tanh(z(along_sizes, at));
            let density = |one: usize, other: usize| {
                let (x, y, one, other) = (before[one], after[other], kinds[one].sigma, kinds[other].sigma);
                let (of_x, of_y, both) = (one * one + common, other * other + common, rho * one * other + common);
                let free = of_x * of_y - both * both;
                libm::exp(-0.5 * (x * x * of_y - 2.0 * both * x * y + y * y * of_x) / free) / free.sqrt()
            };
            let both = [density(0, 0), density(0, 1) + density(1, 0), density(1, 1)];
            for (sum, chance) in row.iter_mut().zip(&self.0) {
                let all: f64 = both.iter().zip(chance).map(|(density, chance)| density * chance).sum();
                *sum += libm::log(all.max(1e-300));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::fit::{Calibration, Options, calibrate};
    use crate::lab::synth::{Design, sessions};
    use crate::sim::{AgentModel, AgentSpec, Component, Moves, RungModel, Size, TurnCount};

    /// A fit to sessions of an agent whose calls lean so.
    fn fitted(lean: Lean, tau: f64, rounds: usize, turns: f64) -> Calibration {
        let part = |weight, mu, sigma| Component { weight, mu, sigma };
        let rung = |mu| RungModel::new(Size::mixture(part(0.3, 4.4, 0.25), part(0.7, mu, 0.8), Moves::Wide).unwrap());
        let mut spec = AgentSpec::new(vec![rung(6.4), rung(6.0)]);
        (spec.turn.rho, spec.turn.kind_rho, spec.session.tau) = (lean.rho, lean.kind_rho, tau);
        spec.turns = TurnCount { mean: turns, cv: 0.3, min: 2, max: None };
        let agent = AgentModel::new(spec).unwrap();
        let design = Design { agent: &agent, model: "claude-sonnet-5", efforts: &["high", "low"], seed: 5, run: 0 };
        let rungs: Vec<usize> = (0..rounds).map(|at| at % 2).collect();
        let records: Vec<_> = sessions(&design, &rungs).into_iter().flat_map(|session| session.calls).collect();
        let efforts = vec!["high".to_owned(), "low".to_owned()];
        calibrate(&records, &Options { efforts, ..Options::default() }).unwrap()
    }

    #[test]
    fn both_correlations_are_found_again_whatever_the_other_and_the_session() {
        for (rho, kind_rho, tau) in [(0.4, 0.0, 0.3), (0.0, 0.8, 0.3), (0.3, 0.9, 0.2), (-0.3, 0.5, 0.0)] {
            let found = fitted(Lean { rho, kind_rho }, tau, 60, 80.0);
            let Lean { rho: size, kind_rho: kind } = found.lean;
            assert!((size - rho).abs() < 0.1 && (kind - kind_rho).abs() < 0.1, "{rho} {kind_rho}: {:?}", found.lean);
            assert!((found.tau - tau).abs() < 0.15, "{tau}: {}", found.tau);
        }
    }

    fn alone(rows: Vec<Vec<f64>>) -> Surface {
        Surface { rows, ..Surface::default() }
    }

    #[test]
    fn nothing_to_go_by_is_near_zero_and_a_unit_twice_is_two() {
        assert_eq!(alone(vec![vec![0.0; SIZES.1 * KINDS.1]]).top(&[1.0]), None);
        assert_eq!(alone(Vec::new()).top(&[]), None);
        let hill = |size: f64, kind: f64, steep: f64| -> Vec<f64> {
            let height = |at: usize| {
                let (x, y) = (z(SIZES, at / KINDS.1) - size, z(KINDS, at % KINDS.1) - kind);
                -steep * (x * x + y * y)
            };
            (0..SIZES.1 * KINDS.1).map(height).collect()
        };
        let near = |found: Lean, size: f64, kind: f64| {
            (libm::atanh(found.rho) - size).abs() < 1e-6 && (libm::atanh(found.kind_rho) - kind).abs() < 1e-6
        };
        let one = alone(vec![hill(0.31, 0.77, 1e9)]);
        assert!(near(one.top(&[1.0]).unwrap(), 0.31, 0.77));
        let flat = alone(vec![hill(0.4, 1.2, 1e-12)]);
        assert!(near(flat.top(&[1.0]).unwrap(), 0.0, 0.0), "{:?}", flat.top(&[1.0]));
        let two = alone(vec![hill(0.0, 0.0, 1e9), hill(0.3, 0.6, 1e9)]);
        assert!(near(two.top(&[1.0, 2.0]).unwrap(), 0.2, 0.4), "{:?}", two.top(&[1.0, 2.0]));
    }
}
