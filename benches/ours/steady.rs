//! The inner loop of a sweep with all its buffers in hand: draw a run, lay it down, govern cells on it and score them.

use std::error::Error;

use flyball::engine::laws::Reference;
use flyball::engine::{Band, Millis, Over};
use flyball::lab::runlog::{RunLog, Seen};
use flyball::lab::scenario::Scenario;
use flyball::lab::score::{Scoring, score};
use flyball::lab::sweep::{Governed, Scratch, Tables};
use flyball::lab::tally::CellTally;
use flyball::lab::truth::Truth;
use flyball::sim::Luck;

/// Buffers of a worker.
pub(crate) struct Steady<'a> {
    scenario: &'a Scenario,
    luck: Luck<'a>,
    band: Band,
    tables: Tables,
    truth: Truth,
    scratch: Scratch,
    log: RunLog,
    tally: CellTally,
    rounds: u32,
}

impl<'a> Steady<'a> {
    pub(crate) fn new(scenario: &'a Scenario, rounds: u32) -> Result<Self, Box<dyn Error>> {
        Ok(Self {
            scenario,
            luck: scenario.agent.luck(1, 0, 0),
            band: Band::new(scenario.governor.juice, scenario.governor.slack)?,
            tables: Tables::default(),
            truth: Truth::default(),
            scratch: Scratch::default(),
            log: RunLog::default(),
            tally: CellTally::default(),
            rounds,
        })
    }

    /// Run `run` of `seed` at windows of one to `cells` minutes: drawn, laid down, governed, scored and added up.
    pub(crate) fn run(&mut self, seed: u64, run: u32, cells: u64) -> Result<(), Box<dyn Error>> {
        let (scenario, rungs) = (self.scenario, self.scenario.agent.rungs());
        self.luck.restart(seed, run, self.rounds);
        self.tables.fill(&mut self.luck, rungs, false);
        let (target, luck) = (scenario.governor.juice, &self.luck);
        let ln_mean = |rung, round| luck.ln_mean(rung, u32::try_from(round).unwrap_or(u32::MAX));
        self.truth.fill(self.tables.rounds(), rungs, target, scenario.evaluate.band, ln_mean)?;
        for minutes in 1..=cells {
            self.govern(Millis::from_secs(60 * minutes));
            self.tally.add(&score(&self.log, &self.truth, &Scoring::new(target))?);
        }
        Ok(())
    }

    /// Run `run` of `seed` as the scenario has it, from tables: tokens per turn, share of the readings in the band, moves
    /// in 100 rounds.
    pub(crate) fn figures(&mut self, seed: u64, run: u32) -> [f64; 3] {
        self.luck.restart(seed, run, self.rounds);
        self.tables.fill(&mut self.luck, self.scenario.agent.rungs(), false);
        self.govern(self.scenario.governor.over);
        let log = &self.log;
        let (readings, inside) = log.seen.iter().fold((0.0, 0.0), |(readings, inside), seen| match seen {
            Seen::Nothing => (readings, inside),
            Seen::Outside => (readings + 1.0, inside),
            Seen::Inside => (readings + 1.0, inside + 1.0),
        });
        let moves = log.rung.windows(2).filter(|pair| pair[0] != pair[1]).map(|_| 1.0).sum::<f64>();
        let per_turn = float(log.total_tokens()) / float(log.total_turns());
        [per_turn, inside / readings, 100.0 * moves / f64::from(self.rounds)]
    }

    fn govern(&mut self, over: Millis) {
        let cell = Governed {
            band: &self.band,
            seen: &self.band,
            over: Over::new(over),
            rest: self.scenario.governor.rest,
            budget: None,
            start: self.scenario.plan.start,
        };
        self.tables.govern(&cell, Reference, &mut self.scratch, &mut self.log);
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of one run are far below 2^53")]
fn float(count: u64) -> f64 {
    count as f64
}
