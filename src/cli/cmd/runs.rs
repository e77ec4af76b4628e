//! `runs` and `status`: what the records of a project say.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};

use crate::cli::args::whole;
use crate::cli::error::{Failure, Outcome};
use crate::cli::exit::Exit;
use crate::cli::output::print;
use crate::engine::{Control, MicroUsd, RoundExit, Tokens, counted};
use crate::run::Summary;
use crate::run::figures::{millions, span, usd};
use crate::run::folder::Folder;
use crate::run::record::{CONFIG, JOURNAL};
use crate::run::summary::Round;
use crate::trace::{Reader, TraceError};

/// Which project.
#[derive(Debug, Args)]
pub struct Place {
    /// The project's folder
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub project: PathBuf,
    /// Where the records are [default: .flyball in the project]
    #[arg(long, value_name = "DIR")]
    pub state: Option<PathBuf>,
}

impl Place {
    /// Its records.
    #[must_use]
    pub fn folder(&self) -> Folder {
        Folder::new(&super::run::root(&self.project, self.state.as_ref()))
    }
}

/// `runs`.
#[derive(Debug, Args)]
pub struct Runs {
    /// Which project.
    #[command(flatten)]
    pub place: Place,
    /// What to print
    #[arg(long, value_enum, default_value = "text")]
    pub format: super::run::args::Format,
}

/// `status`.
#[derive(Debug, Args)]
pub struct Status {
    /// The run [default: the last one]
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
    /// Which project.
    #[command(flatten)]
    pub place: Place,
    /// Rounds to show, the last ones
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 10)]
    #[arg(value_parser = whole::<usize, 0, { u64::MAX }>)]
    pub rounds: usize,
    /// What to print
    #[arg(long, value_enum, default_value = "text")]
    pub format: super::run::args::Format,
}

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stands {
    /// Somebody is at work on it.
    Runs,
    /// It was stopped by this.
    Stopped(Control),
    /// Its process was lost.
    Lost,
}

impl Stands {
    /// In words.
    #[must_use]
    pub fn words(self) -> String {
        match self {
            Self::Runs => "runs".to_owned(),
            Self::Stopped(control) => format!("stopped by {control}"),
            Self::Lost => "lost: the same command goes on with it".to_owned(),
        }
    }
}

/// A run of a folder, read.
#[derive(Clone, Debug)]
pub struct Known {
    /// Its name.
    pub id: String,
    /// What it comes to.
    pub summary: Summary,
    /// How it stands.
    pub stands: Stands,
    /// Which agent.
    pub agent: String,
}

/// Reads a run.
///
/// # Errors
/// A run that is not there, or a journal that was changed.
pub fn read(folder: &Folder, id: Option<&str>) -> Outcome<Known> {
    let runs = folder.runs();
    let nothing = || {
        Failure::said(format!("no run is recorded in {}", folder.path().display()))
            .hint("flyball run --agent sim \"any task\" makes one")
    };
    let last = runs.last().ok_or_else(nothing)?;
    let id = id.unwrap_or(last);
    if !runs.iter().any(|run| run == id) {
        return Err(Failure::said(format!("no run is called {id}; the last is {last}")).hint("flyball runs lists them"));
    }
    let path = folder.run(id);
    let summary = summary(&path.join(JOURNAL))
        .map_err(|error| Failure::usage(error).while_(format!("cannot read {}", path.join(JOURNAL).display())))?;
    let stands = match summary.stopped {
        Some(control) => Stands::Stopped(control),
        None if id == last && folder.owner().is_some() => Stands::Runs,
        None => Stands::Lost,
    };
    Ok(Known { id: id.to_owned(), summary, stands, agent: agent(&path) })
}

fn summary(path: &Path) -> Result<Summary, TraceError> {
    let mut reader = Reader::new(BufReader::new(File::open(path)?))?;
    let mut summary = Summary::new(reader.header().setup.clone());
    while let Some(line) = reader.next_line()? {
        summary.take(&line);
    }
    Ok(summary)
}

fn agent(path: &Path) -> String {
    let config: Option<Value> = fs::read(path.join(CONFIG)).ok().and_then(|text| serde_json::from_slice(&text).ok());
    let text = |name: &str| {
        config.as_ref().and_then(|config| config["settings"][name]["value"].as_str()).unwrap_or_default().to_owned()
    };
    format!("{} {}", text("agent.kind"), text("agent.model")).trim_end().to_owned()
}

