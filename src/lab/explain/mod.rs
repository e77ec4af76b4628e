//! What can be said of a scenario and its settings before anything is simulated: where the target lies, what a window
//! holds, how noisy a reading is, what the loop does without noise, and the chain that it is with it.
//!
//! Estimates for people, and exact where exactness can be had: [`Footing`] says which, and [`Broken`] what an estimate takes
//! for granted and is not so. It chooses nothing and scores
//! nothing. Rungs stand *hardest first*, as in the scenario; `up` is towards the harder end. Units: tokens per turn,
//! seconds, rounds, shares of one; moves and reversals per 100 rounds. Formulas: the control study, sections 3 and 5.2.

mod broken;
mod chain;
mod quiet;
mod reading;
pub mod text;

pub use broken::{Broken, WITHIN};
pub use chain::{ChainView, Footing};
pub use quiet::Quiet;
pub(in crate::lab) use quiet::{quiets, silenced};

use serde::Serialize;

use super::advice::disorder;
use super::fixed::ufloat;
use super::grid::Cell;
use super::scenario::{Evidence, Scenario};
use super::theory;
use super::truth::{Truth, TruthError};
use crate::engine::{BandError, Target};

/// Standard errors at which a gap counts as resolved.
pub const RESOLVED: f64 = 2.0;

/// One rung and what a reading of a round on it says.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RungView {
    /// Its word.
    pub effort: String,
    /// Mean output tokens per turn, outliers included.
    pub mean: f64,
    /// Coefficient of variation of turns within a session.
    pub cv: f64,
    /// The mean over the target, less one.
    pub off: f64,
    /// Whether it counts as right: in the band of evaluation, or nearest to the target.
    pub right: bool,
    /// Where its sizes come from: `stated`, `measured` or `assumed`.
    pub evidence: &'static str,
    /// Turns in a reading, if the window reached into no earlier round.
    pub read_turns: f64,
    /// Standard deviation of the log of such a reading: the noise in nats.
    pub read_sd: f64,
    /// The chance that one reading lies under the law's band.
    pub below: f64,
    /// The chance that it lies over it.
    pub above: f64,
    /// Tokens of a round, in the mean.
    pub round_tokens: f64,
    /// Seconds of a turn, in the mean.
    pub turn_seconds: f64,
}

/// What lies between a rung and the next softer one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gap {
    /// The harder rung.
    pub harder: String,
    /// The softer one.
    pub softer: String,
    /// The mean of the first over that of the second.
    pub ratio: f64,
    /// The slacks that hold a rung and let go of its neighbour: least and most; none where the ratio is not above 1.
    pub legal_slack: Option<(f64, f64)>,
    /// The share of targets in the gap, even on the log scale, that neither rung holds at the slack of the settings.
    pub infeasible: Option<f64>,
    /// Rounds that it takes to tell a target on a rung from one half a gap off.
    pub resolve_rounds: Option<f64>,
}

/// The targets that a rung holds at the slack of the settings.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reach {
    /// The rung.
    pub effort: String,
    /// The least target that has its mean in the band.
    pub from: f64,
    /// The largest; infinite (null in JSON) at a slack of 1 and more, whose band reaches down to nothing.
    pub to: f64,
}

impl Reach {
    /// Whether the rung holds this target.
    #[must_use]
    pub fn holds(&self, target: f64) -> bool {
        (self.from..=self.to).contains(&target)
    }
}

/// What the window holds, on the rung nearest the target.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WindowView {
    /// Seconds of a turn.
    pub turn_seconds: f64,
    /// Turns of a round.
    pub round_turns: f64,
    /// Turns in the window, if rounds followed without a rest.
    pub turns: f64,
    /// Rounds in the window, rests counted.
    pub rounds: f64,
}

