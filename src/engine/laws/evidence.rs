//! `evidence`: one rung towards the target once the rounds of this stay leave little doubt.
//!
//! A stay is the run of rounds since the last move. It moves where the log error lies outside the slack *and* is more
//! than `z` standard errors from zero. `slack` decides; `over` does not: the last [`ROUNDS`] rounds of the stay count, whatever their age.
//!
//! # Theory
//!
//! The cumulative cohort design of Ivanova, Flournoy and Chung (2007), an interval design as BOIN (Liu and Yuan 2015): all
//! data at the present dose against fixed limits. With R rounds of n turns the standard error is that of (s^2/n + tau^2) / R, so
//! that it takes (2 z / ln r)^2 (s^2/n + tau^2) rounds to tell half a step of ratio r. It is insensitive to its knobs
//! (z from 1.5 to 3) and assumes nothing about the ladder but its order; what it pays is one rung a move, and data thrown
//! away at each. Every round's mean is read by [`estimate`](super::estimate).

use super::aim::Aim;
use super::estimate::Estimator;
use super::real::from_micros;
use super::track::small;
use super::tuning::{Knob, Values};
use crate::engine::law::{Belief, Decision, Evidence as Grounds, Law, LawState, Reading, Why};

/// What can be set.
pub(super) const KNOBS: [Knob; 1] = [Knob {
    name: "z",
    about: "standard errors that the error must be from zero",
    usual: 2_000_000,
    least: 0,
    most: 10_000_000,
    whole: false,
}];

/// Rounds of a stay that are remembered.
pub const ROUNDS: usize = 20;

/// Moves on evidence.
#[derive(Clone, Debug)]
pub struct Evidence {
    z: f64,
    estimator: Estimator,
    aim: Aim,
    /// Turns and mean ln of the rounds of this stay, the oldest first.
    stay: [(f64, f64); ROUNDS],
    count: usize,
    rung: usize,
    rungs: usize,
}

impl Evidence {
    /// With these values of its knobs.
    pub(super) fn new(values: &Values) -> Self {
        Self {
            z: from_micros(values[0]),
            estimator: Estimator::default(),
            aim: Aim::default(),
            stay: [(0.0, 0.0); ROUNDS],
            count: 0,
            rung: 0,
            rungs: 0,
        }
    }

    fn remember(&mut self, turns: f64, ln_mean: f64) {
        if self.count == ROUNDS {
            self.stay.copy_within(1.., 0);
            self.count -= 1;
        }
        self.stay[self.count] = (turns, ln_mean);
        self.count += 1;
    }
}

impl Law for Evidence {
    fn name(&self) -> &'static str {
        "evidence"
    }

    fn decide(&mut self, reading: &Reading<'_>) -> Decision {
        let grounds = Grounds::read(reading);
        let hold = |why, evidence| Decision { to: reading.rung, why, evidence };
        let (rung, rungs) = (reading.rung.index(), reading.rungs.count());
        if self.rungs != rungs {
            self.estimator.new_ladder();
            (self.rungs, self.count) = (rungs, 0);
        }
        if self.rung != rung {
            (self.rung, self.count) = (rung, 0);
        }
        self.aim.at(reading);
        let Some(seen) = self.estimator.observe(rung, rungs, &reading.round) else {
            return hold(Why::EmptyRound, grounds);
        };
        self.remember(seen.turns, seen.ln_mean);
        let (mut weights, mut sum) = (0.0, 0.0);
        for (turns, ln_mean) in &self.stay[..self.count] {
            let weight = 1.0 / (seen.within / turns + seen.between);
            weights += weight;
            sum += ln_mean * weight;
        }
        let (error, se) = (sum / weights + seen.lift - self.aim.ln, libm::sqrt(1.0 / weights));
        let grounds = grounds.believing(Belief::new(error, se));
        let (below, above) = (error < self.aim.low, error > self.aim.high);
        if !below && !above {
            return hold(Why::WithinBand, grounds);
        }
        if error.abs() <= self.z * se {
            return hold(Why::Unsure, grounds);
        }
        let (to, why) =
            if below { (reading.rung.harder(), Why::BelowBand) } else { (reading.rung.softer(), Why::AboveBand) };
        Decision { to, why, evidence: grounds }
    }

    fn reads_logs(&self) -> bool {
        true
    }

    fn save(&self) -> LawState {
        let mut state = LawState::default();
        self.estimator.save(&mut state);
        for (place, (turns, ln_mean)) in self.stay[..self.count].iter().enumerate() {
            state.set_real(&alloc::format!("stay.{place}.turns"), *turns);
            state.set_real(&alloc::format!("stay.{place}.ln"), *ln_mean);
        }
        state.set("stay", self.count as u64);
        state.set("rung", self.rung as u64);
        state.set("rungs", self.rungs as u64);
        state
    }

    fn restore(&mut self, state: &LawState) {
        self.estimator.restore(state);
        self.rung = small(state, "rung").unwrap_or(0);
        self.rungs = small(state, "rungs").unwrap_or(0);
        self.count = 0;
        for place in 0..small(state, "stay").unwrap_or(0).min(ROUNDS) {
            let of = |what| state.real(&alloc::format!("stay.{place}.{what}")).filter(|value: &f64| value.abs() < 1e9);
            if let (Some(turns), Some(ln_mean)) = (of("turns").filter(|turns| *turns >= 1.0), of("ln")) {
                self.remember(turns, ln_mean);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::laws::LawKind;
    use crate::engine::laws::testing::{Bench, like};

    #[test]
    fn it_waits_until_little_doubt_is_left() {
        let mut bench = Bench::new(LawKind::Evidence, 4, 1000).slack(250_000);
        let first = bench.round(1, &like(640));
        assert_eq!(first, (1, Why::Unsure));
        let moved = (1..20).find(|_| bench.round(1, &like(640)) == (2, Why::BelowBand));
        assert!(moved.is_some_and(|rounds| (2..12).contains(&rounds)), "{moved:?}");
        assert_eq!(bench.round(2, &like(1000)), (2, Why::WithinBand), "the other rung's rounds are forgotten");
    }

    /// With nothing asked of the evidence and one round a stay, it is a dead band on the estimate.
    #[test]
    fn without_doubt_it_is_a_dead_band() {
        let mut bench = Bench::new(LawKind::Evidence, 9, 1000).slack(250_000).with("z", 0);
        for (round, level) in [640, 1600, 2000, 1000, 400, 800, 1250, 700].into_iter().enumerate() {
            // another rung each time, so that a stay is one round
            let at = if round % 2 == 0 { 3 } else { 5 };
            let (next, why) = bench.round(at, &like(level));
            let error = bench.belief().unwrap().error;
            let want = match error {
                ..-287_682 => (at + 1, Why::BelowBand),
                223_144.. => (at - 1, Why::AboveBand),
                _ => (at, Why::WithinBand),
            };
            assert_eq!((next, why), want, "{level}: {error}");
        }
    }

    #[test]
    fn only_the_last_rounds_of_a_stay_count() {
        let mut bench = Bench::new(LawKind::Evidence, 3, 1000).slack(250_000).with("z", 10_000_000);
        (0..50).for_each(|_| bench.past(1, &like(400)));
        (0..ROUNDS).for_each(|_| bench.past(1, &like(1000)));
        let error = bench.belief().unwrap().error;
        assert!(error.abs() < 60_000, "{error}");
    }
}
