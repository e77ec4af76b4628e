//! `flyball sensitivity`: what a law's result hangs on.

mod report;

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::common;
use crate::cli::args::{Method, Sensitivity, ShortFormat};
use crate::cli::error::{Failure, Outcome};
use crate::cli::exit::Exit;
use crate::cli::output;
use crate::engine::counted;
use crate::lab::axis;
use crate::lab::bounds::{self, MAX_ROUNDS};
use crate::lab::metric::Metric;
use crate::lab::page;
use crate::lab::result::VERSION;
use crate::lab::sensitivity::factors::{Asked, FACTORS, Factor, RESULTS, TOLD, indexed, screened};
use crate::lab::sensitivity::{Effect, FEWEST_POINTS, Index, words};

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
    let folder = output::places(args.plots.as_deref(), args.html.as_deref())?;
    let usual = if args.method == Method::Morris { TRAJECTORIES } else { POINTS };
    if let (Method::Sobol, Some(points @ ..FEWEST_POINTS)) = (args.method, args.points) {
        return Err(Failure::said(format!(
            "--points: {points}: with --method sobol it must be from {FEWEST_POINTS} to 65536, as fewer have no intervals"
        )));
    }
    let asked = Asked {
        scenario: &scenario,
        law,
        points: args.points.unwrap_or(usual),
        runs: args.runs,
        rounds,
        seed: args.seed.unwrap_or(scenario.plan.seed),
    };
    let found = match args.method {
        Method::Morris => Found::Effects(screened(&asked).map_err(Failure::usage)?),
        Method::Sobol => Found::Indices(indexed(&asked).map_err(Failure::usage)?),
    };
    match args.format {
        ShortFormat::Table => output::print(text(&asked, &found).as_bytes())?,
        ShortFormat::Json => output::print(format!("{}\n", object(&asked, &found)).as_bytes())?,
    }
    let picture = report::bars(&asked, &found);
    if let Some(folder) = &folder {
        common::picture(folder, "sensitivity", &picture.svg(), &picture)?;
    }
    if let Some(file) = &args.html {
        let html = page::html(&report::page(&asked, &found, picture.svg(), command(args, &asked)));
        output::write_whole(file, |out| out.write_all(html.as_bytes()))?;
        output::say(&format!("wrote {}", file.display()));
    }
    Ok(Exit::Success)
}

/// What was found: by result, by factor.
enum Found {
    Effects(Vec<Vec<Effect>>),
    Indices(Vec<Vec<Index>>),
}

impl Found {
    const fn method(&self) -> &'static str {
        match self {
            Self::Effects(_) => "morris",
            Self::Indices(_) => "sobol",
        }
    }

    /// What it says of one result.
    fn said(&self, result: usize, points: u32) -> Vec<String> {
        match self {
            Self::Effects(found) => found.get(result).map(|row| words::of_effects(row, points)),
            Self::Indices(found) => found.get(result).map(|row| words::of_indices(row, points)),
        }
        .unwrap_or_default()
    }

    /// What it rests on, in words.
    fn footing(&self, asked: &Asked<'_>) -> String {
        match self {
            Self::Effects(_) => format!("{} trajectories", asked.points),
            Self::Indices(_) => format!("{} points", asked.points),
        }
    }
}

/// What makes it again.
fn command(args: &Sensitivity, asked: &Asked<'_>) -> String {
    let method = if args.method == Method::Morris { "morris" } else { "sobol" };
    format!(
        "flyball sensitivity {} --law {} --method {method} --points {} --runs {} --rounds {} --seed {}",
        args.scenario.display(),
        asked.law,
        asked.points,
        asked.runs,
        asked.rounds,
        asked.seed
    )
}

const SIZES: &str = "size is by how much moving a factor across its whole range changes the result, in the mean over where the others stand; \
                     mean is the same with its sign; spread is its standard deviation: how much it hangs on where the others stand";
const SHARES: &str = "first is the share of the variance that would go if this factor alone were known; total is the share that would be left \
                      if all others were, which is what it does together with them";

/// What is moved, with its range: name, range, meaning.
fn ranges() -> impl Iterator<Item = (&'static str, String, &'static str)> {
    let row = |(name, factor): (&'static str, Factor)| {
        let Factor { least, most, unit, what } = factor;
        (name, format!("{least} to {most} {unit}"), what)
    };
    FACTORS.into_iter().zip(TOLD).map(row)
}

