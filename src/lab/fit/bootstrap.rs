//! Intervals by drawing whole units again: sessions, or blocks of calls where there are too few sessions.
//!
//! Calls of a session lean on each other and share its luck, so what is drawn is never a single call (cluster bootstrap: Davison and Hinkley
//! 1997, 3.8; moving blocks are cut without overlap: Carlstein 1986). A dozen units are few, sizes have heavy tails, and the plain
//! percentile interval then covers too seldom. So an interval is Student's: on a scale where the number is about symmetric, the spread of
//! the redrawn numbers, widened by units / (units - strata), times Student's quantile at units - strata (units of like size: [`Strata::weighed`]), around
//! the number with its own bias taken off (mean of the redrawn less what the same arithmetic gives undrawn).
//!
//! Draws are uniforms by address (seed, draw, stream, place), and draws are put together in order: no number of threads changes a bit.

use rayon::prelude::*;

use super::numeric::{float, len, mean};
use crate::lab::special::t_quantile;
use crate::lab::stats::{CONFIDENCE, Interval};
use crate::sim::{Channel, Noise};

/// The fewest units in all that an interval rests on.
pub const UNITS_FLOOR: usize = 5;
/// Draws where nothing else is said.
pub const RESAMPLES: u32 = 400;
/// What all draws come from where nothing else is said; apart from the seeds that scenarios have.
pub const SEED: u64 = 314_159_265;

/// The scale on which a number is about symmetric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// As it is.
    Plain,
    /// As it is, and never below zero.
    NotNegative,
    /// Its logarithm: positive numbers.
    Log,
    /// Fisher's z: correlations.
    Correlation,
    /// Its log odds: shares.
    Share,
}

impl Scale {
    /// The number on this scale; nothing where it has no place there.
    fn there(self, value: f64) -> Option<f64> {
        let there = match self {
            Self::Plain | Self::NotNegative => value,
            Self::Log => libm::log(value),
            Self::Correlation => libm::atanh(value),
            Self::Share => libm::log(value / (1.0 - value)),
        };
        there.is_finite().then_some(there)
    }

    fn back(self, there: f64) -> f64 {
        match self {
            Self::Plain => there,
            Self::NotNegative => there.max(0.0),
            Self::Log => libm::exp(there),
            Self::Correlation => libm::tanh(there),
            Self::Share => 1.0 / (1.0 + libm::exp(-there)),
        }
    }
}

/// Puts units that are alone in their strata into one: a unit alone is drawn every time, as if it could be no other.
fn together(places: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
    let (alone, mut many): (Vec<_>, Vec<_>) = places.into_iter().partition(|stratum| stratum.len() == 1);
    let mut alone: Vec<usize> = alone.into_iter().flatten().collect();
    match &mut many[..] {
        [first, ..] if alone.len() == 1 => first.append(&mut alone),
        _ if alone.is_empty() => {}
        _ => many.push(alone),
    }
    many
}

/// Which units are drawn together: the stratum of each unit. Each stratum keeps its size in every draw.
#[derive(Clone, Debug, PartialEq)]
pub struct Strata {
    /// The units of each stratum.
    places: Vec<Vec<usize>>,
    units: usize,
    /// As many units of like size say as much.
    worth: f64,
}

impl Strata {
    /// The stratum of each unit, by number; numbers may be left out.
    #[must_use]
    pub fn new(of: &[usize]) -> Self {
        Self::weighed(of, &vec![1.0; of.len()])
    }

    /// The same where units count by their sizes: a few large ones among small are worth no more than themselves. Those of a stratum are
    /// worth the square of their sum over the sum of their squares (Carter, Schnepel and Steigerwald 2017).
    #[must_use]
    pub fn weighed(of: &[usize], sizes: &[f64]) -> Self {
        let most = of.iter().max().map_or(0, |most| most + 1);
        let mut places = vec![Vec::new(); most];
        for (unit, &stratum) in of.iter().enumerate() {
            places[stratum].push(unit);
        }
        places.retain(|stratum| !stratum.is_empty());
        let places = together(places);
        let size = |unit: usize| sizes.get(unit).copied().unwrap_or(0.0);
        let worth = |stratum: &Vec<usize>| {
            let (sum, squares) = stratum
                .iter()
                .fold((0.0, 0.0), |(sum, squares), &unit| (sum + size(unit), squares + size(unit) * size(unit)));
            if squares > 0.0 { sum * sum / squares } else { 0.0 }
        };
        Self { worth: places.iter().map(worth).sum(), places, units: of.len() }
    }

