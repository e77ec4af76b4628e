//! `integral`: the textbook's integral control on the ladder's log scale. A contrast, not a recommendation.
//!
//! A position u on the ladder moves by ki x the log error in steps of `ratio` each round; the rung is the nearest to u, with
//! `hysteresis`. It hunts where the target lies between rungs, and an error of luck moves u as much as a real one.
//!
//! # Theory
//!
//! u += ki e / ln r with u held on the ladder (anti-windup). The loop is a first-order filter of the error with time
//! constant 1/ki rounds: less luck than one reading, and as much lag. A quantised actuator behind an integrator has a limit cycle whatever
//! its tuning, unless a rung lies in the dead zone (McMillan). Every round's error is read by
//! [`estimate`](super::estimate).

use super::aim::Aim;
use super::cusum::RATIO;
use super::estimate::Estimator;
use super::real::{from_micros, place, whole};
use super::tuning::{Knob, Values};
use crate::engine::law::{Belief, Decision, Evidence, Law, LawState, Reading, Why};

/// What can be set.
pub(super) const KNOBS: [Knob; 3] = [
    Knob {
        name: "ki",
        about: "share of a round's error that is made up for",
        usual: 300_000,
        least: 1000,
        most: 4_000_000,
        whole: false,
    },
    RATIO,
    Knob {
        name: "hysteresis",
        about: "how far past half way the position must be, in rungs",
        usual: 150_000,
        least: 0,
        most: 10_000_000,
        whole: false,
    },
];

/// Integrates the error.
#[derive(Clone, Debug)]
pub struct Integral {
    ki: f64,
    step: f64,
    hysteresis: f64,
    estimator: Estimator,
    aim: Aim,
    /// The position from the hardest rung, and for a ladder of how many.
    at: Option<(f64, usize)>,
}

impl Integral {
    /// With these values of its knobs.
    pub(super) fn new(values: &Values) -> Self {
        let [ki, ratio, hysteresis, ..] = values.map(from_micros);
        let (estimator, aim) = (Estimator::default(), Aim::default());
        Self { ki, step: libm::log(ratio), hysteresis, estimator, aim, at: None }
    }
}

impl Law for Integral {
    fn name(&self) -> &'static str {
        "integral"
    }

    fn decide(&mut self, reading: &Reading<'_>) -> Decision {
        let evidence = Evidence::read(reading);
        let (rung, rungs) = (reading.rung.index(), reading.rungs.count());
        let here = place(rung);
        // where somebody else moved the rung, the position goes with it
        let known = self.at.filter(|(at, of)| *of == rungs && (at - here).abs() <= 0.5 + self.hysteresis + 1e-9);
        if known.is_none() && self.at.is_some_and(|(_, of)| of != rungs) {
            self.estimator.new_ladder();
        }
        let at = known.map_or(here, |(at, _)| at);
        self.at = Some((at, rungs));
        self.aim.at(reading);
        let Some(seen) = self.estimator.observe(rung, rungs, &reading.round) else {
            return Decision { to: reading.rung, why: Why::EmptyRound, evidence };
        };
        let error = seen.level - self.aim.ln;
        let evidence = evidence.believing(Belief::new(error, libm::sqrt(seen.variance)));
        let wanted = at + self.ki * error / self.step;
        let held = wanted.clamp(0.0, place(rungs - 1));
        self.at = Some((held, rungs));
        if (held - here).abs() <= 0.5 + self.hysteresis {
            let why = if (wanted - here).abs() > 0.5 + self.hysteresis { Why::PastEnd } else { Why::WithinBand };
            return Decision { to: reading.rung, why, evidence };
        }
        let to = usize::try_from(whole(held)).ok().and_then(|place| reading.rungs.rung(place));
        let why = if held < here { Why::BelowBand } else { Why::AboveBand };
        Decision { to: to.unwrap_or(reading.rung), why, evidence }
    }

    fn reads_logs(&self) -> bool {
        true
    }

    fn save(&self) -> LawState {
        let mut state = LawState::default();
        self.estimator.save(&mut state);
        if let Some((at, rungs)) = self.at {
            state.set_real("at", at);
            state.set("rungs", rungs as u64);
        }
        state
    }

    fn restore(&mut self, state: &LawState) {
        self.estimator.restore(state);
        let rungs = super::track::small(state, "rungs");
        self.at = state.real("at").filter(|at| (0.0..64.0).contains(at)).zip(rungs);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::laws::LawKind;
    use crate::engine::laws::testing::Bench;

    #[test]
    fn it_adds_up_errors_and_is_held_at_the_ends() {
        let mut bench = Bench::new(LawKind::Integral, 4, 1000);
        let mut at = 1;
        for _ in 0..12 {
            at = bench.round(at, &[100; 20]).0;
        }
        assert_eq!((at, bench.round(3, &[100; 20]).1), (3, Why::PastEnd));
        // not wound up: it leaves the end as soon as the error turns
        let left = (1..9).find(|_| bench.round(3, &[3000; 20]).0 < 3);
        assert!(left.is_some_and(|rounds| rounds <= 3), "{left:?}");
    }

    #[test]
    fn somebody_elses_move_takes_the_position_along() {
        let mut bench = Bench::new(LawKind::Integral, 6, 1000);
        assert_eq!(bench.round(1, &[800; 20]).0, 1);
        let (next, _) = bench.round(4, &[1000; 20]);
        assert!((3..=5).contains(&next), "{next}");
    }
}
