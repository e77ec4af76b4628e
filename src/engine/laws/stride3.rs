//! `stride3`: `stride` that also knows how fast the level drifts.
//!
//! For a load that ramps, so that a rung that was right is left on time. Costs a point on the loops of the random family that do not drift, and nothing on the scenarios.
//!
//! # Theory
//!
//! The filter of [`stride`](mod@super::stride) with a third number d, the change of x in a round, beginning at zero with a standard
//! deviation of 0.008 and free to wander by 0.0001 in a round; the level's own drift is taken for smaller in return. A
//! filter with a level alone lags behind a ramp of slope b by about b over its gain; with the rate the lag goes to zero.
//! A round without turns does not move d on. Source: the linear-growth model of West and Harrison, *Bayesian Forecasting and Dynamic
//! Models* (1997). Four constants are not the control study's, but were tuned on one random family and judged on another: the rate's
//! 0.004 to 0.008 and 0.0003 to 0.0001, `drift` 0.02 to 0.016, `gain` 0.08 to 0.06.

use super::dither;
use super::stride::{self, Walk};
use super::tuning::{Knob, Values};
use crate::engine::law::{Decision, Law, LawState, Reading};

/// What can be set.
pub(super) const KNOBS: [Knob; 5] = [DRIFT, GAIN, dither::ON, dither::WIDTH, stride::AMEND];

const DRIFT: Knob = Knob {
    name: "drift",
    about: "how far the level may move in a round beside its rate, nats",
    usual: 16_000,
    least: 0,
    most: 1_000_000,
    whole: false,
};
const GAIN: Knob = Knob { usual: 60_000, ..stride::GAIN };

/// Goes to the nearest rung, with a rate of drift.
#[derive(Clone, Debug)]
pub struct Stride3 {
    walk: Walk,
}

impl Stride3 {
    /// With these values of its knobs.
    pub(super) fn new(values: &Values) -> Self {
        Self { walk: Walk::new(true, values) }
    }
}

impl Law for Stride3 {
    fn name(&self) -> &'static str {
        "stride3"
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
