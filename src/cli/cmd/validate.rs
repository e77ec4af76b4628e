//! `flyball validate`: what a fitted agent predicts beside logs that it was not fitted on.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use super::common;
use crate::agents::join;
use crate::cli::args::{ShortFormat, Validate as Args};
use crate::cli::error::{Failure, Outcome};
use crate::cli::exit::Exit;
use crate::cli::logs;
use crate::cli::output::{self, Folder};
use crate::engine::counted;
use crate::lab::axis::{AxisError, OVER};
use crate::lab::bounds;
use crate::lab::scenario::Scenario;
use crate::lab::validate::compare::{Compared, Group, Range, Standing};
use crate::lab::validate::picture::picture;
use crate::lab::validate::{Report, SESSIONS_FLOOR, Settings, ValidateError, Verdict, cross_validate, json, validate};

/// The most samples behind an interval.
const MAX_SAMPLES: u64 = 100_000;
/// The most turns that a session can be asked to have, and the most folds.
const MAX_TURNS: u64 = 100_000;

/// Compares.
///
/// # Errors
/// A scenario, log, flag or folder at fault; folds that cannot be fitted.
pub fn run(args: &Args) -> Outcome {
    let scenario = common::scenario(&args.scenario)?;
    let settings = settings(args, &scenario)?;
    let folds = args.folds.map(|folds| bounds::count("--folds", Some(folds), 0, MAX_TURNS)).transpose();
    let folds = folds.map_err(Failure::usage)?;
    let folder = args.plots.as_deref().map(Folder::open).transpose()?;
    let joined = join(&logs::load(&args.logs)?);
    logs::warn_of(&joined.health);
    let report = match folds {
        Some(folds) => cross_validate(&joined.turns, &scenario, &settings, folds),
        None => validate(&joined.turns, &scenario, &settings),
    };
    let report = report.map_err(failed)?;
    match args.format {
        ShortFormat::Table => output::print(table(&report).as_bytes())?,
        ShortFormat::Json => output::print(format!("{}\n", json::object(&report)).as_bytes())?,
    }
    if let Some(folder) = folder {
        let picture = picture(&report);
        common::picture(&folder, "validate", &picture.svg(), &picture)?;
        output::say(&format!("wrote validate.svg, .png and .json to {}", folder.path().display()));
    }
    Ok(Exit::Success)
}

fn settings(args: &Args, scenario: &Scenario) -> Outcome<Settings> {
    let wrong = |why| AxisError { origin: "--over".to_owned(), item: args.over.clone(), why };
    let count = |flag, given, most| bounds::count(flag, Some(given), 0, most).map_err(Failure::usage);
    Ok(Settings {
        over: OVER.value(&args.over).map_err(|why| Failure::usage(wrong(why)))?,
        samples: count("--samples", args.samples, MAX_SAMPLES)?,
        seed: args.seed.unwrap_or(scenario.plan.seed),
        model: args.model.clone(),
        turns: count("--turns", args.turns, MAX_TURNS)? as usize,
    })
}

