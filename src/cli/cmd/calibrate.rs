//! `flyball calibrate`: logs of real agents in, a scenario out.

use std::path::Path;

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use crate::agents::{Log, join};
use crate::cli::args::Calibrate;
use crate::cli::error::{Failure, Outcome};
use crate::cli::exit::Exit;
use crate::cli::{logs, output};
use crate::lab::fit::calls::Group;
use crate::lab::fit::ladder::Origin;
use crate::lab::fit::{Calibration, FitError, Options, calibrate};
use crate::lab::scenario::Scenario;

/// Makes a scenario.
///
/// # Errors
/// Logs of which nothing can be used, each by name; a scenario file that cannot be written.
pub fn run(args: &Calibrate) -> Outcome {
    let to_stdout = args.output == Path::new("-");
    let name = scenario_name(args, to_stdout)?;
    let logs = logs::load(&args.logs)?;
    let joined = join(&logs);
    logs::warn_of(&joined.health);
    let options = Options { model: args.model.clone(), efforts: args.effort.clone(), name, source: source(&logs) };
    let calibration = calibrate(&joined.turns, &options).map_err(unfit)?;
    let text = calibration.to_toml();
    // a scenario that its own reader refuses is a fault of the writer, and is not left on the disk
    Scenario::load(&text, &args.output.display().to_string()).map_err(Failure::internal)?;
    let table = table(&calibration);
    if to_stdout {
        output::say(&table);
        output::print(text.as_bytes())?;
    } else {
        output::write_whole(&args.output, |out| out.write_all(text.as_bytes()))?;
        output::print(table.as_bytes())?;
        output::say(&format!("wrote {}", args.output.display()));
    }
    Ok(Exit::Success)
}

/// The scenario's name, which is its file's stem.
fn scenario_name(args: &Calibrate, to_stdout: bool) -> Outcome<Option<String>> {
    if to_stdout {
        return Ok(None);
    }
    let wrong = || {
        Failure::said(format!("-o {}: a scenario is a file that ends in .toml, or - for stdout", args.output.display()))
    };
    if args.output.extension().is_none_or(|ending| ending != "toml") {
        return Err(wrong());
    }
    let folder = args.output.parent().filter(|folder| !folder.as_os_str().is_empty());
    if folder.is_some_and(|folder| !folder.is_dir()) || args.output.is_dir() {
        return Err(Failure::said(format!("cannot write {}: there is no such folder", args.output.display())));
    }
    args.output.file_stem().and_then(|stem| stem.to_str()).map(|stem| Some(stem.to_owned())).ok_or_else(wrong)
}

fn source(logs: &[Log]) -> String {
    let mut kinds: Vec<&str> = logs.iter().map(|log| log.format.name()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    format!("{} logs of kind {}", logs.len(), kinds.join(" and "))
}

fn unfit(error: FitError) -> Failure {
    let hint = match &error {
        FitError::Model { .. } => Some("name one of them with --model"),
        FitError::NoLadder { .. } | FitError::Ladder { .. } | FitError::NoPrior { .. } => {
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

/// What was fitted, by effort, and how well.
fn table(fit: &Calibration) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    let head = ["effort", "sessions", "calls", "mean", "median", "p90", "cv", "KS lognormal", "KS mixture", "from"];
    table.set_header(head);
    for rung in &fit.rungs {
        let group = fit.groups.iter().find(|group| group.effort.as_deref() == Some(rung.effort.as_str()));
        let from = match &rung.origin {
            Origin::Measured(_) => "measured".to_owned(),
            Origin::Assumed { from, .. } => format!("assumed, from {from}"),
        };
        let mean = format!("{:.0}", rung.sizes.mean());
        let number = |value: fn(&Group) -> String| group.map_or_else(|| "-".to_owned(), value);
        let distance = |value: fn(&Origin) -> Option<f64>| {
            value(&rung.origin).map_or_else(|| "-".to_owned(), |ks| format!("{ks:.3}"))
        };
        table.add_row([
            rung.effort.clone(),
            number(|group| group.sessions.to_string()),
            number(|group| group.known.to_string()),
            mean,
            number(|group| format!("{:.0}", group.median())),
            number(|group| format!("{:.0}", group.p90())),
            number(|group| format!("{:.2}", group.cv)),
            distance(|origin| match origin {
                Origin::Measured(evidence) => Some(evidence.ks_lognormal),
                Origin::Assumed { .. } => None,
            }),
            distance(|origin| match origin {
                Origin::Measured(evidence) => Some(evidence.ks_mixture),
                Origin::Assumed { .. } => None,
            }),
            from,
        ]);
    }
    for column in 1..9 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let lines: String = table.lines().map(|line| format!("{}\n", line.trim_end())).collect();
    format!(
        "{}: {} calls in {} sessions; output tokens per call by effort, hardest first\n\n{lines}\n\
         turns: lag-one correlation {:.2}, session effect {:.2} (ln), turns per session cv {:.2}\n\
         time: {:.1} s overhead, {:.0} tokens per second\ntarget: {} tokens per turn\n",
        fit.model,
        fit.calls,
        fit.sessions,
        fit.rho,
        fit.tau,
        fit.turns_cv,
        fit.timing.overhead,
        fit.timing.speed,
        fit.targets[1]
    )
}
