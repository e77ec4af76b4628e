//! The trace, which is also the journal: one versioned JSON-lines format of facts, orders and decisions.
//!
//! Version 1. The first line is a [`Header`]; each further line is `{"at_ms": ..., "kind": ...}` and what belongs to its
//! kind. Facts that came in, orders that went out and decisions with their evidence stand in the order in which they
//! happened, so that the facts, told to a fresh machine, give the orders again. The simulator and a runner write the very
//! same lines.
//!
//! Units stand in the names: `_ms` milliseconds since the run's epoch, `_tokens`, `_ppm`, `_millionths`. Efforts are
//! their own words, never places on a ladder. Readers pass over kinds and keys that they do not know, and count them;
//! writers never change what a key means. A line may carry `prev`, the SHA-256 of the line before without its end: then
//! a changed or a missing line is found.
//!
//! It is not the machine and it holds no state: a trace can be replayed, and is no checkpoint.

mod added;
mod event;
mod header;
mod kept;
mod moment;
mod read;
mod words;
mod write;

pub use added::Added;
pub use event::{BeliefOf, Line, MeanOf, ProcessId, Record, StatedTurn, Turn};
pub use header::{Header, Setup};
pub use kept::{CapsOf, Kept, RowsOf};
pub use moment::iso;
pub use read::{Reader, Trace, TraceError, read};
pub use words::{Hex, Word, Worded};
pub use write::Writer;

/// The version that is written, and the newest that is read.
pub const VERSION: u64 = 1;
/// What the first line calls itself.
pub const FORMAT: &str = "flyball-trace";
