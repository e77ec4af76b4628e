//! Signals as messages, and job control.
//!
//! | signal | what comes of it |
//! |---|---|
//! | INT, TERM, HUP | a fact: somebody asks for a stop |
//! | TSTP (Ctrl-Z) | the agent's group is stopped, then the runner; the clock stands until both go on |

use std::io;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::thread;

use rustix::process::{Signal, getpid, kill_process, kill_process_group};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGTSTP};
use signal_hook::iterator::Signals;

use super::clock::Clock;
use super::{Asked, Message};

/// Listens from now on.
pub(super) fn listen(sender: SyncSender<Message>, clock: Arc<Clock>) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP, SIGTSTP])?;
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

/// Stops the agent and then this process; comes back when somebody lets them go on.
fn suspend(clock: &Clock) {
    if let Some(group) = clock.freeze() {
        let _ = kill_process_group(group, Signal::STOP);
    }
    // stands here until the process is continued
    let _ = kill_process(getpid(), Signal::STOP);
    if let Some(group) = clock.thaw() {
        let _ = kill_process_group(group, Signal::CONT);
    }
}
