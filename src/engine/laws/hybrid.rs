//! `hybrid`: `model`, which runs the two rungs around the target in turn where none is expected in the band.
//!
//! For totals: what is spent over many rounds is what was asked for, at the price of many moves. `slack` decides when a
//! rung is near enough to be held.
//!
//! # Theory
//!
//! [`model`](mod@super::model) for the belief, `dither` for the turns: hold where the best rung's expected error lies in the band, else
//! first-order sigma-delta between its neighbours. Between rungs the block error falls to a third, and on a rung it is `model` exactly.

use super::dither::WIDTH;
use super::model::{self, Nearest};
use super::real::from_micros;
use super::tuning::{Knob, Values};
use crate::engine::law::{Decision, Law, LawState, Reading};

/// What can be set.
pub(super) const KNOBS: [Knob; 5] = {
    let [ratio, drift, gain, z] = model::KNOBS;
    [ratio, drift, gain, z, WIDTH]
};

/// Holds a rung in the band, or runs two in turn.
#[derive(Clone, Debug)]
pub struct Hybrid {
    ladder: Nearest,
    width: f64,
}

impl Hybrid {
    /// With these values of its knobs.
    pub(super) fn new(values: &Values) -> Self {
        Self { ladder: Nearest::new(values), width: from_micros(values[4]) }
    }
}

impl Law for Hybrid {
    fn name(&self) -> &'static str {
        "hybrid"
    }
    fn decide(&mut self, reading: &Reading<'_>) -> Decision {
        self.ladder.decide(reading, Some(self.width))
    }
    fn reads_logs(&self) -> bool {
        true
    }
    fn save(&self) -> LawState {
        let mut state = LawState::default();
        self.ladder.beliefs.save(&mut state);
        self.ladder.dither.save(&mut state);
        state
    }
    fn restore(&mut self, state: &LawState) {
        self.ladder.beliefs.restore(state);
        self.ladder.dither.restore(state);
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::laws::LawKind;
    use crate::engine::laws::testing::{Bench, like};

    use crate::engine::Why;

    #[test]
    fn between_two_rungs_it_takes_turns_and_on_one_it_is_model() {
        let mut bench = Bench::new(LawKind::Hybrid, 6, 2048);
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

        let (mut hybrid, mut model) = (Bench::new(LawKind::Hybrid, 6, 2048), Bench::new(LawKind::Model, 6, 2048));
        for size in [2048, 1900, 2200, 2100, 2000, 2150, 2048] {
            assert_eq!(hybrid.round(3, &like(size)), model.round(3, &like(size)));
        }
    }
}
