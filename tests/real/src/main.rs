//! The real agent CLIs, offline: each is driven through cases against a model server on loopback, and what flyball says
//! it spent is compared with what the server stated, to the token.
//!
//! Not part of the project's tests: `run` beside this package builds it, gives it name spaces of its own and calls it.

mod api;
mod cases;
mod checks;
mod cli;
mod http;
mod journal;
mod sandbox;
mod script;
mod stub;
mod tools;

use std::path::PathBuf;
use std::process::ExitCode;

use cases::{Outcome, Setup};

const USAGE: &str =
    "flyball-real --installs DIR --flyball FILE --work DIR [--patience TIMES] [--only CLI[/CASE]]... [--list]";

/// What the command line says.
struct Args {
    setup: Setup,
    only: Vec<String>,
    list: bool,
}

fn args() -> Result<Args, String> {
    let (mut installs, mut flyball, mut work) = (None, None, None);
    let (mut only, mut list, mut patience) = (Vec::new(), false, 1);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("{word} wants a value\n{USAGE}"));
        match word.as_str() {
            "--installs" => installs = Some(PathBuf::from(value()?)),
            "--flyball" => flyball = Some(PathBuf::from(value()?)),
            "--work" => work = Some(PathBuf::from(value()?)),
            "--patience" => patience = value()?.parse().map_err(|_| USAGE)?,
            "--only" => only.push(value()?),
            "--list" => list = true,
            _ => return Err(format!("what is {word}?\n{USAGE}")),
        }
    }
    let need = |what: Option<PathBuf>| what.ok_or_else(|| USAGE.to_owned());
    let setup = Setup { installs: need(installs)?, flyball: need(flyball)?, work: need(work)?, patience };
    Ok(Args { setup, only, list })
}

fn run() -> Result<bool, String> {
    let Args { setup, only, list } = args()?;
    let wanted = |cli: &str, case: &str| {
        only.is_empty() || only.iter().any(|only| only == cli || only == case || *only == format!("{cli}/{case}"))
    };
    if !list {
        sandbox::check()?;
    }
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    for cli in cli::CLIS {
        let cases: Vec<_> = cases::CASES.iter().filter(|case| wanted(cli.name, case.name)).collect();
        if list {
            cases.iter().for_each(|case| println!("{}/{}", cli.name, case.name));
            continue;
        }
        for case in cases {
            let (mark, text) = match cases::run(&setup, cli, case) {
                Outcome::Passed(text) => {
                    passed += 1;
                    ("ok", text)
                }
                Outcome::Skipped(why) => {
                    skipped += 1;
                    ("skipped", why)
                }
                Outcome::Failed(why) => {
                    failed += 1;
                    ("FAILED", why)
                }
            };
            println!("{:<9} {:<8} {:<16} {:<8} {text}", cli.name, cli.version, case.name, mark);
        }
    }
    if !list {
        println!("{passed} passed, {failed} failed, {skipped} skipped");
    }
    Ok(failed == 0)
}

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("flyball-real: {error}");
            ExitCode::from(2)
        }
    }
}
