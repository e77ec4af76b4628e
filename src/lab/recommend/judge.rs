//! From a race to a recommendation: the choice, what it rests on, and what it promises on runs that had no part in it.

use std::cmp::Ordering;

use super::race::{Race, Trade, keeps_limits, race, race_told, trade};
use super::screen::{Screened, screen, usual_axes};
use super::{Record, Run, Setting, Stage, WHOLE, World, at_home, estimate, objective, scaled};
use crate::engine::{LawKind, Millis, Target, Tokens};
use crate::lab::choose::{SIMPLEST_FIRST, Weights};
use crate::lab::fixed::ufloat;
use crate::lab::grid::Axes;
use crate::lab::settings::Settings;
use crate::lab::stats::{CONFIDENCE, Estimate, Interval, paired, quantile, wilson};
use crate::lab::sweep::SweepError;

/// A setting that is this much worse than the best, in millionths of loss, is worse, whatever luck could explain.
pub const MARGIN: i64 = 3000;
/// Who the best settings of the original are called.
pub const ORIGINAL: &str = "original at best";
/// The longest window that the original honours.
const MEMORY: Millis = Millis::from_secs(300);
/// Where the runs begin that nothing was chosen by.
const FRESH: u32 = 1_000_000;

/// What is asked.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// Where settings are tried.
    pub worlds: &'a [World],
    /// Values of the axes; the usual ones where there are none.
    pub axes: Axes,
    /// The pause between rounds.
    pub rest: Millis,
    /// The settings in use.
    pub current: Option<Settings>,
    /// Runs of those that are left of the race.
    pub race_runs: u32,
    /// Fresh runs.
    pub fresh_runs: u32,
    /// What all luck comes from.
    pub seed: u64,
    /// What the parts of the loss weigh.
    pub weights: Weights,
}

/// A setting on fresh runs.
#[derive(Clone, Debug)]
pub struct Promise {
    /// Who it is: `recommended`, `runner-up`, `in use`, `original at best`, `its defaults`, `default law`.
    pub who: &'static str,
    /// The setting.
    pub setting: Setting,
    /// What is minimised, in units of loss.
    pub objective: Estimate,
    /// The same less that of the recommended, paired by run; none for itself.
    pub worse: Option<Estimate>,
    /// Share of rounds on right rungs, in the scenarios as they are.
    pub on_rung: Estimate,
    /// Reversals per 100 rounds.
    pub reversals: Estimate,
    /// Rounds before settling; a run that did not counts with all its rounds.
    pub settle_rounds: Estimate,
    /// Tokens before settling.
    pub settle_tokens: Estimate,
    /// Share of runs that did not settle, with the interval of Wilson; of one run none.
    pub unsettled: Estimate,
    /// Within how many tokens half of the runs settled, and nine of ten; nothing without a run.
    pub settle_within: Option<[Within; 2]>,
    /// Share of tokens spent on wrong rungs.
    pub off_tokens: Estimate,
    /// Seconds that a token takes.
    pub seconds_per_token: f64,
    /// The loss in each world.
    pub by_world: Vec<Estimate>,
    /// The world in which it holds a right rung in the fewest rounds, by its place, and their share there.
    pub worst_world: Option<(usize, Estimate)>,
}

/// Tokens within which a share of the runs settled: an order statistic over runs, of which those that never settled stand last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Within {
    /// The tokens; nothing where fewer runs settled.
    pub tokens: Option<i64>,
    /// The ends of its interval, each nothing where it lies among runs that never settled; no interval where runs are too few.
    pub interval: Option<[Option<i64>; 2]>,
}

impl Within {
    /// Of the tokens before each run settled, nothing for one that did not.
    #[must_use]
    pub fn of(runs: &[Option<i64>], share: f64) -> Option<Self> {
        let spent: Vec<i64> = runs.iter().map(|tokens| tokens.unwrap_or(i64::MAX)).collect();
        let settled = |tokens: i64| (tokens < i64::MAX).then_some(tokens);
        let (value, interval) = quantile(&spent, share, CONFIDENCE)?;
        Some(Self { tokens: settled(value), interval: interval.map(|(lo, hi)| [settled(lo), settled(hi)]) })
    }
}

