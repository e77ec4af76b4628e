//! The test of truth: what a fitted agent predicts, against sessions that it was not fitted on.
//!
//! For each effort of the scenario's ladder that the records hold, recorded sessions are set beside simulated ones of the
//! same design: [`sessions`] says what a session is, [`measure`] which figures are taken of both, [`compare`] how their
//! intervals come about. [`validate`] takes the scenario as it is; [`cross_validate`] refits its model and its ladder on all
//! but one fold of the sessions, and sets that fold beside what the fit predicts, fold by fold, all folds put together.
//! It is not a fit, and no law moves: the effort is constant.
//!
//! # The verdict
//!
//! | verdict | of a group | of the whole |
//! |---|---|---|
//! | `too-little-data` | fewer than [`SESSIONS_FLOOR`] sessions of [`TURNS_FLOOR`](sessions::TURNS_FLOOR) turns, or no fit | every group has too little |
//! | `fail` | the intervals of the window's cv are apart, or an assumption fails | those of all judged groups together are apart, or at least half of the judged groups fail |
//! | `pass` | otherwise | otherwise |
//!
//! An assumption *fails* where one of its figures is badly apart: the intervals do not touch, and the figure is off by more
//! than a tolerance that stands with it (by half, for sizes and times). It is *off* where they do not touch, but by less.
//! What is off is told and decides nothing: with many sessions every model is off. With few sessions the recorded intervals
//! are narrower than they should be, and the simulated ones, which are not, carry the verdict.
//!
//! Units: tokens, seconds, ln tokens; windows in milliseconds. Sources: the modules' own.

use std::collections::{BTreeMap, BTreeSet};

use self::compare::{Group, Range, Spread, Weighed, range, standings, weigh};
use self::measure::{Facts, Power, Statistic};
use self::sessions::{Stretch, stretches};
use self::simulated::{Design, Sampler};
use crate::engine::{Millis, TurnRecord, counted, one_or};
use crate::lab::fit::{self, Options};
use crate::lab::recorded::{ModelError, choose_model, effort_of, model_of};
use crate::lab::scenario::{Evidence, Scenario, ScenarioError};
use crate::sim::AgentModel;

pub mod compare;
pub mod json;
pub mod measure;
#[cfg(feature = "plots")]
pub mod picture;
pub mod sessions;
mod simulated;

/// The fewest sessions of a group that is judged.
pub const SESSIONS_FLOOR: usize = 4;

/// How to compare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The window.
    pub over: Millis,
    /// Samples on each side.
    pub samples: u32,
    /// What all luck comes from.
    pub seed: u64,
    /// The model, or a part of its name that only it has; none takes the one that the scenario's name is part of, else the
    /// one with the most turns.
    pub model: Option<String>,
    /// The fewest turns of a session.
    pub turns: usize,
}

impl Default for Settings {
    /// 300 s, 400 samples, seed 1, sessions of 30 turns.
    fn default() -> Self {
        Self { over: Millis::from_secs(300), samples: 400, seed: 1, model: None, turns: sessions::TURNS_FLOOR }
    }
}

/// What came of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The agent predicts what was recorded.
    Pass,
    /// It does not.
    Fail,
    /// Nobody can tell.
    TooLittleData,
}

impl Verdict {
    /// The stable word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::TooLittleData => "too-little-data",
        }
    }
}

/// A whole comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The scenario's name.
    pub scenario: String,
    /// The model of the records.
    pub model: String,
    /// How it was compared.
    pub settings: Settings,
    /// How many folds, where the agent was refitted.
    pub folds: Option<u32>,
    /// What came of it.
    pub verdict: Verdict,
    /// Coefficient of variation of the window's mean, of all judged groups together (where none is judged, of
    /// those of several sessions, or else of all):
    /// recorded and simulated.
    pub window_cv: [Range; 2],
    /// The groups, in the order of the ladder.
    pub groups: Vec<Group>,
    /// What could not be predicted for want of a fit, and why.
    pub unfitted: Vec<String>,
    /// What else is to be said: efforts that are not on the ladder, turns without one, other models.
    pub notes: Vec<String>,
}

