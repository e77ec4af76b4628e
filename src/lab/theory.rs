//! What theory says before anything is simulated: which slack can rest, how noisy one reading is, and the exact chain of
//! a law that moves one rung a round.
//!
//! Rungs are in **ascending tokens** here, as in the literature on up-and-down designs; a ladder is stored hardest
//! first, so reverse it. `up` is towards more tokens (harder). Formulas and names are those of the control study:
//! r the ratio of neighbouring means, s the slack, c the coefficient of variation of turns within a session, tau the
//! standard deviation of the log session effect, n turns a reading. Not a simulation: no window over several rounds, no
//! session effect in the chain. Sources: Fenton (1960) and Wilkinson for sums of lognormals; Derman (1957), Durham and
//! Flournoy (1994) for the chain; Grassmann, Taksar and Heyman (1985) for its stationary vector, without subtraction.

use super::special::{gamma_tails, normal_cdf};
use super::stats::Interval;

/// The slacks that make sense for a gap of ratio `r` > 1: at least (r-1)/(r+1), so that some rung rests in the band
/// wherever the target lies; below 1 - 1/r, so that a rung one step off a target on a rung does not. Nothing for r <= 1.
///
/// ```
/// let legal = flyball::lab::theory::legal_slack(1.6).unwrap();
/// assert!((legal.lo - 0.2307692).abs() < 1e-6 && (legal.hi - 0.375).abs() < 1e-12);
/// ```
#[must_use]
pub fn legal_slack(r: f64) -> Option<Interval> {
    (r > 1.0 && r.is_finite()).then(|| Interval { lo: (r - 1.0) / (r + 1.0), hi: 1.0 - 1.0 / r })
}

/// Ratios of neighbouring means of a ladder, in the order given.
#[must_use]
pub fn ratios(means: &[f64]) -> Vec<f64> {
    means.windows(2).map(|pair| pair[1] / pair[0]).collect()
}

/// The share of targets, uniform on the log scale between two rungs, with neither in a band of slack `s`:
/// 1 - ln((1+s)/(1-s)) / ln r, never negative; 0 for s of 1 and more, whose band has no lower edge. For s >= 0 and r > 1;
/// nothing otherwise.
#[must_use]
pub fn infeasible_share(s: f64, r: f64) -> Option<f64> {
    let (low, high) = log_edges(s);
    (s >= 0.0 && r > 1.0).then(|| (1.0 - (high - low) / libm::log(r)).max(0.0))
}

/// The edges of a band of slack `s`, as logs of what they are of the target: ln(1-s) and ln(1+s). A band of slack 1 and
/// more reaches down to nothing, so that its lower edge is minus infinity and no reading lies under it.
#[must_use]
pub fn log_edges(s: f64) -> (f64, f64) {
    let low = if s < 1.0 { libm::log1p(-s) } else { f64::NEG_INFINITY };
    (low, libm::log1p(s))
}

/// Where a target lies between rungs: ln(J/mu)/ln r with mu the mean nearest on the log scale, in [-.5, .5] within an
/// even ladder. Zero is on a rung. Nothing without a positive mean, or for a target or a ratio without a logarithm.
#[must_use]
pub fn phase(means: &[f64], target: f64, r: f64) -> Option<f64> {
    let step = libm::log(r);
    let offset = |mean: &f64| libm::log(target / mean) / step;
    let nearest = means.iter().map(offset).min_by(|a, b| a.abs().total_cmp(&b.abs()))?;
    nearest.is_finite().then_some(nearest)
}

/// The variance of the log of one reading of `n` turns of one session: ln(1 + c^2/n) + tau^2.
#[must_use]
pub fn reading_variance(c: f64, n: f64, tau: f64) -> f64 {
    libm::log1p(c * c / n) + tau * tau
}

/// The chance that a reading leaves the band although the rung's mean is exactly the target, the log of a reading being
/// normal about -v/2 with variance v.
#[must_use]
pub fn false_move(s: f64, v: f64) -> f64 {
    let (below, above) = lognormal_tails(0.0, s, v);
    below + above
}

/// The chances that a reading lies under and over the band, for a rung whose mean is e nats above the target.
#[must_use]
pub fn lognormal_tails(e: f64, s: f64, v: f64) -> (f64, f64) {
    let ((low, high), sd, centre) = (log_edges(s), v.sqrt(), e - 0.5 * v);
    let below = normal_cdf((low - centre) / sd);
    let above = normal_cdf((centre - high) / sd);
    (below, above)
}

