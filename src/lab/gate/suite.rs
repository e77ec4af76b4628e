//! What a gate covers, as a small TOML file: `gate/suite.toml`. Keys, units and faults are as in a scenario.

use crate::engine::{LawKind, Millis, Ratio};
use crate::lab::axis::{self, OVER, SLACK};
use crate::lab::bounds::{MAX_ROUNDS, MAX_RUNS};
use crate::lab::scenario::fields::{Fields, Item};
use crate::lab::scenario::{ScenarioError, document};

/// A suite, before its scenarios were read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suite {
    /// Scenario files, beside the suite's own file.
    pub scenarios: Vec<String>,
    /// The laws; all of them where the file names none.
    pub laws: Vec<LawKind>,
    /// Windows and slacks that each law is tried with.
    pub settings: Vec<(Millis, Ratio)>,
    /// Runs of a noisy row.
    pub runs: u32,
    /// Rounds of a run.
    pub rounds: u32,
    /// The seed of all luck.
    pub seed: u64,
}

const TOP: [&str; 7] = ["format", "scenarios", "laws", "settings", "runs", "rounds", "seed"];
const SETTING: [&str; 2] = ["over", "slack"];
/// The version of the file that is read.
const FORMAT: u64 = 1;

impl Suite {
    /// Reads the text of a suite; `file` is what faults are told under.
    ///
    /// ```
    /// use flyball::lab::gate::Suite;
    /// let text = "format = 1\nscenarios = [\"a.toml\"]\nsettings = [{ over = \"5m\", slack = 0.15 }]\n\
    ///             runs = 8\nrounds = 100\nseed = 1\n";
    /// assert_eq!(Suite::load(text, "suite.toml").unwrap().settings[0].0.count(), 300_000);
    /// let error = Suite::load(&text.replace("runs", "rnus"), "suite.toml").unwrap_err();
    /// assert!(error.to_string().contains("suite.toml:4: rnus: unknown key; did you mean `runs`?"));
    /// ```
    ///
    /// # Errors
    /// [`ScenarioError::Faulty`] with the line, the key and the remedy of each fault.
    pub fn load(text: &str, file: &str) -> Result<Self, ScenarioError> {
        document(text, suite).map_err(|problems| ScenarioError::Faulty { file: file.to_owned(), problems })
    }
}

/// The whole document. All parts are read before any is given up, so that every fault is told.
fn suite(root: &Fields<'_>) -> Option<Suite> {
    root.refuse_others(&TOP);
    let format = root.need("format").and_then(|item| match item.count(0, u64::MAX)? {
        FORMAT => Some(()),
        other => item.wrong(format!("it is {other}, and this program reads format {FORMAT}")),
    });
    let scenarios = root.need("scenarios").and_then(|item| each(&item, |item| item.word().map(str::to_owned)));
    let laws = root.or("laws", LawKind::ALL.to_vec(), |item| match item.list()?.is_empty() {
        true => Some(LawKind::ALL.to_vec()),
        false => each(&item, |item| item.parsed(axis::law)),
    });
    let settings = root.need("settings").and_then(|item| each(&item, setting));
    // a mean has an interval from two runs on, and a move is there from two rounds on
    let count = |key, most: u64| root.need(key)?.count32(2, u32::try_from(most).unwrap_or(u32::MAX));
    let (runs, rounds) = (count("runs", MAX_RUNS), count("rounds", MAX_ROUNDS));
    let seed = root.need("seed").and_then(|item| item.count(0, u64::MAX));
    format?;
    Some(Suite { scenarios: scenarios?, laws: laws?, settings: settings?, runs: runs?, rounds: rounds?, seed: seed? })
}

/// The entries of a list that must have one; all are read, so that every fault is told.
fn each<'r, T>(item: &Item<'r>, read: impl Fn(&Item<'r>) -> Option<T>) -> Option<Vec<T>> {
    let items = item.list()?;
    if items.is_empty() {
        return item.wrong("the list is empty: give it an entry");
    }
    let read: Vec<Option<T>> = items.iter().map(read).collect();
    read.into_iter().collect()
}

fn setting(item: &Item<'_>) -> Option<(Millis, Ratio)> {
    let fields = item.table(&SETTING)?;
    let over = fields.need("over").and_then(|item| item.parsed(|text| OVER.value(text)));
    let slack = fields.need("slack").and_then(|item| item.parsed(|text| SLACK.value(text)));
    Some((over?, slack?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOUND: &str = "format = 1\nscenarios = [\"a.toml\"]\nlaws = [\"reset\"]\n\
                         settings = [{ over = 300, slack = 0.15 }, { over = \"1h\", slack = \"0.3\" }]\n\
                         runs = 8\nrounds = 100\nseed = 1\n";

    #[test]
    fn windows_are_written_as_in_scenarios() {
        let suite = Suite::load(SOUND, "s").unwrap();
        assert_eq!(suite.settings.iter().map(|(over, _)| over.count()).collect::<Vec<_>>(), [300_000, 3_600_000]);
        assert_eq!(suite.laws, [LawKind::Reset]);
        let all = Suite::load(&SOUND.replace("\"reset\"", ""), "s").unwrap().laws;
        assert_eq!(all, LawKind::ALL);
    }

    #[test]
    fn every_fault_is_told_with_its_line_and_key() {
        for (from, to, want) in [
            ("runs", "rnus", "s:5: rnus: unknown key; did you mean `runs`?\ns:5: runs: it is missing"),
            ("runs = 8", "runs = 0", "s:5: runs: it must be from 2 to "),
            ("slack = 0.15", "slack = 2", "s:4: settings[0].slack: \"2\": "),
            ("slack = 0.15", "slak = 2", "s:4: settings[0].slak: unknown key; did you mean `slack`?"),
            ("\"1h\"", "\"1 parsec\"", "s:4: settings[1].over: \"1 parsec\": it is no duration"),
            ("\"reset\"", "\"rest\"", "s:3: laws[0]: \"rest\": no such law; did you mean `reset`?"),
            ("format = 1", "format = 2", "s:1: format: it is 2, and this program reads format 1"),
            ("[\"a.toml\"]", "[]", "s:2: scenarios: the list is empty"),
            ("seed = 1", "seed = ", "s:7: seed: this is no valid TOML"),
        ] {
            let error = Suite::load(&SOUND.replacen(from, to, 1), "s").unwrap_err().to_string();
            assert!(error.contains(want), "{error}");
        }
        let two = SOUND.replace("runs = 8", "runs = 1").replace("rounds = 100", "rounds = 1");
        assert_eq!(Suite::load(&two, "s").unwrap_err().problems().len(), 2);
    }
}
