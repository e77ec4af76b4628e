//! Agents' logs: bytes in, turn records out.
//!
//! It starts nothing and opens nothing: whoever has the bytes hands them over, in pieces of any size. A
//! [`LogReader`] finds out by content what it is being fed, counts each request to the model once, and never fails on a
//! bad line: bad lines are counted in [`Health`]. [`join()`] then puts several logs together, so that a checkpoint, a fork
//! or a resumed session adds nothing twice.
//!
//! | module | holds |
//! |---|---|
//! | [`lines`], [`document`] | bytes to lines, and a document to its pieces: bounded, never fatal |
//! | [`detect`] | which program wrote this |
//! | [`loose`], [`time`] | JSON and moments, taken where they are plausible |
//! | [`claude`], [`codex`], [`pi`], [`opencode`], [`copilot`], [`gemini`], [`own`] | what each program's lines say |
//! | [`book`], [`counter`] | each call of a file once, its grade, what is stated in sum: one place for all formats |
//! | [`mod@join`] | several logs, each call once, and sums laid onto the calls they count |
//! | [`ledger`] | what they add up to |
//! | [`adapter`] | how each program is asked for a round: argv, environment, efforts, files to follow |
//! | [`live`] | one round as it goes, over all its sources |
//! | [`health`] | what was odd, counted |
//!
//! Units: output, input and cache in tokens as the backend states them. The run epoch of a log is 1970-01-01 UTC, so a
//! [`Timestamp`](crate::engine::Timestamp) from here holds milliseconds of Unix time.
//!
//! It follows no file and no pipe itself, and it does not read the logs of other programs: those are recognised and named
//! ([`detect::Seen::Other`]).

pub mod adapter;
pub mod book;
pub mod claude;
pub mod codex;
pub mod copilot;
pub mod counter;
pub mod detect;
pub mod document;
pub mod gemini;
pub mod health;
pub mod join;
pub mod ledger;
pub mod lines;
pub mod live;
pub mod log;
pub mod loose;
pub mod opencode;
pub mod own;
pub mod pi;
pub mod reader;
pub mod time;

pub use detect::{Format, OtherLog, Seen};
pub use health::Health;
pub use join::{Joined, join};
pub use log::{Closing, Coverage, Log, LogTurn, TurnKey};
pub use reader::{LogReader, NotRead};
