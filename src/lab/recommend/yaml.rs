//! The original's settings file, `juice.yaml`: five keys, a line each, with comments.
//!
//! Not YAML at large: what its pages show, and nothing else. Unknown keys, keys that stand twice and texts without any are refused.

use std::fmt::{self, Write as _};

use crate::engine::{LawKind, Millis, Tokens};
use crate::lab::axis::{JUICE, OVER, REST, SLACK, millionths, nearest};
use crate::lab::scenario::Problem;
use crate::lab::scenario::file::unmarked;
use crate::lab::settings::Settings;

/// The longest window that the original honours.
const MEMORY: Millis = Millis::from_secs(300);

/// The keys that it has.
const KEYS: [&str; 5] = ["juice", "over", "slack", "rest", "budget"];

/// Why a text is no settings of the original: a line a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct YamlError {
    /// The faults, in the order of their lines; never empty.
    pub problems: Vec<Problem>,
}

impl fmt::Display for YamlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, Problem { line, key, what, .. }) in self.problems.iter().enumerate() {
            let (end, colon) = (if index == 0 { "" } else { "\n" }, if key.is_empty() { "" } else { ": " });
            write!(f, "{end}line {line}: {key}{colon}{what}")?;
        }
        Ok(())
    }
}

impl std::error::Error for YamlError {}

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
/// [`YamlError`] with the line of each fault; a text without a setting is one.
pub fn read(text: &str) -> Result<Settings, YamlError> {
    let mut settings = Settings::original();
    let (mut problems, mut seen) = (Vec::new(), Vec::<(&str, usize)>::new());
    for (index, line) in unmarked(text).lines().enumerate() {
        let number = index + 1;
        let mut wrong = |key: &str, what: String| {
            problems.push(Problem { line: number, column: 1, key: key.to_owned(), what });
        };
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() || line == "---" {
            continue;
        }
        let Some((key, value)) = line.split_once(':') else {
            wrong("", format!("{line:?} is no `key: value`"));
            continue;
        };
        let (key, value) = (key.trim_end(), value.trim().trim_matches(['"', '\'']));
        let Some(&key) = KEYS.iter().find(|known| **known == key) else {
            wrong(key, unknown(key));
            continue;
        };
        if let Some((_, first)) = seen.iter().find(|(known, _)| *known == key) {
            wrong(key, format!("it stands on line {first} already: which one is meant? Write it once"));
            continue;
        }
        seen.push((key, number));
        if let Err(why) = set(&mut settings, key, value) {
            wrong(key, format!("{value}: {why}"));
        }
    }
    if seen.is_empty() && problems.is_empty() {
        let what = format!("there is no setting in it; the original has {}", KEYS.join(", "));
        problems.push(Problem { line: 1, column: 1, key: String::new(), what });
    }
    if problems.is_empty() { Ok(settings) } else { Err(YamlError { problems }) }
}

fn unknown(key: &str) -> String {
    let near = nearest(key, &KEYS).map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
    format!("the original has no such setting; {near}it has {}", KEYS.join(", "))
}

fn set(settings: &mut Settings, key: &str, value: &str) -> Result<(), String> {
    let governor = &mut settings.governor;
    match key {
        "juice" => governor.juice = JUICE.value(value)?,
        "over" => governor.over = OVER.value(value)?,
        "slack" => governor.slack = SLACK.value(value)?,
        "rest" => governor.rest = REST.value(value)?,
        _ => {
            let tokens = millionths(value).map_err(|fault| fault.to_string())?;
            governor.budget = (tokens > 0).then(|| Tokens::new(tokens));
        }
    }
    Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_changes_nothing_and_what_is_no_setting_is_told_with_its_line() {
        assert_eq!(read("\u{feff}juice: 800\r\n"), read("juice: 800\n"));
        let told = |text| read(text).unwrap_err().to_string();
        assert!(told("juice: 1\nover: 60\njuice: 2\n").starts_with("line 3: juice: it stands on line 1 already"));
        for nothing in ["", "\n# juice: 5\n---\n"] {
            assert!(told(nothing).contains("there is no setting in it"), "{nothing:?}");
        }
        let both = told("jucie: 5\nslack: wide\n");
        assert!(both.contains("line 1: jucie: the original has no such setting; did you mean `juice`?"), "{both}");
        assert!(both.contains("\nline 2: slack: wide: "), "{both}");
    }
}
