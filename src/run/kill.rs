//! What gives a loop up: kill-on, as a person writes it, and the text of an error made the same where it is the same.
//!
//! | written | gives up when |
//! |---|---|
//! | `oracle-pass` | the oracle passes, which is a success |
//! | `same-error-repeats:N` | the same error came N rounds in a row |
//! | `no-progress:N` | N rounds in a row changed nothing |
//! | `agent-failures:N` | the agent failed N rounds in a row |
//! | `regex:PATTERN` | the pattern is found in the agent's own last message of a round |
//! | `python:FILE`, `cli:COMMAND LINE` | the program ends with 2 |
//!
//! A pattern is never looked for in the prompt, nor in what tools printed, nor in a message that was not the last: a mark that the agent
//! took back does not count. [`LastMessage`] holds that message. Of a program whose language nobody knows it is the last paragraph that it
//! printed: nothing tells there who wrote what. A program ends with 0 where the loop is to go on; any other end is said to be broken, and ends nothing. It
//! reads the agent's last message on its standard input.
//!
//! Counting rounds is the engine's; so is the order among controls. Times are milliseconds.

use core::fmt;
use core::num::NonZeroU64;

use regex::Regex;

use super::oracle::words::command_line;
use super::oracle::{last_line, pattern};
use super::os::{CheckEnd, Keep, Os};
use super::place::Place;
use crate::agents::adapter::AgentKind;
use crate::agents::live::Landed;
use crate::engine::Millis;

/// How much of what a program prints is kept, in bytes.
const KEPT: usize = 64 * 1024;
/// How much of the end of a message is kept, in bytes.
const MESSAGE: usize = 256 * 1024;
/// The longest text of an error that is compared, in bytes.
const ERROR: usize = 4096;

/// What gives a loop up.
#[derive(Clone, Debug)]
pub enum KillOn {
    /// The oracle passes.
    OraclePass,
    /// The same error, so many rounds in a row.
    SameError(NonZeroU64),
    /// No progress, so many rounds in a row.
    NoProgress(NonZeroU64),
    /// The agent failed, so many rounds in a row.
    AgentFailures(NonZeroU64),
    /// A pattern in the agent's last message.
    Pattern(Regex),
    /// A program that ends with 2.
    Command(Vec<String>),
}

/// What a predicate says after a round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// The loop goes on.
    GoOn,
    /// The loop is given up; the evidence.
    Kill(String),
    /// It cannot say; why. It ends nothing.
    Broken(String),
}

impl KillOn {
    /// Reads one.
    ///
    /// # Errors
    /// In words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let (kind, value) = text.split_once(':').map_or((text, None), |(kind, value)| (kind, Some(value)));
        let count = || -> Result<NonZeroU64, String> {
            let value = value.unwrap_or("").trim();
            value.parse().map_err(|_| format!("`{kind}:{value}` needs a number of rounds, 1 or more: write `{kind}:3`"))
        };
        let named = |form: &str| {
            value.map(str::trim).filter(|value| !value.is_empty()).ok_or_else(|| format!("write `{form}`"))
        };
        match kind {
            "oracle-pass" if value.is_none() => Ok(Self::OraclePass),
            "same-error-repeats" => Ok(Self::SameError(count()?)),
            "no-progress" => Ok(Self::NoProgress(count()?)),
            "agent-failures" => Ok(Self::AgentFailures(count()?)),
            "regex" => match value {
                None | Some("") => {
                    Err("the pattern of `regex:PATTERN` is empty, and would be found in anything".to_owned())
                }
                Some(text) => pattern(text).map(Self::Pattern),
            },
            "python" => Ok(Self::Command(vec!["python3".to_owned(), named("python:FILE")?.to_owned()])),
            "cli" => command_line(named("cli:COMMAND LINE")?).map(Self::Command),
            _ => Err(format!(
                "`{text}` is nothing that a loop is given up on: there are oracle-pass, same-error-repeats:N, no-progress:N, \
                 agent-failures:N, regex:PATTERN, python:FILE and cli:COMMAND LINE"
            )),
        }
    }

    /// Asks it after a round. `message` is the agent's own last message of the round; what counts rounds says nothing here.
    pub fn ask(&self, os: &mut impl Os, place: &Place, message: &str, limit: Millis) -> Said {
        match self {
            Self::OraclePass | Self::SameError(_) | Self::NoProgress(_) | Self::AgentFailures(_) => Said::GoOn,
            Self::Pattern(pattern) => match pattern.find(message) {
                Some(found) => Said::Kill(format!("the agent's last message has `{}`", found.as_str())),
                None => Said::GoOn,
            },
            Self::Command(argv) => ask_program(os, place, argv, message, limit),
        }
    }
}

