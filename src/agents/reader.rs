//! The reader of one file of unknown kind: bytes in, a [`Log`] out, or the name of what it is instead.
//!
//! Lines are held until one of them tells the format, then read in order. A file that holds one JSON document over
//! many lines is taken apart on the way ([`document`](super::document)), and its reader gets the pieces for lines; one
//! that no piece tells is looked at whole, up to a bound. Nothing here fails on a bad line.

use core::fmt;

use serde::de::IgnoredAny;
use serde_json::Value;

use super::book::Touched;
use super::detect::{self, Format, OtherLog, Seen};
use super::document::Pieces;
use super::lines::{Lines, MAX_LINE};
use super::log::Log;
use super::{Health, claude, codex, copilot, gemini, loose, opencode, own, pi};

/// How much text is held while the format is not known, in bytes.
const HELD_BYTES: usize = 4 * 1024 * 1024;

/// Why nothing was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotRead {
    /// A log of a kind that is not read.
    Other(OtherLog),
    /// No line is blank or bad alone: there were none.
    Empty,
    /// Lines there were, and none that tells a format.
    Unknown {
        /// How many lines.
        lines: u64,
        /// How many of them could be read as JSON objects.
        objects: u64,
    },
}

impl fmt::Display for NotRead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Other(other) => write!(f, "a log of another kind, not read yet: this is {}", other.what()),
            Self::Empty => f.write_str("the log is empty"),
            Self::Unknown { lines, objects: 0 } => write!(f, "no log: none of its {lines} lines is a JSON object"),
            Self::Unknown { lines, objects } => {
                write!(
                    f,
                    "a log of an unknown kind: {objects} of its {lines} lines are JSON objects, of no known shape"
                )
            }
        }
    }
}

impl core::error::Error for NotRead {}

macro_rules! inner {
    ($($format:ident: $reader:ty),+ $(,)?) => {
        /// The reader of the format that was found.
        #[derive(Debug)]
        enum Inner {
            $($format(Box<$reader>),)+
        }

        impl Inner {
            fn new(format: Format) -> Self {
                match format {
                    $(Format::$format => Self::$format(Box::default()),)+
                }
            }

            fn line(&mut self, line: &str) -> bool {
                match self {
                    $(Self::$format(reader) => reader.line(line),)+
                }
            }

            fn finish(self) -> Log {
                match self {
                    $(Self::$format(reader) => reader.finish(),)+
                }
            }

            const fn format(&self) -> Format {
                match self {
                    $(Self::$format(_) => Format::$format,)+
                }
            }

            fn watch(&mut self) {
                match self {
                    $(Self::$format(reader) => reader.watch(),)+
                }
            }

            fn drain_touched(&mut self, out: &mut Vec<Touched>) {
                match self {
                    $(Self::$format(reader) => reader.drain_touched(out),)+
                }
            }
        }
    };
}

inner! {
    ClaudeSession: claude::session::Reader,
    ClaudeStream: claude::stream::Reader,
    CodexRollout: codex::rollout::Reader,
    CodexExec: codex::exec::Reader,
    PiSession: pi::Reader,
    PiJson: pi::Reader,
    OpencodeExport: opencode::export::Reader,
    OpencodeJson: opencode::run::Reader,
    CopilotCli: copilot::Reader,
    GeminiChat: gemini::chat::Reader,
    GeminiJson: gemini::print::Reader,
    Flyball: own::Reader,
}

/// Reads one file, whichever of the known formats it has.
///
/// ```
/// use flyball::agents::{LogReader, NotRead, OtherLog};
/// let mut reader = LogReader::new();
/// reader.push(br#"{"v":1,"agent":"claude-code","cli_version":"0.5","type":"user"}"#);
/// assert_eq!(reader.finish().unwrap_err(), NotRead::Other(OtherLog::EntireTranscript));
/// ```
#[derive(Debug, Default)]
pub struct LogReader {
    lines: Lines,
    state: State,
}

#[derive(Debug, Default)]
struct State {
    inner: Option<Inner>,
    /// Calls are to be seen while it reads.
    watched: bool,
    other: Option<OtherLog>,
    /// A line was seen.
    begun: bool,
    /// The lines are those of one document.
    document: Option<Pieces>,
    /// Pieces of it that came before the format was known.
    early: Vec<String>,
    /// The text so far: lines that came before the format was known, or a document over many lines.
    text: String,
    objects: u64,
    health: Health,
}

