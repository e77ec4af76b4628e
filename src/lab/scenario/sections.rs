//! The tables of a scenario that are not the agent's: governor, plan, sweep, evaluation, the ladder's words and where
//! the numbers come from. Each is read alone; what joins two of them is checked where they are joined.

use std::collections::BTreeMap;

use crate::engine::laws::{Knob, LawKind, Tuning, TuningError};
use crate::engine::{Effort, Ladder, LadderError, Rung, Tokens};
use crate::lab::axis::{self, Axis, JUICE, MAX_VALUES, OVER, REST, SLACK};
use crate::lab::grid::Axes;

use super::fields::{Bounds, Fields, Item};
use super::model::{Evaluate, Evidence, GovernorSettings, Plan};

const GOVERNOR: [&str; 9] =
    ["law", "juice", "over", "slack", "rest", "budget", "cooldown", "slack_below", "slack_above"];
pub(super) const PLAN: [&str; 4] = ["start", "rounds", "runs", "seed"];
pub(super) const SWEEP: [&str; 5] = ["law", "juice", "over", "slack", "rest"];
pub(super) const EVALUATE: [&str; 2] = ["band", "hold"];
const PRIOR: [&str; 1] = ["source"];
const MEASURED: [&str; 4] = ["sessions", "calls", "ks_mixture", "ks_lognormal"];

/// The most rounds of a run.
const MAX_ROUNDS: u32 = 100_000;
/// The most runs of a cell.
const MAX_RUNS: u32 = 10_000_000;
/// The furthest that a prior may move ln(size).
const MAX_SHIFT: f64 = 10.0;

pub(super) fn governor(fields: &Fields<'_>) -> Option<GovernorSettings> {
    let law = fields.or("law", LawKind::DEFAULT, |item| law(&item));
    let juice = fields.need("juice").and_then(|item| item.parsed(|text| JUICE.value(text)));
    let over = fields.need("over").and_then(|item| item.parsed(|text| OVER.value(text)));
    let slack = fields.need("slack").and_then(|item| item.parsed(|text| SLACK.value(text)));
    let rest = fields.need("rest").and_then(|item| item.parsed(|text| REST.value(text)));
    let budget = fields.or("budget", None, |item| item.parsed(budget));
    let tuning = tuning(fields, Tuning::USUAL);
    Some(GovernorSettings {
        law: law?,
        juice: juice?,
        over: over?,
        slack: slack?,
        rest: rest?,
        budget: budget?,
        tuning: tuning?,
    })
}

/// Every key that `[governor]` may have: its own, and a table for each law that has something to set.
pub(super) fn governor_keys() -> Vec<&'static str> {
    let laws = LawKind::ALL.into_iter().filter(|law| !law.knobs().is_empty());
    GOVERNOR.into_iter().chain(laws.map(LawKind::name)).collect()
}

/// What can be set beside, over `usual`.
fn tuning(fields: &Fields<'_>, usual: Tuning) -> Option<Tuning> {
    let mut tuning = usual;
    let side = |key, usual| fields.or(key, usual, |item| item.parsed(|text| SLACK.value(text)).map(Some));
    let cooldown = fields.or("cooldown", usual.cooldown, |item| item.count32(0, MAX_ROUNDS));
    let (below, above) = (side("slack_below", usual.slack_below), side("slack_above", usual.slack_above));
    let mut sound = true;
    for law in LawKind::ALL {
        let known: Vec<&str> = law.knobs().iter().map(|knob| knob.name).collect();
        let Some(item) = fields.get(law.name()).filter(|_| !known.is_empty()) else { continue };
        let Some(table) = item.table(&known) else {
            sound = false;
            continue;
        };
        for knob in law.knobs() {
            let Some(item) = table.get(knob.name) else { continue };
            let read = |text: &str| with(tuning, law, knob, text);
            let set = match item.truth().filter(|_| knob.is_switch()) {
                Some(on) => read(if on { "1" } else { "0" }).ok(),
                None => item.parsed(read),
            };
            match set {
                Some(set) => tuning = set,
                None => sound = false,
            }
        }
    }
    sound.then_some(())?;
    (tuning.cooldown, tuning.slack_below, tuning.slack_above) = (cooldown?, below?, above?);
    Some(tuning)
}