/// The agent's own last message of a round: of several texts in one message the last.
#[derive(Clone, Debug)]
pub struct LastMessage {
    kind: AgentKind,
    text: String,
    over: bool,
    printed: Vec<u8>,
}

impl LastMessage {
    /// Nothing was said yet.
    #[must_use]
    pub const fn new(kind: AgentKind) -> Self {
        Self { kind, text: String::new(), over: true, printed: Vec::new() }
    }

    /// Takes in what landed, in its order.
    pub fn land(&mut self, landed: &Landed) {
        match landed {
            Landed::Said(text) => {
                // of all programs but this one each text is whole
                if std::mem::take(&mut self.over) || self.kind != AgentKind::Gemini {
                    self.text.clear();
                }
                self.text.push_str(text);
                let from = self.text.len() - last_of(&self.text, MESSAGE).len();
                self.text.drain(..from);
            }
            Landed::Request | Landed::Turn(_) | Landed::Result => self.over = true,
            Landed::Effort { .. } | Landed::Ignored { .. } | Landed::Limit { .. } | Landed::Note(_) => {}
        }
    }

    /// Takes in what was printed, for a program whose language nobody knows.
    pub fn printed(&mut self, bytes: &[u8]) {
        if self.kind == AgentKind::Command {
            self.printed.extend_from_slice(bytes);
            let over = self.printed.len().saturating_sub(MESSAGE);
            self.printed.drain(..over);
        }
    }

    /// The message.
    #[must_use]
    pub fn text(&self) -> String {
        if !self.text.is_empty() || self.printed.is_empty() {
            return self.text.clone();
        }
        let printed = String::from_utf8_lossy(&self.printed).replace("\r\n", "\n");
        printed.trim().rsplit("\n\n").next().unwrap_or("").to_owned()
    }
}

impl fmt::Display for KillOn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OraclePass => f.write_str("oracle-pass"),
            Self::SameError(count) => write!(f, "same-error-repeats:{count}"),
            Self::NoProgress(count) => write!(f, "no-progress:{count}"),
            Self::AgentFailures(count) => write!(f, "agent-failures:{count}"),
            Self::Pattern(pattern) => write!(f, "regex:{pattern}"),
            Self::Command(argv) => write!(f, "cli:{}", argv.join(" ")),
        }
    }
}

fn ask_program(os: &mut impl Os, place: &Place, argv: &[String], message: &str, limit: Millis) -> Said {
    if limit == Millis::ZERO {
        return Said::GoOn;
    }
    let mut launch = place.launch(argv.to_vec());
    launch.stdin = message.as_bytes().to_vec();
    let checked = os.check(&launch, limit, Keep::Both(KEPT));
    let name = argv.join(" ");
    let last = last_line(&checked.output);
    let and_last = |what: String| last.as_ref().map_or_else(|| what.clone(), |last| format!("{what}: {last}"));
    match checked.end {
        CheckEnd::Exited(0) | CheckEnd::GivenUp => Said::GoOn,
        CheckEnd::Exited(2) => Said::Kill(and_last(format!("`{name}` ended with 2"))),
        CheckEnd::Exited(code) => {
            Said::Broken(and_last(format!("`{name}` ended with {code}, which says neither 0 nor 2")))
        }
        CheckEnd::Signalled(signal) => Said::Broken(and_last(format!("`{name}` was ended by signal {signal}"))),
        CheckEnd::TimedOut => {
            Said::Broken(and_last(format!("`{name}` took longer than {} s", limit.count().div_ceil(1000))))
        }
        CheckEnd::NotStarted(why) => Said::Broken(why),
    }
}

