//! What draws do to numbers that are no sums: quantiles, the robust line and the mixture, with each unit there so many times.
//!
//! All sorting is done once; a draw is a walk. Weights are whole numbers in floats. Sources: the modules whose numbers these are.

use super::families::{Lognormal, Mixture, SIGMA_FLOOR};
use super::numeric::{len, quantile, sorted};

/// Values in order, each with its unit.
#[derive(Clone, Debug)]
pub(super) struct Ranked(pub(super) Vec<(f64, usize)>);

impl Ranked {
    pub(super) fn new(mut values: Vec<(f64, usize)>) -> Self {
        values.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        Self(values)
    }

    /// The quantiles at rising `shares`, linear between values as [`quantile`](super::numeric::quantile) is; none of nothing.
    pub(super) fn quantiles(&self, times: &[f64], shares: &[f64]) -> Vec<Option<f64>> {
        let all: f64 = self.0.iter().map(|(_, unit)| times[*unit]).sum();
        if all < 1.0 {
            return vec![None; shares.len()];
        }
        let mut found = Vec::with_capacity(shares.len());
        let mut below = 0.0;
        let mut walk = self.0.iter().filter(|(_, unit)| times[*unit] > 0.0).peekable();
        for share in shares {
            let place = share * (all - 1.0);
            // the value that holds rank floor(place), ranks from 0
            while let Some((_, unit)) = walk.peek()
                && below + times[*unit] <= place.floor()
            {
                below += times[*unit];
                walk.next();
            }
            let mut ahead = walk.clone();
            let value = ahead.next().map(|&(value, unit)| {
                let next_is_other = below + times[unit] <= place.floor() + 1.0;
                let next = if next_is_other { ahead.next().map_or(value, |next| next.0) } else { value };
                value + (place - place.floor()) * (next - value)
            });
            found.push(value);
        }
        found
    }

    /// The middle value by weight, where pairs of units weigh the product of theirs; see [`Line`].
    fn middle(pairs: &[(f64, usize, usize)], times: &[f64]) -> Option<f64> {
        let weight = |&(_, from, to): &(f64, usize, usize)| times[from] * times[to];
        let half = 0.5 * pairs.iter().map(weight).sum::<f64>();
        let mut below = 0.0;
        let middle = pairs.iter().find(|pair| {
            below += weight(pair);
            below >= half && half > 0.0
        });
        middle.map(|pair| pair.0)
    }
}

/// To how many others each point is paired.
const PARTNERS: usize = 32;

/// A robust line through points (tokens, seconds): slopes of pairs that are spread over the order of tokens, in order.
#[derive(Clone, Debug)]
pub(super) struct Line {
    points: Vec<(f64, f64, usize)>,
    slopes: Vec<(f64, usize, usize)>,
}

impl Line {
    pub(super) fn new(mut points: Vec<(f64, f64, usize)>) -> Self {
        points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)));
        let step = points.len().div_ceil(PARTNERS).max(1);
        let mut slopes = Vec::new();
        for (at, from) in points.iter().enumerate() {
            // another remainder for each point, so that all distances are met
            let partners = points.iter().skip(at + 1 + at % step).step_by(step);
            slopes.extend(
                partners.filter(|to| to.0 > from.0).map(|to| ((to.1 - from.1) / (to.0 - from.0), from.2, to.2)),
            );
        }
        slopes.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
        Self { points, slopes }
    }

    /// Tokens per second, and mean and variation of the overhead: what is left, not below zero, the top hundredth held down.
    pub(super) fn at(&self, times: &[f64]) -> [Option<f64>; 3] {
        let Some(slope) = Ranked::middle(&self.slopes, times).filter(|slope| *slope > 0.0) else { return [None; 3] };
        let mut rest = Vec::new();
        for &(tokens, seconds, unit) in &self.points {
            let mut left = times[unit];
            while left > 0.5 {
                rest.push((seconds - slope * tokens).max(0.0));
                left -= 1.0;
            }
        }
        let rest = sorted(rest);
        let top = quantile(&rest, 0.99);
        let held: Vec<f64> = rest.iter().map(|value| value.min(top)).collect();
        let (mean, variation) = (super::numeric::mean(&held), super::numeric::variation(&held));
        [Some(1.0 / slope), Some(mean), Some(variation)]
    }
}

/// The most steps of one climb, and the change of a parameter that ends it: small beside what draws differ by.
const STEPS: u32 = 120;
const STILL: f64 = 3e-4;

/// Climbs from `start` to the most likely mixture of weighted ln tokens nearby; none for fewer than ten values.
pub(super) fn climb(start: Mixture, logs: &Ranked, times: &[f64]) -> Option<Mixture> {
    let points: Vec<(f64, f64)> =
        logs.0.iter().map(|&(log, unit)| (log, times[unit])).filter(|point| point.1 > 0.0).collect();
    let all: f64 = points.iter().map(|point| point.1).sum();
    if len(&points) < 10.0 {
        return None;
    }
    let mut at = start;
    for _ in 0..STEPS {
        // a kind of less than two calls is none: what stood before stays
        let Some(next) = step(&at, &points, all) else { break };
        let change = [
            next.weight - at.weight,
            next.narrow.mu - at.narrow.mu,
            next.narrow.sigma - at.narrow.sigma,
            next.wide.mu - at.wide.mu,
            next.wide.sigma - at.wide.sigma,
        ];
        at = next;
        if change.iter().all(|change| change.abs() < STILL) {
            break;
        }
    }
    Some(at)
}

