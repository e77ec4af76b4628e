//! How much of the spread of ln size lies between sessions, where calls of a session lean on the one before.
//!
//! One-way random effects with unequal sizes, by effort and then pooled (Searle, Casella and McCulloch 1992, 3.6), with one thing added: the mean
//! of n calls whose correlation at lag k is r f^(k - 1) has not the variance s^2 / n but s^2 V(n) / n, with
//! V(n) = 1 + 2 sum over k below n of (1 - k / n) r f^(k - 1). Taken for 1, as is usual, what calls have in common with their
//! neighbours would count as a difference between sessions. r is the lag-one correlation and r f that at lag two, with their bias in
//! short sessions taken off, about (1 + 3 r) / n (Marriott and Pope 1954): kinds of calls that come in runs have an f above r.

use super::units::Unit;

/// The variance of ln size between sessions, which may come out below zero, and within them; each unit there so many
/// times. None where there are fewer than two stretches more than efforts.
pub(super) fn components(units: &[Unit], times: &[f64]) -> Option<(f64, f64)> {
    let mut efforts: Vec<&str> = units.iter().flat_map(|unit| &unit.logs).map(|(effort, _)| effort.as_str()).collect();
    efforts.sort_unstable();
    efforts.dedup();
    let decay = Decay::of(units, times);
    let (mut between, mut within, mut stretches_free, mut calls_free, mut chance, mut weight) =
        (0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
    for effort in efforts {
        let own = || {
            let each =
                units.iter().zip(times).flat_map(|(unit, times)| unit.logs.iter().map(move |logs| (logs, *times)));
            each.filter(|((word, _), _)| word == effort).map(|((_, logs), times)| (*logs, times))
        };
        let (mut stretches, mut all, mut total, mut squares) = (0.0, 0.0, 0.0, 0.0);
        for ([n, sum, _], times) in own() {
            stretches += times;
            all += times * n;
            total += times * sum;
            squares += times * n * n;
        }
        if all < 1.0 {
            continue;
        }
        for ([n, sum, square], times) in own() {
            let off = sum / n - total / all;
            let swell = decay.swell(n);
            between += times * n * off * off;
            within += times * (square - sum * sum / n);
            calls_free += times * (n - swell);
            chance += times * swell * (1.0 - n / all);
        }
        stretches_free += stretches - 1.0;
        weight += all - squares / all;
    }
    if stretches_free < 2.0 || calls_free < 1.0 || weight <= 0.0 {
        return None;
    }
    let within = within / calls_free;
    Some(((between - chance * within) / weight, within))
}

/// How the correlation of ln size falls from lag to lag.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Decay {
    /// At lag one.
    first: f64,
    /// Of each lag to the one before.
    then: f64,
}

impl Decay {
    pub(super) fn of(units: &[Unit], times: &[f64]) -> Self {
        let (mut lags, mut calls, mut stretches) = ([0.0; 3], 0.0, 0.0);
        for (unit, times) in units.iter().zip(times) {
            lags[0] += times * unit.sums.lag[0];
            lags[1] += times * unit.sums.lag_two[0];
            lags[2] += times * unit.sums.lag[1];
            for (_, [n, ..]) in &unit.logs {
                calls += times * n;
                stretches += times;
            }
        }
        if lags[2] <= 0.0 || stretches <= 0.0 {
            return Self::default();
        }
        let short = (stretches / calls).min(0.2);
        let whole = |lag: f64| ((lag / lags[2] + short) / (1.0 - 3.0 * short)).clamp(-0.9, 0.9);
        let (first, second) = (whole(lags[0]), whole(lags[1]));
        // what hardly leans at lag one says nothing of how that falls
        let then = if first > 0.05 { (second / first).clamp(0.0, 0.95) } else { first };
        Self { first, then }
    }

    /// V(n): by how much the variance of a mean of `n` calls is larger than that of calls apart.
    pub(super) fn swell(self, n: f64) -> f64 {
        let rest = 1.0 - self.then;
        1.0 + 2.0 * self.first * (1.0 / rest - (1.0 - libm::pow(self.then, n)) / (n * rest * rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::fit::units::Sums;
    use crate::sim::{Channel, Noise, normal};

    /// Sessions of calls that lean on each other by `rho`, with an effect of `tau`.
    fn made(sessions: u32, calls: u32, rho: f64, tau: f64) -> Vec<Unit> {
        let noise = Noise::new(11, 0);
        let unit = |session: u32| {
            let mut row = vec![0.0; usize::try_from(calls).unwrap()];
            noise.fill(Channel::Size, session, &mut row);
            normal::invert(&mut row);
            let effect = tau * normal::inverse_cdf(noise.uniform(Channel::Session, session, 0));
            let mut last = None;
            for z in &mut row {
                *z = last.map_or(*z, |last: f64| rho * last + (1.0 - rho * rho).sqrt() * *z);
                last = Some(*z);
            }
            let logs: Vec<f64> = row.iter().map(|z| 6.0 + effect + z).collect();
            let sum: f64 = logs.iter().sum();
            let centre = sum / f64::from(calls);
            let lag = logs.windows(2).map(|pair| (pair[0] - centre) * (pair[1] - centre)).sum();
            let two = logs.windows(3).map(|all| (all[0] - centre) * (all[2] - centre)).sum();
            let alone = logs.iter().map(|log| (log - centre) * (log - centre)).sum();
            let squares = logs.iter().map(|log| log * log).sum();
            Unit {
                sums: Sums { lag: [lag, alone], lag_two: [two], ..Sums::default() },
                logs: vec![("high".to_owned(), [f64::from(calls), sum, squares])],
                ..Unit::default()
            }
        };
        (0..sessions).map(unit).collect()
    }

    #[test]
    fn what_calls_have_in_common_with_their_neighbours_is_no_session_effect() {
        for (rho, tau) in [(0.0, 0.3), (0.5, 0.3), (0.5, 0.0), (-0.3, 0.2)] {
            let units = made(1500, 40, rho, tau);
            let (between, within) = components(&units, &vec![1.0; units.len()]).unwrap();
            assert!(
                (between - tau * tau).abs() < 0.01 && (within - 1.0).abs() < 0.02,
                "{rho} {tau}: {between} {within}"
            );
        }
    }

    #[test]
    fn v_is_its_sum() {
        for (first, then) in [(-0.4, -0.4), (0.0, 0.0), (0.3, 0.3), (0.3, 0.8), (0.8, 0.8)] {
            let lag = |k: u32| first * libm::pow(then, f64::from(k - 1));
            let sum: f64 = (1..25).map(|k| (1.0 - f64::from(k) / 25.0) * lag(k)).sum();
            assert!((Decay { first, then }.swell(25.0) - 1.0 - 2.0 * sum).abs() < 1e-12, "{first} {then}");
        }
    }

    #[test]
    fn a_unit_that_is_there_twice_counts_twice_and_too_few_say_nothing() {
        let units = made(6, 10, 0.2, 0.3);
        let doubled = [&units[..], &units[..2]].concat();
        assert_eq!(
            components(&units, &[2.0, 2.0, 1.0, 1.0, 1.0, 1.0]).map(|(a, b)| ((a * 1e9).round(), (b * 1e9).round())),
            components(&doubled, &[1.0; 8]).map(|(a, b)| ((a * 1e9).round(), (b * 1e9).round()))
        );
        assert!(components(&units[..2], &[1.0; 2]).is_none() && components(&[], &[]).is_none());
    }
}