    /// All units in one.
    #[must_use]
    pub fn one(units: usize) -> Self {
        Self::new(&vec![0; units])
    }

    /// How many units are free to vary, of like size.
    #[must_use]
    pub fn free(&self) -> f64 {
        (self.worth - len(&self.places)).max(0.0)
    }

    /// How often each unit is in draw `draw`.
    #[must_use]
    pub fn draw(&self, seed: u64, stream: u32, draw: u32) -> Vec<f64> {
        let mut row = vec![0.0; self.units];
        Noise::new(seed, draw).fill(Channel::Session, stream, &mut row);
        let mut uniforms = row.into_iter();
        let mut times = vec![0.0; self.units];
        for stratum in &self.places {
            for uniform in uniforms.by_ref().take(stratum.len()) {
                times[stratum[place(uniform, stratum.len())]] += 1.0;
            }
        }
        times
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a uniform times a length is not negative, and is held below the length"
)]
fn place(uniform: f64, length: usize) -> usize {
    ((uniform * float(u64::try_from(length).unwrap_or(u64::MAX))) as usize).min(length - 1)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a number of units: not negative, and far below the end"
)]
const fn whole(free: f64) -> u64 {
    free as u64
}

/// How draws are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draws {
    /// How many.
    pub resamples: u32,
    /// What they come from.
    pub seed: u64,
    /// Which stream of the seed.
    pub stream: u32,
}

/// An interval for each of `values`, which stand on `scales`; none where the units are too few, or where a tenth of the draws has no number.
///
/// `statistic` gives as many numbers for units that are each there so many times; with every unit once it is what `values` are compared
/// with, so that values may be worked out with more care than draws can afford.
pub fn intervals<F>(
    values: &[f64],
    scales: &[Scale],
    strata: &Strata,
    draws: Draws,
    statistic: F,
) -> Vec<Option<Interval>>
where
    F: Fn(&[f64]) -> Vec<Option<f64>> + Sync,
{
    if strata.units < UNITS_FLOOR || strata.free() < 2.0 {
        return vec![None; values.len()];
    }
    let base = statistic(&vec![1.0; strata.units]);
    let drawn: Vec<Vec<Option<f64>>> = (0..draws.resamples)
        .into_par_iter()
        .map(|draw| statistic(&strata.draw(draws.seed, draws.stream, draw)))
        .collect();
    let each = values.iter().zip(scales).enumerate().map(|(at, (&value, &scale))| {
        let there = |numbers: &[Option<f64>]| numbers.get(at).copied().flatten().and_then(|number| scale.there(number));
        let seen: Vec<f64> = drawn.iter().filter_map(|numbers| there(numbers)).collect();
        let (centre, base) = (scale.there(value)?, there(&base)?);
        if len(&seen) < 0.9 * len(&drawn) || seen.len() < 20 {
            return None;
        }
        student(centre, base, &seen, strata).map(|(lo, hi)| Interval { lo: scale.back(lo), hi: scale.back(hi) })
    });
    each.collect()
}