fn step(at: &Mixture, points: &[(f64, f64)], all: f64) -> Option<Mixture> {
    let Mixture { weight, narrow, wide } = *at;
    // share of the narrow kind = 1 / (1 + exp(of - b z_wide^2 + a z_narrow^2)), one exponential a point
    let odds = libm::log((1.0 - weight) * narrow.sigma / (weight * wide.sigma));
    let (a, b) = (0.5 / (narrow.sigma * narrow.sigma), 0.5 / (wide.sigma * wide.sigma));
    let (mut low, mut high) = ([0.0; 3], [0.0; 3]);
    for &(log, times) in points {
        let (from_narrow, from_wide) = (log - narrow.mu, log - wide.mu);
        let exponent = odds + a * from_narrow * from_narrow - b * from_wide * from_wide;
        let share = times / (1.0 + libm::exp(exponent.min(700.0)));
        // about the old means, so that squares do not cancel
        for (sums, weight, off) in [(&mut low, share, from_narrow), (&mut high, times - share, from_wide)] {
            sums[0] += weight;
            sums[1] += weight * off;
            sums[2] += weight * off * off;
        }
    }
    if low[0] < 2.0 || high[0] < 2.0 {
        return None;
    }
    let moved = |kind: Lognormal, [weight, sum, squares]: [f64; 3]| {
        let shift = sum / weight;
        Lognormal { mu: kind.mu + shift, sigma: (squares / weight - shift * shift).max(0.0).sqrt().max(SIGMA_FLOOR) }
    };
    Some(Mixture { weight: low[0] / all, narrow: moved(narrow, low), wide: moved(wide, high) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::fit::numeric::{float, robust_line};
    use proptest::prelude::*;

    fn repeated<T: Copy>(values: &[(T, usize)], times: &[f64]) -> Vec<T> {
        values
            .iter()
            .flat_map(|&(value, unit)| {
                std::iter::repeat_n(value, if times[unit] > 1.5 { 2 } else { usize::from(times[unit] > 0.5) })
            })
            .collect()
    }

    proptest! {
        #[test]
        fn weighted_quantiles_are_those_of_repeated_values(
            values in proptest::collection::vec((-5_i32..5, 0_usize..4), 1..40),
            times in proptest::collection::vec(0_u8..3, 4),
            shares in proptest::collection::vec(0.0_f64..1.0, 1..4),
        ) {
            let times: Vec<f64> = times.into_iter().map(f64::from).collect();
            let mut shares = shares;
            shares.sort_by(f64::total_cmp);
            let values: Vec<(f64, usize)> = values.into_iter().map(|(value, unit)| (f64::from(value), unit)).collect();
            let found = Ranked::new(values.clone()).quantiles(&times, &shares);
            let all = sorted(repeated(&values, &times));
            for (found, &share) in found.iter().zip(&shares) {
                prop_assert_eq!(found.is_some(), !all.is_empty());
                if let Some(found) = found {
                    prop_assert!((found - quantile(&all, share)).abs() < 1e-9, "{} {:?}", share, all);
                }
            }
        }
    }

    #[test]
    fn the_line_is_that_of_all_pairs() {
        let points: Vec<(f64, f64, usize)> = (0..2000_u64)
            .map(|at| {
                let tokens = float(20 + at * 7919 % 1013);
                (tokens, 2.0 + tokens / 80.0 + float(at * 31 % 17) / 10.0, usize::try_from(at % 9).unwrap())
            })
            .collect();
        let [speed, overhead, _] = Line::new(points.clone()).at(&[1.0; 9]).map(Option::unwrap);
        let (_, slope) = robust_line(&points.iter().map(|&(x, y, _)| (x, y)).collect::<Vec<_>>()).unwrap();
        assert!((speed * slope - 1.0).abs() < 0.005 && (overhead - 2.8).abs() < 0.02, "{speed} {slope} {overhead}");
        // what is not drawn has no say
        let mut spoilt = points;
        spoilt.iter_mut().filter(|point| point.2 == 3).for_each(|point| point.1 = 1e6 - 900.0 * point.0);
        let mut times = [1.0; 9];
        times[3] = 0.0;
        let [speed, overhead, _] = Line::new(spoilt).at(&times).map(Option::unwrap);
        assert!((speed - 80.0).abs() < 0.5 && (overhead - 2.8).abs() < 0.02, "{speed} {overhead}");
    }

    #[test]
    fn a_climb_ends_where_the_fit_does() {
        let counts: Vec<u64> =
            (0..600).map(|at: u64| if at.is_multiple_of(3) { 80 + at % 60 } else { 200 + at * at % 1500 }).collect();
        let fitted = super::super::families::Families::fit(&counts).unwrap().mixture;
        let logs = Ranked::new(counts.iter().map(|&count| (libm::log(float(count)), 0)).collect());
        let off = Mixture { weight: 0.5, wide: Lognormal { mu: fitted.wide.mu + 0.2, ..fitted.wide }, ..fitted };
        let found = climb(off, &logs, &[2.0]).unwrap();
        assert!(
            (found.weight - fitted.weight).abs() < 0.01 && (found.wide.mu - fitted.wide.mu).abs() < 0.01,
            "{found:?}"
        );
    }
}
