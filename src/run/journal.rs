//! The journal as it is written: lines are made at once, and go to disk when something depends on them.
//!
//! It is a [`TraceSink`]: the machine tells it everything. [`flush`](Journal::flush) hands what is new to the system and makes
//! it durable. It opens no file of its own.

use std::io;

use super::os::Os;
use super::record::{JOURNAL, STATE, STATE_FORMAT, STATE_VERSION, State};
use crate::engine::{Checkpoint, Control, Event, Ladder, Timestamp, TraceSink};
use crate::trace::{Header, Kept, Record, Word, Writer};

/// The journal of a run.
#[derive(Debug)]
pub struct Journal {
    writer: Writer<Vec<u8>>,
    lines: u64,
}

impl Journal {
    /// A journal that begins.
    ///
    /// # Errors
    /// A ladder that is none.
    pub fn begin(header: &Header) -> io::Result<Self> {
        Ok(Self { writer: Writer::new(Vec::new(), header)?, lines: 1 })
    }

    /// A journal that goes on after `lines` lines, the last of which has the hash `last`.
    #[must_use]
    pub const fn go_on(ladder: Ladder, lines: u64, last: String) -> Self {
        Self { writer: Writer::go_on(Vec::new(), ladder, last), lines }
    }

    /// Writes a line of the runner's own.
    ///
    /// # Errors
    /// A record that has no words, which is a fault of this program.
    pub fn write(&mut self, at: Timestamp, record: Record) -> io::Result<()> {
        self.lines += 1;
        self.writer.write(at, record)
    }

    /// Makes everything so far durable.
    ///
    /// # Errors
    /// Those of the system.
    pub fn flush(&mut self, os: &mut impl Os) -> io::Result<()> {
        self.writer.fault()?;
        let bytes = std::mem::take(self.writer.out());
        if bytes.is_empty() {
            return Ok(());
        }
        os.append(JOURNAL, &bytes)?;
        os.sync(JOURNAL)
    }

    /// Makes everything durable, and then the state that stands on it.
    ///
    /// # Errors
    /// Those of the system.
    pub fn save(&mut self, os: &mut impl Os, kept: &Checkpoint, stopped: Option<Control>) -> io::Result<()> {
        self.flush(os)?;
        let state = State {
            format: STATE_FORMAT.to_owned(),
            version: STATE_VERSION,
            at_ms: os.now().millis(),
            kept: Kept::of(kept),
            journal_lines: self.lines,
            journal_hash: self.writer.last().unwrap_or_default().to_owned(),
            stopped: stopped.map(Word),
        };
        let mut text = serde_json::to_vec_pretty(&state)?;
        text.push(b'\n');
        os.replace(STATE, &text)
    }
}

impl TraceSink for Journal {
    fn note(&mut self, at: Timestamp, event: Event<'_>) {
        self.lines += 1;
        self.writer.note(at, event);
    }
}
