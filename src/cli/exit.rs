//! Exit codes: stable, documented, one meaning each.
//!
//! | code | meaning |
//! |---|---|
//! | 0 | done, and nothing to complain of |
//! | 1 | a comparison failed |
//! | 2 | usage, configuration, bad input, or a place that cannot be written |
//! | 5 | a fault of this program |
//! | 130 | interrupted by Ctrl-C; what is printed says how far it got |

use std::process::ExitCode;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Success,
    /// A comparison failed.
    Failed,
    /// Usage, configuration, bad input, unwritable output.
    Usage,
    /// A fault of this program.
    Internal,
    /// Interrupted.
    Interrupted,
}

impl Exit {
    /// The process's exit code.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Internal => 5,
            Self::Interrupted => 130,
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
        let all = [Exit::Success, Exit::Failed, Exit::Usage, Exit::Internal, Exit::Interrupted];
        assert_eq!(all.map(Exit::code), [0, 1, 2, 5, 130]);
    }
}
