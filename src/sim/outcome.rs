//! What comes of a round apart from its tokens: whether the agent fails, a backend's limit falls in, the project changes, the same
//! error comes again, and what the oracle says.
//!
//! It is a model of chances, and not a loop: what follows from an outcome is the machine's to say. Like all luck, an outcome is a
//! function of (seed, run, round, channel), with a stream for each purpose, so that every law, cell and cap meets the same. What
//! hangs on the path is not drawn but follows: a round without a turn changes nothing and finishes nothing.
//!
//! # How a task is finished
//!
//! A round of `n` output tokens at rung `r` finishes the task with chance `1 - (1 - done) exp(-n / finish[r])`: a constant chance for each
//! token, as in the exponential law of survival, and a constant one for each round. So where only `done` is given the number of
//! rounds is geometric, and where only `finish` is given the tokens that a task takes on one rung are exponential with that mean.
//! That is assumed: the simplest law without memory, with one number a rung that a person can guess. Nobody has measured it. Without
//! memory a round is worth as much late as early, so that giving up saves nothing for each task that is done; what caps save is the
//! share of runs whose task is `hopeless`.
//!
//! Units: chances and shares from 0 to 1, spans in seconds, tokens of output.

use std::fmt;

use super::agent::{ModelError, Span};
use super::dist::{bounded_exp, log_sigma, nearest};
use super::noise::{Channel, Noise};
use super::normal;
use crate::engine::{Answer, Fingerprint, Millis, RoundExit};

/// What may come of rounds, before it is checked. The default is that nothing does: every round ends well and none finishes anything.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OutcomeSpec {
    /// Chance that the agent fails in a round.
    pub failed: f64,
    /// The share of failures that come before the first turn; the others come after some turn, each with the same chance.
    pub early: f64,
    /// Limits of the backend.
    pub limit: Option<LimitSpec>,
    /// Chance that a round leaves the project as it was.
    pub unchanged: f64,
    /// Chance that a round ends with the same error as the one before; none where rounds have no error.
    pub same_error: Option<f64>,
    /// Chance that a round finishes the task, whatever it makes.
    pub done: f64,
    /// Output tokens that a task takes in the mean on each rung, hardest first; empty where tokens finish nothing.
    pub finish: Vec<f64>,
    /// The share of runs whose task nothing finishes: what caps are for.
    pub hopeless: f64,
    /// Chance that the oracle finds that nothing more can be done, where the task is not done.
    pub blocked: f64,
    /// Chance that the oracle itself breaks when it is asked.
    pub oracle_error: f64,
    /// Chance that a kill-on rule matches what a round said.
    pub kill_on: f64,
}

/// Limits of the backend.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LimitSpec {
    /// Chance that one begins in a round, before any of its turns with the same chance.
    pub chance: f64,
    /// How long it lasts: lognormal, and never longer than 49 days.
    pub lasts: Span,
    /// The share of limits that say until when.
    pub told: f64,
}

/// What may come of rounds, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct OutcomeModel {
    spec: OutcomeSpec,
}

impl OutcomeModel {
    /// Checks the whole of `spec` for a ladder of so many rungs.
    ///
    /// # Errors
    /// [`ModelError`], which names the first thing that is wrong.
    pub fn new(spec: OutcomeSpec, rungs: usize) -> Result<Self, ModelError> {
        let limit = spec.limit.unwrap_or(LimitSpec { chance: 0.0, lasts: Span { mean: 0.0, cv: 0.0 }, told: 0.0 });
        let chances = [
            ("outcome.failed", spec.failed),
            ("outcome.early", spec.early),
            ("outcome.limit.chance", limit.chance),
            ("outcome.limit.told", limit.told),
            ("outcome.unchanged", spec.unchanged),
            ("outcome.same_error", spec.same_error.unwrap_or(0.0)),
            ("outcome.done", spec.done),
            ("outcome.hopeless", spec.hopeless),
            ("outcome.blocked", spec.blocked),
            ("outcome.oracle_error", spec.oracle_error),
            ("outcome.kill_on", spec.kill_on),
        ];
        for (what, got) in chances {
            within(what, got, 0.0, 1.0, "from 0 to 1")?;
        }
        within("outcome.limit.lasts.mean", limit.lasts.mean, 0.0, 1e6, "from 0 to 1000000 s")?;
        within("outcome.limit.lasts.cv", limit.lasts.cv, 0.0, 100.0, "from 0 to 100")?;
        for tokens in &spec.finish {
            within("outcome.finish", *tokens, 1.0, 1e15, "from 1 to 1e15 tokens")?;
        }
        if !spec.finish.is_empty() && spec.finish.len() != rungs {
            return Err(ModelError::Finish { given: spec.finish.len(), rungs });
        }
        Ok(Self { spec })
    }