/// The end of a text, so many bytes of it at most.
pub(super) fn last_of(text: &str, most: usize) -> &str {
    let least = text.len().saturating_sub(most);
    (least..=text.len()).find_map(|at| text.get(at..)).unwrap_or("")
}

/// A text without the sequences that colour a terminal.
pub(super) fn without_colours(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut marks = text.chars().peekable();
    while let Some(mark) = marks.next() {
        if mark != '\u{1b}' {
            plain.push(mark);
            continue;
        }
        match marks.next() {
            // up to the letter that ends it
            Some('[') => while marks.next().is_some_and(|mark| !('@'..='~').contains(&mark)) {},
            // a title, up to the bell or the next escape
            Some(']') => while marks.next_if(|mark| !matches!(mark, '\u{7}' | '\u{1b}')).is_some() {},
            Some(_) | None => {}
        }
    }
    plain
}

/// An error's text without what differs from one time to the next: numbers, hexadecimal, times, addresses, names of temporary files, colours.
/// Nothing where no text is left. It is what is compared, and what is shown.
#[must_use]
pub fn normalise_error(text: &str) -> Option<String> {
    let plain = without_colours(last_of(text, 4 * ERROR));
    let mut words: Vec<String> = Vec::new();
    for word in plain.split_whitespace() {
        let word = normal_word(word);
        // times and durations of several words come out as several marks
        if word != "#" || words.last().is_none_or(|last| last != "#") {
            words.push(word);
        }
    }
    let joined = words.join(" ");
    let normal = last_of(&joined, ERROR).trim();
    normal.chars().any(char::is_alphabetic).then(|| normal.to_owned())
}

/// One word with its numbers taken out.
fn normal_word(word: &str) -> String {
    if ["/tmp", "/var/tmp", "/var/folders", "/private/tmp", "/dev/shm"]
        .iter()
        .any(|folder| word.contains(&format!("{folder}/")))
    {
        return temporary(word);
    }
    let mut normal = String::new();
    let mut rest = word;
    while let Some(first) = rest.chars().next() {
        let run = rest.find(|mark: char| !mark.is_ascii_alphanumeric()).unwrap_or(rest.len());
        if run == 0 {
            normal.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        }
        normal.push_str(&normal_run(&rest[..run]));
        rest = &rest[run..];
    }
    let bare = normal.trim_matches(|mark: char| !mark.is_alphanumeric() && mark != '#');
    if !bare.is_empty() && bare.chars().all(|mark| matches!(mark, '#' | ':' | '.' | '-' | '/' | ',' | '+' | '_')) {
        "#".to_owned()
    } else {
        normal
    }
}

/// A run of letters and digits: a number, with its unit or without; hexadecimal; a word that has digits in it.
fn normal_run(run: &str) -> String {
    let digits = run.bytes().filter(u8::is_ascii_digit).count();
    let hexadecimal = run.strip_prefix("0x").unwrap_or(run).bytes().all(|byte| byte.is_ascii_hexdigit());
    if digits == 0 {
        return run.to_owned();
    }
    let leading = run.bytes().take_while(u8::is_ascii_digit).count();
    let unit = &run[leading..];
    let time = [
        "", "ms", "us", "ns", "s", "m", "h", "sec", "secs", "min", "T", "Z", "K", "k", "M", "G", "B", "KB", "MB", "GB",
    ];
    if (hexadecimal && (run.starts_with("0x") || run.len() >= 6))
        || (leading > 0 && (time.contains(&unit) || digits == run.len()))
    {
        return "#".to_owned();
    }
    if leading == 0 && run.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit()) {
        // the code of an error, as `E0308`, tells it from others
        return run.to_owned();
    }
    // each number in it, as in `thread12`; 2026T10 of a stamp too
    let mut out = String::new();
    for byte in run.chars() {
        if !byte.is_ascii_digit() {
            out.push(byte);
        } else if !out.ends_with('#') {
            out.push('#');
        }
    }
    if leading > 0 && out == "#T#" { "#".to_owned() } else { out }
}

