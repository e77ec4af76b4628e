//! What was right: for one run and one target, how far each rung's true mean was off, and which rungs were acceptable.
//!
//! With mu the true mean output tokens per turn of a rung in a round and J the target, e = ln(mu/J), d = the least
//! |e| on the ladder. A rung is *in band* if ln(1-b) <= e <= ln(1+b), *nearest* if |e| <= d + 1e-9 (ties included), and
//! *acceptable* if it is either, so that the acceptable set is never empty. The band b belongs to the report and is
//! never the slack of the law that is judged. Ladders need not be monotone.
//!
//! It is not a score, and it knows no law. Units: errors are kept in millionths of a nat (natural logarithm), their
//! squares in 1e-12 square nats, as integers, so that sums do not depend on their order. Sets are bit masks: bit `l` is
//! rung `l`, 0 the hardest. Buffers are used again: after a warm-up nothing is allocated.

use thiserror::Error;

use super::fixed::{from_micros, micros};
use crate::engine::{Ratio, Target};

/// The longest ladder whose rungs fit a bit mask.
pub const MAX_RUNGS: usize = 64;

/// The evaluation band where a report names no other: 15 %.
pub const EVALUATION_BAND: Ratio = Ratio::from_ppm(150_000);

/// Two errors closer than this, in nats, are a tie.
const TIE: f64 = 1e-9;

/// Errors past this many nats, a factor of nine million, are held there, so that a square fits its place in a [`Cell`].
const MOST: f64 = 16.0;

/// All that scoring asks of one rung in one round, in one word: one load for each round of each run.
///
/// | bits | hold |
/// |---|---|
/// | 0, 1, 2 | acceptable; in band; nearest |
/// | 3 to 8 | how many rungs harder than every acceptable one |
/// | 9 to 14 | how many rungs softer |
/// | 15 to 62 | squared error, 1e-12 square nats |
/// | 63 | never set |
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell(pub(super) u64);

impl Cell {
    /// Where the count of rungs past the acceptable ones begins: on the harder side, on the softer side, on neither.
    pub(super) const HARDER: u32 = 3;
    pub(super) const SOFTER: u32 = 9;
    pub(super) const NEITHER: u32 = 63;

    #[inline]
    pub(super) const fn acceptable(self) -> u64 {
        self.0 & 1
    }

    #[inline]
    pub(super) const fn in_band(self) -> u64 {
        self.0 >> 1 & 1
    }

    #[inline]
    pub(super) const fn nearest(self) -> u64 {
        self.0 >> 2 & 1
    }

    #[inline]
    pub(super) const fn past(self, side: u32) -> u64 {
        self.0 >> side & 63
    }

    #[inline]
    pub(super) const fn square(self) -> u64 {
        self.0 >> 15
    }
}

/// Why there is no truth to score against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum TruthError {
    /// The ladder has no rung, or more than [`MAX_RUNGS`].
    #[error("a ladder to score has 1 to 64 rungs, not {0}")]
    Rungs(usize),
    /// The target is zero.
    #[error("a target of zero has no logarithm")]
    ZeroTarget,
    /// The band is all of the target or more, so that it has no lower edge on the log scale.
    #[error("the evaluation band must be below 1")]
    Band,
    /// A mean is zero, negative, infinite or not a number.
    #[error("the mean of rung {rung} in round {round} has no finite logarithm")]
    Mean {
        /// The rung, 0 the hardest.
        rung: usize,
        /// The round, from 0.
        round: usize,
    },
}

/// What was right, round by round. Made empty, filled by [`Truth::fill`].
#[derive(Clone, Debug, Default)]
pub struct Truth {
    rungs: usize,
    rounds: usize,
    errors: Vec<i32>,
    cells: Vec<Cell>,
    in_band: Vec<u64>,
    nearest: Vec<u64>,
    acceptable: Vec<u64>,
    least: Vec<u64>,
    feasible: Vec<u32>,
}

