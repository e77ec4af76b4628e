//! `confirm`: the original rule, after so many readings on the same side of the band in a row.
//!
//! With `reset` (as it stands) the window holds the turns since the last move alone; without, and with one reading, it is
//! [`reference`](mod@super::reference) exactly, which is a test.
//!
//! # Theory
//!
//! k in a row is the up-and-down rule of Wetherill and Levitt (1965), and what autoscalers call stabilisation. If one
//! reading moves by luck with probability p to one side, k independent ones do so with p^k; but readings of one window
//! overlap, so that they are not independent and the gain is less. It answers k rounds late, to a real change too.

use super::reference;
use super::tuning::{Knob, Values};
use crate::engine::band::Side;
use crate::engine::law::{Decision, Law, LawState, Memory, Reading, Why};

/// What can be set.
pub(super) const KNOBS: [Knob; 2] = [
    Knob {
        name: "readings",
        about: "readings on the same side in a row before a move",
        usual: 3_000_000,
        least: 1_000_000,
        most: 100_000_000,
        whole: true,
    },
    Knob {
        name: "reset",
        about: "1: a move empties the window",
        usual: 1_000_000,
        least: 0,
        most: 1_000_000,
        whole: true,
    },
];

/// Readings on one side, and how many it takes.
#[derive(Clone, Copy, Debug)]
pub struct Confirm {
    needed: u32,
    resets: bool,
    side: Option<Side>,
    row: u32,
}

impl Confirm {
    /// With these values of its knobs.
    pub(super) const fn new(values: &Values) -> Self {
        let [readings, reset, ..] = *values;
        Self { needed: readings / 1_000_000, resets: reset > 0, side: None, row: 0 }
    }
}

impl Law for Confirm {
    fn name(&self) -> &'static str {
        "confirm"
    }

    #[inline]
    fn decide(&mut self, reading: &Reading<'_>) -> Decision {
        let decision = reference::step(reading);
        let outside = decision.why.asks_to_move();
        let side = decision.evidence.side.filter(|_| outside);
        self.row = if side == self.side { self.row.saturating_add(1) } else { 1 };
        self.side = side;
        if side.is_some() && self.row < self.needed {
            return Decision { to: reading.rung, why: Why::Unconfirmed, ..decision };
        }
        if side.is_some() {
            (self.side, self.row) = (None, 0);
        }
        decision
    }

    fn memory(&self) -> Memory {
        if self.resets { Memory::SinceMove } else { Memory::Sliding }
    }

    fn save(&self) -> LawState {
        let mut state = LawState::default();
        state.set("side", self.side.map_or(0, |side| side as u64 + 1));
        state.set("row", self.row.into());
        state
    }

    fn restore(&mut self, state: &LawState) {
        self.side = match state.get("side") {
            Some(1) => Some(Side::Below),
            Some(3) => Some(Side::Above),
            Some(_) | None => None,
        };
        self.row = u32::try_from(state.get("row").unwrap_or(0)).unwrap_or(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::laws::LawKind;
    use crate::engine::laws::testing::Bench;

    #[test]
    fn it_takes_so_many_readings_in_a_row() {
        let mut bench = Bench::new(LawKind::Confirm, 3, 1000);
        let why: Vec<Why> = [500, 500, 1000, 500, 500, 2000, 500, 500].map(|turn| bench.round(1, &[turn]).1).to_vec();
        assert!(why.iter().all(|why| matches!(why, Why::Unconfirmed | Why::WithinBand)), "{why:?}");
        assert_eq!(bench.round(1, &[500]), (2, Why::BelowBand));
        assert_eq!(bench.round(2, &[500]), (2, Why::Unconfirmed), "a move begins the row again");
    }

    #[test]
    fn one_reading_in_a_row_is_the_original() {
        let turns = [500, 1200, 1000, 0, 851, 849, 1150, 1151, 3000];
        for (reset, other) in [(0, LawKind::Reference), (1_000_000, LawKind::Reset)] {
            let mut bench = Bench::new(LawKind::Confirm, 3, 1000).with("readings", 1_000_000).with("reset", reset);
            let mut plain = Bench::new(other, 3, 1000);
            assert_eq!(bench.law.memory(), plain.law.memory());
            for turn in turns {
                assert_eq!(bench.round(1, &[turn]), plain.round(1, &[turn]), "{turn}");
            }
            assert_eq!(bench.round(1, &[]), plain.round(1, &[]));
        }
    }
}
