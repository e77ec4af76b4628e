//! What a run's journal comes to, round by round: for `status`, `watch` and `runs`, while it goes on and after.
//!
//! It decides nothing and opens nothing: lines in, a [`Summary`] out. Units: tokens, millionths of a USD, milliseconds of the run's
//! clock.

use crate::engine::{Control, MicroUsd, Millis, RoundExit, Timestamp, Tokens};
use crate::trace::{Added, Line, MeanOf, Record, Setup};

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
        if let Some(added) = line.record.adds() {
            self.add(added);
        }
        self.tell(&line.record);
    }

    fn add(&mut self, added: Added) {
        self.output = self.output.plus(added.output);
        self.tokens = self.tokens.plus(added.tokens);
        self.cost = self.cost.plus(added.cost);
        let spent = self.output;
        if let Some(round) = self.round(added.round) {
            round.output = round.output.plus(added.output);
            round.spent = spent;
        }
    }

    fn tell(&mut self, record: &Record) {
        match record {
            Record::Opened { kept, .. } => {
                let spent = kept.checkpoint().spent();
                (self.begun, self.output, self.tokens, self.cost) =
                    (spent.rounds, spent.output, spent.tokens, spent.cost);
                self.stopped = None;
                let at = self.at;
                for left in self.rounds.iter_mut().filter(|round| round.exit.is_none()) {
                    // its process was lost: nobody will say how it ended
                    (left.ended, left.exit) = (Some(at), Some(RoundExit::Cut));
                }
            }
            Record::Spawn { round, effort } => self.spawn(*round, effort),
            Record::Turned(turn) => {
                if let Some(round) = self.round(turn.round) {
                    round.turns += u64::from(turn.counts_as_turn);
                }
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
            | Record::Laid { .. }
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

    /// How long a round took, or has taken so far.
    #[must_use]
    pub fn lasted(&self, round: &Round) -> Millis {
        round.ended.unwrap_or(self.at).since(round.began)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Checkpoint, TurnRecord};
    use crate::trace::{Kept, Turn, Word};

    fn summary(records: &[Record]) -> Summary {
        let mut summary = Summary::new(Setup {
            ladder: Vec::new(),
            configured: String::new(),
            law: String::new(),
            juice_millionths: 1,
            over_ms: 1,
            slack_ppm: 0,
            rest_ms: 0,
            budget_tokens: None,
            rounds: None,
            set: std::collections::BTreeMap::new(),
        });
        for (at_ms, record) in (1..).zip(records) {
            summary.take(&Line { at_ms, record: record.clone(), prev: None });
        }
        summary
    }

    #[test]
    fn a_round_that_was_left_open_was_cut_when_another_process_took_the_loop_up() {
        let spawn = |round| Record::Spawn { round, effort: "low".to_owned() };
        let turn = TurnRecord::new(1, Timestamp::EPOCH, Tokens::new(30), "test");
        let kept = Kept::of(&Checkpoint { rounds: 1, output: Some(Tokens::new(30)), ..Checkpoint::default() });
        let opened = Record::Opened { kept, found_tokens: 30 };
        let lines = [spawn(1), Record::Turned(Turn::of(&turn)), opened, spawn(2)];
        let found = summary(&lines);
        let [left, open] = &found.rounds[..] else { panic!("{found:?}") };
        assert_eq!((left.exit, left.ended), (Some(RoundExit::Cut), Some(Timestamp::from_millis(3))));
        assert_eq!((left.output, left.turns, open.exit), (Tokens::new(30), 1, None));
        let ended = Record::Ended { round: 2, exit: Word(RoundExit::Done) };
        let found = summary(&[&lines[..], &[ended]].concat());
        assert_eq!((found.rounds[1].exit, found.output), (Some(RoundExit::Done), Tokens::new(30)));
    }
}
