//! How runs end: which control stopped them, what was spent until then, and what a cap on rounds would have come to.
//!
//! Integers only, until figures are asked for, so that neither threads nor order change a digit. It does not run anything: a
//! [`RunEnd`] is filled by whoever runs the loop.
//!
//! A cap on rounds needs no runs of its own. No law is shown such a cap, so a run under a cap of N rounds is the first N rounds of the
//! run without it, on the same luck; what it would have saved and lost is read off the same run, paired. That does not hold for other caps:
//! the law is shown the budget, and time ends rounds in their middle.
//!
//! Units: output tokens, millionths of a USD, rounds. Figures are in millionths of tokens, USD, rounds and shares.

use super::fixed::{ONE, float, micros, ufloat};
use super::result::Figure;
use super::runlog::RunLog;
use super::stats::{Estimate, Interval, Moments, student, wilson};
use crate::engine::{Control, MicroUsd};

/// How many controls there are.
const CONTROLS: usize = Control::ALL.len();

/// How one run ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunEnd {
    /// What stopped it; none where nothing was run.
    pub control: Option<Control>,
    /// Cost before each round, cumulative from 0; the last is the total. One place more than rounds.
    pub costs: Vec<u64>,
}

impl RunEnd {
    /// Empty it for a new run, keeping the buffer.
    pub fn begin(&mut self) {
        self.control = None;
        self.costs.clear();
        self.costs.push(0);
    }

    /// One round, and what it cost.
    pub fn push(&mut self, cost: MicroUsd) {
        let before = self.costs.last().copied().unwrap_or(0);
        self.costs.push(before.saturating_add(cost.count()));
    }
}

/// What the ends of a cell's runs add up to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndTally {
    runs: u64,
    stops: [u64; CONTROLS],
    rounds: Sample,
    tokens: Ratio,
    cost: Ratio,
    /// Of the runs that were done.
    done_rounds: Sample,
    done_tokens: Sample,
    done_cost: Sample,
    caps: Vec<CapTally>,
}

/// Values of runs in millionths, kept for their quantiles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Sample {
    values: Vec<i64>,
}

/// A sum over runs over the number of those that were done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Ratio {
    all: Moments,
    /// Of the runs that were done.
    done: Moments,
}

/// A cap on rounds that was not there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct CapTally {
    rounds: u32,
    done: u64,
    tokens: Ratio,
    cost: Ratio,
    saved: Moments,
}

impl EndTally {
    /// Add a run.
    pub fn add(&mut self, end: &RunEnd, log: &RunLog) {
        let Some(control) = end.control else { return };
        self.runs += 1;
        self.stops[place(control)] += 1;
        let (rounds, done) = (log.rounds(), control == Control::OraclePassed);
        let number = ones(u64::try_from(rounds).unwrap_or(u64::MAX));
        let (tokens, cost) = (ones(log.total_tokens()), held(end.costs.last().copied().unwrap_or(0)));
        self.rounds.values.push(number);
        self.tokens.add(tokens, done);
        self.cost.add(cost, done);
        if done {
            self.done_rounds.values.push(number);
            self.done_tokens.values.push(tokens);
            self.done_cost.values.push(cost);
        }
        if self.caps.is_empty() {
            self.caps = caps(log.planned).map(|rounds| CapTally { rounds, ..CapTally::default() }).collect();
        }
        for cap in &mut self.caps {
            let within = rounds.min(usize::try_from(cap.rounds).unwrap_or(usize::MAX));
            let in_time = done && within == rounds;
            cap.done += u64::from(in_time);
            let until = ones(log.tokens[within]);
            cap.tokens.add(until, in_time);
            cap.cost.add(held(end.costs.get(within).copied().unwrap_or(0)), in_time);
            cap.saved.add(tokens - until);
        }
    }