impl Truth {
    /// Fill it for `rounds` rounds of a ladder of `rungs` places. `ln_mean(rung, round)` is the natural logarithm of
    /// the true mean output tokens per turn, drift included (and the share and factor of outliers, where the scenario
    /// has them); it is asked once for each, round after round.
    ///
    /// # Errors
    /// See [`TruthError`]. The truth is then empty.
    ///
    /// ```
    /// use flyball::engine::Target;
    /// use flyball::lab::truth::{EVALUATION_BAND, Truth};
    /// let mut truth = Truth::default();
    /// let means = [1600.0, 1000.0, 625.0];
    /// truth.fill(10, 3, Target::from_tokens(1100), EVALUATION_BAND, |rung, _| libm::log(means[rung]))?;
    /// assert_eq!(truth.acceptable(0), 0b010);
    /// assert_eq!(truth.error_micros(1, 0), -95_310);
    /// # Ok::<(), flyball::lab::truth::TruthError>(())
    /// ```
    pub fn fill(
        &mut self,
        rounds: usize,
        rungs: usize,
        target: Target,
        band: Ratio,
        mut ln_mean: impl FnMut(usize, usize) -> f64,
    ) -> Result<(), TruthError> {
        self.clear();
        if rungs == 0 || rungs > MAX_RUNGS {
            return Err(TruthError::Rungs(rungs));
        }
        if target.micros() == 0 {
            return Err(TruthError::ZeroTarget);
        }
        let slack = f64::from(band.ppm()) / 1e6;
        if slack >= 1.0 {
            return Err(TruthError::Band);
        }
        let edges = (libm::log1p(-slack), libm::log1p(slack));
        let ln_target = libm::log(from_micros(i64::try_from(target.micros()).unwrap_or(i64::MAX)));
        self.rungs = rungs;
        let mut row = [0.0; MAX_RUNGS];
        for round in 0..rounds {
            for (rung, error) in row[..rungs].iter_mut().enumerate() {
                *error = ln_mean(rung, round) - ln_target;
                if !error.is_finite() {
                    self.clear();
                    return Err(TruthError::Mean { rung, round });
                }
            }
            self.push(&row[..rungs], edges);
        }
        self.rounds = rounds;
        Ok(())
    }

    fn clear(&mut self) {
        (self.rungs, self.rounds) = (0, 0);
        self.errors.clear();
        self.cells.clear();
        for masks in [&mut self.in_band, &mut self.nearest, &mut self.acceptable, &mut self.least] {
            masks.clear();
        }
        self.feasible.clear();
        self.least.push(0);
        self.feasible.push(0);
    }

    fn push(&mut self, row: &[f64], (low, high): (f64, f64)) {
        let least = row.iter().fold(f64::INFINITY, |least, error| least.min(error.abs()));
        let (mut in_band, mut nearest) = (0_u64, 0_u64);
        for (rung, &error) in row.iter().enumerate() {
            in_band |= u64::from(low <= error && error <= high) << rung;
            nearest |= u64::from(error.abs() <= least + TIE) << rung;
        }
        let acceptable = in_band | nearest;
        let (hardest, softest) = (acceptable.trailing_zeros(), 63 - acceptable.leading_zeros().min(63));
        for (rung, &error) in (0_u32..).zip(row) {
            let micros = micros(error.clamp(-MOST, MOST));
            self.errors.push(i32::try_from(micros).unwrap_or(i32::MAX));
            let sets = (acceptable >> rung & 1) | (in_band >> rung & 1) << 1 | (nearest >> rung & 1) << 2;
            let harder = u64::from(hardest.saturating_sub(rung)) << Cell::HARDER;
            let softer = u64::from(rung.saturating_sub(softest)) << Cell::SOFTER;
            self.cells.push(Cell(sets | harder | softer | (micros * micros).unsigned_abs() << 15));
        }
        let least = micros(least.min(MOST)).unsigned_abs();
        self.least.push(self.least.last().copied().unwrap_or(0) + least * least);
        self.feasible.push(self.feasible.last().copied().unwrap_or(0) + u32::from(in_band != 0));
        self.in_band.push(in_band);
        self.nearest.push(nearest);
        self.acceptable.push(acceptable);
    }

