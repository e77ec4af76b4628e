//! What all runs of one cell add up to, and what that says.
//!
//! Integers only, until a summary is asked for: merging two tallies is addition, so neither the order of runs nor the
//! number of threads or shards can change a digit. It keeps no run by itself; paired comparisons need the runs' values
//! ([`super::stats::paired`]). Means are over the runs to which a metric applies; `n` says how many.

use super::fixed::{float, from_micros, ufloat};
use super::metric::{METRICS, Metric, RunScore, Settling};
use super::stats::{Estimate, Interval, Moments, student, wilson};
use super::survival::{SettleSummary, Survival};

/// The sums over one cell's runs. About 2 KB, and the histogram of settling.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CellTally {
    runs: u64,
    moments: [Moments; METRICS],
    leaving: Pooled,
    settling: Survival,
    resettling: Vec<Survival>,
}

/// Sums for a share pooled over runs: events, chances, and their products.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Pooled {
    events: u64,
    chances: u64,
    event_squares: u128,
    chance_squares: u128,
    products: u128,
}

impl Pooled {
    fn add(&mut self, events: u32, chances: u32) {
        self.events += u64::from(events);
        self.chances += u64::from(chances);
        let (events, chances) = (u128::from(events), u128::from(chances));
        self.event_squares += events * events;
        self.chance_squares += chances * chances;
        self.products += events * chances;
    }

    fn merge(&mut self, other: &Self) {
        self.events += other.events;
        self.chances += other.chances;
        self.event_squares += other.event_squares;
        self.chance_squares += other.chance_squares;
        self.products += other.products;
    }

    /// The ratio with the linearised (delta method) interval over runs.
    fn estimate(&self, runs: u64, t: Option<f64>) -> Option<Estimate> {
        if self.chances == 0 {
            return None;
        }
        let mean = ufloat(self.events) / ufloat(self.chances);
        let wide = |value: u128| float(i128::try_from(value).unwrap_or(i128::MAX));
        let spread =
            wide(self.event_squares) - 2.0 * mean * wide(self.products) + mean * mean * wide(self.chance_squares);
        let interval = t.filter(|_| runs > 1).map(|t| {
            let n = ufloat(runs);
            let half = t * (spread.max(0.0) * n / (n - 1.0)).sqrt() / ufloat(self.chances);
            Interval { lo: (mean - half).max(0.0), hi: (mean + half).min(1.0) }
        });
        Some(Estimate { mean, interval, n: runs })
    }
}

impl CellTally {
    /// Add a run.
    pub fn add(&mut self, score: &RunScore) {
        self.runs += 1;
        for (moments, (value, present)) in self.moments.iter_mut().zip(score.entries()) {
            if present {
                moments.add(value);
            }
        }
        self.leaving.add(score.left_best, score.at_best);
        self.settling.add(score.settling);
    }

    /// Add when a run settled again after the scheduled disturbance number `index`, counted from 0 (see
    /// [`super::score::settling_from`]).
    pub fn add_resettling(&mut self, index: usize, settling: Settling) {
        if self.resettling.len() <= index {
            self.resettling.resize_with(index + 1, Survival::default);
        }
        self.resettling[index].add(settling);
    }

    /// Add all of another tally of the same cell.
    pub fn merge(&mut self, other: &Self) {
        self.runs += other.runs;
        for (mine, theirs) in self.moments.iter_mut().zip(&other.moments) {
            mine.merge(theirs);
        }
        self.leaving.merge(&other.leaving);
        self.settling.merge(&other.settling);
        if self.resettling.len() < other.resettling.len() {
            self.resettling.resize_with(other.resettling.len(), Survival::default);
        }
        for (mine, theirs) in self.resettling.iter_mut().zip(&other.resettling) {
            mine.merge(theirs);
        }
    }

    /// Runs added.
    #[must_use]
    pub const fn runs(&self) -> u64 {
        self.runs
    }

    /// Count, sum and sum of squares of a metric over the runs to which it applies.
    #[must_use]
    pub const fn moments(&self, metric: Metric) -> &Moments {
        &self.moments[metric.index()]
    }