    /// Add all of another tally of the same cell.
    pub fn merge(&mut self, other: &Self) {
        self.runs += other.runs;
        self.stops.iter_mut().zip(&other.stops).for_each(|(mine, theirs)| *mine += theirs);
        for (mine, theirs) in [
            (&mut self.rounds, &other.rounds),
            (&mut self.done_rounds, &other.done_rounds),
            (&mut self.done_tokens, &other.done_tokens),
            (&mut self.done_cost, &other.done_cost),
        ] {
            mine.values.extend_from_slice(&theirs.values);
        }
        self.tokens.merge(&other.tokens);
        self.cost.merge(&other.cost);
        if self.caps.is_empty() {
            self.caps.clone_from(&other.caps);
            return;
        }
        for (mine, theirs) in self.caps.iter_mut().zip(&other.caps) {
            mine.done += theirs.done;
            mine.tokens.merge(&theirs.tokens);
            mine.cost.merge(&theirs.cost);
            mine.saved.merge(&theirs.saved);
        }
    }

    /// Runs added.
    #[must_use]
    pub const fn runs(&self) -> u64 {
        self.runs
    }

    /// What it says; nothing without a run.
    #[must_use]
    pub fn figures(&self, confidence: f64) -> Option<EndFigures> {
        if self.runs == 0 {
            return None;
        }
        let share = |count| Share::new(count, self.runs, confidence);
        let t = student(self.runs, confidence);
        let caps = self.caps.iter().map(|cap| CapFigures {
            rounds: cap.rounds,
            done: share(cap.done),
            tokens: cap.tokens.all.estimate_with(t).map(Figure::from),
            cost: cap.cost.all.estimate_with(t).map(Figure::from),
            saved: cap.saved.estimate_with(t).map(Figure::from),
            tokens_per_done: cap.tokens.per_done(t),
            cost_per_done: cap.cost.per_done(t),
        });
        Some(EndFigures {
            stops: Control::ALL.map(|control| (control, share(self.stops[place(control)]))),
            rounds: self.rounds.figures(confidence),
            cost: self.cost.all.estimate_with(t).map(Figure::from),
            done_rounds: self.done_rounds.figures(confidence),
            done_tokens: self.done_tokens.figures(confidence),
            done_cost: self.done_cost.figures(confidence),
            tokens_per_done: self.tokens.per_done(t),
            cost_per_done: self.cost.per_done(t),
            caps: caps.collect(),
        })
    }
}

impl Sample {
    /// Mean with its interval, and quantiles; nothing of no value.
    fn figures(&self, confidence: f64) -> Option<SampleFigures> {
        let mut values = self.values.clone();
        values.sort_unstable();
        let mut moments = Moments::default();
        values.iter().for_each(|value| moments.add(*value));
        let at = |percent: usize| {
            let rank = (values.len() * percent).div_ceil(100).max(1) - 1;
            values.get(rank).copied()
        };
        Some(SampleFigures {
            mean: moments.estimate(confidence).map(Figure::from)?,
            p10: at(10)?,
            p50: at(50)?,
            p90: at(90)?,
        })
    }
}

impl Ratio {
    fn add(&mut self, value: i64, done: bool) {
        self.all.add(value);
        if done {
            self.done.add(value);
        }
    }

    fn merge(&mut self, other: &Self) {
        self.all.merge(&other.all);
        self.done.merge(&other.done);
    }

    /// What all runs spent for each that was done, with the linearised (delta method) interval over runs; `t` is Student's quantile.
    /// Nothing where none was done.
    fn per_done(&self, t: Option<f64>) -> Option<Figure> {
        if self.done.n() == 0 {
            return None;
        }
        let (runs, done) = (ufloat(self.all.n()), ufloat(self.done.n()));
        let (sum, sum_done) = (float(self.all.sum()) / 1e6, float(self.done.sum()) / 1e6);
        let mean = sum / done;
        let spread = self.all.squares() - 2.0 * mean * sum_done + mean * mean * done;
        let interval = t.filter(|_| self.all.n() > 1).map(|t| {
            let half = t * (spread.max(0.0) * runs / (runs - 1.0)).sqrt() / done;
            Interval { lo: (mean - half).max(0.0), hi: mean + half }
        });
        Some(Figure::from(Estimate { mean, interval, n: self.all.n() }))
    }
}

