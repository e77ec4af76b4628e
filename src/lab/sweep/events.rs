//! A cell's run through the loop machine, event by event, into the same log that the tables fill.

use std::num::NonZeroU64;

use super::lanes::{Governed, seen};
use crate::engine::{Asks, Checkpoint, Governor, Law, Limits, Machine, MicroUsd, NoTrace, Plan, Rung, Tokens};
use crate::lab::ends::RunEnd;
use crate::lab::runlog::RunLog;
use crate::lab::scenario::Scenario;
use crate::sim::{Fortune, Luck, Outcomes, World};

/// A scenario and the run of it.
#[derive(Clone, Copy, Debug)]
pub(in crate::lab) struct Play<'a> {
    pub(in crate::lab) scenario: &'a Scenario,
    pub(in crate::lab) seed: u64,
    pub(in crate::lab) run: u32,
}

impl<'a> Play<'a> {
    /// What comes of its rounds; each cell starts anew.
    pub(in crate::lab) fn fortune(&self) -> Option<Fortune<'a>> {
        self.scenario.outcome.as_ref().map(|outcome| outcome.fortune(self.seed, self.run))
    }
}

/// Runs one cell and logs it.
pub(in crate::lab) fn run<L: Law>(
    play: &Play<'_>,
    luck: &mut Luck<'_>,
    cell: &Governed<'_>,
    law: L,
    log: &mut RunLog,
    end: &mut RunEnd,
) {
    let Scenario { agent, usage, .. } = play.scenario;
    let rounds = u32::try_from(luck.rounds()).unwrap_or(u32::MAX);
    let mut machine = machine(play.scenario, cell, law, rounds);
    let mut fortune = play.fortune();
    log.begin(rounds, cell.budget.map(Tokens::count));
    end.begin();
    let (mut ended, mut pinned) = (0, false);
    let outcomes = fortune.as_mut().map(|fortune| fortune as &mut dyn Outcomes);
    let mut world = World::new(luck, agent.spec().accounting).with(outcomes, *usage);
    let control = world.run(&mut machine, &mut NoTrace, |facts| {
        log.pinned += u32::from(pinned);
        pinned = facts.verdict.pinned;
        let mean = facts.verdict.decision.evidence.mean;
        let turns = facts.draw.tokens.len() as u64;
        let rung: Rung = facts.verdict.from;
        log.push(rung.number(), seen(cell.seen, mean), facts.began.millis(), facts.draw.total(), turns);
        let cost = |cost: MicroUsd, tokens: &u32| cost.plus(usage.cost((*tokens).into()).unwrap_or_default());
        end.push(facts.draw.tokens.iter().fold(MicroUsd::ZERO, cost));
        ended = facts.ended.millis();
    });
    log.finish(ended);
    end.control = Some(control);
}

/// A loop of at most so many rounds, set up as the scenario and the cell say.
pub(in crate::lab) fn machine<L: Law>(scenario: &Scenario, cell: &Governed<'_>, law: L, rounds: u32) -> Machine<L> {
    let (ladder, controls) = (&scenario.ladder, &scenario.controls);
    let mut plan = Plan::new(ladder.clone(), ladder.effort(cell.start).word());
    (plan.rest, plan.backoff, plan.limit_backoff) = (cell.rest, controls.backoff, controls.limit_backoff);
    let planned = NonZeroU64::new(rounds.into());
    let capped = controls.limits.rounds.map_or(planned, |cap| planned.map(|planned| planned.min(cap)));
    plan.limits = Limits { rounds: capped, budget: cell.budget, ..controls.limits };
    if scenario.outcome.as_ref().is_some_and(crate::sim::OutcomeModel::has_oracle) {
        plan.verify = Asks::After;
    }
    let governor = Governor::new(law, *cell.band, cell.over, ladder.rungs());
    Machine::new(plan, governor, Checkpoint::default())
}
