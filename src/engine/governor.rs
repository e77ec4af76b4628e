//! The governor: a meter, a window, a band and a law, joined.
//!
//! It turns reports of spending into one decision a round. It is not the loop: it does not know when a round begins, what
//! may be spent or when to stop; the [machine](super::machine) tells it what happened. It clamps what the law asks for to
//! the ladder, and empties the window on a real move for a law that wants that.

use alloc::sync::Arc;

use super::band::Band;
use super::ladder::{Rung, Rungs};
use super::law::{Decision, Law, Memory, Reading};
use super::meter::{Mark, Meter};
use super::settlement::Settled;
use super::turn::TurnRecord;
use super::units::{Millis, Timestamp, Tokens};

/// From which moment on a report still counts.
///
/// A host whose arithmetic must be another one (floating-point seconds, say) brings its own.
pub trait Cutoff {
    /// The oldest time that is still in the window, read at `now`; `newest` is the time of the newest report.
    fn cutoff(&self, now: Timestamp, newest: Timestamp) -> Timestamp;
}

/// The window of settings: `over` back from the reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Over {
    /// How far back the average reaches.
    pub over: Millis,
    /// What is older than this beside the newest report has been forgotten, as the original forgets after 300 s.
    pub retention: Option<Millis>,
}

impl Over {
    /// A window that is honoured whole.
    #[must_use]
    pub const fn new(over: Millis) -> Self {
        Self { over, retention: None }
    }
}

impl Cutoff for Over {
    #[inline]
    fn cutoff(&self, now: Timestamp, newest: Timestamp) -> Timestamp {
        let over = now.before(self.over);
        self.retention.map_or(over, |retention| over.max(newest.before(retention)))
    }
}

/// What came of a reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The moment of the reading.
    pub at: Timestamp,
    /// The oldest time that was in the window.
    pub cutoff: Timestamp,
    /// The rung that the round ran at.
    pub from: Rung,
    /// The rung that the next one runs at: what the law asked for, on the ladder.
    pub to: Rung,
    /// Whether the law wanted to go past an end of the ladder.
    pub pinned: bool,
    /// What the law said.
    pub decision: Decision,
}

/// A meter, a window, a band and a law.
#[derive(Clone, Debug)]
pub struct Governor<L, C = Over> {
    law: L,
    window: C,
    band: Band,
    rungs: Rungs,
    /// Rungs that left the ladder, as bits; bit 0 is the hardest.
    closed: u64,
    meter: Meter,
    mark: Mark,
}

impl<L: Law, C: Cutoff> Governor<L, C> {
    /// A governor that has read nothing yet.
    pub fn new(law: L, band: Band, window: C, rungs: Rungs) -> Self {
        Self { law, window, band, rungs, closed: 0, meter: Meter::new(), mark: Mark::default() }
    }

    /// The law.
    pub const fn law(&self) -> &L {
        &self.law
    }

    /// The law, to restore what it once saved.
    pub const fn law_mut(&mut self) -> &mut L {
        &mut self.law
    }

    /// The band.
    pub const fn band(&self) -> &Band {
        &self.band
    }

    /// The meter.
    pub const fn meter(&self) -> &Meter {
        &self.meter
    }

    /// A round begins at `rung`.
    pub fn begin(&mut self, rung: Rung) {
        self.meter.begin(rung);
    }

    /// Takes a rung off the ladder; says whether it did. The last one stays.
    pub fn close(&mut self, rung: Rung) -> bool {
        let bit = 1_u64 << self.rungs.clamp(rung).index();
        let all = u64::MAX >> (64 - self.rungs.count());
        let closes = self.closed & bit == 0 && (self.closed | bit) != all;
        if closes {
            self.closed |= bit;
        }
        closes
    }

    /// Where a move to `to` ends: on the ladder; and where that rung has left it, on the next one in the same direction, or else the last
    /// one before.
    #[must_use]
    pub fn land(&self, to: Rung, from: Rung) -> Rung {
        let to = self.rungs.clamp(to);
        let open = |index: &usize| self.closed >> index & 1 == 0;
        if open(&to.index()) {
            return to;
        }
        let harder = (0..to.index()).rev().find(open);
        let softer = (to.index() + 1..self.rungs.count()).find(open);
        let (ahead, behind) = if to < from { (harder, softer) } else { (softer, harder) };
        ahead.or(behind).and_then(|index| self.rungs.rung(index)).unwrap_or(to)
    }

    /// A report landed.
    pub fn report(&mut self, turn: &TurnRecord) {
        self.meter.report(turn);
    }