    /// Rungs of the ladder.
    #[must_use]
    pub const fn rungs(&self) -> usize {
        self.rungs
    }

    /// Rounds covered.
    #[must_use]
    pub const fn rounds(&self) -> usize {
        self.rounds
    }

    /// The acceptable rungs of a round, as a mask; none outside the rounds covered.
    #[must_use]
    pub fn acceptable(&self, round: usize) -> u64 {
        self.acceptable.get(round).copied().unwrap_or(0)
    }

    /// The rungs of a round whose mean is in the evaluation band, as a mask; often none.
    #[must_use]
    pub fn in_band(&self, round: usize) -> u64 {
        self.in_band.get(round).copied().unwrap_or(0)
    }

    /// The nearest rungs of a round, as a mask; more than one where they tie.
    #[must_use]
    pub fn nearest(&self, round: usize) -> u64 {
        self.nearest.get(round).copied().unwrap_or(0)
    }

    /// The best rung of a round: the nearest, the hardest of them where they tie. What the oracle uses.
    #[must_use]
    pub fn best(&self, round: usize) -> u8 {
        u8::try_from(self.nearest(round).trailing_zeros() % 64).unwrap_or(0)
    }

    /// How far a rung's mean was off in a round, in millionths of a nat; zero where nothing is covered.
    #[must_use]
    pub fn error_micros(&self, rung: usize, round: usize) -> i32 {
        if rung >= self.rungs {
            return 0;
        }
        self.errors.get(round * self.rungs + rung).copied().unwrap_or(0)
    }

    /// Whether some rung was in band in a round.
    #[must_use]
    pub fn feasible(&self, round: usize) -> bool {
        self.in_band(round) != 0
    }

    /// Rounds of the first `rounds` in which some rung was in band.
    #[must_use]
    pub fn feasible_rounds(&self, rounds: usize) -> u32 {
        self.feasible.get(rounds).copied().unwrap_or(0)
    }

    /// The sum of the least squared errors over the first `rounds`, in 1e-12 square nats: what an oracle cannot avoid.
    #[must_use]
    pub fn least_squares(&self, rounds: usize) -> u64 {
        self.least.get(rounds).copied().unwrap_or(0)
    }

