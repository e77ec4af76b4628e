//! A run's record as an export needs it.

use std::collections::BTreeMap;
use std::fs;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use serde_json::{Number, Value};

use crate::agents::time::parse_time;
use crate::cli::cmd::runs::{self, Stands};
use crate::cli::error::{Failure, Outcome};
use crate::engine::{MicroUsd, Millis, RoundExit, Timestamp, Tokens, TurnRecord};
use crate::lab::axis::{duration, millionths};
use crate::run::Summary;
use crate::run::folder::Folder;
use crate::run::record::{CONFIG, JOURNAL, round_folder};
use crate::trace::{Reader, Record, TraceError};

/// A run, taken from its record.
pub(super) struct Taken {
    pub(super) id: String,
    pub(super) folder: PathBuf,
    pub(super) summary: Summary,
    pub(super) stands: Stands,
    pub(super) agent: String,
    pub(super) config: Value,
    pub(super) rounds: Vec<Round>,
    /// When the run began, in Unix time: its name says it, to the second.
    pub(super) began: Timestamp,
    /// What was said to people, and when.
    pub(super) notes: Vec<(u64, String)>,
}

/// A round.
#[derive(Clone, Debug, Default)]
pub(super) struct Round {
    pub(super) number: u64,
    pub(super) began_ms: u64,
    pub(super) ended_ms: u64,
    pub(super) effort: String,
    /// None while it goes on, or where it was lost.
    pub(super) exit: Option<RoundExit>,
    pub(super) turns: u64,
    pub(super) session: Option<String>,
    pub(super) output: u64,
    pub(super) input: u64,
    pub(super) cache_read: u64,
    pub(super) cache_write: u64,
    /// Tokens of all kinds.
    pub(super) tokens: u64,
    pub(super) cost: MicroUsd,
    /// Some turn stated a cost.
    pub(super) priced: bool,
    /// The oracle's answer.
    pub(super) verdict: Option<String>,
    /// The project's state, as hex.
    pub(super) tree: Option<String>,
}

impl Round {
    /// How long it took.
    pub(super) const fn lasted(&self) -> Millis {
        Millis::new(self.ended_ms.saturating_sub(self.began_ms))
    }

    /// Its folder in the record, with a slash.
    pub(super) fn file(&self, name: &str) -> String {
        format!("{}/{name}", round_folder(self.number))
    }
}

impl Taken {
    /// A setting as it was said.
    pub(super) fn setting(&self, full: &str) -> &str {
        self.config["settings"][full]["value"].as_str().unwrap_or_default()
    }

    /// A setting in millions, as tokens; none where it bounds nothing.
    pub(super) fn millions(&self, full: &str) -> Option<u64> {
        millionths(self.setting(full)).ok().filter(|&count| count > 0)
    }

    /// A whole number.
    pub(super) fn count(&self, full: &str) -> Option<u64> {
        self.setting(full).parse().ok()
    }

    /// A length of time.
    pub(super) fn span(&self, full: &str) -> Option<Millis> {
        duration(self.setting(full)).ok()
    }

    /// A moment of the run's clock in Unix time. The clock stands still while the machine sleeps, so that late ones may be early.
    pub(super) const fn unix(&self, at_ms: u64) -> Timestamp {
        self.began.after(Millis::new(at_ms))
    }

    /// A file of the record that is a file of its own.
    pub(super) fn own(&self, name: &str) -> Option<PathBuf> {
        let path = self.folder.join(name);
        fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_file()).then_some(path)
    }

    /// The text of such a file.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        Some(String::from_utf8_lossy(&fs::read(self.own(name)?).ok()?).into_owned())
    }
}

/// US dollars, to the millionth.
pub(super) fn decimal(cost: MicroUsd) -> String {
    format!("{}.{:06}", cost.count() / 1_000_000, cost.count() % 1_000_000)
}

/// The same as a number.
pub(super) fn dollars(cost: MicroUsd) -> Value {
    serde_json::from_str::<Number>(&decimal(cost)).map_or(Value::Null, Value::Number)
}

