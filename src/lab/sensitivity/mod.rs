//! What the result hangs on: Morris screening and Sobol indices of any function on the unit cube.
//!
//! Screening asks of each factor how far one step of it moves the result in the mean, wherever the others stand, and how much
//! that differs from place to place; it is cheap and ranks. A *total index* is the share of the variance of the result that
//! would be left if all but this factor were known, interactions included; the *first-order index* the share that would go if
//! this one were. The function may be random: the same noise everywhere (common random numbers) is the caller's affair.
//! What factors mean is in [`factors`], what results say in [`words`]. Sources: Morris (1991), Campolongo et al. (2007) for mu*; Saltelli et al. (2010) for
//! first-order indices, Jansen (1999) for total ones; Owen (1998) for scrambling, here a random shift (Cranley and Patterson
//! 1976) of Halton's sequence.

pub mod factors;
pub mod words;

use crate::lab::fixed::ufloat;
use crate::lab::stats::{CONFIDENCE, Interval, student};
use crate::sim::{Channel, Noise};

/// What screening says of a factor.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Effect {
    /// Mean size of the effect of moving it across its whole range, in units of the result: mu*.
    pub size: f64,
    /// Half the width of its 95 % interval over trajectories.
    pub half: f64,
    /// The mean effect with its sign: mu.
    pub mean: f64,
    /// How much effects differ from place to place: sigma, which is what bends and interacts.
    pub spread: f64,
}

/// What variance says of a factor. A share is never below 0, and an estimate of one may be: by the luck of the points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Index {
    /// First order: what this factor explains alone.
    pub first: f64,
    /// Its 95 % interval from halves of the points.
    pub first_interval: Interval,
    /// Total: what it explains with all others.
    pub total: f64,
    /// Its 95 % interval.
    pub total_interval: Interval,
}

/// Levels of the grid that trajectories walk on.
const LEVELS: u32 = 4;
/// Into so many parts are points cut for intervals.
const PARTS: usize = 10;
/// The fewest points that have intervals: two a part.
pub const FEWEST_POINTS: u32 = 20;

/// Uniform numbers by address, so that a design is the same whatever is computed from it.
fn uniform(seed: u64, row: u32, column: u32) -> f64 {
    // another key than that of the runs, so that a design and the luck it meets have nothing in common
    Noise::new(seed ^ 0x9e37_79b9_7f4a_7c15, row).uniform(Channel::Size, column, 0)
}

/// The points of `trajectories` walks in so many factors: each has one point more than there are factors, and each point
/// differs from the one before it in one factor.
#[must_use]
pub fn trajectories(factors: usize, trajectories: u32, seed: u64) -> Vec<Vec<Vec<f64>>> {
    let step = f64::from(LEVELS / 2) / f64::from(LEVELS - 1);
    let walk = |walk: u32| {
        let column = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let level =
            |at: usize| libm::floor(uniform(seed, walk, column(at)) * f64::from(LEVELS / 2)) / f64::from(LEVELS - 1);
        let up = |at: usize| uniform(seed, walk, column(factors + at)) < 0.5;
        let mut point: Vec<f64> = (0..factors).map(|at| if up(at) { level(at) } else { level(at) + step }).collect();
        let mut order: Vec<usize> = (0..factors).collect();
        order.sort_by(|a, b| {
            let key = |at: usize| uniform(seed, walk, column(2 * factors + at));
            key(*a).total_cmp(&key(*b))
        });
        let mut points = vec![point.clone()];
        for at in order {
            point[at] += if up(at) { step } else { -step };
            points.push(point.clone());
        }
        points
    };
    (0..trajectories).map(walk).collect()
}

/// Effects from the results at the points of [`trajectories`], in the same order.
#[must_use]
pub fn effects(walks: &[Vec<Vec<f64>>], results: &[Vec<f64>], factors: usize) -> Vec<Effect> {
    let mut all: Vec<Vec<f64>> = vec![Vec::new(); factors];
    for (points, results) in walks.iter().zip(results) {
        for (points, results) in points.windows(2).zip(results.windows(2)) {
            let moved = (0..factors).find(|&at| (points[0][at] - points[1][at]).abs() > 1e-12);
            if let Some(at) = moved {
                all[at].push((results[1] - results[0]) / (points[1][at] - points[0][at]));
            }
        }
    }
    let of = |values: &Vec<f64>| {
        let sizes: Vec<f64> = values.iter().map(|value| value.abs()).collect();
        let ((size, spread_of_size), (mean, spread)) = (moments(&sizes), moments(values));
        let n = values.len() as u64;
        let half = student(n, CONFIDENCE).map_or(f64::INFINITY, |t| t * (spread_of_size / ufloat(n)).sqrt());
        Effect { size, half, mean, spread: spread.sqrt() }
    };
    all.iter().map(of).collect()
}

