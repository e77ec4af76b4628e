//! Fits: from the turns of real agents to a scenario.
//!
//! [`survey`] says what there is, by model and effort; [`calibrate`] fits one model and gives a [`Calibration`], whose
//! [`to_toml`](Calibration::to_toml) is a scenario file. It takes turn records, from whichever reader or trace they come, and opens nothing.
//!
//! | module | holds |
//! |---|---|
//! | [`calls`] | calls by model, effort and session; what lasts from call to call |
//! | [`families`] | lognormal, mixture of two, gamma, and how well each fits |
//! | [`timing`] | overhead, speed, tool time |
//! | `kinds` | how a call leans on the one before: by size within its kind, and by kind |
//! | [`ladder`] | which efforts a model takes, and the prior for those that nobody measured |
//! | [`mod@figures`] | every number with its interval |
//! | [`bootstrap`] | intervals by drawing sessions again |
//! | [`windows`] | what a governor sees at constant effort |
//! | `pictures` | the data of the pictures, with the feature `plots` |
//! | [`report`] | all of it as JSON and CSV |
//! | [`mod@write`] | the scenario as text |
//! | [`numeric`] | the arithmetic |
//!
//! Decisions. A round is a session, with all prompts that a person gave in it. Sizes are fitted to all calls of an effort
//! together; the scenario's session effect comes on top of its sizes, so its variance is taken off both components, the means kept.
//! How a call leans on the one before is fitted to pairs of calls, by size within a kind and by kind, pooled over the measured rungs. A fit
//! of rungs need not rise with effort, and is not made to. What too few sessions say nothing of is filled with what public logs of
//! other models show ([`TAU_ELSEWHERE`], [`TURNS_CV_ELSEWHERE`]) and marked.
//!
//! Units: tokens, seconds, ln tokens. Sources: the modules' own.

use std::collections::BTreeSet;

use self::calls::{Group, Memory, Sessions};
use self::components::components;
use self::kinds::{Rung, Surface};
use self::ladder::{Evidence, Origin, RungFit};
use self::timing::Timing;
use self::units::Units;
use crate::engine::TurnRecord;

pub mod bootstrap;
pub mod calls;
mod components;
pub mod error;
pub mod families;
pub mod figures;
mod kinds;
pub mod ladder;
pub mod numeric;
#[cfg(feature = "plots")]
pub mod pictures;
pub mod report;
pub mod timing;
mod units;
mod weighted;
pub mod windows;
pub mod write;

pub use calls::survey;
pub use error::FitError;
pub use figures::{Asked, Figures, figures};
pub use kinds::Lean;

/// The fewest calls of known, positive size that a rung is fitted to.
pub const CALLS_FLOOR: u64 = 30;
/// The least share of calls whose output count can be trusted, percent.
pub const COVERAGE_FLOOR_PERCENT: u64 = 90;
/// How the distances of the three families are called in a table.
const RESIDUES: [&str; 6] = ["ks_lognormal", "ks_mixture", "ks_gamma", "ad_lognormal", "ad_mixture", "ad_gamma"];
/// The session effect where it cannot be measured: public logs of Claude models put 1 to 4 % of the variance between sessions.
pub const TAU_ELSEWHERE: f64 = 0.2;
/// The variation of calls per session where it cannot be measured: public loops of fresh sessions have a spread of 0.87 in ln.
pub const TURNS_CV_ELSEWHERE: f64 = 0.9;

/// What to fit, and what to call it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The model, or a part of its name that only it has; `None` takes the one with the most calls of known size and effort.
    pub model: Option<String>,
    /// The ladder, hardest first; empty takes the model's own ([`ladder::words`]).
    pub efforts: Vec<String>,
    /// The scenario's name; `None` takes the model's, without its maker.
    pub name: Option<String>,
    /// Where the records come from, to go after "from"; empty says "logs".
    pub source: String,
}

/// One model, fitted.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// The model.
    pub model: String,
    /// The scenario's name.
    pub name: String,
    /// Where the records come from.
    pub source: String,
    /// Calls of the model, of known size or not.
    pub calls: u64,
    /// Its sessions.
    pub sessions: u64,
    /// The model's groups, as in [`survey`]; their families are fitted to all calls as they are.
    pub groups: Vec<Group>,
    /// The ladder, hardest first.
    pub rungs: Vec<RungFit>,
    /// The effort with the most calls: where the agent starts.
    pub start: String,
    /// Three targets inside the ladder, whole tokens per call, rising; the middle one is the scenario's own.
    pub targets: [u64; 3],
    /// Sessions and memory.
    pub memory: Memory,
    /// Time.
    pub timing: Timing,
    /// What the scenario has for the memory of a turn.
    pub lean: Lean,
    /// What the scenario has for the session effect.
    pub tau: f64,
    /// What the scenario has for the variation of calls per session.
    pub turns_cv: f64,
}

impl Calibration {
    /// The scenario file, format 1.
    #[must_use]
    pub fn to_toml(&self) -> String {
        write::scenario(self, None)
    }

