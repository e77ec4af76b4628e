//! Made-up logs: what agents' programs would have written, had the simulated agent been real.
//!
//! [`sessions`] runs an agent for so many rounds, each a fresh session, and gives its calls as turn records;
//! [`Format::write`] puts one session into the shape of a program's own log, one file a session. So that a fit can be
//! judged where the truth is known: scenario, records, log, reader, fit, and the scenario again.
//!
//! | module | holds |
//! |---|---|
//! | [`agent`] | sessions of a simulated agent |
//! | [`claude`] | Claude Code: session files, and the stream of `claude -p` |
//! | [`codex`] | Codex: rollout files |
//! | [`copilot`] | the Copilot CLI: event logs |
//! | [`opencode`] | opencode: exports |
//! | [`pi`] | pi: session files |
//! | [`wire`] | one round as it is printed, line by line |
//! | [`mod@line`] | what lines are made of: times, ids, and the calls of a session |
//!
//! It is no recording: texts are empty, and only those lines and keys are written that carry numbers, times, names or
//! structure. It opens no files, and what it writes depends on the records alone. Sources of the shapes: public logs of
//! Claude Code 2.1.81 to 2.1.219, Codex 0.140 to 0.142, Copilot 1.0.64, opencode 1.2.20 to 1.2.26 and pi of November 2025.
//!
//! Units: tokens; times are milliseconds of Unix time, written as UTC.

use crate::engine::{Timestamp, TurnRecord};

pub mod agent;
pub mod claude;
pub mod codex;
pub mod copilot;
pub mod line;
pub mod opencode;
pub mod pi;
pub mod wire;

pub use agent::{Design, sessions};

/// One session: a round of the loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// The backend's id of it.
    pub id: String,
    /// When it began.
    pub began: Timestamp,
    /// The model that the program was started with.
    pub model: String,
    /// The effort that the program was started with.
    pub effort: String,
    /// Its calls in time. None is a round without a turn.
    pub calls: Vec<TurnRecord>,
}

/// A shape of log that can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Claude Code's session file, as 2.1.217 writes it: a line a block, the usage repeated on each.
    ClaudeSession,
    /// The standard output of `claude -p --output-format stream-json --verbose` of 2.1.81: start values on the lines of
    /// calls, the truth in the `result` alone, and no times on the agent's own lines.
    ClaudeStream,
    /// Codex's rollout file, as 0.140 writes it: counts after the tools have run, some twice.
    CodexRollout,
    /// The Copilot CLI's event log, as 1.0.64 writes it.
    CopilotEvents,
    /// opencode's export, as 1.2.24 writes it: one document over many lines, and not lines of their own.
    OpencodeExport,
    /// pi's session file.
    PiSession,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::ClaudeSession,
        Self::ClaudeStream,
        Self::CodexRollout,
        Self::CopilotEvents,
        Self::OpencodeExport,
        Self::PiSession,
    ];

    /// The log of one session: lines of JSON, each with its newline, or a document.
    ///
    /// Records that are no turns are left out: no program logs them as such. Calls of unknown size get a start value
    /// where the format has those.
    #[must_use]
    pub fn write(self, session: &Session) -> String {
        match self {
            Self::ClaudeSession => claude::session(session),
            Self::ClaudeStream => claude::stream(session),
            Self::CodexRollout => codex::rollout(session),
            Self::CopilotEvents => copilot::events(session),
            Self::OpencodeExport => opencode::export(session),
            Self::PiSession => pi::session(session),
        }
    }
}
