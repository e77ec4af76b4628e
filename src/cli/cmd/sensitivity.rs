//! `flyball sensitivity`: what a law's result hangs on.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::common;
use crate::cli::args::{Method, Sensitivity, ShortFormat};
use crate::cli::error::{Failure, Outcome};
use crate::cli::exit::Exit;
use crate::cli::output::{self, Folder};
use crate::lab::axis;
use crate::lab::bounds::{self, MAX_ROUNDS};
use crate::lab::metric::Metric;
use crate::lab::plot::{Bar, BarRow, Bars};
use crate::lab::result::VERSION;
use crate::lab::sensitivity::factors::{Asked, FACTORS, RESULTS, indexed, screened};
use crate::lab::sensitivity::{Effect, Index};

/// Trajectories where nobody says how many.
const TRAJECTORIES: u32 = 20;
/// Points where nobody says how many.
const POINTS: u32 = 256;

/// Asks.
///
/// # Errors
/// A scenario, flag or folder at fault.
pub fn run(args: &Sensitivity) -> Outcome {
    let scenario = common::scenario(&args.scenario)?;
    let law = args.law.as_deref().map_or(Ok(scenario.governor.law), |text| common::read("--law", text, axis::law))?;
    let rounds = bounds::count("--rounds", args.rounds, scenario.plan.rounds, MAX_ROUNDS).map_err(Failure::usage)?;
    let folder = args.plots.as_deref().map(Folder::open).transpose()?;
    let usual = if args.method == Method::Morris { TRAJECTORIES } else { POINTS };
    let asked = Asked {
        scenario: &scenario,
        law,
        points: args.points.unwrap_or(usual),
        runs: args.runs,
        rounds,
        seed: args.seed.unwrap_or(scenario.plan.seed),
    };
    let (text, value) = match args.method {
        Method::Morris => {
            let found = screened(&asked).map_err(Failure::usage)?;
            (
                effects(&asked, &found),
                object(&asked, "morris", found.iter().map(|row| row.iter().map(effect).collect())),
            )
        }
        Method::Sobol => {
            let found = indexed(&asked).map_err(Failure::usage)?;
            if let Some(folder) = &folder {
                let picture = bars(&asked, &found);
                common::picture(folder, "sensitivity", &picture.svg(), &picture)?;
            }
            (indices(&asked, &found), object(&asked, "sobol", found.iter().map(|row| row.iter().map(index).collect())))
        }
    };
    match args.format {
        ShortFormat::Table => output::print(text.as_bytes())?,
        ShortFormat::Json => output::print(format!("{value}\n").as_bytes())?,
    }
    Ok(Exit::Success)
}

fn unit(metric: Metric) -> (&'static str, f64) {
    if metric == Metric::OnRung {
        ("on rung, points of rounds", 100.0)
    } else if metric == Metric::Reversals {
        ("reversals per 100 rounds", 1.0)
    } else {
        ("excess, nats", 1.0)
    }
}

fn head(asked: &Asked<'_>, what: &str) -> String {
    format!(
        "{}: {} by {what}, {} runs of {} rounds at each point, seed {}\n",
        asked.scenario.name, asked.law, asked.runs, asked.rounds, asked.seed
    )
}

/// Places of the factors, the largest first.
fn order(size: impl Fn(usize) -> f64) -> Vec<usize> {
    let mut places: Vec<usize> = (0..FACTORS.len()).collect();
    places.sort_by(|a, b| size(*b).total_cmp(&size(*a)).then(a.cmp(b)));
    places
}

