//! Exit codes: stable, documented, one meaning each.
//!
//! | code | meaning |
//! |---|---|
//! | 0 | done, and nothing to complain of |
//! | 1 | a comparison failed, or a control stopped the loop |
//! | 2 | usage, configuration, bad input, or a place that cannot be written |
//! | 3 | the oracle itself is broken |
//! | 4 | the agent cannot run |
//! | 5 | a fault of this program |
//! | 129, 130, 143 | stopped by HUP, INT, TERM; what was said until then stands |

use std::process::ExitCode;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Success,
    /// A comparison failed, or a control stopped the loop.
    Failed,
    /// Usage, configuration, bad input, unwritable output.
    Usage,
    /// The oracle itself is broken.
    Oracle,
    /// The agent cannot run.
    Agent,
    /// A fault of this program.
    Internal,
    /// The terminal went away.
    Hangup,
    /// Interrupted.
    Interrupted,
    /// Told to end.
    Terminated,
}

impl Exit {
    /// The process's exit code.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Oracle => 3,
            Self::Agent => 4,
            Self::Internal => 5,
            Self::Hangup => 129,
            Self::Interrupted => 130,
            Self::Terminated => 143,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_the_documented_ones() {
        let all = [Exit::Success, Exit::Failed, Exit::Usage, Exit::Oracle, Exit::Agent, Exit::Internal];
        assert_eq!(all.map(Exit::code), [0, 1, 2, 3, 4, 5]);
        let signals = [Exit::Hangup, Exit::Interrupted, Exit::Terminated];
        assert_eq!(signals.map(Exit::code), [129, 130, 143]);
    }
}
