//! One cell, once: every round as it went, for people and for the trace.
//!
//! It drives the loop machine through the [`World`], the very same as a sweep with the machine as its engine; run 7 here
//! is run 7 there. It opens no files: whoever wants the trace brings a sink.

use crate::engine::{Band, BandError, Control, Millis, Over, RoundExit, Side, Spent, Tokens, TraceSink, Verdict};
use crate::lab::grid::Cell;
use crate::lab::scenario::Scenario;
use crate::lab::sweep::{Governed, Play, machine};
use crate::lab::truth::{Truth, TruthError};
use crate::sim::{Left, Outcomes, World};

/// What is to be run.
#[derive(Clone, Copy, Debug)]
pub struct Once<'a> {
    /// The agent and its plan.
    pub scenario: &'a Scenario,
    /// The settings.
    pub cell: Cell,
    /// Which run of the seed, from 0.
    pub run: u32,
    /// Rounds at most.
    pub rounds: u32,
    /// What all luck comes from.
    pub seed: u64,
}

/// One round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Round {
    /// Its number, from 1.
    pub number: u32,
    /// Turns that the agent took.
    pub turns: usize,
    /// Output tokens of the round, as billed.
    pub output: Tokens,
    /// Output tokens so far, this round included.
    pub spent: Tokens,
    /// How long it took.
    pub lasted: Millis,
    /// Whether it ran on a right rung, by the band of evaluation.
    pub right: bool,
    /// How it ended.
    pub exit: RoundExit,
    /// Whether a limit of the backend ended it.
    pub limited: bool,
    /// What it left behind; none where the scenario does not say.
    pub left: Option<Left>,
    /// What the governor made of it.
    pub verdict: Verdict,
}

impl Round {
    /// Where its reading lay; none where there was none.
    #[must_use]
    pub const fn side(&self) -> Option<Side> {
        self.verdict.decision.evidence.side
    }
}

/// A run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Simulated {
    /// Its rounds.
    pub rounds: Vec<Round>,
    /// What stopped it.
    pub stop: Control,
    /// What it came to, by the machine's count.
    pub spent: Spent,
    /// The right rungs of each round that was planned, as bits: bit 0 is the hardest.
    pub right: Vec<u64>,
}

/// Why a run cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum SimulateError {
    /// The target and the slack make no band.
    #[error("these settings have no band: {0}")]
    Band(#[from] BandError),
    /// There is nothing to judge by.
    #[error("a run of this scenario cannot be judged: {0}")]
    Truth(#[from] TruthError),
}

/// Runs it and tells `sink` everything.
///
/// # Errors
/// [`SimulateError`].
pub fn simulate(once: &Once<'_>, sink: &mut impl TraceSink) -> Result<Simulated, SimulateError> {
    let Once { scenario, cell, .. } = *once;
    let tuning = &scenario.governor.tuning;
    let band = tuning.band(cell.juice, cell.slack)?;
    let seen = Band::new(cell.juice, scenario.evaluate.band)?;
    let budget = scenario.governor.budget;
    let (over, start) = (Over::new(cell.over), scenario.plan.start);
    let governed = Governed { band: &band, seen: &seen, over, rest: cell.rest, budget, start };
    let mut luck = scenario.agent.luck(once.seed, once.run, once.rounds);

    let mut truth = Truth::default();
    let ln_mean = |rung, round| luck.ln_mean(rung, u32::try_from(round).unwrap_or(u32::MAX));
    truth.fill(once.rounds as usize, scenario.agent.rungs(), cell.juice, scenario.evaluate.band, ln_mean)?;

    let mut machine = machine(scenario, &governed, cell.law.tuned(tuning), once.rounds);
    let (mut rounds, mut spent) = (Vec::new(), Tokens::ZERO);
    let mut fortune = Play { scenario, seed: once.seed, run: once.run }.fortune();
    let outcomes = fortune.as_mut().map(|fortune| fortune as &mut dyn Outcomes);
    let mut world = World::new(&mut luck, scenario.agent.spec().accounting).with(outcomes, scenario.usage);
    let stop = world.run(&mut machine, sink, |facts| {
        let output = Tokens::new(facts.draw.total());
        spent = spent.plus(output);
        rounds.push(Round {
            number: facts.round + 1,
            turns: facts.draw.tokens.len(),
            output,
            spent,
            lasted: facts.ended.since(facts.began),
            right: truth.acceptable(facts.round as usize) >> facts.verdict.from.index() & 1 == 1,
            exit: facts.exit,
            limited: facts.limited,
            left: facts.left,
            verdict: *facts.verdict,
        });
    });
    let right = (0..once.rounds as usize).map(|round| truth.acceptable(round)).collect();
    Ok(Simulated { rounds, stop, spent: machine.spent(), right })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Event, LawKind, NoTrace, Output, Timestamp};

    fn typical() -> Scenario {
        Scenario::load(include_str!("../../scenarios/s02-typical.toml"), "s02-typical.toml").unwrap()
    }

    #[test]
    fn a_run_has_its_rounds_and_moves_as_decided() {
        let scenario = typical();
        let once = Once { scenario: &scenario, cell: scenario.base(), run: 3, rounds: 40, seed: 1 };
        let mut spawned = Vec::new();
        let mut sink = |_: Timestamp, event: Event<'_>| {
            if let Event::Order(Output::Spawn { effort, .. }) = event {
                spawned.push(effort.word().to_owned());
            }
        };
        let run = simulate(&once, &mut sink).unwrap();
        assert_eq!((run.rounds.len(), run.stop), (40, Control::Rounds));
        let ran: Vec<&str> = run.rounds.iter().map(|r| scenario.ladder.effort(r.verdict.from).word()).collect();
        assert_eq!(ran, spawned);
        assert!(run.rounds.windows(2).all(|pair| pair[0].verdict.to == pair[1].verdict.from));
        assert_eq!(run.rounds.iter().fold(0, |sum, r| sum + r.output.count()), run.rounds[39].spent.count());
        assert_eq!(run.right, vec![0b100; 40], "2048 is the mean of the third rung");
        assert!(run.rounds.iter().all(|round| round.right == (round.verdict.from.index() == 2)));
    }

    #[test]
    fn the_run_and_the_seed_are_what_it_depends_on() {
        let scenario = typical();
        let cell = Cell { law: LawKind::Reset, ..scenario.base() };
        let run =
            |run, seed| simulate(&Once { scenario: &scenario, cell, run, rounds: 10, seed }, &mut NoTrace).unwrap();
        assert_eq!(run(1, 1), run(1, 1));
        assert_ne!(run(1, 1), run(2, 1));
        assert_ne!(run(1, 1), run(1, 2));
    }
}
