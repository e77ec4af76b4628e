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
    at: Vec<u32>,
    /// Reported tokens before each report, over the whole run; the last is the total.
    before: Vec<u64>,
    /// Where each round's reports begin; the last is the end.
    first: Vec<u32>,
    rounds: Vec<Round>,
}

/// A round at one rung.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    millis: u64,
    billed: u64,
    turns: u32,
    sums: RoundSums,
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
        self.first.clear();
        self.first.push(0);
        self.rounds.clear();
    }

    fn push(&mut self, draw: &RoundDraw, parts: &mut Vec<Part>, logs: bool) {
        let mut round = Round { billed: draw.total(), turns: small(draw.tokens.len()), ..Round::default() };
        let lump = match draw.closing {
            Closing::Total(total) => {
                parts.clear();
                let landed = |&output: &u32| Part { output: Tokens::new(output.into()), grade: Grade::Estimated };
                parts.extend(draw.landed.iter().map(landed));
                settle(parts, Tokens::new(total));
                None
            }
            Closing::Lump(tokens) => Some(tokens),
            Closing::None => None,
        };
        let settled = matches!(draw.closing, Closing::Total(_));
        for (turn, millis) in draw.millis.iter().enumerate() {
            round.millis += u64::from(*millis);
            let output = if settled { parts[turn].output.count() } else { u64::from(draw.landed[turn]) };
            self.report(round.millis, output);
            round.sums.turns += 1;
            round.sums.output = round.sums.output.plus(Tokens::new(output));
            if logs {
                round.sums.add_log(output);
            }
        }
        if let Some(tokens) = lump {
            self.report(round.millis, tokens);
            round.sums.output = round.sums.output.plus(Tokens::new(tokens));
        }
        self.first.push(small(self.at.len()));
        self.rounds.push(round);
    }

    fn report(&mut self, at: u64, output: u64) {
        self.at.push(u32::try_from(at).unwrap_or(u32::MAX));
        let total = self.before.last().copied().unwrap_or(0);
        self.before.push(total.saturating_add(output));
    }

    /// What the reports of a round that landed before `rel` came to, in tokens and turns.
    #[inline]
    fn missed(&self, round: usize, rel: u64) -> (u64, u64) {
        if rel == 0 {
            return (0, 0);
        }
        let (from, to) = (self.first[round] as usize, self.first[round + 1] as usize);
        let rel = u32::try_from(rel).unwrap_or(u32::MAX);
        let dead = self.at[from..to].partition_point(|&at| at < rel);
        let tokens = self.before[from + dead] - self.before[from];
        (tokens, (dead as u64).min(u64::from(self.rounds[round].turns)))
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
    /// Reported tokens and turns before each round.
    reported: Vec<(u64, u64)>,
}

impl Tables {
    /// Governs one cell, round by round, into `log`.
    pub fn govern<L: Law>(&self, cell: &Governed<'_>, mut law: L, scratch: &mut Scratch, log: &mut RunLog) {
        let Some(rungs) = Rungs::new(self.rungs.len()) else { return };
        log.begin(small(self.rounds), cell.budget.map(Tokens::count));
        scratch.reported.clear();
        scratch.reported.push((0, 0));
        let since_move = law.memory() == Memory::SinceMove;
        let (mut now, mut ended, mut rung, mut live) = (0u64, 0, cell.start, 0);
        let (mut total, mut pinned) = ((0u64, 0u64), false);
        for round in 0..self.rounds {
            log.pinned += u32::from(pinned);
            let facts = &self.rungs[rung.index()].rounds[round];
            ended = now + facts.millis;
            total = (total.0 + facts.sums.output.count(), total.1 + facts.sums.turns);
            scratch.reported.push(total);
            log.rung.push(rung.number());
            log.at_ms.push(now);
            log.tokens.push(log.total_tokens() + facts.billed);
            log.turns.push(log.total_turns() + u64::from(facts.turns));
            let at = Timestamp::from_millis(ended);
            let cutoff = cell.over.cutoff(at, at);
            let window = self.window(log, scratch, &mut live, cutoff.millis(), ended);
            let reading = Reading {
                now: at,
                cutoff,
                window,
                round: facts.sums,
                rung,
                rungs,
                band: cell.band,
                spent: Tokens::new(total.0),
                budget: cell.budget,
            };
            let decision = law.decide(&reading);
            log.seen.push(seen(cell.seen, window.mean()));
            let to = rungs.clamp(decision.to);
            pinned = to == rung && decision.why.asks_to_move();
            if since_move && to != rung {
                live = round + 1;
            }
            rung = to;
            if cell.budget.is_some_and(|budget| total.0 >= budget.count()) {
                break;
            }
            now = ended + cell.rest.count();
        }
        log.finish(ended);
    }

    /// The sums over the window that ends with the last round of `log`; `live` is the first round it may begin in.
    #[inline]
    fn window(&self, log: &RunLog, scratch: &Scratch, live: &mut usize, cutoff: u64, end: u64) -> Sums {
        let last = log.rung.len() - 1;
        let ended = |round: usize| {
            if round == last { end } else { log.at_ms[round] + self.facts(log, round).millis }
        };
        while *live < last && ended(*live) < cutoff {
            *live += 1;
        }
        let total = scratch.reported[last + 1];
        let before = scratch.reported[*live];
        let table = &self.rungs[usize::from(log.rung[*live])];
        let missed = table.missed(*live, cutoff.saturating_sub(log.at_ms[*live]));
        Sums { turns: total.1 - before.1 - missed.1, output: Tokens::new(total.0 - before.0 - missed.0) }
    }

    #[inline]
    fn facts(&self, log: &RunLog, round: usize) -> &Round {
        &self.rungs[usize::from(log.rung[round])].rounds[round]
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
