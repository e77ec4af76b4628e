//! One run's log and what was right become its score: one pass over the rounds, without branches that guess and
//! without allocation.
//!
//! Definitions are those of [`super::metric`]. Not statistics over runs. Everything is an integer up to the last
//! division, root or logarithm of a metric, and an integer again after it. Source of the definitions: the control study,
//! its dwell time for settling in the place of "enters and never leaves", which has probability 0 in a noisy loop as the
//! horizon grows; half periods of an oscillation after Thornhill and Hagglund (1997), called regular where their mean is
//! more than 3 standard deviations.

use core::cmp::Ordering;

use super::fixed::{ONE, float, micros, ufloat, whole};
use super::metric::{Metric, RunScore, Settling};
use super::runlog::{LogError, RunLog, Seen};
use super::truth::{Cell, Truth};
use crate::engine::Target;

/// Fewer half periods than this say nothing about a cycle.
const HALF_PERIODS: u64 = 8;

/// Rounds looked at together.
const CHUNK: usize = 64;

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
    log.check_shape(truth.rungs())?;
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

/// [`Metric::InBandMeasured`] of a run alone, which needs no truth: all that is asked of an oracle.
#[must_use]
pub fn in_band_measured(log: &RunLog) -> Option<i64> {
    let seen = |what: fn(Seen) -> bool| log.seen.iter().map(|&seen| u64::from(what(seen))).sum::<u64>();
    let readings = seen(|seen| seen != Seen::Nothing);
    (readings > 0).then(|| share(seen(|seen| seen == Seen::Inside), readings))
}

/// When a run settled, counted from round `from`, as after a scheduled disturbance: the first `hold` acceptable rounds
/// in a row that begin there or later and end before `until` (the next disturbance) and inside the run.
///
/// # Errors
/// As [`score`].
pub fn settling_from(log: &RunLog, truth: &Truth, hold: u32, from: usize, until: usize) -> Result<Settling, LogError> {
    log.check_shape(truth.rungs())?;
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
    squares: u64,
    off_tokens: u64,
    at_best: u64,
    left_best: u64,
    moves: u64,
    hit: Option<usize>,
    turning: Turning,
    stay: Stay,
    past: u64,
    past_square: u64,
}

/// Reversals, and the half periods and swings between them.
#[derive(Clone, Copy, Default)]
struct Turning {
    direction: i32,
    reversals: u64,
    /// All ones once there is a turning point to count from.
    begun: u64,
    last: u64,
    rung: u64,
    halves: u64,
    squares: u64,
    swings: u64,
}

/// Stretches of acceptable rounds.
#[derive(Clone, Copy, Default)]
struct Stay {
    run: u64,
    starts: u64,
    settled: Option<u64>,
    /// Acceptable rounds and stretches before the settled one.
    before: (u64, u64),
}

/// `value` where `mask` is all ones, `other` where it is zero. Written out because what turns is hard to predict.
#[inline]
const fn select(mask: u64, value: u64, other: u64) -> u64 {
    other ^ (other ^ value) & mask
}

impl Turning {
    /// A move after round `k` from `rung` by `step`, which is not zero.
    #[inline]
    fn moved(&mut self, k: u64, rung: u64, step: i32) {
        let turned = u64::from(step * self.direction < 0);
        let mask = turned.wrapping_neg();
        let (counts, half) = (mask & self.begun, k - self.last);
        self.halves += half & counts;
        self.squares += (half * half) & counts;
        self.swings += rung.abs_diff(self.rung) & counts;
        self.reversals += turned;
        self.begun |= mask;
        self.last = select(mask, k, self.last);
        self.rung = select(mask, rung, self.rung);
        self.direction = step;
    }

    /// Whether the run cycled, and whether it chattered.
    fn verdict(&self) -> (bool, bool) {
        let halves = self.reversals.saturating_sub(1);
        if halves < HALF_PERIODS {
            return (false, false);
        }
        let (n, sum) = (u128::from(halves), u128::from(self.halves));
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
    fn round(&mut self, k: u64, on: u64, total: u64, hold: u64) {
        self.starts += on & u64::from(self.run == 0);
        self.run = (self.run + 1) & on.wrapping_neg();
        if self.run == hold && self.settled.is_none() {
            self.settled = Some(k + 1 - hold);
            self.before = (total + 1 - hold, self.starts - 1);
        }
    }
}

impl Pass {
    /// All rounds, a word's worth at a time: what each round needs is gathered once, and each small loop over it has few
    /// enough sums to keep them in registers.
    fn over(log: &RunLog, truth: &Truth, hold: u32) -> Self {
        let hit = log.rung.iter().zip(truth.rows()).position(|(&rung, row)| cell(row, rung).acceptable() == 1);
        let mut pass = Self { rounds: log.rounds() as u64, hit, ..Self::default() };
        let after = hit.map_or(log.rounds(), |hit| hit + 1);
        let side = approach(log, hit);
        let (mut rows, mut gathered) = (truth.rows(), [Cell(0); CHUNK]);
        for from in (0..log.rounds()).step_by(CHUNK) {
            let to = log.rounds().min(from + CHUNK);
            let rungs = &log.rung[from..log.rounds().min(to + 1)];
            for ((slot, &rung), row) in gathered.iter_mut().zip(&rungs[..to - from]).zip(rows.by_ref()) {
                *slot = cell(row, rung);
            }
            let cells = &gathered[..to - from];
            pass.places(cells, &log.tokens[from..=to]);
            pass.moving(from as u64, cells, rungs);
            pass.staying(from as u64, cells, u64::from(hold));
            pass.passing(cells.get(after.saturating_sub(from)..).unwrap_or_default(), side);
            if to == log.rounds() {
                // after the last round there is no other that could have left the rung
                pass.at_best -= cells.last().map_or(0, |cell| cell.nearest());
            }
        }
        pass
    }