impl LogReader {
    /// A reader that has seen nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A reader that has seen nothing and lets its calls be seen while it reads; lines longer than `limit` bytes are passed
    /// over.
    #[must_use]
    pub fn watched(limit: usize) -> Self {
        Self { lines: Lines::with_limit(limit), state: State { watched: true, ..State::default() } }
    }

    /// The format, as soon as a line told it.
    #[must_use]
    pub fn format(&self) -> Option<Format> {
        self.state.inner.as_ref().map(Inner::format)
    }

    /// Hands over the calls that changed since it was last asked, each once; none where it is not [watched](Self::watched).
    /// What only the file's end tells is not among them.
    ///
    /// ```
    /// use flyball::agents::LogReader;
    /// let (mut reader, mut calls) = (LogReader::watched(1 << 20), Vec::new());
    /// reader.push(b"{\"type\":\"session\",\"id\":\"s\",\"cwd\":\"/\"}\n");
    /// reader.push(br#"{"type":"message","message":{"role":"assistant","stopReason":"stop","usage":{"input":1,"output":7}}}"#);
    /// reader.push(b"\n");
    /// reader.drain_touched(&mut calls);
    /// assert_eq!(calls[0].turn.record.output.count(), 7);
    /// ```
    pub fn drain_touched(&mut self, out: &mut Vec<Touched>) {
        if let Some(inner) = &mut self.state.inner {
            inner.drain_touched(out);
        }
    }

    /// Takes a piece of the file.
    pub fn push(&mut self, bytes: &[u8]) {
        let Self { lines, state } = self;
        lines.push(bytes, &mut |line| state.line(line, true));
    }

    /// Closes the file.
    ///
    /// # Errors
    /// [`NotRead`] where no line told a format that is read.
    pub fn finish(mut self) -> Result<Log, NotRead> {
        let Self { lines, state } = &mut self;
        lines.finish(&mut |line| state.line(line, false));
        let counts = lines.counts();
        let mut state = self.state;
        state.health.take_lines(counts);
        state.whole();
        if let Some(inner) = state.inner {
            let mut log = inner.finish();
            log.health.absorb(&state.health);
            return Ok(log);
        }
        Err(match state.other {
            Some(other) => NotRead::Other(other),
            None if counts.lines == 0 => NotRead::Empty,
            None => NotRead::Unknown { lines: counts.lines, objects: state.objects },
        })
    }
}

impl State {
    fn line(&mut self, text: &str, whole: bool) {
        if self.other.is_some() {
            return;
        }
        if let Some(document) = self.document.take() {
            return self.part(document, text, whole);
        }
        let Some(inner) = &mut self.inner else { return self.first(text, whole) };
        if !inner.line(text) {
            self.unreadable(whole);
        }
    }

    const fn unreadable(&mut self, whole: bool) {
        let place = if whole { &mut self.health.unreadable } else { &mut self.health.half_last };
        *place += 1;
    }

    /// Keeps the text while it is not known what it is; says whether there was room.
    fn hold(&mut self, text: &str) -> bool {
        // Past the bound there is no use in holding on: such a file has no line of a known shape near its start.
        let held = self.text.len() + text.len() < HELD_BYTES;
        if held {
            self.text.push_str(text);
            self.text.push('\n');
        }
        held
    }

    /// A line while the format is not known.
    fn first(&mut self, text: &str, whole: bool) {
        let first = !core::mem::replace(&mut self.begun, true);
        let long = text.len() >= HELD_BYTES;
        let open = first && (long || serde_json::from_str::<IgnoredAny>(text).is_err_and(|error| error.is_eof()));
        if open && text.trim_start().starts_with('{') {
            return self.part(Pieces::with_limit(MAX_LINE), text, whole);
        }
        let held = self.hold(text);
        let Some(line) = loose::value(text) else {
            return self.unreadable(whole);
        };
        self.objects += 1;
        match detect::look(&line) {
            Seen::Format(format) => self.decide(format),
            Seen::Other(other) => {
                self.other = Some(other);
                self.text = String::new();
            }
            Seen::Nothing if held => {}
            Seen::Nothing => self.health.unknown(line.get("type").and_then(Value::as_str).unwrap_or("")),
        }
    }

