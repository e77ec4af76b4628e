//! Reading a trace: tolerant of what it does not know, strict about what it does.
//!
//! Unknown kinds and unknown keys are passed over and counted. A newer version is refused, a bad line is named by its
//! number, a broken chain by the line at which it breaks. A last line without its end that cannot be read was cut off
//! while it was written: it is left out and said ([`Trace::torn`]).

use std::io::{self, BufRead};

use serde_json::{Map, Value};

use super::event::{Line, Record};
use super::header::Header;
use super::write::hash;
use super::{FORMAT, VERSION};

/// Why a trace cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The input itself.
    #[error("cannot read the trace: {0}")]
    Io(#[from] io::Error),
    /// The first line is no header.
    #[error("line 1: this is no trace: {0}")]
    NoTrace(String),
    /// The format is newer.
    #[error("line 1: the trace has version {found} and this flyball reads up to {VERSION}: use a newer one")]
    Newer {
        /// Its version.
        found: u64,
    },
    /// A line is not what it says.
    #[error("line {line}: {why}")]
    Bad {
        /// The line, from 1.
        line: u64,
        /// What is wrong.
        why: String,
    },
    /// A line does not follow from the one before.
    #[error("line {line}: the chain is broken: the line before was changed, lost or added")]
    Chain {
        /// The line, from 1.
        line: u64,
    },
}

/// A whole trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The first line.
    pub header: Header,
    /// The others, in order.
    pub lines: Vec<Line>,
    /// Lines of kinds that are not known here.
    pub unknown_kinds: u64,
    /// Keys that are not known here, in lines of known kinds.
    pub unknown_keys: u64,
    /// The last line was cut off.
    pub torn: bool,
}

/// Reads a whole trace.
///
/// # Errors
/// [`TraceError`].
pub fn read(input: impl BufRead) -> Result<Trace, TraceError> {
    let mut reader = Reader::new(input)?;
    let mut lines = Vec::new();
    while let Some(line) = reader.next_line()? {
        lines.push(line);
    }
    let Reader { header, unknown_kinds, unknown_keys, torn, .. } = reader;
    Ok(Trace { header, lines, unknown_kinds, unknown_keys, torn })
}

/// Reads a trace line by line.
#[derive(Debug)]
pub struct Reader<R> {
    input: R,
    header: Header,
    number: u64,
    /// The hash that the next line must carry.
    last: Option<String>,
    buffer: Vec<u8>,
    /// So far.
    pub unknown_kinds: u64,
    /// So far.
    pub unknown_keys: u64,
    /// Whether the last line was cut off.
    pub torn: bool,
}

impl<R: BufRead> Reader<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// [`TraceError`] where there is none, or a newer one.
    pub fn new(mut input: R) -> Result<Self, TraceError> {
        let mut buffer = Vec::new();
        input.read_until(b'\n', &mut buffer)?;
        let text = buffer.trim_ascii_end();
        let value: Value = serde_json::from_slice(text).map_err(|error| TraceError::NoTrace(error.to_string()))?;
        if value.get("format").and_then(Value::as_str) != Some(FORMAT) {
            return Err(TraceError::NoTrace(format!("its first line does not say \"format\":\"{FORMAT}\"")));
        }
        match value.get("version").and_then(Value::as_u64) {
            Some(found) if found > VERSION => return Err(TraceError::Newer { found }),
            Some(_) => {}
            None => return Err(TraceError::NoTrace("its first line has no `version`".to_owned())),
        }
        let header: Header =
            serde_json::from_value(value.clone()).map_err(|error| TraceError::NoTrace(error.to_string()))?;
        let unknown_keys = serde_json::to_value(&header).map_or(0, |known| unknown(&value, &known));
        let last = header.chained.then(|| hash(text));
        Ok(Self { input, header, number: 1, last, buffer, unknown_kinds: 0, unknown_keys, torn: false })
    }

    /// The first line.
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// Lines read so far, the first included.
    pub const fn lines(&self) -> u64 {
        self.number
    }

    /// The hash of the last line read, where lines are chained.
    #[must_use]
    pub fn last(&self) -> Option<&str> {
        self.last.as_deref()
    }

    /// The next line of a known kind; none at the end.
    ///
    /// # Errors
    /// [`TraceError`].
    pub fn next_line(&mut self) -> Result<Option<Line>, TraceError> {
        loop {
            self.buffer.clear();
            if self.input.read_until(b'\n', &mut self.buffer)? == 0 {
                return Ok(None);
            }
            self.number += 1;
            let whole = self.buffer.ends_with(b"\n");
            let text = self.buffer.trim_ascii_end();
            if text.is_empty() {
                continue;
            }
            let value: Map<String, Value> = match serde_json::from_slice(text) {
                Ok(value) => value,
                Err(_) if !whole => {
                    self.torn = true;
                    return Ok(None);
                }
                Err(error) => return Err(self.bad(&error)),
            };
            self.follows(&value)?;
            if let Some(line) = self.known(&Value::Object(value))? {
                return Ok(Some(line));
            }
        }
    }

    fn bad(&self, why: &impl ToString) -> TraceError {
        TraceError::Bad { line: self.number, why: why.to_string() }
    }

    /// Whether the line in the buffer follows from the one before.
    fn follows(&mut self, value: &Map<String, Value>) -> Result<(), TraceError> {
        let Some(last) = &self.last else { return Ok(()) };
        if value.get("prev").and_then(Value::as_str) != Some(last) {
            return Err(TraceError::Chain { line: self.number });
        }
        self.last = Some(hash(self.buffer.trim_ascii_end()));
        Ok(())
    }

    /// The line, where its kind is known.
    fn known(&mut self, value: &Value) -> Result<Option<Line>, TraceError> {
        let kind = value.get("kind").and_then(Value::as_str);
        let kind = kind.ok_or_else(|| self.bad(&"it has no `kind`"))?;
        if !Record::KINDS.contains(&kind) {
            self.unknown_kinds += 1;
            return Ok(None);
        }
        let line: Line = serde_json::from_value(value.clone()).map_err(|error| self.bad(&error))?;
        self.unknown_keys += serde_json::to_value(&line).map_or(0, |known| unknown(value, &known));
        Ok(Some(line))
    }
}

/// How many keys of `found`, however deep, are not in `known`; one that says `null` says nothing.
fn unknown(found: &Value, known: &Value) -> u64 {
    match (found, known) {
        (Value::Object(found), Value::Object(known)) => {
            let one = |(key, value): (&String, &Value)| match known.get(key) {
                Some(known) => unknown(value, known),
                None => u64::from(!value.is_null() && !is_empty(value)),
            };
            found.iter().map(one).sum()
        }
        (Value::Array(found), Value::Array(known)) => found.iter().zip(known).map(|(f, k)| unknown(f, k)).sum(),
        _ => 0,
    }
}

/// An empty list or table, which a writer may leave out.
fn is_empty(value: &Value) -> bool {
    value.as_array().is_some_and(Vec::is_empty) || value.as_object().is_some_and(Map::is_empty)
}