/// A share of runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// How many runs.
    pub count: u64,
    /// Their share with Wilson's interval.
    pub share: Figure,
}

impl Share {
    fn new(count: u64, runs: u64, confidence: f64) -> Self {
        let interval = wilson(count, runs, confidence).map(|Interval { lo, hi }| (micros(lo), micros(hi)));
        Self { count, share: Figure { mean: micros(ufloat(count) / ufloat(runs.max(1))), interval } }
    }
}

/// A mean over runs, and the values that 10, 50 and 90 % of runs do not pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleFigures {
    /// The mean.
    pub mean: Figure,
    /// One in ten runs has this or less.
    pub p10: i64,
    /// Half of them.
    pub p50: i64,
    /// Nine in ten.
    pub p90: i64,
}

/// How a cell's runs ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndFigures {
    /// By the control that stopped them, in the order of [`Control::ALL`].
    pub stops: [(Control, Share); CONTROLS],
    /// Rounds until the stop.
    pub rounds: Option<SampleFigures>,
    /// USD of a run.
    pub cost: Option<Figure>,
    /// Rounds until done, of the runs that were.
    pub done_rounds: Option<SampleFigures>,
    /// Output tokens until done, of those.
    pub done_tokens: Option<SampleFigures>,
    /// USD until done, of those.
    pub done_cost: Option<SampleFigures>,
    /// Output tokens of all runs for each that was done.
    pub tokens_per_done: Option<Figure>,
    /// USD of all runs for each that was done.
    pub cost_per_done: Option<Figure>,
    /// What caps on rounds would have come to, the least first; the last is no cap but the plan.
    pub caps: Vec<CapFigures>,
}

impl EndFigures {
    /// The runs that this control stopped.
    #[must_use]
    pub const fn stopped_by(&self, control: Control) -> Share {
        self.stops[place(control)].1
    }

    /// The runs whose task was done.
    #[must_use]
    pub const fn done(&self) -> Share {
        self.stopped_by(Control::OraclePassed)
    }
}

/// What a cap on rounds would have come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapFigures {
    /// The cap.
    pub rounds: u32,
    /// Runs that would have been done.
    pub done: Share,
    /// Output tokens of a run.
    pub tokens: Option<Figure>,
    /// USD of a run.
    pub cost: Option<Figure>,
    /// Output tokens that a run would have saved, paired.
    pub saved: Option<Figure>,
    /// Output tokens of all runs for each that would have been done.
    pub tokens_per_done: Option<Figure>,
    /// USD of all runs for each that would have been done.
    pub cost_per_done: Option<Figure>,
}

/// The place of a control in [`Control::ALL`]: that of its name in the enum.
const fn place(control: Control) -> usize {
    match control {
        Control::Rounds => 0,
        Control::Budget => 1,
        Control::Tokens => 2,
        Control::Cost => 3,
        Control::Wall => 4,
        Control::Requests => 5,
        Control::NoProgress => 6,
        Control::SameError => 7,
        Control::Limit => 8,
        Control::AgentFailures => 9,
        Control::KillOn => 10,
        Control::Unmetered => 11,
        Control::OraclePassed => 12,
        Control::OracleError => 13,
        Control::Blocked => 14,
        Control::Interrupted => 15,
    }
}

/// Caps to look at: 1, 2, 5, 10, 20, 50 and so on below the planned rounds, and these.
fn caps(planned: u32) -> impl Iterator<Item = u32> {
    let decades = (0..6).flat_map(|power| [1, 2, 5].map(|digit: u32| digit * 10_u32.pow(power)));
    decades.filter(move |cap| *cap < planned).chain([planned])
}

/// Ones as millionths.
fn ones(count: u64) -> i64 {
    held(count).saturating_mul(ONE)
}

fn held(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
