//! Statistics over runs: moments in integers, intervals, and the survival curve of settling.
//!
//! Means get Student intervals over *runs*, never over rounds, which are not independent. Shares of runs get Wilson's
//! interval (1927), quantiles the ranks of order statistics, settling the curve of Kaplan and Meier (1958) with
//! Greenwood's variance, because a run that has not settled is censored and not slow. What is paired is compared as
//! paired. No randomness, no resampling. Units are those of what is counted; [`Moments`] holds millionths and its
//! estimates are in units.

use super::fixed::{float, ufloat};
use super::special::{beta_tail, normal_quantile, t_quantile};

/// The confidence where nothing else is said.
pub const CONFIDENCE: f64 = 0.95;

/// An interval, both ends included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub lo: f64,
    /// Upper end.
    pub hi: f64,
}

impl Interval {
    /// Whether it covers `value`.
    #[must_use]
    pub fn covers(&self, value: f64) -> bool {
        self.lo <= value && value <= self.hi
    }
}

/// A mean over runs with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Its interval; nothing with fewer than two runs.
    pub interval: Option<Interval>,
    /// Runs that it rests on.
    pub n: u64,
}

impl Estimate {
    /// The same, its interval held inside what can be: a share has no more than all, and a count no less than none.
    ///
    /// ```
    /// use flyball::lab::stats::{Estimate, Interval};
    /// let share = Estimate { mean: 0.98, interval: Some(Interval { lo: 0.9, hi: 1.06 }), n: 4 };
    /// assert_eq!(share.held(0.0, 1.0).interval, Some(Interval { lo: 0.9, hi: 1.0 }));
    /// ```
    #[must_use]
    pub fn held(self, least: f64, most: f64) -> Self {
        let hold = |interval: Interval| Interval { lo: interval.lo.max(least), hi: interval.hi.min(most) };
        Self { interval: self.interval.map(hold), ..self }
    }
}

/// Count, sum and sum of squares of integers: merging is addition, so no order and no number of threads changes it.
///
/// ```
/// use flyball::lab::stats::Moments;
/// let mut ones = Moments::default();
/// for value in [1_000_000, 2_000_000, 3_000_000] {
///     ones.add(value);
/// }
/// let estimate = ones.estimate(0.95).unwrap();
/// assert_eq!(estimate.mean, 2.0);
/// assert!((estimate.interval.unwrap().hi - 4.484138).abs() < 1e-6);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moments {
    n: u64,
    sum: i128,
    squares: u128,
}

impl Moments {
    /// Add one value, in millionths.
    #[inline]
    pub const fn add(&mut self, micros: i64) {
        self.n += 1;
        self.sum += micros as i128;
        let size = micros.unsigned_abs() as u128;
        self.squares = self.squares.saturating_add(size * size);
    }

    /// Add all of another's.
    pub const fn merge(&mut self, other: &Self) {
        self.n += other.n;
        self.sum = self.sum.saturating_add(other.sum);
        self.squares = self.squares.saturating_add(other.squares);
    }

    /// How many values.
    #[must_use]
    pub const fn n(&self) -> u64 {
        self.n
    }

    /// Their sum, in millionths.
    #[must_use]
    pub const fn sum(&self) -> i128 {
        self.sum
    }

    /// The sum of their squares, in square units.
    #[must_use]
    pub fn squares(&self) -> f64 {
        unsigned(self.squares) / 1e12
    }

    /// Their mean in units, or nothing without a value.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.n > 0).then(|| float(self.sum) / ufloat(self.n) / 1e6)
    }

    /// The variance over n - 1, in square units, or nothing with fewer than two values. Formed in integers while they
    /// fit 128 bits, so that near-equal values do not cancel.
    #[must_use]
    pub fn variance(&self) -> Option<f64> {
        if self.n < 2 {
            return None;
        }
        let n = u128::from(self.n);
        let size = self.sum.unsigned_abs();
        let spread = match (n.checked_mul(self.squares), size.checked_mul(size)) {
            (Some(all), Some(mean)) => unsigned(all.saturating_sub(mean)),
            _ => (unsigned(n) * unsigned(self.squares) - unsigned(size) * unsigned(size)).max(0.0),
        };
        Some(spread / (unsigned(n) * unsigned(n - 1)) / 1e12)
    }

    /// Mean and Student interval at a confidence, in units, or nothing without a value.
    #[must_use]
    pub fn estimate(&self, confidence: f64) -> Option<Estimate> {
        self.estimate_with(student(self.n, confidence))
    }

    /// The same with the quantile already known: see [`student`]. For many cells of as many runs.
    #[must_use]
    pub fn estimate_with(&self, t: Option<f64>) -> Option<Estimate> {
        let mean = self.mean()?;
        let interval = self.variance().zip(t).map(|(variance, t)| {
            let half = t * (variance / ufloat(self.n)).sqrt();
            Interval { lo: mean - half, hi: mean + half }
        });
        Some(Estimate { mean, interval, n: self.n })
    }
}

