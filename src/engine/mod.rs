//! The engine: facts in, orders out.
//!
//! It decides how hard the agent thinks, when the loop stops and what it may spend, and it does so without a clock,
//! randomness, a file, a thread or a process: time and facts come in as arguments, orders come back as values. The
//! simulator and the real runner drive the very same machine. It is `no_std` with `alloc`; integers are its state, and
//! floats occur in [`laws`] alone.
//!
//! | module | holds |
//! |---|---|
//! | [`units`] | what a number means |
//! | [`ladder`] | efforts, rungs, where a run starts |
//! | [`turn`], [`settlement`] | the record of one turn; a closing total laid onto its turns |
//! | [`meter`] | every report, and sums over any window |
//! | [`band`] | how far off is still fine, exactly |
//! | [`law`], [`laws`] | what a law is shown and answers; the laws |
//! | [`governor`] | meter, window, band and law joined: one decision a round |
//! | [`control`] | what stops a loop, and what bounds it |
//! | [`machine`] | the loop itself |
//! | [`checkpoint`] | what outlives a process |
//! | [`event`] | what a trace is told |
//! | [`log`] | logarithms in fixed point |

pub mod band;
pub mod checkpoint;
pub mod control;
pub mod error;
pub mod event;
pub mod governor;
pub mod ladder;
pub mod law;
pub mod laws;
pub mod log;
pub mod machine;
pub mod meter;
pub mod settlement;
pub mod turn;
pub mod units;

pub use band::{Band, Edge, Side};
pub use checkpoint::Checkpoint;
pub use control::{Caps, Control, Fingerprint, Limits, Rows, Spent, Streak};
pub use error::{BandError, LadderError};
pub use event::{Event, NoTrace, TraceSink};
pub use governor::{Cutoff, Governor, Over, Verdict};
pub use ladder::{Effort, Ladder, Rung, Rungs, Start};
pub use law::{Belief, Decision, Evidence, Law, LawState, Memory, Reading, Why};
pub use laws::{AnyLaw, LawKind};
pub use machine::{
    Answer, Asks, BudgetOrder, Charge, Input, Machine, Output, Plan, RoundExit, StopRequest, Urgency, Waiting,
};
pub use meter::{Mark, Meter, RoundSums, Sums};
pub use settlement::Settled;
pub use turn::{Grade, TurnRecord};
pub use units::{Counted, Mean, MicroUsd, Millis, Ratio, Target, Timestamp, Tokens, counted, one_or};
