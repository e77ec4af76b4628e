//! `flyball sweep`: a grid of settings on a simulated agent, a report, files and pictures.

mod html;

use std::io::Write as _;
use std::sync::atomic::Ordering;

use super::common;
use crate::cli::args::{Axes, EngineWord, Format, Sweep};
use crate::cli::error::{Failure, Outcome};
use crate::cli::exit::Exit;
use crate::cli::output::{self, Folder};
use crate::cli::signal;
use crate::engine::{Ratio, counted};
use crate::lab::advice;
use crate::lab::bounds::{self, MAX_ROUNDS, MAX_RUNS, MAX_THREADS};
use crate::lab::fixed::from_micros;
use crate::lab::grid::{Cell, Grid};
use crate::lab::metric::Metric;
use crate::lab::page;
use crate::lab::pictures::{self, conduct, forest};
use crate::lab::report::{choice, csv, decimal, ends, json, table};
use crate::lab::result::{CellResult, SweepResult, VERSION};
use crate::lab::scenario::{GovernorSettings, Scenario};
use crate::lab::settings::Settings;
use crate::lab::sweep::{Engine, Finished, Job, SweepError, summarise, sweep, sweep_to};

/// Sweeps.
///
/// # Errors
/// A scenario, flag or folder at fault.
pub fn run(args: &Sweep) -> Outcome {
    let scenario = common::scenario(&args.scenario)?;
    let grid = scenario.grid(common::axes(&args.axes)?).map_err(Failure::usage)?;
    let mut job = job(args, &scenario, &grid)?;
    let precision = args.precision.as_deref().map(|text| common::read("--precision", text, common::precision));
    let precision = precision.transpose()?;
    let place = common::out(args.out.as_ref(), &scenario);
    let folder = output::results(&place, args.html.as_deref())?;
    common::advise(&scenario, grid.juices());

    let stop = signal::interrupted()?;
    let bar = output::bar(job.runs, grid.len());
    let progress = |done: u32| bar.set_position(done.into());
    let finished = match precision {
        Some(precision) => sweep_to(&job, precision.ppm().into(), &stop, &progress),
        None => sweep(&job, &stop, &progress),
    };
    bar.finish_and_clear();
    let finished = finished.map_err(failed)?;
    if precision.is_some() && !stop.load(Ordering::Relaxed) {
        // it stopped because it knew enough: that is all of it
        job.runs = finished.runs;
    }
    if finished.runs == 0 {
        output::say("incomplete: not a single run was finished, so there is no report");
        return Ok(Exit::Interrupted);
    }
    let result = summarise(&job, &finished).map_err(Failure::internal)?;
    let missed = precision.and_then(|precision| missed(&result, precision));

    let printed = output::print(&report(args, &result)?);
    folder.forget(is_ours)?;
    files(&folder, &result)?;
    settings(&folder, &job, &result)?;
    let drawn = pictures(&folder, &job, &finished, &result)?;
    if let Some(file) = &args.html {
        let html = page::html(&html::page(&result, drawn, again(args, &result), missed.as_deref()));
        output::write_whole(file, |out| out.write_all(html.as_bytes()))?;
        output::say(&format!("wrote {}", file.display()));
    }
    output::say(&format!("wrote result.json, result.csv, settings and pictures to {}", folder.path().display()));
    printed?;
    let recommended = result.chosen.iter().filter_map(|chosen| result.cell(chosen.cell));
    recommended.filter_map(|cell| advice::edge(&grid, cell)).for_each(|text| output::hint(&text));
    missed.iter().for_each(|text| output::hint(text));
    if let Some(done) = result.runs_done {
        output::say(&format!("incomplete: {done} of {}", counted(result.runs, "run")));
    }
    Ok(if stop.load(Ordering::Relaxed) { Exit::Interrupted } else { Exit::Success })
}

