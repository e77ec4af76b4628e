//! One run's log and what was right become its score: one pass over the rounds, without branches that guess and
//! without allocation.
//!
//! Definitions are those of [`super::metric`]. Not statistics over runs. Everything is an integer up to the last
//! division, root or logarithm of a metric, and an integer again after it. Source of the definitions: the control study,
//! its dwell time for settling in the place of "enters and never leaves", which has probability 0 in a noisy loop as the
//! horizon grows; half periods of an oscillation after Thornhill and Hagglund (1997), called regular where their mean is
//! more than 3 standard deviations.

use super::fixed::{ONE, float, micros, ufloat, whole};
use super::metric::{Metric, RunScore, Settling};
use super::runlog::{LogError, RunLog, Seen};
use super::truth::Truth;
use crate::engine::Target;

/// Fewer half periods than this say nothing about a cycle.
const HALF_PERIODS: u64 = 8;

/// How a report scores. State it with every figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scoring {
    /// The target, J.
    pub target: Target,
    /// Acceptable rounds in a row that make a run settled, H; at least 1 is taken.
    pub hold: u32,
    /// Rounds left out of bias and blocks.
    pub burn_in: u32,
    /// Rounds of a block; at least 1 is taken.
    pub block: u32,
    /// Rounds from the start of a block to that of the next; at least 1 is taken.
    pub block_step: u32,
}

impl Scoring {
    /// For a target, with the values of the study: H = 10, blocks of 20 rounds, a new one every 5, after 20 rounds.
    #[must_use]
    pub const fn new(target: Target) -> Self {
        Self { target, hold: 10, burn_in: 20, block: 20, block_step: 5 }
    }

    /// Tokens per turn over the target.
    fn ratio(&self, tokens: u64, turns: u64) -> f64 {
        ufloat(tokens) * 1e6 / (ufloat(turns) * ufloat(self.target.micros().max(1)))
    }
}

/// Score one run. Costs a few nanoseconds a round and allocates nothing.
///
/// # Errors
/// [`LogError`] where the log is malformed, or the truth does not cover it.
pub fn score(log: &RunLog, truth: &Truth, scoring: &Scoring) -> Result<RunScore, LogError> {
    log.check(truth.rungs())?;
    if truth.rounds() < log.rounds() {
        return Err(LogError::Truth);
    }
    let mut out = RunScore::empty();
    let tokens = log.total_tokens();
    out.set(Metric::Tokens, times(tokens, ONE));
    out.set(Metric::Rounds, times(log.rounds() as u64, ONE));
    out.set(Metric::Secs, times(elapsed(log, log.rounds()), 1_000));
    if let Some(budget) = log.budget {
        out.set(Metric::BudgetOver, times(tokens.saturating_sub(budget), ONE));
    }
    if log.rounds() > 0 {
        let pass = Pass::over(log, truth, scoring.hold.max(1));
        pass.levels(log, truth, &mut out);
        pass.changes(log, &mut out);
        pass.settling(log, scoring.hold.max(1), &mut out);
        blocks(log, scoring, &mut out);
    }
    Ok(out)
}

/// When a run settled, counted from round `from`, as after a scheduled disturbance: the first `hold` acceptable rounds
/// in a row that begin there or later and end before `until` (the next disturbance) and inside the run.
///
/// # Errors
/// As [`score`].
pub fn settling_from(log: &RunLog, truth: &Truth, hold: u32, from: usize, until: usize) -> Result<Settling, LogError> {
    log.check(truth.rungs())?;
    if truth.rounds() < log.rounds() {
        return Err(LogError::Truth);
    }
    let (hold, end) = (hold.max(1), until.min(log.rounds()));
    let mut settling = Settling { settled: None, at_risk: at_risk(end.saturating_sub(from), hold) };
    let mut run = 0;
    for (round, &rung) in log.rung[..end].iter().enumerate().skip(from) {
        run = if truth.acceptable(round) >> rung & 1 == 1 { run + 1 } else { 0 };
        if run == hold {
            settling.settled = Some(count(round + 1 - from) - hold);
            break;
        }
    }
    Ok(settling)
}