/// A path in a folder for temporary files: what comes first in it is made up anew each time.
fn temporary(word: &str) -> String {
    let at = word.rfind('/').map_or(0, |at| at + 1);
    let name = &word[at..];
    let below = word[..at].matches('/').count() > 2;
    if below { format!("<temp>/{}", normal_word(name)) } else { "<temp>".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kill_on_is_read_as_it_is_written() {
        for text in [
            "oracle-pass",
            "same-error-repeats:3",
            "no-progress:1",
            "agent-failures:2",
            "regex:^STOP: \\d+$",
            "cli:./kill.sh a b",
        ] {
            assert_eq!(KillOn::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(KillOn::parse("python: k.py ").unwrap().to_string(), "cli:python3 k.py");
        for (text, says) in [
            ("", "there are oracle-pass"),
            ("oracle-pass:1", "there are"),
            ("no-progress", "write `no-progress:3`"),
            ("no-progress:0", "1 or more"),
            ("same-error-repeats:-1", "1 or more"),
            ("same-error:3", "there are"),
            ("regex:", "empty"),
            ("regex", "empty"),
            ("regex:(|x)", "any text"),
            ("regex:[", "no pattern"),
            ("python:", "python:FILE"),
            ("cli: ", "cli:COMMAND"),
            ("cli:a > b", "no shell"),
        ] {
            let why = KillOn::parse(text).unwrap_err();
            assert!(why.contains(says), "{text}: {why}");
        }
    }

    #[test]
    fn the_same_error_is_the_same_text() {
        let temp = |name: &str| format!("/tm{}/{name}", "p");
        let same = [
            ("error: exit 1 after 12.5s (pid 4711)", "error: exit 22 after 3.75s (pid 12)"),
            ("2026-12-01T10:11:12.123Z ERROR x at 0x7ffe12ab", "2025-01-31T23:59:59Z ERROR x at 0xdeadbeef"),
            ("[10:11:12] request req_011CVabc9 failed", "[9:1:2] request req_022CVabc8 failed"),
            ("\u{1b}[31merror\u{1b}[0m: port 127.0.0.1:8080 is taken", "error: port 127.0.0.1:9 is taken"),
            ("object 3f2a9bc0d1 is missing", "object 77e1aa02bb is missing"),
            ("took 5m 3s: timeout", "took 12s: timeout"),
            ("took 250ms: timeout", "took 3ms: timeout"),
            ("line 3,\n  column 7", "line 44, column 12"),
        ];
        for (one, other) in same {
            assert_eq!(normalise_error(one), normalise_error(other), "{one}");
        }
        let (one, other) = (temp("tmp.Xa9/x/test.log"), temp("tmp.b77/x/test.log"));
        assert_eq!(normalise_error(&format!("no {one}")), normalise_error(&format!("no {other}")));
        assert_eq!(normalise_error(&format!("no {one}")).unwrap(), "no <temp>/test.log");
    }

    #[test]
    fn another_error_is_another_text() {
        for (one, other) in [
            ("error[E0308]: mismatched", "error[E0382]: mismatched"),
            ("cannot find a.rs", "cannot find b.rs"),
            ("test one failed", "test two failed"),
            ("dead end", "beef end"),
        ] {
            assert_ne!(normalise_error(one), normalise_error(other), "{one}");
        }
        for empty in ["", " \n", "12 34", "\u{1b}[31m\u{1b}[0m", "-- 10:11:12 --"] {
            assert_eq!(normalise_error(empty), None, "{empty:?}");
        }
        assert_eq!(normalise_error("Error: exit 1").unwrap(), "Error: exit #");
        let long = format!("first {}last", "word ".repeat(100_000));
        assert!(normalise_error(&long).unwrap().ends_with("last"));
        assert!(normalise_error(&"\u{fc}".repeat(100_000)).unwrap().len() <= ERROR);
    }
}
