//! When runs settled, with those that did not: the curve of Kaplan and Meier (1958) over whole rounds.
//!
//! A run that has not settled is *censored*: it is known to take longer, not to be slow. Never average such values in
//! silence. T is the number of rounds finished before a run settled; a run of R rounds that must hold H of them is at
//! risk at T = 0 .. R - H. Restricted means take T = R for what never settles. Where a budget ends runs early, censoring
//! depends on what was spent and the curve is a description, not an estimate free of bias. Counts are integers, merged
//! by addition.

use std::collections::BTreeMap;

use super::fixed::ufloat;
use super::metric::Settling;
use super::special::normal_quantile;
use super::stats::Interval;

/// Counts of runs by when they settled, or by how long they were watched in vain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survival {
    settled: Vec<u64>,
    censored: BTreeMap<u32, u64>,
}

/// One step of the curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Rounds finished before settling, T.
    pub round: u32,
    /// Runs at risk there.
    pub at_risk: u64,
    /// Runs that settled there.
    pub settled: u64,
    /// Share not settled after it, P(T > round).
    pub unsettled: f64,
    /// Its standard error after Greenwood.
    pub error: f64,
}

/// What a report says about settling.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SettleSummary {
    /// Runs.
    pub n: u64,
    /// Share of runs that did not settle.
    pub censored: f64,
    /// The first T by which half of the runs had settled; nothing if the curve never falls so far.
    pub median: Option<u32>,
    /// Its interval, each end nothing where the curve's bound never falls so far.
    pub median_interval: (Option<u32>, Option<u32>),
    /// E[min(T, horizon)], rounds.
    pub restricted_mean: f64,
    /// Its normal interval with Greenwood's variance.
    pub interval: Interval,
}

impl Survival {
    /// Add a run.
    pub fn add(&mut self, settling: Settling) {
        // room for the latest round at once, so that no later run has to ask for more
        let most = settling.at_risk as usize;
        if self.settled.capacity() < most {
            self.settled.reserve_exact(most - self.settled.len());
        }
        match settling.settled {
            Some(round) => {
                let place = round as usize;
                if self.settled.len() <= place {
                    self.settled.resize(place + 1, 0);
                }
                self.settled[place] += 1;
            }
            None => *self.censored.entry(settling.at_risk).or_default() += 1,
        }
    }

    /// Add all of another's runs.
    pub fn merge(&mut self, other: &Self) {
        if self.settled.len() < other.settled.len() {
            self.settled.resize(other.settled.len(), 0);
        }
        for (mine, theirs) in self.settled.iter_mut().zip(&other.settled) {
            *mine += theirs;
        }
        for (&at_risk, runs) in &other.censored {
            *self.censored.entry(at_risk).or_default() += runs;
        }
    }

    /// Runs that settled at each T, from 0.
    #[must_use]
    pub fn histogram(&self) -> &[u64] {
        &self.settled
    }

    /// Runs that did not settle, by the number of rounds at which they were at risk.
    #[must_use]
    pub const fn censored_by(&self) -> &BTreeMap<u32, u64> {
        &self.censored
    }

    /// Runs that did not settle.
    #[must_use]
    pub fn censored(&self) -> u64 {
        self.censored.values().sum()
    }

    /// All runs.
    #[must_use]
    pub fn runs(&self) -> u64 {
        self.settled.iter().sum::<u64>() + self.censored()
    }

    /// The curve's steps, in order; none where nothing settled.
    #[must_use]
    pub fn curve(&self) -> Vec<Step> {
        let (mut at_risk, mut unsettled, mut greenwood) = (self.runs(), 1.0, 0.0);
        let mut lost = self.censored.iter().peekable();
        let mut steps = Vec::new();
        for (round, &settled) in (0_u32..).zip(&self.settled) {
            while let Some((_, runs)) = lost.next_if(|&(&last, _)| last <= round) {
                at_risk -= runs;
            }
            if settled == 0 {
                continue;
            }
            let stay = at_risk - settled;
            unsettled *= ufloat(stay) / ufloat(at_risk);
            if stay > 0 {
                greenwood += ufloat(settled) / (ufloat(at_risk) * ufloat(stay));
            }
            steps.push(Step { round, at_risk, settled, unsettled, error: unsettled * greenwood.sqrt() });
            at_risk = stay;
        }
        steps
    }

    /// Median, restricted mean up to `horizon` rounds and share censored; nothing without a run or for a confidence
    /// outside (0, 1).
    #[must_use]
    pub fn summary(&self, horizon: u32, confidence: f64) -> Option<SettleSummary> {
        let (n, z) = (self.runs(), normal_quantile(0.5 + confidence / 2.0)?);
        if n == 0 {
            return None;
        }
        let curve = self.curve();
        // a product of quotients may miss one half by a rounding
        let half = |bound: f64| {
            let step = curve.iter().find(|step| step.unsettled + bound * step.error <= 0.5 + 1e-12)?;
            Some(step.round)
        };
        let (restricted_mean, variance) = area(&curve, horizon);
        let (spread, most) = (z * variance.sqrt(), f64::from(horizon));
        Some(SettleSummary {
            n,
            censored: ufloat(self.censored()) / ufloat(n),
            median: half(0.0),
            median_interval: (half(-z), half(z)),
            restricted_mean,
            interval: Interval { lo: (restricted_mean - spread).max(0.0), hi: (restricted_mean + spread).min(most) },
        })
    }
}