/// Rounds needed to tell a target on a rung from one half a gap off, at `z` standard errors:
/// (2z / ln r)^2 (ln(1+c^2)/n + tau^2).
#[must_use]
pub fn rounds_to_resolve(z: f64, r: f64, c: f64, n: f64, tau: f64) -> f64 {
    let half = 2.0 * z / libm::log(r);
    half * half * (libm::log1p(c * c) / n + tau * tau)
}

/// The exact chances that a reading of `n` gamma turns with mean `mean` and coefficient of variation `c` lies under and
/// over the band of slack `s` about `target`.
#[must_use]
pub fn gamma_reading_tails(n: f64, c: f64, mean: f64, target: f64, s: f64) -> (f64, f64) {
    let shape = n / (c * c);
    let (below, _) = gamma_tails(shape, shape * target * (1.0 - s).max(0.0) / mean);
    let (_, above) = gamma_tails(shape, shape * target * (1.0 + s) / mean);
    (below, above)
}

/// A birth-death chain on rungs in ascending tokens: a law that moves at most one rung a round on a reading of that
/// round alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    up: Vec<f64>,
    down: Vec<f64>,
}

impl Chain {
    /// From the chance of a move up and down on each rung; those past the ends are set to zero. Nothing for an empty
    /// chain, lists of unequal length, or chances that are none.
    #[must_use]
    pub fn new(tails: &[(f64, f64)]) -> Option<Self> {
        let chance = |p: f64| (0.0..=1.0).contains(&p);
        if tails.is_empty() || !tails.iter().all(|&(up, down)| chance(up) && chance(down) && up + down <= 1.0 + 1e-12) {
            return None;
        }
        let (mut up, mut down): (Vec<_>, Vec<_>) = tails.iter().copied().unzip();
        if let (Some(top), Some(bottom)) = (up.last_mut(), down.first_mut()) {
            (*top, *bottom) = (0.0, 0.0);
        }
        Some(Self { up, down })
    }

    /// The chain of the reference law whose window is one round, on gamma turns.
    #[must_use]
    pub fn gamma(means: &[f64], n: f64, c: f64, target: f64, s: f64) -> Option<Self> {
        let tails: Vec<_> = means.iter().map(|&mean| gamma_reading_tails(n, c, mean, target, s)).collect();
        Self::new(&tails)
    }

    /// The stationary share of each rung. Nothing where it is not unique: two places to rest for ever.
    #[must_use]
    pub fn stationary(&self) -> Option<Vec<f64>> {
        let (from, to) = self.closed()?;
        let size = to - from + 1;
        let mut moves = vec![0.0; size * size];
        for place in 0..size {
            if place + 1 < size {
                moves[place * size + place + 1] = self.up[from + place];
                moves[(place + 1) * size + place] = self.down[from + place + 1];
            }
        }
        let inside = gth(moves, size)?;
        let mut shares = vec![0.0; self.up.len()];
        shares[from..=to].copy_from_slice(&inside);
        Some(shares)
    }

    /// Moves per round in the long run.
    #[must_use]
    pub fn moves(&self) -> Option<f64> {
        let shares = self.stationary()?;
        Some(shares.iter().zip(self.up.iter().zip(&self.down)).map(|(share, (up, down))| share * (up + down)).sum())
    }

    /// Reversals per round in the long run: moves against the direction of the move before, from the chain on (rung,
    /// last direction).
    #[must_use]
    pub fn reversals(&self) -> Option<f64> {
        let (from, to) = self.closed()?;
        if from == to {
            return Some(0.0);
        }
        // places between rungs, in order: (from, came down), (from+1, came up), (from+1, came down), ..
        let size = 2 * (to - from);
        let came_down = |rung: usize| 2 * (rung - from);
        let came_up = |rung: usize| 2 * (rung - from) - 1;
        let mut moves = vec![0.0; size * size];
        for rung in from..=to {
            let states = [(rung < to).then(|| came_down(rung)), (rung > from).then(|| came_up(rung))];
            for state in states.into_iter().flatten() {
                if rung < to {
                    moves[state * size + came_up(rung + 1)] = self.up[rung];
                }
                if rung > from {
                    moves[state * size + came_down(rung - 1)] = self.down[rung];
                }
            }
        }
        let shares = gth(moves, size)?;
        let turned = |rung: usize| {
            let after_down = if rung < to { shares[came_down(rung)] * self.up[rung] } else { 0.0 };
            let after_up = if rung > from { shares[came_up(rung)] * self.down[rung] } else { 0.0 };
            after_down + after_up
        };
        Some((from..=to).map(turned).sum())
    }