/// How the choice stands where one weight is another.
#[derive(Clone, Debug)]
pub struct Reweighed {
    /// Which weight, and how.
    pub change: String,
    /// The best setting then.
    pub best: Setting,
    /// By how much the recommended one is worse than it, in units of loss, paired.
    pub worse: Option<Estimate>,
}

/// What wrong efforts cost with the settings in use beyond what they cost with those recommended.
#[derive(Clone, Copy, Debug)]
pub struct Regret {
    /// The budget; nothing where there is none.
    pub budget: Option<u64>,
    /// Tokens of the budget, or of a million where there is none.
    pub tokens: Estimate,
    /// Seconds of work that those tokens take; the interval is that of the tokens.
    pub seconds: Estimate,
}

/// The recommendation and all that it rests on.
#[derive(Clone, Debug)]
pub struct Recommendation {
    /// What was run.
    pub screened: Screened,
    /// The race.
    pub race: Race,
    /// The setting with the least objective in the race.
    pub best: Setting,
    /// How many of those left cannot be told from it.
    pub as_good: usize,
    /// Whether some setting kept the limits on settling and on being pinned.
    pub limits_kept: bool,
    /// Fresh runs: the recommended setting first.
    pub promises: Vec<Promise>,
    /// The trade-offs: settings that no other beats in all of excess, reversals and tokens to settle.
    pub front: Vec<(Setting, Trade)>,
    /// The choice under other weights.
    pub reweighed: Vec<Reweighed>,
    /// Against the settings in use.
    pub regret: Option<Regret>,
    /// The target of the settings in use, by which they are measured, where it is not that of some scenario here.
    pub own_target: Option<Target>,
}

impl Recommendation {
    /// What the original is best run with: what is recommended, where it can run that.
    #[must_use]
    pub fn original(&self) -> &Promise {
        self.promises.iter().find(|promise| promise.who == ORIGINAL).unwrap_or(&self.promises[0])
    }

    /// The recommended setting.
    #[must_use]
    pub fn chosen(&self) -> &Promise {
        &self.promises[0]
    }
}