/// A sentence where some cell's share on right rungs is not known as well as was asked; none where all are.
fn missed(result: &SweepResult, precision: Ratio) -> Option<String> {
    let asked = i64::from(precision.ppm());
    let half = |cell: &CellResult| cell.figure(Metric::OnRung)?.interval.map(|(low, high)| (high - low) / 2);
    // a cell of one run has no interval, and is not known at all; ends are rounded to millionths
    let wide = |cell: &&CellResult| half(cell).is_none_or(|half| half > asked + 1);
    let many = result.cells.iter().filter(wide).count();
    let points = |micros: i64| figure(from_micros(micros) * 100.0);
    let widest = result.cells.iter().filter_map(half).max();
    let widest = widest.map_or_else(String::new, |half| format!(", the widest is +- {}", points(half)));
    (many > 0).then(|| {
        format!(
            "the precision that was asked for, {} points, was not reached with {}: in {many} of {} the interval is wider{widest}; raise --runs, \
             four times as many halve an interval",
            points(asked),
            counted(result.runs_done.unwrap_or(result.runs), "run"),
            counted(result.cells.len(), "cell")
        )
    })
}

/// A number to four places at the most.
fn figure(value: f64) -> String {
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// What is to be run, within bounds.
fn job<'a>(args: &Sweep, scenario: &'a Scenario, grid: &'a Grid) -> Outcome<Job<'a>> {
    let cores = std::thread::available_parallelism().map_or(1, |cores| u32::try_from(cores.get()).unwrap_or(1));
    let runs = bounds::count("--runs", args.runs, scenario.plan.runs, MAX_RUNS).map_err(Failure::usage)?;
    let rounds = bounds::count("--rounds", args.rounds, scenario.plan.rounds, MAX_ROUNDS).map_err(Failure::usage)?;
    let threads = bounds::count("--threads", args.threads.or(common::threads()?), cores, MAX_THREADS)
        .map_err(Failure::usage)? as usize;
    bounds::memory(scenario, grid.len(), runs, rounds, threads).map_err(Failure::usage)?;
    let engine = match args.engine {
        EngineWord::Tables => Engine::Tables,
        EngineWord::Machine => Engine::Machine,
    };
    Ok(Job { scenario, grid, runs, rounds, seed: args.seed.unwrap_or(scenario.plan.seed), threads, engine })
}

fn failed(error: SweepError) -> Failure {
    match error {
        SweepError::Band(_) | SweepError::Truth(_) | SweepError::Threads(_) => Failure::usage(error),
        SweepError::Log(_) => Failure::internal(error),
    }
}

/// The command that makes the report again; not where, nor in which form beside the page.
fn again(args: &Sweep, result: &SweepResult) -> String {
    let mut words = vec![format!("flyball sweep {}", common::quoted(&args.scenario.display().to_string()))];
    let mut flag = |name: &str, value: Option<String>| {
        words.extend(value.map(|value| format!("{name} {}", common::quoted(&value))));
    };
    let Axes { law, juice, over, slack, rest } = &args.axes;
    for (name, values) in [("--law", law), ("--juice", juice), ("--over", over), ("--slack", slack), ("--rest", rest)] {
        flag(name, (!values.is_empty()).then(|| values.join(",")));
    }
    // where a precision stopped it, this many runs are the same without one
    flag("--runs", Some(result.runs.to_string()));
    flag("--rounds", Some(result.rounds.to_string()));
    flag("--seed", Some(result.seed.to_string()));
    flag("--html", args.html.as_ref().map(|file| file.display().to_string()));
    words.join(" ")
}

/// The report in the asked format.
fn report(args: &Sweep, result: &SweepResult) -> Outcome<Vec<u8>> {
    let mut text = Vec::new();
    match args.format {
        Format::Table => {
            let rows = (args.rows > 0).then_some(args.rows);
            let written = text.write_all(table::render(result, rows).as_bytes());
            let written = written.and_then(|()| text.write_all(choice::render(result).as_bytes()));
            written.and_then(|()| text.write_all(ends::render(result).as_bytes())).map_err(Failure::internal)?;
        }
        Format::Json => json::write(result, &mut text).map_err(Failure::internal)?,
        Format::Csv => csv::write(result, &mut text).map_err(Failure::internal)?,
    }
    Ok(text)
}

/// Pictures of a sweep beside its heat maps.
const PICTURES: [&str; 8] =
    ["settle", "burn", "phase", "forest", "forest-targets", "occupancy", "false-moves", "returns"];

/// Whether a sweep may have written this file: what an earlier one left must not stand beside new results.
fn is_ours(name: &str) -> bool {
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
    let picture = PICTURES.contains(&stem) || stem.starts_with("heat-");
    match ending {
        "json" | "svg" | "png" => picture || name == "result.json",
        "toml" => stem == "flyball" || stem.starts_with("flyball-"),
        _ => name == "result.csv",
    }
}

fn files(folder: &Folder, result: &SweepResult) -> Outcome<()> {
    folder.write("result.json", |out| json::write(result, out))?;
    folder.write("result.csv", |out| csv::write(result, out).map_err(std::io::Error::other))
}

/// The recommended settings of each target, as a settings file of the real loop.
fn settings(folder: &Folder, job: &Job<'_>, result: &SweepResult) -> Outcome<()> {
    for chosen in &result.chosen {
        let Some(&Cell { law, juice, over, slack, rest }) = result.cell(chosen.cell) else { continue };
        let GovernorSettings { budget, tuning, .. } = job.scenario.governor;
        let settings = Settings { governor: GovernorSettings { law, juice, over, slack, rest, budget, tuning } };
        let about = format!(
            "recommended by flyball {VERSION} on scenario {}: {} of {}, seed {}\n{}",
            result.scenario,
            counted(result.runs, "run"),
            counted(result.rounds, "round"),
            result.seed,
            chosen.why
        );
        let juice = decimal(i64::try_from(juice.micros()).unwrap_or(i64::MAX));
        let name = match result.chosen.len() {
            1 => "flyball.toml".to_owned(),
            _ => format!("flyball-{}.toml", juice.trim_end_matches('0').trim_end_matches('.')),
        };
        folder.write(&name, |out| out.write_all(settings.to_toml(&about).as_bytes()))?;
    }
    Ok(())
}

/// Heat maps of each law at the middle target, settling curves, burn fans, phases, forests against the original and how the loop behaves; what was drawn, as SVG.
fn pictures(folder: &Folder, job: &Job<'_>, finished: &Finished, result: &SweepResult) -> Outcome<Vec<String>> {
    let mut drawn = Vec::new();
    if let Some(juice) = pictures::middle(job) {
        for &law in job.grid.laws() {
            if let Some(heat) = pictures::heat(job, result, law, juice) {
                drawn.push(drawing(folder, &format!("heat-{law}"), heat.svg(), &heat)?);
            }
        }
        let values = job.grid.overs().len().max(job.grid.slacks().len());
        if values > pictures::MOST_VALUES {
            let most = pictures::MOST_VALUES;
            output::hint(&format!(
                "an axis of {values} values makes no heat map; up to {most} do, and result.csv has all"
            ));
        }
    }
    let places = pictures::notable(result);
    if !places.is_empty() {
        let settle = pictures::settle(job, result, finished, &places);
        drawn.push(drawing(folder, "settle", settle.svg(), &settle)?);
        let burn = pictures::burn(job, result, &places);
        drawn.push(drawing(folder, "burn", burn.svg(), &burn)?);
    }
    if let Some(phase) = pictures::phase(job, result) {
        drawn.push(drawing(folder, "phase", phase.svg(), &phase)?);
    }
    if let Some(settings) = forest::settings(job, result, finished) {
        drawn.push(drawing(folder, "forest", settings.svg(), &settings)?);
    }
    if let Some(targets) = forest::targets(job, result, finished) {
        drawn.push(drawing(folder, "forest-targets", targets.svg(), &targets)?);
    }
    if let Some(occupancy) = conduct::occupancy(job, result, &places) {
        drawn.push(drawing(folder, "occupancy", occupancy.svg(), &occupancy)?);
    }
    if let Some(moves) = conduct::false_moves(job, result) {
        drawn.push(drawing(folder, "false-moves", moves.svg(), &moves)?);
    }
    if let Some(returns) = conduct::returns(job, result, &places) {
        drawn.push(drawing(folder, "returns", returns.svg(), &returns)?);
    }
    Ok(drawn)
}

/// Writes a picture, and gives it back for a page.
fn drawing(folder: &Folder, name: &str, svg: String, data: &impl serde::Serialize) -> Outcome<String> {
    common::picture(folder, name, &svg, data)?;
    Ok(svg)
}

#[cfg(test)]
mod tests {
    use super::is_ours;

    #[test]
    fn only_what_a_sweep_writes_is_its_own() {
        for name in ["result.json", "result.csv", "heat-reset.png", "settle.svg", "burn.json", "flyball-680.toml"] {
            assert!(is_ours(name), "{name}");
        }
        for name in ["trace.jsonl", "trace.svg", "mine.toml", "notes.csv", "heat.txt", "result.json.bak", "settled.png"]
        {
            assert!(!is_ours(name), "{name}");
        }
    }
}
