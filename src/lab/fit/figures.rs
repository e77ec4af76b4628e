//! Every number of a calibration with its interval.
//!
//! [`figures`] takes a finished [`Calibration`] and the records that it was made from, and says of each number how far it may be off: by
//! effort what sizes look like, and for the model what sessions, turns and times do. The values are those of the
//! calibration; the intervals come from drawing sessions again ([`bootstrap`](super::bootstrap)), or blocks of calls where the sessions of an effort
//! are fewer than five. Shares of requests and rounds have Wilson's interval, which takes each for itself: failures come in bursts, and
//! their intervals are then too short.
//!
//! `cv` is that of the fitted mixture where there is one: a sample's own is low where tails are heavy, and no drawing again tells how
//! low (an interval of it held the truth in 76 of 100 known sets). `session_sd` allows for calls that lean on each other, and is the scenario's `tau`.
//!
//! `rho` and `kind_rho` are drawn with the rungs' sizes fitted anew, and the effect of each session taken for known: of 100 known sets the interval of the
//! first held the truth in 83, that of the second in 88. Both lie a little low where kinds overlap (0.53 for 0.6).
//!
//! A number that cannot be told has no figure; one that is told by too little has no interval.

use super::bootstrap::{Draws, RESAMPLES, SEED, Scale, Strata, intervals};
use super::calls::{Group, Memory, Sessions, count};
use super::components::components;
use super::families::Mixture;
use super::kinds::{Rung, Surface};
use super::numeric::float;
use super::units::{Sums, Units};
use super::weighted::{Line, Ranked, climb};
use super::{Calibration, calls};
use crate::engine::{Grade, TurnRecord};
use crate::lab::stats::{CONFIDENCE, Interval, wilson};

/// A number and how far it may be off.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Its name: stable, with underscores.
    pub name: &'static str,
    /// What it counts in; empty for ratios.
    pub unit: &'static str,
    /// The number.
    pub value: f64,
    /// Where it lies, with a confidence of 95 %.
    pub interval: Option<Interval>,
}

/// The numbers of one effort.
#[derive(Clone, Debug, PartialEq)]
pub struct EffortFigures {
    /// The effort, where the records say.
    pub effort: Option<String>,
    /// Sessions with such calls.
    pub sessions: u64,
    /// Calls of known size.
    pub calls: u64,
    /// Units that were drawn.
    pub units: u64,
    /// They are blocks of calls: what differs from session to session is not in the intervals.
    pub blocks: bool,
    /// The numbers.
    pub figures: Vec<Figure>,
}

/// All numbers of a calibration.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    /// How often units were drawn.
    pub resamples: u32,
    /// What the draws came from.
    pub seed: u64,
    /// By effort, in the order of the calibration's groups.
    pub efforts: Vec<EffortFigures>,
    /// Units that the model's own numbers rest on, and whether they are blocks of calls.
    pub units: u64,
    /// As for an effort.
    pub blocks: bool,
    /// The numbers of the model.
    pub model: Vec<Figure>,
}

/// How to draw, and what the records do not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// How often units are drawn.
    pub resamples: u32,
    /// What the draws come from.
    pub seed: u64,
    /// Requests that failed, as the readers counted them, of whichever model.
    pub failed: u64,
    /// Sessions without a single call, as the readers counted them.
    pub silent: u64,
}

impl Default for Asked {
    fn default() -> Self {
        Self { resamples: RESAMPLES, seed: SEED, failed: 0, silent: 0 }
    }
}

impl Figure {
    /// In words, three significant digits: `664 (540 to 812)`.
    #[must_use]
    pub fn told(&self) -> String {
        let interval = self.interval.map(|ends| format!(" ({} to {})", three(ends.lo), three(ends.hi)));
        format!("{}{}", three(self.value), interval.unwrap_or_default())
    }
}

/// Three significant digits, whole from a hundred on.
#[must_use]
pub fn three(value: f64) -> String {
    let size = value.abs();
    let digits = if size >= 99.5 || size == 0.0 {
        0
    } else if size >= 9.95 {
        1
    } else if size >= 0.995 {
        2
    } else {
        3
    };
    let text = format!("{value:.digits$}");
    // what rounds to nothing has no sign
    if text.trim_matches(['-', '0', '.']).is_empty() { text.trim_start_matches('-').to_owned() } else { text }
}

