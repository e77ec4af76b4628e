//! What a run leaves on disk, and what another process makes of it after a crash.
//!
//! | file | what |
//! |---|---|
//! | `config.json` | the effective settings, each with its origin, as locked at the start |
//! | `journal.jsonl` | every fact, order and decision, chained line by line: the truth |
//! | `state.json` | the last checkpoint and where in the journal it stands: a quick look, replaced whole |
//! | `rounds/NNNN/` | the prompt of a round, what its agent wrote, and its log files' names |
//!
//! A journal is made durable before what depends on it: before the state that names its last line, before an agent may
//! start, and with every report of spending. So after a crash at any moment [`recover`] finds every attempt, and
//! all that was reported of it. Its reading is pure: bytes in, a [`Recovered`] out. A line that was cut off is left out; a line that
//! was changed, or a state that does not stand in the journal, is an error that names it.
//!
//! It opens nothing and starts nothing. Units: tokens, millionths of a USD, milliseconds of the run's clock.

use serde::{Deserialize, Serialize};

use crate::engine::{Checkpoint, Control, Effort, MicroUsd, Timestamp, Tokens};
use crate::trace::{Kept, ProcessId, Reader, Record, TraceError, Word};

/// The journal's name in the run's folder.
pub const JOURNAL: &str = "journal.jsonl";
/// The state's name.
pub const STATE: &str = "state.json";
/// The settings' name.
pub const CONFIG: &str = "config.json";
/// What a state file calls itself.
pub const STATE_FORMAT: &str = "flyball-state";
/// The version that is written, and the newest that is read.
pub const STATE_VERSION: u64 = 1;

/// The name of a round's folder.
#[must_use]
pub fn round_folder(round: u64) -> String {
    format!("rounds/{round:04}")
}

/// `state.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// [`STATE_FORMAT`].
    pub format: String,
    /// [`STATE_VERSION`].
    pub version: u64,
    /// When it was written, on the run's clock.
    pub at_ms: u64,
    /// The checkpoint.
    pub kept: Kept,
    /// Lines of the journal that it knows of.
    pub journal_lines: u64,
    /// The hash of the last of them.
    pub journal_hash: String,
    /// What stopped the loop, where it stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<Word<Control>>,
}

/// What a new process takes up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovered {
    /// The checkpoint, with all that was reported since it was written.
    pub kept: Checkpoint,
    /// Output that was reported since, of a round that was never closed.
    pub found: Tokens,
    /// The last moment on the run's clock.
    pub at: Timestamp,
    /// Lines of the journal that stand.
    pub lines: u64,
    /// The hash of the last of them.
    pub last: String,
    /// Bytes of the journal that stand; what comes after was cut off.
    pub bytes: u64,
    /// The process of a round that was never closed.
    pub open: Option<(u64, ProcessId)>,
    /// What stopped the loop, where it stopped.
    pub stopped: Option<Control>,
    /// What was kept before a spent budget cleared it.
    pub before: Option<Checkpoint>,
    /// The efforts of the ladder that the journal was written on.
    pub ladder: Vec<String>,
}

/// Why a record cannot be taken up.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The journal cannot be read.
    #[error("journal.jsonl: {0}")]
    Journal(#[from] TraceError),
    /// The journal is not chained.
    #[error("journal.jsonl: its lines carry no hashes: this is a trace, and no record of a run")]
    NotChained,
    /// The state cannot be read.
    #[error("state.json: {0}")]
    State(#[from] serde_json::Error),
    /// The state is newer.
    #[error("state.json has version {found} and this flyball reads up to {STATE_VERSION}: use a newer one")]
    Newer {
        /// Its version.
        found: u64,
    },
    /// State and journal do not belong together.
    #[error(
        "state.json was written after line {lines} of journal.jsonl, which is not there as it was: one of the two was changed or lost"
    )]
    Apart {
        /// The line.
        lines: u64,
    },
    /// The state says something else than the journal.
    #[error("state.json keeps something else than line {lines} of journal.jsonl says: it was changed")]
    Changed {
        /// The line.
        lines: u64,
    },
}

