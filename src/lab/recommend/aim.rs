//! What a recommendation says of the agents that it is for: the target, where it comes from, and what the fit rests on.
//!
//! Sentences alone: no target is chosen here. Sizes are output tokens per turn.

use super::World;
use super::text::Page;
use crate::engine::{Target, counted};
use crate::lab::fit::figures::three;
use crate::lab::fixed::ufloat;
use crate::lab::report::decimal;
use crate::lab::scenario::{Evidence, Scenario};
use crate::lab::theory;

/// Where the target of a scenario comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aim {
    /// It was asked for.
    Asked,
    /// It is that of the settings in use.
    InUse,
    /// The scenario states it.
    Stated,
    /// Nobody named one, and it was taken from the logs.
    Logs,
}

impl Aim {
    const fn words(self) -> &'static str {
        match self {
            Self::Asked => "as --juice asks",
            Self::InUse => "that of the settings in use",
            Self::Stated => "the scenario's own",
            Self::Logs => {
                "which flyball took from the logs, near the mean of an effort that they measure, as nobody named one: name yours with --juice"
            }
        }
    }
}

/// The sentences of all scenarios as they are.
pub(super) fn aimed(page: &Page<'_>) -> Vec<String> {
    let mut all = Vec::new();
    let home: Vec<&World> = page.worlds.iter().filter(|world| world.home).collect();
    for (at, world) in home.iter().enumerate() {
        let aim = page.aims.get(at).copied().unwrap_or(Aim::Stated);
        all.push(target(&world.scenario, aim, page.snapped));
        all.extend(off(world));
    }
    all.extend(differing(&home));
    all.extend(home.iter().map(|world| rests(&world.scenario)));
    all.push(
        "Intervals are of the luck of runs of a scenario as it is; what the scenario itself has wrong they do not hold: see the loss \
         by world."
            .to_owned(),
    );
    all
}

/// Tokens per turn, as short as they are exact.
#[must_use]
pub fn tokens(juice: Target) -> String {
    decimal(i64::try_from(juice.micros()).unwrap_or(i64::MAX)).trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// What the target is, where it comes from, and which rung is nearest.
fn target(scenario: &Scenario, aim: Aim, snapped: bool) -> String {
    let juice = scenario.governor.juice;
    let derived = scenario.derived_at(juice);
    let word = effort(scenario, derived.nearest);
    let from = if snapped { "the mean of the rung nearest to what was asked, as --snap asks" } else { aim.words() };
    let start = scenario.plan.start.index() == derived.nearest;
    format!(
        "{}: the target is {} output tokens per turn, {from}; {word}, which makes {:.0}, is nearest{}.",
        scenario.name,
        tokens(juice),
        derived.means[derived.nearest],
        if start { ", and runs start on it, so that it need not be found" } else { "" }
    )
}

/// A warning where the target lies off the ladder or between two rungs.
fn off(world: &World) -> Option<String> {
    let (scenario, juice) = (&world.scenario, world.scenario.governor.juice);
    let derived = scenario.derived_at(juice);
    let aim = ufloat(juice.micros()) / 1e6;
    let near = derived.means[derived.nearest];
    let word = effort(scenario, derived.nearest);
    if !world.reachable {
        let side = if aim > near { "above" } else { "below" };
        return Some(format!(
            "{}: the target of {} lies {side} the whole ladder; --snap takes {}, which {word} makes.",
            scenario.name,
            three(aim),
            three(near)
        ));
    }
    let phase = derived.phase.map_or(0.0, f64::abs);
    let lost =
        derived.legal_slack.and_then(|legal| theory::infeasible_share(0.15, (1.0 + legal.lo) / (1.0 - legal.lo)));
    (phase > 0.35).then(|| {
        format!(
            "{}: the target of {} lies about half way between two rungs, as {} % of targets here do at a slack of 15 %: the \
             nearest rung is {:+.0} % off for good; --snap takes {}, which {word} makes.",
            scenario.name,
            three(aim),
            three(100.0 * lost.unwrap_or(0.0)),
            100.0 * (near / aim - 1.0),
            three(near)
        )
    })
}

/// That one file of settings holds one target.
fn differing(home: &[&World]) -> Option<String> {
    let first = &home.first()?.scenario;
    let juice = |world: &&World| world.scenario.governor.juice;
    if home.iter().all(|world| juice(world) == first.governor.juice) {
        return None;
    }
    Some(format!(
        "The targets differ, and the figures are means over all scenarios: flyball.toml and juice.yaml have the target of {}, {}; for \
         another agent write its own there.",
        first.name,
        tokens(first.governor.juice)
    ))
}

/// What the sizes of a scenario rest on.
fn rests(scenario: &Scenario) -> String {
    let (mut calls, mut most, mut measured, mut assumed) = (0_u64, 0_u64, Vec::new(), Vec::new());
    for (at, evidence) in scenario.evidence.iter().enumerate() {
        match evidence {
            Evidence::Stated => {}
            Evidence::Measured { sessions, calls: own, .. } => {
                (calls, most) = (calls.saturating_add(*own), most.max(*sessions));
                measured.push(effort(scenario, at));
            }
            Evidence::Assumed { .. } => assumed.push(effort(scenario, at)),
        }
    }
    let name = &scenario.name;
    let guessed =
        if assumed.is_empty() { String::new() } else { format!("; assumed and not measured: {}", assumed.join(", ")) };
    if measured.is_empty() {
        return format!("{name}: its sizes are stated, and fitted to no logs{guessed}.");
    }
    let each = if measured.len() > 1 { ", no effort in more than " } else { " in " };
    format!(
        "{name}: the fit rests on {} of {}{each}{}{guessed}.",
        counted(calls, "call"),
        measured.join(", "),
        counted(most, "session")
    )
}

pub(super) fn effort(scenario: &Scenario, rung: usize) -> &str {
    scenario.ladder.efforts().get(rung).map_or("", |effort| effort.word())
}