/// A 128-bit integer as the nearest float; beyond what signed ones hold, by halves.
fn unsigned(value: u128) -> f64 {
    i128::try_from(value).map_or_else(|_| float((value >> 1).cast_signed()) * 2.0, float)
}

/// Student's two-sided quantile for a mean of `n` runs, or nothing below two or for a confidence outside (0, 1).
#[must_use]
pub fn student(n: u64, confidence: f64) -> Option<f64> {
    t_quantile(0.5 + confidence / 2.0, n.checked_sub(1)?)
}

/// The mean difference of paired runs, `left - right`, both in millionths and in the same order of runs, with its
/// Student interval; nothing where they are not equally many or none.
#[must_use]
pub fn paired(left: &[i64], right: &[i64], confidence: f64) -> Option<Estimate> {
    if left.len() != right.len() {
        return None;
    }
    let mut moments = Moments::default();
    for (left, right) in left.iter().zip(right) {
        moments.add(left.saturating_sub(*right));
    }
    moments.estimate(confidence)
}

/// Wilson's interval for a share of `n` runs of which `hits` have something; nothing for none, or for more hits than
/// runs.
#[must_use]
pub fn wilson(hits: u64, n: u64, confidence: f64) -> Option<Interval> {
    if n == 0 || hits > n {
        return None;
    }
    let z = normal_quantile(0.5 + confidence / 2.0)?;
    let (n, share) = (ufloat(n), ufloat(hits) / ufloat(n));
    let shrink = 1.0 + z * z / n;
    let centre = (share + z * z / (2.0 * n)) / shrink;
    let half = z / shrink * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    // at the ends the exact bound is 0 or 1, which rounding may miss
    let lo = if share <= 0.0 { 0.0 } else { centre - half };
    let hi = if share >= 1.0 { 1.0 } else { centre + half };
    Some(Interval { lo, hi })
}

/// Ranks, from 1, of the order statistics of `n` values whose span covers the `p` quantile with at least the
/// confidence; nothing where `n` values are too few for that.
///
/// ```
/// use flyball::lab::stats::quantile_ranks;
/// assert_eq!(quantile_ranks(10, 0.5, 0.95), Some((2, 9)));
/// assert_eq!(quantile_ranks(5, 0.5, 0.95), None);
/// ```
#[must_use]
pub fn quantile_ranks(n: u64, p: f64, confidence: f64) -> Option<(u64, u64)> {
    if !(0.0 < p && p < 1.0 && 0.0 < confidence && confidence < 1.0) {
        return None;
    }
    let tail = (1.0 - confidence) / 2.0;
    // P(fewer than `rank` of n values lie below the quantile)
    let below = |rank: u64| if rank == 0 { 0.0 } else { beta_tail(1.0 - p, ufloat(n - rank + 1), ufloat(rank)) };
    // the largest rank that is rarely above the quantile, the smallest that is rarely below it
    let lower = partition(n, |rank| below(rank) <= tail);
    let upper = partition(n, |rank| 1.0 - below(rank) > tail) + 1;
    (lower >= 1 && upper <= n).then_some((lower, upper))
}

/// The `p` quantile of values by its order statistic, and the values at the ranks whose span covers it with at least the
/// confidence; nothing of no value.
///
/// ```
/// use flyball::lab::stats::quantile;
/// let values: Vec<i64> = (1..=10).rev().collect();
/// assert_eq!(quantile(&values, 0.5, 0.95), Some((5, Some((2, 9)))));
/// ```
#[must_use]
pub fn quantile(values: &[i64], p: f64, confidence: f64) -> Option<(i64, Option<(i64, i64)>)> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let count = u64::try_from(sorted.len()).ok()?;
    let at = |rank: u64| sorted.get(usize::try_from(rank.checked_sub(1)?).ok()?).copied();
    let rank = partition(count, |rank| ufloat(rank) < p * ufloat(count)) + 1;
    let value = at(rank.min(count))?;
    let interval = quantile_ranks(count, p, confidence).and_then(|(low, high)| at(low).zip(at(high)));
    Some((value, interval))
}

