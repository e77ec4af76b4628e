//! A cell's run through the loop machine, event by event, into the same log that the tables fill.

use std::num::NonZeroU64;

use super::lanes::{Governed, seen};
use crate::engine::{Checkpoint, Governor, Ladder, Law, Limits, Machine, NoTrace, Plan, Rung, Tokens};
use crate::lab::runlog::RunLog;
use crate::sim::{Accounting, Luck, World};

/// Runs one cell and logs it.
pub(super) fn run<L: Law>(
    luck: &mut Luck<'_>,
    ladder: &Ladder,
    accounting: Accounting,
    cell: &Governed<'_>,
    law: L,
    log: &mut RunLog,
) {
    let rounds = u32::try_from(luck.rounds()).unwrap_or(u32::MAX);
    let mut machine = machine(ladder, cell, law, rounds);
    log.begin(rounds, cell.budget.map(Tokens::count));
    let (mut ended, mut pinned) = (0, false);
    World::new(luck, accounting).run(&mut machine, &mut NoTrace, |facts| {
        log.pinned += u32::from(pinned);
        pinned = facts.verdict.pinned;
        let mean = facts.verdict.decision.evidence.mean;
        let turns = facts.draw.tokens.len() as u64;
        let rung: Rung = facts.verdict.from;
        log.push(rung.number(), seen(cell.seen, mean), facts.began.millis(), facts.draw.total(), turns);
        ended = facts.ended.millis();
    });
    log.finish(ended);
}

/// A loop of so many rounds, set up as the cell says.
pub(in crate::lab) fn machine<L: Law>(ladder: &Ladder, cell: &Governed<'_>, law: L, rounds: u32) -> Machine<L> {
    let mut plan = Plan::new(ladder.clone(), ladder.effort(cell.start).word());
    plan.rest = cell.rest;
    plan.limits = Limits { rounds: NonZeroU64::new(rounds.into()), budget: cell.budget, ..Limits::default() };
    let governor = Governor::new(law, *cell.band, cell.over, ladder.rungs());
    Machine::new(plan, governor, Checkpoint::default())
}
