//! A survey or a calibration for programs: one JSON object with every number and interval, or a CSV row for each model and effort.
//!
//! Numbers have six decimals at most. What is not known is `null`, and empty in a CSV. Names stay; later versions add.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

use super::calls::{Group, SessionRow};
use super::families::{Families, Mixture};
use super::figures::{EffortFigures, Figure, Figures};
use super::ladder::{Origin, PRIOR, RungFit};
use super::{Calibration, RESIDUES};
use crate::lab::stats::CONFIDENCE;

/// What the readers saw: a part of both reports.
#[derive(Clone, Copy, Debug)]
pub struct Survey<'a> {
    /// The groups.
    pub groups: &'a [Group],
    /// Their numbers, in the same order.
    pub figures: &'a [EffortFigures],
    /// The sessions.
    pub sessions: &'a [SessionRow],
}

/// Writes a survey as JSON, and the calibration of one of its models where there is one.
///
/// # Errors
/// Those of `out`.
pub fn json(survey: &Survey<'_>, fit: Option<(&Calibration, &Figures)>, out: &mut dyn Write) -> io::Result<()> {
    let groups: Vec<Value> =
        survey.groups.iter().zip(survey.figures).map(|(group, own)| group_of(group, own)).collect();
    let sessions: Vec<Value> = survey.sessions.iter().map(session).collect();
    let whole = json!({
        "version": crate::lab::result::VERSION,
        "confidence": CONFIDENCE,
        "groups": groups,
        "sessions": sessions,
        "calibration": fit.map(|(fit, figures)| calibration(fit, figures)),
    });
    serde_json::to_writer_pretty(&mut *out, &whole)?;
    out.write_all(b"\n")
}

fn calibration(fit: &Calibration, figures: &Figures) -> Value {
    json!({
        "model": fit.model,
        "name": fit.name,
        "source": fit.source,
        "calls": fit.calls,
        "sessions": fit.sessions,
        "start": fit.start,
        "targets": fit.targets,
        "resamples": figures.resamples,
        "seed": figures.seed,
        "units": figures.units,
        "units_are": units_are(figures.blocks),
        "figures": numbers(&figures.model),
        "rungs": fit.rungs.iter().map(rung).collect::<Vec<_>>(),
        "scenario": {"rho": six(fit.lean.rho), "kind_rho": six(fit.lean.kind_rho), "tau": six(fit.tau), "turns_cv": six(fit.turns_cv), "turns_min": fit.memory.turns_min.max(1)},
        "gaps": fit.timing.gaps,
        "long_gaps": fit.timing.long_gaps,
        "timed_calls": fit.timing.calls,
    })
}

fn rung(rung: &RungFit) -> Value {
    let mut value = json!({"effort": rung.effort, "mean": six(rung.sizes.mean()), "sizes": mixture(&rung.sizes), "measured": rung.is_measured()});
    if let Origin::Assumed { from, seen, shift } = &rung.origin {
        value["assumed"] = json!({"prior": PRIOR, "from": from, "calls_seen": seen, "shift": six(*shift)});
    }
    value
}

fn group_of(group: &Group, own: &EffortFigures) -> Value {
    let percentiles: Map<String, Value> = Group::SHARES
        .iter()
        .zip(group.percentiles)
        .map(|(share, value)| (format!("p{:.0}", share * 100.0), six(value)))
        .collect();
    json!({
        "model": group.model,
        "effort": group.effort,
        "sessions": group.sessions,
        "calls": group.calls,
        "known": group.known,
        "zeros": group.zeros,
        "sample_mean": six(group.mean),
        "sample_cv": six(group.cv),
        "percentiles": percentiles,
        "empirical": group.empirical.iter().map(|&value| six(value)).collect::<Vec<_>>(),
        "families": group.families.as_ref().map(families),
        "units": own.units,
        "units_are": units_are(own.blocks),
        "figures": numbers(&own.figures),
    })
}

fn families(families: &Families) -> Value {
    json!({
        "lognormal": {"mu": six(families.lognormal.mu), "sigma": six(families.lognormal.sigma), "ks": six(families.ks_lognormal), "anderson_darling": six(families.ad_lognormal)},
        "mixture": {"sizes": mixture(&families.mixture), "ks": six(families.ks_mixture), "anderson_darling": six(families.ad_mixture)},
        "gamma": {"shape": six(families.gamma.shape), "scale": six(families.gamma.scale), "ks": six(families.ks_gamma), "anderson_darling": six(families.ad_gamma)},
    })
}

fn mixture(mixture: &Mixture) -> Value {
    let kind = |kind: &super::families::Lognormal, weight: f64| json!({"weight": six(weight), "mu": six(kind.mu), "sigma": six(kind.sigma)});
    json!({"narrow": kind(&mixture.narrow, mixture.weight), "wide": kind(&mixture.wide, 1.0 - mixture.weight)})
}

fn session(row: &SessionRow) -> Value {
    json!({"session": row.session, "round": row.round, "model": row.model, "efforts": row.efforts, "calls": row.calls, "known": row.known, "output": row.output, "mean": row.mean.map(six)})
}

const fn units_are(blocks: bool) -> &'static str {
    if blocks { "blocks of calls" } else { "sessions" }
}

