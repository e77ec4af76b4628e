//! The original's settings file, `juice.yaml`: five keys, a line each, with comments.
//!
//! Not YAML at large: what its pages show, and nothing else. Unknown keys are refused.

use std::fmt::Write as _;

use crate::engine::{LawKind, Millis, Tokens};
use crate::lab::axis::{JUICE, OVER, REST, SLACK, millionths};
use crate::lab::settings::Settings;

/// The longest window that the original honours.
const MEMORY: Millis = Millis::from_secs(300);

/// Why a text is no settings of the original.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct YamlError {
    line: usize,
    why: String,
}

/// Reads settings of the original; what is left out is its default.
///
/// ```
/// use flyball::lab::recommend::yaml::read;
/// let settings = read("juice: 800   # tokens\nslack: 0.3\n").unwrap();
/// assert_eq!((settings.governor.juice.micros(), settings.governor.over.count()), (800_000_000, 300_000));
/// assert!(read("jucie: 800\n").unwrap_err().to_string().contains("line 1: jucie"));
/// ```
///
/// # Errors
/// [`YamlError`] with the line.
pub fn read(text: &str) -> Result<Settings, YamlError> {
    let mut settings = Settings::original();
    for (index, line) in text.lines().enumerate() {
        let wrong = |why: String| YamlError { line: index + 1, why };
        let line = line.split('#').next().unwrap_or_default().trim_end();
        if line.is_empty() || line == "---" {
            continue;
        }
        let (key, value) = line.split_once(':').ok_or_else(|| wrong(format!("{line:?} is no `key: value`")))?;
        let value = value.trim().trim_matches(['"', '\'']);
        let governor = &mut settings.governor;
        let of = |why: String| wrong(format!("{key}: {value}: {why}"));
        match key {
            "juice" => governor.juice = JUICE.value(value).map_err(of)?,
            "over" => governor.over = OVER.value(value).map_err(of)?,
            "slack" => governor.slack = SLACK.value(value).map_err(of)?,
            "rest" => governor.rest = REST.value(value).map_err(of)?,
            "budget" => {
                let tokens = millionths(value).map_err(|fault| of(fault.to_string()))?;
                governor.budget = (tokens > 0).then(|| Tokens::new(tokens));
            }
            _ => {
                return Err(wrong(format!(
                    "{key}: the original has no such setting; it has juice, over, slack, rest, budget"
                )));
            }
        }
    }
    Ok(settings)
}

/// Writes settings for the original, and says as comments what it cannot do.
#[must_use]
pub fn write(settings: &Settings, about: &str) -> String {
    let governor = settings.governor;
    let mut text = String::new();
    for line in about.lines() {
        let _ = writeln!(text, "# {line}");
    }
    if governor.law != LawKind::Reference {
        let _ = writeln!(
            text,
            "# The original has one law, which is called reference here; these settings were chosen for {}, and it cannot run that.",
            governor.law
        );
    }
    if governor.over > MEMORY {
        let _ = writeln!(
            text,
            "# The original forgets what is older than 300 s: a window of {} s does there what 300 s does.",
            decimal(governor.over.count(), 1000)
        );
    }
    let juice = decimal(governor.juice.micros(), 1_000_000);
    let budget = governor.budget.map_or(0, Tokens::count);
    let _ = write!(
        text,
        "juice: {juice}     # output tokens an average turn of the model is to come out with\n\
         over: {}       # how far back that average is taken, in seconds\n\
         slack: {}      # how far off it may be before the effort moves\n\
         rest: {}         # seconds between rounds\n\
         budget: {}      # millions of output tokens the whole loop may come to, 0 for no limit\n",
        decimal(governor.over.count(), 1000),
        decimal(governor.slack.ppm().into(), 1_000_000),
        decimal(governor.rest.count(), 1000),
        decimal(budget, 1_000_000),
    );
    text
}

/// A fraction with a power of ten below it, as the shortest decimal.
fn decimal(value: u64, unit: u64) -> String {
    let digits = unit.to_string().len() - 1;
    let text = format!("{}.{:0digits$}", value / unit, value % unit);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
