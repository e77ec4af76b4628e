//! The arithmetic under the fits: moments, quantiles, distances, the derivatives of ln Γ, a robust line.
//!
//! Everything is a pure function of its slice, summed in order, with transcendental functions from `libm`, so that a fit
//! has the same bits everywhere. It draws nothing and knows no tokens.
//!
//! Sources: quantiles by linear interpolation (Hyndman and Fan 1996, type 7); digamma and trigamma
//! by recurrence and asymptotic series (Abramowitz and Stegun 6.3, 6.4); the line by Theil 1950 and Sen 1968.

/// A count as a float: exact below 2^53, which no count of calls, tokens or milliseconds reaches.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "counts of calls, tokens and milliseconds stay below 2^53")]
pub const fn float(count: u64) -> f64 {
    count as f64
}

/// The length of a slice as a float.
#[must_use]
pub fn len<T>(slice: &[T]) -> f64 {
    float(u64::try_from(slice.len()).unwrap_or(u64::MAX))
}

/// The mean; 0 of nothing.
#[must_use]
pub fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / len(values) }
}

/// The standard deviation with `n - less` below the fraction; 0 where that leaves nothing.
#[must_use]
pub fn deviation(values: &[f64], less: f64) -> f64 {
    let (centre, below) = (mean(values), len(values) - less);
    if below <= 0.0 {
        return 0.0;
    }
    (values.iter().map(|value| (value - centre) * (value - centre)).sum::<f64>() / below).sqrt()
}

/// Standard deviation over mean, with `n - 1`; 0 where the mean is.
#[must_use]
pub fn variation(values: &[f64]) -> f64 {
    let centre = mean(values);
    if centre > 0.0 { deviation(values, 1.0) / centre } else { 0.0 }
}

/// The values in order.
#[must_use]
pub fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

/// The quantile at `share` of sorted values, linear between them; 0 of nothing.
#[must_use]
pub fn quantile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return 0.0 };
    let place = share.clamp(0.0, 1.0) * len(&sorted[1..]);
    let low = floor_index(place).min(last);
    let high = (low + 1).min(last);
    let part = place - float(u64::try_from(low).unwrap_or(u64::MAX));
    sorted[low] + part * (sorted[high] - sorted[low])
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a place within a slice, never negative; the caller bounds it"
)]
const fn floor_index(place: f64) -> usize {
    place as usize
}

/// The largest distance between the distribution of sorted values and `cdf` (Kolmogorov, Smirnov).
pub fn distance(sorted: &[f64], cdf: impl Fn(f64) -> f64) -> f64 {
    let all = len(sorted);
    let (mut below, mut largest) = (0.0, 0.0_f64);
    for &value in sorted {
        let expected = cdf(value);
        largest = largest.max(expected - below / all);
        below += 1.0;
        largest = largest.max(below / all - expected);
    }
    largest
}

/// How far the distribution of sorted values is from `cdf`, its ends weighing more (Anderson and Darling 1952); 0 of nothing.
///
/// A distribution that was not fitted exceeds 2.5 in one case of twenty; one that was, far less.
pub fn anderson_darling(sorted: &[f64], cdf: impl Fn(f64) -> f64) -> f64 {
    let all = len(sorted);
    let shares: Vec<f64> = sorted.iter().map(|&value| cdf(value).clamp(1e-300, 1.0 - 1e-16)).collect();
    let (mut odd, mut sum) = (1.0, 0.0);
    for (low, high) in shares.iter().zip(shares.iter().rev()) {
        sum += odd * (libm::log(*low) + libm::log1p(-high));
        odd += 2.0;
    }
    if sorted.is_empty() { 0.0 } else { (-all - sum / all).max(0.0) }
}

