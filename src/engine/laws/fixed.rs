//! `fixed`: holds the rung that it started on. The floor that a law must beat, and the loop without a governor.

use crate::engine::law::{Decision, Evidence, Law, Reading, Why};

/// Never moves. Remembers nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fixed;

impl Law for Fixed {
    fn name(&self) -> &'static str {
        "fixed"
    }

    #[inline]
    fn decide(&mut self, reading: &Reading<'_>) -> Decision {
        let mean = reading.window.mean();
        let side = mean.map(|mean| reading.band.side(mean));
        Decision { to: reading.rung, why: Why::Fixed, evidence: Evidence::of(mean, side) }
    }
}