    /// The round's closing total was stated.
    pub fn settle(&mut self, total: Tokens, known: &[(Arc<str>, Tokens)]) -> Settled {
        self.meter.settle(total, known)
    }

    /// The round is over: read the window and ask the law.
    pub fn read(&mut self, now: Timestamp, spent: Tokens, budget: Option<Tokens>) -> Verdict {
        let round = self.meter.close(self.law.reads_logs());
        let cutoff = self.window.cutoff(now, self.meter.newest());
        let window = self.meter.read(cutoff, self.mark);
        let reading = Reading {
            now,
            cutoff,
            window,
            round,
            rung: self.meter.rung(),
            rungs: self.rungs,
            band: &self.band,
            spent,
            budget,
        };
        let from = reading.rung;
        let decision = self.law.decide(&reading);
        let to = self.land(decision.to, from);
        if to != from && self.law.memory() == Memory::SinceMove {
            self.mark = self.meter.mark();
        }
        Verdict { at: now, cutoff, from, to, pinned: to == from && decision.why.asks_to_move(), decision }
    }

    /// The round is over and is not read: what landed is laid down, and nothing moves.
    pub fn skip(&mut self) {
        self.meter.close(false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::laws::LawKind;
    use crate::engine::{Ratio, Target, Why};

    fn governor(kind: LawKind, over: Over) -> Governor<crate::engine::AnyLaw> {
        let band = Band::new(Target::from_tokens(100), Ratio::from_ppm(100_000)).unwrap();
        Governor::new(kind.build(), band, over, Rungs::new(3).unwrap())
    }

    fn round(governor: &mut Governor<crate::engine::AnyLaw>, rung: Rung, at: u64, output: u64) -> Verdict {
        governor.begin(rung);
        let at = Timestamp::from_millis(at);
        governor.report(&TurnRecord::new(1, at, Tokens::new(output), "test"));
        governor.read(at, Tokens::ZERO, None)
    }

    #[test]
    fn a_move_empties_the_window_of_reset_alone() {
        for (kind, second) in [(LawKind::Reference, Why::AboveBand), (LawKind::Reset, Why::WithinBand)] {
            let mut governor = governor(kind, Over::new(Millis::new(1000)));
            let first = round(&mut governor, Rung::default(), 10, 300);
            assert_eq!((first.to.index(), first.decision.why), (1, Why::AboveBand));
            assert_eq!(round(&mut governor, first.to, 20, 100).decision.why, second, "{kind}");
        }
    }

    #[test]
    fn a_clamped_attempt_is_pinned_and_empties_nothing() {
        let mut governor = governor(LawKind::Reset, Over::new(Millis::new(1000)));
        let first = round(&mut governor, Rung::default(), 10, 1);
        assert!(first.pinned && first.to == first.from);
        let second = round(&mut governor, first.to, 20, 189);
        assert_eq!(second.decision.why, Why::WithinBand, "the mean of both rounds, 95, is read");
    }

    #[test]
    fn a_rung_that_left_is_stepped_over_and_the_last_one_stays() {
        let mut governor = governor(LawKind::Reference, Over::new(Millis::new(1000)));
        let rung = |index| Rungs::new(3).unwrap().rung(index).unwrap();
        assert!(governor.close(rung(1)) && !governor.close(rung(1)));
        assert_eq!(governor.land(rung(1), rung(0)), rung(2), "softer, and on");
        assert_eq!(governor.land(rung(1), rung(2)), rung(0), "harder, and on");
        assert_eq!(round(&mut governor, rung(0), 10, 300).to, rung(2));
        assert!(governor.close(rung(2)));
        assert_eq!(governor.land(rung(2), rung(0)), rung(0), "nothing softer is left");
        assert!(!governor.close(rung(0)), "one stays");
    }

    #[test]
    fn retention_forgets_beside_the_newest_report() {
        let over = Over { over: Millis::from_secs(1200), retention: Some(Millis::from_secs(300)) };
        let at = |secs: u64| Timestamp::from_millis(secs * 1000);
        assert_eq!(over.cutoff(at(2000), at(2000)), at(1700));
        assert_eq!(over.cutoff(at(2000), at(900)), at(800), "nothing newer: it stays for the whole of over");
        assert_eq!(Over::new(Millis::from_secs(1200)).cutoff(at(2000), at(2000)), at(800));
        assert_eq!(Over::new(Millis::from_secs(1200)).cutoff(at(5), at(5)), at(0));
    }
}