/// The derivative of ln Γ, for positive arguments.
#[must_use]
pub fn digamma(mut x: f64) -> f64 {
    let mut sum = 0.0;
    while x < 10.0 {
        sum -= 1.0 / x;
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    let series = square
        * (1.0 / 12.0 - square * (1.0 / 120.0 - square * (1.0 / 252.0 - square * (1.0 / 240.0 - square / 132.0))));
    sum + libm::log(x) - 0.5 / x - series
}

/// The second derivative of ln Γ, for positive arguments.
#[must_use]
pub fn trigamma(mut x: f64) -> f64 {
    let mut sum = 0.0;
    while x < 10.0 {
        sum += 1.0 / (x * x);
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    let series =
        1.0 / 6.0 - square * (1.0 / 30.0 - square * (1.0 / 42.0 - square * (1.0 / 30.0 - square * 5.0 / 66.0)));
    sum + 1.0 / x + 0.5 * square + series * square / x
}

/// The most points of which all pairs are looked at: half a million slopes.
const LINE_POINTS: usize = 1000;

/// The line through points by the median of the slopes of all pairs, and the median of what is left: `(intercept, slope)`.
///
/// Of more than a thousand points every n-th in order of `x` is taken for the slopes. `None` where no two points differ in `x`.
#[must_use]
pub fn robust_line(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    let mut ordered = points.to_vec();
    ordered.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let step = ordered.len().div_ceil(LINE_POINTS).max(1);
    let thinned: Vec<(f64, f64)> = ordered.into_iter().step_by(step).collect();
    let mut slopes = Vec::new();
    for (at, from) in thinned.iter().enumerate() {
        slopes.extend(thinned[at + 1..].iter().filter(|to| to.0 > from.0).map(|to| (to.1 - from.1) / (to.0 - from.0)));
    }
    if slopes.is_empty() {
        return None;
    }
    let slope = quantile(&sorted(slopes), 0.5);
    let rest = sorted(points.iter().map(|&(x, y)| y - slope * x).collect());
    Some((quantile(&rest, 0.5), slope))
}

#[cfg(test)]
mod tests {
    use super::*;
    use statrs::function::gamma;

    fn near(ours: f64, theirs: f64, within: f64) {
        assert!((ours - theirs).abs() <= within * theirs.abs().max(1.0), "{ours} against {theirs}");
    }

    #[test]
    fn the_derivatives_of_ln_gamma() {
        for x in [0.05, 0.7, 1.0, 3.3, 25.0, 400.0] {
            near(digamma(x), gamma::digamma(x), 1e-9);
            // The slope of the one is the other.
            near(trigamma(x), (digamma(x + 1e-4 * x) - digamma(x - 1e-4 * x)) / (2e-4 * x), 1e-6);
        }
    }

    #[test]
    fn quantiles_and_moments() {
        let values = [1.0, 2.0, 4.0, 8.0];
        for (share, expected) in [(0.0, 1.0), (0.5, 3.0), (0.75, 5.0), (1.0, 8.0)] {
            near(quantile(&values, share), expected, 1e-12);
        }
        near(quantile(&[], 0.5), 0.0, 1e-12);
        near(quantile(&[7.0], 0.9), 7.0, 1e-12);
        near(deviation(&values, 1.0), (28.75_f64 / 3.0).sqrt(), 1e-12);
        for nothing in [mean(&[]), variation(&[]), deviation(&[3.0], 1.0)] {
            near(nothing, 0.0, 1e-12);
        }
    }

    #[test]
    fn the_distance_sees_both_sides_of_a_step() {
        let uniform = |x: f64| x.clamp(0.0, 1.0);
        near(distance(&[0.5], uniform), 0.5, 1e-12);
        near(distance(&[0.9, 0.9], uniform), 0.9, 1e-12);
        near(distance(&[0.1, 0.1], uniform), 0.9, 1e-12);
        near(distance(&[0.125, 0.375, 0.625, 0.875], uniform), 0.125, 1e-12);
    }

    #[test]
    fn anderson_and_darling_as_worked_by_hand() {
        // -n - 1/n sum (2i - 1)(ln F(i) + ln(1 - F(n + 1 - i)))
        let uniform = |x: f64| x.clamp(0.0, 1.0);
        near(anderson_darling(&[0.5], uniform), -1.0 + 2.0 * core::f64::consts::LN_2, 1e-12);
        let by_hand = -2.0 - 0.5 * (libm::log(0.25 * 0.25) + 3.0 * libm::log(0.75 * 0.75));
        near(anderson_darling(&[0.25, 0.75], uniform), by_hand, 1e-12);
        assert!(anderson_darling(&[-1.0, 2.0], uniform).is_finite() && anderson_darling(&[], uniform) < 1e-12);
    }

    #[test]
    fn a_third_of_outliers_does_not_move_the_line() {
        let points: Vec<(f64, f64)> = (0..3000_u32)
            .map(|at| (f64::from(at), if at % 4 == 0 { 9e5 } else { 3.0 + 0.25 * f64::from(at) }))
            .collect();
        let (intercept, slope) = robust_line(&points).unwrap();
        near(slope, 0.25, 0.02);
        near(intercept, 3.0, 2.0);
        let (intercept, slope) =
            robust_line(&points.iter().copied().filter(|point| point.1 < 9e5).collect::<Vec<_>>()).unwrap();
        near(slope, 0.25, 1e-12);
        near(intercept, 3.0, 1e-9);
        assert!(robust_line(&[(1.0, 2.0), (1.0, 3.0)]).is_none());
        assert!(robust_line(&[]).is_none());
    }
}
