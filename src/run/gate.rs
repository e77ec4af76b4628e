//! The gate: a process of this program that waits on its standard input for one byte, and then becomes the agent.
//!
//! Between the start of a process and the moment at which its number is on disk a crash would leave an agent that nobody
//! knows of. So what is started is this program under the name [`GATE`]: it reads one byte, and no more, because what follows in the pipe
//! is the prompt. The runner writes that byte once the process is in the journal. Where the runner is lost before, the pipe
//! ends, and the gate leaves without having done anything. Where it is lost after, the system ends the agent (on Linux; elsewhere the
//! next process of the run does).
//!
//! It parses nothing: what follows its name is the argv, word for word, and no shell sees it.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// The first argument by which this program knows that it is to be a gate.
pub const GATE: &str = "__gate";
/// The byte that opens it.
pub const OPEN: u8 = b'\n';
/// The exit code of a gate that never became an agent because the runner was gone.
pub const LEFT: u8 = 75;
/// The exit code where the agent's program cannot be started, as a shell gives it.
pub const NO_PROGRAM: u8 = 127;

/// Is a gate where the arguments say so, and then comes back only if the agent could not be started: with the exit code.
#[must_use]
pub fn pass(mut arguments: impl Iterator<Item = OsString>) -> Option<u8> {
    let _program = arguments.next();
    if arguments.next()? != GATE {
        return None;
    }
    let argv: Vec<OsString> = arguments.collect();
    let (program, rest) = argv.split_first()?;
    // the agent goes with its runner: a loop that nobody governs must not spend
    #[cfg(target_os = "linux")]
    if rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL)).is_err() {
        return Some(LEFT);
    }
    let mut byte = [0_u8; 1];
    match rustix::io::read(std::io::stdin(), &mut byte) {
        Ok(1) if byte[0] == OPEN => {}
        Ok(_) | Err(_) => return Some(LEFT),
    }
    let error = Command::new(program).args(rest).exec();
    crate::run::system::tell(&format!("cannot start {}: {error}", program.display()));
    Some(NO_PROGRAM)
}
