//! The tables of a scenario that describe the simulated agent, read into its [`AgentSpec`].
//!
//! Bounds are those of the model or tighter, so that a fault is told with its line; the model checks all of it again.

use std::ops::RangeInclusive;

use crate::lab::axis::SLACK;
use crate::sim::{
    Accounting, Component, Correction, Drift, Faults, Moves, Outliers, SessionModel, Size, SizeError, Span, Step,
    TurnCount, TurnModel, TurnTime,
};

use super::fields::{Bounds, Fields, Item};

pub(super) const TURN: [&str; 3] = ["rho", "kind_rho", "outliers"];
pub(super) const SESSION: [&str; 3] = ["tau", "rho", "trend"];
pub(super) const TURNS: [&str; 4] = ["mean", "cv", "min", "max"];
pub(super) const TIME: [&str; 3] = ["overhead", "tool", "tokens_per_second"];
pub(super) const DRIFT: [&str; 3] = ["steps", "ramp_per_100", "walk"];
pub(super) const FAULTS: [&str; 3] = ["empty", "truncated", "outages"];
pub(super) const ACCOUNTING: [&str; 3] = ["mode", "phi", "correction"];

/// Every key that a size may have, whatever its distribution.
const SIZE: [&str; 7] = ["dist", "mean", "cv", "effort_moves", "narrow", "wide", "quantiles"];
const COMPONENT: [&str; 3] = ["weight", "mu", "sigma"];

const MEAN: Bounds = Bounds::positive(1e9);
const CV: Bounds = Bounds::within(0.0, 100.0);
const SHARE: Bounds = Bounds::within(0.0, 1.0);
const CORRELATION: Bounds = Bounds::within(-0.999_999, 0.999_999);
/// Factors on sizes, turns and times.
pub(super) const FACTOR: Bounds = Bounds::within(1e-6, 1e6);

/// The most points of an empirical distribution.
const MAX_QUANTILES: usize = 10_001;
/// The most turns of a round.
const MAX_TURNS: u32 = 100_000;
/// The largest round that a step or an outage may name.
const MAX_ROUND: u32 = 1_000_000;
/// The most steps or outages.
const MAX_EVENTS: usize = 10_000;

#[derive(Clone, Copy)]
enum Dist {
    Lognormal,
    Gamma,
    Mixture,
    Empirical,
}

pub(super) fn size(item: &Item<'_>) -> Option<Size> {
    let fields = item.table(&SIZE)?;
    let kinds = [
        ("lognormal", Dist::Lognormal),
        ("gamma", Dist::Gamma),
        ("mixture", Dist::Mixture),
        ("empirical", Dist::Empirical),
    ];
    let dist = fields.need("dist")?.choice(&kinds)?;
    let own: &[&str] = match dist {
        Dist::Lognormal | Dist::Gamma => &["mean", "cv"],
        Dist::Mixture => &["effort_moves", "narrow", "wide"],
        Dist::Empirical => &["quantiles"],
    };
    for key in SIZE.iter().skip(1).filter(|key| !own.contains(key)) {
        if let Some(stray) = fields.get(key) {
            stray.wrong::<()>(format!("it does not belong to this `dist`, which takes {}", own.join(", ")));
        }
    }
    match dist {
        Dist::Lognormal => {
            let (mean, cv) = (fields.real("mean", MEAN), fields.real("cv", CV));
            sound(item, Size::lognormal(mean?, cv?))
        }
        Dist::Gamma => {
            let (mean, cv) = (fields.real("mean", MEAN), fields.real("cv", Bounds::within(0.001, 100.0)));
            sound(item, Size::gamma(mean?, cv?))
        }
        Dist::Mixture => mixture(item, &fields),
        Dist::Empirical => empirical(&fields.need("quantiles")?),
    }
}

fn sound(item: &Item<'_>, size: Result<Size, SizeError>) -> Option<Size> {
    size.or_else(|error| item.wrong::<Size>(error.to_string()).ok_or(())).ok()
}

