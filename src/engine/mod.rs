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
//! | [`turn`] | the record of one turn |
//! | [`band`] | how far off is still fine |

pub mod band;
pub mod error;
pub mod ladder;
pub mod turn;
pub mod units;

pub use band::{Band, Edge, Side};
pub use error::{BandError, LadderError};
pub use ladder::{Effort, Ladder, Rung, Rungs, Start};
pub use turn::{Grade, TurnRecord};
pub use units::{Mean, MicroUsd, Millis, Ratio, Target, Timestamp, Tokens};