    /// Mean and interval of a metric, or nothing where it applies to no run. Student's interval over runs, held within
    /// [`Metric::range`]; Wilson's for
    /// a share of runs; for `false_move` the share pooled over runs with the interval of a ratio.
    #[must_use]
    pub fn summary(&self, metric: Metric, confidence: f64) -> Option<Estimate> {
        self.summary_with(metric, confidence, &mut None)
    }

    /// [`CellTally::summary`] of every metric, in the order of [`Metric::ALL`].
    #[must_use]
    pub fn summaries(&self, confidence: f64) -> [Option<Estimate>; METRICS] {
        let mut known = None;
        Metric::ALL.map(|metric| self.summary_with(metric, confidence, &mut known))
    }

    /// `known` is the last count with its quantile: most metrics of a cell rest on as many runs.
    fn summary_with(
        &self,
        metric: Metric,
        confidence: f64,
        known: &mut Option<(u64, Option<f64>)>,
    ) -> Option<Estimate> {
        let moments = self.moments(metric);
        if metric.is_share() {
            let mean = moments.mean()?;
            let hits = u64::try_from(moments.sum() / i128::from(super::fixed::ONE)).unwrap_or(0);
            return Some(Estimate { mean, interval: wilson(hits, moments.n(), confidence), n: moments.n() });
        }
        let n = if metric == Metric::FalseMove { self.runs } else { moments.n() };
        let t = match *known {
            Some((count, t)) if count == n => t,
            _ => student(n, confidence),
        };
        *known = Some((n, t));
        if metric == Metric::FalseMove {
            return self.leaving.estimate(n, t);
        }
        let estimate = moments.estimate_with(t)?;
        let (least, most) = metric.range();
        let interval = estimate.interval.map(|Interval { lo, hi }| Interval { lo: lo.max(least), hi: hi.min(most) });
        Some(Estimate { interval, ..estimate })
    }

    /// When the runs settled.
    #[must_use]
    pub const fn settling(&self) -> &Survival {
        &self.settling
    }

    /// When they settled again after each scheduled disturbance, counted from it.
    #[must_use]
    pub fn resettling(&self) -> &[Survival] {
        &self.resettling
    }

    /// Median, restricted mean and share censored of settling, up to `horizon` rounds.
    #[must_use]
    pub fn settle_summary(&self, horizon: u32, confidence: f64) -> Option<SettleSummary> {
        self.settling.summary(horizon, confidence)
    }

    /// Share of runs that did not settle; nothing without a run.
    #[must_use]
    pub fn censored(&self) -> Option<f64> {
        (self.runs > 0).then(|| ufloat(self.settling.censored()) / ufloat(self.runs))
    }
}

