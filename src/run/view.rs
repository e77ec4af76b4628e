//! Who is told what happens in the loop, and what came of a round.

use crate::engine::{Answer, Millis, RoundExit, Spent, Timestamp, Tokens, TurnRecord, Verdict, Waiting};

/// What came of a round, for people.
#[derive(Clone, Debug)]
pub struct Told<'a> {
    /// The round.
    pub round: u64,
    /// The effort that it was asked to run at.
    pub asked: &'a str,
    /// How it ended.
    pub exit: RoundExit,
    /// The failure in words.
    pub why: Option<&'a str>,
    /// Turns that were counted.
    pub turns: u64,
    /// Output tokens of the round.
    pub output: Tokens,
    /// How long it took.
    pub lasted: Millis,
    /// What the governor made of it; none where it was not read.
    pub verdict: Option<&'a Verdict>,
    /// What the oracle says, and why; none where it was not asked.
    pub oracle: Option<(Answer, &'a str)>,
    /// Whether the project is another than before; none where nobody looked.
    pub changed: Option<bool>,
    /// All that was spent.
    pub spent: Spent,
}

/// Who is told what happens. All of it may be ignored.
pub trait View {
    /// A round's agent was started.
    fn began(&mut self, _round: u64, _effort: &str, _at: Timestamp) {}
    /// A turn landed in the round under way.
    fn landed(&mut self, _turn: &TurnRecord, _spent: Spent) {}
    /// The agent said this.
    fn said(&mut self, _text: &str) {}
    /// A round is over.
    fn ended(&mut self, _told: &Told<'_>) {}
    /// The loop waits.
    fn waits(&mut self, _until: Timestamp, _why: Waiting) {}
    /// Something that people should know.
    fn note(&mut self, _text: &str) {}
}

/// Tells nobody.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoView;

impl View for NoView {}