impl Figures {
    /// The numbers of an effort.
    #[must_use]
    pub fn effort(&self, effort: &str) -> Option<&EffortFigures> {
        self.efforts.iter().find(|own| own.effort.as_deref() == Some(effort))
    }

    /// A number of the model.
    #[must_use]
    pub fn of_model(&self, name: &str) -> Option<&Figure> {
        self.model.iter().find(|figure| figure.name == name)
    }

    /// A number of an effort.
    #[must_use]
    pub fn of_effort(&self, effort: &str, name: &str) -> Option<&Figure> {
        self.effort(effort)?.figures.iter().find(|figure| figure.name == name)
    }
}

/// A number before it has an interval.
type Bare = (&'static str, &'static str, Scale, Option<f64>);

fn told(bare: &[Bare], intervals: Vec<Option<Interval>>) -> Vec<Figure> {
    let with = bare.iter().zip(intervals);
    with.filter_map(|(&(name, unit, _, value), interval)| Some(Figure { name, unit, value: value?, interval }))
        .collect()
}

/// Works out the intervals of a calibration of these records.
#[must_use]
pub fn figures(records: &[TurnRecord], fit: &Calibration, asked: &Asked) -> Figures {
    let sessions = Sessions::of(records, &fit.model);
    let rungs: Vec<&str> =
        fit.rungs.iter().filter(|rung| rung.is_measured()).map(|rung| rung.effort.as_str()).collect();
    let units = Units::of_model(&sessions, &rungs);
    let mut model = of_model(&units, &sessions, fit, draws(asked, 0));
    model.extend(shares(records, fit, &sessions, asked));
    Figures {
        resamples: asked.resamples,
        seed: asked.seed,
        efforts: group_figures(records, &fit.groups, asked),
        units: count(units.all.len()),
        blocks: units.blocks,
        model,
    }
}

/// The numbers of each of these groups of the records, in their order; of one model or of several.
#[must_use]
pub fn group_figures(records: &[TurnRecord], groups: &[Group], asked: &Asked) -> Vec<EffortFigures> {
    let one = |(stream, group): (u32, &Group)| {
        let sessions = Sessions::of(records, &group.model);
        let units = Units::of_effort(&sessions, group.effort.as_deref());
        EffortFigures {
            effort: group.effort.clone(),
            sessions: group.sessions,
            calls: group.known,
            units: count(units.all.len()),
            blocks: units.blocks,
            figures: of_effort(&units, group, &sessions.memory_at(group.effort.as_deref()), draws(asked, stream)),
        }
    };
    (1..).zip(groups).map(one).collect()
}

const fn draws(asked: &Asked, stream: u32) -> Draws {
    Draws { resamples: asked.resamples, seed: asked.seed, stream }
}

