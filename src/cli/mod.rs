//! The command line: arguments in, the library's work, files and exit codes out.
//!
//! It joins and decides nothing: one command a file under [`cmd`], each thin. Data go to stdout, talk to stderr; the exit
//! codes are those of [`exit`].

pub mod args;
pub mod cmd;
pub mod error;
pub mod exit;
pub mod input;
pub mod logs;
pub mod output;
pub mod settings;
pub mod signal;

use std::process::ExitCode;

use clap::Parser;
use clap::error::{ContextKind, ErrorKind};

use args::{Cli, Command};
use exit::Exit;

/// Runs the command that the arguments name.
#[must_use]
pub fn main() -> ExitCode {
    if let Some(code) = crate::run::gate::pass(std::env::args_os()) {
        return ExitCode::from(code);
    }
    signal::tell_panics();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(mut error) => {
            if error.kind() == ErrorKind::UnknownArgument {
                // where a flag is near it is named; that a flag might have been meant as a file after `--` misleads
                error.remove(ContextKind::Suggested);
            }
            // help and version go to stdout and are a success; where nobody reads them, too
            let _ = error.print();
            return if error.use_stderr() { Exit::Usage.into() } else { Exit::Success.into() };
        }
    };
    let listen = || {
        let takes_long = matches!(cli.command, Command::Recommend(_) | Command::Sensitivity(_));
        if ends_at_once(&cli.command) { signal::at_once(takes_long) } else { Ok(()) }
    };
    let ready = cmd::common::set_threads().and_then(|()| listen());
    let outcome = ready.and_then(|()| match cli.command {
        Command::Sweep(args) => cmd::sweep::run(&args),
        Command::Explain(args) => cmd::explain::run(&args),
        Command::Gate(args) => cmd::gate::run(&args),
        Command::Recommend(args) => cmd::recommend::run(&args),
        Command::Sensitivity(args) => cmd::sensitivity::run(&args),
        Command::Simulate(args) => cmd::simulate::run(&args),
        Command::Conform(args) => cmd::conform::run(&args),
        Command::Ledger(args) => cmd::ledger::run(&args),
        Command::Calibrate(args) => cmd::calibrate::run(&args),
        Command::Validate(args) => cmd::validate::run(&args),
        Command::Replay(args) => cmd::replay::run(&args),
        Command::Pilot(args) => cmd::pilot::run(&args),
        Command::Run(args) => cmd::run::run(&args),
        Command::Runs(args) => cmd::runs::list(&args),
        Command::Status(args) => cmd::runs::status(&args),
        Command::Export(args) => cmd::export::run(&args),
        Command::Init(args) => cmd::init::run(&args),
        Command::Watch(args) => cmd::watch::run(&args),
        Command::Doctor(args) => cmd::doctor::run(&args),
        Command::FakeAgent(args) => cmd::fake_agent::run(&args),
        Command::Study(args) => cmd::study::run(&args),
    });
    match outcome {
        Ok(exit) => exit.into(),
        Err(failure) => {
            if !failure.is_closed_pipe() {
                output::say(&failure.lines());
            }
            failure.exit().into()
        }
    }
}

/// Whether a command has nothing to finish when it is interrupted: the others listen for themselves.
const fn ends_at_once(command: &Command) -> bool {
    match command {
        Command::Explain(_)
        | Command::Gate(_)
        | Command::Recommend(_)
        | Command::Sensitivity(_)
        | Command::Simulate(_)
        | Command::Conform(_)
        | Command::Ledger(_)
        | Command::Calibrate(_)
        | Command::Validate(_)
        | Command::Replay(_)
        | Command::Pilot(_)
        | Command::Runs(_)
        | Command::Status(_)
        | Command::Init(_)
        | Command::Export(_)
        | Command::Doctor(_) => true,
        Command::Sweep(_) | Command::Study(_) | Command::Run(_) | Command::Watch(_) | Command::FakeAgent(_) => false,
    }
}