/// The design of indices: two sets of points, and for each factor the first set with that factor from the second.
#[derive(Clone, Debug)]
pub struct Design {
    /// The first set.
    pub a: Vec<Vec<f64>>,
    /// The second.
    pub b: Vec<Vec<f64>>,
    /// By factor.
    pub mixed: Vec<Vec<Vec<f64>>>,
}

/// The first primes: bases of the sequence.
const PRIMES: [u32; 24] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89];

/// A design of `points` points; nothing for no factor, or for more than twelve.
#[must_use]
pub fn design(factors: usize, points: u32, seed: u64) -> Option<Design> {
    if factors == 0 || 2 * factors > PRIMES.len() {
        return None;
    }
    let at = |point: u32, column: usize| {
        let shift = uniform(seed, 0, u32::try_from(column).unwrap_or(u32::MAX));
        let value = halton(point + 1, PRIMES[column]) + shift;
        value - libm::floor(value)
    };
    let set = |from: usize| -> Vec<Vec<f64>> {
        (0..points).map(|point| (from..from + factors).map(|column| at(point, column)).collect()).collect()
    };
    let (a, b) = (set(0), set(factors));
    let mix = |factor: usize| {
        let row = |(a, b): (&Vec<f64>, &Vec<f64>)| {
            let mut row = a.clone();
            row[factor] = b[factor];
            row
        };
        a.iter().zip(&b).map(row).collect()
    };
    let mixed = (0..factors).map(mix).collect();
    Some(Design { a, b, mixed })
}

/// The number with the digits of `index` mirrored at the point.
fn halton(mut index: u32, base: u32) -> f64 {
    let (mut value, mut share) = (0.0, 1.0);
    while index > 0 {
        share /= f64::from(base);
        value += share * f64::from(index % base);
        index /= base;
    }
    value
}

/// Indices from the results at the points of a [`Design`]; zero of a result that does not vary. Fewer than [`FEWEST_POINTS`]
/// have intervals without ends.
#[must_use]
pub fn indices(a: &[f64], b: &[f64], mixed: &[Vec<f64>]) -> Vec<Index> {
    let one = |mixed: &Vec<f64>| {
        let of = |from: usize, to: usize| estimate(&a[from..to], &b[from..to], &mixed[from..to]);
        let (first, total) = of(0, a.len());
        let part = a.len() / PARTS;
        let parts: Vec<(f64, f64)> = (0..PARTS).filter(|_| part > 1).map(|at| of(at * part, (at + 1) * part)).collect();
        let interval = |mean: f64, value: fn(&(f64, f64)) -> f64| {
            let values: Vec<f64> = parts.iter().map(value).collect();
            let (_, spread) = moments(&values);
            let known = student(PARTS as u64, CONFIDENCE).filter(|_| !parts.is_empty());
            let half = known.map_or(f64::INFINITY, |t| t * (spread / ufloat(PARTS as u64)).sqrt());
            Interval { lo: mean - half, hi: mean + half }
        };
        Index {
            first,
            first_interval: interval(first, |part| part.0),
            total,
            total_interval: interval(total, |part| part.1),
        }
    };
    mixed.iter().map(one).collect()
}

/// First-order and total index.
fn estimate(a: &[f64], b: &[f64], mixed: &[f64]) -> (f64, f64) {
    let all: Vec<f64> = a.iter().chain(b).copied().collect();
    let (mean, variance) = moments(&all);
    let n = ufloat(a.len().max(1) as u64);
    if variance <= 0.0 {
        return (0.0, 0.0);
    }
    let (mut first, mut total) = (0.0, 0.0);
    for ((a, b), mixed) in a.iter().zip(b).zip(mixed) {
        // less the mean: it adds nothing to what is estimated, and would add its square to the noise
        first += (b - mean) * (mixed - a);
        total += (a - mixed) * (a - mixed);
    }
    (first / n / variance, total / (2.0 * n) / variance)
}

