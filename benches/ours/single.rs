//! One run of one cell: through the loop machine, event by event, and from tables.

use std::num::NonZeroU64;

use flyball::engine::laws::Reference;
use flyball::engine::{Band, Checkpoint, Governor, Limits, Machine, NoTrace, Over, Plan};
use flyball::lab::scenario::Scenario;
use flyball::sim::{Accounting, Luck, World};

/// Drives the machine of the scenario's own settings through one run and gives its output tokens.
pub(crate) fn machine(scenario: &Scenario, luck: &mut Luck<'_>, band: Band) -> u64 {
    let mut plan = Plan::new(scenario.ladder.clone(), scenario.ladder.effort(scenario.plan.start).word());
    plan.rest = scenario.governor.rest;
    plan.limits = Limits { rounds: NonZeroU64::new(luck.rounds() as u64), ..Limits::default() };
    let governor = Governor::new(Reference, band, Over::new(scenario.governor.over), scenario.ladder.rungs());
    let mut machine = Machine::new(plan, governor, Checkpoint::default());
    let mut tokens = 0;
    World::new(luck, Accounting::Final).run(&mut machine, &mut NoTrace, |facts| tokens += facts.draw.total());
    tokens
}