/// The area under the curve up to the horizon and its variance, from the last step backwards.
fn area(curve: &[Step], horizon: u32) -> (f64, f64) {
    let (mut after, mut variance, mut end) = (0.0, 0.0, horizon);
    for step in curve.iter().rev().filter(|step| step.round < horizon) {
        after += step.unsettled * f64::from(end - step.round);
        end = step.round;
        let stay = step.at_risk - step.settled;
        if stay > 0 {
            variance += after * after * ufloat(step.settled) / (ufloat(step.at_risk) * ufloat(stay));
        }
    }
    (after + f64::from(end), variance)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(settled: &[u32], censored: &[u32]) -> Survival {
        let mut all = Survival::default();
        settled.iter().for_each(|&round| all.add(Settling { settled: Some(round), at_risk: 1000 }));
        censored.iter().for_each(|&at_risk| all.add(Settling { settled: None, at_risk }));
        all
    }

    /// The remission times of Freireich et al. (1963) under 6-MP, as worked in every textbook.
    #[test]
    fn the_textbook_curve() {
        let lost = [6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35].map(|week| week + 1); // at risk in that week too
        let all = of(&[6, 6, 6, 7, 10, 13, 16, 22, 23], &lost);
        let want = [
            (6, 21, 3, 0.857, 0.0764),
            (7, 17, 1, 0.807, 0.0869),
            (10, 15, 1, 0.753, 0.0963),
            (13, 12, 1, 0.690, 0.1068),
            (16, 11, 1, 0.627, 0.1141),
            (22, 7, 1, 0.538, 0.1282),
            (23, 6, 1, 0.448, 0.1346),
        ];
        let curve = all.curve();
        assert_eq!(curve.len(), want.len());
        for (step, (round, at_risk, settled, unsettled, error)) in curve.iter().zip(want) {
            assert_eq!((step.round, step.at_risk, step.settled), (round, at_risk, settled));
            assert!((step.unsettled - unsettled).abs() < 6e-4 && (step.error - error).abs() < 6e-5, "{step:?}");
        }
        let summary = all.summary(35, 0.95).unwrap();
        assert_eq!((summary.median, summary.median_interval), (Some(23), (Some(13), None)));
        // R, survfit(..., rmean = 35): 23.3, se 2.83
        assert!((summary.restricted_mean - 23.287).abs() < 1e-3, "{summary:?}");
        assert!((summary.interval.hi - summary.restricted_mean - 1.96 * 2.83).abs() < 0.01, "{summary:?}");
    }

    #[test]
    fn a_curve_that_never_falls_to_half_has_no_median() {
        let summary = of(&[0, 3], &[191, 191, 191]).summary(200, 0.95).unwrap();
        assert_eq!((summary.median, summary.n, summary.censored), (None, 5, 0.6));
        assert!((summary.restricted_mean - (0.0 + 3.0 + 600.0) / 5.0).abs() < 1e-9);
        let half = of(&[1, 2, 3], &[10, 10, 10]).summary(20, 0.95).unwrap();
        assert_eq!(half.median, Some(3));
        assert_eq!(Survival::default().summary(10, 0.95), None);
        assert!(of(&[], &[0, 5]).curve().is_empty());
    }

    #[test]
    fn all_settled_at_the_start_is_a_mean_of_zero() {
        let summary = of(&[0, 0, 0], &[]).summary(200, 0.95).unwrap();
        assert_eq!((summary.median, summary.restricted_mean, summary.censored), (Some(0), 0.0, 0.0));
    }

    #[test]
    fn a_run_ended_before_an_event_is_not_at_risk_there() {
        let curve = of(&[5, 8], &[8]).curve();
        assert_eq!((curve[0].at_risk, curve[1].at_risk), (3, 1));
        assert_eq!(of(&[5, 8], &[9]).curve()[1].at_risk, 2);
    }

    proptest! {
        #[test]
        fn with_one_horizon_the_restricted_mean_is_that_of_the_held_values(
            settled in prop::collection::vec(0_u32..=190, 0..40), censored in 0_usize..10
        ) {
            prop_assume!(settled.len() + censored > 0);
            let all = of(&settled, &vec![191; censored]);
            let sum = settled.iter().map(|&round| u64::from(round)).sum::<u64>() + 200 * censored as u64;
            let mean = ufloat(sum) / ufloat((settled.len() + censored) as u64);
            prop_assert!((all.summary(200, 0.95).unwrap().restricted_mean - mean).abs() < 1e-9);
        }

        #[test]
        fn merging_is_adding(a in prop::collection::vec(0_u32..50, 0..9), b in prop::collection::vec(0_u32..50, 0..9),
            c in prop::collection::vec(0_u32..50, 0..9)) {
            let mut left = of(&a, &c);
            left.merge(&of(&b, &a));
            let mut right = of(&b, &a);
            right.merge(&of(&a, &c));
            prop_assert_eq!(&left.curve(), &right.curve());
            prop_assert_eq!(left, of(&[a.clone(), b].concat(), &[c, a].concat()));
        }
    }
}