    /// A line of a document.
    fn part(&mut self, mut document: Pieces, text: &str, whole: bool) {
        if self.inner.is_none() {
            self.hold(text);
        }
        document.push(text, &mut |piece| self.piece(piece));
        document.push("\n", &mut |piece| self.piece(piece));
        if !document.is_broken() {
            self.document = Some(document);
        } else if self.inner.is_some() {
            self.unreadable(whole);
        } else {
            // no document after all: its lines are lines
            let held = core::mem::take(&mut self.text);
            self.early = Vec::new();
            let last = held.lines().count().saturating_sub(1);
            for (nth, line) in held.lines().enumerate() {
                self.line(line, whole || nth < last);
            }
        }
    }

    /// A piece of a document.
    fn piece(&mut self, piece: &str) {
        if let Some(inner) = &mut self.inner {
            if !inner.line(piece) {
                self.unreadable(true);
            }
            return;
        }
        match loose::value(piece).map_or(Seen::Nothing, |piece| detect::look(&piece)) {
            Seen::Format(format) => {
                let mut inner = self.begin(format);
                for piece in self.early.iter().map(String::as_str).chain([piece]) {
                    let read = inner.line(piece);
                    self.health.unreadable += u64::from(!read);
                }
                (self.early, self.text, self.inner) = (Vec::new(), String::new(), Some(inner));
            }
            Seen::Other(other) => self.other = Some(other),
            Seen::Nothing => {
                let held = self.early.iter().map(String::len).sum::<usize>() + piece.len() < HELD_BYTES;
                if held {
                    self.early.push(piece.to_owned());
                }
            }
        }
    }

    /// At the file's end: looks at a document that no piece of it told, and says what is missing of one.
    fn whole(&mut self) {
        if let Some(document) = self.document.take() {
            self.health.half_last += u64::from(!document.is_done());
            self.health.too_long += document.skipped();
        }
        if self.inner.is_some() || self.other.is_some() {
            return;
        }
        match loose::value(&self.text).map_or(Seen::Nothing, |text| detect::look(&text)) {
            Seen::Format(format) => {
                let mut inner = self.begin(format);
                let read = inner.line(&self.text);
                self.health.unreadable += u64::from(!read);
                self.inner = Some(inner);
            }
            Seen::Other(other) => self.other = Some(other),
            Seen::Nothing => {}
        }
    }

    fn begin(&self, format: Format) -> Inner {
        let mut inner = Inner::new(format);
        if self.watched {
            inner.watch();
        }
        inner
    }