    /// The same with the intervals as comments beside the numbers.
    #[must_use]
    pub fn to_toml_with(&self, figures: &Figures) -> String {
        write::scenario(self, Some(figures))
    }
}

/// Fits one model.
///
/// # Errors
/// [`FitError`] where there are no calls, the model is not clear, less than [`COVERAGE_FLOOR_PERCENT`] of its calls have a count to
/// be trusted, no rung has [`CALLS_FLOOR`] calls, the times say nothing, or the ladder holds an effort of which nothing is known.
pub fn calibrate(records: &[TurnRecord], options: &Options) -> Result<Calibration, FitError> {
    let all = survey(records);
    let model = choose_model(&all, options.model.as_deref())?;
    let groups: Vec<Group> = all.into_iter().filter(|group| group.model == model).collect();
    check_coverage(&model, &groups)?;
    let efforts = choose_efforts(&model, &groups, &options.efforts)?;
    let name = choose_name(&model, options.name.as_deref())?;
    let start = busiest(&model, &groups, &efforts)?;

    let sessions = Sessions::of(records, &model);
    let with_families = groups.iter().filter(|group| group.families.is_some());
    let measured: Vec<&str> = with_families
        .filter_map(|group| group.effort.as_deref())
        .filter(|word| efforts.iter().any(|e| e == word))
        .collect();
    let units = Units::of_model(&sessions, &measured);
    let memory = Memory {
        parts: components(units.whole(), &vec![1.0; units.whole().len()]),
        ..Memory::of(&sessions, &measured)
    };
    let tau = memory.tau().unwrap_or(TAU_ELSEWHERE);
    let timing = Timing::of(&sessions, CALLS_FLOOR).ok_or_else(|| FitError::NoTimes { model: model.clone() })?;
    let rungs = stand(&efforts, &groups, tau)?;
    let targets = targets(&rungs);
    Ok(Calibration {
        calls: groups.iter().map(|group| group.calls).sum(),
        sessions: calls::count(sessions.0.len()),
        source: if options.source.is_empty() { String::from("logs") } else { options.source.clone() },
        lean: lean(&units, &rungs, tau),
        turns_cv: memory.turns_cv.unwrap_or(TURNS_CV_ELSEWHERE),
        model,
        name,
        groups,
        rungs,
        start,
        targets,
        memory,
        timing,
        tau,
    })
}

fn choose_model(groups: &[Group], asked: Option<&str>) -> Result<String, FitError> {
    let models: BTreeSet<&str> = groups.iter().map(|group| group.model.as_str()).collect();
    if models.is_empty() {
        return Err(FitError::NoCalls);
    }
    let Some(asked) = asked else {
        let weight = |model: &&&str| {
            let own = groups.iter().filter(|group| group.model == ***model);
            let (stated, known) = own.fold((0, 0), |(stated, known), group| {
                (stated + if group.effort.is_some() { group.known } else { 0 }, known + group.known)
            });
            (stated, known)
        };
        // The first of equals, whichever way the names were met.
        return models.iter().rev().max_by_key(weight).map(|model| (*model).to_owned()).ok_or(FitError::NoCalls);
    };
    let fitting: Vec<&str> = models.iter().copied().filter(|model| model.contains(asked)).collect();
    match fitting[..] {
        _ if models.contains(asked) => Ok(asked.to_owned()),
        [only] => Ok(only.to_owned()),
        _ => Err(FitError::Model { asked: asked.to_owned(), seen: models.into_iter().map(str::to_owned).collect() }),
    }
}

fn check_coverage(model: &str, groups: &[Group]) -> Result<(), FitError> {
    let (known, calls) = groups.iter().fold((0, 0), |(known, calls), group| (known + group.known, calls + group.calls));
    if u128::from(known) * 100 < u128::from(calls) * u128::from(COVERAGE_FLOOR_PERCENT) {
        return Err(FitError::Coverage { model: model.to_owned(), known, calls });
    }
    if groups.iter().all(|group| group.effort.is_none()) {
        return Err(FitError::NoEffort { model: model.to_owned(), calls });
    }
    Ok(())
}

fn choose_efforts(model: &str, groups: &[Group], asked: &[String]) -> Result<Vec<String>, FitError> {
    if !asked.is_empty() {
        let apart: BTreeSet<&String> = asked.iter().collect();
        let fine = asked.len() >= 2 && apart.len() == asked.len() && asked.iter().all(|word| !word.trim().is_empty());
        if ladder::is_backwards(asked) {
            return Err(FitError::Backwards { efforts: asked.to_vec() });
        }
        return if fine { Ok(asked.to_vec()) } else { Err(FitError::Ladder { efforts: asked.to_vec() }) };
    }
    let known = ladder::words(model);
    let seen = |word: &&&str| groups.iter().any(|group| group.effort.as_deref() == Some(**word));
    let words: Vec<String> = if known.is_empty() {
        ladder::CHAIN.iter().rev().filter(seen).map(|word| (*word).to_owned()).collect()
    } else {
        known.iter().map(|word| (*word).to_owned()).collect()
    };
    if words.len() >= 2 { Ok(words) } else { Err(FitError::NoLadder { model: model.to_owned() }) }
}

