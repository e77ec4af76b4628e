//! `reset`: the original rule on the turns since the last move.
//!
//! As [`reference`](mod@super::reference), but a real move empties the window, so that no turn of another rung is ever read;
//! an attempt past an end of the ladder is no move and empties nothing. With a window that is long beside a round it
//! gathers evidence over many sessions on one rung, which is most of what the original lacks.
//!
//! # Theory
//!
//! Without mixing there is no limit cycle of period 2*W*: a rung whose mean lies in the band is left only by luck, and the
//! longer the stay, the smaller that luck: after *R* rounds of *n* turns the variance of the log mean is about
//! (ln(1 + c^2) / n + tau^2) / *R*. Where no window outlasts a round it is `reference` exactly, which is a test.

use super::reference;
use crate::engine::law::{Decision, Law, Memory, Reading};

/// The original rule on the turns since the last move. Remembers nothing but where the window begins, which the governor
/// holds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reset;

impl Law for Reset {
    fn name(&self) -> &'static str {
        "reset"
    }

    #[inline]
    fn decide(&mut self, reading: &Reading<'_>) -> Decision {
        reference::step(reading)
    }

    fn memory(&self) -> Memory {
        Memory::SinceMove
    }
}
