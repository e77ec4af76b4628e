//! `flyball calibrate`: logs of real agents in; a survey of them out, or a scenario.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use super::common;
use crate::agents::{Log, join};
use crate::cli::args::{Calibrate, Format};
use crate::cli::error::{Failure, Outcome};
use crate::cli::exit::Exit;
use crate::cli::{logs, output};
use crate::engine::TurnRecord;
use crate::lab::fit::calls::{self, Group};
use crate::lab::fit::figures::{EffortFigures, group_figures};
use crate::lab::fit::pictures::pictures;
use crate::lab::fit::report::{self, Survey};
use crate::lab::fit::{Asked, Calibration, Figures, FitError, Options, calibrate, figures, survey};
use crate::lab::recorded::model_of;
use crate::lab::scenario::Scenario;

mod tables;

/// What the first line of a file of ours begins with.
const MADE: &str = "# Made by `flyball calibrate`";

/// Surveys the logs, or makes a scenario of them.
///
/// # Errors
/// Logs of which nothing can be used, each by name; a scenario file that cannot be written, or is somebody else's.
pub fn run(args: &Calibrate) -> Outcome {
    let place = args.output.as_deref().filter(|path| *path != Path::new("-"));
    let name = place.map(scenario_name).transpose()?;
    let to_stdout = args.output.is_some() && place.is_none();
    if to_stdout && args.format != Format::Table {
        return Err(Failure::said("-o - prints the scenario on stdout, where --format would print too")
            .hint("name a file with -o, or leave --format out"));
    }
    if let Some(place) = place.filter(|_| !args.force) {
        check_ours(place)?;
    }
    let folder = output::places(args.plots.as_deref(), place)?;
    let logs = logs::load(&args.logs)?;
    let joined = join(&logs);
    logs::warn_of(&joined.health);
    let asked = Asked { resamples: args.resamples, seed: args.seed, failed: joined.health.errors, silent: 0 };
    if args.output.is_none() && folder.is_none() {
        return surveyed(&joined.turns, args, &asked);
    }
    let options = Options { model: args.model.clone(), efforts: args.effort.clone(), name, ..Options::default() };
    let mut fit = calibrate(&joined.turns, &options).map_err(unfit)?;
    fit.source = source(&logs, &fit.model);
    let numbers = figures(&joined.turns, &fit, &asked);
    let text = fit.to_toml_with(&numbers);
    // a scenario that its own reader refuses is a fault of the writer, and is not left on the disk
    let scenario = Scenario::load(&text, &fit.name).map_err(Failure::internal)?;
    if let Some(folder) = &folder {
        for (name, chart) in pictures(&joined.turns, &fit, &scenario) {
            common::picture(folder, name, &chart.svg(), &chart)?;
        }
    }
    let told = told(&joined.turns, &fit, &numbers, args.format)?;
    if to_stdout {
        output::say(&String::from_utf8_lossy(&told));
        output::print(text.as_bytes())?;
        return Ok(Exit::Success);
    }
    if let Some(place) = place {
        output::write_whole(place, |out| out.write_all(text.as_bytes()))?;
    }
    output::print(&told)?;
    place.into_iter().for_each(|place| output::say(&format!("wrote {}", place.display())));
    Ok(Exit::Success)
}

/// Says what there is, by model and effort, and makes nothing.
fn surveyed(records: &[TurnRecord], args: &Calibrate, asked: &Asked) -> Outcome {
    let asked_for = |group: &Group| args.model.as_deref().is_none_or(|model| group.model.contains(model));
    let of_effort = |group: &Group| {
        args.effort.is_empty() || group.effort.as_ref().is_some_and(|effort| args.effort.contains(effort))
    };
    let groups: Vec<Group> = survey(records).into_iter().filter(|group| asked_for(group) && of_effort(group)).collect();
    if groups.is_empty() {
        return Err(Failure::said("no call in these logs is of this model and effort")
            .hint("leave out --model and --effort to see what there is"));
    }
    let numbers = group_figures(records, &groups, asked);
    let text = match args.format {
        Format::Table => tables::survey(&groups, &numbers, asked).into_bytes(),
        Format::Json | Format::Csv => reported(records, &groups, &numbers, None, args.format)?,
    };
    output::print(&text)?;
    Ok(Exit::Success)
}