fn of_effort(units: &Units, group: &Group, memory: &Memory, draws: Draws) -> Vec<Figure> {
    if group.known == 0 {
        return Vec::new();
    }
    let each = || units.all.iter().enumerate();
    let sizes =
        Ranked::new(each().flat_map(|(at, unit)| unit.sizes.iter().map(move |&size| (float(size), at))).collect());
    let logs =
        Ranked(sizes.0.iter().filter(|(size, _)| *size > 0.0).map(|&(size, at)| (libm::log(size), at)).collect());
    let mixture = group.families.map(|families| families.mixture);
    let once = vec![1.0; units.all.len()];
    let whole = units.sums(&once);
    let mut bare: Vec<Bare> = vec![
        ("mean", "tokens", Scale::Log, Some(group.mean)),
        ("median", "tokens", Scale::Log, Some(group.median())),
        ("p90", "tokens", Scale::Log, Some(group.p90())),
        ("cv", "", Scale::Log, mixture.map_or(Some(group.cv), |mixture| Some(variation_of(&mixture)))),
        ("lag_one", "", Scale::Correlation, memory.lag_one),
        ("lag_two", "", Scale::Correlation, memory.lag_two),
        ("trend", "ln tokens", Scale::Plain, ratio(whole.trend)),
        ("session_share", "", Scale::NotNegative, components_once(units).map(share_of)),
    ];
    if let Some(mixture) = mixture {
        let parts = parameters(&mixture).map(Some);
        bare.extend([
            ("narrow_weight", "", Scale::Share, parts[0]),
            ("narrow_mu", "ln tokens", Scale::Plain, parts[1]),
            ("narrow_sigma", "ln tokens", Scale::Log, parts[2]),
            ("wide_mu", "ln tokens", Scale::Plain, parts[3]),
            ("wide_sigma", "ln tokens", Scale::Log, parts[4]),
        ]);
    }
    let statistic = |times: &[f64]| {
        let sums = units.sums(times);
        let [mean, variation] = moments(sums.sizes);
        let middle = sizes.quantiles(times, &[0.5, 0.9]);
        let climbed = mixture.and_then(|start| climb(start, &logs, times));
        let cv = if mixture.is_some() { climbed.map(|mixture| variation_of(&mixture)) } else { variation };
        let lags = [ratio(sums.lag), ratio([sums.lag_two[0], sums.lag[1]])];
        let share = components(&units.all, times).map(share_of).filter(|_| !units.blocks);
        let mut numbers = vec![mean, middle[0], middle[1], cv, lags[0], lags[1], ratio(sums.trend), share];
        if mixture.is_some() {
            numbers.extend(climbed.map_or([None; 5], |mixture| parameters(&mixture).map(Some)));
        }
        numbers
    };
    settle(&bare, &units.strata, draws, statistic)
}

/// Intervals for those numbers that are told.
fn settle(
    bare: &[Bare],
    strata: &Strata,
    draws: Draws,
    statistic: impl Fn(&[f64]) -> Vec<Option<f64>> + Sync,
) -> Vec<Figure> {
    let values: Vec<f64> = bare.iter().map(|figure| figure.3.unwrap_or(f64::NAN)).collect();
    let scales: Vec<Scale> = bare.iter().map(|figure| figure.2).collect();
    told(bare, intervals(&values, &scales, strata, draws, statistic))
}

fn of_model(units: &Units, sessions: &Sessions<'_>, fit: &Calibration, draws: Draws) -> Vec<Figure> {
    let (memory, timing, spread) = (&fit.memory, &fit.timing, components_once(units));
    let each = || units.all.iter().enumerate();
    let line = Line::new(each().flat_map(|(at, unit)| unit.times.iter().map(move |&(x, y)| (x, y, at))).collect());
    let whole = units.sums(&vec![1.0; units.all.len()]);
    let of_sessions: Vec<Bare> = vec![
        ("session_sd", "ln tokens", Scale::NotNegative, spread.map(|(between, _)| between.max(0.0).sqrt())),
        ("session_share", "", Scale::NotNegative, spread.map(share_of)),
        ("turns_mean", "turns", Scale::Log, Some(memory.turns_mean)),
        ("turns_cv", "", Scale::Log, memory.turns_cv),
    ];
    let of_calls: Vec<Bare> = vec![
        ("lag_one", "", Scale::Correlation, memory.lag_one),
        ("rho", "", Scale::Correlation, Some(fit.lean.rho)),
        ("kind_rho", "", Scale::Correlation, Some(fit.lean.kind_rho)),
        ("trend", "ln tokens", Scale::Plain, ratio(whole.trend)),
        ("overhead", "s", Scale::Log, Some(timing.overhead)),
        ("overhead_cv", "", Scale::Log, Some(timing.overhead_cv)),
        ("speed", "tokens/s", Scale::Log, Some(timing.speed)),
        ("tool", "s", Scale::Log, Some(timing.tool).filter(|_| timing.gaps > 0)),
        ("tool_cv", "", Scale::Log, Some(timing.tool_cv).filter(|_| timing.gaps > 0)),
    ];
    let rungs: Vec<Rung<'_>> = fit.rungs.iter().filter(|rung| rung.is_measured()).map(Rung::of).collect();
    let surface = Surface::of(units, &rungs, fit.tau);
    let group = |effort: &str| fit.groups.iter().find(|group| group.effort.as_deref() == Some(effort));
    let fitted: Vec<Mixture> = rungs
        .iter()
        .map(|rung| group(rung.effort).and_then(|own| own.families).map_or(rung.sizes, |own| own.mixture))
        .collect();
    let turns: Vec<f64> = sessions.0.iter().map(|session| float(count(session.len()))).collect();
    let by_session = |times: &[f64]| {
        if units.blocks {
            // what differs from session to session is drawn with whole sessions or not at all
            return vec![None; 4];
        }
        let parts = components(&units.all, times);
        let counts = turns.iter().zip(times).fold([0.0; 3], |[n, sum, squares], (turns, times)| {
            [n + times, sum + times * turns, squares + times * turns * turns]
        });
        let [turns_mean, turns_cv] = moments(counts);
        vec![parts.map(|(between, _)| between.max(0.0).sqrt()), parts.map(share_of), turns_mean, turns_cv]
    };
    let by_call = |times: &[f64]| {
        let sums: Sums = units.sums(times);
        let [speed, overhead, overhead_cv] = line.at(times);
        let [tool, tool_cv] = moments(sums.gaps);
        let lean = surface.top_anew(times, &fitted, fit.tau);
        let (rho, kind_rho) = (lean.map(|lean| lean.rho), lean.map(|lean| lean.kind_rho));
        vec![ratio(sums.lag), rho, kind_rho, ratio(sums.trend), overhead, overhead_cv, speed, tool, tool_cv]
    };
    let mut figures = settle(&of_sessions, &units.equal, draws, by_session);
    figures.extend(settle(&of_calls, &units.strata, draws, by_call));
    figures
}

