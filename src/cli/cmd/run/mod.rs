//! `run`: the real loop, with a real agent or a simulated one in a process of its own.
//!
//! It joins: settings to a machine, an agent and a record, and those to the [host](crate::run::host). Nothing about the loop is decided here.

pub mod args;
pub mod around;
pub mod efforts;
pub mod open;
pub mod pages;
pub mod setup;
pub mod sim;
pub mod stop;
pub mod view;

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use self::around::Around;
use self::open::{Opened, Wish, digest, open};
use self::pages::Pages;
use self::setup::{agent, agent_of, check_program, header, machine};
use self::sim::Sim;
use self::view::{Loud, Show};
use crate::agents::adapter::{AgentKind, Permissions};
use crate::cli::error::{Failure, Outcome};
use crate::cli::exit::Exit;
use crate::cli::input::{self, Role};
use crate::cli::output::{hint, print, say, warn};
use crate::cli::settings::gather::Gathered;
use crate::cli::settings::typed::{Typed, Which, list, which};
use crate::engine::{Band, Ladder, counted};
use crate::lab::scenario::file::unmarked;
use crate::run::figures::{caps, size};
use crate::run::folder::{Folder, NAME, exclude};
use crate::run::system::System;
use crate::run::{Clocks, Host, HostError, Stamps};

/// Everything that a run is set up with.
struct Prepared {
    settings: Gathered,
    typed: Typed,
    kind: AgentKind,
    sim: Option<Sim>,
    ladder: Ladder,
    /// The ladder is one rung without a word: no effort is asked for.
    unnamed: bool,
    prompt: String,
    project: PathBuf,
    /// The settings file that was named, from wherever this process was started.
    settings_file: Option<PathBuf>,
}

/// Runs the loop.
///
/// # Errors
/// Usage, settings, a record that cannot be written or was changed, an agent that cannot be started.
pub fn run(args: &args::Run) -> Outcome {
    let project = fs::canonicalize(&args.project)
        .map_err(|error| Failure::usage(error).while_(format!("cannot use the project {}", args.project.display())))?;
    let mut prepared = prepare(args, project)?;
    if args.print_config {
        let text = match args.format {
            args::Format::Text => prepared.settings.lines(),
            args::Format::Json => format!("{:#}\n", prepared.settings.json()),
        };
        print(text.as_bytes())?;
        return Ok(Exit::Success);
    }
    prepared.prompt = task(args)?;
    let around = Around::read(&prepared)?;
    around.tighten(&mut prepared.typed.limits);
    finite(&prepared.typed, &around)?;
    // the agent is started in the project, and must find what lies there
    let root = std::path::absolute(root(&prepared.project, args.state.as_ref())).map_err(Failure::usage)?;
    let wish = Wish { resume: args.resume, fresh: args.fresh, keep_rung: args.keep_rung, raise: args.raise.clone() };
    let opened = open(&Folder::new(&root), &mut prepared.settings, &prepared.prompt, &wish)?;
    prepared.typed = Typed::read(&prepared.settings)?;
    // caps may have been raised
    let around = Around::read(&prepared)?;
    around.tighten(&mut prepared.typed.limits);
    if args.state.is_none()
        && let Err(error) = exclude(&prepared.project, NAME)
    {
        warn(&format!("{NAME} could not be added to the exclude file of git: {error}"));
    }
    go(args, &prepared, &opened, around, &root)
}

fn prepare(args: &args::Run, project: PathBuf) -> Outcome<Prepared> {
    let mut flags = args.settings.given.clone();
    if let Some(all) = &args.all {
        flags.extend(in_one(all));
    }
    if !args.argv.is_empty() {
        flags.push(("argv", serde_json::to_string(&args.argv).map_err(Failure::internal)?));
    }
    let environment = |name: &str| std::env::var(name).ok();
    let mut settings = Gathered::gather(&flags, environment, args.settings_file.as_deref(), &project)?;
    let (kind, sim) = match which(&settings)? {
        Which::Real(kind) => (kind, None),
        Which::Sim => {
            let sim = Sim::of(&mut settings)?;
            (sim.kind, Some(sim))
        }
    };
    let unnamed = sim.is_none() && efforts::fill_in(&mut settings, kind)?;
    let typed = Typed::read(&settings)?;
    let words: Vec<&str> = if unnamed { vec!["-"] } else { typed.ladder.iter().map(String::as_str).collect() };
    let ladder = Ladder::new(words).map_err(|error| Failure::usage(error).while_("cannot use the ladder"))?;
    let settings_file = args.settings_file.clone();
    Ok(Prepared { settings, typed, kind, sim, ladder, unnamed, prompt: String::new(), project, settings_file })
}

/// `AGENT[/MODEL][:EFFORT]`, as the original takes it.
fn in_one(all: &str) -> Vec<(&'static str, String)> {
    let (rest, effort) = match all.rsplit_once(':') {
        Some((rest, effort)) if !effort.contains('/') => (rest, Some(effort)),
        Some(_) | None => (all, None),
    };
    let (agent, model) = rest.split_once('/').map_or((rest, None), |(agent, model)| (agent, Some(model)));
    let parts = [("agent", Some(agent)), ("model", model), ("effort", effort)];
    parts.into_iter().filter_map(|(flag, text)| Some((flag, text?.to_owned()))).collect()
}

const TASK: Role = Role { name: "task", hint: "name a file that holds it, or - for standard input" };

