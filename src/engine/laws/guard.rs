//! Whether effort acts the way that the ladder says: harder is more.
//!
//! Every law here takes the order of the ladder for granted. Where it is upside down, a loop runs to the wrong end and
//! stays there; where two rungs are swapped, it steps between their neighbours. This counts what the moves say. It
//! moves nothing itself.
//!
//! # Theory
//!
//! After a move by k rungs the level should have changed by k g and did change by d, with variance V. The log likelihood ratio
//! of "the step is +g" over "the step is -g" is 2 k g d / V. Each move counts for at most [`ONE`], so that a level that
//! jumps as the rung moves decides nothing alone; their sum, held at [`TRUST`] from above, is the trust in the order. A move that
//! says less than -[`AGAINST`] is told. A sum under -[`DOUBT`], or under -[`STUCK`] at an end of the ladder that the loop wants past, says that the
//! ladder is upside down. If the order is right, a first move says less than -a by luck with a chance of at most
//! Phi(-sqrt(2 a)), 4 % for [`STUCK`], and the loop must be at an end besides. Source: Wald (1947).

use crate::engine::law::LawState;

/// The most that one move counts for.
const ONE: f64 = 3.0;
/// The most that all moves together count for.
const TRUST: f64 = 6.0;
/// A move that says less than minus this goes against the order.
const AGAINST: f64 = 2.9;
/// Moves that together say less than minus this say that the order is upside down.
const DOUBT: f64 = 4.0;
/// The same where the loop is at an end of the ladder and wants to go on, so that no other move can be made.
const STUCK: f64 = 1.5;

/// What a move said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// Nothing against the order.
    Fine,
    /// This step goes against it.
    Against,
    /// All moves together say that the order is upside down.
    Upside,
}

/// The trust in the order of the ladder, as a log likelihood ratio.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Guard {
    trust: f64,
}

impl Guard {
    /// After a move that should have changed the level by `expected` it changed by `seen`, with this variance.
    pub(super) fn moved(&mut self, expected: f64, seen: f64, variance: f64) -> Said {
        let said = (2.0 * expected * seen / variance).clamp(-ONE, ONE);
        self.trust = (self.trust + said).min(TRUST);
        match () {
            () if self.trust < -DOUBT => {
                self.trust = 0.0;
                Said::Upside
            }
            () if said < -AGAINST => Said::Against,
            () => Said::Fine,
        }
    }

    /// The loop is at an end of the ladder and wants to go on: whether what moves have said so far points the other way.
    pub(super) fn stuck(&mut self) -> bool {
        let upside = self.trust < -STUCK;
        if upside {
            self.trust = 0.0;
        }
        upside
    }

    pub(super) fn save(self, state: &mut LawState) {
        state.set_real("guard.trust", self.trust);
    }

    pub(super) fn restore(state: &LawState) -> Self {
        Self { trust: state.real("guard.trust").unwrap_or(0.0).clamp(-DOUBT, TRUST) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_contradiction_is_told_and_two_turn_the_ladder_over() {
        let mut guard = Guard::default();
        assert_eq!(guard.moved(0.5, 0.1, 0.2), Said::Fine);
        assert_eq!(guard.moved(0.5, -0.1, 0.2), Said::Fine, "luck");
        assert_eq!(guard.moved(-0.5, 0.5, 0.1), Said::Against);
        assert!(guard.moved(-0.5, 0.5, 0.1) == Said::Upside);
        assert_eq!(guard.moved(1.0, -1.0, 0.1), Said::Against, "the count begins again");
    }

    #[test]
    fn at_an_end_less_is_enough() {
        let mut guard = Guard::default();
        assert!(!guard.stuck());
        assert_eq!(guard.moved(0.5, -0.35, 0.2), Said::Fine);
        assert!(guard.stuck() && !guard.stuck(), "and then the count begins again");
    }

    #[test]
    fn trust_has_a_top_and_is_remembered() {
        let mut guard = Guard::default();
        (0..50).for_each(|_| assert_eq!(guard.moved(0.5, 0.5, 0.1), Said::Fine));
        let mut state = LawState::default();
        guard.save(&mut state);
        let mut guard = Guard::restore(&state);
        let said: Vec<Said> = (0..3).map(|_| guard.moved(0.5, -0.5, 0.1)).collect();
        assert_eq!(
            said,
            [Said::Against, Said::Against, Said::Against],
            "six of trust, and three moves of three against it"
        );
        assert_eq!(guard.moved(0.5, -0.5, 0.1), Said::Upside);
    }
}