/// Lists the runs.
///
/// # Errors
/// What cannot be read.
pub fn list(args: &Runs) -> Outcome {
    let folder = args.place.folder();
    let known: Vec<Known> = folder.runs().iter().filter_map(|id| read(&folder, Some(id)).ok()).collect();
    if known.is_empty() {
        read(&folder, None)?;
    }
    let text = match args.format {
        super::run::args::Format::Json => known.iter().map(|known| format!("{}\n", object(known, 0))).collect(),
        super::run::args::Format::Text => {
            let head =
                format!("{:<18}  {:<24}  {:>6}  {:>9}  {:>8}  {}\n", "run", "agent", "rounds", "output", "lasted", "");
            let line = |known: &Known| {
                let summary = &known.summary;
                let (output, lasted) =
                    (millions(summary.output), span(summary.at.since(crate::engine::Timestamp::EPOCH)));
                let (agent, words) = (&known.agent, known.stands.words());
                format!("{:<18}  {agent:<24}  {:>6}  {output:>9}  {lasted:>8}  {words}\n", known.id, summary.begun)
            };
            head + &known.iter().map(line).collect::<String>()
        }
    };
    print(text.as_bytes())?;
    Ok(Exit::Success)
}

/// Shows one run.
///
/// # Errors
/// What cannot be read.
pub fn status(args: &Status) -> Outcome {
    let known = read(&args.place.folder(), args.run.as_deref())?;
    let text = match args.format {
        super::run::args::Format::Json => format!("{}\n", object(&known, args.rounds)),
        super::run::args::Format::Text => lines(&known, args.rounds),
    };
    print(text.as_bytes())?;
    Ok(Exit::Success)
}

fn lines(known: &Known, rounds: usize) -> String {
    let (summary, setup) = (&known.summary, &known.summary.setup);
    let budget = setup.budget_tokens.map(|budget| format!(" of {}", millions(Tokens::new(budget)))).unwrap_or_default();
    let cost = if summary.cost == MicroUsd::ZERO { String::new() } else { format!(", {}", usd(summary.cost)) };
    let wait = match (&summary.waits, known.stands) {
        (Some((what, Some(until))), Stands::Runs) if until > &summary.at => {
            format!(", waits for {what} for up to {} more", span(until.since(summary.at)))
        }
        (Some((what, _)), Stands::Runs) => format!(", waits for {what}"),
        _ => String::new(),
    };
    let mut text = format!(
        "run {}: {}{wait}\n{}, law {}, target {} a turn over {}, efforts {} (hardest first)\n{}, {}{cost}, {}\n\n",
        known.id,
        known.stands.words(),
        known.agent,
        setup.law,
        counted(setup.juice_millionths / 1_000_000, "token"),
        span(crate::engine::Millis::new(setup.over_ms)),
        setup.ladder.join(" "),
        counted(summary.begun, "round"),
        counted(format!("{}{budget}", millions(summary.output)), "output token"),
        span(summary.at.since(crate::engine::Timestamp::EPOCH)),
    );
    text.push_str(&format!(
        "{:>5}  {:<8}  {:>5}  {:>8}  {:<14}  {:>8}  {:>7}  {}\n",
        "round", "effort", "turns", "reading", "next", "output", "lasted", "end"
    ));
    for round in summary.rounds.iter().rev().take(rounds).rev() {
        text.push_str(&line(summary, round));
    }
    for note in summary.notes.iter().rev().take(5).rev() {
        text.push_str(&format!("note: {note}\n"));
    }
    text
}

fn line(summary: &Summary, round: &Round) -> String {
    let reading = round.reading.filter(|mean| mean.turns > 0);
    let reading = reading.map_or_else(|| "-".to_owned(), |mean| (mean.total_tokens / mean.turns).to_string());
    format!(
        "{:>5}  {:<8}  {:>5}  {reading:>8}  {:<14}  {:>8}  {:>7}  {}\n",
        round.number,
        round.effort,
        round.turns,
        round.next.as_deref().unwrap_or("-"),
        round.output.count(),
        span(summary.lasted(round)),
        round.exit.map_or("under way", RoundExit::word),
    )
}

fn object(known: &Known, rounds: usize) -> Value {
    let summary = &known.summary;
    let one = |round: &Round| {
        json!({
            "round": round.number,
            "effort": round.effort,
            "confirmed": round.confirmed,
            "turns": round.turns,
            "output_tokens": round.output.count(),
            "reading": round.reading.map(|mean| json!({"total_tokens": mean.total_tokens, "turns": mean.turns})),
            "next": round.next,
            "why": round.why,
            "exit": round.exit.map(RoundExit::word),
            "lasted_ms": summary.lasted(round).count(),
        })
    };
    json!({
        "run": known.id,
        "agent": known.agent,
        "state": match known.stands { Stands::Runs => "runs", Stands::Stopped(_) => "stopped", Stands::Lost => "lost" },
        "control": summary.stopped.map(Control::name),
        "rounds_begun": summary.begun,
        "output_tokens": summary.output.count(),
        "tokens": summary.tokens.count(),
        "micro_usd": summary.cost.count(),
        "at_ms": summary.at.millis(),
        "budget_tokens": summary.setup.budget_tokens,
        "rounds": summary.rounds.iter().rev().take(rounds).rev().map(one).collect::<Vec<_>>(),
    })
}