    /// Where the rungs were; `tokens` are cumulative, one more than there are cells.
    #[inline]
    fn places(&mut self, cells: &[Cell], tokens: &[u64]) {
        let (mut in_band, mut at_best, mut squares, mut off) = (0, 0, 0, 0_u64);
        for (cell, pair) in cells.iter().zip(tokens.windows(2)) {
            in_band += cell.in_band();
            at_best += cell.nearest();
            squares += cell.square();
            off = off.wrapping_add(pair[1].wrapping_sub(pair[0]) & cell.acceptable().wrapping_sub(1));
        }
        self.in_band += in_band;
        self.at_best += at_best;
        self.squares += squares;
        self.off_tokens = self.off_tokens.wrapping_add(off);
    }

    /// Where they moved. The places are written down first, so that no branch has to guess them.
    #[inline]
    fn moving(&mut self, from: u64, cells: &[Cell], rungs: &[u8]) {
        let (mut places, mut moves) = ([0_u8; CHUNK], 0);
        for (place, pair) in (0_u8..).zip(rungs.windows(2)) {
            places[moves % CHUNK] = place;
            moves += usize::from(pair[0] != pair[1]);
        }
        let (mut turning, mut left) = (self.turning, 0);
        for &place in &places[..moves] {
            let at = usize::from(place);
            let (Some(cell), Some(pair)) = (cells.get(at), rungs.get(at..at + 2)) else { continue };
            left += cell.nearest();
            turning.moved(from + u64::from(place), u64::from(pair[0]), i32::from(pair[1]) - i32::from(pair[0]));
        }
        (self.turning, self.left_best) = (turning, self.left_best + left);
        self.moves += moves as u64;
    }

    /// How long they stayed acceptable.
    #[inline]
    fn staying(&mut self, from: u64, cells: &[Cell], hold: u64) {
        let (mut stay, mut total) = (self.stay, self.on);
        for (k, cell) in (from..).zip(cells) {
            let on = cell.acceptable();
            stay.round(k, on, total, hold);
            total += on;
        }
        (self.stay, self.on) = (stay, total);
    }

    /// How far they went past the acceptable ones.
    #[inline]
    fn passing(&mut self, cells: &[Cell], side: u32) {
        if side == Cell::NEITHER {
            return;
        }
        let (mut most, mut square) = (self.past, self.past_square);
        for cell in cells {
            let past = cell.past(side);
            most = most.max(past);
            square = square.max(if past > 0 { cell.square() } else { 0 });
        }
        (self.past, self.past_square) = (most, square);
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
        if let Some(measured) = in_band_measured(log) {
            out.set(Metric::InBandMeasured, measured);
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
        out.set(Metric::Overshoot, times(self.past, ONE));
        out.set(Metric::OvershootLog, whole(ufloat(self.past_square).sqrt()));
    }

    /// When it arrived and how long it stayed.
    fn settling(&self, log: &RunLog, hold: u32, out: &mut RunScore) {
        out.set(Metric::HitRounds, times(self.hit.unwrap_or(log.rounds()) as u64, ONE));
        let settled = self.stay.settled.map(count);
        out.settling = Settling { settled, at_risk: at_risk(log.rounds(), hold) };
        let at = settled.map_or(log.rounds(), |round| round as usize);
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
    // always in the order of rounds, so that a float does as well as an integer
    let (mut squares, mut blocks, mut from) = (0.0, 0_u64, burn_in);
    while let Some((tokens, turns)) = between(from, from + block) {
        if turns > 0 {
            let error = libm::log(scoring.ratio(tokens.max(1), turns));
            squares += error * error;
            blocks += 1;
        }
        from += step;
    }
    if blocks > 0 {
        out.set(Metric::BlockErr, micros((squares / ufloat(blocks)).sqrt()));
    }
}

/// What is to be known of a rung in a round; nothing is right of a rung off the ladder, and the shape is checked before.
#[inline]
fn cell(row: &[Cell], rung: u8) -> Cell {
    row.get(usize::from(rung)).copied().unwrap_or(Cell(0))
}

/// The side of the acceptable rungs that lies away from the first rung, seen from the first acceptable one.
fn approach(log: &RunLog, hit: Option<usize>) -> u32 {
    let rung = |round: usize| log.rung.get(round).copied().unwrap_or(0);
    match hit.map(|hit| rung(hit).cmp(&rung(0))) {
        Some(Ordering::Less) => Cell::HARDER,
        Some(Ordering::Greater) => Cell::SOFTER,
        Some(Ordering::Equal) | None => Cell::NEITHER,
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
mod reference;
#[cfg(test)]
mod tests;
