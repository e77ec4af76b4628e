//! What speaks against a recommendation: that even the best of what was tried is not good, why, and what to do.
//!
//! It judges the promise on fresh runs, in the scenarios as they are, and looks for causes in the target, the ladder and
//! what the fit rests on, and for a law that never moves. It chooses nothing.

use super::World;
use super::aim::{effort, tokens};
use super::judge::Recommendation;
use super::text::{Page, about, rounds};
use crate::engine::{LawKind, counted};
use crate::lab::choose::TOLERATED;
use crate::lab::fit::figures::three;
use crate::lab::fixed::ufloat;
use crate::lab::scenario::Evidence;

/// A smaller share of rounds on right rungs is few.
const FEW: f64 = 0.5;
/// Rungs whose means are nearer than this ratio are hardly told apart.
const TWINS: f64 = 1.1;

/// The warnings, the worst first; nothing where nothing speaks against it.
#[must_use]
pub fn warnings(page: &Page<'_>, told: &Recommendation) -> Vec<String> {
    let chosen = told.chosen();
    let mut bad = Vec::new();
    if chosen.on_rung.mean < FEW {
        bad.push(format!("it holds a right rung in {} % of rounds", about(&chosen.on_rung, 100.0, 1)));
    }
    if chosen.unsettled.interval.is_some_and(|interval| interval.lo > TOLERATED) {
        let share = about(&chosen.unsettled, 100.0, 1);
        bad.push(format!("{share} % of runs never settle within the {}", rounds(page)));
    }
    if bad.is_empty() && !told.limits_kept {
        bad.push(
            "no setting settles in 95 % of its runs and stays off the ends of the ladder in 95 % of its rounds"
                .to_owned(),
        );
    }
    if bad.is_empty() {
        return bad;
    }
    let mut all = vec![format!(
        "This is the least bad of the settings that were tried, and it is not good: {}.",
        bad.join(", and ")
    )];
    let before = all.len();
    all.extend(page.worlds.iter().filter(|world| world.home).flat_map(causes));
    if chosen.setting.law == LawKind::Fixed {
        all.push("The law fixed never moves: it is right where runs start on a right rung, and wrong all the way elsewhere. Try others with --law.".to_owned());
    }
    if all.len() == before {
        all.push(format!(
            "Neither target nor logs say why: what a round reads scatters more than the gaps of the ladder are wide, or {} are too few to \
             settle in. `flyball explain` tells which; try more --rounds, or another target with --juice.",
            rounds(page)
        ));
    }
    all
}

/// What may be the cause in one scenario, and what to do.
fn causes(world: &World) -> Vec<String> {
    let scenario = &world.scenario;
    let (name, juice) = (&scenario.name, scenario.governor.juice);
    let derived = scenario.derived_at(juice);
    let (means, near, aim) = (&derived.means, derived.nearest, ufloat(juice.micros()) / 1e6);
    let band = f64::from(scenario.evaluate.band.ppm()) / 1e6;
    let least = means.iter().copied().fold(f64::INFINITY, f64::min);
    let most = means.iter().copied().fold(0.0, f64::max);
    let mut all = Vec::new();
    if !world.reachable {
        all.push(format!(
            "{name}: the target of {} lies outside the ladder, which makes from {} to {}: no setting can hold it. Take a target inside with \
             --juice, or --snap for the nearest rung.",
            tokens(juice),
            three(least),
            three(most)
        ));
    } else if (means[near] / aim - 1.0).abs() > band {
        all.push(format!(
            "{name}: the target of {} lies between rungs, and none is within {} % of it: no setting can hold it. Take --snap, or a target near a \
             rung's mean with --juice.",
            tokens(juice),
            three(100.0 * band)
        ));
    }
    let twin =
        (0..means.len()).find(|&at| at != near && (means[at] / means[near]).max(means[near] / means[at]) < TWINS);
    if let Some(twin) = twin {
        all.push(format!(
            "{name}: {} and {} make nearly the same, {} and {}, and where only one of them counts as right a loop on the other is wrong by little. \
             Leave one of them off the ladder.",
            effort(scenario, near),
            effort(scenario, twin),
            three(means[near]),
            three(means[twin])
        ));
    }
    let sessions = scenario.evidence.iter().filter_map(|evidence| match evidence {
        Evidence::Measured { sessions, .. } => Some(*sessions),
        Evidence::Stated | Evidence::Assumed { .. } => None,
    });
    if let Some(few @ 0..=1) = sessions.max() {
        all.push(format!(
            "{name}: it is fitted to {}, which says nothing of how sessions differ. Give it more logs, or plan them with `flyball pilot`.",
            counted(few, "session")
        ));
    }
    if matches!(scenario.evidence.get(near), Some(Evidence::Assumed { .. })) {
        all.push(format!(
            "{name}: what {}, the rung nearest the target, makes is assumed and was never measured, so that each run draws another size of it. \
             Measure it with `flyball pilot`.",
            effort(scenario, near)
        ));
    }
    all
}