/// All of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// The scenario.
    pub scenario: String,
    /// The law.
    pub law: String,
    /// Whether the window is anything to it; where not, what is said of readings is of a law that has one.
    pub reads_window: bool,
    /// Whether the slack is.
    pub reads_slack: bool,
    /// The target.
    pub juice: f64,
    /// The window, seconds.
    pub over: f64,
    /// Half width of the band.
    pub slack: f64,
    /// The pause between rounds, seconds.
    pub rest: f64,
    /// The effort of the first round.
    pub start: String,
    /// So many right rounds in a row are settled.
    pub hold: u32,
    /// Rounds of a run, as planned.
    pub rounds: u32,
    /// The rungs, hardest first.
    pub rungs: Vec<RungView>,
    /// What lies between them.
    pub gaps: Vec<Gap>,
    /// The rung nearest the target, by its place.
    pub nearest: usize,
    /// Where the target lies beside it, in gaps: 0 on it, .5 half way to the next.
    pub phase: Option<f64>,
    /// The legal slacks at the target.
    pub legal_slack: Option<(f64, f64)>,
    /// The window.
    pub window: WindowView,
    /// The chance that a reading leaves the band though the mean is exactly the target.
    pub false_move: f64,
    /// Rounds to tell a rung from half a gap off, at the target.
    pub resolve_rounds: Option<f64>,
    /// The targets that each rung holds.
    pub reach: Vec<Reach>,
    /// The nearest target, on the log scale, that a rung holds at the slack of the settings: the target itself where one does.
    pub nearest_target: f64,
    /// What is wrong with the order of the ladder, where something is.
    pub disorder: Option<String>,
    /// What the loop does without noise.
    pub quiet: Quiet,
    /// The chain, where there is one.
    pub chain: Option<ChainView>,
    /// Why there is none.
    pub no_chain: Option<String>,
}