/// Shares of what went wrong.
fn shares(records: &[TurnRecord], fit: &Calibration, sessions: &Sessions<'_>, asked: &Asked) -> Vec<Figure> {
    let own = || calls::calls(records).filter(|record| calls::model_of(record) == fit.model);
    let unknown = count(own().filter(|record| record.grade == Grade::Unknown).count());
    let nothing = |session: &&Vec<calls::Call<'_>>| session.iter().all(|call| call.output == Some(0));
    let empty = count(sessions.0.iter().filter(nothing).count()) + asked.silent;
    let all = [
        ("failed_requests", asked.failed, fit.calls + asked.failed),
        ("unknown_sizes", unknown, fit.calls),
        ("empty_rounds", empty, count(sessions.0.len()) + asked.silent),
    ];
    let share = |(name, hits, n): (&'static str, u64, u64)| {
        (n > 0).then(|| Figure { name, unit: "", value: float(hits) / float(n), interval: wilson(hits, n, CONFIDENCE) })
    };
    all.into_iter().filter_map(share).collect()
}

fn ratio([over, under]: [f64; 2]) -> Option<f64> {
    (under > 0.0).then(|| over / under)
}

/// The share of what lies between sessions.
fn share_of((between, within): (f64, f64)) -> f64 {
    between.max(0.0) / (between.max(0.0) + within)
}

/// Mean and coefficient of variation, with n - 1, of how many, sum and sum of squares.
fn moments([n, sum, squares]: [f64; 3]) -> [Option<f64>; 2] {
    if n < 1.0 {
        return [None; 2];
    }
    let mean = sum / n;
    let variance = (squares - n * mean * mean) / (n - 1.0);
    [Some(mean), (n > 1.0 && mean > 0.0).then(|| variance.max(0.0).sqrt() / mean)]
}

const fn parameters(mixture: &Mixture) -> [f64; 5] {
    [mixture.weight, mixture.narrow.mu, mixture.narrow.sigma, mixture.wide.mu, mixture.wide.sigma]
}

/// The coefficient of variation of a mixture's tokens.
#[must_use]
pub fn variation_of(mixture: &Mixture) -> f64 {
    let second = |kind: &super::families::Lognormal| libm::exp(2.0 * (kind.mu + kind.sigma * kind.sigma));
    let mean = mixture.mean();
    let squares = mixture.weight * second(&mixture.narrow) + (1.0 - mixture.weight) * second(&mixture.wide);
    (squares / (mean * mean) - 1.0).max(0.0).sqrt()
}

fn components_once(units: &Units) -> Option<(f64, f64)> {
    components(units.whole(), &vec![1.0; units.whole().len()])
}