fn mixture(item: &Item<'_>, fields: &Fields<'_>) -> Option<Size> {
    let moves = [("wide", Moves::Wide), ("narrow", Moves::Narrow), ("all", Moves::All)];
    let moves = fields.need("effort_moves").and_then(|item| item.choice(&moves));
    let part = |key| fields.need(key).and_then(|item| component(&item));
    let (narrow, wide) = (part("narrow"), part("wide"));
    sound(item, Size::mixture(narrow?, wide?, moves?))
}

fn component(item: &Item<'_>) -> Option<Component> {
    let fields = item.table(&COMPONENT)?;
    let weight = fields.real("weight", Bounds::positive(1.0));
    let mu = fields.real("mu", Bounds::within(-50.0, 50.0));
    let sigma = fields.real("sigma", Bounds::within(0.0, 10.0));
    Some(Component { weight: weight?, mu: mu?, sigma: sigma? })
}

fn empirical(item: &Item<'_>) -> Option<Size> {
    let items = item.list()?;
    if items.len() < 2 || items.len() > MAX_QUANTILES {
        return item.wrong(format!("it must have from 2 to {MAX_QUANTILES} values, and has {}", items.len()));
    }
    let mut quantiles: Vec<f64> = Vec::with_capacity(items.len());
    for item in &items {
        let value = item.real(Bounds::within(0.0, 1e9))?;
        if quantiles.last().is_some_and(|last| value < *last) {
            return item.wrong("it is less than the one before it: quantiles never fall");
        }
        quantiles.push(value);
    }
    sound(item, Size::empirical(quantiles))
}

pub(super) fn turn(fields: &Fields<'_>) -> Option<TurnModel> {
    let (rho, kind_rho) = (fields.real_or("rho", 0.0, CORRELATION), fields.real_or("kind_rho", 0.0, CORRELATION));
    let outliers = fields.or("outliers", None, |item| {
        let fields = item.table(&["share", "factor"])?;
        let (share, factor) = (fields.real("share", SHARE), fields.real("factor", FACTOR));
        Some(Some(Outliers { share: share?, factor: factor? }))
    });
    Some(TurnModel { rho: rho?, kind_rho: kind_rho?, outliers: outliers? })
}

pub(super) fn session(fields: &Fields<'_>) -> Option<SessionModel> {
    let tau = fields.real_or("tau", 0.0, Bounds::within(0.0, 5.0));
    let rho = fields.real_or("rho", 0.0, CORRELATION);
    let trend = fields.real_or("trend", 0.0, Bounds::within(-20.0, 20.0));
    Some(SessionModel { tau: tau?, rho: rho?, trend: trend? })
}

pub(super) fn turns(fields: &Fields<'_>) -> Option<TurnCount> {
    let mean = fields.real("mean", Bounds::within(1.0, f64::from(MAX_TURNS)));
    let cv = fields.real("cv", CV);
    let min = fields.need("min").and_then(|item| item.count32(1, MAX_TURNS));
    let max = fields.or("max", None, |item| item.count32(1, MAX_TURNS).map(Some));
    let turns = TurnCount { mean: mean?, cv: cv?, min: min?, max: max? };
    match turns.most() {
        most if most > MAX_TURNS => fields.wrong("max", format!("it is missing, and 6 x mean is over {MAX_TURNS}")),
        most if most < turns.min => fields
            .wrong("min", format!("it is {}, above the most turns of a round, {most} (`max`, or 6 x mean)", turns.min)),
        _ => Some(turns),
    }
}

pub(super) fn time(fields: &Fields<'_>) -> Option<TurnTime> {
    let span = |key| {
        let fields = fields.need(key)?.table(&["mean", "cv"])?;
        let (mean, cv) = (fields.real("mean", Bounds::within(0.0, 1e6)), fields.real("cv", CV));
        Some(Span { mean: mean?, cv: cv? })
    };
    let (overhead, tool) = (span("overhead"), span("tool"));
    let speed = fields.real("tokens_per_second", Bounds::within(1e-3, 1e9));
    Some(TurnTime { overhead: overhead?, tool: tool?, tokens_per_second: speed? })
}