/// Reads what a process left; `state` may be missing, the journal is the truth.
///
/// # Errors
/// [`RecordError`] where one of the two was changed, or is newer.
pub fn recover(state: Option<&[u8]>, journal: &[u8]) -> Result<Recovered, RecordError> {
    let state: Option<State> = state.map(serde_json::from_slice).transpose()?;
    if let Some(found) = state.as_ref().map(|state| state.version).filter(|&found| found > STATE_VERSION) {
        return Err(RecordError::Newer { found });
    }
    // what has no end was cut off while it was written
    let whole = journal.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let journal = &journal[..whole];
    let mut reader = Reader::new(journal)?;
    let mut walk = Walk::default();
    let mut seen = state.is_none();
    loop {
        if let Some(state) = &state
            && reader.lines() == state.journal_lines
        {
            seen = reader.last() == Some(state.journal_hash.as_str());
            if seen && Kept::of(&walk.kept) != state.kept {
                return Err(RecordError::Changed { lines: state.journal_lines });
            }
        }
        let Some(line) = reader.next_line()? else { break };
        walk.at = walk.at.max(Timestamp::from_millis(line.at_ms));
        walk.step(&line.record);
    }
    if let (false, Some(state)) = (seen, &state) {
        return Err(RecordError::Apart { lines: state.journal_lines });
    }
    let Walk { kept, found, at, open, stopped, before } = walk;
    Ok(Recovered {
        kept,
        found,
        at,
        lines: reader.lines(),
        last: reader.last().ok_or(RecordError::NotChained)?.to_owned(),
        bytes: u64::try_from(whole).unwrap_or(u64::MAX),
        open,
        stopped,
        before,
        ladder: reader.header().setup.ladder.clone(),
    })
}

/// What the lines of a journal come to.
#[derive(Debug, Default)]
struct Walk {
    kept: Checkpoint,
    found: Tokens,
    at: Timestamp,
    open: Option<(u64, ProcessId)>,
    stopped: Option<Control>,
    before: Option<Checkpoint>,
}

impl Walk {
    fn step(&mut self, record: &Record) {
        match record {
            Record::Persist { checkpoint, .. } => self.keep(checkpoint.checkpoint()),
            Record::Opened { kept, .. } => {
                self.keep(kept.checkpoint());
                (self.open, self.stopped) = (None, None);
            }
            Record::Turned(turn) => {
                let turn = turn.record();
                self.charge(turn.output, turn.all_tokens());
                self.kept.cost = self.kept.cost.plus(turn.cost.unwrap_or(MicroUsd::ZERO));
            }
            Record::Laid { added_tokens, homeless_tokens, .. } => {
                let laid = Tokens::new(*added_tokens).plus(Tokens::new(*homeless_tokens));
                self.charge(laid, laid);
            }
            Record::Decided { to, .. } => self.kept.effort = Some(Effort::new(to)),
            Record::Group { round, process } => self.open = Some((*round, process.clone())),
            Record::Ended { .. } => self.open = None,
            Record::Stop { control } => self.stopped = Some(control.0),
            Record::Persisted { .. }
            | Record::Spawned { .. }
            | Record::Settled { .. }
            | Record::Heard { .. }
            | Record::Refused { .. }
            | Record::Verified { .. }
            | Record::Progress { .. }
            | Record::LimitUntil { .. }
            | Record::Asked { .. }
            | Record::Woke {}
            | Record::Absorbed {}
            | Record::Spawn { .. }
            | Record::Terminate { .. }
            | Record::Verify { .. }
            | Record::Wait { .. }
            | Record::Agent { .. }
            | Record::Note { .. } => {}
        }
    }

    fn keep(&mut self, kept: Checkpoint) {
        if kept.is_clean() && !self.kept.is_clean() {
            // nothing but a spent budget clears what is kept; the line that names it may be lost
            self.before = Some(self.kept.clone());
            self.stopped = Some(Control::Budget);
        }
        self.kept = kept;
        self.found = Tokens::ZERO;
    }

    fn charge(&mut self, output: Tokens, all: Tokens) {
        if output == Tokens::ZERO && all == Tokens::ZERO {
            return;
        }
        self.kept.output = Some(self.kept.output.unwrap_or_default().plus(output));
        self.kept.tokens = self.kept.tokens.plus(all);
        self.found = self.found.plus(output);
    }
}
