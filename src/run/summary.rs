//! What a run's journal comes to, round by round: for `status`, `watch` and `runs`, while it goes on and after.
//!
//! It decides nothing and opens nothing: lines in, a [`Summary`] out. Units: tokens, millionths of a USD, milliseconds of the run's
//! clock.

use crate::engine::{Control, MicroUsd, Millis, RoundExit, Timestamp, Tokens};
use crate::trace::{Line, MeanOf, Record, Setup};

/// A round, as far as it went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Round {
    /// Its number, from 1.
    pub number: u64,
    /// The effort that it was asked to run at.
    pub effort: String,
    /// The effort that took hold, where the agent's records say.
    pub confirmed: Option<String>,
    /// When its agent was started.
    pub began: Timestamp,
    /// When it ended; none while it goes on.
    pub ended: Option<Timestamp>,
    /// How it ended.
    pub exit: Option<RoundExit>,
    /// Turns.
    pub turns: u64,
    /// Output tokens.
    pub output: Tokens,
    /// What was read after it.
    pub reading: Option<MeanOf>,
    /// The effort that was decided for the next.
    pub next: Option<String>,
    /// Why.
    pub why: Option<String>,
    /// Output tokens of the whole loop when it ended.
    pub spent: Tokens,
}

/// A run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// What the machine was set up with.
    pub setup: Setup,
    /// Its rounds, in order. Rounds of a run that it goes on counting from are not among them.
    pub rounds: Vec<Round>,
    /// Rounds begun over the whole loop.
    pub begun: u64,
    /// Output tokens spent over the whole loop.
    pub output: Tokens,
    /// Tokens of all kinds.
    pub tokens: Tokens,
    /// Cost.
    pub cost: MicroUsd,
    /// The last moment.
    pub at: Timestamp,
    /// What the loop waits for, and until when.
    pub waits: Option<(String, Option<Timestamp>)>,
    /// What stopped it.
    pub stopped: Option<Control>,
    /// What was said to people.
    pub notes: Vec<String>,
}

impl Summary {
    /// A run of which nothing was read yet.
    #[must_use]
    pub const fn new(setup: Setup) -> Self {
        Self {
            setup,
            rounds: Vec::new(),
            begun: 0,
            output: Tokens::ZERO,
            tokens: Tokens::ZERO,
            cost: MicroUsd::ZERO,
            at: Timestamp::EPOCH,
            waits: None,
            stopped: None,
            notes: Vec::new(),
        }
    }

    /// Takes the next line.
    pub fn take(&mut self, line: &Line) {
        self.at = self.at.max(Timestamp::from_millis(line.at_ms));
        match &line.record {
            Record::Opened { kept, .. } => {
                let spent = kept.checkpoint().spent();
                (self.begun, self.output, self.tokens, self.cost) =
                    (spent.rounds, spent.output, spent.tokens, spent.cost);
                self.stopped = None;
            }
            Record::Spawn { round, effort } => self.spawn(*round, effort),
            Record::Turned(turn) => {
                let turn = turn.record();
                self.charge(turn.round, turn.output, turn.all_tokens());
                self.cost = self.cost.plus(turn.cost.unwrap_or_default());
                if let Some(round) = self.round(turn.round) {
                    round.turns += u64::from(turn.counts_as_turn);
                }
            }
            Record::Laid { round, added_tokens, homeless_tokens, .. } => {
                let laid = Tokens::new(*added_tokens).plus(Tokens::new(*homeless_tokens));
                self.charge(*round, laid, laid);
            }
            Record::Agent { round, confirmed, .. } => {
                if let Some(round) = self.round(*round) {
                    round.confirmed.clone_from(confirmed);
                }
            }
            Record::Decided { round, to, why, mean, .. } => {
                if let Some(round) = self.round(*round) {
                    (round.next, round.why, round.reading) = (Some(to.clone()), Some(why.clone()), *mean);
                }
            }
            Record::Ended { round, exit } => {
                let (at, spent) = (self.at, self.output);
                if let Some(round) = self.round(*round) {
                    (round.ended, round.exit, round.spent) = (Some(at), Some(exit.0), spent);
                }
            }
            Record::Wait { until_ms, reason } => {
                self.waits = Some((reason.0.word().to_owned(), until_ms.map(Timestamp::from_millis)));
            }
            Record::Stop { control } => self.stopped = Some(control.0),
            Record::Note { text } => self.notes.push(text.clone()),
            Record::Persisted { .. }
            | Record::Spawned { .. }
            | Record::Settled { .. }
            | Record::Heard { .. }
            | Record::Refused { .. }
            | Record::Verified { .. }
            | Record::Progress { .. }
            | Record::LimitUntil { .. }
            | Record::Shared(_)
            | Record::Asked { .. }
            | Record::Woke {}
            | Record::Absorbed {}
            | Record::Persist { .. }
            | Record::Terminate { .. }
            | Record::Verify { .. }
            | Record::Group { .. } => {}
        }
    }

    fn spawn(&mut self, number: u64, effort: &str) {
        self.begun = self.begun.max(number);
        self.rounds.push(Round {
            number,
            effort: effort.to_owned(),
            confirmed: None,
            began: self.at,
            ended: None,
            exit: None,
            turns: 0,
            output: Tokens::ZERO,
            reading: None,
            next: None,
            why: None,
            spent: self.output,
        });
    }

    fn round(&mut self, number: u64) -> Option<&mut Round> {
        self.rounds.iter_mut().rev().find(|round| round.number == number)
    }

    fn charge(&mut self, round: u64, output: Tokens, all: Tokens) {
        self.output = self.output.plus(output);
        self.tokens = self.tokens.plus(all);
        let spent = self.output;
        if let Some(round) = self.round(round) {
            round.output = round.output.plus(output);
            round.spent = spent;
        }
    }

    /// How long a round took, or has taken so far.
    #[must_use]
    pub fn lasted(&self, round: &Round) -> Millis {
        round.ended.unwrap_or(self.at).since(round.began)
    }
}
