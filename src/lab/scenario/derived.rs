//! Numbers that follow from a scenario and say beforehand what to expect of it: simple estimates for people, not what a
//! run is scored by. Drift, faults and priors' shifts are left out. Formulas follow the control study.

use super::model::Scenario;
use crate::engine::Target;
use crate::lab::fixed::ufloat;
use crate::lab::stats::Interval;
use crate::lab::theory;

/// What follows from a scenario. Rungs count from the hardest.
#[derive(Clone, Debug, PartialEq)]
pub struct Derived {
    /// Mean tokens per turn of each rung, outliers included.
    pub means: Vec<f64>,
    /// The mean of each rung over that of the next softer one: one fewer than rungs.
    pub ratios: Vec<f64>,
    /// The rung whose mean is nearest to the target on the scale of ln; the harder of two.
    pub nearest: usize,
    /// ln(target / nearest mean) over ln of the gap in the direction of the target: 0 on a rung, 0.5 half way to its
    /// neighbour, more than 0.5 beyond an end. None with one rung, or where that gap is no gap.
    pub phase: Option<f64>,
    /// The slacks at which the rung nearest the target is in the band wherever the target lies, and its neighbours are
    /// not: from (r - 1) / (r + 1) to 1 - 1 / r, r being the gap of `phase`.
    pub legal_slack: Option<Interval>,
    /// Seconds that a turn takes on the nearest rung.
    pub turn_seconds: f64,
    /// Turns in a window of the governor's `over`, as if rounds followed without a rest.
    pub window_turns: f64,
    /// Rounds in that window, rests counted.
    pub window_rounds: f64,
}

impl Scenario {
    /// What follows from the scenario, with the settings of its `[governor]`.
    #[must_use]
    pub fn derived(&self) -> Derived {
        self.derived_at(self.governor.juice)
    }

    /// The same for another target.
    #[must_use]
    pub fn derived_at(&self, juice: Target) -> Derived {
        let spec = self.agent.spec();
        let outliers = spec.turn.outliers.map_or(1.0, |o| 1.0 + o.share * (o.factor - 1.0));
        let means: Vec<f64> = spec.rungs.iter().map(|rung| rung.size.mean() * outliers).collect();
        let target = ufloat(juice.micros()) / 1e6;
        let error = |mean: &f64| libm::log(target / mean);
        let nearest = (0..means.len()).min_by(|a, b| error(&means[*a]).abs().total_cmp(&error(&means[*b]).abs()));
        let nearest = nearest.unwrap_or(0);
        let ratio = gap(&means, nearest, target);
        let rung = &spec.rungs[nearest];
        let turn_seconds = (spec.time.overhead.mean + spec.time.tool.mean) * rung.seconds_factor
            + means[nearest] / spec.time.tokens_per_second;
        let over = ufloat(self.governor.over.count()) / 1000.0;
        let rest = ufloat(self.governor.rest.count()) / 1000.0;
        let round_seconds = spec.turns.mean * rung.turns_factor * turn_seconds + rest;
        Derived {
            ratios: means.windows(2).map(|pair| pair[0] / pair[1]).collect(),
            nearest,
            phase: ratio.and_then(|ratio| theory::phase(&means, target, ratio)),
            legal_slack: ratio.and_then(theory::legal_slack),
            turn_seconds,
            window_turns: over / turn_seconds,
            window_rounds: over / round_seconds,
            means,
        }
    }
}

/// How much larger the larger of two means is: that of rung `nearest`, and that of the neighbour on the target's side, or
/// of the only one. None where they do not differ.
fn gap(means: &[f64], nearest: usize, target: f64) -> Option<f64> {
    let own = means[nearest];
    let harder = nearest.checked_sub(1).map(|at| means[at]);
    let softer = means.get(nearest + 1).copied();
    let other = if target >= own { harder.or(softer) } else { softer.or(harder) }?;
    let ratio = if other > own { other / own } else { own / other };
    (ratio > 1.0).then_some(ratio)
}
