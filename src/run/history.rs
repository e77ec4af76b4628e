//! What stays of runs that are over: `history.jsonl`, a line a run, and `progress.txt`, lines that a person can read.
//!
//! `history.jsonl` lies in the folder of the records, one JSON object a line, in the order in which runs ended. A line that was cut off by a crash
//! is passed over by readers, and taken away by the next writer. `progress.txt` lies beside it, for people: a moment in UTC, `[flyball]`, and what
//! happened; its last line names the control. Neither is read to decide anything: the journal is the truth, and whoever works in the project can
//! write here.
//!
//! It opens nothing: [`system::shelf`](super::system::shelf) writes. Units: tokens, millionths of a USD, milliseconds.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::figures::{millions, span};
use crate::engine::{Control, Millis, RoundExit, Timestamp, Tokens, counted};
use crate::trace::{Word, iso};

/// The name of the list of runs, in the folder of the records.
pub const HISTORY: &str = "history.jsonl";
/// The name of the file for people, in the folder of the records.
pub const PROGRESS: &str = "progress.txt";
/// The version that is written. Readers pass over what they do not know.
pub const VERSION: u64 = 1;

/// A run that is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Over {
    /// [`VERSION`].
    pub version: u64,
    /// The run's name.
    pub run: String,
    /// When it ended, in UTC.
    pub when: String,
    /// The agent.
    pub agent: String,
    /// The model, as the agent's program calls it; empty where none was named.
    #[serde(default)]
    pub model: String,
    /// What stopped it.
    pub control: Word<Control>,
    /// What the last line said of it.
    pub detail: String,
    /// The exit code.
    pub exit: u8,
    /// Rounds begun, over the whole loop.
    pub rounds: u64,
    /// Output tokens, over the whole loop.
    pub output_tokens: u64,
    /// Tokens of all kinds, over the whole loop.
    pub tokens: u64,
    /// Cost, over the whole loop.
    pub micro_usd: u64,
    /// Wall time of the last invocation.
    pub wall_ms: u64,
    /// The governor's settings, as they were said.
    #[serde(default)]
    pub governor: BTreeMap<String, String>,
}

impl Over {
    /// Its line, with its end.
    ///
    /// # Errors
    /// None that can arise from texts and numbers.
    pub fn line(&self) -> serde_json::Result<String> {
        Ok(serde_json::to_string(self)? + "\n")
    }
}

/// A list of runs, read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// Those that can be read, in order.
    pub runs: Vec<Over>,
    /// Lines that cannot be read, each with its number from 1 and why.
    pub faults: Vec<(usize, String)>,
    /// The last line was cut off.
    pub torn: bool,
}

/// Reads a list of runs.
#[must_use]
pub fn read(bytes: &[u8]) -> History {
    let mut history = History::default();
    for (at, line) in bytes.split_inclusive(|&byte| byte == b'\n').enumerate() {
        match serde_json::from_slice(line) {
            Ok(run) => history.runs.push(run),
            Err(_) if !line.ends_with(b"\n") => history.torn = true,
            Err(_) if line.trim_ascii().is_empty() => {}
            Err(error) => history.faults.push((at + 1, error.to_string())),
        }
    }
    history
}

/// What is to be done before the next line can be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mend {
    /// Nothing.
    Sound,
    /// The last line is whole, and lacks its end.
    End,
    /// The last line was cut off: so many bytes stand before it.
    Cut(usize),
}

/// Looks at the end of a list of runs.
#[must_use]
pub fn mend(bytes: &[u8]) -> Mend {
    let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    if whole == bytes.len() {
        Mend::Sound
    } else if serde_json::from_slice::<Over>(&bytes[whole..]).is_ok() {
        Mend::End
    } else {
        Mend::Cut(whole)
    }
}

/// A line of `progress.txt` with its end; `unix` is the moment in milliseconds of Unix time.
///
/// ```
/// use flyball::{engine::Timestamp, run::history::progress};
/// assert_eq!(progress(Timestamp::EPOCH, "a\nb"), "1970-01-01T00:00:00Z [flyball] a b\n");
/// ```
#[must_use]
pub fn progress(unix: Timestamp, text: &str) -> String {
    let moment = iso(unix);
    let second = moment.split('.').next().unwrap_or_default();
    // one event, one line, whatever the text is made of
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("{second}Z [flyball] {}\n", text.trim())
}

/// A round that is over, as `progress.txt` tells of it.
#[derive(Clone, Copy, Debug)]
pub struct RoundOver<'a> {
    /// Which.
    pub round: u64,
    /// The effort that it was asked to run at.
    pub effort: &'a str,
    /// How it ended.
    pub exit: RoundExit,
    /// The failure in words.
    pub why: Option<&'a str>,
    /// Turns that were counted.
    pub turns: u64,
    /// Output tokens.
    pub output: Tokens,
    /// How long it took.
    pub lasted: Millis,
    /// What the oracle said, in one line.
    pub oracle: Option<&'a str>,
    /// Whether it changed anything; none where nobody looked.
    pub changed: Option<bool>,
}

