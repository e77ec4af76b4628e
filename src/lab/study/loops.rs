//! Loops that stand in no file: members of the random family, and fitted agents with the effort on all turns.

use std::collections::BTreeMap;

use crate::engine::laws::Tuning;
use crate::engine::{Ladder, LawKind, Millis, Ratio};
use crate::lab::family::Member;
use crate::lab::grid::Axes;
use crate::lab::scenario::{Controls, Evaluate, Evidence, GovernorSettings, Plan, Scenario};
use crate::sim::{AgentModel, Component, ModelError, Moves, Size, Usage};

use super::StudyError;

/// A member of the random family as a scenario of so many rounds.
///
/// # Errors
/// None that a member could cause: a ladder or an agent at fault.
pub fn scenario(member: Member, name: &str, rounds: u32, runs: u32) -> Result<Scenario, StudyError> {
    let rungs = member.agent.rungs.len();
    let words: Vec<String> = (0..rungs).rev().map(|place| format!("rung-{place}")).collect();
    let ladder = Ladder::new(words.iter().map(String::as_str)).map_err(|_| StudyError::Member)?;
    let start = ladder.rungs().rung(member.start).ok_or(StudyError::Member)?;
    Ok(Scenario {
        name: name.to_owned(),
        about: String::new(),
        governor: GovernorSettings {
            law: LawKind::Reference,
            juice: member.target,
            over: Millis::from_secs(300),
            slack: Ratio::from_ppm(150_000),
            rest: Millis::from_secs(5),
            budget: None,
            tuning: Tuning::USUAL,
        },
        plan: Plan { start, rounds, runs, seed: 1 },
        sweep: Axes::default(),
        evaluate: Evaluate::default(),
        ladder,
        agent: AgentModel::new(member.agent)?,
        evidence: vec![Evidence::Stated; rungs],
        priors: BTreeMap::new(),
        outcome: None,
        usage: Usage::default(),
        controls: Controls::default(),
    })
}

/// The same scenario with the effort on all turns of the assumed rungs and not on the long ones alone: as far as an
/// assumed rung's wide component lies from that of the measured rung with its narrow one, so far is the narrow one moved too.
/// None where no rung is assumed from a mixture.
///
/// # Errors
/// A size that no agent can have.
pub fn on_all(scenario: &Scenario) -> Result<Option<Scenario>, StudyError> {
    let mut spec = scenario.agent.spec().clone();
    let parts = |size: &Size| size.components().map(|(narrow, wide, _)| (narrow, wide));
    let measured: Vec<(Component, Component)> = spec
        .rungs
        .iter()
        .zip(&scenario.evidence)
        .filter(|(_, evidence)| matches!(evidence, Evidence::Measured { .. }))
        .filter_map(|(rung, _)| parts(&rung.size))
        .collect();
    let mut changed = false;
    for rung in spec.rungs.iter_mut().filter(|rung| rung.shift.is_some()) {
        let Some((narrow, wide)) = parts(&rung.size) else { continue };
        let Some((_, from)) = measured.iter().find(|(other, _)| *other == narrow) else { continue };
        let moved = Component { mu: narrow.mu + wide.mu - from.mu, ..narrow };
        rung.size = Size::mixture(moved, wide, Moves::All).map_err(|_| StudyError::Member)?;
        changed = true;
    }
    let agent = AgentModel::new(spec)?;
    Ok(changed.then(|| Scenario { agent, ..scenario.clone() }))
}

impl From<ModelError> for StudyError {
    fn from(_: ModelError) -> Self {
        Self::Member
    }
}
