//! Cells governed on a run's tables, several side by side.
//!
//! The next round of a cell hangs on the decision after the last one, and that on a chain of loads, so that one cell by
//! itself leaves a processor waiting most of the time. Cells do not hang on each other: each round of all of them is taken
//! before the next, in three short passes, so that their chains overlap. That pays only where next to nothing has to be
//! guessed, because a wrong guess throws away the work of all; hence steps that are taken whether or not they go anywhere,
//! and a loop for what they leave.
//!
//! It is not a law and has none: the law, the band and the cutoff are the engine's own. Units: tokens, milliseconds, rounds
//! from 0.

use super::tables::{Tables, small};
use crate::engine::{
    Band, Cutoff, Law, Mean, Memory, Millis, Over, Reading, Rung, Rungs, Side, Sums, Timestamp, Tokens,
};
use crate::lab::runlog::{RunLog, Seen};

/// Cells that are governed side by side: enough to keep a processor busy, few enough for its nearest memory; ten, as lists of settings often are.
pub const LANES: usize = 10;

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

/// Buffers of a batch, used again by the next.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    /// Where each cell stood before each round, and after the last.
    past: Vec<[Place; LANES]>,
    /// The first round that the next window may begin in.
    live: [usize; LANES],
    window: [Window; LANES],
    /// Rounds until the budget was spent.
    ran: [usize; LANES],
    pinned: [u32; LANES],
}

/// Where a cell stands before a round.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// When the round begins.
    began: u64,
    /// Tokens and turns before it.
    reported: u64,
    billed: u64,
    turns: u32,
    rung: Rung,
    /// What could be read before it, after the round that ended last.
    seen: Seen,
}

/// The window that is read after a round.
#[derive(Clone, Copy, Debug, Default)]
struct Window {
    now: Timestamp,
    cutoff: Timestamp,
    sums: Sums,
}

/// Rounds that a window moves on by without asking whether it does.
const SURE: usize = 2;

impl Tables {
    /// Governs one cell, round by round, into `log`.
    pub fn govern<L: Law>(&self, cell: &Governed<'_>, law: L, scratch: &mut Scratch, log: &mut RunLog) {
        self.govern_all(&[*cell], &mut [law], scratch, std::slice::from_mut(log));
    }

    /// Governs up to [`LANES`] cells side by side, each by its own law and into its own log; what is longer or has no
    /// counterpart in the others is left alone.
    pub fn govern_all<L: Law>(
        &self,
        cells: &[Governed<'_>],
        laws: &mut [L],
        scratch: &mut Scratch,
        logs: &mut [RunLog],
    ) {
        let Some(rungs) = Rungs::new(self.rungs()) else { return };
        let rounds = self.rounds();
        scratch.begin(cells, rounds);
        for round in 0..rounds {
            scratch.run(self, cells, round);
            scratch.look(self, cells, round);
            scratch.decide(self, cells, laws, rungs, round);
        }
        for (lane, (cell, log)) in cells.iter().zip(logs).enumerate().take(LANES) {
            scratch.write(lane, cell, log);
        }
    }
}

impl Scratch {
    fn begin(&mut self, cells: &[Governed<'_>], rounds: usize) {
        self.past.resize(rounds + 1, Default::default());
        self.live = [0; LANES];
        self.ran = [rounds; LANES];
        self.pinned = [0; LANES];
        for (place, cell) in self.past[0].iter_mut().zip(cells) {
            *place = Place { rung: cell.start, ..Place::default() };
        }
    }

    /// Runs one round of every cell, and finds the round that its window begins in.
    #[inline(always)]
    fn run(&mut self, tables: &Tables, cells: &[Governed<'_>], round: usize) {
        let row = tables.row(round);
        for (lane, cell) in cells.iter().enumerate().take(LANES) {
            let here = self.past[round][lane];
            let facts = &row[here.rung.index()];
            let now = Timestamp::from_millis(here.began + facts.millis);
            self.past[round + 1][lane] = Place {
                began: now.after(cell.rest).millis(),
                reported: here.reported + facts.reported,
                billed: here.billed + facts.billed,
                turns: here.turns + facts.turns,
                ..here
            };
            let cutoff = cell.over.cutoff(now, now);
            self.window[lane] = Window { now, cutoff, sums: Sums::default() };
            // a round ended before the cutoff where the next one began before that and a rest; the one that just ended did
            // not, so that no step goes past it
            let (limit, mut live) = (cutoff.after(cell.rest).millis(), self.live[lane]);
            for _ in 0..SURE {
                live += usize::from(self.past[live + 1][lane].began < limit);
            }
            while self.past[live + 1][lane].began < limit {
                live += 1;
            }
            self.live[lane] = live;
        }
    }

    /// Sums every cell's window.
    #[inline(always)]
    fn look(&mut self, tables: &Tables, cells: &[Governed<'_>], round: usize) {
        for (lane, _) in cells.iter().enumerate().take(LANES) {
            let (live, after) = (self.live[lane], &self.past[round + 1][lane]);
            let first = &self.past[live][lane];
            let rel = self.window[lane].cutoff.millis().saturating_sub(first.began);
            let (tokens, turns) = tables.missed(tables.facts(live, first.rung.index()), rel);
            self.window[lane].sums = Sums {
                turns: (after.turns - first.turns - turns).into(),
                output: Tokens::new(after.reported - first.reported - tokens),
            };
        }
    }

    /// Asks every cell's law.
    #[inline(always)]
    fn decide<L: Law>(&mut self, tables: &Tables, cells: &[Governed<'_>], laws: &mut [L], rungs: Rungs, round: usize) {
        for (lane, (cell, law)) in cells.iter().zip(laws).enumerate().take(LANES) {
            let (window, after) = (self.window[lane], &mut self.past[round + 1][lane]);
            let rung = after.rung;
            let reading = Reading {
                now: window.now,
                cutoff: window.cutoff,
                window: window.sums,
                round: tables.sums(round, rung.index()),
                rung,
                rungs,
                band: cell.band,
                spent: Tokens::new(after.reported),
                budget: cell.budget,
            };
            let decision = law.decide(&reading);
            after.seen = seen(cell.seen, window.sums.mean());
            after.rung = rungs.clamp(decision.to);
            let moved = after.rung != rung;
            if law.memory() == Memory::SinceMove && moved {
                self.live[lane] = round + 1;
            }
            // one whose budget is spent goes on in the company of the others, and is cut back in the end
            if cell.budget.is_some_and(|budget| after.reported >= budget.count()) {
                self.ran[lane] = self.ran[lane].min(round + 1);
            }
            self.pinned[lane] += u32::from(!moved && decision.why.asks_to_move() && round + 1 < self.ran[lane]);
        }
    }

    /// Writes down what a cell did.
    fn write(&self, lane: usize, cell: &Governed<'_>, log: &mut RunLog) {
        let (ran, rounds) = (self.ran[lane], self.past.len() - 1);
        log.begin(small(rounds), cell.budget.map(Tokens::count));
        log.pinned = self.pinned[lane];
        let here = || self.past[..ran].iter().map(|places| &places[lane]);
        let after = || self.past[1..=ran].iter().map(|places| &places[lane]);
        log.rung.extend(here().map(|place| place.rung.number()));
        log.at_ms.extend(here().map(|place| place.began));
        log.seen.extend(after().map(|place| place.seen));
        log.tokens.extend(after().map(|place| place.billed));
        log.turns.extend(after().map(|place| u64::from(place.turns)));
        // a run is over when its last round is, with no rest after it
        let end = self.past[ran][lane].began;
        log.finish(if ran > 0 { end - cell.rest.count() } else { end });
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