/// Recommends, and tells each stage as it begins; nothing where there is no setting to run.
///
/// # Errors
/// [`SweepError`].
pub fn recommend(request: &Request<'_>, stage: &dyn Fn(Stage)) -> Result<Option<Recommendation>, SweepError> {
    let Request { worlds, weights, seed, .. } = request;
    stage(Stage::Screen);
    let screened = screen(worlds, &request.axes, request.rest)?;
    let race = race_told(worlds, &screened.settings, request.race_runs, *seed, weights, stage)?;
    let Some(order) = pick(worlds, &race, weights) else { return Ok(None) };
    let (chosen, best, runner_up) =
        (race.left[order.chosen], race.left[order.best], order.runner_up.map(|at| race.left[at]));
    let mut named = vec![("recommended", chosen)];
    named.extend(runner_up.map(|setting| ("runner-up", setting)));
    named.extend(request.current.map(|current| ("in use", in_use(&current))));
    let original = original(request, chosen)?;
    named.extend(original.map(|setting| (ORIGINAL, setting)));
    let plain = Settings::default().governor;
    let plain = Setting { law: LawKind::Reference, over: plain.over, slack: plain.slack, rest: request.rest };
    if !named.iter().any(|(_, setting)| *setting == plain) {
        named.push(("its defaults", plain));
    }
    if !named.iter().any(|(_, setting)| setting.law == LawKind::DEFAULT) {
        named.push(("default law", Setting { law: LawKind::DEFAULT, ..plain }));
    }
    let settings: Vec<Setting> = named.iter().map(|(_, setting)| *setting).collect();
    stage(Stage::Fresh(request.fresh_runs));
    let runs = FRESH..FRESH + request.fresh_runs;
    let mut fresh = Record::new(worlds, &settings, &runs, *seed, weights)?;
    if let (Some(current), Some(at)) = (&request.current, named.iter().position(|(who, _)| *who == "in use")) {
        // the settings in use have a target of their own, and may set what else a law has to set
        let own: Vec<World> = worlds.iter().map(|world| tuned(world, current)).collect();
        let own = Record::new(&own, &settings[at..=at], &runs, *seed, weights)?;
        fresh
            .runs
            .iter_mut()
            .zip(own.runs)
            .for_each(|(world, own)| world[at] = own.into_iter().next().unwrap_or_default());
    }
    let promises: Vec<Promise> = named
        .iter()
        .enumerate()
        .map(|(at, &(who, setting))| promise(worlds, &fresh, at, who, setting, weights))
        .collect();
    let regret = request.current.and_then(|current| {
        let at = named.iter().position(|(who, _)| *who == "in use")?;
        Some(regret(worlds, &fresh, at, current.governor.budget, promises[at].seconds_per_token))
    });
    let differs = |juice: &Target| worlds.iter().any(|world| world.home && world.scenario.governor.juice != *juice);
    Ok(Some(Recommendation {
        own_target: request.current.map(|current| current.governor.juice).filter(differs),
        front: front(worlds, &race),
        reweighed: reweighed(&race, order.chosen, weights),
        best,
        as_good: order.as_good,
        limits_kept: order.limits_kept,
        screened,
        promises,
        regret,
        race,
    }))
}

fn in_use(current: &Settings) -> Setting {
    let governor = current.governor;
    Setting { law: governor.law, over: governor.over, slack: governor.slack, rest: governor.rest }
}

/// The best settings of the original, which has one law and forgets after 300 s; nothing where it can run what was chosen.
fn original(request: &Request<'_>, chosen: Setting) -> Result<Option<Setting>, SweepError> {
    let runs = |over: Millis| over <= MEMORY;
    if chosen.law == LawKind::Reference && runs(chosen.over) {
        return Ok(None);
    }
    let (usual, _) = usual_axes();
    let mut overs: Vec<Millis> =
        request.axes.over.clone().unwrap_or(usual).into_iter().filter(|over| runs(*over)).collect();
    if overs.is_empty() {
        overs.push(MEMORY);
    }
    let axes = Axes { law: Some(vec![LawKind::Reference]), over: Some(overs), ..request.axes.clone() };
    let screened = screen(request.worlds, &axes, request.rest)?;
    let most = request.race_runs.div_ceil(4);
    let raced = race(request.worlds, &screened.settings, most, request.seed, &request.weights)?;
    Ok(raced.left.first().copied())
}

/// A world in which laws are set as they are in use, at the target in use.
fn tuned(world: &World, current: &Settings) -> World {
    let mut scenario = world.scenario.clone();
    scenario.governor.tuning = current.governor.tuning;
    scenario.governor.juice = current.governor.juice;
    World::new(&world.name, scenario, world.home)
}

struct Order {
    chosen: usize,
    best: usize,
    runner_up: Option<usize>,
    as_good: usize,
    limits_kept: bool,
}