    /// The cells of all rungs, round by round.
    #[inline]
    pub(super) fn rows(&self) -> impl Iterator<Item = &[Cell]> {
        self.cells.chunks_exact(self.rungs.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(means: &[f64], target: Target) -> Truth {
        let mut truth = Truth::default();
        truth.fill(3, means.len(), target, EVALUATION_BAND, |rung, _| libm::log(means[rung])).unwrap();
        truth
    }

    #[test]
    fn band_and_nearest_make_the_acceptable_set() {
        // 1150 is on the upper edge, 1200 outside, 900 the nearest
        let truth = filled(&[1200.0, 1149.999, 900.0, 600.0], Target::from_tokens(1000));
        assert_eq!((truth.in_band(0), truth.nearest(0), truth.acceptable(0)), (0b0110, 0b0100, 0b0110));
        assert_eq!((truth.best(0), truth.feasible(0), truth.feasible_rounds(2)), (2, true, 2));
        assert_eq!(truth.error_micros(2, 0), -105_361);
        assert_eq!(truth.least_squares(2), 2 * 105_361 * 105_361);
    }

    #[test]
    fn where_nothing_is_in_band_the_nearest_is_acceptable_and_ties_are_both() {
        let mid = Target::from_micros(1_619_086_162); // sqrt(1280 x 2048), off by less than a tie
        let mut truth = Truth::default();
        let exact = libm::log(1280.0 * 2048.0) / 2.0;
        truth.fill(1, 3, Target::from_tokens(1), EVALUATION_BAND, |rung, _| [0.235, -0.235, -0.7][rung]).unwrap();
        assert_eq!((truth.acceptable(0), truth.best(0), truth.feasible(0)), (0b011, 0, false));
        truth.fill(1, 2, mid, EVALUATION_BAND, |rung, _| [libm::log(2048.0), libm::log(1280.0)][rung]).unwrap();
        assert!((libm::log(1_619.086_162) - exact).abs() < 1e-9);
        assert_eq!(truth.acceptable(0), 0b11);
        let far = filled(&[400.0, 250.0], Target::from_tokens(9000));
        assert_eq!((far.acceptable(1), far.feasible(1), far.feasible_rounds(3)), (0b01, false, 0));
    }

    #[test]
    fn a_ladder_that_turns_back_is_judged_rung_by_rung() {
        let truth = filled(&[2900.0, 1350.0, 1500.0, 700.0], Target::from_tokens(1500));
        assert_eq!((truth.acceptable(0), truth.nearest(0), truth.best(0)), (0b0110, 0b0100, 2));
    }

    #[test]
    fn absurd_errors_are_held_and_leave_the_sets_alone() {
        let mut truth = Truth::default();
        truth.fill(1, 3, Target::from_tokens(1), EVALUATION_BAND, |rung, _| [1e9, 40.0, -30.0][rung]).unwrap();
        assert_eq!((truth.error_micros(0, 0), truth.error_micros(2, 0)), (16_000_000, -16_000_000));
        assert_eq!((truth.acceptable(0), truth.least_squares(1)), (0b100, 256_000_000_000_000));
        let cells: Vec<_> = truth.rows().flatten().map(|cell| (cell.square(), cell.past(Cell::NEITHER))).collect();
        assert_eq!(cells, [(256_000_000_000_000, 0); 3]);
    }

    #[test]
    fn a_cell_says_what_the_masks_say() {
        let truth = filled(&[4000.0, 1200.0, 1149.999, 900.0, 600.0, 300.0], Target::from_tokens(1000));
        for row in truth.rows() {
            for (rung, cell) in row.iter().enumerate() {
                let sets = [truth.acceptable(0), truth.in_band(0), truth.nearest(0)].map(|mask| mask >> rung & 1);
                assert_eq!([cell.acceptable(), cell.in_band(), cell.nearest()], sets);
                let error = i64::from(truth.error_micros(rung, 0));
                assert_eq!(cell.square(), (error * error).unsigned_abs());
            }
            assert_eq!(row.iter().map(|cell| cell.past(Cell::HARDER)).collect::<Vec<_>>(), [2, 1, 0, 0, 0, 0]);
            assert_eq!(row.iter().map(|cell| cell.past(Cell::SOFTER)).collect::<Vec<_>>(), [0, 0, 0, 0, 1, 2]);
        }
    }

    #[test]
    fn sixty_four_rungs_fit_and_sixty_five_do_not() {
        let mut truth = Truth::default();
        let ln = |rung: usize, _| f64::from(u8::try_from(63 - rung % 64).unwrap());
        truth.fill(1, 64, Target::from_tokens(1), EVALUATION_BAND, ln).unwrap();
        assert_eq!((truth.acceptable(0), truth.best(0)), (1 << 63, 63));
        let mut fill = |rungs| truth.fill(1, rungs, Target::from_tokens(1), EVALUATION_BAND, ln);
        assert_eq!(fill(65), Err(TruthError::Rungs(65)));
        assert_eq!(fill(0), Err(TruthError::Rungs(0)));
    }

    #[test]
    fn bad_numbers_are_named_and_leave_nothing_behind() {
        let mut truth = Truth::default();
        let mut fill = |target, band, mean: f64| truth.fill(1, 1, target, band, move |_, _| mean);
        let one = Target::from_tokens(1);
        for mean in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(fill(one, EVALUATION_BAND, mean), Err(TruthError::Mean { rung: 0, round: 0 }));
        }
        assert_eq!(fill(Target::from_micros(0), EVALUATION_BAND, 0.0), Err(TruthError::ZeroTarget));
        assert_eq!(fill(one, Ratio::from_ppm(1_000_000), 0.0), Err(TruthError::Band));
        assert_eq!((truth.rungs(), truth.rounds(), truth.acceptable(0)), (0, 0, 0));
    }
}
