//! One run as running totals, for every rung.
//!
//! Each round is laid down once a rung: when each report lands after the round began, what was reported before it, what
//! the round comes to. A round of a cell is then a few additions ([`lanes`](super::lanes)); the sum over its window is a
//! look into the one round that the window begins in, and a subtraction. What a cell is told is exactly what the meter
//! would tell it.
//!
//! Where in a round a window begins is not searched for: the time from the round's begin, shifted right, is a place in a
//! small index that has about as many places as the round has reports, so that it leads to within a report or so of the
//! one that is meant, whatever the round, without a branch that has to be guessed.
//!
//! It applies wherever luck depends on the round alone and never on what was decided, which is so for every scenario that
//! can be written today. Units: tokens, milliseconds, rounds from 0.

use crate::engine::settlement::{Part, settle};
use crate::engine::{Grade, RoundSums, Tokens};
use crate::sim::{Closing, Luck, RoundDraw};

/// A run, laid down for every rung: rounds in order, and within a round the rungs, so that what is needed together lies
/// together.
#[derive(Clone, Debug, Default)]
pub struct Tables {
    rungs: usize,
    facts: Vec<Facts>,
    reports: Vec<Report>,
    /// For each place of a round's index, the first report that does not land before it.
    index: Vec<u32>,
    /// Sums of the rounds with their logarithms; empty where no law asks for them.
    logs: Vec<RoundSums>,
    draw: RoundDraw,
    parts: Vec<Part>,
}

/// A round at one rung.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Facts {
    pub(super) millis: u64,
    pub(super) billed: u64,
    pub(super) reported: u64,
    pub(super) turns: u32,
    /// Where its reports begin.
    first: u32,
    /// Where its index begins.
    index: u32,
    /// How many bits of a time say nothing about its place in the index.
    shift: u32,
}

/// A report. One more than there are turns closes each round: it lands with the end of the round, and no window begins
/// past it.
#[derive(Clone, Copy, Debug, Default)]
struct Report {
    /// Milliseconds after the round began.
    at: u64,
    /// Tokens reported in the round before it.
    before: u64,
}

impl Tables {
    /// Lays down all rounds of a run. Logarithms of the rounds' turns are summed only where a law asks for them.
    pub fn fill(&mut self, luck: &mut Luck<'_>, rungs: usize, logs: bool) {
        self.rungs = rungs;
        self.facts.clear();
        self.reports.clear();
        self.index.clear();
        self.logs.clear();
        let mut draw = std::mem::take(&mut self.draw);
        for round in 0..luck.rounds() {
            for rung in 0..rungs {
                luck.realise(rung, u32::try_from(round).unwrap_or(u32::MAX), &mut draw);
                self.push(&draw, logs);
            }
        }
        self.draw = draw;
    }

    /// How many rungs it holds.
    pub(super) const fn rungs(&self) -> usize {
        self.rungs
    }

    /// How many rounds it holds.
    #[must_use]
    pub fn rounds(&self) -> usize {
        self.facts.len() / self.rungs.max(1)
    }

    /// The rungs of a round.
    #[inline]
    pub(super) fn row(&self, round: usize) -> &[Facts] {
        &self.facts[round * self.rungs..(round + 1) * self.rungs]
    }

    /// A round at a rung.
    #[inline]
    pub(super) fn facts(&self, round: usize, rung: usize) -> &Facts {
        &self.facts[round * self.rungs + rung]
    }

    /// Sums of a round at a rung, without logarithms where no law asked for them.
    #[inline]
    pub(super) fn sums(&self, round: usize, rung: usize) -> RoundSums {
        self.logs.get(round * self.rungs + rung).copied().unwrap_or_else(|| {
            let facts = self.facts(round, rung);
            RoundSums { turns: facts.turns.into(), output: Tokens::new(facts.reported), ..RoundSums::default() }
        })
    }

