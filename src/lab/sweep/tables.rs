//! One run as running totals, and cells governed on them.
//!
//! For each rung the whole run is laid down once: what each report adds, when it lands after its round began, what each
//! round comes to. A round of a cell is then a few additions; the sum over its window is a search inside the one round
//! that the window begins in, and a subtraction. What a cell is told is exactly what the meter would tell it.
//!
//! It applies wherever luck depends on the round alone and never on what was decided, which is so for every scenario that
//! can be written today. Units: tokens, milliseconds, rounds from 0.

use crate::engine::settlement::{Part, settle};
use crate::engine::{
    Band, Cutoff, Grade, Law, Mean, Memory, Millis, Over, Reading, RoundSums, Rung, Rungs, Side, Sums, Timestamp,
    Tokens,
};
use crate::lab::runlog::{RunLog, Seen};
use crate::sim::{Closing, Luck, RoundDraw};

/// A run, laid down for every rung.
#[derive(Clone, Debug, Default)]
pub struct Tables {
    rungs: Vec<RungTable>,
    rounds: usize,
    draw: RoundDraw,
    parts: Vec<Part>,
}

/// A run at one rung.
#[derive(Clone, Debug, Default)]
struct RungTable {
    /// When each report lands, milliseconds after its round began.
    at: Vec<u64>,
    /// Reported tokens before each report, over the whole run; the last is the total.
    before: Vec<u64>,
    rounds: Vec<Round>,
    /// Sums of the rounds with their logarithms; empty where no law asks for them.
    logs: Vec<RoundSums>,
}

/// A round at one rung.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    millis: u64,
    billed: u64,
    reported: u64,
    turns: u32,
    /// Where its reports begin.
    first: u32,
}

impl Tables {
    /// Lays down all rounds of a run. Logarithms of the rounds' turns are summed only where a law asks for them.
    pub fn fill(&mut self, luck: &mut Luck<'_>, rungs: usize, logs: bool) {
        self.rounds = luck.rounds();
        self.rungs.resize_with(rungs, RungTable::default);
        self.rungs.iter_mut().for_each(RungTable::clear);
        for round in 0..self.rounds {
            for (rung, table) in self.rungs.iter_mut().enumerate() {
                luck.realise(rung, u32::try_from(round).unwrap_or(u32::MAX), &mut self.draw);
                table.push(&self.draw, &mut self.parts, logs);
            }
        }
    }

    /// How many rounds it holds.
    #[must_use]
    pub const fn rounds(&self) -> usize {
        self.rounds
    }
}

impl RungTable {
    fn clear(&mut self) {
        self.at.clear();
        self.before.clear();
        self.before.push(0);
        self.rounds.clear();
        self.logs.clear();
    }

    fn push(&mut self, draw: &RoundDraw, parts: &mut Vec<Part>, logs: bool) {
        parts.clear();
        if let Closing::Total(total) = draw.closing {
            let landed = |&output: &u32| Part { output: Tokens::new(output.into()), grade: Grade::Estimated };
            parts.extend(draw.landed.iter().map(landed));
            settle(parts, Tokens::new(total));
            self.lay(draw, parts.iter().map(|part| part.output.count()), logs);
        } else {
            self.lay(draw, draw.landed.iter().map(|&output| u64::from(output)), logs);
        }
    }

    /// Lays down a round whose turns are told as `outputs`.
    fn lay(&mut self, draw: &RoundDraw, outputs: impl ExactSizeIterator<Item = u64> + Clone, logs: bool) {
        let (first, turns, mut millis) = (small(self.at.len()), small(outputs.len()), 0_u64);
        self.at.extend(draw.millis.iter().map(|&lasts| {
            millis += u64::from(lasts);
            millis
        }));
        let start = self.before.last().copied().unwrap_or(0);
        let mut total = start;
        self.before.extend(outputs.clone().map(|output| {
            total = total.saturating_add(output);
            total
        }));
        if let Closing::Lump(tokens) = draw.closing {
            self.at.push(millis);
            total = total.saturating_add(tokens);
            self.before.push(total);
        }
        let reported = total - start;
        self.rounds.push(Round { millis, billed: draw.total(), reported, turns, first });
        if logs {
            let mut sums = RoundSums { turns: turns.into(), output: Tokens::new(reported), ..RoundSums::default() };
            outputs.for_each(|output| sums.add_log(output));
            self.logs.push(sums);
        }
    }