fn student(centre: f64, base: f64, seen: &[f64], strata: &Strata) -> Option<(f64, f64)> {
    let middle = mean(seen);
    let spread = seen.iter().map(|x| (x - middle) * (x - middle)).sum::<f64>() / (len(seen) - 1.0);
    let wider = strata.worth / strata.free();
    // rounded down, but not where it is whole but for its last bits
    let free = whole(strata.free() + 1e-9);
    let half = t_quantile(0.5 + CONFIDENCE / 2.0, free)? * (spread * wider).sqrt();
    let centre = centre - (middle - base);
    Some((centre - half, centre + half))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draws(resamples: u32) -> Draws {
        Draws { resamples, seed: SEED, stream: 3 }
    }

    fn mean_of(values: &[f64]) -> impl Fn(&[f64]) -> Vec<Option<f64>> + Sync + '_ {
        |times| {
            let sum: f64 = values.iter().zip(times).map(|(value, times)| value * times).sum();
            vec![Some(sum / times.iter().sum::<f64>())]
        }
    }

    #[test]
    fn the_mean_of_plain_units_has_students_interval() {
        let values: Vec<f64> = (0..12).map(|at| f64::from(at * at % 7)).collect();
        let strata = Strata::one(12);
        let found = intervals(&[mean(&values)], &[Scale::Plain], &strata, draws(20_000), mean_of(&values))[0].unwrap();
        let half = t_quantile(0.975, 11).unwrap() * super::super::numeric::deviation(&values, 1.0) / 12_f64.sqrt();
        assert!(((found.hi - found.lo) / (2.0 * half) - 1.0).abs() < 0.02, "{found:?} against {half}");
        assert!((0.5 * (found.hi + found.lo) - mean(&values)).abs() < 0.05 * half);
    }

    #[test]
    fn each_stratum_keeps_its_size_and_every_unit_its_chance() {
        let strata = Strata::new(&[0, 2, 0, 2, 2]);
        assert!((strata.free() - 3.0).abs() < 1e-12 && strata.units == 5);
        // one unit and four of a quarter of it
        assert!((Strata::weighed(&[0; 5], &[4.0, 1.0, 1.0, 1.0, 1.0]).free() - 2.2).abs() < 1e-12);
        let mut sums = [0.0; 5];
        for draw in 0..3000 {
            let times = strata.draw(1, 0, draw);
            assert!((times[0] + times[2] - 2.0).abs() < 1e-12 && (times[1] + times[3] + times[4] - 3.0).abs() < 1e-12);
            sums.iter_mut().zip(times).for_each(|(sum, times)| *sum += times);
        }
        assert!(sums.iter().all(|sum| (sum / 3000.0 - 1.0).abs() < 0.06), "{sums:?}");
    }

    #[test]
    fn a_bias_of_the_number_is_taken_off() {
        // the variance over n of twelve draws is low by a twelfth
        let values: Vec<f64> = (0..12).map(f64::from).collect();
        let variance = |times: &[f64]| {
            let of = |f: fn(f64) -> f64| values.iter().zip(times).map(|(v, t)| f(*v) * t).sum::<f64>() / 12.0;
            vec![Some(of(|v| v * v) - of(|v| v) * of(|v| v))]
        };
        let value = variance(&[1.0; 12])[0].unwrap();
        let found = intervals(&[value], &[Scale::Plain], &Strata::one(12), draws(20_000), variance)[0].unwrap();
        let centre = 0.5 * (found.hi + found.lo);
        assert!((centre / value - 13.0 / 12.0).abs() < 0.01, "{}", centre / value);
    }

    #[test]
    fn too_few_units_have_no_interval_and_threads_change_nothing() {
        let values: Vec<f64> = (0..30).map(|at| f64::from(at % 11)).collect();
        let of = |units: usize| {
            intervals(&[1.0], &[Scale::Log], &Strata::one(units), draws(200), mean_of(&values[..units]))[0]
        };
        assert!(of(4).is_none() && of(5).is_some());
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap().install(|| of(30));
        assert_eq!(alone, of(30));
        let never = |_: &[f64]| vec![None];
        assert_eq!(intervals(&[1.0], &[Scale::Log], &Strata::one(30), draws(200), never), [None]);
    }

    #[test]
    fn scales_go_there_and_back() {
        for scale in [Scale::Plain, Scale::NotNegative, Scale::Log, Scale::Correlation, Scale::Share] {
            let back = scale.back(scale.there(0.3).unwrap());
            assert!((back - 0.3).abs() < 1e-12, "{scale:?}: {back}");
        }
        assert!(Scale::Log.there(0.0).is_none() && Scale::Share.there(1.0).is_none());
    }
}
