//! The meter: what each turn came to, and the sums over any window of time.
//!
//! Reports of the round in progress are *open*: a closing total may still change them. When the round closes they are
//! laid down as running totals, so that the sum over a window is one search and one subtraction, the same however often
//! and over whatever window it is read. Reading never trims; times never run backwards (an earlier one counts as the
//! newest seen). A report whose time equals the cutoff is in. A turn without a count is no turn until a settlement gives
//! it one. It is not the governor: it knows neither target nor law.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::ladder::Rung;
use super::log;
use super::settlement::{Part, Settled, settle};
use super::turn::{Grade, TurnRecord};
use super::units::{Mean, Timestamp, Tokens};

/// Sums over a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Turns with a count.
    pub turns: u64,
    /// Output of all reports, those that are no turn included.
    pub output: Tokens,
}

impl Sums {
    /// Output per turn, or nothing where there was no turn.
    #[must_use]
    pub const fn mean(self) -> Option<Mean> {
        Mean::new(self.output, self.turns)
    }
}

/// Sums over the round that just closed, for laws that estimate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoundSums {
    /// Turns with a count.
    pub turns: u64,
    /// Output of all reports.
    pub output: Tokens,
    /// Turns with a count above zero: those whose logarithm is taken.
    pub positive: u64,
    /// Output of those: less than all where tokens came in a report that is no turn.
    pub logged: Tokens,
    /// Sum of the logarithms of those, in units of 2^-32 nats.
    pub ln: u128,
    /// Sum of the squares of those logarithms, in units of 2^-32 square nats.
    pub ln_squared: u128,
}

impl RoundSums {
    /// Adds the logarithm of one turn's output; one of zero has none.
    pub fn add_log(&mut self, output: u64) {
        if output == 0 {
            return;
        }
        let ln = u128::from(log::ln(output));
        self.positive += 1;
        self.logged = self.logged.plus(Tokens::new(output));
        self.ln += ln;
        self.ln_squared += (ln * ln) >> 32;
    }
}

/// A report laid down: its time, and the running totals before it.
#[derive(Clone, Copy, Debug)]
struct Entry {
    at: Timestamp,
    before: Totals,
}

#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    tokens: u64,
    turns: u64,
}

/// A report of the round in progress.
#[derive(Clone, Copy, Debug)]
struct Open {
    at: Timestamp,
    part: Part,
    counts: bool,
}

impl Open {
    const fn turns(&self) -> u64 {
        (self.counts && !matches!(self.part.grade, Grade::Unknown)) as u64
    }
}

/// The place of a report in the order of all reports, from which a window may begin at the earliest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark(usize);

/// Every report of a run, and the sums over any window of them.
#[derive(Clone, Debug, Default)]
pub struct Meter {
    entries: Vec<Entry>,
    open: Vec<Open>,
    ids: Vec<(usize, Arc<str>)>,
    totals: Totals,
    newest: Timestamp,
    released: usize,
    /// Entries before this place are no longer read: searches begin here.
    floor: usize,
    rung: Rung,
}

impl Meter {
    /// A meter that has seen nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens a round at `rung`.
    pub fn begin(&mut self, rung: Rung) {
        self.lay_down();
        self.rung = rung;
    }

    /// The rung of the reports that are open.
    #[must_use]
    pub const fn rung(&self) -> Rung {
        self.rung
    }

    /// Takes down a report. One of no tokens at all is no turn, and nothing happens.
    pub fn report(&mut self, turn: &TurnRecord) {
        if turn.is_nothing() {
            return;
        }
        if let Some(id) = &turn.id {
            self.ids.push((self.open.len(), Arc::clone(id)));
        }
        self.push(turn.end, turn.output, turn.counts_as_turn, turn.grade);
    }

    /// Takes down `output` tokens at `at`: a turn, or (`counts` false) tokens that belong to turns already told.
    #[inline]
    pub fn push(&mut self, at: Timestamp, output: Tokens, counts: bool, grade: Grade) {
        self.newest = self.newest.max(at);
        self.open.push(Open { at: self.newest, part: Part { output, grade }, counts });
    }

    /// Settles the open round: the turns named in `known` get what it says, the rest of `total` is shared.
    pub fn settle(&mut self, total: Tokens, known: &[(Arc<str>, Tokens)]) -> Settled {
        for (id, output) in known {
            let found = self.ids.iter().find(|(_, seen)| seen == id).map(|&(place, _)| place);
            if let Some(place) = found {
                self.open[place].part = Part { output: *output, grade: Grade::Known };
            }
        }
        let (turns, lumps): (Vec<usize>, Vec<usize>) = (0..self.open.len()).partition(|&place| self.open[place].counts);
        let told = lumps.iter().fold(Tokens::ZERO, |sum, &place| sum.plus(self.open[place].part.output));
        let mut parts: Vec<Part> = turns.iter().map(|&place| self.open[place].part).collect();
        let settled = settle(&mut parts, total.minus(told));
        for (&place, part) in turns.iter().zip(parts) {
            self.open[place].part = part;
        }
        settled
    }