/// Everything that one pass over the rounds counts.
#[derive(Default)]
struct Pass {
    rounds: u64,
    on: u64,
    in_band: u64,
    inside: u64,
    readings: u64,
    squares: u64,
    off_tokens: u64,
    at_best: u64,
    left_best: u64,
    moves: u64,
    turning: Turning,
    stay: Stay,
    past: Past,
}

/// Reversals, and the half periods and swings between them.
struct Turning {
    direction: i32,
    reversals: u64,
    first: u64,
    last: u64,
    squares: u64,
    swings: u64,
    rung: i32,
}

/// Stretches of acceptable rounds.
struct Stay {
    run: u32,
    starts: u64,
    first: u64,
    settled: Option<u32>,
    /// Acceptable rounds and stretches before the settled one.
    before: (u64, u64),
}

/// How far past the acceptable set after the first hit, towards the harder and the softer end.
#[derive(Default)]
struct Past {
    harder: u32,
    softer: u32,
    harder_square: u64,
    softer_square: u64,
}

impl Default for Turning {
    fn default() -> Self {
        Self { direction: 0, reversals: 0, first: 0, last: 0, squares: 0, swings: 0, rung: 0 }
    }
}

impl Default for Stay {
    fn default() -> Self {
        Self { run: 0, starts: 0, first: u64::MAX, settled: None, before: (0, 0) }
    }
}

impl Turning {
    /// The change after round `k`, from `rung` by `step`.
    #[inline]
    fn change(&mut self, k: u64, rung: i32, step: i32) {
        let sign = step.signum();
        let turned = u64::from(sign * self.direction < 0);
        // half periods and swings need a turning point before this one
        let between = turned * u64::from(self.reversals > 0);
        let half = k - self.last;
        self.squares += between * half * half;
        self.swings += between * u64::from(rung.abs_diff(self.rung));
        self.reversals += turned;
        if turned == 1 {
            self.first = if self.reversals == 1 { k } else { self.first };
            (self.last, self.rung) = (k, rung);
        }
        self.direction = if sign == 0 { self.direction } else { sign };
    }

    /// Whether the run cycled, and whether it chattered.
    fn verdict(&self) -> (bool, bool) {
        let halves = self.reversals.saturating_sub(1);
        if halves < HALF_PERIODS {
            return (false, false);
        }
        let (n, sum) = (u128::from(halves), u128::from(self.last - self.first));
        // mean > 3 sd, with the variance over n - 1, without a division
        let spread = n * u128::from(self.squares) - sum * sum;
        let regular = sum * sum * (n - 1) > 9 * n * spread;
        let wide = 2 * self.swings >= 3 * halves;
        (regular || wide, !regular && !wide)
    }
}

impl Stay {
    /// Round `k` is acceptable (`on`, 1) or not (0); `total` acceptable ones before it.
    #[inline]
    fn round(&mut self, k: u64, on: u64, total: u64, hold: u32) {
        self.starts += on & u64::from(self.run == 0);
        self.first = self.first.min(if on == 1 { k } else { u64::MAX });
        self.run = if on == 1 { self.run + 1 } else { 0 };
        if self.run == hold && self.settled.is_none() {
            self.settled = u32::try_from(k + 1 - u64::from(hold)).ok();
            self.before = (total + 1 - u64::from(hold), self.starts - 1);
        }
    }
}