fn told(records: &[TurnRecord], fit: &Calibration, numbers: &Figures, format: Format) -> Outcome<Vec<u8>> {
    match format {
        Format::Table => Ok(tables::calibration(fit, numbers).into_bytes()),
        Format::Json | Format::Csv => reported(records, &fit.groups, &numbers.efforts, Some((fit, numbers)), format),
    }
}

fn reported(
    records: &[TurnRecord],
    groups: &[Group],
    figures: &[EffortFigures],
    fit: Option<(&Calibration, &Figures)>,
    format: Format,
) -> Outcome<Vec<u8>> {
    let mut sessions = calls::sessions(records);
    sessions.retain(|session| groups.iter().any(|group| group.model == session.model));
    let survey = Survey { groups, figures, sessions: &sessions };
    let mut text = Vec::new();
    match format {
        Format::Csv => report::csv(&survey, &mut text).map_err(Failure::internal)?,
        Format::Json | Format::Table => report::json(&survey, fit, &mut text).map_err(Failure::internal)?,
    }
    Ok(text)
}

/// The scenario's name, which is its file's stem.
fn scenario_name(place: &Path) -> Outcome<String> {
    let wrong =
        || Failure::said(format!("-o {}: a scenario is a file that ends in .toml, or - for stdout", place.display()));
    if place.extension().is_none_or(|ending| ending != "toml") {
        return Err(wrong());
    }
    let folder = place.parent().filter(|folder| !folder.as_os_str().is_empty());
    if folder.is_some_and(|folder| !folder.is_dir()) || place.is_dir() {
        return Err(Failure::said(format!("cannot write {}: there is no such folder", place.display())));
    }
    place.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned).ok_or_else(wrong)
}

/// A file that is there and does not begin as ours do is left alone.
fn check_ours(place: &Path) -> Outcome<()> {
    // what is no file is refused where it is found out whether it can be written
    let Some(file) = place.is_file().then(|| File::open(place).ok()).flatten() else { return Ok(()) };
    let mut first = String::new();
    let ours = BufReader::new(file).read_line(&mut first).is_ok() && first.starts_with(MADE);
    if ours {
        return Ok(());
    }
    Err(Failure::said(format!("{} is there already, and was not made by calibrate", place.display()))
        .hint("name another file, or add --force to write over it"))
}

/// Which logs have calls of the model.
fn source(logs: &[Log], model: &str) -> String {
    let has = |log: &&Log| log.calls().any(|turn| model_of(&turn.record) == model);
    let used: Vec<&Log> = logs.iter().filter(has).collect();
    let mut kinds: Vec<&str> = used.iter().map(|log| log.format.name()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    format!("{} {} of kind {}", used.len(), if used.len() == 1 { "log" } else { "logs" }, kinds.join(" and "))
}

fn unfit(error: FitError) -> Failure {
    let hint = match &error {
        FitError::Model { .. } => Some("name one of them with --model"),
        FitError::NoLadder { .. } | FitError::Ladder { .. } | FitError::Backwards { .. } | FitError::NoPrior { .. } => {
            Some("name the ladder, hardest first, with --effort high,medium,low")
        }
        FitError::NoEffort { .. } | FitError::TooFew { .. } | FitError::NoTimes { .. } | FitError::NoCalls => {
            Some("give more logs of the same model")
        }
        FitError::Coverage { .. } | FitError::Name { .. } => None,
    };
    let failure = Failure::usage(error).while_("cannot make a scenario of these logs");
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_file_of_ours_is_written_over() {
        let dir = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| {
            let path = dir.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        assert!(check_ours(&dir.path().join("none.toml")).is_ok());
        assert!(check_ours(&put("ours.toml", &format!("{MADE}; make it again\nformat = 1\n"))).is_ok());
        for text in ["", "format = 1\n", "\n# Made by `flyball calibrate`\n", "\u{fffd}"] {
            let failure = check_ours(&put("theirs.toml", text)).unwrap_err();
            assert!(failure.lines().contains("theirs.toml") && failure.lines().contains("--force"), "{text:?}");
        }
    }
}
