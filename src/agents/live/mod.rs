//! The live ledger of one round: bytes of a program's output and logs in, what landed out.
//!
//! It is built on the readers: they alone count. Each source (standard output, each followed file) has a reader whose calls are
//! seen as they change, and a call lands as soon as the first of them has its final count, once. [`Live::close`] then
//! joins all sources and says what had not landed and what landed with another count. Beside that, [`sign`] reads what
//! lines say of requests, limits and the run's end: no single sign is believed, an exit code least of all.
//!
//! | module | holds |
//! |---|---|
//! | [`sign`] | what a line says beside usage |
//! | [`claude`], [`codex`], [`pi`], [`opencode`], [`gemini`], [`copilot`] | the signs of each program |
//! | [`size`] | how much there is of a value |
//! | `close` | what a round came to |
//!
//! A call that was begun and whose count nobody ever stated is estimated, at one token for four bytes of what was printed
//! of it and no less than its start value, where it was cut by us or where it is a broken try; a broken try is no turn.
//! Otherwise it stays unknown, and is never zero.
//!
//! It starts, opens and waits for nothing. Where the bytes of a source are cut makes no difference. Units: tokens;
//! milliseconds of Unix time as the sources state them; rounds are the caller's to number.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::adapter::AgentKind;
use super::book::Touched;
use super::detect::{self, Seen};
use super::lines::Lines;
use super::log::{Coverage, TurnKey};
use super::reader::LogReader;
use super::{Format, loose};
use crate::engine::{Grade, MicroUsd, RoundExit, Timestamp, Tokens, TurnRecord};

pub mod claude;
mod close;
pub mod codex;
pub mod copilot;
pub mod gemini;
pub mod opencode;
pub mod pi;
pub mod sign;
pub mod size;

use sign::{Sign, Signs, refuses_effort};

/// The longest line that is read, in bytes; longer ones are passed over and take no memory.
pub const MAX_LIVE_LINE: usize = 16 * 1024 * 1024;

/// How many different notes a round may have.
const NOTES: usize = 30;

/// How much of a failure's text is kept, in bytes.
const KEPT: usize = 600;

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
    /// A turn whose count is final. Each once, whichever sources tell it. Times are milliseconds of Unix time, where the
    /// source has any; `round` is the caller's to set.
    Turn(TurnRecord),
    /// A request to the model began, or was tried again.
    Request,
    /// The effort that took hold, each time that it is another.
    Effort {
        /// The program's word for it.
        confirmed: Arc<str>,
    },
    /// The program or its backend says that the effort asked for was not taken.
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

/// What a round comes to, and the counts of those of its turns that are known, by id.
pub type Total = (Tokens, Vec<(Arc<str>, Tokens)>);

/// What a round came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closed {
    /// Turns, and tokens that are no turn, that had not landed before.
    pub late: Vec<TurnRecord>,
    /// What all records of the round come to once `late` is in, and the counts of those that landed with another; `None` where
    /// nothing is to be settled.
    pub total: Option<Total>,
    /// How much of what was stated in sum was counted turn by turn. Nothing at all where nobody stated anything.
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

/// By what a call is known over all sources.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Message(Arc<str>),
    Own(usize, TurnKey),
}

/// A call without a count so far.
#[derive(Clone, Copy, Debug, Default)]
struct Open {
    begun: Option<Tokens>,
    side: bool,
}

/// One stream of bytes and its reader.
#[derive(Debug)]
struct Source {
    lines: Lines,
    reader: LogReader,
}

impl Source {
    fn new() -> Self {
        Self { lines: Lines::with_limit(MAX_LIVE_LINE), reader: LogReader::watched(MAX_LIVE_LINE) }
    }
}

/// How the run ended, as far as its own signs say.
#[derive(Debug, Default)]
struct Ending {
    /// The closing event, and whether it says that it went well.
    ended: Option<bool>,
    why: Option<String>,
    /// It cannot have gone well.
    failed: Option<String>,
    /// The last trouble, which may have passed.
    trouble: Option<String>,
}

/// The ledger of one round.
#[derive(Debug)]
pub struct Live {
    kind: AgentKind,
    signs: Option<Signs>,
    /// Standard output first, then files in the order in which they were first heard of.
    sources: Vec<Source>,
    files: BTreeMap<String, usize>,
    stderr: Lines,
    ledger: Ledger,
}

