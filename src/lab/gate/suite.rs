//! What a gate covers, as a small TOML file: `gate/suite.toml`.

use serde::Deserialize;

use crate::engine::{LawKind, Millis, Ratio};
use crate::lab::axis::{self, OVER, SLACK};
use crate::lab::bounds::{MAX_ROUNDS, MAX_RUNS};

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

/// Why a text is no suite.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SuiteError(String);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: u32,
    scenarios: Vec<String>,
    #[serde(default)]
    laws: Vec<String>,
    settings: Vec<Setting>,
    runs: u64,
    rounds: u64,
    seed: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Setting {
    over: String,
    slack: f64,
}

impl Suite {
    /// Reads the text of a suite.
    ///
    /// ```
    /// use flyball::lab::gate::Suite;
    /// let text = "format = 1\nscenarios = [\"a.toml\"]\nsettings = [{ over = \"5m\", slack = 0.15 }]\n\
    ///             runs = 8\nrounds = 100\nseed = 1\n";
    /// assert_eq!(Suite::load(text).unwrap().settings[0].0.count(), 300_000);
    /// ```
    ///
    /// # Errors
    /// [`SuiteError`]: an unknown key, a version that is not 1, a list without an entry, a value out of bounds.
    pub fn load(text: &str) -> Result<Self, SuiteError> {
        let file: File = toml::from_str(text).map_err(|error| SuiteError(error.to_string()))?;
        let wrong = |why: String| SuiteError(why);
        if file.format != 1 {
            return Err(wrong(format!("format = {}: this program reads format 1", file.format)));
        }
        let laws = match file.laws.as_slice() {
            [] => LawKind::ALL.to_vec(),
            named => axis::laws("laws", &named.join(",")).map_err(|error| wrong(error.to_string()))?,
        };
        let setting = |setting: &Setting| {
            let over = OVER.value(&setting.over).map_err(|why| wrong(format!("over = {:?}: {why}", setting.over)))?;
            let slack = SLACK.value(&setting.slack.to_string());
            Ok((over, slack.map_err(|why| wrong(format!("slack = {}: {why}", setting.slack)))?))
        };
        let settings = file.settings.iter().map(setting).collect::<Result<Vec<_>, SuiteError>>()?;
        if settings.is_empty() || file.scenarios.is_empty() {
            return Err(wrong("scenarios and settings need an entry each".to_owned()));
        }
        let count = |name: &str, value: u64, most: u64| {
            let fits = u32::try_from(value).ok().filter(|_| (2..=most).contains(&value));
            fits.ok_or_else(|| wrong(format!("{name} = {value}: it must be from 2 to {most}")))
        };
        Ok(Self {
            scenarios: file.scenarios,
            laws,
            settings,
            runs: count("runs", file.runs, MAX_RUNS)?,
            rounds: count("rounds", file.rounds, MAX_ROUNDS)?,
            seed: file.seed,
        })
    }
}
