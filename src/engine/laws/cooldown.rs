//! `cooldown`: any law, held still for some rounds after a move.
//!
//! It is no law of its own: the law inside is asked after every round and learns from it, but what it asks for within so
//! many rounds of a move is not done. Known from autoscalers as the stabilisation window. It trades rounds on the wrong
//! rung for fewer moves; a law that estimates needs none, and a law that reads a window that outlasts a round
//! gains most.

use crate::engine::law::{Decision, Law, LawState, Memory, Reading, Why};

/// A law and how long it rests after a move.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cooldown<L> {
    law: L,
    rounds: u32,
    left: u32,
}

impl<L> Cooldown<L> {
    /// This law, held for `rounds` rounds after each move; 0 is the law itself.
    pub const fn new(law: L, rounds: u32) -> Self {
        Self { law, rounds, left: 0 }
    }
}

impl<L: Law> Law for Cooldown<L> {
    fn name(&self) -> &'static str {
        self.law.name()
    }

    #[inline]
    fn decide(&mut self, reading: &Reading<'_>) -> Decision {
        let decision = self.law.decide(reading);
        if self.rounds == 0 {
            return decision;
        }
        let moves = reading.rungs.clamp(decision.to) != reading.rung;
        if self.left > 0 {
            self.left -= 1;
            return if moves { Decision { to: reading.rung, why: Why::Cooldown, ..decision } } else { decision };
        }
        self.left = if moves { self.rounds } else { 0 };
        decision
    }

    fn memory(&self) -> Memory {
        self.law.memory()
    }
    fn reads_logs(&self) -> bool {
        self.law.reads_logs()
    }

    fn save(&self) -> LawState {
        let mut state = self.law.save();
        if self.rounds > 0 {
            state.set("cooldown.left", self.left.into());
        }
        state
    }

    fn restore(&mut self, state: &LawState) {
        self.law.restore(state);
        let left = state.get("cooldown.left").unwrap_or(0);
        self.left = u32::try_from(left).unwrap_or(self.rounds).min(self.rounds);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::laws::testing::{reading, sums};
    use crate::engine::laws::{LawKind, Tuning};
    use crate::engine::{Band, Ratio, Rungs, Target};

    #[test]
    fn it_holds_for_so_many_rounds_after_a_move() {
        let band = Band::new(Target::from_tokens(1000), Ratio::from_ppm(150_000)).unwrap();
        let (rungs, low) = (Rungs::new(9).unwrap(), sums(&[500]));
        let mut tuning = Tuning::USUAL;
        tuning.cooldown = 2;
        let mut law = LawKind::Reference.tuned(&tuning);
        let (mut at, mut path, mut saved) = (8, Vec::new(), None);
        for round in 0..7 {
            if round == 2 {
                let state = law.save();
                law = LawKind::Reference.tuned(&tuning);
                law.restore(&state);
                saved = state.get("cooldown.left");
            }
            let decision = law.decide(&reading(&band, rungs, at, &low));
            assert_eq!(decision.why == Why::Cooldown, decision.to.index() == at, "{round}");
            at = decision.to.index();
            path.push(at);
        }
        assert_eq!((path, saved), (vec![7, 7, 7, 6, 6, 6, 5], Some(1)));
    }
}