    /// What it was made from.
    #[must_use]
    pub const fn spec(&self) -> &OutcomeSpec {
        &self.spec
    }

    /// Whether an oracle has anything to say.
    #[must_use]
    pub fn has_oracle(&self) -> bool {
        let spec = &self.spec;
        spec.done > 0.0 || !spec.finish.is_empty() || spec.blocked > 0.0 || spec.oracle_error > 0.0
    }

    /// The chance that a round of so many output tokens at this rung finishes the task, where it can be finished.
    ///
    /// ```
    /// use flyball::sim::{OutcomeModel, OutcomeSpec};
    /// let spec = OutcomeSpec { finish: vec![1e5, 2e5], ..OutcomeSpec::default() };
    /// let model = OutcomeModel::new(spec, 2).unwrap();
    /// assert!((model.finishes(1, 200_000) - (1.0 - (-1.0_f64).exp())).abs() < 1e-12);
    /// ```
    #[must_use]
    pub fn finishes(&self, rung: usize, tokens: u64) -> f64 {
        let exponent = self.spec.finish.get(rung).map_or(0.0, |mean| whole(tokens) / mean);
        // 1 - (1 - done) exp(-x), without losing small chances
        -libm::expm1(libm::log1p(-self.spec.done) - exponent)
    }

    /// The outcomes of run `run` of `seed`.
    #[must_use]
    pub const fn fortune(&self, seed: u64, run: u32) -> Fortune<'_> {
        Fortune { model: self, noise: Noise::new(seed, run), tree: 0, error: 0 }
    }
}

fn within(what: &'static str, got: f64, least: f64, most: f64, need: &'static str) -> Result<(), ModelError> {
    if (least..=most).contains(&got) { Ok(()) } else { Err(ModelError::Outside { what, got, need }) }
}

/// A count as a float; beyond 2^53 the nearest.
#[expect(clippy::cast_precision_loss, reason = "the nearest float is what is wanted")]
const fn whole(count: u64) -> f64 {
    count as f64
}

/// What will come of a round, before it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fate {
    /// How many of its turns the agent gets to.
    pub turns: usize,
    /// How it ends, unless it is ended before.
    pub exit: RoundExit,
    /// The limit that ends it, after those turns.
    pub limit: Option<Limit>,
    /// Somebody asks for a stop after those turns. Chance never does; whoever scripts a world may.
    pub interrupted: bool,
}

impl Fate {
    /// A round of so many turns that goes well.
    #[must_use]
    pub const fn whole(turns: usize) -> Self {
        Self { turns, exit: RoundExit::Done, limit: None, interrupted: false }
    }
}

/// A limit of the backend that begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// How long it lasts.
    pub lasts: Millis,
    /// Whether the backend says so.
    pub told: bool,
}

/// What a round made before it ended, one way or another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Made {
    /// The round, counted from 0.
    pub round: u32,
    /// The rung that it ran at.
    pub rung: usize,
    /// Turns that it took.
    pub turns: usize,
    /// Output tokens of those, as billed.
    pub tokens: u64,
}

/// What a round leaves behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Left {
    /// The project's state.
    pub tree: Option<Fingerprint>,
    /// The round's error.
    pub error: Option<Fingerprint>,
    /// What the oracle will say of it.
    pub answer: Answer,
    /// A kill-on rule matched.
    pub kill_on: bool,
}

/// What comes of rounds. Rounds are asked for in their order, each once.
pub trait Outcomes: fmt::Debug {
    /// What is there before the first round.
    fn found(&self) -> Option<Fingerprint>;

    /// What will come of a round that would take so many turns.
    fn fate(&mut self, round: u32, turns: usize) -> Fate;

    /// What a round leaves behind.
    fn left(&mut self, made: &Made) -> Left;
}

/// The outcomes of one run: made by [`OutcomeModel::fortune`].
#[derive(Clone, Debug)]
pub struct Fortune<'m> {
    model: &'m OutcomeModel,
    noise: Noise,
    /// The state of the project, by the number of the round that changed it last, from 1.
    tree: u64,
    /// The error, by the number of the round that had it first.
    error: u64,
}