/// Mean and variance over n - 1.
fn moments(values: &[f64]) -> (f64, f64) {
    let n = ufloat(values.len().max(1) as u64);
    let mean = values.iter().sum::<f64>() / n;
    let squares = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>();
    (mean, squares / (n - 1.0).max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ishigami and Homma (1990) with a = 7, b = .1, on the unit cube: first .3139, .4424, 0; total .5576, .4424, .2437.
    fn ishigami(point: &[f64]) -> f64 {
        let x = |at: usize| core::f64::consts::PI * (2.0 * point[at] - 1.0);
        let sine = libm::sin(x(1));
        libm::sin(x(0)) + 7.0 * sine * sine + 0.1 * libm::pow(x(2), 4.0) * libm::sin(x(0))
    }

    #[test]
    fn the_indices_of_ishigami() {
        let design = design(3, 8192, 1).unwrap();
        let of = |points: &[Vec<f64>]| points.iter().map(|point| ishigami(point)).collect::<Vec<_>>();
        let mixed: Vec<Vec<f64>> = design.mixed.iter().map(|points| of(points)).collect();
        let got = indices(&of(&design.a), &of(&design.b), &mixed);
        for (index, (first, total)) in got.iter().zip([(0.3139, 0.5576), (0.4424, 0.4424), (0.0, 0.2437)]) {
            assert!(
                (index.first - first).abs() < 0.015 && (index.total - total).abs() < 0.015,
                "{index:?} {first} {total}"
            );
            assert!(index.total_interval.hi - index.total_interval.lo < 0.15, "{index:?}");
        }
    }

    /// A level that is the same everywhere is no part of what varies, and must add nothing to the noise.
    #[test]
    fn a_constant_on_top_changes_no_index_and_few_points_have_no_interval() {
        let design = design(3, 64, 1).unwrap();
        let of =
            |level: f64, points: &[Vec<f64>]| points.iter().map(|point| level + ishigami(point)).collect::<Vec<_>>();
        let at = |level: f64| {
            let mixed: Vec<Vec<f64>> = design.mixed.iter().map(|points| of(level, points)).collect();
            indices(&of(level, &design.a), &of(level, &design.b), &mixed)
        };
        for (low, high) in at(0.0).iter().zip(at(100.0)) {
            assert!((low.first - high.first).abs() < 1e-9 && (low.total - high.total).abs() < 1e-9, "{low:?} {high:?}");
            let width = |index: &Index| index.first_interval.hi - index.first_interval.lo;
            assert!((width(low) - width(&high)).abs() < 1e-9, "{low:?} {high:?}");
        }
        let few = indices(&[1.0, 2.0, 4.0], &[2.0, 3.0, 1.0], &[vec![1.0, 5.0, 2.0]])[0];
        assert!(few.first_interval.lo == f64::NEG_INFINITY && few.total_interval.hi == f64::INFINITY, "{few:?}");
    }

    #[test]
    fn a_line_has_its_slopes_and_a_product_bends() {
        let walks = trajectories(3, 40, 5);
        assert!(walks.iter().flatten().flatten().all(|value| (0.0..=1.0).contains(value)));
        let of = |f: fn(&[f64]) -> f64| -> Vec<Vec<f64>> {
            walks.iter().map(|points| points.iter().map(|point| f(point)).collect()).collect()
        };
        let line = effects(&walks, &of(|p| 3.0 * p[0] - 2.0 * p[1]), 3);
        assert!((line[0].mean - 3.0).abs() < 1e-9 && (line[1].mean + 2.0).abs() < 1e-9 && line[2].size < 1e-9);
        assert!((line[1].size - 2.0).abs() < 1e-9 && line[0].spread < 1e-9);
        let bent = effects(&walks, &of(|p| p[0] * p[1]), 3);
        assert!(bent[0].spread > 0.1 && bent[2].size < 1e-9);
    }

    #[test]
    fn what_does_not_vary_has_no_index_and_bounds_hold() {
        let design = design(2, 64, 3).unwrap();
        let flat = vec![4.0; 64];
        assert!(indices(&flat, &flat, &[flat.clone(), flat.clone()]).iter().all(|index| index.total == 0.0));
        assert!(design.a.iter().chain(&design.b).flatten().all(|value| (0.0..1.0).contains(value)));
        assert!(super::design(0, 8, 1).is_none() && super::design(13, 8, 1).is_none());
    }
}
