//! `stride`: goes to the rung that is expected nearest to the target, over any number of rungs at once.
//!
//! Two numbers are known with their covariance: ln of this rung's tokens over the target, and ln of one step. A reading
//! corrects both; the nearest rung follows. It moves where that is nearer by more than `gain`, or by anything to a rung
//! that was never tried. There is no window and no slack: `over` and `slack` change nothing.
//!
//! # Theory
//!
//! If all rungs show the same multiplicative noise and the ladder's shape is known, every rung is as informative about
//! the level, so that there is nothing to gain by exploring and the rung with the best posterior is optimal; a move
//! costs nothing by itself, so demanding certainty loses. What is left is to know the level: see `track` for the filter
//! and [`estimate`](super::estimate) for the reading. The hysteresis `gain` bounds how often two rungs as good as each other
//! take turns. `drift` says how fast the level may move: too small and a changed load is followed late, too large and noise is
//! followed.
//!
//! It takes the ladder for monotone, and watches whether it is: a move after which the size went the wrong way is told
//! (`backwards`), and where the moves together say that the ladder is upside down it is taken the other way round; at an end of the
//! ladder that it wants past it steps back once (`probe`) if no move has shown yet that harder is more. Two swapped rungs next to the target are seldom noticed,
//! since a move over both goes the right way: a pilot that visits each rung once finds them. Sources: Kalman (1960); the control study.

use super::dither::{self, Dither, Near};
use super::real::{from_micros, place, real, whole};
use super::track::Track;
use super::tuning::{Knob, Values};
use crate::engine::law::{Belief, Decision, Evidence, Law, LawState, Reading, Why};

/// What can be set.
pub(super) const KNOBS: [Knob; 5] = [DRIFT, GAIN, dither::ON, dither::WIDTH, AMEND];

const DRIFT: Knob = Knob {
    name: "drift",
    about: "how far the level may move in a round, nats",
    usual: 30_000,
    least: 0,
    most: 1_000_000,
    whole: false,
};
/// The hysteresis.
pub(super) const GAIN: Knob = Knob {
    name: "gain",
    about: "by how much nearer a rung must be expected to be moved to, nats",
    usual: 80_000,
    least: 0,
    most: 2_000_000,
    whole: false,
};

/// Whether what was read is corrected.
pub(super) const AMEND: Knob = Knob {
    name: "amend",
    about: "1: what was read before is corrected as each rung's ratio of means is learnt",
    usual: 1_000_000,
    least: 0,
    most: 1_000_000,
    whole: true,
};

/// Where no rung is expected this near, in nats, and the neighbours are known this well, two of them may take turns.
const FAR: f64 = 0.14;
const SURE: f64 = 0.35;

/// Goes to the nearest rung.
#[derive(Clone, Debug)]
pub struct Stride {
    walk: Walk,
}

impl Stride {
    /// With these values of its knobs.
    pub(super) fn new(values: &Values) -> Self {
        Self { walk: Walk::new(false, values) }
    }
}

impl Law for Stride {
    fn name(&self) -> &'static str {
        "stride"
    }
    fn decide(&mut self, reading: &Reading<'_>) -> Decision {
        self.walk.decide(reading)
    }
    fn reads_logs(&self) -> bool {
        true
    }
    fn save(&self) -> LawState {
        self.walk.save()
    }
    fn restore(&mut self, state: &LawState) {
        self.walk.restore(state);
    }
}

/// What both strides do.
#[derive(Clone, Debug)]
pub(super) struct Walk {
    track: Track,
    dither: Dither,
    drift: f64,
    gain: f64,
    dithers: bool,
    width: f64,
}

impl Walk {
    pub(super) fn new(rated: bool, values: &Values) -> Self {
        let [drift, gain, dithers, width, amends, ..] = *values;
        Self {
            track: Track::new(rated, amends > 0),
            dither: Dither::default(),
            drift: from_micros(drift),
            gain: from_micros(gain),
            dithers: dithers > 0,
            width: from_micros(width),
        }
    }

