//! The chain that `reference` and `reset` are where a reading rests on one round alone.

use serde::Serialize;

use super::reading::Reader;
use crate::engine::LawKind;
use crate::lab::grid::Cell;
use crate::lab::passage::{Passage, Ways};
use crate::lab::scenario::Scenario;
use crate::sim::{Accounting, AgentSpec};

/// What the numbers of a chain rest on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Footing {
    /// Gamma turns that all take as long, and nothing else: true to the last digit.
    Exact,
    /// The log of a reading taken as normal, counts of turns by their distribution: good to a few points.
    Estimate,
}

/// What the chain comes to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChainView {
    /// What it rests on.
    pub footing: Footing,
    /// The long run's share of rounds on each rung, hardest first; none where it depends on the start.
    pub occupancy: Option<Vec<f64>>,
    /// The share on right rungs.
    pub on_right: Option<f64>,
    /// Moves per 100 rounds.
    pub moves: Option<f64>,
    /// Reversals per 100 rounds.
    pub reversals: Option<f64>,
    /// Rounds before the first right one, from the start; infinite (null in JSON) where it never comes.
    pub hit_rounds: f64,
    /// Tokens before it.
    pub hit_tokens: f64,
    /// Rounds before the first so many right ones in a row.
    pub settle_rounds: f64,
    /// Tokens before them.
    pub settle_tokens: f64,
    /// Rounds before the first right one, from each rung, hardest first.
    pub hit_from: Vec<f64>,
}

/// The chain of these settings, or why there is none.
pub(super) fn view(scenario: &Scenario, cell: &Cell, reader: &Reader<'_>, right: &[bool]) -> Result<ChainView, String> {
    let spec = scenario.agent.spec();
    applies(scenario, cell)?;
    let exact = constant_turn(scenario, cell);
    let ways = |rung: usize| exact.map_or_else(|| reader.ways(rung), |millis| reader.exact(rung, millis));
    let rungs: Vec<Ways> = (0..spec.rungs.len()).rev().map(ways).collect();
    let passage = Passage::new(rungs).ok_or("a chance could not be worked out")?;
    let rising: Vec<bool> = right.iter().rev().copied().collect();
    let rounds = passage.rounds();
    let before = |passage: &Passage, hold| passage.before(&rising, hold).ok_or("no rung is right");
    let (hit, hit_tokens) = (before(&rounds, 1)?, before(&passage, 1)?);
    let hold = scenario.evaluate.hold.max(1);
    let (settle, settle_tokens) = (before(&rounds, hold)?, before(&passage, hold)?);
    let start = spec.rungs.len() - 1 - scenario.plan.start.index().min(spec.rungs.len() - 1);
    let chain = passage.chain().ok_or("a chance could not be worked out")?;
    let occupancy = chain.stationary();
    let sum = |shares: &Vec<f64>| shares.iter().zip(&rising).filter(|(_, right)| **right).map(|(share, _)| share).sum();
    let hundred = |share: Option<f64>| share.map(|share| 100.0 * share);
    Ok(ChainView {
        footing: if exact.is_some() { Footing::Exact } else { Footing::Estimate },
        on_right: occupancy.as_ref().map(sum),
        occupancy: occupancy.map(|mut shares| {
            shares.reverse();
            shares
        }),
        moves: hundred(chain.moves()),
        reversals: hundred(chain.reversals()),
        hit_rounds: hit[start],
        hit_tokens: hit_tokens[start],
        settle_rounds: settle[start],
        settle_tokens: settle_tokens[start],
        hit_from: hit.into_iter().rev().collect(),
    })
}

/// Whether one reading rests on one round, whose outcome hangs on its rung alone.
fn applies(scenario: &Scenario, cell: &Cell) -> Result<(), String> {
    let spec = scenario.agent.spec();
    if cell.law == LawKind::Fixed {
        return Err("fixed never moves, so that there is nothing to work out".to_owned());
    }
    if !matches!(cell.law, LawKind::Reference | LawKind::Reset) {
        return Err(format!("{} remembers more than the rung that it stands on", cell.law));
    }
    let window = scenario.derived_at(cell.juice).window_rounds;
    if window > 1.0 {
        return Err(format!("a window of {window:.1} rounds mixes what several rounds made"));
    }
    let drift = &spec.drift;
    if !drift.steps.is_empty() || drift.ramp_per_100 != 0.0 || drift.walk != 0.0 {
        return Err("the load drifts, and a chain has no time".to_owned());
    }
    if spec.faults.empty > 0.0 || !spec.faults.outages.is_empty() {
        return Err("after a round without a turn the one before is read again".to_owned());
    }
    if spec.session.rho != 0.0 {
        return Err("one session hangs on the one before".to_owned());
    }
    Ok(())
}

/// Milliseconds of every turn, for an agent of which the chain is exact.
fn constant_turn(scenario: &Scenario, cell: &Cell) -> Option<f64> {
    let spec: &AgentSpec = scenario.agent.spec();
    let time = &spec.time;
    let still = |span: &crate::sim::Span| span.mean == 0.0 || span.cv == 0.0;
    let fast = spec.rungs.iter().all(|rung| 100.0 * rung.size.mean() / time.tokens_per_second < 5e-4);
    let plain = spec.rungs.iter().all(|rung| {
        let usual = (rung.turns_factor - 1.0).abs().max((rung.seconds_factor - 1.0).abs()) < 1e-12;
        rung.size.is_gamma() && usual && rung.shift.is_none()
    });
    let calm = spec.session.tau == 0.0 && spec.session.trend == 0.0 && spec.turn.outliers.is_none();
    let whole = spec.turns.cv == 0.0 && spec.faults.truncated == 0.0 && spec.accounting == Accounting::Final;
    let millis = libm::rint((time.overhead.mean + time.tool.mean) * 1000.0);
    let sound = plain && calm && whole && fast && still(&time.overhead) && still(&time.tool) && millis >= 1.0;
    // no report of an earlier round is ever in the window
    let round = millis * spec.turns.mean + crate::lab::fixed::ufloat(cell.rest.count());
    (sound && crate::lab::fixed::ufloat(cell.over.count()) < round).then_some(millis)
}