/// What a result is called, its unit, and how many of that unit one is.
fn unit(metric: Metric) -> (&'static str, &'static str, f64) {
    if metric == Metric::OnRung {
        ("on rung", "points of rounds", 100.0)
    } else if metric == Metric::Reversals {
        ("reversals", "per 100 rounds", 1.0)
    } else {
        ("straying", "nats beyond the best rungs; 0.1 is about 10 %", 1.0)
    }
}

fn text(asked: &Asked<'_>, found: &Found) -> String {
    let head = format!(
        "{}: {} by {}, {} of {} at each point, seed {}\n",
        asked.scenario.name,
        asked.law,
        found.footing(asked),
        counted(asked.runs, "run"),
        counted(asked.rounds, "round"),
        asked.seed
    );
    let mut text = head + "\nmoved together, each across its range about the scenario:\n";
    for (name, range, what) in ranges() {
        let _ = writeln!(text, "  {name:<10}{range:<27}{what}");
    }
    for (at, metric) in RESULTS.into_iter().enumerate() {
        match found {
            Found::Effects(found) => found.get(at).iter().for_each(|found| effects(&mut text, metric, found)),
            Found::Indices(found) => found.get(at).iter().for_each(|found| indices(&mut text, metric, found)),
        }
        found.said(at, asked.points).iter().for_each(|said| {
            let _ = writeln!(text, "  {said}");
        });
    }
    let _ = writeln!(text, "\n{}", if let Found::Effects(_) = found { SIZES } else { SHARES });
    text
}

/// Places of the factors, the largest first.
fn order(size: impl Fn(usize) -> f64) -> Vec<usize> {
    let mut places: Vec<usize> = (0..FACTORS.len()).collect();
    places.sort_by(|a, b| size(*b).total_cmp(&size(*a)).then(a.cmp(b)));
    places
}

fn effects(text: &mut String, metric: Metric, effects: &[Effect]) {
    let (name, unit, scale) = unit(metric);
    let _ = write!(text, "\n{name}, {unit}\n  {:<10}{:>16}{:>10}{:>10}\n", "factor", "size (95 %)", "mean", "spread");
    for at in order(|at| effects[at].size) {
        let Effect { size, half, mean, spread } = effects[at];
        let size = format!("{:.2} +- {:.2}", size * scale, half * scale);
        let _ = writeln!(text, "  {:<10}{size:>16}{:>10.2}{:>10.2}", FACTORS[at], mean * scale, spread * scale);
    }
}

fn indices(text: &mut String, metric: Metric, indices: &[Index]) {
    let (name, first, total) = (unit(metric).0, "first (95 %)", "total (95 %)");
    let _ = write!(text, "\n{name}: share of the variance\n  {:<10}{first:>24}{total:>24}\n", "factor");
    for at in order(|at| indices[at].total) {
        let Index { first, first_interval: f, total, total_interval: t } = indices[at];
        let (first, total) =
            (format!("{first:.2} ({:.2} to {:.2})", f.lo, f.hi), format!("{total:.2} ({:.2} to {:.2})", t.lo, t.hi));
        let _ = writeln!(text, "  {:<10}{first:>24}{total:>24}", FACTORS[at]);
    }
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

fn object(asked: &Asked<'_>, found: &Found) -> Value {
    let rows: Vec<Vec<Value>> = match found {
        Found::Effects(found) => found.iter().map(|row| row.iter().map(effect).collect()).collect(),
        Found::Indices(found) => found.iter().map(|row| row.iter().map(index).collect()).collect(),
    };
    let results: serde_json::Map<String, Value> = RESULTS
        .into_iter()
        .zip(rows)
        .map(|(metric, row)| {
            let factors: serde_json::Map<String, Value> =
                FACTORS.iter().map(|name| (*name).to_owned()).zip(row).collect();
            (metric.name().to_owned(), Value::Object(factors))
        })
        .collect();
    let moved: Vec<Value> = FACTORS
        .into_iter()
        .zip(TOLD)
        .map(|(name, told)| json!({ "name": name, "least": told.least, "most": told.most, "unit": told.unit, "what": told.what }))
        .collect();
    let said: serde_json::Map<String, Value> = RESULTS
        .into_iter()
        .enumerate()
        .map(|(at, metric)| (metric.name().to_owned(), found.said(at, asked.points).into()))
        .collect();
    json!({
        "factors": moved, "said": said,
        "version": VERSION, "scenario": asked.scenario.name, "law": asked.law.name(), "method": found.method(),
        "points": asked.points, "runs": asked.runs, "rounds": asked.rounds, "seed": asked.seed, "results": results,
    })
}
