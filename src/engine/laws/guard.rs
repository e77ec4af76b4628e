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
//! jumps as the rung moves decides nothing alone, and is judged again by what is known of the level when the next move is made; their sum, held at [`TRUST`] from above, is the trust in the order. A move that
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
/// For so many rounds after a move the level is taken for the one that the move led to.
const FRESH: u32 = 6;
/// Rounds at an end of the ladder before it is asked whether it is the right one.
const SOME: u32 = 3;

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

/// A move: by how much the level should have changed, the level before it and its variance.
#[derive(Clone, Copy, Debug)]
pub(super) struct Move {
    pub(super) expected: f64,
    pub(super) before: f64,
    pub(super) variance: f64,
}

/// The trust in the order of the ladder, as a log likelihood ratio.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Guard {
    /// Of all moves but the last.
    trust: f64,
    last: Option<Move>,
    /// Rounds since the last.
    age: u32,
}

impl Guard {
    /// What the last move says, the level now being this.
    fn said(&self, level: f64, variance: f64) -> f64 {
        self.last.map_or(0.0, |last| {
            (2.0 * last.expected * (level - last.before) / (last.variance + variance)).clamp(-ONE, ONE)
        })
    }

    /// A move was made, after which one round was read as `level` with this variance; the move before is judged for good by what was
    /// known of the level until then.
    pub(super) fn moved(&mut self, made: Move, level: f64, variance: f64) -> Said {
        self.trust = (self.trust + self.said(made.before, made.variance)).min(TRUST);
        (self.last, self.age) = (Some(made), 0);
        let said = self.said(level, variance);
        match () {
            () if self.trust + said < -DOUBT => {
                *self = Self::default();
                Said::Upside
            }
            () if said < -AGAINST => Said::Against,
            () => Said::Fine,
        }
    }

    /// A round has passed, and the level is known so well. `stuck`: the loop is at an end of the ladder and wants to go on.
    /// Whether what the moves say points the other way.
    pub(super) fn stayed(&mut self, stuck: bool, level: f64, variance: f64) -> bool {
        let upside = stuck && self.age <= FRESH && self.trust + self.said(level, variance) < -STUCK;
        self.age = self.age.saturating_add(1);
        if upside {
            *self = Self::default();
        }
        upside
    }

    /// The loop has been at an end of the ladder for some rounds, and what the moves say is not enough to know that it is the right one.
    pub(super) fn wonders(&self, level: f64, variance: f64) -> bool {
        self.age > SOME && self.trust + self.said(level, variance) < STUCK
    }

    pub(super) fn save(&self, state: &mut LawState) {
        state.set_real("guard.trust", self.trust);
        state.set("guard.age", self.age.into());
        if let Some(Move { expected, before, variance }) = self.last {
            MOVE.iter().zip([expected, before, variance]).for_each(|(name, value)| state.set_real(name, value));
        }
    }

    pub(super) fn restore(state: &LawState) -> Self {
        let real = |name: &str| state.real(name).filter(|value| value.abs() < 1e6);
        let last = || {
            let [expected, before, variance] = MOVE.map(real);
            let variance = variance.filter(|variance| *variance > 0.0)?;
            Some(Move { expected: expected?, before: before?, variance })
        };
        Self {
            trust: real("guard.trust").unwrap_or(0.0).clamp(-DOUBT, TRUST),
            last: last(),
            age: state.get("guard.age").and_then(|age| u32::try_from(age).ok()).unwrap_or(u32::MAX),
        }
    }
}

const MOVE: [&str; 3] = ["guard.expected", "guard.before", "guard.variance"];

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    fn step(guard: &mut Guard, expected: f64, seen: f64) -> Said {
        guard.moved(Move { expected, before: 0.0, variance: 0.05 }, seen, 0.05)
    }

    #[test]
    fn one_contradiction_is_told_and_two_turn_the_ladder_over() {
        let mut guard = Guard::default();
        assert_eq!(step(&mut guard, 0.5, -0.1), Said::Fine, "luck");
        assert_eq!(step(&mut guard, -0.5, 0.5), Said::Against);
        // the next move begins where that one led to
        let made = Move { expected: -0.5, before: 0.5, variance: 0.05 };
        assert_eq!(guard.moved(made, 1.0, 0.05), Said::Upside);
        assert_eq!(step(&mut guard, 1.0, -1.0), Said::Against, "the count begins again");
    }

    #[test]
    fn at_an_end_less_is_enough_while_the_move_is_fresh() {
        let mut guard = Guard::default();
        assert_eq!(step(&mut guard, 0.5, -0.2), Said::Fine);
        let mut later = guard;
        assert!(!guard.stayed(false, -0.4, 0.02) && guard.stayed(true, -0.4, 0.02));
        assert!(!guard.stayed(true, -0.4, 0.02), "and then the count begins again");
        (0..=FRESH).for_each(|_| assert!(!later.stayed(false, -0.4, 0.02)));
        assert!(!later.stayed(true, -0.4, 0.02), "by now the level may have drifted");
    }

    #[test]
    fn trust_has_a_top_and_all_of_it_is_remembered() {
        let mut guard = Guard::default();
        for place in 0..9 {
            let made = Move { expected: 0.5, before: 0.5 * f64::from(place), variance: 0.05 };
            assert_eq!(guard.moved(made, made.before + 0.5, 0.05), Said::Fine);
        }
        let (mut state, mut again) = (LawState::default(), LawState::default());
        guard.save(&mut state);
        let mut guard = Guard::restore(&state);
        guard.save(&mut again);
        assert_eq!(state, again);
        let mut said = Vec::new();
        for place in 0..5 {
            let made = Move { expected: 0.5, before: 4.5 - 0.5 * f64::from(place), variance: 0.05 };
            said.push(guard.moved(made, made.before - 0.5, 0.05));
        }
        assert!(said[..3].iter().all(|said| *said == Said::Against) && said.contains(&Said::Upside), "{said:?}");
    }
}
