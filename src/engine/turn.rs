//! The turn: one request to the model and its answer, as everybody hands it on.
//!
//! A [`TurnRecord`] is what readers of logs emit, the simulated agent emits, the meter eats and `calibrate` fits. Counts
//! that a source does not state are `None`, never zero. [`Grade`] says how far the output count can be trusted. It is not
//! the ledger: who is believed where two sources disagree is decided in settlement and by the
//! readers.

use alloc::sync::Arc;

use super::units::{MicroUsd, Timestamp, Tokens};

/// How far a count can be trusted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Grade {
    /// Stated by the backend for this very turn.
    Known,
    /// Worked out from a total; right in sum, guessed in its parts.
    Estimated,
    /// Not stated, or a placeholder: no count.
    #[default]
    Unknown,
}

impl Grade {
    /// The stable word of a grade.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Known => "known",
            Self::Estimated => "estimated",
            Self::Unknown => "unknown",
        }
    }
}

/// One report of spending: a turn, or tokens that belong to turns already told.
///
/// Times are milliseconds since the run's epoch; tokens are the backend's own counts. `None` is "not stated".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnRecord {
    /// The backend's id of the message, where it has one: what usage is de-duplicated by.
    pub id: Option<Arc<str>>,
    /// The round that it belongs to, counted from 1 over the whole life of the loop.
    pub round: u64,
    /// The backend's id of the session.
    pub session: Option<Arc<str>>,
    /// When the request was sent, where that is known.
    pub start: Option<Timestamp>,
    /// When the answer was complete: the moment of the report.
    pub end: Timestamp,
    /// The model that answered.
    pub model: Option<Arc<str>>,
    /// The effort asked for.
    pub effort_asked: Option<Arc<str>>,
    /// The effort that the backend recorded.
    pub effort_confirmed: Option<Arc<str>>,
    /// Output tokens: what the governor holds steady. Zero where [`grade`](Self::grade) is unknown.
    pub output: Tokens,
    /// Input tokens outside the cache.
    pub input: Option<Tokens>,
    /// Tokens read from the cache.
    pub cache_read: Option<Tokens>,
    /// Tokens written to the cache.
    pub cache_write: Option<Tokens>,
    /// The part of the output that was reasoning.
    pub reasoning: Option<Tokens>,
    /// What the turn cost.
    pub cost: Option<MicroUsd>,
    /// One answer of the model. Otherwise a settle-up: tokens, and no turn.
    pub counts_as_turn: bool,
    /// How far `output` can be trusted.
    pub grade: Grade,
    /// Which source said so: the name of a format or of a stream.
    pub source: &'static str,
}

impl TurnRecord {
    /// A turn of known output that ended at `end`, and nothing else known of it.
    #[must_use]
    pub const fn new(round: u64, end: Timestamp, output: Tokens, source: &'static str) -> Self {
        Self {
            id: None,
            round,
            session: None,
            start: None,
            end,
            model: None,
            effort_asked: None,
            effort_confirmed: None,
            output,
            input: None,
            cache_read: None,
            cache_write: None,
            reasoning: None,
            cost: None,
            counts_as_turn: true,
            grade: Grade::Known,
            source,
        }
    }

    /// All tokens of the turn: output, input, and both sides of the cache, as far as stated.
    #[must_use]
    pub fn all_tokens(&self) -> Tokens {
        [self.input, self.cache_read, self.cache_write]
            .into_iter()
            .flatten()
            .fold(self.output, |sum, part| sum.plus(part))
    }

    /// A report of no tokens at all with a known count, and of no cost: it is no turn and nothing happened.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        let free = self.cost.is_none_or(|cost| cost == MicroUsd::ZERO);
        self.grade != Grade::Unknown && self.all_tokens() == Tokens::ZERO && free
    }
}
