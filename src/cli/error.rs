//! Failures as people read them: what was attempted, what happened, what to do.
//!
//! A [`Failure`] is a chain of causes, the exit code that it comes to, and hints. A pipe that the reader closed is no
//! failure: `flyball sweep ... | head` ends quietly.

use std::fmt::Display;
use std::io;

use super::exit::Exit;

/// Why a command failed.
#[derive(Debug)]
pub struct Failure {
    exit: Exit,
    error: anyhow::Error,
    hints: Vec<String>,
}

/// What a command comes to.
pub type Outcome<T = Exit> = Result<T, Failure>;

impl Failure {
    /// Bad usage, bad input, or a place that cannot be written: exit 2.
    pub fn usage(error: impl Into<anyhow::Error>) -> Self {
        Self { exit: Exit::Usage, error: error.into(), hints: Vec::new() }
    }

    /// The same from a plain message.
    pub fn said(message: impl Display) -> Self {
        Self::usage(anyhow::anyhow!("{message}"))
    }

    /// An agent that cannot run: exit 4.
    pub fn agent(error: impl Into<anyhow::Error>) -> Self {
        Self { exit: Exit::Agent, error: error.into(), hints: Vec::new() }
    }

    /// A fault of this program: exit 5.
    pub fn internal(error: impl Into<anyhow::Error>) -> Self {
        let hints = vec!["this is a fault of flyball itself: please report it with the command line".to_owned()];
        Self { exit: Exit::Internal, error: error.into(), hints }
    }

    /// Adds what was attempted, in front.
    #[must_use]
    pub fn while_(self, attempted: impl Display + Send + Sync + 'static) -> Self {
        Self { error: self.error.context(attempted), ..self }
    }

    /// Adds what to do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// The exit code that it comes to: success where nobody reads any more.
    #[must_use]
    pub fn exit(&self) -> Exit {
        if self.is_closed_pipe() { Exit::Success } else { self.exit }
    }

    /// Whether it only says that the reader of a pipe has gone.
    #[must_use]
    pub fn is_closed_pipe(&self) -> bool {
        let io = |cause: &(dyn std::error::Error + 'static)| cause.downcast_ref::<io::Error>().map(io::Error::kind);
        self.error.chain().any(|cause| io(cause) == Some(io::ErrorKind::BrokenPipe))
    }

    /// The lines for stderr; colours are taken out where they are not wanted.
    #[must_use]
    pub fn lines(&self) -> String {
        let mut text = format!("\u{1b}[1;31merror:\u{1b}[0m {}\n", self.error);
        for cause in self.error.chain().skip(1) {
            // a cause of several lines, such as all faults of a file, stays one block
            text.push_str(&format!("  {}\n", cause.to_string().replace('\n', "\n  ")));
        }
        for hint in &self.hints {
            text.push_str(&format!("\u{1b}[1;36mhint:\u{1b}[0m {hint}\n"));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_says_what_was_attempted_what_happened_and_what_to_do() {
        let failure = Failure::said("permission denied").while_("cannot write out/x").hint("choose another --out");
        let text = failure.lines();
        let order = ["cannot write out/x", "permission denied", "choose another --out"].map(|part| text.find(part));
        assert!(order.iter().all(Option::is_some) && order.is_sorted(), "{text}");
        let two = Failure::said("a.toml:1: one\na.toml:2: two").while_("cannot use a.toml").lines();
        assert!(two.contains("\n  a.toml:1: one\n  a.toml:2: two\n"), "{two}");
        assert_eq!(failure.exit(), Exit::Usage);
        assert_eq!(Failure::internal(anyhow::anyhow!("x")).exit(), Exit::Internal);
    }

    #[test]
    fn a_closed_pipe_is_quiet_success_however_deep() {
        let closed = || Failure::usage(io::Error::from(io::ErrorKind::BrokenPipe)).while_("cannot print the report");
        assert_eq!(closed().exit(), Exit::Success);
        assert!(closed().is_closed_pipe());
        assert!(!Failure::usage(io::Error::from(io::ErrorKind::NotFound)).is_closed_pipe());
    }
}
