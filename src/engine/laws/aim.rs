//! The target and the edges of the band on the log scale, worked out once and not in every round.

use super::real::real;
use crate::engine::band::Band;
use crate::engine::law::Reading;
use crate::engine::units::Target;

/// Logarithms of a target and its edges, in nats.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Aim {
    known: Option<Band>,
    /// Whether there was a target before.
    seen: bool,
    /// ln of the target in tokens per turn.
    pub(super) ln: f64,
    /// ln of the lower edge over the target, below zero; far below where the band reaches down to nothing.
    pub(super) low: f64,
    /// ln of the upper edge over the target.
    pub(super) high: f64,
}

impl Aim {
    /// An aim whose target had this logarithm when it was put down; its edges are looked at again.
    pub(super) const fn resumed(ln: f64) -> Self {
        Self { known: None, seen: true, ln, low: 0.0, high: 0.0 }
    }

    /// Of a reading's band. By how much ln of the target has changed since the last one is given.
    #[inline]
    pub(super) fn at(&mut self, reading: &Reading<'_>) -> f64 {
        if self.known.as_ref().is_some_and(|known| known == reading.band) {
            return 0.0;
        }
        self.look(reading)
    }

    #[cold]
    fn look(&mut self, reading: &Reading<'_>) -> f64 {
        let before = self.seen.then_some(self.ln);
        (self.known, self.seen) = (Some(*reading.band), true);
        self.ln = ln_tokens(reading.band.target());
        let edge = |tokens: f64| if tokens > 0.0 { libm::log(tokens) - self.ln } else { -FAR };
        (self.low, self.high) = (edge(reading.band.low().tokens()), edge(reading.band.high().tokens()));
        before.map_or(0.0, |before| self.ln - before)
    }
}

/// An error that no rung has.
const FAR: f64 = 1e9;

/// ln of a target in tokens; of the least that can be written where it is zero, which no band has.
pub(super) fn ln_tokens(target: Target) -> f64 {
    libm::log(real(target.micros().max(1)) / 1e6)
}