    /// Expected rounds from one rung to the first on another; infinite where it cannot be reached, nothing off the
    /// ladder.
    #[must_use]
    pub fn hitting(&self, from: usize, to: usize) -> Option<f64> {
        let last = self.up.len() - 1;
        if from.max(to) > last {
            return None;
        }
        if from <= to {
            return Some(passage(&self.up, &self.down, from, to));
        }
        let turned = |chances: &[f64]| chances.iter().rev().copied().collect::<Vec<_>>();
        Some(passage(&turned(&self.down), &turned(&self.up), last - from, last - to))
    }

    /// The one stretch of rungs that is never left once entered; nothing where there are several.
    fn closed(&self) -> Option<(usize, usize)> {
        let (last, mut found, mut start) = (self.up.len() - 1, None, 0);
        for rung in 0..=last {
            if rung < last && self.up[rung] > 0.0 && self.down[rung + 1] > 0.0 {
                continue;
            }
            if self.up[rung] <= 0.0 && self.down[start] <= 0.0 {
                if found.is_some() {
                    return None;
                }
                found = Some((start, rung));
            }
            start = rung + 1;
        }
        found
    }
}

/// First passage upwards: the rounds to leave each rung upwards are (1 + down x those of the rung below) / up.
fn passage(up: &[f64], down: &[f64], from: usize, to: usize) -> f64 {
    let (mut sum, mut below) = (0.0, 0.0);
    for rung in 0..to {
        let back = if down[rung] > 0.0 { down[rung] * below } else { 0.0 };
        below = (1.0 + back) / up[rung];
        if rung >= from {
            sum += below;
        }
    }
    sum
}