impl Past {
    /// A round after the first hit (`hit`, 1) at `rung`, with its acceptable set and squared error.
    #[inline]
    fn round(&mut self, hit: u64, rung: u32, acceptable: u64, square: u64) {
        let hardest = acceptable.trailing_zeros();
        let softest = 63_u32.saturating_sub(acceptable.leading_zeros());
        let harder = if hit == 1 { hardest.saturating_sub(rung) } else { 0 };
        let softer = if hit == 1 { rung.saturating_sub(softest) } else { 0 };
        self.harder = self.harder.max(harder);
        self.softer = self.softer.max(softer);
        self.harder_square = self.harder_square.max(if harder > 0 { square } else { 0 });
        self.softer_square = self.softer_square.max(if softer > 0 { square } else { 0 });
    }
}

impl Pass {
    fn over(log: &RunLog, truth: &Truth, hold: u32) -> Self {
        let mut pass = Self { rounds: log.rounds() as u64, ..Self::default() };
        let spent = log.tokens.windows(2).map(|pair| pair[1].wrapping_sub(pair[0]));
        // the rung after the last round is the last rung: no change there
        let last = log.rung.last().copied();
        let next = log.rung.iter().copied().skip(1).chain(last);
        let rounds = log.rung.iter().zip(next).zip(&log.seen).zip(spent).zip(truth.rows());
        for (k, ((((&rung, next), &seen), spent), (errors, acceptable, in_band, nearest))) in (0_u64..).zip(rounds) {
            let error = i64::from(errors.get(usize::from(rung)).copied().unwrap_or(0));
            let square = (error * error).unsigned_abs();
            let on = acceptable >> (rung & 63) & 1;
            pass.in_band += in_band >> (rung & 63) & 1;
            pass.inside += u64::from(seen == Seen::Inside);
            pass.readings += u64::from(seen != Seen::Nothing);
            pass.squares += square;
            pass.off_tokens += if on == 1 { 0 } else { spent };
            let moved = u64::from(next != rung);
            let best = nearest >> (rung & 63) & u64::from(k + 1 < pass.rounds);
            pass.at_best += best;
            pass.left_best += best & moved;
            pass.moves += moved;
            pass.turning.change(k, i32::from(rung), i32::from(next) - i32::from(rung));
            pass.past.round(u64::from(pass.stay.first != u64::MAX), u32::from(rung), acceptable, square);
            pass.stay.round(k, on, pass.on, hold);
            pass.on += on;
        }
        pass
    }

    /// Where the rungs were, and what was read.
    fn levels(&self, log: &RunLog, truth: &Truth, out: &mut RunScore) {
        let rounds = log.rounds();
        out.set(Metric::OnRung, share(self.on, self.rounds));
        let feasible = u64::from(truth.feasible_rounds(rounds));
        out.set(Metric::Feasible, share(feasible, self.rounds));
        if feasible > 0 {
            out.set(Metric::InBandTrue, share(self.in_band, self.rounds));
        }
        if self.readings > 0 {
            out.set(Metric::InBandMeasured, share(self.inside, self.readings));
        }
        // the root of 1e-12 square nats is in millionths of a nat
        let root = |squares: u64| whole((ufloat(squares) / ufloat(self.rounds)).sqrt());
        let rms = root(self.squares);
        out.set(Metric::RmsLog, rms);
        out.set(Metric::ExcessLog, rms - root(truth.least_squares(rounds)));
        let tokens = log.total_tokens();
        if tokens > 0 {
            out.set(Metric::OffTokens, micros(ufloat(self.off_tokens) / ufloat(tokens)));
        }
        (out.at_best, out.left_best) = (count(self.at_best), count(self.left_best));
        if self.at_best > 0 {
            out.set(Metric::FalseMove, share(self.left_best, self.at_best));
        }
    }

