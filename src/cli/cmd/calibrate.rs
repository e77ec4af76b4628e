//! `flyball calibrate`: logs of real agents in, a scenario out.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use crate::agents::{Health, Log, LogReader, join};
use crate::cli::args::Calibrate;
use crate::cli::error::{Failure, Outcome};
use crate::cli::exit::Exit;
use crate::cli::output::{self, warn};
use crate::lab::fit::calls::Group;
use crate::lab::fit::ladder::Origin;
use crate::lab::fit::{Calibration, FitError, Options, calibrate};
use crate::lab::scenario::Scenario;

/// The deepest folder that is looked into.
const MAX_DEPTH: usize = 32;

/// Makes a scenario.
///
/// # Errors
/// Logs of which nothing can be used, each by name; a scenario file that cannot be written.
pub fn run(args: &Calibrate) -> Outcome {
    let to_stdout = args.output == Path::new("-");
    let name = scenario_name(args, to_stdout)?;
    let files = files(&args.logs)?;
    let logs = read_all(&files)?;
    let joined = join(&logs);
    odd(&joined.health);
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

/// All files that are named, and all `*.jsonl` in folders that are, in order of name.
fn files(named: &[PathBuf]) -> Outcome<Vec<PathBuf>> {
    let mut found = Vec::new();
    for path in named {
        if path.is_dir() {
            let before = found.len();
            search(path, MAX_DEPTH, &mut found)?;
            if found.len() == before {
                warn(&format!("{}: there is no *.jsonl in this folder", path.display()));
            }
        } else {
            found.push(path.clone());
        }
    }
    found.sort();
    found.dedup();
    Ok(found)
}

fn search(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Outcome<()> {
    let unreadable = |error| Failure::usage(error).while_(format!("cannot read the folder {}", folder.display()));
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(unreadable)?);
        if kind.is_dir() && depth > 0 {
            search(&path, depth - 1, found)?;
        } else if !kind.is_dir() && path.extension().is_some_and(|ending| ending == "jsonl") {
            found.push(path);
        }
    }
    Ok(())
}

/// Reads all files: those that are no log of a known kind are told, and are a failure where nothing else is left.
fn read_all(files: &[PathBuf]) -> Outcome<Vec<Log>> {
    let (mut logs, mut faults) = (Vec::new(), Vec::new());
    for file in files {
        match read(file) {
            Ok(log) => {
                let half = log.health.half_last > 0;
                if half {
                    warn(&format!("{}: its last line is cut off, and was left out", file.display()));
                }
                if log.turns.is_empty() {
                    faults.push(format!("{}: there is no call to a model in it", file.display()));
                } else {
                    logs.push(log);
                }
            }
            Err(why) => faults.push(format!("{}: {why}", file.display())),
        }
    }
    if logs.is_empty() {
        let what = if faults.is_empty() { "there is no log".to_owned() } else { faults.join("\n  ") };
        let hint = "name session files of Claude Code (~/.claude/projects) or rollouts of Codex (~/.codex/sessions)";
        return Err(Failure::said(what).while_("cannot use these logs").hint(hint));
    }
    faults.iter().for_each(|fault| warn(fault));
    Ok(logs)
}

fn read(file: &Path) -> Result<Log, String> {
    let mut source = File::open(file).map_err(|error| error.to_string())?;
    let (mut reader, mut piece) = (LogReader::new(), vec![0; 1 << 16]);
    loop {
        match source.read(&mut piece).map_err(|error| error.to_string())? {
            0 => return reader.finish().map_err(|error| error.to_string()),
            read => reader.push(&piece[..read]),
        }
    }
}

/// Says what was odd, in one line.
fn odd(health: &Health) {
    let counts = [
        (health.lost_lines(), "unreadable lines"),
        (health.unknown_types, "lines of unknown type"),
        (health.placeholders, "calls without a final count"),
        (health.bad_numbers, "numbers that cannot be"),
        (health.bad_times, "calls without a time"),
        (health.duplicates, "calls met twice and counted once"),
    ];
    let odd: Vec<String> = counts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
    if !odd.is_empty() {
        warn(&odd.join(", "));
    }
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
