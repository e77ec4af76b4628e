//! `dither`: two rungs in turn, for a target that lies between them. A setting of `stride` and `stride3`, and what `hybrid` does.
//!
//! Where no rung is near the target, holding the nearest leaves a steady error of up to half a step. Each round is a
//! session of its own and a move costs nothing by itself, so the rung above and the rung below can be run in turn, such
//! that what is spent over many rounds is what was asked for. It is for totals, not for quality: half of the rounds run on a rung
//! that is farther off than need be, and it moves often.
//!
//! # Theory
//!
//! First-order sigma-delta modulation: the debt is what was spent over n J, the turns' worth at the target, summed with a
//! memory of [`KEEP`]; the rung above runs while too little was spent, the rung below while too much. Within a band of `width` rounds' worth
//! the rung in use stays, which halves the moves for one point of block error. Sources: Candy and Temes (1992); the
//! control study.

use super::tuning::Knob;
use crate::engine::law::LawState;

/// How much of the debt is remembered from round to round.
const KEEP: f64 = 0.95;
/// The debt is held at so many rounds' worth.
const MOST: f64 = 3.0;
/// Weight of a round's turns in the usual number of turns.
const FRESH: f64 = 0.2;

/// The knob that turns it on.
pub(super) const ON: Knob = Knob {
    name: "dither",
    about: "1: run the rungs around a target that lies between two in turn",
    usual: 0,
    least: 0,
    most: 1_000_000,
    whole: true,
};
/// The knob of its band.
pub(super) const WIDTH: Knob = Knob {
    name: "dither_width",
    about: "rounds' worth of tokens to be owed before the other rung is run",
    usual: 500_000,
    least: 0,
    most: 3_000_000,
    whole: false,
};

/// What is owed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Dither {
    /// Tokens over n J, in targets: what was spent too much is above zero.
    debt: f64,
    /// The usual number of turns.
    turns: f64,
}

/// A rung near the target: its place, and its expected ln over the target.
#[derive(Clone, Copy, Debug)]
pub(super) struct Near {
    pub(super) place: usize,
    pub(super) error: f64,
}

impl Dither {
    /// A round of `turns` turns came to `over` targets in all.
    pub(super) fn spent(&mut self, turns: f64, over: f64) {
        self.turns = if self.turns > 0.0 { self.turns + FRESH * (turns - self.turns) } else { turns };
        let most = MOST * self.turns;
        self.debt = (KEEP * self.debt + over - turns).clamp(-most, most);
    }

    /// Which of the two rungs around the target is to run, being on `here`.
    pub(super) fn choose(&self, here: usize, below: Near, above: Near, width: f64) -> usize {
        let owed = self.debt / self.turns.max(1.0);
        if width > 0.0 {
            return match () {
                () if owed < -width => above.place,
                () if owed > width => below.place,
                () if here == above.place || here == below.place => here,
                () => {
                    if above.error < -below.error {
                        above.place
                    } else {
                        below.place
                    }
                }
            };
        }
        // whichever leaves less
        let left = |near: Near| (KEEP * owed + libm::exp(near.error) - 1.0).abs();
        if left(above) < left(below) { above.place } else { below.place }
    }

    pub(super) fn save(&self, state: &mut LawState) {
        state.set_real("dither.debt", self.debt);
        state.set_real("dither.turns", self.turns);
    }

    pub(super) fn restore(&mut self, state: &LawState) {
        let turns = state.real("dither.turns").filter(|turns| (0.0..1e9).contains(turns)).unwrap_or(0.0);
        let debt = state.real("dither.debt").unwrap_or(0.0).clamp(-MOST * turns, MOST * turns);
        *self = Self { debt, turns };
    }
}