    /// What the reports of a round that landed before `rel`, which is not past its end, came to, in tokens and turns.
    /// A lump lands with the end, so that only turns can be missed.
    #[inline]
    fn missed(&self, round: usize, rel: u64) -> (u64, u64) {
        if rel == 0 {
            return (0, 0);
        }
        let facts = &self.rounds[round];
        let (from, to) = (facts.first as usize, (facts.first + facts.turns) as usize);
        let dead = self.at[from..to].partition_point(|&at| at < rel);
        (self.before[from + dead] - self.before[from], dead as u64)
    }
}

/// A count of rounds or reports of one run, which are far below 2^32.
fn small(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// How a cell is governed, whatever its law.
#[derive(Clone, Copy, Debug)]
pub struct Governed<'a> {
    /// The law's band.
    pub band: &'a Band,
    /// The band of the report, by which readings are judged.
    pub seen: &'a Band,
    /// The window.
    pub over: Over,
    /// The pause between rounds.
    pub rest: Millis,
    /// Output that the run may come to.
    pub budget: Option<Tokens>,
    /// The rung of the first round.
    pub start: Rung,
}

/// Buffers of one cell's run, used again by the next.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    past: Vec<Past>,
}

/// A round that was run, for the windows that reach back to it.
#[derive(Clone, Copy, Debug, Default)]
struct Past {
    began: u64,
    ended: u64,
    /// Reported tokens and turns before it.
    tokens: u64,
    turns: u32,
    rung: u8,
}

impl Tables {
    /// Governs one cell, round by round, into `log`.
    pub fn govern<L: Law>(&self, cell: &Governed<'_>, mut law: L, scratch: &mut Scratch, log: &mut RunLog) {
        let Some(rungs) = Rungs::new(self.rungs.len()) else { return };
        log.begin(small(self.rounds), cell.budget.map(Tokens::count));
        log.stretch(self.rounds);
        scratch.past.resize(self.rounds, Past::default());
        let since_move = law.memory() == Memory::SinceMove;
        let (mut now, mut ended, mut rung, mut live) = (0_u64, 0, cell.start, 0);
        let (mut reported, mut billed, mut turns, mut pinned, mut run) = (0_u64, 0_u64, 0_u32, false, 0);
        for round in 0..self.rounds {
            log.pinned += u32::from(pinned);
            let table = &self.rungs[rung.index()];
            let facts = &table.rounds[round];
            ended = now + facts.millis;
            scratch.past[round] = Past { began: now, ended, tokens: reported, turns, rung: rung.number() };
            (reported, billed, turns) = (reported + facts.reported, billed + facts.billed, turns + facts.turns);
            log.rung[round] = rung.number();
            log.at_ms[round] = now;
            log.tokens[round + 1] = billed;
            log.turns[round + 1] = turns.into();
            let at = Timestamp::from_millis(ended);
            let cutoff = cell.over.cutoff(at, at);
            let before = self.before(&scratch.past[..=round], &mut live, cutoff.millis());
            let window = Sums { turns: u64::from(turns) - before.1, output: Tokens::new(reported - before.0) };
            let bare =
                || RoundSums { turns: facts.turns.into(), output: Tokens::new(facts.reported), ..RoundSums::default() };
            let reading = Reading {
                now: at,
                cutoff,
                window,
                round: table.logs.get(round).copied().unwrap_or_else(bare),
                rung,
                rungs,
                band: cell.band,
                spent: Tokens::new(reported),
                budget: cell.budget,
            };
            let decision = law.decide(&reading);
            log.seen[round] = seen(cell.seen, window.mean());
            let to = rungs.clamp(decision.to);
            pinned = to == rung && decision.why.asks_to_move();
            if since_move && to != rung {
                live = round + 1;
            }
            (rung, run) = (to, round + 1);
            if cell.budget.is_some_and(|budget| reported >= budget.count()) {
                break;
            }
            now = ended + cell.rest.count();
        }
        log.cut(run, ended);
    }

    /// What was reported before the window, in tokens and turns; it ends with the last of these rounds, and `live` is the
    /// first that it may begin in.
    #[inline(always)]
    fn before(&self, past: &[Past], live: &mut usize, cutoff: u64) -> (u64, u64) {
        let mut first = past[*live];
        while first.ended < cutoff && *live + 1 < past.len() {
            *live += 1;
            first = past[*live];
        }
        let missed = self.rungs[usize::from(first.rung)].missed(*live, cutoff.saturating_sub(first.began));
        (first.tokens + missed.0, u64::from(first.turns) + missed.1)
    }
}

/// What can be read, judged by the band of the report.
#[inline]
pub(super) fn seen(band: &Band, mean: Option<Mean>) -> Seen {
    match mean.map(|mean| band.side(mean)) {
        None => Seen::Nothing,
        Some(Side::Within) => Seen::Inside,
        Some(Side::Below | Side::Above) => Seen::Outside,
    }
}
