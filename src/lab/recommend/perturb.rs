//! An agent as it might be: what a fit may have missed, one thing at a time.
//!
//! | world | change |
//! |---|---|
//! | gaps wider, gaps narrower | logs of the rungs' means, from that nearest the target, times 1.2 and .8 |
//! | noisier turns | the coefficient of variation of turns times 1.5, means kept |
//! | sessions differ more | tau twice as large, at least .1 |
//! | target a quarter step up, down | all means down or up by a quarter of a gap, the target where it was |
//! | a step of the load | sizes times the gap's ratio from half of the rounds on |
//! | told late | a tenth of each turn's tokens told as a lump at the end of its round |
//!
//! The last is the most that a reader of logs lets through: below nine tenths counted, calibration refuses. Source: the
//! control study, `recommend`, step 3.

use super::World;
use crate::engine::Ratio;
use crate::lab::scenario::Scenario;
use crate::sim::{Accounting, AgentModel, AgentSpec, Correction, SizeError, Step};

/// How much gaps are stretched.
const STRETCH: f64 = 0.2;
/// By what the variation of turns is multiplied.
const NOISE: f64 = 1.5;
/// The share of tokens that is told as turns land.
const TOLD: Ratio = Ratio::from_ppm(900_000);
/// The gap where a ladder has one rung.
const USUAL_RATIO: f64 = 1.4;

/// The scenario as it is, and, with `perturbed`, as it might be. A world that this agent cannot be is left out.
#[must_use]
pub fn worlds(scenario: &Scenario, perturbed: bool) -> Vec<World> {
    let mut all = vec![World::new(&format!("{}: as it is", scenario.name), scenario.clone(), true)];
    if !perturbed {
        return all;
    }
    let derived = scenario.derived();
    let around = derived.legal_slack.map_or(USUAL_RATIO, |legal| (1.0 + legal.lo) / (1.0 - legal.lo));
    let quarter = 0.25 * libm::log(around);
    let near = libm::log(derived.means[derived.nearest]);
    let stretched = |by: f64| {
        let means = derived.means.clone();
        move |spec: &mut AgentSpec| {
            each(spec, |rung, model| model.size.resized(libm::exp(by * (libm::log(means[rung]) - near)), 1.0))
        }
    };
    let moved = |by: f64| move |spec: &mut AgentSpec| each(spec, |_, model| model.size.resized(libm::exp(by), 1.0));
    let half = scenario.plan.rounds / 2;
    let mut add = |name: &str, change: &dyn Fn(&mut AgentSpec) -> Result<(), SizeError>| {
        let mut spec = scenario.agent.spec().clone();
        let agent = change(&mut spec).ok().and_then(|()| AgentModel::new(spec).ok());
        all.extend(agent.map(|agent| {
            let changed = Scenario { agent, ..scenario.clone() };
            World::new(&format!("{}: {name}", scenario.name), changed, false)
        }));
    };
    add("gaps wider by a fifth", &stretched(STRETCH));
    add("gaps narrower by a fifth", &stretched(-STRETCH));
    add("turns noisier by half", &|spec| each(spec, |_, model| model.size.resized(1.0, NOISE)));
    add("sessions differ twice as much", &|spec| {
        spec.session.tau = (2.0 * spec.session.tau).max(0.1);
        Ok(())
    });
    add("target a quarter step up", &moved(-quarter));
    add("target a quarter step down", &moved(quarter));
    add("a step of the load", &|spec| {
        let level = |spec: &AgentSpec| spec.drift.steps.last().map_or(1.0, |step| step.level);
        let after = spec.drift.steps.last().map_or(half, |step| half.max(step.round + 1));
        let level = level(spec) * around;
        spec.drift.steps.push(Step { round: after, level });
        Ok(())
    });
    add("a tenth told late", &|spec| {
        if spec.accounting == Accounting::Final {
            spec.accounting = Accounting::Partial { phi: TOLD, correction: Correction::AtRoundEnd };
        }
        Ok(())
    });
    all
}

fn each(
    spec: &mut AgentSpec,
    size: impl Fn(usize, &crate::sim::RungModel) -> Result<crate::sim::Size, SizeError>,
) -> Result<(), SizeError> {
    for (rung, model) in spec.rungs.iter_mut().enumerate() {
        model.size = size(rung, model)?;
    }
    Ok(())
}