    /// Closes the round and gives its sums; with logarithms only where `logs` asks for them.
    pub fn close(&mut self, logs: bool) -> RoundSums {
        let mut sums = RoundSums::default();
        for open in &self.open {
            sums.output = sums.output.plus(open.part.output);
            sums.turns += open.turns();
        }
        if logs {
            let turns = self.open.iter().filter(|open| open.turns() > 0);
            turns.for_each(|open| sums.add_log(open.part.output.count()));
        }
        self.lay_down();
        sums
    }

    fn lay_down(&mut self) {
        if self.open.is_empty() {
            return;
        }
        let mut totals = self.totals;
        self.entries.extend(self.open.iter().map(|open| {
            let before = totals;
            totals.tokens = totals.tokens.saturating_add(open.part.output.count());
            totals.turns += open.turns();
            Entry { at: open.at, before }
        }));
        self.totals = totals;
        self.open.clear();
        self.ids.clear();
    }

    /// Whether a turn of the open round still has no count.
    #[must_use]
    pub fn has_unknown(&self) -> bool {
        self.open.iter().any(|open| open.counts && open.part.grade == Grade::Unknown)
    }

    /// Output of the open round, as counted so far.
    #[must_use]
    pub fn open_output(&self) -> Tokens {
        self.open.iter().fold(Tokens::ZERO, |sum, open| sum.plus(open.part.output))
    }

    /// The time of the newest report, or the epoch before the first.
    #[must_use]
    pub const fn newest(&self) -> Timestamp {
        self.newest
    }

    /// The place after all reports laid down so far.
    #[must_use]
    pub const fn mark(&self) -> Mark {
        Mark(self.released + self.entries.len())
    }

    /// The sums over reports from `cutoff` on, the cutoff itself included, and from `since` on.
    #[must_use]
    pub fn window(&self, cutoff: Timestamp, since: Mark) -> Sums {
        let live = self.first_from(cutoff).max(since.0.saturating_sub(self.released));
        let before = self.entries.get(live).map_or(self.totals, |entry| entry.before);
        let mut sums =
            Sums { turns: self.totals.turns - before.turns, output: Tokens::new(self.totals.tokens - before.tokens) };
        for open in self.open.iter().filter(|open| open.at >= cutoff) {
            sums.output = sums.output.plus(open.part.output);
            sums.turns += open.turns();
        }
        sums
    }

    /// The sums of [`window`](Self::window) over reports laid down, and lets go of what is before it as
    /// [`release`](Self::release) does, with one search for both.
    pub fn read(&mut self, cutoff: Timestamp, since: Mark) -> Sums {
        self.release(cutoff, since);
        let before = self.entries.get(self.floor).map_or(self.totals, |entry| entry.before);
        Sums { turns: self.totals.turns - before.turns, output: Tokens::new(self.totals.tokens - before.tokens) }
    }

    /// The first entry at or after `cutoff`. Readings move on with time, so doubling steps forward from where the last
    /// one began find it soon; a cutoff from before that is looked for from the newest entry back.
    fn first_from(&self, cutoff: Timestamp) -> usize {
        let length = self.entries.len();
        let early = |place: usize| self.entries.get(place).is_some_and(|entry| entry.at < cutoff);
        let (mut low, mut high, mut step) = (self.floor, length, 1);
        if low == 0 || early(low - 1) {
            while early(low + step - 1) {
                low += step;
                step *= 2;
            }
            high = high.min(low + step - 1);
        } else {
            while step <= length && !early(length - step) {
                high = length - step;
                step *= 2;
            }
            low = length.saturating_sub(step);
        }
        low + self.entries[low..high].partition_point(|entry| entry.at < cutoff)
    }

