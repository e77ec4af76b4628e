//! `flyball study`: every law on every scenario and on a random family of loops, as one page.

use std::sync::atomic::Ordering;

use super::common;
use crate::cli::args::Study as Args;
use crate::cli::error::{Failure, Outcome};
use crate::cli::exit::Exit;
use crate::cli::output;
use crate::cli::signal;
use crate::lab::bounds::{self, MAX_ROUNDS, MAX_RUNS, MAX_THREADS};
use crate::lab::scenario::Scenario;
use crate::lab::study::{Plan, StudyError, render, study};

/// Studies.
///
/// # Errors
/// A scenario or flag at fault.
pub fn run(args: &Args) -> Outcome {
    let scenarios = args.scenarios.iter().map(|path| common::scenario(path)).collect::<Outcome<Vec<Scenario>>>()?;
    let plan = plan(args)?;
    let stop = signal::interrupted()?;
    let bar = output::bar(1, 1);
    let done = |done: usize, all: usize| {
        bar.set_length(all as u64);
        bar.set_position(done as u64);
    };
    let found = study(&scenarios, &plan, &stop, &done);
    bar.finish_and_clear();
    match found {
        Ok(found) => output::print(render(&found, &command(args)).as_bytes())?,
        Err(StudyError::Stopped) => return Ok(Exit::Interrupted),
        Err(error @ StudyError::Member) => return Err(Failure::internal(error)),
        Err(error @ (StudyError::Grid(_) | StudyError::Sweep(_))) => return Err(Failure::usage(error)),
    }
    Ok(if stop.load(Ordering::Relaxed) { Exit::Interrupted } else { Exit::Success })
}

fn plan(args: &Args) -> Outcome<Plan> {
    let cores = std::thread::available_parallelism().map_or(1, |cores| u32::try_from(cores.get()).unwrap_or(1));
    let threads = bounds::count("--threads", args.threads, cores, MAX_THREADS).map_err(Failure::usage)?;
    Ok(Plan {
        runs: bounds::count("--runs", Some(args.runs), 1, MAX_RUNS).map_err(Failure::usage)?,
        families: families(args),
        loops: match args.loops {
            0 => 0,
            loops => bounds::count("--loops", Some(loops), 1, MAX_RUNS).map_err(Failure::usage)?,
        },
        rounds: bounds::count("--rounds", Some(args.rounds), 200, MAX_ROUNDS).map_err(Failure::usage)?,
        seed: args.seed,
        threads: threads as usize,
    })
}

/// The families that were asked for, or that of the seed.
fn families(args: &Args) -> Vec<u64> {
    if args.families.is_empty() { vec![args.seed] } else { args.families.clone() }
}

/// What makes the page again: the files one by one, since a pattern need not hold the same ones tomorrow.
fn command(args: &Args) -> String {
    let files: String = args.scenarios.iter().map(|path| format!(" {}", path.display())).collect();
    let families: String = families(args).iter().map(|seed| format!(" --family {seed}")).collect();
    let Args { runs, loops, rounds, seed, .. } = args;
    format!("flyball study{files} --runs {runs}{families} --loops {loops} --rounds {rounds} --seed {seed}")
}