/// What landed so far, and what may land yet.
#[derive(Debug, Default)]
struct Ledger {
    session: Option<Arc<str>>,
    parts: Vec<Arc<str>>,
    version: Option<Arc<str>>,
    model: Option<Arc<str>>,
    effort: Option<Arc<str>>,
    /// The model of the last call.
    answered: Option<Arc<str>>,
    /// Calls that were seen, whether or not they landed.
    calls: BTreeSet<Place>,
    landed: BTreeMap<Place, Tokens>,
    /// Records that landed without an id: source, end, output.
    nameless: Vec<(usize, Timestamp, Tokens)>,
    open: BTreeMap<Place, Open>,
    /// Bytes printed of calls that are not over, and their counts so far; under no name where lines have none.
    printed: BTreeMap<String, (usize, u64)>,
    /// Requests that began, by signs.
    requests: usize,
    ending: Ending,
    notes: BTreeSet<String>,
    /// The line of standard error that tells most: whether it says what went wrong, and the line.
    complaint: Option<(bool, String)>,
    touched: Vec<Touched>,
}

impl Live {
    /// A ledger that has seen nothing.
    #[must_use]
    pub fn new(kind: AgentKind) -> Self {
        Self {
            kind,
            signs: Signs::of(kind),
            sources: vec![Source::new()],
            files: BTreeMap::new(),
            stderr: Lines::with_limit(MAX_LIVE_LINE),
            ledger: Ledger::default(),
        }
    }

    /// Takes bytes of standard output.
    pub fn stdout(&mut self, bytes: &[u8], out: &mut Vec<Landed>) {
        let Self { signs, sources, ledger, .. } = self;
        let Source { lines, reader } = &mut sources[0];
        lines.push(bytes, &mut |line| ledger.printed_line(line, reader, signs, out));
    }

    /// Takes bytes of a file that is followed, from its beginning and in order; `file` tells it from the others.
    pub fn followed(&mut self, file: &str, bytes: &[u8], out: &mut Vec<Landed>) {
        let Self { sources, files, ledger, .. } = self;
        let place = *files.entry(file.to_owned()).or_insert(sources.len());
        if place == sources.len() {
            sources.push(Source::new());
        }
        let Source { lines, reader } = &mut sources[place];
        lines.push(bytes, &mut |line| ledger.line(place, line, reader, out));
    }

    /// Takes bytes of standard error.
    pub fn stderr(&mut self, bytes: &[u8], out: &mut Vec<Landed>) {
        let ledger = &mut self.ledger;
        self.stderr.push(bytes, &mut |line| ledger.complained(line, out));
    }

    /// The session, as soon as the program names it.
    #[must_use]
    pub fn session(&self) -> Option<&str> {
        self.ledger.session.as_deref()
    }

    /// Sessions of subagents that the program names without saying what they came to.
    #[must_use]
    pub fn parts(&self) -> &[Arc<str>] {
        &self.ledger.parts
    }

    /// How many requests to the model began, as far as can be told.
    #[must_use]
    pub const fn requests(&self) -> usize {
        self.ledger.requests
    }

    /// What of a last line without its end is there counts as a line.
    fn finish_lines(&mut self, out: &mut Vec<Landed>) {
        let Self { signs, sources, ledger, stderr, .. } = self;
        for (place, Source { lines, reader }) in sources.iter_mut().enumerate() {
            lines.finish(&mut |line| match place {
                0 => ledger.printed_line(line, reader, signs, out),
                _ => ledger.line(place, line, reader, out),
            });
        }
        stderr.finish(&mut |line| ledger.complained(line, out));
    }
}

impl Ledger {
    /// A line of standard output: its signs, then its calls.
    fn printed_line(&mut self, line: &str, reader: &mut LogReader, signs: &mut Option<Signs>, out: &mut Vec<Landed>) {
        if signs.is_none()
            && reader.format().is_none()
            && let Some(Seen::Format(format)) = loose::value(line).map(|value| detect::look(&value))
        {
            *signs = Signs::printed(format);
        }
        if let Some(signs) = signs {
            signs.line(line, &mut |sign| self.sign(sign, out));
        }
        self.line(0, line, reader, out);
    }

    fn line(&mut self, source: usize, line: &str, reader: &mut LogReader, out: &mut Vec<Landed>) {
        reader.push(line.as_bytes());
        reader.push(b"\n");
        let mut touched = core::mem::take(&mut self.touched);
        reader.drain_touched(&mut touched);
        touched.drain(..).for_each(|call| self.touch(source, call, out));
        self.touched = touched;
    }

    /// A call changed.
    fn touch(&mut self, source: usize, call: Touched, out: &mut Vec<Landed>) {
        let Touched { turn, begun, side } = call;
        let record = turn.record;
        let place = match &turn.key {
            TurnKey::Message(id) => Place::Message(Arc::clone(id)),
            TurnKey::Totals(_) | TurnKey::Place { .. } => Place::Own(source, turn.key.clone()),
        };
        if record.counts_as_turn && self.calls.insert(place.clone()) && self.calls.len() > self.requests {
            // nobody announced it
            self.requests += 1;
            out.push(Landed::Request);
        }
        if !side {
            self.answered = record.model.clone().or(self.answered.take());
            if let Some(confirmed) = record.effort_confirmed.clone().filter(|word| self.effort.as_ref() != Some(word)) {
                self.effort = Some(Arc::clone(&confirmed));
                out.push(Landed::Effort { confirmed });
            }
        }
        if record.grade == Grade::Unknown {
            let open = self.open.entry(place).or_default();
            open.begun = open.begun.max(begun);
            open.side |= side;
            return;
        }
        self.open.remove(&place);
        if let Place::Message(id) = &place {
            self.printed.remove(id.as_ref());
        }
        if self.landed.contains_key(&place) {
            return;
        }
        if record.id.is_none() {
            self.nameless.push((source, record.end, record.output));
        }
        self.landed.insert(place, record.output);
        out.push(Landed::Turn(record));
    }