/// The sum of a metric over runs in its unit: for totals such as tokens.
#[must_use]
pub fn total(tally: &CellTally, metric: Metric) -> f64 {
    from_micros(i64::try_from(tally.moments(metric).sum()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn run(on_rung: Option<i64>, settled: Option<u32>, at_best: u32, left_best: u32) -> RunScore {
        let mut score = RunScore::empty();
        if let Some(value) = on_rung {
            score.set(Metric::OnRung, value);
        }
        score.set(Metric::Settled, i64::from(settled.is_some()) * 1_000_000);
        score.settling = Settling { settled, at_risk: 191 };
        (score.at_best, score.left_best) = (at_best, left_best);
        score
    }

    fn of(runs: &[RunScore]) -> CellTally {
        let mut tally = CellTally::default();
        runs.iter().for_each(|score| tally.add(score));
        tally
    }

    #[test]
    fn a_metric_counts_the_runs_to_which_it_applies() {
        let tally = of(&[run(Some(500_000), Some(3), 0, 0), run(None, None, 0, 0), run(Some(700_000), Some(5), 0, 0)]);
        let on = tally.summary(Metric::OnRung, 0.95).unwrap();
        assert_eq!((on.n, tally.runs()), (2, 3));
        assert!((on.mean - 0.6).abs() < 1e-12);
        // the interval of t(.975, 1) sqrt(.02 / 2) = 1.27 to both sides says more than a share can be, and is held
        assert_eq!(on.interval, Some(Interval { lo: 0.0, hi: 1.0 }));
        let mut moved = [RunScore::empty(), RunScore::empty()];
        moved[0].set(Metric::Moves, 50_500_000);
        moved[1].set(Metric::Moves, 50_700_000);
        let moves = of(&moved).summary(Metric::Moves, 0.95).unwrap();
        assert!((moves.interval.unwrap().hi - 50.6 - 1.270_620_473_617).abs() < 1e-9);
        assert_eq!(tally.summary(Metric::Bias, 0.95), None);
        let settled = tally.summary(Metric::Settled, 0.95).unwrap();
        assert_eq!(settled.interval, wilson(2, 3, 0.95));
        assert!((tally.censored().unwrap() - 1.0 / 3.0).abs() < 1e-15);
        assert_eq!(tally.settle_summary(200, 0.95).unwrap().median, Some(5));
    }

    #[test]
    fn leaving_the_best_rung_is_pooled_over_rounds() {
        // means of ratios would say .55
        let tally = of(&[run(None, None, 10, 1), run(None, None, 1, 1), run(None, None, 0, 0)]);
        let share = tally.summary(Metric::FalseMove, 0.95).unwrap();
        assert!((share.mean - 2.0 / 11.0).abs() < 1e-15);
        // residuals -9/11, 9/11 and 0, so t(.975, 2) sqrt(162/121 x 3/2) / 11
        let upper = 2.0 / 11.0 + 4.302_652_729_749 * (162.0_f64 / 121.0 * 1.5).sqrt() / 11.0;
        let interval = share.interval.unwrap();
        assert!((interval.hi - upper).abs() < 1e-9 && interval.lo <= 0.0, "{interval:?}");
        assert_eq!(of(&[run(None, None, 0, 0)]).summary(Metric::FalseMove, 0.95), None);
        assert_eq!(of(&[run(None, None, 4, 1)]).summary(Metric::FalseMove, 0.95).unwrap().interval, None);
    }

    #[test]
    fn every_summary_is_the_one_asked_for_alone() {
        let tally = of(&[run(Some(1), Some(3), 4, 1), run(None, None, 3, 1), run(Some(7), Some(5), 1, 1)]);
        let all = tally.summaries(0.9);
        for metric in Metric::ALL {
            assert_eq!(all[metric.index()], tally.summary(metric, 0.9), "{}", metric.name());
        }
    }

    #[test]
    fn each_disturbance_has_its_own_curve() {
        let mut tally = CellTally::default();
        tally.add_resettling(1, Settling { settled: Some(4), at_risk: 61 });
        let mut other = CellTally::default();
        other.add_resettling(0, Settling { settled: None, at_risk: 61 });
        tally.merge(&other);
        assert_eq!((tally.resettling()[0].censored(), tally.resettling()[1].histogram()[4]), (1, 1));
    }

    proptest! {
        #[test]
        fn no_order_of_merging_changes_a_tally(
            values in prop::collection::vec((prop::option::of(-1_000_000_i64..1_000_000), prop::option::of(0_u32..190), 0_u32..9), 0..30),
            cut in 0_usize..30, swap: bool
        ) {
            let runs: Vec<_> = values.iter().map(|&(on, settled, best)| run(on, settled, best, best / 2)).collect();
            let (left, right) = runs.split_at(cut.min(runs.len()));
            let (mut one, other) = if swap { (of(right), of(left)) } else { (of(left), of(right)) };
            one.merge(&other);
            prop_assert_eq!(one.summaries(0.95), of(&runs).summaries(0.95));
            prop_assert_eq!(one.settling().curve(), of(&runs).settling().curve());
        }
    }

    #[test]
    fn no_interval_says_more_than_a_run_can_come_to() {
        let mut tally = CellTally::default();
        for (share, moves) in [(0.99, 1.0), (1.0, 0.0), (0.2, 0.0)] {
            let mut score = RunScore::empty();
            score.set(Metric::OnRung, super::super::fixed::micros(share));
            score.set(Metric::Moves, super::super::fixed::micros(moves));
            tally.add(&score);
        }
        let interval = |metric| tally.summary(metric, 0.95).unwrap().interval.unwrap();
        assert!(interval(Metric::OnRung).hi <= 1.0 && interval(Metric::OnRung).lo >= 0.0);
        assert!(interval(Metric::Moves).lo >= 0.0 && interval(Metric::Moves).hi > 1.0);
    }
}
