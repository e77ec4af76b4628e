//! A grid made ready: what its cells share is made once.

use std::collections::BTreeMap;

use super::lanes::Governed;
use crate::engine::{Band, BandError, LawKind, Millis, Over, Ratio, Rung, Target, Tokens};
use crate::lab::choose::settle_scale;
use crate::lab::grid::{Cell, Grid};
use crate::lab::scenario::{GovernorSettings, Scenario};
use crate::lab::score::Scoring;

/// What belongs to a target.
#[derive(Clone, Debug)]
pub(super) struct Aim {
    pub(super) target: Target,
    /// The band of the report.
    pub(super) seen: Band,
    pub(super) scoring: Scoring,
    /// Tokens that settling is measured by.
    pub(super) scale: u64,
}

/// One cell and what it shares.
#[derive(Clone, Debug)]
pub(super) struct Prepared {
    pub(super) cell: Cell,
    pub(super) band: Band,
    /// Its place among the aims.
    pub(super) aim: usize,
    /// Its place among the oracles.
    pub(super) oracle: usize,
}

/// An oracle's run: what is right does not depend on law or slack.
#[derive(Clone, Copy, Debug)]
pub(super) struct OracleCell {
    pub(super) aim: usize,
    pub(super) over: Millis,
    pub(super) rest: Millis,
}

/// A grid made ready.
#[derive(Clone, Debug)]
pub(super) struct Cells {
    pub(super) all: Vec<Prepared>,
    pub(super) aims: Vec<Aim>,
    pub(super) oracles: Vec<OracleCell>,
    pub(super) band: Ratio,
    pub(super) start: Rung,
    pub(super) budget: Option<Tokens>,
    /// Whether some law looks at logarithms.
    pub(super) logs: bool,
    /// Whether it is told how runs end.
    pub(super) ends: bool,
}

impl Cells {
    pub(super) fn new(scenario: &Scenario, grid: &Grid, rounds: u32) -> Result<Self, BandError> {
        let evaluate = scenario.evaluate;
        let GovernorSettings { budget, tuning, .. } = scenario.governor;
        let mean_turns = scenario.agent.spec().turns.mean;
        let aim = |&target: &Target| {
            Ok(Aim {
                target,
                seen: Band::new(target, evaluate.band)?,
                scoring: Scoring { hold: evaluate.hold, ..Scoring::new(target) },
                scale: settle_scale(budget.map(Tokens::count), rounds, mean_turns, target),
            })
        };
        let aims = grid.juices().iter().map(aim).collect::<Result<Vec<_>, BandError>>()?;
        let (mut oracles, mut known, mut all) = (Vec::new(), BTreeMap::new(), Vec::with_capacity(grid.len()));
        for cell in grid.cells() {
            let aim = aims.iter().position(|aim| aim.target == cell.juice).unwrap_or(0);
            let oracle = *known.entry((aim, cell.over, cell.rest)).or_insert_with(|| {
                oracles.push(OracleCell { aim, over: cell.over, rest: cell.rest });
                oracles.len() - 1
            });
            all.push(Prepared { cell, band: tuning.band(cell.juice, cell.slack)?, aim, oracle });
        }
        let logs = grid.laws().iter().any(|law| crate::engine::Law::reads_logs(&LawKind::build(*law)));
        Ok(Self {
            all,
            aims,
            oracles,
            band: evaluate.band,
            start: scenario.plan.start,
            budget,
            logs,
            ends: scenario.hangs_on_the_path(),
        })
    }

    /// How a cell is governed.
    pub(super) fn governed<'a>(&'a self, cell: &'a Prepared) -> Governed<'a> {
        Governed {
            band: &cell.band,
            seen: &self.aims[cell.aim].seen,
            over: Over::new(cell.cell.over),
            rest: cell.cell.rest,
            budget: self.budget,
            start: self.start,
        }
    }

    /// How an oracle is governed that starts on `start`.
    pub(super) fn told(&self, oracle: OracleCell, start: Rung) -> Governed<'_> {
        let seen = &self.aims[oracle.aim].seen;
        Governed { band: seen, seen, over: Over::new(oracle.over), rest: oracle.rest, budget: self.budget, start }
    }
}