/// Why settings cannot be explained.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum ExplainError {
    /// The target and the slack make no band.
    #[error("these settings have no band: {0}")]
    Band(#[from] BandError),
    /// No rung can be called right.
    #[error("this scenario cannot be judged: {0}")]
    Truth(#[from] TruthError),
}

/// Explains a scenario with these settings.
///
/// ```
/// use flyball::lab::explain::explain;
/// use flyball::lab::scenario::Scenario;
/// let text = include_str!("../../../scenarios/s02-typical.toml");
/// let scenario = Scenario::load(text, "s02-typical.toml").unwrap();
/// let told = explain(&scenario, &scenario.base()).unwrap();
/// assert!((told.nearest_target - 2048.0).abs() < 1e-9 && told.phase.unwrap().abs() < 1e-9);
/// assert_eq!(told.quiet.period, 1);
/// ```
///
/// # Errors
/// [`ExplainError`].
pub fn explain(scenario: &Scenario, cell: &Cell) -> Result<Explanation, ExplainError> {
    // the derived numbers are worked out at the settings asked for, which need not be the scenario's own
    let mut at = scenario.clone();
    (at.governor.over, at.governor.rest) = (cell.over, cell.rest);
    let derived = at.derived_at(cell.juice);
    let (target, slack) = (tokens(cell.juice), f64::from(cell.slack.ppm()) / 1e6);
    let right = right(&at, cell.juice)?;
    let spec = at.agent.spec();
    let reader = reading::Reader::new(&at, cell);
    let word = |rung: usize| word(scenario, rung);
    let view = |rung: usize| view(scenario, &reader, derived.means[rung], target, rung, right[rung]);
    let rungs: Vec<RungView> = (0..derived.means.len()).map(view).collect();
    let near = derived.nearest;
    let noise = reader.noise(near);
    let resolve = |ratio: f64, rung: usize| {
        let noise = reader.noise(rung);
        (ratio > 1.0).then(|| theory::rounds_to_resolve(RESOLVED, ratio, noise.cv, noise.round_turns, spec.session.tau))
    };
    let gaps = derived.ratios.iter().enumerate().map(|(rung, &ratio)| Gap {
        harder: word(rung),
        softer: word(rung + 1),
        ratio,
        legal_slack: theory::legal_slack(ratio).map(|legal| (legal.lo, legal.hi)),
        infeasible: theory::infeasible_share(slack, ratio),
        resolve_rounds: resolve(ratio, rung),
    });
    let reach: Vec<Reach> = rungs
        .iter()
        .map(|rung| Reach {
            effort: rung.effort.clone(),
            from: rung.mean / (1.0 + slack),
            to: if slack < 1.0 { rung.mean / (1.0 - slack) } else { f64::INFINITY },
        })
        .collect();
    let around = derived.legal_slack.map(|legal| (1.0 + legal.lo) / (1.0 - legal.lo));
    let chain = chain::view(&at, cell, &reader, &right);
    Ok(Explanation {
        scenario: scenario.name.clone(),
        law: cell.law.name().to_owned(),
        reads_window: cell.law.reads_window(),
        reads_slack: cell.law.reads_slack(),
        juice: target,
        over: ufloat(cell.over.count()) / 1000.0,
        slack,
        rest: ufloat(cell.rest.count()) / 1000.0,
        start: scenario.ladder.effort(scenario.plan.start).word().to_owned(),
        hold: scenario.evaluate.hold,
        rounds: scenario.plan.rounds,
        gaps: gaps.collect(),
        nearest: near,
        phase: derived.phase,
        legal_slack: derived.legal_slack.map(|legal| (legal.lo, legal.hi)),
        window: WindowView {
            turn_seconds: derived.turn_seconds,
            round_turns: noise.round_turns,
            turns: derived.window_turns,
            rounds: derived.window_rounds,
        },
        false_move: if noise.variance > 0.0 { theory::false_move(slack, noise.variance) } else { 0.0 },
        resolve_rounds: around.and_then(|ratio| resolve(ratio, near)),
        nearest_target: nearest_held(target, &reach),
        reach,
        disorder: disorder(scenario),
        quiet: quiets(&at, std::slice::from_ref(cell), &right)?.pop().unwrap_or_default(),
        no_chain: chain.as_ref().err().cloned(),
        chain: chain.ok(),
        rungs,
    })
}

/// The target that is nearest to this one of those that a rung holds.
fn nearest_held(target: f64, reach: &[Reach]) -> f64 {
    let off = |held: f64| libm::log(held / target).abs();
    let held = reach.iter().map(|reach| target.clamp(reach.from, reach.to));
    held.min_by(|a, b| off(*a).total_cmp(&off(*b))).unwrap_or(target)
}

fn word(scenario: &Scenario, rung: usize) -> String {
    scenario.ladder.efforts().get(rung).map(|effort| effort.word().to_owned()).unwrap_or_default()
}

fn view(
    scenario: &Scenario,
    reader: &reading::Reader<'_>,
    mean: f64,
    target: f64,
    rung: usize,
    right: bool,
) -> RungView {
    let (ways, noise) = (reader.ways(rung), reader.noise(rung));
    RungView {
        effort: word(scenario, rung),
        mean,
        cv: noise.cv,
        off: mean / target - 1.0,
        right,
        evidence: match scenario.evidence.get(rung) {
            Some(Evidence::Measured { .. }) => "measured",
            Some(Evidence::Assumed { .. }) => "assumed",
            Some(Evidence::Stated) | None => "stated",
        },
        read_turns: noise.turns,
        read_sd: noise.variance.sqrt(),
        below: ways.up.chance,
        above: ways.down.chance,
        round_tokens: noise.round_tokens,
        turn_seconds: noise.turn_seconds,
    }
}

/// Which rungs are right at the level of the start, by their place.
pub(in crate::lab) fn right(scenario: &Scenario, juice: Target) -> Result<Vec<bool>, TruthError> {
    let mut truth = Truth::default();
    let means = scenario.derived_at(juice).means;
    truth.fill(1, means.len(), juice, scenario.evaluate.band, |rung, _| libm::log(means[rung]))?;
    Ok((0..means.len()).map(|rung| truth.acceptable(0) >> rung & 1 == 1).collect())
}

fn tokens(juice: Target) -> f64 {
    ufloat(juice.micros()) / 1e6
}

#[cfg(test)]
mod tests;
