//! Ctrl-C and panics: what the process does when it is not asked politely.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::error::{Failure, Outcome};
use super::exit::Exit;
use super::output::say;

/// A flag that the first Ctrl-C raises. The second quits at once; files are never left half-written.
///
/// # Errors
/// Where the system takes no handler.
pub fn interrupted() -> Outcome<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&flag);
    let handler = move || {
        if raised.swap(true, Ordering::Relaxed) {
            quit(Exit::Interrupted);
        }
        say("interrupted: finishing the runs in progress; press Ctrl-C again to quit at once");
    };
    ctrlc::set_handler(handler).map_err(|error| Failure::internal(error).while_("cannot listen for Ctrl-C"))?;
    Ok(flag)
}

/// For a command that has nothing to finish: Ctrl-C quits at once, and is answered with a word where one that `takes_long` may leave
/// a person in doubt. Files are written beside their places and renamed.
///
/// # Errors
/// Where the system takes no handler.
pub fn at_once(takes_long: bool) -> Outcome<()> {
    let handler = move || {
        if takes_long {
            say("interrupted: stopped at once, before the end; every file is whole, or as it was");
        }
        quit(Exit::Interrupted);
    };
    ctrlc::set_handler(handler).map_err(|error| Failure::internal(error).while_("cannot listen for Ctrl-C"))
}

/// A panic is a fault of this program: said so, exit 5.
pub fn tell_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let failure = Failure::internal(anyhow::anyhow!("{panic}"));
        say(&failure.lines());
        quit(Exit::Internal);
    }));
}

#[expect(clippy::disallowed_methods, reason = "the thread that this runs on cannot return from main")]
fn quit(exit: Exit) -> ! {
    std::process::exit(exit.code().into())
}