/// The best of the race, and the simplest that cannot be told from it.
fn pick(worlds: &[World], race: &Race, weights: &Weights) -> Option<Order> {
    let objectives: Vec<Vec<i64>> = (0..race.left.len()).map(|at| objective(&race.record.of(at), weights).0).collect();
    let keeps: Vec<bool> = (0..race.left.len()).map(|at| keeps_limits(worlds, &race.record.of(at))).collect();
    let limits_kept = keeps.iter().any(|keeps| *keeps);
    let mut order: Vec<usize> = (0..race.left.len()).filter(|&at| !limits_kept || keeps[at]).collect();
    let sum = |at: usize| objectives[at].iter().map(|loss| i128::from(*loss)).sum::<i128>();
    order.sort_by_key(|&at| (sum(at), at));
    let best = *order.first()?;
    let others = u32::try_from(order.len().saturating_sub(1).max(1)).unwrap_or(u32::MAX);
    let confidence = 1.0 - (1.0 - CONFIDENCE) / f64::from(others);
    let as_good = |&at: &usize| {
        let difference = paired(&objectives[at], &objectives[best], confidence);
        difference.is_none_or(|difference| {
            let told = difference.interval.is_some_and(|interval| !interval.covers(0.0));
            !told && difference.mean * 1e6 <= ufloat(MARGIN.unsigned_abs())
        })
    };
    let mut equals: Vec<usize> = order.iter().copied().filter(as_good).collect();
    equals.sort_by(|a, b| simpler(worlds, &race.left[*a], &race.left[*b]));
    let chosen = equals.first().copied().unwrap_or(best);
    let next = || order.iter().copied().find(|at| *at != chosen);
    // where no other keeps the limits, the best of those that do not
    let any = || (0..race.left.len()).filter(|at| *at != chosen).min_by_key(|&at| (sum(at), at));
    let runner_up = equals.get(1).copied().or_else(next).or_else(any);
    Some(Order { chosen, best, runner_up, as_good: equals.len(), limits_kept })
}

/// Simplest law, then shortest window, then the largest slack inside those that are legal in all scenarios as they are.
pub(super) fn simpler(worlds: &[World], a: &Setting, b: &Setting) -> Ordering {
    let home = worlds.iter().filter(|world| world.home);
    let legal: Vec<Interval> = home.filter_map(|world| world.scenario.derived().legal_slack).collect();
    let rank = |setting: &Setting| {
        let known = SIMPLEST_FIRST.iter().position(|law| *law == setting.law.name());
        let slack = f64::from(setting.slack.ppm()) / 1e6;
        let outside = legal.iter().map(|legal| (legal.lo - slack).max(slack - legal.hi)).fold(0.0, f64::max);
        (known.unwrap_or(SIMPLEST_FIRST.len()), setting.over, outside, -slack)
    };
    let (a, b) = (rank(a), rank(b));
    (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2)).then(a.3.total_cmp(&b.3))
}

fn promise(
    worlds: &[World],
    fresh: &Record,
    at: usize,
    who: &'static str,
    setting: Setting,
    weights: &Weights,
) -> Promise {
    let runs = fresh.of(at);
    let of = |value: fn(&Run) -> i64, unit: f64| estimate(at_home(worlds, &runs, value), unit).held(0.0, f64::INFINITY);
    let (own, _) = objective(&runs, weights);
    let (first, _) = objective(&fresh.of(0), weights);
    let home = || worlds.iter().zip(&runs).filter(|(world, _)| world.home).flat_map(|(_, runs)| runs.iter());
    let (lost, count) = home().fold((0_u64, 0_u64), |(lost, n), run| (lost + u64::from(!run.settled), n + 1));
    let sum = |value: fn(&Run) -> i64| home().map(|run| i128::from(value(run))).sum::<i128>();
    let tokens = crate::lab::fixed::float(sum(|run| run.tokens)).max(1.0);
    Promise {
        who,
        setting,
        worse: (at > 0).then(|| scaled(paired(&own, &first, CONFIDENCE), 1.0)),
        objective: estimate(own, 1.0),
        on_rung: of(|run| run.on_rung, 1.0).held(0.0, 1.0),
        reversals: of(|run| run.reversals, 1.0),
        settle_rounds: of(|run| run.settle_rounds, 1.0),
        settle_tokens: of(|run| run.settle_tokens, WHOLE),
        unsettled: Estimate {
            mean: ufloat(lost) / ufloat(count.max(1)),
            interval: wilson(lost, count, CONFIDENCE).filter(|_| count > 1),
            n: count,
        },
        settle_within: {
            let spent: Vec<Option<i64>> = home().map(|run| run.settled.then_some(run.settle_tokens)).collect();
            let [half, most] = [0.5, 0.9].map(|share| Within::of(&spent, share));
            half.zip(most).map(|(half, most)| [half, most])
        },
        off_tokens: of(|run| run.off_tokens, 1.0).held(0.0, 1.0),
        seconds_per_token: crate::lab::fixed::float(sum(|run| run.millis)) / 1000.0 / tokens,
        worst_world: runs
            .iter()
            .map(|runs| estimate(runs.iter().map(|run| run.on_rung), 1.0).held(0.0, 1.0))
            .enumerate()
            .min_by(|a, b| a.1.mean.total_cmp(&b.1.mean)),
        by_world: runs.iter().map(|runs| estimate(runs.iter().map(|run| run.parts.weighed(weights)), 1.0)).collect(),
    }
}

