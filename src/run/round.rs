//! The round whose agent runs: what the host remembers of it until it is over.

use std::io;
use std::sync::Arc;

use super::host::Clocks;
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
    pub(super) said: Said,
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
    pub(super) fn new(number: u64, effort: Effort, live: Live, now: Timestamp, before: Tokens) -> Self {
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
            said: Said::default(),
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

/// The agent's own words in a round: neither its prompt nor what its tools print.
#[derive(Clone, Debug, Default)]
pub(super) struct Said {
    /// All of it, up to a bound, a blank line between messages.
    pub(super) whole: String,
    /// Where in it the last message begins.
    last: usize,
    /// The message is over: what comes next is another.
    over: bool,
}

impl Said {
    /// Takes the next words.
    pub(super) fn say(&mut self, text: &str) {
        if std::mem::take(&mut self.over) && !self.whole.is_empty() {
            self.whole.push_str("\n\n");
            self.last = self.whole.len();
        }
        if self.whole.len() + text.len() > SAID_BYTES {
            // the last message counts more than what came before it
            let mut most = SAID_BYTES.min(text.len());
            while !text.is_char_boundary(most) {
                most -= 1;
            }
            self.whole = text[..most].to_owned();
            self.last = 0;
        } else {
            self.whole.push_str(text);
        }
    }

    /// A turn or a request: the next words are of another message.
    pub(super) const fn pause(&mut self) {
        self.over = true;
    }

    /// The last message.
    pub(super) fn last(&self) -> &str {
        self.whole.get(self.last..).unwrap_or_default()
    }
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
