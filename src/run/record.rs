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

use crate::engine::{Checkpoint, Control, Effort, Timestamp, Tokens};
use crate::trace::{Added, Kept, ProcessId, Reader, Record, TraceError, Word};

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
    /// The oracle was asked of the last round, and its answer is not there.
    pub unanswered: bool,
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
    let Walk { kept, found, at, open, stopped, unanswered, before } = walk;
    Ok(Recovered {
        kept,
        found,
        at,
        lines: reader.lines(),
        last: reader.last().ok_or(RecordError::NotChained)?.to_owned(),
        bytes: u64::try_from(whole).unwrap_or(u64::MAX),
        open,
        stopped,
        unanswered,
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
    unanswered: bool,
    before: Option<Checkpoint>,
}

impl Walk {
    fn step(&mut self, record: &Record) {
        if let Some(added) = record.adds() {
            self.add(added);
        }
        match record {
            Record::Persist { checkpoint, .. } => self.keep(checkpoint.checkpoint()),
            Record::Opened { kept, .. } => {
                self.keep(kept.checkpoint());
                (self.open, self.stopped) = (None, None);
            }
            Record::Decided { to, .. } => self.kept.effort = Some(Effort::new(to)),
            Record::Group { round, process } => self.open = Some((*round, process.clone())),
            Record::Ended { .. } => self.open = None,
            Record::Stop { control } => self.stopped = Some(control.0),
            Record::Verify { .. } => self.unanswered = true,
            Record::Verified { .. } | Record::Spawn { .. } => self.unanswered = false,
            Record::Persisted { .. }
            | Record::Spawned { .. }
            | Record::Turned(_)
            | Record::Laid { .. }
            | Record::Settled { .. }
            | Record::Heard { .. }
            | Record::Refused { .. }
            | Record::Progress { .. }
            | Record::LimitUntil { .. }
            | Record::Shared(_)
            | Record::Asked { .. }
            | Record::Woke {}
            | Record::Absorbed {}
            | Record::Terminate { .. }
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

    fn add(&mut self, added: Added) {
        self.kept.cost = self.kept.cost.plus(added.cost);
        if added.output == Tokens::ZERO && added.tokens == Tokens::ZERO {
            return;
        }
        self.kept.output = Some(self.kept.output.unwrap_or_default().plus(added.output));
        self.kept.tokens = self.kept.tokens.plus(added.tokens);
        self.found = self.found.plus(added.output);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{RoundExit, TurnRecord};
    use crate::trace::{Header, Setup, Turn, Writer};

    fn lines(records: &[Record]) -> Vec<u8> {
        let setup = Setup {
            ladder: ["high", "low"].map(str::to_owned).to_vec(),
            configured: "low".to_owned(),
            law: "reference".to_owned(),
            juice_millionths: 1_000_000,
            over_ms: 1,
            slack_ppm: 0,
            rest_ms: 0,
            budget_tokens: None,
            rounds: None,
            set: std::collections::BTreeMap::new(),
        };
        let mut header = Header::new(setup);
        header.chained = true;
        let mut writer = Writer::new(Vec::new(), &header).unwrap();
        for (at, record) in (1_u64..).zip(records) {
            writer.write(Timestamp::from_millis(at * 10), record.clone()).unwrap();
        }
        writer.finish().unwrap()
    }

    fn kept(rounds: u64, output: u64) -> Kept {
        Kept::of(&Checkpoint {
            rounds,
            output: Some(Tokens::new(output)),
            tokens: Tokens::new(output),
            ..Checkpoint::default()
        })
    }

    fn turned(output: u64) -> Record {
        Record::Turned(Turn::of(&TurnRecord::new(2, Timestamp::from_millis(1), Tokens::new(output), "test")))
    }

    fn group() -> Record {
        Record::Group { round: 2, process: ProcessId { pid: 7, began_ticks: Some(1), boot: None } }
    }

    fn state(journal: &[u8], line: u64, kept: Kept) -> Vec<u8> {
        let mut reader = Reader::new(journal).unwrap();
        while reader.lines() < line {
            reader.next_line().unwrap();
        }
        let state = State {
            format: STATE_FORMAT.to_owned(),
            version: STATE_VERSION,
            at_ms: 0,
            kept,
            journal_lines: line,
            journal_hash: reader.last().unwrap().to_owned(),
            stopped: None,
        };
        serde_json::to_vec(&state).unwrap()
    }

    fn journal() -> Vec<u8> {
        lines(&[Record::Persist { seq: 1, checkpoint: kept(2, 100) }, group(), turned(30), turned(4)])
    }

    #[test]
    fn a_round_that_was_lost_is_counted_with_all_it_reported() {
        let journal = journal();
        let found = recover(Some(&state(&journal, 2, kept(2, 100))), &journal).unwrap();
        assert_eq!((found.kept.rounds, found.kept.output, found.found), (2, Some(Tokens::new(134)), Tokens::new(34)));
        assert_eq!((found.at, found.lines, found.stopped), (Timestamp::from_millis(40), 5, None));
        assert_eq!(found.open.map(|(round, process)| (round, process.pid)), Some((2, 7)));
        assert_eq!(recover(None, &journal).unwrap().kept, found.kept, "the journal is the truth");
    }

    #[test]
    fn a_line_that_was_cut_off_is_left_out() {
        let whole = journal();
        let torn = [&whole[..], b"{\"at_ms\":50,\"kind\":\"wo"].concat();
        let found = recover(None, &torn).unwrap();
        assert_eq!(found.bytes, u64::try_from(whole.len()).unwrap());
        assert_eq!(found.kept.output, Some(Tokens::new(134)));
    }

    #[test]
    fn what_was_changed_is_refused_by_its_line() {
        let journal = journal();
        let text = String::from_utf8(journal.clone()).unwrap();
        let cheaper = text.replace("\"output_tokens\":30", "\"output_tokens\":3");
        assert!(matches!(recover(None, cheaper.as_bytes()), Err(RecordError::Journal(TraceError::Chain { line: 5 }))));
        let fewer = state(&journal, 2, kept(1, 100));
        assert!(matches!(recover(Some(&fewer), &journal), Err(RecordError::Changed { lines: 2 })));
        let other = lines(&[turned(1), turned(2)]);
        assert!(matches!(
            recover(Some(&state(&journal, 2, kept(2, 100))), &other),
            Err(RecordError::Apart { lines: 2 })
        ));
        let shorter: String = text.split_inclusive('\n').take(1).collect();
        let lost = recover(Some(&state(&journal, 2, kept(2, 100))), shorter.as_bytes());
        assert!(matches!(lost, Err(RecordError::Apart { lines: 2 })), "a journal that lost its end");
        let newer = text_of(&state(&journal, 2, kept(2, 100))).replace("\"version\":1", "\"version\":2");
        assert!(matches!(recover(Some(newer.as_bytes()), &journal), Err(RecordError::Newer { found: 2 })));
    }

    fn text_of(bytes: &[u8]) -> String {
        String::from_utf8(bytes.to_vec()).unwrap()
    }

    #[test]
    fn a_spent_budget_is_a_stop_though_the_line_that_names_it_was_lost() {
        let clean = Record::Persist { seq: 2, checkpoint: Kept::of(&Checkpoint::default()) };
        let ended = Record::Ended { round: 2, exit: Word(RoundExit::Done) };
        let journal = lines(&[Record::Persist { seq: 1, checkpoint: kept(2, 100) }, ended, clean]);
        let found = recover(None, &journal).unwrap();
        assert_eq!((found.stopped, found.kept.is_clean()), (Some(Control::Budget), true));
        assert_eq!(found.before.unwrap().rounds, 2, "for whoever lifts the budget");
    }
}
