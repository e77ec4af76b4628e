//! The project in which the loop works, as far as the host asks for it: what to say to the agent, what a round has changed, whether
//! the task is done, and whether to give up.
//!
//! It is asked at four places, and each answer is a fact for the machine, which alone decides what follows:
//!
//! | when | what |
//! |---|---|
//! | the loop is taken up | what is there ([`Site::found`]) |
//! | before a round's agent starts | the prompt ([`Site::before`]) |
//! | its agent is gone | what it has left ([`Site::after`]) |
//! | the machine has the oracle asked | the answer ([`Site::verify`]) |
//!
//! It is not the host: it starts no agent of a round and holds no count. Its effects go through [`Os`], so that a crash may
//! fall between any two of them. Units: milliseconds of the run's clock, tokens, millionths of a USD.

use super::os::Os;
use crate::engine::{
    Answer, Caps, Control, Effort, Fingerprint, Millis, RoundExit, Spent, Timestamp, Tokens, TurnRecord,
};

/// Where the loop stands when a round is about to begin.
#[derive(Clone, Copy, Debug)]
pub struct Begin<'a> {
    /// The round.
    pub round: u64,
    /// The effort that is asked for.
    pub effort: &'a Effort,
    /// All that was spent.
    pub spent: Spent,
    /// The moment.
    pub now: Timestamp,
}

/// What came of a round's agent.
#[derive(Clone, Copy, Debug)]
pub struct Gone<'a> {
    /// The round.
    pub round: u64,
    /// The effort that was asked for.
    pub effort: &'a Effort,
    /// How it ended.
    pub exit: RoundExit,
    /// Its failure in words.
    pub why: Option<&'a str>,
    /// The error's text, to tell whether the same comes again.
    pub error: Option<&'a str>,
    /// Its last message, in its own words.
    pub said: &'a str,
    /// All that it said.
    pub whole: &'a str,
    /// Somebody asked for a stop.
    pub interrupted: bool,
    /// The machine will have the oracle asked.
    pub verifies: bool,
    /// How long it took.
    pub lasted: Millis,
    /// Output tokens of the round.
    pub output: Tokens,
    /// Turns that were counted.
    pub turns: u64,
    /// All that was spent.
    pub spent: Spent,
    /// The moment.
    pub now: Timestamp,
}

/// What the machine is told of a round, beside what it spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The project's state.
    pub tree: Option<Fingerprint>,
    /// The round's error.
    pub error: Option<Fingerprint>,
}

/// What a round has left.
#[derive(Clone, Debug, Default)]
pub struct Left {
    /// What the machine is told; none where the oracle's answer belongs to it, which comes later.
    pub progress: Option<Progress>,
    /// A kill-on rule matched: which, and what it saw.
    pub kill: Option<String>,
    /// For people.
    pub notes: Vec<String>,
}

/// What the oracle says.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// Its answer; none where it was given up because somebody asks for a stop.
    pub answer: Option<Answer>,
    /// Why, in a line.
    pub why: String,
    /// What the machine is told of the round, now that all is known.
    pub progress: Option<Progress>,
    /// What the oracle spent.
    pub turns: Vec<TurnRecord>,
    /// For people.
    pub notes: Vec<String>,
}

/// The project.
pub trait Site<O: Os> {
    /// What is there before the first round of this process, which is none where nobody asks for progress, and what people should know.
    ///
    /// # Errors
    /// In words, where the loop must not begin.
    fn found(&mut self, _os: &mut O) -> Result<(Option<Progress>, Vec<String>), String> {
        Ok((None, Vec::new()))
    }

    /// What loops that share caps with this one leave of them; none where there are no such caps.
    ///
    /// # Errors
    /// In words, where that cannot be told: spending that nobody can count is not allowed.
    fn shared(&mut self, _os: &mut O, _spent: Spent) -> Result<Option<Caps>, String> {
        Ok(None)
    }

    /// The prompt of a round, which is none where it is always the same, and what people should know.
    ///
    /// # Errors
    /// In words, where the round must not begin.
    fn before(&mut self, _os: &mut O, _begin: &Begin<'_>) -> Result<(Option<String>, Vec<String>), String> {
        Ok((None, Vec::new()))
    }

    /// What a round has left.
    ///
    /// # Errors
    /// In words, where the loop must not go on.
    fn after(&mut self, _os: &mut O, _gone: &Gone<'_>) -> Result<Left, String> {
        Ok(Left::default())
    }

    /// Asks the oracle, which has this long.
    ///
    /// # Errors
    /// In words, where its answer cannot be kept.
    fn verify(&mut self, _os: &mut O, _round: u64, _left: Option<Millis>) -> Result<Verdict, String> {
        Ok(Verdict { answer: Some(Answer::Fail), ..Verdict::default() })
    }

    /// More of what a control that stops the loop saw.
    fn detail(&self, _control: Control) -> Option<String> {
        None
    }
}

/// A project of which nothing is asked.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSite;

impl<O: Os> Site<O> for NoSite {}
