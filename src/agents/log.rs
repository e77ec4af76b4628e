//! What a reader hands over: the calls of one file, each with the key by which other files know it, and what the file
//! itself states in sum.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::turns::Turns;
use super::{Format, Health};
use crate::engine::{MicroUsd, Timestamp, Tokens, TurnRecord};

/// By what a record is known again in another file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TurnKey {
    /// The backend's id of the message.
    Message(Arc<str>),
    /// The session's running totals after the call: input, cached input, output, reasoning, all.
    Totals([u64; 5]),
    /// A record of its own, told by its place in the file: equal in an equal file alone.
    Place {
        /// When it ended.
        at: Timestamp,
        /// The how many-eth record of the file.
        nth: usize,
    },
}

/// One record and its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogTurn {
    /// By what it is known again.
    pub key: TurnKey,
    /// The call, as its own rows tell it. Its `round` is 1 until [`join`](super::join()) numbers the sessions.
    pub record: TurnRecord,
}

/// What a program said at the end of a run, or of a stretch of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Closing {
    /// By what the same statement is known again: its own id, or the session's.
    pub id: Option<Arc<str>>,
    /// The session.
    pub session: Option<Arc<str>>,
    /// Whether the program said that it went well.
    pub ok: Option<bool>,
    /// Output tokens that it states for this stretch alone.
    pub output: Option<Tokens>,
    /// What it says that this stretch cost.
    pub cost: Option<MicroUsd>,
    /// It ends a run, and is not a note on the way.
    pub result: bool,
}

/// Tokens that a log states in sum, for [`join`](super::join()) to lay onto the calls that they belong to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sum {
    /// By what the same statement is known again.
    pub key: TurnKey,
    /// The calls that it counts, by their places in the log, each with the start value that its rows had.
    pub calls: Vec<(usize, Tokens)>,
    /// The session.
    pub session: Option<Arc<str>>,
    /// The model, where the sum is of one.
    pub model: Option<Arc<str>>,
    /// When it was stated.
    pub at: Timestamp,
    /// Output tokens of these calls and of whatever else the program did in that stretch.
    pub output: Tokens,
}

/// One file, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    /// Which program wrote it.
    pub format: Format,
    /// The versions of that program that the file names.
    pub versions: BTreeSet<Arc<str>>,
    /// All sessions that it names as its own or as its ancestors.
    pub lineage: BTreeSet<Arc<str>>,
    /// It says that it continues another session's history, which it may have copied with new times.
    pub forked: bool,
    /// Its records, in the order of the file.
    pub turns: Turns,
    /// What it states in sum.
    pub sums: Vec<Sum>,
    /// What the program said at the ends of its runs.
    pub closings: Vec<Closing>,
    /// How many of them are results of a whole run.
    pub results: u64,
    /// Output tokens that closing statements give, and how many of them the calls accounted for by themselves.
    pub stated: Option<Coverage>,
    /// What was odd.
    pub health: Health,
}

/// How much of what was stated in sum was also counted call by call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Output tokens of known calls.
    pub counted: Tokens,
    /// Output tokens stated in sum for the same stretches.
    pub stated: Tokens,
}

impl Coverage {
    /// Both figures, added.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self { counted: self.counted.plus(other.counted), stated: self.stated.plus(other.stated) }
    }

    /// Counted over stated, in parts per million, at most a million; all of it where nothing was stated.
    #[must_use]
    pub fn ppm(self) -> u64 {
        let (counted, stated) = (u128::from(self.counted.count()), u128::from(self.stated.count()));
        let ppm = (counted.min(stated) * 1_000_000).checked_div(stated);
        ppm.map_or(1_000_000, |ppm| u64::try_from(ppm).unwrap_or(1_000_000))
    }
}

impl Log {
    /// A log of nothing.
    #[must_use]
    pub fn new(format: Format) -> Self {
        Self {
            format,
            versions: BTreeSet::new(),
            lineage: BTreeSet::new(),
            forked: false,
            turns: Turns::default(),
            sums: Vec::new(),
            closings: Vec::new(),
            results: 0,
            stated: None,
            health: Health::default(),
        }
    }

    /// The calls to a model.
    pub fn calls(&self) -> impl Iterator<Item = LogTurn> + '_ {
        self.turns.iter().filter(|turn| turn.record.counts_as_turn)
    }
}