fn failed(error: ValidateError) -> Failure {
    let hint = match &error {
        ValidateError::Model(_) => Some("name one of them with --model"),
        ValidateError::Folds(_) | ValidateError::Scenario(_) => None,
    };
    let internal = matches!(error, ValidateError::Scenario(_));
    let failure = if internal { Failure::internal(error) } else { Failure::usage(error) };
    let failure = failure.while_("cannot compare these logs");
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

fn table(report: &Report) -> String {
    let over = report.settings.over.count() / 1000;
    let how = match report.folds {
        Some(folds) => format!("each of {folds} folds beside a fit to the others"),
        None => "as the scenario has it".to_owned(),
    };
    let mut text = format!(
        "{}: {} beside simulated sessions of the same design, {how}; window {over} s, {} samples, seed {}\n",
        report.scenario, report.model, report.settings.samples, report.settings.seed
    );
    for group in &report.groups {
        text.push_str(&told(group));
    }
    let [real, simulated] = report.window_cv;
    if report.groups.is_empty() {
        text.push_str("\nno session at an effort of the scenario's ladder\n");
    } else {
        text.push_str(&format!(
            "\nall together: cv of the window mean {} recorded, {} simulated\n",
            range(real),
            range(simulated)
        ));
    }
    for note in report.unfitted.iter().chain(&report.notes) {
        text.push_str(&format!("note: {note}\n"));
    }
    text.push_str(&format!("verdict: {}{}\n", report.verdict.word(), because(report)));
    text
}

/// One effort: its figures, and what of the model fails.
fn told(group: &Group) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(["", "recorded", "95 %", "simulated", "95 %", ""]);
    for figure in group.figures.iter().filter(|figure| figure.real.mean.is_some() || figure.simulated.mean.is_some()) {
        table.add_row(row(figure));
    }
    for column in [1, 3] {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let lines = common::lines(&table);
    let assumed = if group.assumed { "; the rung stands where a prior puts it" } else { "" };
    let left_out =
        if group.left_out > 0 { format!(", {} too short or too patchy", group.left_out) } else { String::new() };
    let head = format!(
        "\n{}: {}{left_out}, {}{assumed}\n",
        group.effort,
        counted(group.sessions, "session"),
        counted(group.turns, "turn")
    );
    if group.sessions == 0 {
        return format!("{head}too-little-data: {}\n", needed(group));
    }
    let verdict = match group.verdict {
        Verdict::TooLittleData => format!("too-little-data: {}", needed(group)),
        Verdict::Pass | Verdict::Fail => format!("{}{}", group.verdict.word(), failing(group)),
    };
    format!("{head}\n{lines}{verdict}\n")
}

fn needed(group: &Group) -> String {
    if group.sessions >= SESSIONS_FLOOR {
        return "there is no fit to predict them with".to_owned();
    }
    format!("{}, and a verdict takes {SESSIONS_FLOOR}", counted(group.sessions, "session"))
}

/// Which assumptions do not hold.
fn failing(group: &Group) -> String {
    let of = |wanted: Standing| {
        let own = group.standings.iter().filter(move |(_, standing)| *standing == wanted);
        own.map(|(assumption, _)| format!("{} ({})", assumption.word(), assumption.told())).collect::<Vec<_>>()
    };
    let (fails, off) = (of(Standing::Fails), of(Standing::Off));
    let mut text = String::new();
    if !fails.is_empty() {
        text.push_str(&format!("\n  fails: {}", fails.join("; ")));
    }
    if !off.is_empty() {
        text.push_str(&format!("\n  off: {}", off.join("; ")));
    }
    if group.verdict == Verdict::Fail && fails.is_empty() && off.is_empty() {
        text.push_str("\n  none of the assumptions alone is off: what the window shows is how they go together");
    }
    if let Some(culprit) = group.culprit() {
        text.push_str(&format!("\n  furthest out: {}", culprit.word()));
    }
    text
}

fn because(report: &Report) -> String {
    let count = |verdict| report.groups.iter().filter(|group| group.verdict == verdict).count();
    let judged = count(Verdict::Pass) + count(Verdict::Fail);
    match report.verdict {
        Verdict::TooLittleData if judgeable(report) => ": nothing is predicted for want of a fit".to_owned(),
        Verdict::TooLittleData => {
            let most = report.groups.iter().map(|group| group.sessions).max().unwrap_or(0);
            format!(
                ": at most {} of {} at one effort, and a verdict takes {SESSIONS_FLOOR}",
                counted(most, "session"),
                counted(report.settings.turns, "turn")
            )
        }
        Verdict::Pass | Verdict::Fail => format!(": {} of {judged} judged efforts pass", count(Verdict::Pass)),
    }
}

/// Whether there are sessions enough, so that it is fits that are missing.
fn judgeable(report: &Report) -> bool {
    report.groups.iter().any(|group| group.sessions >= SESSIONS_FLOOR)
}

fn row(figure: &Compared) -> [String; 6] {
    let mean = |range: Range| range.mean.map_or_else(|| "-".to_owned(), number);
    let ends = |range: Range| {
        range.lo.zip(range.hi).map_or_else(|| "-".to_owned(), |(lo, hi)| format!("{} .. {}", number(lo), number(hi)))
    };
    let mark = match (figure.apart(), figure.badly()) {
        (_, true) => "badly apart",
        (true, false) => "apart",
        (false, false) => "",
    };
    [
        figure.statistic.told().to_owned(),
        mean(figure.real),
        ends(figure.real),
        mean(figure.simulated),
        ends(figure.simulated),
        mark.to_owned(),
    ]
}

fn range(range: Range) -> String {
    let mean = range.mean.map_or_else(|| "-".to_owned(), number);
    match range.lo.zip(range.hi) {
        Some((lo, hi)) => format!("{mean} ({} .. {})", number(lo), number(hi)),
        None => mean,
    }
}

/// Three digits or so.
fn number(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}
