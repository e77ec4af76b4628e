//! Agents' logs: bytes in, turn records out.
//!
//! It starts nothing and opens nothing: whoever has the bytes hands them over, in pieces of any size. A
//! [`LogReader`] finds out by content what it is being fed, counts each request to the model once, and never fails on a
//! bad line: bad lines are counted in [`Health`]. [`join()`] then puts several logs together, so that a checkpoint, a fork
//! or a resumed session adds nothing twice.
//!
//! | module | holds |
//! |---|---|
//! | [`lines`] | bytes to lines: bounded, never fatal |
//! | [`detect`] | which program wrote this |
//! | [`claude`] | Claude Code session files |
//! | [`codex`] | Codex rollout files |
//! | [`mod@join`] | several logs, each call once |
//! | [`health`] | what was odd, counted |
//! | [`json`] | numbers and times that are trusted only where they are plausible |
//!
//! Units: output, input and cache in tokens as the backend states them. The run epoch of a log is 1970-01-01 UTC, so a
//! [`Timestamp`](crate::engine::Timestamp) from here holds milliseconds of Unix time.
//!
//! It is not the live reading of an agent's standard output, and it does not read the logs of other programs: those are
//! recognised and named ([`detect::Seen::Other`]).

pub mod claude;
pub mod codex;
pub mod detect;
pub mod health;
pub mod join;
pub mod json;
pub mod lines;
pub mod log;
pub mod reader;

pub use detect::{Format, OtherLog, Seen};
pub use health::Health;
pub use join::{Joined, join};
pub use log::{Log, LogTurn, TurnKey};
pub use reader::{LogReader, NotRead};