/// The same with one knob set from its decimal.
fn with(mut tuning: Tuning, law: LawKind, knob: &Knob, text: &str) -> Result<Tuning, String> {
    // a word for a switch is told what to write, and not that it is no number
    let value = match axis::millionths(text) {
        Ok(value) => value,
        Err(_) if knob.is_switch() => return Err(TuningError::Between(*knob).to_string()),
        Err(fault) => return Err(fault.to_string()),
    };
    tuning.set(law, knob.name, u32::try_from(value).unwrap_or(u32::MAX)).map_err(|error| error.to_string())?;
    Ok(tuning)
}

/// The same where every key may be left out.
pub(super) fn settings(fields: &Fields<'_>, usual: GovernorSettings) -> Option<GovernorSettings> {
    let law = fields.or("law", usual.law, |item| law(&item));
    let juice = fields.or("juice", usual.juice, |item| item.parsed(|text| JUICE.value(text)));
    let over = fields.or("over", usual.over, |item| item.parsed(|text| OVER.value(text)));
    let slack = fields.or("slack", usual.slack, |item| item.parsed(|text| SLACK.value(text)));
    let rest = fields.or("rest", usual.rest, |item| item.parsed(|text| REST.value(text)));
    let budget = fields.or("budget", usual.budget, |item| item.parsed(budget));
    let tuning = tuning(fields, usual.tuning);
    Some(GovernorSettings {
        law: law?,
        juice: juice?,
        over: over?,
        slack: slack?,
        rest: rest?,
        budget: budget?,
        tuning: tuning?,
    })
}

/// Millions of tokens to the single token; none at 0.
fn budget(text: &str) -> Result<Option<Tokens>, String> {
    let tokens = axis::millionths(text).map_err(|fault| fault.to_string())?;
    Ok((tokens > 0).then_some(Tokens::new(tokens)))
}

fn law(item: &Item<'_>) -> Option<LawKind> {
    let name = item.word()?;
    axis::law(name).or_else(|why| item.wrong::<LawKind>(format!("{name:?}: {why}")).ok_or(())).ok()
}

/// The plan; its start is a word of the ladder, which is none where the ladder itself was at fault.
pub(super) fn plan(fields: &Fields<'_>, ladder: Option<&Ladder>) -> Option<Plan> {
    let start = fields.need("start").and_then(|item| start(&item, ladder?));
    let rounds = fields.need("rounds").and_then(|item| item.count32(1, MAX_ROUNDS));
    let runs = fields.need("runs").and_then(|item| item.count32(1, MAX_RUNS));
    let seed = fields.need("seed").and_then(|item| item.count(0, u64::MAX));
    Some(Plan { start: start?, rounds: rounds?, runs: runs?, seed: seed? })
}

fn start(item: &Item<'_>, ladder: &Ladder) -> Option<Rung> {
    let word = item.word()?;
    if let Some(rung) = ladder.find(word) {
        return Some(rung);
    }
    let words: Vec<&str> = ladder.efforts().iter().map(Effort::word).collect();
    let near = axis::nearest(word, &words).map(|near| format!("did you mean {near:?}? ")).unwrap_or_default();
    item.wrong(format!("{word:?} is no effort of this ladder; {near}it has {}", words.join(", ")))
}

pub(super) fn sweep(fields: &Fields<'_>) -> Option<Axes> {
    let laws = fields.or("law", None, |item| {
        let found: Vec<Option<LawKind>> = filled(&item)?.iter().map(law).collect();
        found.into_iter().collect::<Option<Vec<_>>>().map(Some)
    });
    let (juice, over) = (values(fields, "juice", &JUICE), values(fields, "over", &OVER));
    let (slack, rest) = (values(fields, "slack", &SLACK), values(fields, "rest", &REST));
    Some(Axes { law: laws?, juice: juice?, over: over?, slack: slack?, rest: rest? })
}

fn values<T>(fields: &Fields<'_>, key: &str, axis: &Axis<T>) -> Option<Option<Vec<T>>> {
    fields.or(key, None, |item| {
        let mut values = Vec::new();
        let mut sound = true;
        for item in filled(&item)? {
            match item.parsed(|text| axis.item(text)) {
                Some(more) if values.len() + more.len() <= MAX_VALUES => values.extend(more),
                Some(_) => return item.wrong(format!("with it the list has more than {MAX_VALUES} values")),
                None => sound = false,
            }
        }
        sound.then_some(Some(values))
    })
}

fn filled<'r>(item: &Item<'r>) -> Option<Vec<Item<'r>>> {
    let list = item.list()?;
    if list.is_empty() {
        return item.wrong("the list is empty: give it a value, or leave the key out");
    }
    Some(list)
}

