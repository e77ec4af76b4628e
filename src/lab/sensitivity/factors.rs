//! The eight factors of a scenario and its settings, each from its least to its most.
//!
//! [`TOLD`] has their names, ranges and meanings, from which both the runs and what is printed are made.
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

/// A factor for people.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Factor {
    /// Its least value.
    pub least: f64,
    /// Its most.
    pub most: f64,
    /// What these count: `times` what the scenario has, or a unit of its own.
    pub unit: &'static str,
    /// What is changed.
    pub what: &'static str,
}

/// What each of [`FACTORS`] is, in the same order.
pub const TOLD: [Factor; FACTORS.len()] = [
    Factor {
        least: 0.5,
        most: 2.0,
        unit: "times",
        what: "how far apart rungs' means are, on the log scale, from the one nearest the target",
    },
    Factor {
        least: -0.5,
        most: 0.5,
        unit: "gaps",
        what: "where the target lies beside a rung: 0 is on it, 0.5 half way to the next",
    },
    Factor {
        least: 0.6,
        most: 1.5,
        unit: "times",
        what: "how uneven turns are: the coefficient of variation of their sizes",
    },
    Factor { least: 0.25, most: 3.0, unit: "times", what: "turns of a round" },
    Factor { least: 0.25, most: 1.5, unit: "times", what: "seconds of a turn" },
    Factor {
        least: 0.0,
        most: 0.5,
        unit: "nats",
        what: "how much sessions differ: the standard deviation of the log of a session's level",
    },
    Factor { least: 60.0, most: 3600.0, unit: "s", what: "the window of the law, even on the log scale" },
    Factor { least: 0.05, most: 0.5, unit: "of the target", what: "half the width of the law's band" },
];

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
        let on = |at: usize, least: f64, most: f64| least + (most - least) * point[at];
        let between = |at: usize| on(at, TOLD[at].least, TOLD[at].most);
        // even on the log scale, in so many parts of the unit
        let log_in = |at: usize, parts: f64| {
            let Factor { least, most, .. } = TOLD[at];
            libm::exp(on(at, libm::log(least * parts), libm::log(most * parts)))
        };
        let log = |at: usize| log_in(at, 1.0);
        let scenario = self.changed(&between, &log).unwrap_or_else(|_| self.scenario.clone());
        let base = scenario.base();
        let over = Millis::new(whole(log_in(6, 1000.0)).unsigned_abs().max(1));
        let slack = Ratio::from_ppm(u32::try_from(micros(between(7))).unwrap_or(150_000));
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

    fn changed(&self, between: &dyn Fn(usize) -> f64, log: &dyn Fn(usize) -> f64) -> Result<Scenario, SizeError> {
        let derived = self.scenario.derived();
        let near = libm::log(derived.means[derived.nearest]);
        let target = libm::log(crate::lab::fixed::ufloat(self.scenario.governor.juice.micros()) / 1e6);
        let stretch = log(0);
        let around = derived.legal_slack.map_or(1.4, |legal| (1.0 + legal.lo) / (1.0 - legal.lo));
        let phase = between(1) * stretch * libm::log(around);
        let mut spec = self.scenario.agent.spec().clone();
        for (rung, model) in spec.rungs.iter_mut().enumerate() {
            let own = libm::log(derived.means[rung]);
            // the rung nearest the target stands `phase` below it, and the others about it
            let place = target - phase + stretch * (own - near);
            model.size = model.size.resized(libm::exp(place - own), log(2))?;
        }
        let most = spec.turns.most();
        spec.turns.mean = (spec.turns.mean * log(3)).max(1.0);
        spec.turns.min = spec.turns.min.min(u32::try_from(whole(spec.turns.mean)).unwrap_or(1)).max(1);
        spec.turns.max = Some(most.max(u32::try_from(whole(6.0 * spec.turns.mean)).unwrap_or(most)).min(100_000));
        let slower = log(4);
        spec.time.overhead.mean *= slower;
        spec.time.tool.mean *= slower;
        spec.time.tokens_per_second /= slower;
        spec.session.tau = between(5);
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
