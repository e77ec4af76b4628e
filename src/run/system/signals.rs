//! Signals as messages, and job control.
//!
//! | signal | what comes of it |
//! |---|---|
//! | INT, TERM, HUP | a fact: somebody asks for a stop; HUP not where it was ignored at the start, as by `nohup` |
//! | TSTP (Ctrl-Z) | the agent's group is stopped, then the runner; the clock stands until both go on |

use std::io;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::thread;

use rustix::process::{Signal, kill_process_group};
use signal_hook::consts::{SIGHUP, SIGINT, SIGSTOP, SIGTERM, SIGTSTP};
use signal_hook::iterator::Signals;
use signal_hook::low_level::raise;

use super::clock::Clock;
use super::{Asked, Message};

/// Listens from now on.
pub(super) fn listen(sender: SyncSender<Message>, clock: Arc<Clock>) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGTSTP])?;
    if !ignores_hangup() {
        signals.add_signal(SIGHUP)?;
    }
    thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for signal in signals.forever() {
            let asked = match signal {
                SIGINT => Asked::Int,
                SIGTERM => Asked::Term,
                SIGHUP => Asked::Hup,
                _ => {
                    suspend(&clock);
                    continue;
                }
            };
            if sender.send(Message::Asked(asked)).is_err() {
                return;
            }
        }
    })?;
    Ok(())
}

/// Whether this process was started with HUP ignored, as far as the system tells.
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (SIGHUP - 1) & 1 == 1
}

/// Stops the agent and then this process; comes back when somebody lets them go on.
fn suspend(clock: &Clock) {
    if let Some(group) = clock.freeze() {
        let _ = kill_process_group(group, Signal::STOP);
    }
    // stands here until the process is continued: sent to this very thread, since one that is sent to the process may be taken by
    // another thread, and this one would let the agent go on before it stops
    let _ = raise(SIGSTOP);
    if let Some(group) = clock.thaw() {
        let _ = kill_process_group(group, Signal::CONT);
    }
}