fn numbers(figures: &[Figure]) -> Value {
    let one = |figure: &Figure| {
        let ends = figure.interval.map(|interval| (six(interval.lo), six(interval.hi)));
        let (lo, hi) = ends.unwrap_or((Value::Null, Value::Null));
        (figure.name.to_owned(), json!({"value": six(figure.value), "lo": lo, "hi": hi, "unit": figure.unit}))
    };
    Value::Object(figures.iter().map(one).collect())
}

/// A number with six decimals; `null` where it is none.
fn six(value: f64) -> Value {
    let kept = if value.abs() < 1e9 { (value * 1e6).round() / 1e6 + 0.0 } else { value };
    serde_json::Number::from_f64(kept).map_or(Value::Null, Value::Number)
}

/// Names of figures that have a column, and what follows them in the names of their ends.
const COLUMNS: [&str; 13] = [
    "mean",
    "median",
    "p90",
    "cv",
    "lag_one",
    "lag_two",
    "trend",
    "session_share",
    "narrow_weight",
    "narrow_mu",
    "narrow_sigma",
    "wide_mu",
    "wide_sigma",
];

/// Writes a survey as CSV: a row for each model and effort.
///
/// # Errors
/// Those of `out`.
pub fn csv(survey: &Survey<'_>, out: &mut dyn Write) -> Result<(), csv::Error> {
    let mut table = csv::Writer::from_writer(out);
    let mut head: Vec<String> =
        ["model", "effort", "sessions", "calls", "known", "zeros", "units", "units_are"].map(str::to_owned).to_vec();
    head.extend(COLUMNS.iter().flat_map(|name| [(*name).to_owned(), format!("{name}_lo"), format!("{name}_hi")]));
    head.extend(Group::SHARES.iter().map(|share| format!("sample_p{:.0}", share * 100.0)));
    head.extend(["sample_mean", "sample_cv"].map(str::to_owned));
    head.extend(RESIDUES.map(str::to_owned));
    table.write_record(&head)?;
    for (group, own) in survey.groups.iter().zip(survey.figures) {
        table.write_record(row(group, own))?;
    }
    Ok(table.flush()?)
}

fn row(group: &Group, own: &EffortFigures) -> Vec<String> {
    let text = |value: f64| six(value).to_string();
    let mut row = vec![group.model.clone(), group.effort.clone().unwrap_or_default()];
    row.extend([group.sessions, group.calls, group.known, group.zeros, own.units].map(|count| count.to_string()));
    row.push(units_are(own.blocks).to_owned());
    for name in COLUMNS {
        let figure = own.figures.iter().find(|figure| figure.name == name);
        let interval = figure.and_then(|figure| figure.interval);
        let cells = [figure.map(|figure| figure.value), interval.map(|ends| ends.lo), interval.map(|ends| ends.hi)];
        row.extend(cells.map(|cell| cell.map(text).unwrap_or_default()));
    }
    let known = |value: f64| if group.known > 0 { text(value) } else { String::new() };
    row.extend(group.percentiles.map(known));
    row.extend([group.mean, group.cv].map(known));
    let distances = group.families.map(|families| {
        [
            families.ks_lognormal,
            families.ks_mixture,
            families.ks_gamma,
            families.ad_lognormal,
            families.ad_mixture,
            families.ad_gamma,
        ]
    });
    row.extend(distances.map_or_else(|| vec![String::new(); RESIDUES.len()], |all| all.map(text).to_vec()));
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::fit::figures::{Asked, figures};
    use crate::lab::fit::tests::made;
    use crate::lab::fit::{Options, calibrate, calls};

    #[test]
    fn every_number_is_in_both_and_both_can_be_read() {
        let records = made("high", 6, 40, 400);
        let fit = calibrate(&records, &Options::default()).unwrap();
        let figures = figures(&records, &fit, &Asked { resamples: 40, ..Asked::default() });
        let sessions = calls::sessions(&records);
        let survey = Survey { groups: &fit.groups, figures: &figures.efforts, sessions: &sessions };
        let (mut text, mut rows) = (Vec::new(), Vec::new());
        json(&survey, Some((&fit, &figures)), &mut text).unwrap();
        csv(&survey, &mut rows).unwrap();
        let value: Value = serde_json::from_slice(&text).unwrap();
        let group = &value["groups"][0];
        for name in COLUMNS {
            assert!(group["figures"][name]["value"].is_number() && group["figures"][name]["lo"].is_number(), "{name}");
        }
        for name in ["session_sd", "turns_mean", "overhead", "speed", "tool", "empty_rounds", "failed_requests"] {
            assert!(value["calibration"]["figures"][name]["value"].is_number(), "{name}");
        }
        assert_eq!(
            (value["sessions"].as_array().unwrap().len(), group["empirical"].as_array().unwrap().len()),
            (6, 21)
        );
        assert_eq!(value["calibration"]["rungs"][0]["assumed"]["from"], "high");
        let mut reader = csv::Reader::from_reader(rows.as_slice());
        let (head, row) = (reader.headers().unwrap().clone(), reader.records().next().unwrap().unwrap());
        assert_eq!(head.len(), row.len());
        assert!(row.iter().all(|cell| !cell.is_empty()));
    }

    #[test]
    fn what_is_no_number_is_null() {
        assert_eq!([six(f64::NAN), six(-0.0), six(1.0 / 3.0)], [Value::Null, json!(0.0), json!(0.333_333)]);
    }
}