    pub(super) fn decide(&mut self, reading: &Reading<'_>) -> Decision {
        let evidence = Evidence::read(reading);
        let Some(seen) = self.track.observe(reading, self.drift) else {
            return Decision { to: reading.rung, why: Why::EmptyRound, evidence };
        };
        let (here, rungs) = self.track.at();
        let (x, g) = (self.track.x, self.track.g);
        let wanted = whole(-x / g);
        let there = offset(here, wanted).min(rungs - 1);
        let gain = x.abs() - (x + (place(there) - place(here)) * g).abs();
        let belief = Belief::new(x, libm::sqrt(self.track.spread.xx)).with(Some(g), Some(gain));
        let evidence = evidence.believing(belief);
        let spent = real(reading.round.output.count()) * 1e6 / real(reading.band.target().micros());
        self.dither.spent(seen.turns, spent);
        let (place, why) = match self.between(here, rungs) {
            Some(other) => (other, Why::Between),
            None if there == here && wanted == 0 => (here, Why::Nearest),
            None if there == here => (here, Why::PastEnd),
            None if gain > self.gain || (gain > 0.0 && !self.track.tried(there)) => (there, Why::Nearer),
            None => (here, Why::LittleGain),
        };
        let (place, why) = match self.track.probe().filter(|_| place == here) {
            Some(back) => (back, Why::Probe),
            None if self.track.against => (place, Why::Backwards),
            None => (place, why),
        };
        let to = reading.rungs.rung(self.track.turned(place)).unwrap_or(reading.rung);
        Decision { to, why, evidence }
    }

    /// The rung to run where the target lies between two and they may take turns.
    fn between(&self, here: usize, rungs: usize) -> Option<usize> {
        let (x, g, spread) = (self.track.x, self.track.g, &self.track.spread);
        if !self.dithers || spread.xx + spread.gg >= SURE * SURE {
            return None;
        }
        let below = offset(here, whole(libm::floor(-x / g)));
        let near = |at: usize| Near { place: at, error: x + (place(at) - place(here)) * g };
        let (below, above) = (near(below), near(below + 1));
        let astride = below.error <= -FAR && above.error >= FAR && above.place < rungs;
        astride.then(|| self.dither.choose(here, below, above, self.width))
    }

    pub(super) fn save(&self) -> LawState {
        let mut state = self.track.save();
        if self.dithers {
            self.dither.save(&mut state);
        }
        state
    }

    pub(super) fn restore(&mut self, state: &LawState) {
        self.track.restore(state);
        self.dither.restore(state);
    }
}

