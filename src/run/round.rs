//! The round whose agent runs: what the host remembers of it until it is over.

use std::io;
use std::sync::Arc;

use super::host::Clocks;
use super::kill::LastMessage;
use super::os::{End, Os};
use super::record::round_folder;
use super::redact::Redactor;
use crate::agents::live::Live;
use crate::engine::{Effort, MicroUsd, Timestamp, Tokens};

/// The most bytes that are kept of what a round writes to one of its pipes. What comes after is read, counted and not kept.
pub const KEPT_BYTES: usize = 64 * 1024 * 1024;

/// The round whose agent runs.
pub(super) struct Round {
    pub(super) number: u64,
    pub(super) effort: Effort,
    pub(super) live: Live,
    pub(super) began: Timestamp,
    pub(super) heard: Timestamp,
    pub(super) told_heard: Timestamp,
    pub(super) landed: u64,
    pub(super) before: Tokens,
    pub(super) requests: u64,
    pub(super) stdout: Kept,
    pub(super) stderr: Kept,
    pub(super) session: Option<String>,
    /// All that it said in its own words, up to a bound.
    pub(super) said: String,
    /// The last of it.
    pub(super) last: LastMessage,
    pub(super) result: Option<Timestamp>,
    pub(super) ended_after_result: Option<Timestamp>,
    pub(super) confirmed: Option<Arc<str>>,
    pub(super) ignored: bool,
    pub(super) cost: MicroUsd,
    pub(super) exit: Option<(End, Timestamp)>,
    pub(super) closed: bool,
    pub(super) swept: bool,
    pub(super) cut: bool,
}

impl Round {
    pub(super) fn new(
        number: u64,
        effort: Effort,
        (live, last): (Live, LastMessage),
        now: Timestamp,
        before: Tokens,
    ) -> Self {
        Self {
            number,
            effort,
            live,
            began: now,
            heard: now,
            told_heard: now,
            landed: 0,
            before,
            requests: 0,
            stdout: Kept::new("stdout.log"),
            stderr: Kept::new("stderr.log"),
            session: None,
            said: String::new(),
            last,
            result: None,
            ended_after_result: None,
            confirmed: None,
            ignored: false,
            cost: MicroUsd::ZERO,
            exit: None,
            closed: false,
            swept: false,
            cut: false,
        }
    }

    /// The agent is gone, and so are its pipes.
    pub(super) const fn is_over(&self) -> bool {
        self.exit.is_some() && self.closed
    }

    /// The next moment that matters: the machine's, or one of the host's own clocks.
    pub(super) fn until(&self, machine: Option<Timestamp>, clocks: &Clocks) -> Option<Timestamp> {
        let exit = self.exit.map(|(_, at)| at.after(clocks.after_exit));
        let running = self.exit.is_none() && !self.cut;
        let result =
            self.ended_after_result.or(self.result).filter(|_| running).map(|at| at.after(clocks.after_result));
        [machine.filter(|_| self.exit.is_none()), exit, result].into_iter().flatten().min()
    }
}

/// The most bytes that are kept of what an agent says in a round.
const SAID_BYTES: usize = 1024 * 1024;

/// Adds to what the agent said in a round, in its own words, up to a bound.
pub(super) fn say(said: &mut String, text: &str) {
    if !said.is_empty() {
        said.push_str("\n\n");
    }
    let mut most = SAID_BYTES.saturating_sub(said.len()).min(text.len());
    while !text.is_char_boundary(most) {
        most -= 1;
    }
    said.push_str(&text[..most]);
}

/// What is kept of what a round writes to one of its pipes: up to a bound, without what looks like a key.
#[derive(Debug)]
pub(super) struct Kept {
    name: &'static str,
    /// Bytes that were taken so far.
    taken: usize,
    redactor: Redactor,
}

impl Kept {
    fn new(name: &'static str) -> Self {
        Self { name, taken: 0, redactor: Redactor::new() }
    }

    /// Keeps what the agent wrote.
    pub(super) fn take(&mut self, os: &mut impl Os, round: u64, bytes: &[u8]) -> io::Result<()> {
        let room = KEPT_BYTES.saturating_sub(self.taken).min(bytes.len());
        self.taken += room;
        let mut out = Vec::with_capacity(room);
        self.redactor.push(&bytes[..room], &mut out);
        self.append(os, round, &out)
    }

    /// Keeps what was held back because it could have been the beginning of a key.
    pub(super) fn finish(&mut self, os: &mut impl Os, round: u64) -> io::Result<()> {
        let mut out = Vec::new();
        self.redactor.finish(&mut out);
        self.append(os, round, &out)
    }

    fn append(&self, os: &mut impl Os, round: u64, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() { Ok(()) } else { os.append(&format!("{}/{}", round_folder(round), self.name), bytes) }
    }
}
