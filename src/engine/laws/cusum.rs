//! `cusum`: one rung towards the target when summed evidence says that this rung is one step off.
//!
//! Few false moves for a rule that predicts nothing, and slow for it. Neither `slack` nor `over` matters: the `ratio` of neighbouring
//! rungs is what is tested for.
//!
//! # Theory
//!
//! Page's cumulative sum (1954), the sequential test of Wald (1947) begun again at zero: with e the round's log error, v
//! its variance and g = ln r, the log likelihood ratio of "one step too high" over "right" is (g/v)(e - g/2), summed and
//! never let below zero; it moves past `threshold`. The average run between false moves grows as e^threshold; a real
//! step is found in about threshold / (g^2 / 2 v) rounds. Moustakides (1986): no rule with as few false moves finds
//! it sooner in the worst case. Every round's error and variance is read by [`estimate`](super::estimate).

use super::aim::Aim;
use super::estimate::Estimator;
use super::real::from_micros;
use super::track::small;
use super::tuning::{Knob, Values};
use crate::engine::law::{Belief, Decision, Evidence, Law, LawState, Reading, Why};

/// What can be set.
pub(super) const KNOBS: [Knob; 2] = [
    Knob {
        name: "threshold",
        about: "log likelihood ratio at which it moves",
        usual: 5_000_000,
        least: 100_000,
        most: 100_000_000,
        whole: false,
    },
    RATIO,
];

/// The ratio of neighbouring rungs, for laws that do not estimate it.
pub(super) const RATIO: Knob = Knob {
    name: "ratio",
    about: "tokens of a rung over those of the next softer one",
    usual: 1_600_000,
    least: 1_050_000,
    most: 100_000_000,
    whole: false,
};

/// Sums evidence to both sides.
#[derive(Clone, Debug)]
pub struct Cusum {
    threshold: f64,
    step: f64,
    estimator: Estimator,
    aim: Aim,
    below: f64,
    above: f64,
    rung: usize,
    rungs: usize,
}

impl Cusum {
    /// With these values of its knobs.
    pub(super) fn new(values: &Values) -> Self {
        Self {
            threshold: from_micros(values[0]),
            step: libm::log(from_micros(values[1])),
            estimator: Estimator::default(),
            aim: Aim::default(),
            below: 0.0,
            above: 0.0,
            rung: 0,
            rungs: 0,
        }
    }
}

impl Law for Cusum {
    fn name(&self) -> &'static str {
        "cusum"
    }

    fn decide(&mut self, reading: &Reading<'_>) -> Decision {
        let evidence = Evidence::read(reading);
        let (rung, rungs) = (reading.rung.index(), reading.rungs.count());
        if self.rungs != rungs {
            self.estimator.new_ladder();
        }
        if (self.rung, self.rungs) != (rung, rungs) {
            (self.rung, self.rungs, self.below, self.above) = (rung, rungs, 0.0, 0.0);
        }
        self.aim.at(reading);
        let Some(seen) = self.estimator.observe(rung, rungs, &reading.round) else {
            return Decision { to: reading.rung, why: Why::EmptyRound, evidence };
        };
        let (error, weight) = (seen.level - self.aim.ln, self.step / seen.variance);
        self.above = (self.above + weight * (error - self.step / 2.0)).max(0.0);
        self.below = (self.below + weight * (-error - self.step / 2.0)).max(0.0);
        let evidence = evidence.believing(Belief::new(error, libm::sqrt(seen.variance)));
        let (to, why) = match () {
            () if self.above > self.threshold => (reading.rung.softer(), Why::AboveBand),
            () if self.below > self.threshold => (reading.rung.harder(), Why::BelowBand),
            () => (reading.rung, Why::Unsure),
        };
        if why != Why::Unsure {
            (self.below, self.above) = (0.0, 0.0);
        }
        Decision { to, why, evidence }
    }

    fn reads_logs(&self) -> bool {
        true
    }

    fn save(&self) -> LawState {
        let mut state = LawState::default();
        self.estimator.save(&mut state);
        state.set_real("below", self.below);
        state.set_real("above", self.above);
        state.set("rung", self.rung as u64);
        state.set("rungs", self.rungs as u64);
        state
    }

    fn restore(&mut self, state: &LawState) {
        self.estimator.restore(state);
        let sum = |name| state.real(name).filter(|sum| (0.0..1e9).contains(sum)).unwrap_or(0.0);
        (self.below, self.above) = (sum("below"), sum("above"));
        self.rung = small(state, "rung").unwrap_or(0);
        self.rungs = small(state, "rungs").unwrap_or(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::laws::LawKind;
    use crate::engine::laws::testing::{Bench, like};

    #[test]
    fn it_finds_a_step_and_holds_within_half_of_one() {
        let mut bench = Bench::new(LawKind::Cusum, 4, 1000);
        (0..200).for_each(|_| assert_eq!(bench.round(1, &like(1150)), (1, Why::Unsure)));
        let mut bench = Bench::new(LawKind::Cusum, 4, 1000);
        let found = (1..30).find(|_| bench.round(1, &like(640)) == (2, Why::BelowBand));
        assert!(found.is_some_and(|rounds| (2..15).contains(&rounds)), "{found:?}");
        assert_eq!(bench.round(2, &like(640)).1, Why::Unsure, "it begins again after a move");
    }

    #[test]
    fn a_higher_threshold_takes_longer() {
        let rounds = |threshold| {
            let mut bench = Bench::new(LawKind::Cusum, 4, 1000).with("threshold", threshold);
            (1..200).find(|_| bench.round(1, &like(2000)) == (0, Why::AboveBand)).unwrap()
        };
        assert!(rounds(2_000_000) < rounds(5_000_000) && rounds(5_000_000) < rounds(20_000_000));
    }
}