fn choose_name(model: &str, asked: Option<&str>) -> Result<String, FitError> {
    let name = asked.unwrap_or_else(|| model.strip_prefix("claude-").unwrap_or(model));
    let plain = |mark: char| mark.is_ascii_alphanumeric() || ['.', '-', '_'].contains(&mark);
    if name.chars().all(plain) && name.starts_with(|first: char| first.is_ascii_alphanumeric()) {
        Ok(name.to_owned())
    } else {
        Err(FitError::Name { name: name.to_owned() })
    }
}

/// The effort with the most calls of known size, the harder of equals.
fn busiest(model: &str, groups: &[Group], efforts: &[String]) -> Result<String, FitError> {
    let calls = |word: &str| {
        groups.iter().find(|group| group.effort.as_deref() == Some(word)).map_or(0, |group| group.known - group.zeros)
    };
    let most = efforts.iter().rev().max_by_key(|word| calls(word));
    let Some(effort) = most else { return Err(FitError::NoLadder { model: model.to_owned() }) };
    match calls(effort) {
        few if few < CALLS_FLOOR => {
            Err(FitError::TooFew { model: model.to_owned(), effort: effort.clone(), calls: few })
        }
        _ => Ok(effort.clone()),
    }
}

/// Puts sizes on every rung: first the measured ones, then those that the prior tells from them.
fn stand(efforts: &[String], groups: &[Group], tau: f64) -> Result<Vec<RungFit>, FitError> {
    let group = |word: &str| groups.iter().find(|group| group.effort.as_deref() == Some(word));
    let measured: Vec<RungFit> = efforts.iter().filter_map(|word| measured(word, group(word)?, tau)).collect();
    let rung = |word: &String| {
        let own = measured.iter().find(|rung| rung.effort == *word).cloned();
        let seen = group(word).map_or(0, |group| group.known);
        own.or_else(|| ladder::assumed(word, seen, &measured)).ok_or_else(|| FitError::NoPrior { effort: word.clone() })
    };
    efforts.iter().map(rung).collect()
}

/// How calls of the measured rungs lean on the one before.
fn lean(units: &Units, rungs: &[RungFit], tau: f64) -> Lean {
    let own: Vec<Rung<'_>> = rungs.iter().filter(|rung| rung.is_measured()).map(Rung::of).collect();
    Surface::of(units, &own, tau).top(&vec![1.0; units.all.len()]).unwrap_or_default()
}

fn measured(effort: &str, group: &Group, tau: f64) -> Option<RungFit> {
    let found = group.families?;
    let sizes = kinds::without(&found.mixture, tau);
    let evidence = Evidence {
        sessions: group.sessions,
        calls: group.known - group.zeros,
        ks_mixture: found.ks_mixture,
        ks_lognormal: found.ks_lognormal,
    };
    Some(RungFit { effort: effort.to_owned(), sizes, origin: Origin::Measured(evidence) })
}

/// Three targets inside the ladder: near the mean of a rung between the others, and half way (in ln) to its neighbours in size.
///
/// Of the rungs between, a measured one, and then the one nearest (in ln) the middle of all. A ladder of two has none: then the three cut it in four.
fn targets(rungs: &[RungFit]) -> [u64; 3] {
    let mut by_size: Vec<(f64, bool)> =
        rungs.iter().map(|rung| (libm::log(rung.sizes.mean()), rung.is_measured())).collect();
    by_size.sort_by(|a, b| a.0.total_cmp(&b.0));
    let last = by_size.len() - 1;
    let middle = 0.5 * (by_size[0].0 + by_size[last].0);
    let off = |at: usize| (by_size[at].0 - middle).abs();
    let nearer = |a: &usize, b: &usize| by_size[*b].1.cmp(&by_size[*a].1).then(off(*a).total_cmp(&off(*b)));
    let Some(at) = (1..last).min_by(nearer) else {
        let cut = |part: f64| round_to_ten(libm::exp(by_size[0].0 + part * (by_size[last].0 - by_size[0].0)));
        return [cut(0.25), cut(0.5), cut(0.75)];
    };
    let half = |other: usize| round_to_ten(libm::exp(0.5 * (by_size[at].0 + by_size[other].0)));
    [half(at - 1), round_to_ten(libm::exp(by_size[at].0)), half(at + 1)]
}

/// Whole tens of tokens from a hundred on, whole tokens below.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a mean of tokens: positive, and a cast beyond the ends stops at them"
)]
fn round_to_ten(tokens: f64) -> u64 {
    let grain = if tokens < 100.0 { 1.0 } else { 10.0 };
    ((tokens / grain).round() * grain) as u64
}

#[cfg(test)]
mod tests;
