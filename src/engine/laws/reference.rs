//! `reference`: the original rule, one rung a round towards the band.
//!
//! With *m* the mean output per turn over the window: no turn, or *m* = 0, moves nothing; *m* under the lower edge goes
//! one rung harder; *m* over the upper edge one rung softer; a tie with either edge moves nothing. Source: the seed page
//! on fixed juice and the recorded runs of the original.
//!
//! # Theory
//!
//! It is an up-and-down design: an integrator of one rung a round behind a dead band. A rung can rest only where its mean
//! lies in the band, which for every target needs slack >= (r - 1) / (r + 1), r being the ratio of neighbouring rungs.
//! The reading's noise moves it all the same: with *n* turns of coefficient of variation *c* in the window and a session
//! spread tau, the log of the mean has variance ln(1 + c^2/n) + tau^2, and at the usual 7 to 20 turns a slack of .15 is
//! passed by luck in half of the rounds or more. A window that spans *W* >= 2 rounds mixes rungs and cycles with period
//! 2*W* without any noise. Where each round is read alone the rungs visited are a birth-death chain, which is how the
//! simulator is checked.

use crate::engine::law::{Decision, Evidence, Law, Reading, Why};
use crate::engine::units::Tokens;

/// The original rule. Remembers nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reference;

impl Law for Reference {
    fn name(&self) -> &'static str {
        "reference"
    }

    #[inline]
    fn decide(&mut self, reading: &Reading<'_>) -> Decision {
        step(reading)
    }
}

/// One rung towards the band.
#[inline(always)]
pub(super) fn step(reading: &Reading<'_>) -> Decision {
    let hold = |why, evidence| Decision { to: reading.rung, why, evidence };
    let Some(mean) = reading.window.mean() else {
        return hold(Why::NoTurns, Evidence::default());
    };
    if mean.total() == Tokens::ZERO {
        return hold(Why::ZeroMean, Evidence::of(Some(mean), None));
    }
    // looked up and not branched on: which side it is cannot be predicted
    let side = reading.band.side(mean);
    let place = side as usize;
    let why = [Why::BelowBand, Why::WithinBand, Why::AboveBand][place];
    let to = [reading.rung.harder(), reading.rung, reading.rung.softer()][place];
    Decision { to, why, evidence: Evidence::of(Some(mean), Some(side)) }
}