    fn decide(&mut self, format: Format) {
        let mut inner = self.begin(format);
        for held in core::mem::take(&mut self.text).lines() {
            // what could not be read is counted already
            let _ = inner.line(held);
        }
        self.inner = Some(inner);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(pieces: &[&[u8]]) -> Result<Log, NotRead> {
        let mut reader = LogReader::new();
        for piece in pieces {
            reader.push(piece);
        }
        reader.finish()
    }

    const SMALL: &str = concat!(
        "{\"type\":\"file-history-snapshot\",\"messageId\":\"m\"}\r\n",
        "{\"type\":\"user\",\"sessionId\":\"s\",\"timestamp\":\"2026-01-01T00:00:01Z\"}\n",
        "{not json}\n\n[1]\n\"text\"\n",
        "{\"type\":\"assistant\",\"sessionId\":\"s\",\"timestamp\":\"2026-01-01T00:00:04Z\",\"message\":{\"id\":\"a\",",
        "\"model\":\"m\",\"stop_reason\":\"end_turn\",\"usage\":{\"output_tokens\":42}}}\n",
        "{\"type\":\"novel\",\"sessionId\":\"s\"}\n{\"type\":\"assis",
    );

    #[test]
    fn bad_lines_are_counted_and_the_rest_is_read() {
        let mut bytes = SMALL.as_bytes().to_vec();
        bytes.splice(0..0, *b"\xEF\xBB\xBF");
        let log = read(&[&bytes]).unwrap();
        assert_eq!(log.turns.len(), 1);
        assert_eq!(log.turns[0].record.output.count(), 42);
        let health = &log.health;
        assert_eq!((health.lines, health.unreadable, health.half_last, health.unknown_types), (8, 3, 1, 1));
        assert_eq!(health.lost_lines(), 4);
    }

    #[test]
    fn a_last_line_that_only_lacks_its_end_counts() {
        let whole = SMALL.rsplit_once("\n{").unwrap().0;
        assert_eq!(read(&[whole.as_bytes()]).unwrap().health.half_last, 0);
    }

    #[test]
    fn other_things_are_named() {
        let say = |text: &str| read(&[text.as_bytes()]).unwrap_err();
        assert_eq!(say(""), NotRead::Empty);
        assert_eq!(say(" \n\r\n"), NotRead::Empty);
        assert_eq!(say("hello\nworld"), NotRead::Unknown { lines: 2, objects: 0 });
        assert_eq!(say("{\"a\":1}\nworld\n"), NotRead::Unknown { lines: 2, objects: 1 });
        let qwen = "{\n \"type\": \"user\",\n \"qwen_code_version\": \"1\"\n}\n";
        assert_eq!(say(qwen), NotRead::Other(OtherLog::Qwen));
        assert!(say("{\"v\":1,\"agent\":\"a\",\"cli_version\":\"1\",\"type\":\"x\"}").to_string().contains("Entire"));
        assert_eq!(say("{\"type\":\"assis"), NotRead::Unknown { lines: 1, objects: 0 });
    }

    #[test]
    fn a_document_is_read_in_pieces_and_told_whole_where_no_piece_tells_it() {
        let export = "{\n\"info\": {\"id\": \"ses_1\", \"version\": \"1.18.0\"},\n\"messages\": [\n{\"info\": {\"role\": \"assistant\",\n";
        let tokens = "\"id\": \"msg_1\", \"tokens\": {\"input\": 5, \"output\": 7}}, \"parts\": []}\n";
        let log = read(&[export.as_bytes(), tokens.as_bytes(), b"]}\n"]).unwrap();
        assert_eq!((log.format, log.turns.len(), log.turns[0].record.output.count()), (Format::OpencodeExport, 1, 7));
        assert_eq!((log.turns[0].record.session.as_deref(), log.health.lost_lines()), (Some("ses_1"), 0));
        let cut = read(&[export.as_bytes(), tokens.as_bytes()]).unwrap();
        assert_eq!((cut.turns.len(), cut.health.half_last), (1, 1));
        let noise = read(&[export.as_bytes(), tokens.as_bytes(), b"]}\nmore\n"]).unwrap();
        assert_eq!((noise.turns.len(), noise.health.unreadable), (1, 1));
        let empty = read(&[b"{\n\"info\": {},\n\"messages\": []\n}"]).unwrap();
        assert_eq!((empty.format, empty.turns.len()), (Format::OpencodeExport, 0));
        let result =
            "{\n\"session_id\": \"s\",\n\"total_cost_usd\": 1,\n\"modelUsage\": {\"m\": {\"outputTokens\": 9}}\n}\n";
        let claude = read(&[result.as_bytes()]).unwrap();
        assert_eq!((claude.format, claude.sums[0].output.count()), (Format::ClaudeStream, 9));
    }

    #[test]
    fn a_first_line_cut_short_costs_itself_alone() {
        let text = format!("{{\"type\":\"user\",\"sessionId\":\"s\"\n{SMALL}");
        let log = read(&[text.as_bytes()]).unwrap();
        assert_eq!((log.turns.len(), log.health.unreadable, log.health.half_last), (1, 4, 1));
    }

    #[test]
    fn a_document_on_one_line_longer_than_what_is_held_is_read() {
        let pad = "x".repeat(HELD_BYTES);
        let text = format!(
            "{{\"info\":{{\"id\":\"ses_1\"}},\"messages\":[{{\"info\":{{\"role\":\"user\"}},\"parts\":[{{\"text\":\"{pad}\"}}]}},\
             {{\"info\":{{\"role\":\"assistant\",\"id\":\"msg_1\",\"tokens\":{{\"input\":1,\"output\":3}}}},\"parts\":[]}}]}}"
        );
        let log = read(&[text.as_bytes()]).unwrap();
        assert_eq!((log.turns.len(), log.turns[0].record.session.as_deref()), (1, Some("ses_1")));
    }

    #[test]
    fn deep_nesting_is_a_bad_line() {
        let deep = format!("{}{}\n{SMALL}", "{\"a\":".repeat(100_000), "}".repeat(100_000));
        assert_eq!(read(&[deep.as_bytes()]).unwrap().health.unreadable, 4);
    }

    proptest! {
        #[test]
        fn random_bytes_never_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = read(&[&bytes]);
        }

        #[test]
        fn damaged_logs_never_make_it_panic_and_cuts_make_no_difference(
            at in 0..SMALL.len(), byte in any::<u8>(), cut in 1_usize..50,
        ) {
            let mut bytes = SMALL.as_bytes().to_vec();
            bytes[at] = byte;
            let pieces: Vec<&[u8]> = bytes.chunks(cut).collect();
            prop_assert_eq!(read(&[&bytes]), read(&pieces));
        }
    }
}
