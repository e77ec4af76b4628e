//! Ways to misbehave, each small, for trying how the loop takes them.

use std::env;
use std::io;
use std::process::{Command, Stdio};
use std::str::FromStr;
use std::time::Duration;

use crate::cli::error::{Failure, Outcome};

/// The variable by which it knows that signals are ignored already.
const DEAF: &str = "FLYBALL_FAKE_DEAF";

/// How long a child that outlives the round sleeps, in seconds.
const CHILD_SECONDS: &str = "600";

/// A way to misbehave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// TERM and INT do nothing, and after its last line it sleeps for ever.
    IgnoreTerm,
    /// A child keeps standard output open after the round.
    GrandchildHoldsPipe,
    /// A child in a session of its own outlives the round.
    SetsidChild,
    /// So many bytes that mean nothing, after the first line.
    Flood(u64),
    /// It ends in the middle of a line.
    HalfLine,
    /// After its first line it sleeps for ever.
    Sleep,
    /// The backend fails, and it ends with 0.
    ExitZeroWithError,
    /// It ends with 1 at once.
    Fail,
    /// One line of so many bytes, after the first.
    LongLine(u64),
    /// From a round on, it does not know an effort.
    Ignores {
        /// The effort's word.
        word: String,
        /// The round, from 1.
        from: u64,
    },
}

impl FromStr for Act {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        let bytes = || value.parse().map_err(|_| format!("{name} takes a number of bytes, as in {name}=1000000"));
        Ok(match (name, value) {
            ("ignore-term", "") => Self::IgnoreTerm,
            ("grandchild-holds-pipe", "") => Self::GrandchildHoldsPipe,
            ("setsid-child", "") => Self::SetsidChild,
            ("half-line", "") => Self::HalfLine,
            ("sleep", "") => Self::Sleep,
            ("exit-0-with-error", "") => Self::ExitZeroWithError,
            ("fail", "") => Self::Fail,
            ("flood", _) => Self::Flood(bytes()?),
            ("long-line", _) => Self::LongLine(bytes()?),
            ("ignores", value) => {
                let parts = value.split_once('@').and_then(|(word, from)| Some((word, from.parse().ok()?)));
                let (word, from) = parts.ok_or("ignores takes a word and a round, as in ignores=high@5")?;
                Self::Ignores { word: word.to_owned(), from }
            }
            _ => return Err(format!("no way to misbehave is called {text}")),
        })
    }
}

impl Act {
    /// Whether an effort is not known in a round.
    pub(super) fn ignores(&self, effort: &str, round: u64) -> bool {
        matches!(self, Self::Ignores { word, from } if word == effort && round >= *from)
    }
}

/// Signals are ignored already.
pub(super) fn is_deaf() -> bool {
    env::var_os(DEAF).is_some()
}

/// Becomes the same program with TERM and INT ignored, which a program inherits.
#[cfg(unix)]
pub(super) fn go_deaf() -> Outcome {
    use std::os::unix::process::CommandExt as _;
    let failed = |error: io::Error| Failure::internal(error).while_("cannot start over with signals ignored");
    let own = env::current_exe().map_err(failed)?;
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' TERM INT; exec \"$@\"", "sh"]).arg(own).args(env::args_os().skip(1)).env(DEAF, "1");
    Err(failed(shell.exec()))
}

/// There are no such signals.
#[cfg(not(unix))]
pub(super) fn go_deaf() -> Outcome {
    Err(Failure::said("signals can only be ignored on Unix"))
}

/// Starts the children that outlive the round.
pub(super) fn children(acts: &[Act]) -> io::Result<()> {
    if acts.contains(&Act::GrandchildHoldsPipe) {
        // standard output is its own, too
        Command::new("sleep").arg(CHILD_SECONDS).stdin(Stdio::null()).spawn()?;
    }
    if acts.contains(&Act::SetsidChild) {
        let mut child = Command::new("setsid");
        child.args(["sleep", CHILD_SECONDS]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        child.spawn()?;
    }
    Ok(())
}

/// Sleeps until it is killed.
pub(super) fn sleep_for_ever() -> ! {
    loop {
        pause(Duration::from_secs(3600));
    }
}

/// Lets real time pass.
#[expect(clippy::disallowed_methods, reason = "a made-up agent that takes its time, where that is asked for")]
pub fn pause(time: Duration) {
    std::thread::sleep(time);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acts_are_read_and_bad_ones_are_named() {
        assert_eq!("flood=1000".parse(), Ok(Act::Flood(1000)));
        assert_eq!("ignores=high@5".parse(), Ok(Act::Ignores { word: "high".to_owned(), from: 5 }));
        let act: Act = "ignores=high@5".parse().unwrap();
        assert!(act.ignores("high", 5) && !act.ignores("high", 4) && !act.ignores("low", 9));
        for bad in ["flood", "flood=x", "ignores=high", "sleep=1", "dance"] {
            assert!(bad.parse::<Act>().is_err(), "{bad}");
        }
    }
}
