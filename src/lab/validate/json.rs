//! A comparison as one JSON object: numbers to six decimals, `null` where there is none.

use serde_json::{Map, Value, json};

use super::compare::{Compared, Group, Range};
use super::{Report, SESSIONS_FLOOR};
use crate::lab::fixed::{from_micros, micros};
use crate::lab::result::VERSION;

/// The object.
#[must_use]
pub fn object(report: &Report) -> Value {
    let [real, simulated] = report.window_cv;
    json!({
        "version": VERSION,
        "scenario": report.scenario,
        "model": report.model,
        "over_ms": report.settings.over.count(),
        "samples": report.settings.samples,
        "seed": report.settings.seed,
        "folds": report.folds,
        "verdict": report.verdict.word(),
        "window_cv": { "real": range(real), "simulated": range(simulated) },
        "sessions_needed": SESSIONS_FLOOR,
        "turns_needed": report.settings.turns,
        "groups": report.groups.iter().map(group).collect::<Vec<_>>(),
        "unfitted": report.unfitted,
        "notes": report.notes,
    })
}

fn group(group: &Group) -> Value {
    let figures: Map<String, Value> =
        group.figures.iter().map(|figure| (figure.statistic.name().to_owned(), compared(figure))).collect();
    let assumptions: Map<String, Value> =
        group.standings.iter().map(|(name, standing)| (name.word().to_owned(), standing.word().into())).collect();
    json!({
        "effort": group.effort,
        "assumed": group.assumed,
        "sessions": group.sessions,
        "sessions_left_out": group.left_out,
        "turns": group.turns,
        "verdict": group.verdict.word(),
        "assumptions": assumptions,
        "culprit": group.culprit().map(super::measure::Assumption::word),
        "figures": figures,
    })
}

fn compared(figure: &Compared) -> Value {
    json!({
        "real": range(figure.real),
        "simulated": range(figure.simulated),
        "apart": figure.apart(),
        "badly": figure.badly(),
    })
}

fn range(range: Range) -> Value {
    json!({ "mean": number(range.mean), "lo": number(range.lo), "hi": number(range.hi) })
}

fn number(value: Option<f64>) -> Value {
    value.map_or(Value::Null, |value| from_micros(micros(value)).into())
}
