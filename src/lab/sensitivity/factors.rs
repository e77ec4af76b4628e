//! The eight factors of a scenario and its settings, each from its least to its most.
//!
//! | factor | range | what is changed |
//! |---|---|---|
//! | gaps | x .5 to 2 | logs of the rungs' means, from that nearest the target |
//! | phase | -.5 to .5 gaps | where the target lies between rungs: all means are moved |
//! | noise | x .6 to 1.5 | coefficient of variation of turns |
//! | turns | x .25 to 3 | turns of a round |
//! | seconds | x .25 to 1.5 | seconds of a turn |
//! | sessions | 0 to .5 | tau |
//! | over | 60 to 3600 s | the window, even on the log scale |
//! | slack | .05 to .5 | half the width of the band |
//!
//! Ranges follow the control study, section 4, about the scenario given instead of its base case.

use rayon::prelude::*;

use super::{Effect, Index, design, effects, indices, trajectories};
use crate::engine::{LawKind, Millis, Ratio};
use crate::lab::fixed::{micros, whole};
use crate::lab::grid::Cell;
use crate::lab::metric::Metric;
use crate::lab::recommend::mean;
use crate::lab::scenario::Scenario;
use crate::lab::sweep::SweepError;
use crate::lab::trial::{Trial, trial};
use crate::sim::{AgentModel, SizeError};

/// The factors, in order.
pub const FACTORS: [&str; 8] = ["gaps", "phase", "noise", "turns", "seconds", "sessions", "over", "slack"];

/// What is looked at.
pub const RESULTS: [Metric; 3] = [Metric::OnRung, Metric::Reversals, Metric::ExcessLog];

/// What is asked.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The scenario that everything is changed about.
    pub scenario: &'a Scenario,
    /// The law.
    pub law: LawKind,
    /// Trajectories, or points.
    pub points: u32,
    /// Runs at each point.
    pub runs: u32,
    /// Rounds of a run.
    pub rounds: u32,
    /// What all luck and the design come from.
    pub seed: u64,
}

/// Effects of each factor on each of [`RESULTS`]: by result, then by factor.
///
/// # Errors
/// [`SweepError`].
pub fn screened(asked: &Asked<'_>) -> Result<Vec<Vec<Effect>>, SweepError> {
    let walks = trajectories(FACTORS.len(), asked.points, asked.seed);
    let found: Vec<Vec<[f64; 3]>> = walks
        .par_iter()
        .map(|points| points.iter().map(|point| asked.at(point)).collect::<Result<Vec<_>, _>>())
        .collect::<Result<_, _>>()?;
    let of = |result: usize| {
        let values: Vec<Vec<f64>> =
            found.iter().map(|walk| walk.iter().map(|values| values[result]).collect()).collect();
        effects(&walks, &values, FACTORS.len())
    };
    Ok((0..RESULTS.len()).map(of).collect())
}

/// Indices of each factor for each of [`RESULTS`]: by result, then by factor.
///
/// # Errors
/// [`SweepError`].
pub fn indexed(asked: &Asked<'_>) -> Result<Vec<Vec<Index>>, SweepError> {
    let Some(design) = design(FACTORS.len(), asked.points, asked.seed) else { return Ok(vec![]) };
    let run = |points: &Vec<Vec<f64>>| -> Result<Vec<[f64; 3]>, SweepError> {
        points.par_iter().map(|point| asked.at(point)).collect()
    };
    let (a, b) = (run(&design.a)?, run(&design.b)?);
    let mixed = design.mixed.iter().map(run).collect::<Result<Vec<_>, _>>()?;
    let of = |result: usize| {
        let take = |values: &Vec<[f64; 3]>| values.iter().map(|values| values[result]).collect::<Vec<_>>();
        indices(&take(&a), &take(&b), &mixed.iter().map(take).collect::<Vec<_>>())
    };
    Ok((0..RESULTS.len()).map(of).collect())
}