/// The place `by` rungs from `here`; the softest where that lies past the soft end.
fn offset(here: usize, by: i64) -> usize {
    let by = isize::try_from(by).unwrap_or(0);
    here.checked_add_signed(by).unwrap_or(if by < 0 { 0 } else { usize::MAX })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::laws::testing::{Bench, like, reading, sums};
    use crate::engine::laws::{LawKind, Tuning};
    use crate::engine::{Band, Ratio, Rungs, Target};
    use proptest::prelude::*;

    /// The control study's worked example: the turns of each round, and x, g, their covariance and the next rung from the softest.
    const EXAMPLE: [(&[u64], [f64; 5], usize); 7] = [
        (&[500, 700, 1100, 640, 900], [-0.717_186, 0.470_000, 0.184_941, 0.0, 0.040_000], 3),
        (&[2500, 1900, 1300, 4000], [0.310_014, 0.489_604, 0.130_803, 0.029_407, 0.031_126], 2),
        (&[1800, 2600, 900, 3100, 1500, 2200], [-0.039_463, 0.487_492, 0.066_151, -0.000_997, 0.033_615], 2),
        (&[], [-0.039_463, 0.487_492, 0.066_151, -0.000_997, 0.033_615], 2),
        (&[1200, 1700, 2100], [-0.033_077, 0.487_397, 0.049_641, -0.000_738, 0.033_611], 2),
        (&[6000, 5200, 7100, 4800], [0.201_556, 0.483_970, 0.041_379, -0.000_604, 0.033_609], 2),
        (&[6400, 5900, 4400], [0.360_295, 0.481_701, 0.035_552, -0.000_508, 0.033_608], 1),
    ];

    /// The study's law does not amend what was read.
    #[test]
    fn the_worked_example_comes_out_to_six_digits() {
        let band = Band::new(Target::from_tokens(2048), Ratio::from_ppm(150_000)).unwrap();
        let rungs = Rungs::new(6).unwrap();
        let mut tuning = Tuning::USUAL;
        tuning.set(LawKind::Stride, "amend", 0).unwrap();
        let mut law = Walk::new(false, tuning.values(LawKind::Stride));
        let mut at = 1;
        for (round, (turns, want, next)) in EXAMPLE.iter().enumerate() {
            let sums = sums(turns);
            let decision = law.decide(&reading(&band, rungs, 5 - at, &sums));
            let Track { x, g, spread, .. } = &law.track;
            for (got, want) in [*x, *g, spread.xx, spread.xg, spread.gg].into_iter().zip(want) {
                assert!((got - want).abs() < 0.51e-6, "round {round}: {got} for {want}");
            }
            at = 5 - decision.to.index();
            assert_eq!(at, *next, "round {round}");
        }
    }

    #[test]
    fn it_says_why() {
        let mut bench = Bench::new(LawKind::Stride, 6, 2048);
        assert_eq!(bench.round(1, &[500, 700, 1100, 640, 900]), (3, Why::Nearer));
        assert_eq!(bench.round(3, &[2000; 20]), (3, Why::Nearest));
        assert_eq!(bench.round(3, &[]), (3, Why::EmptyRound));
        let mut bench = Bench::new(LawKind::Stride, 3, 90_000);
        assert_eq!(bench.round(0, &[500; 20]), (2, Why::Nearer));
        assert_eq!(bench.round(2, &[1500; 20]), (2, Why::PastEnd));
        let mut alone = Bench::new(LawKind::Stride, 1, 90_000);
        assert_eq!(alone.round(0, &[500; 20]), (0, Why::PastEnd));
    }

    #[test]
    fn a_new_target_is_a_shift() {
        let mut bench = Bench::new(LawKind::Stride, 6, 2048);
        (0..20).for_each(|_| assert_eq!(bench.round(3, &like(2048)).0, 3));
        bench.aim(2048 * 256 / 100);
        assert_eq!(bench.round(3, &like(2048)), (5, Why::Nearer));
    }

    #[test]
    fn a_level_that_jumps_is_found_in_three_rounds() {
        let mut bench = Bench::new(LawKind::Stride, 6, 2048);
        (0..60).for_each(|_| assert_eq!(bench.round(3, &like(2048)).0, 3));
        let found = (0..9).position(|_| bench.round(3, &like(4096)).0 < 3);
        assert!(found.is_some_and(|rounds| rounds <= 2), "{found:?}");
    }

    #[test]
    fn dither_makes_up_for_what_the_other_rung_left() {
        let mut bench = Bench::new(LawKind::Stride, 6, 2048).with("dither", 1_000_000);
        let (mut at, mut sum, mut turns, mut between) = (2, 0, 0, 0);
        for round in 0..200 {
            let size = if at >= 3 { 2590 } else { 1620 };
            let (next, why) = bench.round(at, &[size; 20]);
            if round >= 20 {
                (sum, turns) = (sum + size * 20, turns + 20);
                between += u32::from(why == Why::Between);
            }
            at = next;
        }
        let mean = f64::from(u32::try_from(sum).unwrap()) / f64::from(turns);
        assert!(between > 150 && libm::log(mean / 2048.0).abs() < 0.02, "{between} {mean}");
    }

    /// A ladder whose places have these sizes, from the softest word: where it ends up, and whether it was said that effort acts
    /// the wrong way.
    fn led(sizes: [u64; 6], start: usize) -> (usize, bool) {
        let mut bench = Bench::new(LawKind::Stride, 6, 2048);
        let (mut at, mut said) = (start, false);
        for _ in 0..40 {
            let (next, why) = bench.round(at, &like(sizes[at]));
            said |= why == Why::Backwards;
            at = next;
        }
        (at, said)
    }

    #[test]
    fn a_ladder_upside_down_is_told_and_taken_the_other_way_round() {
        for start in [1, 3, 4] {
            assert_eq!(led([5243, 3277, 2048, 1280, 800, 500], start), (2, true), "{start}");
        }
        for start in 0..6 {
            assert_eq!(led([500, 800, 1280, 2048, 3277, 5243], start), (3, false), "{start}");
        }
    }

    proptest! {
        #[test]
        fn whatever_it_reads_it_stays_finite_and_on_the_ladder(
            rungs in 1usize..65, rounds in prop::collection::vec((0usize..64, prop::collection::vec(0u64..1 << 40, 0..6)), 1..40)
        ) {
            for law in [LawKind::Stride, LawKind::Stride3] {
                let mut bench = Bench::new(law, rungs, 2048);
                for (at, turns) in &rounds {
                    let (next, _) = bench.round(at % rungs, turns);
                    prop_assert!(next < rungs);
                    prop_assert!(bench.belief().is_none_or(|belief| belief.sd < i64::MAX && belief.error.abs() < i64::MAX));
                }
            }
        }
    }
}
