//! What a trace is told: every fact that came in, every order that went out, every decision with its evidence.
//!
//! The engine writes nothing down; a host passes a [`TraceSink`] and gets the events as they happen. Replaying the facts
//! of a trace gives its orders again.

use super::governor::Verdict;
use super::machine::{Input, Output};
use super::settlement::Settled;
use super::units::Timestamp;

/// One thing that happened.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A fact came in.
    Fact(&'a Input),
    /// The fact came too late or twice: it was counted where it is spending, and otherwise left alone.
    Absorbed,
    /// A closing total was laid onto the turns of a round.
    Settled {
        /// The round.
        round: u64,
        /// What it did.
        settled: Settled,
    },
    /// A round was read and a decision taken.
    Decided {
        /// The round.
        round: u64,
        /// The decision.
        verdict: &'a Verdict,
    },
    /// An order went out.
    Order(&'a Output),
}

/// Where events go.
pub trait TraceSink {
    /// Takes down one event.
    fn note(&mut self, at: Timestamp, event: Event<'_>);
}

/// Takes nothing down.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoTrace;

impl TraceSink for NoTrace {
    fn note(&mut self, _at: Timestamp, _event: Event<'_>) {}
}

impl<F: FnMut(Timestamp, Event<'_>)> TraceSink for F {
    fn note(&mut self, at: Timestamp, event: Event<'_>) {
        self(at, event);
    }
}