/// The stationary vector of an irreducible chain by state reduction, which never subtracts. `moves` holds the chances
/// between states row by row; its diagonal is not used.
fn gth(mut moves: Vec<f64>, size: usize) -> Option<Vec<f64>> {
    for last in (1..size).rev() {
        let out: f64 = moves[last * size..last * size + last].iter().sum();
        if out <= 0.0 {
            return None;
        }
        for from in 0..last {
            let into = moves[from * size + last] / out;
            moves[from * size + last] = into;
            for to in 0..last {
                moves[from * size + to] += into * moves[last * size + to];
            }
        }
    }
    let mut shares = vec![1.0];
    for state in 1..size {
        shares.push((0..state).map(|from| shares[from] * moves[from * size + state]).sum());
        // scaled at once: on a steep ladder the shares span more than a float does
        let sum: f64 = shares.iter().sum();
        shares.iter_mut().for_each(|share| *share /= sum);
    }
    Some(shares)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn geometric(first: f64, r: f64, rungs: u32) -> Vec<f64> {
        (0..rungs).map(|rung| first * libm::pow(r, f64::from(rung))).collect()
    }

    /// To the digits that were printed.
    fn printed(got: f64, want: f64, decimals: i32) -> bool {
        (got - want).abs() <= 0.5001 * libm::pow(10.0, f64::from(-decimals))
    }

    struct Check<'a> {
        chain: Option<Chain>,
        from: usize,
        shares: &'a [f64],
        moves: f64,
        reversals: Option<f64>,
    }

    /// The exact chains of the control study, C1 to C5.
    #[test]
    fn the_chains_of_the_study_to_all_digits() {
        let even = |r, rungs| geometric(500.0, r, rungs);
        let target = |r: f64, power: f64| 500.0 * libm::pow(r, power);
        let checks = [
            Check {
                chain: Chain::gamma(&even(1.6, 6), 10.0, 1.0, 2048.0, 0.15),
                from: 1,
                shares: &[0.0023, 0.1861, 0.5608, 0.2400, 0.0109],
                moves: 73.91,
                reversals: Some(53.75),
            },
            Check {
                chain: Chain::gamma(&even(1.6, 6), 20.0, 1.0, target(1.6, 3.5), 0.15),
                from: 2,
                shares: &[0.0149, 0.4708, 0.4868, 0.0275],
                moves: 70.19,
                reversals: Some(62.36),
            },
            Check {
                chain: Chain::gamma(&even(2.0, 5), 5.0, 1.5, target(2.0, 2.25), 0.3),
                from: 0,
                shares: &[0.0011, 0.0924, 0.4388, 0.3837, 0.0840],
                moves: 72.63,
                reversals: Some(50.34),
            },
            Check {
                chain: Chain::gamma(&even(1.3, 8), 40.0, 0.6, target(1.3, 4.0), 0.15),
                from: 3,
                shares: &[0.0634, 0.8860, 0.0506],
                moves: 19.98,
                reversals: Some(15.03),
            },
            Check {
                chain: Chain::gamma(&even(1.6, 6), 60.0, 0.6, 2048.0, 0.25),
                from: 2,
                shares: &[0.0013, 0.9985, 0.0002],
                moves: 0.30,
                reversals: None,
            },
        ];
        for (number, check) in (1..).zip(checks) {
            let chain = check.chain.unwrap();
            let shares = chain.stationary().unwrap();
            for (offset, want) in check.shares.iter().enumerate() {
                assert!(printed(shares[check.from + offset], *want, 4), "C{number}: {shares:?}");
            }
            assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            let (moves, reversals) = (100.0 * chain.moves().unwrap(), 100.0 * chain.reversals().unwrap());
            assert!(printed(moves, check.moves, 2), "C{number} moves {moves}");
            assert!(check.reversals.is_none_or(|want| printed(reversals, want, 2)), "C{number} reversals {reversals}");
        }
        let chain = Chain::gamma(&even(1.6, 6), 10.0, 1.0, 2048.0, 0.15).unwrap();
        assert!(printed(chain.hitting(0, 3).unwrap(), 3.17, 2));
    }

    #[test]
    fn steep_ladders_neither_overflow_nor_divide_by_nothing() {
        let chain = Chain::gamma(&geometric(1.0, 4.0, 12), 400.0, 0.3, 4096.0, 0.3).unwrap();
        let shares = chain.stationary().unwrap();
        assert!((shares[6] - 1.0).abs() < 1e-6 && shares.iter().all(|share| share.is_finite()), "{shares:?}");
        let rare = 1e-300;
        let cliff = Chain::new(&[(0.5, 0.0), (0.5, rare), (0.5, rare), (0.0, rare)]).unwrap();
        assert!((cliff.stationary().unwrap()[3] - 1.0).abs() < 1e-12 && cliff.reversals().is_some_and(f64::is_finite));
        // two rungs in band for ever: where it rests depends on where it starts
        assert_eq!(Chain::new(&[(0.5, 0.0), (0.0, 0.0), (0.0, 0.0)]).unwrap().stationary(), None);
        assert_eq!(Chain::new(&[(0.5, 0.0), (0.0, 0.0), (0.0, 0.2)]).unwrap().stationary().unwrap(), [0.0, 1.0, 0.0]);
        assert_eq!(Chain::new(&[(0.3, 0.4)]).unwrap().moves(), Some(0.0));
        assert_eq!((Chain::new(&[]), Chain::new(&[(0.7, 0.7)]), Chain::new(&[(f64::NAN, 0.0)])), (None, None, None));
    }

    #[test]
    fn passages_both_ways_and_to_nowhere() {
        // a fair walk on three rungs, never holding: 1 + 3 rounds up, the same down
        let chain = Chain::new(&[(1.0, 0.0), (0.5, 0.5), (0.0, 1.0)]).unwrap();
        assert_eq!((chain.hitting(0, 2), chain.hitting(2, 0), chain.hitting(1, 1)), (Some(4.0), Some(4.0), Some(0.0)));
        assert_eq!(chain.hitting(0, 3), None);
        assert!((chain.reversals().unwrap() - 0.75).abs() < 1e-12);
        let stuck = Chain::new(&[(0.0, 0.0), (0.5, 0.5)]).unwrap();
        assert_eq!(stuck.hitting(0, 1), Some(f64::INFINITY));
    }

    /// The closed form to four digits, worked out elsewhere, and beside it the study's table, which it must meet within
    /// the .02 that the study found it to be exact to.
    #[test]
    fn false_moves_as_worked_and_as_tabled() {
        let cases = [
            (0.0, 7.0, 0.6826, 0.3977, 0.68, 0.40),
            (0.0, 20.0, 0.4946, 0.1634, 0.49, 0.16),
            (0.0, 80.0, 0.1755, 0.0088, 0.18, 0.01),
            (0.0, 170.0, 0.0498, 0.0003, 0.05, 0.00),
            (0.2, 7.0, 0.7211, 0.4595, 0.72, 0.46),
            (0.2, 20.0, 0.6142, 0.2989, 0.61, 0.30),
            (0.2, 80.0, 0.5101, 0.1782, 0.51, 0.18),
            (0.2, 170.0, 0.4810, 0.1510, 0.48, 0.15),
            (0.5, 7.0, 0.8150, 0.6267, 0.82, 0.61),
            (0.5, 20.0, 0.7888, 0.5779, 0.79, 0.58),
            (0.5, 80.0, 0.7740, 0.5511, 0.77, 0.55),
            (0.5, 170.0, 0.7711, 0.5457, 0.77, 0.54),
        ];
        for (tau, n, narrow, wide, tabled_narrow, tabled_wide) in cases {
            let v = reading_variance(1.0, n, tau);
            let got = (false_move(0.15, v), false_move(0.30, v));
            assert!(printed(got.0, narrow, 4) && printed(got.1, wide, 4), "{tau} {n} {got:?}");
            assert!((got.0 - tabled_narrow).abs() < 0.02 && (got.1 - tabled_wide).abs() < 0.02, "{tau} {n} {got:?}");
        }
    }

    /// C10, and the interval of slack.
    #[test]
    fn shares_of_targets_that_cannot_rest() {
        for (r, want) in [(1.5, 0.25), (1.6, 0.36), (2.0, 0.56), (2.5, 0.67)] {
            assert!(printed(infeasible_share(0.15, r).unwrap(), want, 2));
        }
        for (r, lo, hi) in [(1.3, 0.13, 0.23), (1.6, 0.23, 0.375), (2.0, 0.33, 0.5), (2.5, 0.43, 0.6)] {
            let legal = legal_slack(r).unwrap();
            assert!(printed(legal.lo, lo, 2) && printed(legal.hi, hi, 2));
            assert!(infeasible_share(legal.lo, r).unwrap() < 1e-12);
        }
        assert_eq!((legal_slack(1.0), legal_slack(f64::NAN), infeasible_share(-0.1, 2.0)), (None, None, None));
        // the share counted over a fine grid of targets
        let (r, s, steps) = (1.6, 0.15, 100_000);
        let lonely = (0..steps).filter(|&step| {
            let offset = libm::pow(r, (f64::from(step) + 0.5) / f64::from(steps));
            ![1.0, r].iter().any(|mean| (mean / offset - 1.0).abs() <= s)
        });
        let counted = f64::from(u32::try_from(lonely.count()).unwrap()) / f64::from(steps);
        assert!((counted - infeasible_share(s, r).unwrap()).abs() < 1e-4);
    }

    #[test]
    fn a_band_of_slack_one_and_more_has_no_lower_edge() {
        for e in [-2.0, 0.0, 2.0] {
            let just_below = lognormal_tails(e, 0.999_999, 0.4);
            let one = lognormal_tails(e, 1.0, 0.4);
            assert!((one.0 - just_below.0).abs() < 1e-9 && (one.1 - just_below.1).abs() < 1e-5, "{e} {one:?}");
            let two = lognormal_tails(e, 2.0, 0.4);
            assert!(two.0 == 0.0 && two.1 < one.1 && two.1 > 0.0, "{e} {two:?}");
        }
        let gamma = |s: f64| gamma_reading_tails(10.0, 1.0, 3000.0, 2048.0, s);
        assert!((gamma(1.0).1 - gamma(0.999_999).1).abs() < 1e-5 && gamma(2.0).1 < gamma(1.0).1, "{:?}", gamma(2.0));
        assert_eq!((gamma(1.0).0, gamma(2.0).0), (0.0, 0.0));
        assert!((false_move(1.0, 0.4) - false_move(0.999_999, 0.4)).abs() < 1e-5 && false_move(2.0, 0.4) > 0.0);
        assert_eq!((infeasible_share(1.0, 2.0), infeasible_share(2.0, 2.0)), (Some(0.0), Some(0.0)));
    }

    #[test]
    fn phase_is_signed_and_zero_on_a_rung() {
        let means = geometric(500.0, 1.6, 6);
        assert!(phase(&means, 2048.0, 1.6).unwrap().abs() < 1e-12);
        assert!((phase(&means, 2048.0 * libm::pow(1.6, 0.3), 1.6).unwrap() - 0.3).abs() < 1e-12);
        assert!((phase(&means, 2048.0 * libm::pow(1.6, 0.8), 1.6).unwrap() + 0.2).abs() < 1e-12);
        assert_eq!((phase(&[], 1.0, 2.0), phase(&means, 0.0, 1.6)), (None, None));
        assert_eq!(ratios(&[1.0, 2.0, 6.0]), [2.0, 3.0]);
    }

    #[test]
    fn about_five_rounds_resolve_the_typical_case() {
        assert!(printed(rounds_to_resolve(2.0, 1.6, 1.0, 20.0, 0.2), 5.4, 1));
    }
}