/// Why nothing can be compared.
#[derive(Debug, thiserror::Error)]
pub enum ValidateError {
    /// The model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// Fewer than two folds.
    #[error("--folds {0}: there must be two folds or more")]
    Folds(u32),
    /// A fit makes no scenario, which is a fault of this program.
    #[error("a fit makes no scenario")]
    Scenario(#[from] ScenarioError),
}

/// The records of one effort that are compared, and for each session the agent that predicts it.
struct Sample {
    stretches: Vec<(Stretch, usize)>,
    left_out: usize,
}

/// Compares the scenario's agent as it is with these records.
///
/// # Errors
/// [`ValidateError::Model`].
pub fn validate(records: &[TurnRecord], scenario: &Scenario, settings: &Settings) -> Result<Report, ValidateError> {
    let model = choose_model(records, settings.model.as_deref(), &scenario.name)?;
    let samples = gather(records, &model, settings, &|_| Some(0));
    Ok(report(records, scenario, &model, settings, samples, &[scenario], None))
}

/// Compares each fold of the sessions with what a fit to the others predicts. The folds are dealt by size, so that each has
/// long sessions and short ones. The scenario gives the model's name and the ladder.
///
/// A fold that cannot be predicted, for want of data beside it, is left out and told; without any fit there is too little data.
///
/// # Errors
/// [`ValidateError`].
pub fn cross_validate(
    records: &[TurnRecord],
    scenario: &Scenario,
    settings: &Settings,
    folds: u32,
) -> Result<Report, ValidateError> {
    let model = choose_model(records, settings.model.as_deref(), &scenario.name)?;
    if folds < 2 {
        return Err(ValidateError::Folds(folds));
    }
    let dealt = deal(records, &model, folds);
    let efforts: Vec<String> = scenario.ladder.efforts().iter().map(|effort| effort.word().to_owned()).collect();
    let (mut agents, mut place, mut unfitted) = (Vec::new(), BTreeMap::new(), Vec::new());
    let enough = dealt.len() >= folds as usize;
    if !enough {
        unfitted
            .push(format!("{folds} folds take as many sessions that say their effort, and there are {}", dealt.len()));
    }
    for fold in (0..folds).filter(|_| enough) {
        let options = Options { model: Some(model.clone()), efforts: efforts.clone(), ..Options::default() };
        match fit::calibrate(&beside(records, &dealt, fold), &options) {
            Ok(fit) => {
                place.insert(fold, agents.len());
                agents.push(Scenario::load(&fit.to_toml(), &format!("{}.toml", fit.name))?);
            }
            Err(why) => unfitted.push(format!(
                "what is left beside fold {} of {folds} cannot be fitted, so that the fold is left out: {why}",
                fold + 1
            )),
        }
    }
    let agents: Vec<&Scenario> = agents.iter().collect();
    // without any fit the recorded side is shown alone
    let alone = agents.is_empty().then_some(0);
    let agent = |session| dealt.get(&session).and_then(|fold| place.get(fold)).copied().or(alone);
    let samples = gather(records, &model, settings, &agent);
    Ok(Report { unfitted, ..report(records, scenario, &model, settings, samples, &agents, Some(folds)) })
}

/// The records of all folds but one.
fn beside(records: &[TurnRecord], dealt: &BTreeMap<u64, u32>, fold: u32) -> Vec<TurnRecord> {
    records.iter().filter(|record| dealt.get(&record.round) != Some(&fold)).cloned().collect()
}

/// Deals the sessions of a model that say their effort into folds: effort by effort, that of the most of their turns, and of each the longest
/// first, so that no fold has all that another effort is fitted to.
fn deal(records: &[TurnRecord], model: &str, folds: u32) -> BTreeMap<u64, u32> {
    let mut turns: BTreeMap<u64, BTreeMap<&str, u64>> = BTreeMap::new();
    for record in records.iter().filter(|record| record.counts_as_turn && model_of(record) == model) {
        let Some(effort) = effort_of(record) else { continue };
        *turns.entry(record.round).or_default().entry(effort).or_default() += 1;
    }
    let place = |(session, efforts): (u64, BTreeMap<&str, u64>)| {
        let all: u64 = efforts.values().sum();
        let most = efforts.into_iter().rev().max_by_key(|(_, turns)| *turns).map(|(effort, _)| effort.to_owned());
        (most, core::cmp::Reverse(all), session)
    };
    let mut order: Vec<_> = turns.into_iter().map(place).collect();
    order.sort();
    (0..folds.max(1)).cycle().zip(order).map(|(fold, (.., session))| (session, fold)).collect()
}

fn gather(
    records: &[TurnRecord],
    model: &str,
    settings: &Settings,
    agent: &dyn Fn(u64) -> Option<usize>,
) -> BTreeMap<String, Sample> {
    let found = stretches(records, model, settings.turns).into_iter();
    found
        .map(|(effort, (kept, left_out))| {
            let with_agent =
                kept.into_iter().filter_map(|stretch| agent(stretch.session).map(|agent| (stretch, agent)));
            (effort, Sample { stretches: with_agent.collect(), left_out })
        })
        .collect()
}

fn report(
    records: &[TurnRecord],
    scenario: &Scenario,
    model: &str,
    settings: &Settings,
    mut samples: BTreeMap<String, Sample>,
    agents: &[&Scenario],
    folds: Option<u32>,
) -> Report {
    let (mut groups, mut weights) = (Vec::new(), Vec::new());
    for (rung, effort) in scenario.ladder.efforts().iter().enumerate() {
        let Some(sample) = samples.remove(effort.word()) else { continue };
        let (group, weighed) = group(effort.word(), rung, &sample, agents, settings);
        groups.push(group);
        weights.push(weighed);
    }
    let used: Vec<&Weighed> =
        groups.iter().zip(&weights).filter(|(group, _)| counts(group, &groups)).map(|(_, weighed)| weighed).collect();
    let window_cv = together(&used);
    Report {
        scenario: scenario.name.clone(),
        model: model.to_owned(),
        settings: settings.clone(),
        folds,
        verdict: overall(&groups, window_cv),
        window_cv,
        groups,
        unfitted: Vec::new(),
        notes: notes(records, scenario, model, &samples),
    }
}

fn group(effort: &str, rung: usize, sample: &Sample, agents: &[&Scenario], settings: &Settings) -> (Group, Weighed) {
    let designs: Vec<Design> = sample.stretches.iter().map(|(stretch, agent)| Design::of(stretch, *agent)).collect();
    let real: Vec<Facts> =
        sample.stretches.iter().map(|(stretch, _)| Facts::of(&stretch.turns, settings.over)).collect();
    let models: Vec<&AgentModel> = agents.iter().map(|scenario| &scenario.agent).collect();
    let sampler = Sampler::new(&models, rung, &designs);
    let evidence = |agent: usize| agents.get(agent).and_then(|scenario| scenario.evidence.get(rung));
    let guess = |agent: usize| matches!(evidence(agent), Some(Evidence::Assumed { .. }));
    let number = u32::try_from(rung).unwrap_or(u32::MAX);
    let weighed = weigh(number, &real, &sampler, settings.over, settings);
    let standings = standings(&weighed.figures);
    let apart = |statistic| weighed.figures.iter().any(|figure| figure.statistic == statistic && figure.apart());
    let failed = standings.iter().any(|(_, standing)| *standing == compare::Standing::Fails);
    // of several fits, one that had nothing to fit this rung to says nothing of how well it is fitted
    let unfitted = agents.len() > 1 && sample.stretches.iter().any(|(_, agent)| guess(*agent));
    let verdict = if real.len() < SESSIONS_FLOOR || agents.is_empty() || unfitted {
        Verdict::TooLittleData
    } else if failed || apart(Statistic::WindowCv) {
        Verdict::Fail
    } else {
        Verdict::Pass
    };
    let turns = sample.stretches.iter().map(|(stretch, _)| stretch.turns.len() as u64).sum();
    let group = Group {
        effort: effort.to_owned(),
        assumed: sample.stretches.iter().any(|(_, agent)| guess(*agent)),
        sessions: real.len(),
        left_out: sample.left_out,
        turns,
        figures: weighed.figures.clone(),
        standings,
        verdict,
        spread: if real.is_empty() { Spread::default() } else { weighed.spread.clone() },
    };
    (group, weighed)
}

/// Whether a group counts in what all come to together: those that are judged; where none is, those of two sessions or
/// more, which have intervals; where there is none of those either, all.
fn counts(group: &Group, all: &[Group]) -> bool {
    let judged = |group: &Group| group.verdict != Verdict::TooLittleData;
    let several = |group: &Group| group.sessions > 1;
    if all.iter().any(judged) { judged(group) } else { several(group) || !all.iter().any(several) }
}

/// The cv of several groups together, on both sides.
fn together(groups: &[&Weighed]) -> [Range; 2] {
    let cv = |power: Power| Some(power.variation()).filter(|value| value.is_finite());
    let real = cv(groups.iter().fold(Power::default(), |sum, group| sum.plus(group.real)));
    let each = |side: &dyn Fn(&Weighed) -> &Vec<Power>| -> Vec<f64> {
        let samples = groups.iter().map(|group| side(group).len()).min().unwrap_or(0);
        let sum = |sample| groups.iter().fold(Power::default(), |sum, group| sum.plus(side(group)[sample]));
        (0..samples).filter_map(|sample| cv(sum(sample))).collect()
    };
    let made = each(&|group| &group.simulated);
    let mean = (!made.is_empty()).then(|| fit::numeric::mean(&made));
    [range(real, each(&|group| &group.resampled)), range(mean, made)]
}

fn overall(groups: &[Group], [real, simulated]: [Range; 2]) -> Verdict {
    let count = |verdict| groups.iter().filter(|group| group.verdict == verdict).count();
    let (passed, failed) = (count(Verdict::Pass), count(Verdict::Fail));
    let together = compare::Compared { statistic: Statistic::WindowCv, real, simulated };
    if passed + failed == 0 {
        Verdict::TooLittleData
    } else if together.apart() || failed * 2 >= passed + failed {
        Verdict::Fail
    } else {
        Verdict::Pass
    }
}

/// What the comparison leaves out.
fn notes(
    records: &[TurnRecord],
    scenario: &Scenario,
    model: &str,
    off_ladder: &BTreeMap<String, Sample>,
) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(fitted) = fit::write::model_of(&scenario.about).filter(|fitted| *fitted != model) {
        notes.push(format!("the scenario was fitted to {fitted}, and these are turns of {model}"));
    }
    if !off_ladder.is_empty() {
        let words: Vec<&str> = off_ladder.keys().map(String::as_str).collect();
        notes.push(format!("not on the scenario's ladder, and left out: {}", words.join(", ")));
    }
    let own = || records.iter().filter(|record| record.counts_as_turn && model_of(record) == model);
    let silent = own().filter(|record| effort_of(record).is_none()).count();
    if silent > 0 {
        let (of, are) = (
            counted(own().count(), "turn"),
            one_or(silent, "does not say its effort, and is", "do not say their effort, and are"),
        );
        notes.push(format!("{silent} of {of} of {model} {are} left out"));
    }
    let others: BTreeSet<&str> =
        records.iter().filter(|record| record.counts_as_turn).map(model_of).filter(|other| *other != model).collect();
    if !others.is_empty() {
        let others: Vec<&str> = others.into_iter().collect();
        notes.push(format!("other models in these records: {}", others.join(", ")));
    }
    notes
}

#[cfg(test)]
mod tests;