    /// Lets go of reports before both `cutoff` and `since`: whoever calls this reads no further back again. Done only
    /// when most of what is held is dead, so that its cost is spread thin.
    pub fn release(&mut self, cutoff: Timestamp, since: Mark) {
        let dead = self.first_from(cutoff).max(since.0.saturating_sub(self.released)).min(self.entries.len());
        self.floor = dead;
        if dead >= 1024 && dead * 2 >= self.entries.len() {
            self.entries.drain(..dead);
            self.released += dead;
            self.floor = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(ms: u64) -> Timestamp {
        Timestamp::from_millis(ms)
    }

    fn turn(ms: u64, output: u64) -> TurnRecord {
        TurnRecord::new(1, at(ms), Tokens::new(output), "test")
    }

    fn sums(turns: u64, output: u64) -> Sums {
        Sums { turns, output: Tokens::new(output) }
    }

    #[test]
    fn a_report_exactly_at_the_cutoff_is_in() {
        let mut meter = Meter::new();
        for ms in [10, 20, 20, 30] {
            meter.report(&turn(ms, ms));
        }
        for closed in [false, true] {
            if closed {
                meter.close(false);
            }
            assert_eq!(meter.window(at(20), Mark::default()), sums(3, 70), "closed {closed}");
            assert_eq!(meter.window(at(21), Mark::default()), sums(1, 30));
            assert_eq!(meter.window(at(31), Mark::default()), sums(0, 0));
            assert_eq!(meter.window(at(0), Mark::default()), sums(4, 80));
        }
    }

    #[test]
    fn a_settle_up_adds_tokens_and_no_turn_and_a_silent_turn_counts() {
        let mut meter = Meter::new();
        meter.report(&turn(1, 100));
        meter.report(&TurnRecord { counts_as_turn: false, ..turn(2, 50) });
        meter.report(&TurnRecord { input: Some(Tokens::new(1)), ..turn(3, 0) });
        meter.report(&turn(4, 0));
        assert_eq!(meter.window(at(0), Mark::default()), sums(2, 150));
    }

    #[test]
    fn a_turn_without_a_count_is_no_turn_until_it_is_settled() {
        let mut meter = Meter::new();
        let unknown = TurnRecord { grade: Grade::Unknown, ..turn(2, 0) };
        meter.report(&turn(1, 100));
        meter.report(&unknown);
        assert!(meter.has_unknown());
        assert_eq!(meter.window(at(0), Mark::default()), sums(1, 100));
        meter.settle(Tokens::new(160), &[]);
        assert!(!meter.has_unknown());
        assert_eq!(meter.window(at(0), Mark::default()), sums(2, 160));
        assert_eq!(meter.window(at(2), Mark::default()), sums(1, 60), "onto the turn that lacked it");
    }

    #[test]
    fn named_turns_are_settled_first_and_lumps_count_towards_the_total() {
        let mut meter = Meter::new();
        let named =
            |id: &str, output| TurnRecord { id: Some(Arc::from(id)), grade: Grade::Estimated, ..turn(1, output) };
        meter.report(&named("a", 1));
        meter.report(&named("b", 1));
        meter.report(&TurnRecord { counts_as_turn: false, ..turn(2, 10) });
        meter.settle(Tokens::new(100), &[(Arc::from("b"), Tokens::new(60)), (Arc::from("gone"), Tokens::new(5))]);
        assert_eq!(meter.close(false), RoundSums { turns: 2, output: Tokens::new(100), ..RoundSums::default() });
        assert_eq!(meter.entries.iter().map(|entry| entry.before.tokens).collect::<Vec<_>>(), [0, 30, 90]);
    }

    #[test]
    fn logs_are_summed_when_asked_for() {
        let mut meter = Meter::new();
        meter.report(&turn(1, 1));
        meter.report(&turn(1, 1000));
        meter.report(&TurnRecord { input: Some(Tokens::new(1)), ..turn(3, 0) });
        let sums = meter.close(true);
        assert_eq!((sums.turns, sums.positive, sums.ln), (3, 2, u128::from(log::ln(1000))));
        assert_eq!(sums.ln_squared >> 32, 47, "6.9078^2 = 47.7");
    }

    #[test]
    fn a_time_that_runs_backwards_counts_as_the_newest() {
        let mut meter = Meter::new();
        meter.report(&turn(10, 1));
        meter.report(&turn(5, 1));
        meter.close(false);
        assert_eq!(meter.window(at(10), Mark::default()), sums(2, 2));
    }

    proptest! {
        /// Against a plain recount, over any windows and marks, before and after letting go of the past.
        #[test]
        fn a_window_equals_a_recount(
            rounds in prop::collection::vec(prop::collection::vec((0u64..200, 0u64..50, any::<bool>()), 0..300), 1..12),
            over in 0u64..40_000, marked in 0usize..12
        ) {
            let (mut meter, mut all, mut now) = (Meter::new(), Vec::new(), 0);
            let mut mark = (Mark::default(), 0);
            for (index, round) in rounds.iter().enumerate() {
                meter.begin(Rung::default());
                if index == marked { mark = (meter.mark(), all.len()); }
                for &(gap, output, counts) in round {
                    now += gap;
                    meter.push(at(now), Tokens::new(output), counts, Grade::Known);
                    all.push((now, output, counts));
                }
                meter.close(false);
                let cutoff = now.saturating_sub(over);
                let live = || all[mark.1..].iter().filter(|report| report.0 >= cutoff);
                let want = sums(live().filter(|report| report.2).count() as u64, live().map(|report| report.1).sum());
                prop_assert_eq!(meter.window(at(cutoff), mark.0), want);
                prop_assert_eq!(meter.read(at(cutoff), mark.0), want);
                prop_assert_eq!(meter.window(at(cutoff), mark.0), want);
                if meter.released == 0 {
                    // nothing is gone yet, so that a longer window can still be read
                    let longer = cutoff.saturating_sub(over / 2);
                    let live = all.iter().filter(|report| report.0 >= longer);
                    let output = live.clone().map(|report| report.1).sum();
                    let want = sums(live.filter(|report| report.2).count() as u64, output);
                    prop_assert_eq!(meter.window(at(longer), Mark::default()), want);
                }
            }
        }
    }
}