pub(super) fn evaluate(fields: &Fields<'_>) -> Option<Evaluate> {
    let usual = Evaluate::default();
    let band = fields.or("band", usual.band, |item| item.parsed(|text| SLACK.value(text)));
    let hold = fields.or("hold", usual.hold, |item| item.count32(1, MAX_ROUNDS));
    Some(Evaluate { band: band?, hold: hold? })
}

pub(super) fn priors(item: &Item<'_>) -> Option<BTreeMap<String, String>> {
    let mut sound = true;
    let mut priors = BTreeMap::new();
    for (name, item) in item.names()? {
        let source = item.table(&PRIOR).and_then(|fields| fields.need("source")).and_then(|source| source.word());
        match source {
            Some(source) => drop(priors.insert(name.to_owned(), source.to_owned())),
            None => sound = false,
        }
    }
    sound.then_some(priors)
}

/// The ladder of the rungs' words; the fault stands at the rung that has it.
pub(super) fn ladder(rungs: &[Fields<'_>]) -> Option<Ladder> {
    let items: Vec<Option<Item<'_>>> = rungs.iter().map(|rung| rung.need("effort")).collect();
    let words: Vec<Option<&str>> = items.iter().map(|item| item.as_ref().and_then(Item::word)).collect();
    let words: Vec<&str> = words.into_iter().collect::<Option<_>>()?;
    let twice = |word: &str| words.iter().rposition(|other| *other == word);
    Ladder::new(words.iter().copied())
        .map_err(|error| {
            let at = match &error {
                LadderError::Repeated { word } => twice(word),
                LadderError::EmptyWord { index } | LadderError::Unprintable { index } => Some(*index),
                LadderError::TooLong { .. } => Some(Ladder::MAX),
                LadderError::NoRung => None,
            };
            match at.and_then(|at| items.get(at)?.as_ref()) {
                Some(item) => item.wrong::<()>(error.to_string()),
                None => None,
            }
        })
        .ok()
}

/// Where a rung's numbers come from.
pub(super) fn evidence(fields: &Fields<'_>, priors: Option<&BTreeMap<String, String>>) -> Option<Evidence> {
    let (measured, assumed, shift) = (fields.get("measured"), fields.get("assumed"), fields.get("shift"));
    match (measured, assumed, shift) {
        (None, None, None) => Some(Evidence::Stated),
        (Some(_), Some(item), _) => item.wrong("a rung is either measured or assumed: drop one of the two"),
        (_, None, Some(item)) => item.wrong("it goes with `assumed` alone: name the prior, or drop it"),
        (Some(item), None, None) => measured_by(&item.table(&MEASURED)?),
        (None, Some(item), None) => item.wrong("`shift` is missing beside it: shift = [-0.15, 0.15], say"),
        (None, Some(item), Some(bounds)) => {
            let prior = prior_of(&item, priors);
            let shift = shift_of(&bounds);
            Some(Evidence::Assumed { prior: prior?, shift: shift? })
        }
    }
}

fn measured_by(fields: &Fields<'_>) -> Option<Evidence> {
    let sessions = fields.need("sessions").and_then(|item| item.count(1, u64::MAX));
    let calls = fields.need("calls").and_then(|item| item.count(1, u64::MAX));
    let distance = |key| fields.or(key, None, |item| item.real(Bounds::within(0.0, 1.0)).map(Some));
    let (ks_mixture, ks_lognormal) = (distance("ks_mixture"), distance("ks_lognormal"));
    Some(Evidence::Measured {
        sessions: sessions?,
        calls: calls?,
        ks_mixture: ks_mixture?,
        ks_lognormal: ks_lognormal?,
    })
}

fn prior_of(item: &Item<'_>, priors: Option<&BTreeMap<String, String>>) -> Option<String> {
    let name = item.word()?;
    let known = priors?;
    if known.contains_key(name) {
        return Some(name.to_owned());
    }
    let names: Vec<&str> = known.keys().map(String::as_str).collect();
    let near = axis::nearest(name, &names).map(|near| format!("; did you mean {near:?}?")).unwrap_or_default();
    item.wrong(format!("there is no table [prior.{name}]{near}"))
}

fn shift_of(item: &Item<'_>) -> Option<(f64, f64)> {
    let ends = item.list()?;
    let [low, high] = ends.as_slice() else { return item.wrong("it must be two numbers, such as [-0.15, 0.15]") };
    let bounds = Bounds::within(-MAX_SHIFT, MAX_SHIFT);
    let (low, high) = (low.real(bounds), high.real(bounds));
    let (low, high) = (low?, high?);
    if low > high { item.wrong("its first number must not be above its second") } else { Some((low, high)) }
}
