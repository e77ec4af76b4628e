//! The live ledger of one round: bytes of a program's outputs and logs in, what landed out.
use std::sync::Arc;

use super::adapter::AgentKind;
use super::log::Coverage;
use crate::engine::{MicroUsd, RoundExit, Tokens, TurnRecord};

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessEnd {
    /// By itself, with this code.
    Exited(i32),
    /// By this signal.
    Signalled(i32),
}

/// What landed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Landed {
    /// A turn whose count is final. Each once, whichever sources tell it. Times are milliseconds of Unix time, where the source has any.
    Turn(TurnRecord),
    /// A request to the model began, or was tried again.
    Request,
    /// The effort that took hold, each time that it is another.
    Effort {
        /// The program's word for it.
        confirmed: Arc<str>,
    },
    /// The program says that the effort asked for was not taken.
    Ignored {
        /// In its words.
        why: String,
    },
    /// The backend takes no requests.
    Limit {
        /// Until when, in milliseconds of Unix time, where that is told.
        until_unix_ms: Option<u64>,
        /// In the program's words.
        text: String,
    },
    /// Something for people to know; each once.
    Note(String),
    /// The event that closes a run came.
    Result,
    /// The agent's own text.
    Said(String),
}

/// What a round came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closed {
    /// Turns, and tokens that are no turn, that had not landed before.
    pub late: Vec<TurnRecord>,
    /// What all turns of the round come to, and the counts of those that landed with another; `None` where nothing is to be settled.
    pub total: Option<(Tokens, Vec<(Arc<str>, Tokens)>)>,
    /// How much of what was stated in sum was counted turn by turn.
    pub coverage: Coverage,
    /// How it ended.
    pub exit: RoundExit,
    /// Why it failed, in words.
    pub why: Option<String>,
    /// The error's text, to tell whether the same comes again.
    pub error: Option<String>,
    /// The effort that took hold last.
    pub confirmed: Option<Arc<str>>,
    /// The model that answered.
    pub model: Option<Arc<str>>,
    /// The program's version, where it says.
    pub version: Option<Arc<str>>,
    /// For people.
    pub notes: Vec<String>,
    /// What the program says that it cost.
    pub cost: Option<MicroUsd>,
}

/// The ledger of one round.
#[derive(Debug)]
pub struct Live {
    kind: AgentKind,
}

impl Live {
    /// A ledger that has seen nothing.
    #[must_use]
    pub const fn new(kind: AgentKind) -> Self {
        Self { kind }
    }

    /// Takes bytes of standard output.
    pub fn stdout(&mut self, _bytes: &[u8], _out: &mut Vec<Landed>) {}

    /// Takes bytes of a file that is followed; `file` tells it from the others.
    pub fn followed(&mut self, _file: &str, _bytes: &[u8], _out: &mut Vec<Landed>) {}

    /// Takes bytes of standard error.
    pub fn stderr(&mut self, _bytes: &[u8], _out: &mut Vec<Landed>) {}

    /// The session, as soon as the program names it.
    #[must_use]
    pub fn session(&self) -> Option<&str> {
        None
    }

    /// The round is over. `cut`: it was ended by us.
    #[must_use]
    pub fn close(self, _end: ProcessEnd, _cut: bool) -> Closed {
        let _ = self.kind;
        Closed {
            late: Vec::new(),
            total: None,
            coverage: Coverage::default(),
            exit: RoundExit::Done,
            why: None,
            error: None,
            confirmed: None,
            model: None,
            version: None,
            notes: Vec::new(),
            cost: None,
        }
    }
}