fn effects(asked: &Asked<'_>, found: &[Vec<Effect>]) -> String {
    let mut text = head(asked, &format!("{} trajectories", asked.points));
    for (metric, effects) in RESULTS.into_iter().zip(found) {
        let (name, scale) = unit(metric);
        let _ = write!(
            text,
            "\n{name}: what moving a factor across its range does\n  {:<10}{:>16}{:>10}{:>10}\n",
            "factor", "size (95 %)", "mean", "spread"
        );
        for at in order(|at| effects[at].size) {
            let Effect { size, half, mean, spread } = effects[at];
            let size = format!("{:.2} +- {:.2}", size * scale, half * scale);
            let _ = writeln!(text, "  {:<10}{size:>16}{:>10.2}{:>10.2}", FACTORS[at], mean * scale, spread * scale);
        }
    }
    text.push_str("\nsize: the mean size of the effect; mean: with its sign; spread: how much it hangs on where the others stand\n");
    text
}

fn indices(asked: &Asked<'_>, found: &[Vec<Index>]) -> String {
    let mut text = head(asked, &format!("{} points", asked.points));
    for (metric, indices) in RESULTS.into_iter().zip(found) {
        let _ = write!(
            text,
            "\n{}: share of the variance\n  {:<10}{:>24}{:>24}\n",
            unit(metric).0,
            "factor",
            "first (95 %)",
            "total (95 %)"
        );
        for at in order(|at| indices[at].total) {
            let Index { first, first_interval: f, total, total_interval: t } = indices[at];
            let (first, total) = (
                format!("{first:.2} ({:.2} to {:.2})", f.lo, f.hi),
                format!("{total:.2} ({:.2} to {:.2})", t.lo, t.hi),
            );
            let _ = writeln!(text, "  {:<10}{first:>24}{total:>24}", FACTORS[at]);
        }
    }
    text.push_str("\nfirst: what would go if this factor were known; total: what would be left if all others were\n");
    text
}

fn effect(effect: &Effect) -> Value {
    json!({ "size": effect.size, "half": effect.half, "mean": effect.mean, "spread": effect.spread })
}

fn index(index: &Index) -> Value {
    json!({
        "first": index.first, "first_lo": index.first_interval.lo, "first_hi": index.first_interval.hi,
        "total": index.total, "total_lo": index.total_interval.lo, "total_hi": index.total_interval.hi,
    })
}

fn object(asked: &Asked<'_>, method: &str, rows: impl Iterator<Item = Vec<Value>>) -> Value {
    let results: serde_json::Map<String, Value> = RESULTS
        .into_iter()
        .zip(rows)
        .map(|(metric, row)| {
            let factors: serde_json::Map<String, Value> =
                FACTORS.iter().map(|name| (*name).to_owned()).zip(row).collect();
            (metric.name().to_owned(), Value::Object(factors))
        })
        .collect();
    json!({
        "version": VERSION, "scenario": asked.scenario.name, "law": asked.law.name(), "method": method,
        "points": asked.points, "runs": asked.runs, "rounds": asked.rounds, "seed": asked.seed, "results": results,
    })
}

/// Indices of the share on right rungs, as bars.
fn bars(asked: &Asked<'_>, found: &[Vec<Index>]) -> Bars {
    let empty = Vec::new();
    let indices = found.first().unwrap_or(&empty);
    let row = |at: usize| {
        let Index { first, first_interval: f, total, total_interval: t } = indices[at];
        let values = vec![Bar::new(first, Some((f.lo, f.hi))), Bar::new(total, Some((t.lo, t.hi)))];
        BarRow { label: FACTORS[at].to_owned(), values, ..BarRow::default() }
    };
    Bars {
        title: format!("What the share of rounds on a right rung hangs on, with {}", asked.law),
        facts: vec![asked.scenario.name.clone(), format!("{} points", asked.points), format!("seed {}", asked.seed)],
        note: "First: what would go if this factor were known. Total: what would be left if all others were."
            .to_owned(),
        x: "share of the variance".to_owned(),
        names: vec!["first order".to_owned(), "total".to_owned()],
        decimals: 2,
        rows: if indices.is_empty() { vec![] } else { order(|at| indices[at].total).into_iter().map(row).collect() },
        ..Bars::default()
    }
}