impl RoundOver<'_> {
    /// What happened, in words.
    #[must_use]
    pub fn words(&self) -> String {
        let exit = self.exit.word();
        let why = self.why.map(|why| format!(" ({why})")).unwrap_or_default();
        let changed = match self.changed {
            Some(true) => "; files changed",
            Some(false) => "; nothing changed",
            None => "",
        };
        let oracle = self.oracle.map(|said| format!("; oracle: {said}")).unwrap_or_default();
        format!(
            "round {} at {}: {exit}{why}, {}, {}, {}{changed}{oracle}",
            self.round,
            self.effort,
            counted(self.turns, "turn"),
            counted(millions(self.output), "output token"),
            span(self.lasted),
        )
    }
}

/// The last line of a run, in words: the control, what it came to, and the exit code.
#[must_use]
pub fn stopped(control: Control, detail: &str, exit: u8) -> String {
    format!("stopped by {control}: {detail} (exit {exit})")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn over(run: &str) -> Over {
        Over {
            version: VERSION,
            run: run.to_owned(),
            when: "2026-12-01T10:00:00.000Z".to_owned(),
            agent: "claude".to_owned(),
            model: "m".to_owned(),
            control: Word(Control::Rounds),
            detail: "20 of 20 rounds".to_owned(),
            exit: 1,
            rounds: 20,
            output_tokens: 12_345,
            tokens: 99_999,
            micro_usd: 1_500_000,
            wall_ms: 60_000,
            governor: [("juice".to_owned(), "2000".to_owned())].into(),
        }
    }

    #[test]
    fn lines_read_back_and_say_what_they_should() {
        let line = over("a").line().unwrap();
        assert!(line.contains("\"control\":\"rounds\"") && line.ends_with("}\n"), "{line}");
        let both = line.clone() + &over("b").line().unwrap();
        assert_eq!(read(both.as_bytes()).runs, [over("a"), over("b")]);
        let later = line.replace("\"version\":1", "\"version\":7,\"new\":[1]");
        assert_eq!(read(later.as_bytes()).runs[0].run, "a", "what a later version adds is passed over");
    }

    #[test]
    fn a_line_that_was_cut_off_is_passed_over_and_taken_away() {
        let (first, second) = (over("a").line().unwrap(), over("b").line().unwrap());
        for cut in 1..second.len() {
            let bytes = [first.as_bytes(), &second.as_bytes()[..cut]].concat();
            let whole = cut == second.len() - 1;
            assert_eq!(mend(&bytes), if whole { Mend::End } else { Mend::Cut(first.len()) }, "{cut}");
            let history = read(&bytes);
            assert_eq!((history.runs.len(), history.torn), if whole { (2, false) } else { (1, true) }, "{cut}");
        }
        assert_eq!((mend(b""), mend(first.as_bytes())), (Mend::Sound, Mend::Sound));
    }

    #[test]
    fn a_line_that_was_spoilt_is_named_and_the_others_are_read() {
        let text = format!("{}not json\n\n{{}}\n{}", over("a").line().unwrap(), over("b").line().unwrap());
        let history = read(text.as_bytes());
        assert_eq!(history.runs.len(), 2);
        assert_eq!(history.faults.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [2, 4]);
    }

    #[test]
    fn progress_can_be_read_by_people() {
        let unix = Timestamp::from_millis(1_796_119_200_999);
        let round = RoundOver {
            round: 3,
            effort: "high",
            exit: RoundExit::Failed,
            why: Some("the agent left with 7"),
            turns: 12,
            output: Tokens::new(23_456),
            lasted: Millis::from_secs(250),
            oracle: Some("fail: exit 101"),
            changed: Some(false),
        };
        assert_eq!(
            progress(unix, &round.words()),
            "2026-12-01T10:00:00Z [flyball] round 3 at high: failed (the agent left with 7), 12 turns, 0.02M output tokens, \
             4m10s; nothing changed; oracle: fail: exit 101\n"
        );
        let stop = stopped(Control::NoProgress, "the last 3 rounds changed nothing", 1);
        assert_eq!(stop, "stopped by no-progress: the last 3 rounds changed nothing (exit 1)");
    }

    proptest! {
        #[test]
        fn any_text_is_one_line(text in any::<String>()) {
            let line = progress(Timestamp::EPOCH, &text);
            prop_assert_eq!(line.matches('\n').count(), 1);
            prop_assert!(line.ends_with('\n'));
            let escape = '\u{1b}';
            prop_assert!(!line.contains(escape));
        }

        #[test]
        fn no_bytes_break_the_reader(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = (read(&bytes), mend(&bytes));
        }
    }
}
