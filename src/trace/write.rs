//! Writing a trace while it happens.

use std::io::{self, Write};

use sha2::{Digest, Sha256};

use super::event::{Line, Record};
use super::header::Header;
use super::words::hex;
use crate::engine::{Event, Ladder, Timestamp, TraceSink};

/// Writes a trace, a line an event. As a [`TraceSink`] it cannot fail: the first fault is kept, nothing is written after
/// it, and [`finish`](Self::finish) tells it.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    ladder: Ladder,
    /// The hash of the last line, where lines are chained.
    last: Option<String>,
    fault: Option<io::Error>,
}

impl<W: Write> Writer<W> {
    /// A trace with this header, chained where it says so.
    ///
    /// # Errors
    /// Those of `out`; a ladder that is none is invalid input.
    pub fn new(out: W, header: &Header) -> io::Result<Self> {
        let words = header.setup.ladder.iter().map(String::as_str);
        let ladder =
            Ladder::new(words).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error.to_string()))?;
        let mut writer = Self { out, ladder, last: None, fault: None };
        let text = serde_json::to_string(header)?;
        writer.put(&text, header.chained)?;
        Ok(writer)
    }

    /// Goes on with a chained trace whose last line has this hash.
    pub const fn go_on(out: W, ladder: Ladder, last: String) -> Self {
        Self { out, ladder, last: Some(last), fault: None }
    }

    /// The output, to take what has been written.
    pub const fn out(&mut self) -> &mut W {
        &mut self.out
    }

    /// The first fault since the start, once.
    ///
    /// # Errors
    /// That fault.
    pub fn fault(&mut self) -> io::Result<()> {
        self.fault.take().map_or(Ok(()), Err)
    }

    /// The hash of the last line, where lines are chained.
    #[must_use]
    pub fn last(&self) -> Option<&str> {
        self.last.as_deref()
    }

    /// Writes one line.
    ///
    /// # Errors
    /// Those of the output.
    pub fn write(&mut self, at: Timestamp, record: Record) -> io::Result<()> {
        let prev = self.last.take();
        let chained = prev.is_some();
        let text = serde_json::to_string(&Line { at_ms: at.millis(), record, prev })?;
        self.put(&text, chained)
    }

    fn put(&mut self, text: &str, chained: bool) -> io::Result<()> {
        self.last = chained.then(|| hash(text.as_bytes()));
        self.out.write_all(text.as_bytes())?;
        self.out.write_all(b"\n")
    }

    /// Flushes and gives the output back.
    ///
    /// # Errors
    /// The first fault since the start.
    pub fn finish(mut self) -> io::Result<W> {
        match self.fault {
            Some(fault) => Err(fault),
            None => self.out.flush().map(|()| self.out),
        }
    }
}

impl<W: Write> TraceSink for Writer<W> {
    fn note(&mut self, at: Timestamp, event: Event<'_>) {
        if self.fault.is_none() {
            let record = Record::of(&event, &self.ladder);
            self.fault = self.write(at, record).err();
        }
    }
}

/// SHA-256 in hex.
pub(super) fn hash(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}