/// Takes a run, the last one unless another is named.
///
/// # Errors
/// A run that is not there, or a journal that was changed.
pub(super) fn take(folder: &Folder, id: Option<&str>) -> Outcome<Taken> {
    let known = runs::read(folder, id)?;
    let path = folder.run(&known.id);
    let wrong =
        |error: TraceError| Failure::usage(error).while_(format!("cannot read {}", path.join(JOURNAL).display()));
    let (rounds, notes) = walk(&path.join(JOURNAL)).map_err(wrong)?;
    let config = fs::read(path.join(CONFIG)).ok().and_then(|text| serde_json::from_slice(&text).ok());
    let digits: Vec<char> = known.id.chars().filter(char::is_ascii_digit).take(14).collect();
    let part = |from: usize, to: usize| digits.get(from..to).unwrap_or_default().iter().collect::<String>();
    let moment =
        format!("{}-{}-{}T{}:{}:{}Z", part(0, 4), part(4, 6), part(6, 8), part(8, 10), part(10, 12), part(12, 14));
    Ok(Taken {
        began: parse_time(&moment).unwrap_or(Timestamp::EPOCH),
        id: known.id,
        folder: path,
        summary: known.summary,
        stands: known.stands,
        agent: known.agent,
        config: config.unwrap_or_default(),
        rounds,
        notes,
    })
}

type Walked = (Vec<Round>, Vec<(u64, String)>);

fn walk(journal: &Path) -> Result<Walked, TraceError> {
    let mut reader = Reader::new(BufReader::new(fs::File::open(journal)?))?;
    let (mut rounds, mut notes): (BTreeMap<u64, Round>, Vec<_>) = (BTreeMap::new(), Vec::new());
    while let Some(line) = reader.next_line()? {
        let at_ms = line.at_ms;
        if let Record::Spawn { round, effort } = &line.record {
            let known = rounds.entry(*round).or_default();
            (known.number, known.effort, known.began_ms, known.ended_ms) = (*round, effort.clone(), at_ms, at_ms);
        }
        if let Record::Note { text } = &line.record {
            notes.push((at_ms, text.clone()));
        }
        step(&mut rounds, at_ms, &line.record);
    }
    Ok((rounds.into_values().filter(|round| round.number > 0).collect(), notes))
}

fn step(rounds: &mut BTreeMap<u64, Round>, at_ms: u64, record: &Record) {
    if let Some(added) = record.adds()
        && let Some(round) = rounds.get_mut(&added.round)
    {
        round.output += added.output.count();
        round.tokens += added.tokens.count();
        round.cost = round.cost.plus(added.cost);
        if round.exit.is_none() {
            round.ended_ms = at_ms;
        }
    }
    if let Record::Turned(turn) = record {
        turned(rounds, &turn.record());
    } else if let Record::Ended { round, exit } = record
        && let Some(round) = rounds.get_mut(round)
    {
        (round.exit, round.ended_ms) = (Some(exit.0), at_ms);
    } else if let Record::Verified { round, answer } = record
        && let (Some(round), Ok(Value::String(word))) = (rounds.get_mut(round), serde_json::to_value(answer))
    {
        round.verdict = Some(word);
    } else if let Record::Progress { round, tree: Some(tree), .. } = record
        && let (Some(round), Ok(Value::String(hex))) = (rounds.get_mut(round), serde_json::to_value(tree))
    {
        round.tree = Some(hex);
    }
}

fn turned(rounds: &mut BTreeMap<u64, Round>, turn: &TurnRecord) {
    let Some(round) = rounds.get_mut(&turn.round) else { return };
    let count = |tokens: Option<Tokens>| tokens.map_or(0, Tokens::count);
    round.turns += u64::from(turn.counts_as_turn);
    round.input += count(turn.input);
    round.cache_read += count(turn.cache_read);
    round.cache_write += count(turn.cache_write);
    round.priced |= turn.cost.is_some();
    if round.session.is_none() {
        round.session = turn.session.as_deref().map(str::to_owned);
    }
}