impl Fortune<'_> {
    /// Becomes that of another run.
    pub const fn restart(&mut self, seed: u64, run: u32) {
        (self.noise, self.tree, self.error) = (Noise::new(seed, run), 0, 0);
    }

    fn happens(&self, channel: Channel, round: u32, chance: f64) -> bool {
        chance > 0.0 && self.uniform(channel, round) < chance
    }

    fn uniform(&self, channel: Channel, round: u32) -> f64 {
        self.noise.uniform(channel, round, 0)
    }

    /// After how many turns a limit begins in this round, and which.
    fn limit(&self, round: u32, turns: usize) -> Option<(usize, Limit)> {
        let spec = self.model.spec.limit?;
        if !self.happens(Channel::Limit, round, spec.chance) {
            return None;
        }
        let before = share(self.uniform(Channel::LimitAt, round), turns);
        let sigma = log_sigma(spec.lasts.cv);
        let factor = if sigma > 0.0 {
            bounded_exp(sigma * normal::inverse_cdf(self.uniform(Channel::LimitLasts, round)) - sigma * sigma / 2.0)
        } else {
            1.0
        };
        let lasts = Millis::new(u64::from(nearest(1000.0 * spec.lasts.mean * factor, 1)));
        Some((before, Limit { lasts, told: self.happens(Channel::LimitTold, round, spec.told) }))
    }

    /// After how many turns the agent fails in this round.
    fn failure(&self, round: u32, turns: usize) -> Option<usize> {
        let OutcomeSpec { failed, early, .. } = self.model.spec;
        if !self.happens(Channel::Failed, round, failed) {
            return None;
        }
        let at = self.uniform(Channel::FailedAt, round);
        Some(if at < early { 0 } else { share((at - early) / (1.0 - early), turns) + usize::from(turns > 0) })
    }
}

/// A place from 0 to `count` - 1, each with the same chance; 0 of none.
fn share(uniform: f64, count: usize) -> usize {
    let most = u32::try_from(count).unwrap_or(u32::MAX);
    let place = nearest((uniform * f64::from(most)).floor(), 0).min(most.saturating_sub(1));
    usize::try_from(place).unwrap_or(0)
}

impl Outcomes for Fortune<'_> {
    fn found(&self) -> Option<Fingerprint> {
        Some(print(self.tree))
    }

    fn fate(&mut self, round: u32, turns: usize) -> Fate {
        let failure = self.failure(round, turns);
        match self.limit(round, turns) {
            Some((before, limit)) if failure.is_none_or(|after| before <= after) => {
                Fate { exit: RoundExit::Failed, limit: Some(limit), ..Fate::whole(before) }
            }
            Some(_) | None => match failure {
                Some(after) => Fate { exit: RoundExit::Failed, ..Fate::whole(after) },
                None => Fate::whole(turns),
            },
        }
    }

    fn left(&mut self, made: &Made) -> Left {
        let (spec, round, worked) = (&self.model.spec, made.round, made.turns > 0);
        let number = u64::from(round) + 1;
        if worked && !self.happens(Channel::Unchanged, round, spec.unchanged) {
            self.tree = number;
        }
        if spec.same_error.is_some_and(|chance| !self.happens(Channel::SameError, round, chance)) {
            self.error = number;
        }
        let hopeless = self.happens(Channel::Hopeless, 0, spec.hopeless);
        let finishes = if hopeless { 0.0 } else { self.model.finishes(made.rung, made.tokens) };
        let answer = if self.happens(Channel::OracleError, round, spec.oracle_error) {
            Answer::Error
        } else if worked && self.happens(Channel::Finished, round, finishes) {
            Answer::Pass
        } else if self.happens(Channel::Blocked, round, spec.blocked) {
            Answer::Blocked
        } else {
            Answer::Fail
        };
        Left {
            tree: Some(print(self.tree)),
            error: spec.same_error.filter(|_| answer == Answer::Fail).map(|_| print(self.error)),
            answer,
            kill_on: worked && self.happens(Channel::KillOn, round, spec.kill_on),
        }
    }
}

/// A made-up print: equal numbers are the same thing.
fn print(number: u64) -> Fingerprint {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&number.to_le_bytes());
    Fingerprint(bytes)
}

#[cfg(test)]
mod tests;