pub(super) fn drift(fields: &Fields<'_>) -> Option<Drift> {
    let steps = fields.or("steps", Vec::new(), |item| steps(&item));
    let ramp = fields.real_or("ramp_per_100", 0.0, Bounds::within(-100.0, 100.0));
    let walk = fields.real_or("walk", 0.0, Bounds::within(0.0, 5.0));
    Some(Drift { steps: steps?, ramp_per_100: ramp?, walk: walk? })
}

fn events<'r>(item: &Item<'r>) -> Option<Vec<Item<'r>>> {
    let items = item.list()?;
    if items.len() > MAX_EVENTS {
        return item.wrong(format!("it has {} entries, and may have {MAX_EVENTS}", items.len()));
    }
    Some(items)
}

fn steps(item: &Item<'_>) -> Option<Vec<Step>> {
    let mut steps: Vec<Step> = Vec::new();
    for item in events(item)? {
        let fields = item.table(&["round", "level"])?;
        let round = fields.need("round").and_then(|item| item.count32(0, MAX_ROUND));
        let level = fields.real("level", FACTOR);
        let step = Step { round: round?, level: level? };
        if steps.last().is_some_and(|last| step.round <= last.round) {
            return item.wrong("its round is not after that of the step before it: list steps by round");
        }
        steps.push(step);
    }
    Some(steps)
}

pub(super) fn faults(fields: &Fields<'_>) -> Option<Faults> {
    let empty = fields.real_or("empty", 0.0, SHARE);
    let truncated = fields.real_or("truncated", 0.0, SHARE);
    let outages = fields.or("outages", Vec::new(), |item| outages(&item));
    Some(Faults { empty: empty?, truncated: truncated?, outages: outages? })
}

fn outages(item: &Item<'_>) -> Option<Vec<RangeInclusive<u32>>> {
    let mut outages: Vec<RangeInclusive<u32>> = Vec::new();
    for item in events(item)? {
        let ends = item.list()?;
        let [first, last] = ends.as_slice() else {
            return item.wrong("it must be two rounds, the first and the last without turns, such as [10, 12]");
        };
        let (first, last) = (first.count32(0, MAX_ROUND), last.count32(0, MAX_ROUND));
        let (first, last) = (first?, last?);
        if first > last {
            return item.wrong("its first round is after its last");
        }
        if outages.last().is_some_and(|before| first <= *before.end()) {
            return item.wrong("it begins before the outage listed before it ends: list outages by round");
        }
        outages.push(first..=last);
    }
    Some(outages)
}

#[derive(Clone, Copy)]
enum Mode {
    Final,
    Partial,
    RoundTotalOnly,
}

pub(super) fn accounting(fields: &Fields<'_>) -> Option<Accounting> {
    let modes = [("final", Mode::Final), ("partial", Mode::Partial), ("round-total-only", Mode::RoundTotalOnly)];
    let mode = fields.need("mode")?.choice(&modes)?;
    if let Mode::Partial = mode {
        let phi = fields.need("phi").and_then(|item| item.parsed(|text| SLACK.value(text)));
        let ways = [("at-round-end", Correction::AtRoundEnd), ("spread", Correction::Spread)];
        let correction = fields.need("correction").and_then(|item| item.choice(&ways));
        return Some(Accounting::Partial { phi: phi?, correction: correction? });
    }
    let strays: Vec<Item<'_>> = ["phi", "correction"].iter().filter_map(|key| fields.get(key)).collect();
    for stray in &strays {
        stray.wrong::<()>("it goes with mode = \"partial\" alone: drop it");
    }
    let accounting = if let Mode::Final = mode { Accounting::Final } else { Accounting::RoundTotalOnly };
    strays.is_empty().then_some(accounting)
}