fn task(args: &args::Run) -> Outcome<String> {
    let text = match (&args.task, &args.prompt_file) {
        (Some(task), _) => task.clone(),
        (None, Some(file)) if file.as_os_str() == "-" => {
            let mut text = String::new();
            let read = std::io::stdin().read_to_string(&mut text);
            read.map_err(|error| Failure::usage(error).while_("cannot read the task from standard input"))?;
            text
        }
        (None, Some(file)) => input::text(TASK, file, input::LONG)?,
        (None, None) => String::new(),
    };
    let text = unmarked(&text).to_owned();
    if text.trim().is_empty() {
        return Err(Failure::said("there is no task")
            .hint("flyball run --agent sim \"what the agent is to do\", or --prompt-file FILE, also for one that begins with a dash"));
    }
    Ok(text)
}

fn finite(typed: &Typed, around: &Around) -> Outcome<()> {
    if typed.limits.caps().is_finite() || around.is_finite() || typed.unlimited {
        return Ok(());
    }
    Err(Failure::said("nothing would ever stop this loop: no cap on rounds, tokens, cost or wall time is set")
        .hint("--max-rounds 20 or --budget 10 ends it; --unlimited says that it is meant"))
}

fn go(args: &args::Run, prepared: &Prepared, opened: &Opened, around: Around, records: &Path) -> Outcome {
    let typed = &prepared.typed;
    let band =
        Band::new(typed.juice, typed.slack).map_err(|error| Failure::usage(error).while_("cannot use the target"))?;
    let stamps = if prepared.sim.as_ref().is_some_and(Sim::is_instant) { Stamps::Agent } else { Stamps::Own };
    let mut agent = agent(prepared, opened, stamps)?;
    check_program(prepared, &agent)?;
    let (has_end, asks) = (around.has_end(), around.asks);
    let mut project = around.project(prepared, opened, records)?;
    opened.write_config(&prepared.settings, &digest(&prepared.prompt))?;
    let header = header(prepared, typed);
    let journal = opened.journal(&header, &prepared.ladder)?;
    let machine = machine(prepared, typed, band, opened, asks);
    let loud = if args.quiet {
        Loud::Quiet
    } else if args.verbose {
        Loud::Verbose
    } else {
        Loud::Usual
    };
    let json = args.format == args::Format::Json;
    let mut show = Show::new(loud, json, prepared.ladder.clone(), band, typed.limits.budget, Pages::new(records));
    show.pages.say(&format!("run {} {}", opened.id, if opened.resumed { "goes on" } else { "begins" }));
    introduce(prepared, opened, has_end, loud, json);
    let mut system = System::new(&opened.folder, opened.at, stamps)
        .map_err(|error| Failure::internal(error).while_("cannot listen to signals"))?;
    let clocks = Clocks { after_result: typed.after_result, ..Clocks::default() };
    let outcome = Host::new(&mut system, &mut agent, &mut project, &mut show, machine, journal)
        .with(stamps, clocks)
        .warning_at(typed.warn)
        .run();
    match outcome {
        Ok(ended) => {
            let exit = stop::say_how(&ended, typed, &opened.id, json);
            show.pages.over(&opened.id, &ended, exit, &prepared.settings, typed);
            Ok(exit)
        }
        Err(HostError::Agent(why)) => {
            Err(Failure::agent(anyhow::anyhow!("{why}")).while_("the agent cannot be started"))
        }
        Err(HostError::Site(why)) => Err(Failure::said(why).while_("the loop cannot go on")),
        Err(error @ HostError::Record(_)) => {
            Err(Failure::usage(error)
                .hint("nothing more is spent; free the disk and run the same command again to go on"))
        }
    }
}

/// Says at the start what is to be known.
fn introduce(prepared: &Prepared, opened: &Opened, has_end: bool, loud: Loud, json: bool) {
    if loud == Loud::Quiet || json {
        return;
    }
    let (what, capabilities) =
        (if opened.resumed { "goes on with" } else { "starts" }, prepared.kind.adapter().capabilities());
    let words: Vec<&str> = prepared.ladder.efforts().iter().map(|effort| effort.word()).collect();
    let agent = prepared.settings.get("agent.kind").text.as_str();
    let model = prepared.settings.get("agent.model").text.as_str();
    say(&format!(
        "flyball: {what} run {}: {agent}{}, efforts {} (hardest first), {} a turn over {}",
        opened.id,
        if model.is_empty() { String::new() } else { format!(" {model}") },
        words.join(" "),
        counted(&prepared.settings.get("governor.juice").text, "token"),
        prepared.settings.get("governor.over").text,
    ));
    say(&format!("flyball: the task has {}", size(&prepared.prompt)));
    let mut caps = caps(&prepared.typed.limits.caps());
    // as they were given; what other runs left of them is not known yet
    caps.extend(list(&prepared.settings.get("controls.shared").text).unwrap_or_default());
    if !caps.is_empty() {
        say(&format!("flyball: stops at {} at the latest", caps.join(", ")));
    }
    opened.notes.iter().for_each(|note| warn(note));
    if prepared.sim.is_none() {
        match prepared.typed.permissions {
            Permissions::Safe => say(&format!("flyball: permissions safe: {}", capabilities.safe)),
            Permissions::Skip => warn(&format!("permissions skip: {}", capabilities.skip)),
        }
    }
    if prepared.unnamed {
        hint("no effort is asked for: the ladder of this agent is not known; name it with --ladder");
    }
    if !has_end {
        say("flyball: no oracle is set: only a cap or Ctrl-C ends the loop");
    }
}

/// Where a run's records would lie.
#[must_use]
pub fn root(project: &Path, state: Option<&PathBuf>) -> PathBuf {
    state.cloned().unwrap_or_else(|| project.join(NAME))
}
