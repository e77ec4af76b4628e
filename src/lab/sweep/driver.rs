//! What governs a batch of cells on one run's luck, by whichever engine.

use super::lanes::LANES;
use super::runner::Job;
use super::{Engine, Governed, Play, Scratch, Tables, play};
use crate::engine::{AnyLaw, Law, LawKind};
use crate::lab::ends::RunEnd;
use crate::lab::runlog::RunLog;
use crate::sim::Luck;

/// One thread's luck and buffers.
pub(super) struct Driver<'a> {
    job: &'a Job<'a>,
    luck: Luck<'a>,
    tables: Tables,
    scratch: Scratch,
    logs: [RunLog; LANES],
    ends: [RunEnd; LANES],
    run: u32,
}

impl<'a> Driver<'a> {
    pub(super) fn new(job: &'a Job<'a>) -> Self {
        Self {
            job,
            luck: job.scenario.agent.luck(job.seed, 0, 0),
            tables: Tables::default(),
            scratch: Scratch::default(),
            logs: Default::default(),
            ends: Default::default(),
            run: 0,
        }
    }

    /// Draws a run, and lays it down for an engine that wants that; `logs`: with the logarithms of its turns.
    pub(super) fn draw(&mut self, run: u32, logs: bool) {
        self.run = run;
        self.luck.restart(self.job.seed, run, self.job.rounds);
        if self.job.engine() == Engine::Tables {
            self.tables.fill(&mut self.luck, self.job.scenario.agent.rungs(), logs);
        }
    }

    /// The run's luck.
    pub(super) const fn luck(&self) -> &Luck<'a> {
        &self.luck
    }

    /// What the cell at `place` of the last batch did.
    pub(super) const fn log(&self, place: usize) -> &RunLog {
        &self.logs[place]
    }

    /// How the cell at `place` of the last batch ended; only the machine says.
    pub(super) const fn end(&self, place: usize) -> &RunEnd {
        &self.ends[place]
    }

    /// Governs a batch of cells by a law that settings can name, as the scenario has it set.
    pub(super) fn govern_by<'c>(&mut self, law: LawKind, count: usize, cell: impl Fn(usize) -> Governed<'c>) {
        let tuning = &self.job.scenario.governor.tuning;
        if tuning.cooldown > 0 {
            let law = law.tuned(tuning);
            return self.govern(count, cell, |_| law.clone());
        }
        // a loop for each law, so that it is told nothing that it does not look at
        match law.set(tuning) {
            AnyLaw::Fixed(law) => self.govern(count, cell, |_| law),
            AnyLaw::Reference(law) => self.govern(count, cell, |_| law),
            AnyLaw::Reset(law) => self.govern(count, cell, |_| law),
            AnyLaw::Confirm(law) => self.govern(count, cell, |_| law),
            AnyLaw::Integral(law) => self.govern(count, cell, |_| law.clone()),
            AnyLaw::Cusum(law) => self.govern(count, cell, |_| law.clone()),
            AnyLaw::Evidence(law) => self.govern(count, cell, |_| law.clone()),
            AnyLaw::Stride(law) => self.govern(count, cell, |_| law.clone()),
            AnyLaw::Stride3(law) => self.govern(count, cell, |_| law.clone()),
            AnyLaw::Model(law) => self.govern(count, cell, |_| law.clone()),
            AnyLaw::Hybrid(law) => self.govern(count, cell, |_| law.clone()),
        }
    }

    /// Governs a batch of `count` cells, 1 to [`LANES`], on the run that was drawn; each is given by its place.
    pub(super) fn govern<'c, L: Law>(
        &mut self,
        count: usize,
        cell: impl Fn(usize) -> Governed<'c>,
        law: impl Fn(usize) -> L,
    ) {
        match self.job.engine() {
            Engine::Tables => {
                // places past the last are filled with the last and left out again
                let last = count.min(LANES) - 1;
                let cells: [_; LANES] = std::array::from_fn(|place| cell(place.min(last)));
                let mut laws: [_; LANES] = std::array::from_fn(|place| law(place.min(last)));
                self.tables.govern_all(&cells[..=last], &mut laws, &mut self.scratch, &mut self.logs);
            }
            Engine::Machine => {
                let Job { scenario, seed, .. } = *self.job;
                let played = Play { scenario, seed, run: self.run };
                for (place, (log, end)) in self.logs[..count].iter_mut().zip(&mut self.ends).enumerate() {
                    play(&played, &mut self.luck, &cell(place), law(place), log, end);
                }
            }
        }
    }
}
