//! What one run did, round by round: the one shape that every engine fills and every metric reads.
//!
//! It is a struct of arrays with buffers that are used again: after a warm-up nothing is allocated. It holds facts, no
//! judgement: what was right is in [`super::truth`], what it is worth in [`super::metric`]. It does not check itself
//! while it is filled; [`RunLog::check`] does, and scoring calls what of it is cheap.
//!
//! Units: tokens are true output tokens, times are milliseconds since the run's epoch, rungs count from 0, the hardest.

use thiserror::Error;

/// What the law could read after a round, judged by the *evaluation* band of the report (not by the law's own slack).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Seen {
    /// No turn in the window: no reading.
    #[default]
    Nothing = 0,
    /// The mean of the window lay in the evaluation band.
    Inside = 1,
    /// It lay outside.
    Outside = 2,
}

/// What a run did. Arrays over rounds have `R` places, arrays over the boundaries between rounds have `R + 1`; `R` is
/// the number of rounds really run, which a budget may make smaller than `planned`.
///
/// The fields are open, so that an engine may fill them in whatever order suits it; [`RunLog::begin`], [`RunLog::push`]
/// and [`RunLog::finish`] keep the shape.
///
/// ```
/// use flyball::lab::runlog::{RunLog, Seen};
/// let mut log = RunLog::default();
/// log.begin(2, None);
/// log.push(1, Seen::Inside, 0, 40_000, 20);
/// log.push(0, Seen::Nothing, 65_000, 0, 0);
/// log.finish(65_000);
/// assert_eq!(log.rounds(), 2);
/// assert_eq!(log.tokens, [0, 40_000, 40_000]);
/// assert_eq!(log.check(2), Ok(()));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunLog {
    /// The rung *used* in round `k`; 0 is the hardest. `R` places.
    pub rung: Vec<u8>,
    /// What could be read after round `k`. `R` places.
    pub seen: Vec<Seen>,
    /// True output tokens before round `k`, cumulative from 0; the last is the total. `R + 1` places.
    pub tokens: Vec<u64>,
    /// Turns before round `k`, cumulative from 0; the last is the total. `R + 1` places.
    pub turns: Vec<u64>,
    /// When round `k` began, in milliseconds; the last is the end of the last round. `R + 1` places.
    pub at_ms: Vec<u64>,
    /// Decisions that named a place past an end of the ladder and were clamped. No moves.
    pub pinned: u32,
    /// Rounds planned: the horizon if no budget ends the run before.
    pub planned: u32,
    /// The budget in output tokens, if the run had one.
    pub budget: Option<u64>,
}

/// What is wrong with a log, or with a log and a truth that do not belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum LogError {
    /// The arrays are not `R`, `R` and three times `R + 1` long.
    #[error("the arrays of the run's log do not belong together")]
    Shape,
    /// A rung is not on the ladder.
    #[error("a rung of the run's log is not on the ladder")]
    Rung,
    /// A cumulative array falls.
    #[error("a cumulative count of the run's log falls")]
    Falls,
    /// The truth covers fewer rounds than were run.
    #[error("the truth covers fewer rounds than were run")]
    Truth,
}

impl RunLog {
    /// Empty it for a new run, keeping the buffers.
    pub fn begin(&mut self, planned: u32, budget: Option<u64>) {
        self.rung.clear();
        self.seen.clear();
        for cumulative in [&mut self.tokens, &mut self.turns, &mut self.at_ms] {
            cumulative.clear();
        }
        self.tokens.push(0);
        self.turns.push(0);
        self.pinned = 0;
        self.planned = planned;
        self.budget = budget;
    }

    /// One round: the rung it used, what could be read after it, when it began, and the tokens and turns it had.
    #[inline]
    pub fn push(&mut self, rung: u8, seen: Seen, began_ms: u64, tokens: u64, turns: u64) {
        self.rung.push(rung);
        self.seen.push(seen);
        self.at_ms.push(began_ms);
        self.tokens.push(self.total_tokens().saturating_add(tokens));
        self.turns.push(self.total_turns().saturating_add(turns));
    }

    /// The run is over: when its last round ended (or, without a round, when it stopped).
    pub fn finish(&mut self, ended_ms: u64) {
        self.at_ms.push(ended_ms);
    }

    /// Rounds really run, `R`.
    #[must_use]
    pub fn rounds(&self) -> usize {
        self.rung.len()
    }

    /// All true output tokens.
    #[must_use]
    pub fn total_tokens(&self) -> u64 {
        self.tokens.last().copied().unwrap_or(0)
    }

    /// All turns.
    #[must_use]
    pub fn total_turns(&self) -> u64 {
        self.turns.last().copied().unwrap_or(0)
    }

    /// Whether the arrays belong together, every rung is on a ladder of `rungs` places, and no cumulative count falls.
    ///
    /// # Errors
    /// [`LogError::Shape`], [`LogError::Rung`], [`LogError::Falls`].
    pub fn check(&self, rungs: usize) -> Result<(), LogError> {
        self.check_shape(rungs)?;
        if self.tokens.is_sorted() && self.turns.is_sorted() && self.at_ms.is_sorted() {
            Ok(())
        } else {
            Err(LogError::Falls)
        }
    }

    /// What scoring needs in order not to stumble: all but the order of the cumulative counts, which costs as much as
    /// half of scoring.
    pub(super) fn check_shape(&self, rungs: usize) -> Result<(), LogError> {
        let rounds = self.rung.len();
        let bounds = [self.tokens.len(), self.turns.len(), self.at_ms.len()];
        if self.seen.len() != rounds || bounds.iter().any(|&len| len != rounds + 1) {
            return Err(LogError::Shape);
        }
        if rounds > 0 && usize::from(self.rung.iter().fold(0, |most, &rung| most.max(rung))) >= rungs {
            return Err(LogError::Rung);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_rounds() -> RunLog {
        let mut log = RunLog::default();
        log.begin(2, Some(10));
        log.push(1, Seen::Inside, 5, 7, 2);
        log.push(2, Seen::Outside, 9, 8, 3);
        log.finish(12);
        log
    }

    #[test]
    fn counts_are_cumulative_and_start_at_nothing() {
        let log = two_rounds();
        assert_eq!((log.tokens.as_slice(), log.turns.as_slice()), ([0, 7, 15].as_slice(), [0, 2, 5].as_slice()));
        assert_eq!(log.at_ms, [5, 9, 12]);
        assert_eq!((log.rounds(), log.total_tokens(), log.total_turns()), (2, 15, 5));
        assert_eq!(log.check(3), Ok(()));
    }

    #[test]
    fn a_log_used_again_forgets() {
        let mut log = two_rounds();
        log.pinned = 3;
        log.begin(4, None);
        log.finish(0);
        assert_eq!((log.rounds(), log.total_tokens(), log.pinned, log.planned, log.budget), (0, 0, 0, 4, None));
        assert_eq!(log.check(1), Ok(()));
    }

    #[test]
    fn a_log_that_does_not_fit_is_named() {
        assert_eq!(two_rounds().check(2), Err(LogError::Rung));
        let mut log = two_rounds();
        log.at_ms.pop();
        assert_eq!(log.check(3), Err(LogError::Shape));
        let mut log = two_rounds();
        log.tokens[1] = 16;
        assert_eq!(log.check(3), Err(LogError::Falls));
        assert_eq!(RunLog::default().check(3), Err(LogError::Shape));
    }
}
