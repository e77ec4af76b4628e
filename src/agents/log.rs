//! What a reader hands over: the calls of one file, each with the key by which other files know it.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Format, Health};
use crate::engine::TurnRecord;

/// By what a call is known again in another file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TurnKey {
    /// The backend's id of the message.
    Message(Arc<str>),
    /// The session's running totals after the call: input, cached input, output, reasoning, all.
    Totals([u64; 5]),
}

/// One call and its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogTurn {
    /// By what it is known again.
    pub key: TurnKey,
    /// The call. Its `round` is 1 until [`join`](super::join()) numbers the sessions.
    pub record: TurnRecord,
}

/// One file, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    /// Which program wrote it.
    pub format: Format,
    /// All sessions that it names as its own or as its ancestors.
    pub lineage: BTreeSet<Arc<str>>,
    /// It says that it continues another session's history, which it may have copied with new times.
    pub forked: bool,
    /// Its calls, in the order of the file.
    pub turns: Vec<LogTurn>,
    /// What was odd.
    pub health: Health,
}