/// The largest rank of 0..=n for which a condition holds that once false stays false (0 counts as holding).
fn partition(n: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (0, n + 1);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use statrs::distribution::{Binomial, DiscreteCDF};

    fn close(got: f64, want: f64) -> bool {
        (got - want).abs() <= 1e-9 * want.abs().max(1.0)
    }

    #[test]
    fn moments_of_one_value_have_no_interval_and_of_none_no_mean() {
        let mut moments = Moments::default();
        assert_eq!(moments.estimate(CONFIDENCE), None);
        moments.add(-2_500_000);
        assert_eq!(moments.estimate(CONFIDENCE), Some(Estimate { mean: -2.5, interval: None, n: 1 }));
    }

    #[test]
    fn near_equal_large_values_do_not_cancel() {
        let mut moments = Moments::default();
        for value in [9_000_000_000_000_000_001, 9_000_000_000_000_000_003] {
            moments.add(value);
        }
        assert!(close(moments.variance().unwrap() * 1e12, 2.0));
    }

    #[test]
    fn wilson_as_published() {
        // Newcombe (1998), table I, method 3
        let cases = [
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0, 0.1611),
            (1, 29, 0.0061, 0.1718),
            (29, 29, 0.8830, 1.0),
        ];
        for (hits, n, lo, hi) in cases {
            let got = wilson(hits, n, 0.95).unwrap();
            assert!((got.lo - lo).abs() < 6e-5 && (got.hi - hi).abs() < 6e-5, "{hits}/{n}: {got:?}");
        }
        assert_eq!((wilson(0, 0, 0.95), wilson(2, 1, 0.95)), (None, None));
    }

    #[test]
    fn pairs_that_do_not_match_are_refused() {
        assert_eq!(paired(&[1], &[1, 2], 0.95), None);
        let same = paired(&[5, 7, 9], &[4, 6, 8], 0.95).unwrap();
        assert!(close(same.mean, 1e-6));
        assert_eq!(same.interval.map(|interval| interval.covers(0.0)), Some(false));
    }

    proptest! {
        #[test]
        fn moments_are_those_of_two_passes(values in prop::collection::vec(-1_000_000_000_i64..1_000_000_000, 2..50)) {
            let mut moments = Moments::default();
            values.iter().for_each(|&value| moments.add(value));
            let units: Vec<f64> = values.iter().map(|&value| float(value.into()) / 1e6).collect();
            let n = ufloat(units.len() as u64);
            let mean = units.iter().sum::<f64>() / n;
            let variance = units.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0);
            prop_assert!(close(moments.mean().unwrap(), mean));
            prop_assert!(close(moments.variance().unwrap(), variance));
        }

        #[test]
        fn merging_is_adding(left: Vec<i64>, right: Vec<i64>) {
            let of = |values: &[i64]| { let mut all = Moments::default(); values.iter().for_each(|&v| all.add(v)); all };
            let (mut one, mut other) = (of(&left), of(&right));
            one.merge(&of(&right));
            other.merge(&of(&left));
            prop_assert_eq!(one, of(&[left, right].concat()));
            prop_assert_eq!(one, other);
        }

        #[test]
        fn ranks_cover_and_no_narrower_pair_of_tails_does(n in 1_u64..400, p in 0.05_f64..0.95) {
            let law = Binomial::new(p, n).unwrap();
            let tail = 0.025;
            if let Some((lower, upper)) = quantile_ranks(n, p, 0.95) {
                prop_assert!(law.cdf(lower - 1) <= tail + 1e-9 && law.cdf(lower) > tail - 1e-9);
                prop_assert!(1.0 - law.cdf(upper - 1) <= tail + 1e-9);
                prop_assert!(upper < 2 || 1.0 - law.cdf(upper - 2) > tail - 1e-9);
            } else {
                prop_assert!(law.cdf(0) > tail - 1e-9 || 1.0 - law.cdf(n - 1) > tail - 1e-9);
            }
        }
    }
}