    /// How the rungs changed.
    fn changes(&self, log: &RunLog, out: &mut RunScore) {
        let hundred = |events: u64| share(events.saturating_mul(100), self.rounds);
        out.set(Metric::Moves, hundred(self.moves));
        out.set(Metric::Reversals, hundred(self.turning.reversals));
        out.set(Metric::Pinned, hundred(u64::from(log.pinned)));
        let (cycle, chatter) = self.turning.verdict();
        out.set(Metric::LimitCycle, i64::from(cycle) * ONE);
        out.set(Metric::Chatter, i64::from(chatter) * ONE);
        let hit = usize::try_from(self.stay.first).ok().and_then(|first| log.rung.get(first));
        let (over, square) = match (log.rung.first(), hit) {
            (Some(start), Some(hit)) if hit < start => (self.past.harder, self.past.harder_square),
            (Some(start), Some(hit)) if hit > start => (self.past.softer, self.past.softer_square),
            _ => (0, 0),
        };
        out.set(Metric::Overshoot, i64::from(over) * ONE);
        out.set(Metric::OvershootLog, whole(ufloat(square).sqrt()));
    }

    /// When it arrived and how long it stayed.
    fn settling(&self, log: &RunLog, hold: u32, out: &mut RunScore) {
        out.set(Metric::HitRounds, times(self.stay.first.min(self.rounds), ONE));
        out.settling = Settling { settled: self.stay.settled, at_risk: at_risk(log.rounds(), hold) };
        let at = self.stay.settled.map_or(log.rounds(), |round| round as usize);
        out.set(Metric::Settled, i64::from(self.stay.settled.is_some()) * ONE);
        out.set(Metric::SettleRounds, times(at as u64, ONE));
        out.set(Metric::SettleTokens, times(log.tokens.get(at).copied().unwrap_or(0), ONE));
        out.set(Metric::SettleSecs, times(elapsed(log, at), 1_000));
        if self.stay.settled.is_some() {
            let (rounds, stretches) = self.stay.before;
            out.set(Metric::Retain, share(self.on - rounds, self.stay.starts - stretches));
        }
    }
}

/// Bias and block error: what the tokens were per turn, long after the start.
fn blocks(log: &RunLog, scoring: &Scoring, out: &mut RunScore) {
    let burn_in = scoring.burn_in as usize;
    let between = |from: usize, to: usize| -> Option<(u64, u64)> {
        let difference = |counts: &[u64]| Some(counts.get(to)?.saturating_sub(*counts.get(from)?));
        Some((difference(&log.tokens)?, difference(&log.turns)?))
    };
    if let Some((tokens, turns)) = between(burn_in, log.rounds())
        && turns > 0
    {
        out.set(Metric::Bias, micros(scoring.ratio(tokens, turns) - 1.0));
    }
    let (block, step) = (scoring.block.max(1) as usize, scoring.block_step.max(1) as usize);
    let (mut squares, mut blocks, mut from) = (0_u64, 0_u64, burn_in);
    while let Some((tokens, turns)) = between(from, from + block) {
        if turns > 0 {
            let error = micros(libm::log(scoring.ratio(tokens.max(1), turns))).unsigned_abs();
            squares += error * error;
            blocks += 1;
        }
        from += step;
    }
    if blocks > 0 {
        out.set(Metric::BlockErr, whole((ufloat(squares) / ufloat(blocks)).sqrt()));
    }
}

/// Rounds at which a run of `rounds` could still settle.
fn at_risk(rounds: usize, hold: u32) -> u32 {
    (count(rounds) + 1).saturating_sub(hold)
}

/// Milliseconds from the start of the run to that of round `at`.
fn elapsed(log: &RunLog, at: usize) -> u64 {
    let first = log.at_ms.first().copied().unwrap_or(0);
    log.at_ms.get(at).copied().unwrap_or(first).saturating_sub(first)
}

/// A count of rounds: far below what 32 bits hold.
fn count<N: TryInto<u32>>(rounds: N) -> u32 {
    rounds.try_into().unwrap_or(u32::MAX)
}

/// `value` in units of `grain` millionths, held at the end.
fn times(value: u64, grain: i64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX).saturating_mul(grain)
}

/// `part / whole` in millionths, rounded to the nearest; `whole` is not zero.
fn share(part: u64, whole: u64) -> i64 {
    micros(float(i128::from(part)) / float(i128::from(whole)))
}

#[cfg(test)]
mod tests;