impl Asked<'_> {
    /// The results at a point of the unit cube, on the same luck everywhere.
    fn at(&self, point: &[f64]) -> Result<[f64; 3], SweepError> {
        let between = |at: usize, least: f64, most: f64| least + (most - least) * point[at];
        let log = |at: usize, least: f64, most: f64| libm::exp(between(at, libm::log(least), libm::log(most)));
        let scenario = self.changed(&between, &log).unwrap_or_else(|_| self.scenario.clone());
        let base = scenario.base();
        let over = Millis::new(whole(log(6, 60_000.0, 3_600_000.0)).unsigned_abs().max(1));
        let slack = Ratio::from_ppm(u32::try_from(micros(between(7, 0.05, 0.5))).unwrap_or(150_000));
        let cell = Cell { law: self.law, over, slack, ..base };
        let asked =
            Trial { scenario: &scenario, cells: &[cell], runs: 0..self.runs, rounds: self.rounds, seed: self.seed };
        let tuning = &scenario.governor.tuning;
        let scores = trial(&asked, &|cell| cell.law.tuned(tuning), &|ran| {
            RESULTS.map(|metric| ran.score.micros(metric).unwrap_or(0))
        })?;
        let of = |at: usize| mean(scores.iter().flatten().map(|values| values[at])) / 1e6;
        Ok([of(0), of(1), of(2)])
    }

    fn changed(
        &self,
        between: &dyn Fn(usize, f64, f64) -> f64,
        log: &dyn Fn(usize, f64, f64) -> f64,
    ) -> Result<Scenario, SizeError> {
        let derived = self.scenario.derived();
        let near = libm::log(derived.means[derived.nearest]);
        let target = libm::log(crate::lab::fixed::ufloat(self.scenario.governor.juice.micros()) / 1e6);
        let stretch = log(0, 0.5, 2.0);
        let around = derived.legal_slack.map_or(1.4, |legal| (1.0 + legal.lo) / (1.0 - legal.lo));
        let phase = between(1, -0.5, 0.5) * stretch * libm::log(around);
        let mut spec = self.scenario.agent.spec().clone();
        for (rung, model) in spec.rungs.iter_mut().enumerate() {
            let own = libm::log(derived.means[rung]);
            // the rung nearest the target stands `phase` below it, and the others about it
            let place = target - phase + stretch * (own - near);
            model.size = model.size.resized(libm::exp(place - own), log(2, 0.6, 1.5))?;
        }
        let most = spec.turns.most();
        spec.turns.mean = (spec.turns.mean * log(3, 0.25, 3.0)).max(1.0);
        spec.turns.min = spec.turns.min.min(u32::try_from(whole(spec.turns.mean)).unwrap_or(1)).max(1);
        spec.turns.max = Some(most.max(u32::try_from(whole(6.0 * spec.turns.mean)).unwrap_or(most)).min(100_000));
        let slower = log(4, 0.25, 1.5);
        spec.time.overhead.mean *= slower;
        spec.time.tool.mean *= slower;
        spec.time.tokens_per_second /= slower;
        spec.session.tau = between(5, 0.0, 0.5);
        let agent = AgentModel::new(spec).unwrap_or_else(|_| self.scenario.agent.clone());
        Ok(Scenario { agent, ..self.scenario.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn window_and_slack_matter_to_reset_and_not_to_fixed() {
        let text = include_str!("../../../scenarios/s02-typical.toml");
        let scenario = Scenario::load(text, "x.toml").unwrap();
        let of = |law| {
            let asked = Asked { scenario: &scenario, law, points: 6, runs: 1, rounds: 40, seed: 1 };
            screened(&asked).unwrap()
        };
        let (reset, fixed) = (of(LawKind::Reset), of(LawKind::Fixed));
        assert!(reset[1][6].size > 1.0 && reset[1][7].size > 5.0, "{:?}", reset[1]);
        assert!(fixed[0][6].size < 1e-12 && fixed[0][7].size < 1e-12);
        let asked = Asked { scenario: &scenario, law: LawKind::Reset, points: 24, runs: 1, rounds: 30, seed: 1 };
        let indices = indexed(&asked).unwrap();
        assert_eq!((indices.len(), indices[0].len()), (3, 8));
        assert!(indices.iter().flatten().all(|index| index.total >= 0.0 && index.total.is_finite()));
        // the same is found again
        assert_eq!(indexed(&asked).unwrap()[1][7], indices[1][7]);
    }
}