    /// What the reports of a round that landed before `rel`, which is not past its end, came to, in tokens and turns.
    /// A lump lands with the end, so that only turns can be missed.
    #[inline]
    pub(super) fn missed(&self, facts: &Facts, rel: u64) -> (u64, u32) {
        let place = facts.index + low(rel >> facts.shift);
        let mut dead = self.index[place as usize];
        let reports = &self.reports[facts.first as usize..];
        // the first steps are taken whether or not they go anywhere: few rounds need another
        for _ in 0..SURE {
            dead += u32::from(reports[dead as usize].at < rel);
        }
        while reports[dead as usize].at < rel {
            dead += 1;
        }
        (reports[dead as usize].before, dead)
    }
}

/// Steps along the reports that are taken without asking whether they are needed.
const SURE: usize = 2;

/// By how many bits an index has more places than the round has reports.
const FINE: u32 = 0;

impl Tables {
    /// Lays down what a round brings at one rung.
    fn push(&mut self, draw: &RoundDraw, logs: bool) {
        if let Closing::Total(total) = draw.closing {
            let mut parts = std::mem::take(&mut self.parts);
            let landed = |&output: &u32| Part { output: Tokens::new(output.into()), grade: Grade::Estimated };
            parts.clear();
            parts.extend(draw.landed.iter().map(landed));
            settle(&mut parts, Tokens::new(total));
            self.lay(draw, parts.iter().map(|part| part.output.count()), logs);
            self.parts = parts;
        } else {
            self.lay(draw, draw.landed.iter().map(|&output| u64::from(output)), logs);
        }
    }

    /// Lays down a round whose turns are told as `outputs`.
    fn lay(&mut self, draw: &RoundDraw, outputs: impl ExactSizeIterator<Item = u64> + Clone, logs: bool) {
        let (first, turns) = (self.reports.len(), small(outputs.len()));
        let (mut millis, mut reported) = (0_u64, 0_u64);
        self.reports.extend(draw.millis.iter().zip(outputs.clone()).map(|(&lasts, output)| {
            let before = reported;
            millis += u64::from(lasts);
            reported = reported.saturating_add(output);
            Report { at: millis, before }
        }));
        self.reports.push(Report { at: millis, before: reported });
        if let Closing::Lump(tokens) = draw.closing {
            reported = reported.saturating_add(tokens);
        }
        let shift = bits(millis).saturating_sub(bits(turns.into()) + FINE);
        let facts = Facts {
            millis,
            billed: draw.total(),
            reported,
            turns,
            first: small(first),
            index: small(self.index.len()),
            shift,
        };
        self.facts.push(facts);
        point(&mut self.index, &self.reports[first..], shift);
        if logs {
            let mut sums = RoundSums { turns: turns.into(), output: Tokens::new(reported), ..RoundSums::default() };
            outputs.for_each(|output| sums.add_log(output));
            self.logs.push(sums);
        }
    }
}

/// Adds a round's index: for each time of so many bits less, how many reports land at an earlier one. They are counted
/// by place and then summed, which takes no guess at how many share a place.
fn point(index: &mut Vec<u32>, reports: &[Report], shift: u32) {
    let (from, end) = (index.len(), reports.last().map_or(0, |report| low(report.at >> shift)));
    // one more place, past those that are looked at, takes the reports of the last
    index.resize(from + end as usize + 2, 0);
    let places = &mut index[from..];
    for report in reports {
        places[low(report.at >> shift) as usize + 1] += 1;
    }
    let mut sum = 0;
    for place in &mut places[1..] {
        sum += *place;
        *place = sum;
    }
    index.pop();
}

/// How many bits a number has.
const fn bits(number: u64) -> u32 {
    u64::BITS - number.leading_zeros()
}

/// A number that is known to be below 2^32.
#[expect(clippy::cast_possible_truncation, reason = "a time without its lower bits has as few places as a round turns")]
const fn low(number: u64) -> u32 {
    number as u32
}

/// A count of rounds or reports of one run, which are far below 2^32.
pub(super) fn small(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