    fn sign(&mut self, sign: Sign<'_>, out: &mut Vec<Landed>) {
        match sign {
            Sign::Session(session) => set(&mut self.session, session),
            Sign::Part(session) => {
                if !self.parts.iter().any(|known| &**known == session) {
                    self.parts.push(session.into());
                }
            }
            Sign::Version(version) => set(&mut self.version, version),
            Sign::Model(model) => set(&mut self.model, model),
            Sign::Request => {
                self.requests += 1;
                out.push(Landed::Request);
            }
            Sign::Said("") => {}
            Sign::Said(text) => out.push(Landed::Said(text.to_owned())),
            Sign::Grown { call, bytes, stated } => {
                let name = call.unwrap_or("");
                let known = call.is_some_and(|call| self.landed.contains_key(&Place::Message(call.into())));
                if !known {
                    let (held, count) = self.printed.entry(name.to_owned()).or_default();
                    *held = held.saturating_add(bytes);
                    *count = (*count).max(stated);
                }
            }
            Sign::Over => drop(self.printed.remove("")),
            Sign::Limit { until, text } => out.push(Landed::Limit { until_unix_ms: until, text: text.to_owned() }),
            Sign::Note(text) => self.note(text, out),
            Sign::Trouble(text) => {
                self.ignored(text, out);
                self.ending.trouble = Some(text.to_owned());
            }
            Sign::Failed(why) => {
                self.ignored(&why, out);
                self.ending.failed = Some(why);
            }
            Sign::Again => self.ending = Ending { trouble: self.ending.trouble.take(), ..Ending::default() },
            Sign::SoFar { ok, why } => (self.ending.ended, self.ending.why) = (Some(ok), why),
            Sign::Ended { ok, why } => {
                why.iter().for_each(|why| self.ignored(why, out));
                (self.ending.ended, self.ending.why) = (Some(ok), why);
                out.push(Landed::Result);
            }
        }
    }

    fn ignored(&mut self, text: &str, out: &mut Vec<Landed>) {
        if refuses_effort(text) && self.notes.insert(text.to_owned()) {
            out.push(Landed::Ignored { why: text.to_owned() });
        }
    }

    fn note(&mut self, text: String, out: &mut Vec<Landed>) {
        if self.notes.len() < NOTES && self.notes.insert(text.clone()) {
            out.push(Landed::Note(text));
        }
    }

    fn complained(&mut self, line: &str, out: &mut Vec<Landed>) {
        let line = plain(line);
        self.ignored(&line, out);
        let low = line.to_ascii_lowercase();
        let tells = TELLING.iter().any(|word| low.contains(word));
        let better = self.complaint.as_ref().is_none_or(|&(told, _)| !told);
        if !low.starts_with("warning") && !line.is_empty() && better {
            self.complaint = Some((tells, line));
        }
    }
}

/// Words of a line that says what went wrong; without one of them the last line stands for all.
const TELLING: [&str; 9] =
    ["error", "fatal", "failed", "must ", "cannot", "not found", "no api key", "denied", "not inside"];

/// A text on one line, of bounded length.
fn plain(text: &str) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if line.len() + word.len() > KEPT {
            break;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line.replace(char::is_control, "\u{FFFD}")
}

fn set(place: &mut Option<Arc<str>>, word: &str) {
    if place.as_deref() != Some(word) {
        *place = Some(word.into());
    }
}

/// Formats whose files have a round's calls where what is printed has none.
const fn only_in_files(kind: AgentKind) -> bool {
    match kind {
        AgentKind::Codex | AgentKind::Copilot | AgentKind::Gemini => true,
        AgentKind::Claude | AgentKind::Pi | AgentKind::Opencode | AgentKind::Command => false,
    }
}

/// Whether a log tells the calls of an agent.
const fn has_calls(format: Format) -> bool {
    match format {
        Format::CodexExec | Format::GeminiJson => false,
        Format::ClaudeSession
        | Format::ClaudeStream
        | Format::CodexRollout
        | Format::PiSession
        | Format::PiJson
        | Format::OpencodeExport
        | Format::OpencodeJson
        | Format::CopilotCli
        | Format::GeminiChat
        | Format::Flyball => true,
    }
}

#[cfg(test)]
mod tests;