fn regret(worlds: &[World], fresh: &Record, at: usize, budget: Option<Tokens>, seconds_per_token: f64) -> Regret {
    let budget = budget.map(Tokens::count);
    let (used, new) = (fresh.of(at), fresh.of(0));
    let (used, new) = (at_home(worlds, &used, |run| run.off_tokens), at_home(worlds, &new, |run| run.off_tokens));
    let tokens = scaled(paired(&used, &new, CONFIDENCE), ufloat(budget.unwrap_or(1_000_000)));
    Regret { budget, seconds: scaled(Some(tokens), seconds_per_token), tokens }
}

/// Settings that no other beats in all three.
fn front(worlds: &[World], race: &Race) -> Vec<(Setting, Trade)> {
    let left = race.left.iter().enumerate().map(|(at, setting)| (*setting, trade(worlds, &race.record.of(at))));
    let all: Vec<(Setting, Trade)> = left.chain(race.dropped.iter().copied()).collect();
    let beats = |a: &Trade, b: &Trade| {
        let pairs = [(a.excess, b.excess), (a.reversals, b.reversals), (a.settle_tokens, b.settle_tokens)];
        pairs.iter().all(|(a, b)| a.mean <= b.mean) && pairs.iter().any(|(a, b)| a.mean < b.mean)
    };
    let mut kept: Vec<_> =
        all.iter().filter(|(_, own)| !all.iter().any(|(_, other)| beats(other, own))).copied().collect();
    kept.sort_by(|a, b| a.1.excess.mean.total_cmp(&b.1.excess.mean));
    kept
}

fn reweighed(race: &Race, chosen: usize, weights: &Weights) -> Vec<Reweighed> {
    type Pick = fn(&mut Weights) -> &mut i64;
    let parts: [(&str, Pick); 4] = [
        ("how far answers stray", |weights| &mut weights.excess),
        ("bias", |weights| &mut weights.bias),
        ("reversals", |weights| &mut weights.reversals),
        ("tokens before settling", |weights| &mut weights.settle),
    ];
    let mut all = Vec::new();
    for (name, part) in parts {
        for (how, double) in [("twice the", true), ("half the", false)] {
            let mut other = *weights;
            let weight = part(&mut other);
            *weight = if double { *weight * 2 } else { *weight / 2 };
            let objectives: Vec<Vec<i64>> =
                (0..race.left.len()).map(|at| objective(&race.record.of(at), &other).0).collect();
            let sum = |at: &usize| (objectives[*at].iter().map(|loss| i128::from(*loss)).sum::<i128>(), *at);
            let Some(best) = (0..race.left.len()).min_by_key(sum) else { continue };
            all.push(Reweighed {
                change: format!("{how} weight on {name}"),
                best: race.left[best],
                worse: (best != chosen)
                    .then(|| scaled(paired(&objectives[chosen], &objectives[best], CONFIDENCE), 1.0)),
            });
        }
    }
    all
}
