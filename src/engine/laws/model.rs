//! `model`: keeps a belief about every rung, and goes to the one expected nearest to the target.
//!
//! It jumps over any number of rungs. It holds unless another rung is nearer by more than `gain` and this rung's error is
//! more than `z` standard deviations from zero. Neither `slack` nor `over` matters.
//!
//! # Theory
//!
//! See `ladder` for the belief. Beside [`stride`](mod@super::stride) it remembers each rung, so that an uneven ladder is learnt for
//! good; it pays with a belief in rungs that were read long ago. The continual reassessment of O'Quigley, Pepe and Fisher (1990) with a
//! move wherever the posterior mean says so; the control study for the constants.

use super::cusum::RATIO;
use super::dither::{Dither, Near};
use super::ladder::Beliefs;
use super::real::{from_micros, real};
use super::tuning::{Knob, Values};
use crate::engine::law::{Belief, Decision, Evidence, Law, LawState, Reading, Why};

/// What can be set.
pub(super) const KNOBS: [Knob; 4] = [
    RATIO,
    Knob {
        name: "drift",
        about: "how far the level may move in a round, nats",
        usual: 50_000,
        least: 0,
        most: 1_000_000,
        whole: false,
    },
    Knob {
        name: "gain",
        about: "by how much nearer a rung must be expected to be moved to, nats",
        usual: 100_000,
        least: 0,
        most: 2_000_000,
        whole: false,
    },
    Knob {
        name: "z",
        about: "standard deviations that the error must be from zero",
        usual: 1_000_000,
        least: 0,
        most: 10_000_000,
        whole: false,
    },
];

/// Goes to the rung expected nearest.
#[derive(Clone, Debug)]
pub struct Model {
    ladder: Nearest,
}

impl Model {
    /// With these values of its knobs.
    pub(super) fn new(values: &Values) -> Self {
        Self { ladder: Nearest::new(values) }
    }
}

impl Law for Model {
    fn name(&self) -> &'static str {
        "model"
    }
    fn decide(&mut self, reading: &Reading<'_>) -> Decision {
        self.ladder.decide(reading, None)
    }
    fn reads_logs(&self) -> bool {
        true
    }
    fn save(&self) -> LawState {
        let mut state = LawState::default();
        self.ladder.beliefs.save(&mut state);
        state
    }
    fn restore(&mut self, state: &LawState) {
        self.ladder.beliefs.restore(state);
    }
}

/// What `model` and `hybrid` do.
#[derive(Clone, Debug)]
pub(super) struct Nearest {
    pub(super) beliefs: Beliefs,
    pub(super) dither: Dither,
    slope: f64,
    drift: f64,
    gain: f64,
    z: f64,
}

impl Nearest {
    pub(super) fn new(values: &Values) -> Self {
        let [ratio, drift, gain, z, ..] = values.map(from_micros);
        Self { beliefs: Beliefs::default(), dither: Dither::default(), slope: libm::log(ratio), drift, gain, z }
    }

    /// `width`: that of the dither where two rungs may take turns.
    pub(super) fn decide(&mut self, reading: &Reading<'_>, width: Option<f64>) -> Decision {
        let evidence = Evidence::read(reading);
        let Some(seen) = self.beliefs.observe(reading, self.slope, self.drift) else {
            return Decision { to: reading.rung, why: Why::EmptyRound, evidence };
        };
        let spent = real(reading.round.output.count()) * 1e6 / real(reading.band.target().micros());
        self.dither.spent(seen.turns, spent);
        let beliefs = &self.beliefs;
        let (here, best) = (beliefs.here, beliefs.nearest());
        let (error, sd) = (beliefs.error(here), beliefs.sd(here));
        let gain = error.abs() - beliefs.error(best).abs();
        let evidence = evidence.believing(Belief::new(error, sd).with(None, Some(gain)));
        let (place, why) = match width.and_then(|width| self.between(best, width)) {
            Some(other) => (other, Why::Between),
            None if best == here && self.past_end(here, error) => (here, Why::PastEnd),
            None if best == here => (here, Why::Nearest),
            None if gain <= self.gain => (here, Why::LittleGain),
            None if error.abs() <= self.z * sd => (here, Why::Unsure),
            None => (best, Why::Nearer),
        };
        let rungs = reading.rungs.count();
        let to = reading.rungs.rung(rungs - 1 - place).unwrap_or(reading.rung);
        Decision { to, why, evidence }
    }

    /// Whether the target lies more than half a step past the end that the rung is at.
    fn past_end(&self, here: usize, error: f64) -> bool {
        let (below, above) = self.beliefs.astride();
        let half = self.slope / 2.0;
        (error < -half && above.is_none()) || (error > half && below.is_none() && here == 0)
    }

    /// The rung to run, where no rung is expected in the band and one lies on either side of the target.
    fn between(&self, best: usize, width: f64) -> Option<usize> {
        let beliefs = &self.beliefs;
        let error = beliefs.error(best);
        let (below, above) = beliefs.astride();
        if error >= beliefs.aim.low && error <= beliefs.aim.high {
            return None;
        }
        let near = |place: usize| Near { place, error: beliefs.error(place) };
        Some(self.dither.choose(beliefs.here, near(below?), near(above?), width))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::laws::LawKind;
    use crate::engine::laws::testing::Bench;

    #[test]
    fn it_jumps_to_the_nearest_and_remembers_rungs() {
        let mut bench = Bench::new(LawKind::Model, 6, 2048);
        assert_eq!(bench.round(1, &[800; 20]), (3, Why::Nearer));
        // the rung is uneven: 1.3 of what was expected, and the one below is nearer to the target
        for _ in 0..20 {
            bench.round(3, &[3400; 20]);
        }
        assert_eq!(bench.round(3, &[3400; 20]).0, 2);
        let before = bench.round(2, &[2048; 20]);
        assert_eq!(before, (2, Why::Nearest));
        for _ in 0..100 {
            assert_eq!(bench.round(2, &[2000; 20]).0, 2);
        }
    }

    #[test]
    fn a_target_past_an_end_is_told() {
        let mut bench = Bench::new(LawKind::Model, 3, 90_000);
        assert_eq!(bench.round(0, &[500; 20]).0, 2);
        assert_eq!(bench.round(2, &[1500; 20]), (2, Why::PastEnd));
        let mut bench = Bench::new(LawKind::Model, 3, 10);
        assert_eq!(bench.round(2, &[1500; 20]).0, 0);
        assert_eq!(bench.round(0, &[500; 20]), (0, Why::PastEnd));
    }
}
