//! The original's `juice.yaml`: five keys, with the bounds that its page gives.
//!
//! | key | bounds |
//! |---|---|
//! | `juice` | above 0 |
//! | `over` | 10 to 3600 seconds |
//! | `slack` | 0 to 1 |
//! | `rest` | 0 to 600 seconds |
//! | `budget` | 0 or more, millions of output tokens; 0 is no limit |
//!
//! The law is `reference`: whoever brings the original's settings means the original's rule.
//!
//! Source: the seed page on fixed juice, and the flow's own checks.

use std::path::Path;

use serde::Deserialize;

use crate::cli::error::Outcome;
use crate::cli::input;
use crate::engine::LawKind;
use crate::lab::scenario::{Problem, ScenarioError};

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Juice {
    juice: Option<f64>,
    over: Option<f64>,
    slack: Option<f64>,
    rest: Option<f64>,
    budget: Option<f64>,
}

/// Its settings, each with its line.
///
/// # Errors
/// A text that is no such file or sets nothing, a key that stands twice, or values out of their bounds; each with its line.
pub fn read(text: &str, file: &Path) -> Outcome<Vec<(String, String, usize)>> {
    found(text).map_err(|problems| {
        let faulty = ScenarioError::Faulty { file: file.display().to_string(), problems };
        input::faulty(input::SETTINGS, file, faulty)
    })
}

fn found(text: &str) -> Result<Vec<(String, String, usize)>, Vec<Problem>> {
    let problem = |line: usize, key: &str, what: String| Problem { line, column: 1, key: key.to_owned(), what };
    let read: Option<Juice> = serde_saphyr::from_str(text).map_err(|error| {
        let line = error.location().and_then(|at| usize::try_from(at.line()).ok()).unwrap_or(1);
        let key = text.lines().nth(line.saturating_sub(1)).and_then(|line| line.split_once(':')).map(|(key, _)| key);
        let told = error.without_snippet().to_string();
        // its own words name the line once more, and what to do in the terms of a programmer
        let what = told.lines().next().unwrap_or_default().split(" at line ").next().unwrap_or_default();
        vec![problem(line, key.map_or("", str::trim), what.to_owned())]
    })?;
    let read = read.unwrap_or_default();
    // whoever brings the original's settings means the original's rule
    let mut found = vec![("governor.law".to_owned(), LawKind::Reference.name().to_owned(), 1)];
    let mut problems = Vec::new();
    for (key, value, least, most) in [
        ("juice", read.juice, f64::MIN_POSITIVE, f64::MAX),
        ("over", read.over, 10.0, 3600.0),
        ("slack", read.slack, 0.0, 1.0),
        ("rest", read.rest, 0.0, 600.0),
        ("budget", read.budget, 0.0, f64::MAX),
    ] {
        let Some(value) = value else { continue };
        let line = text.lines().position(|line| line.trim_start().starts_with(key)).map_or(1, |at| at + 1);
        if !(least..=most).contains(&value) {
            let bounds = match key {
                "juice" => "above 0".to_owned(),
                "budget" => "0 or more".to_owned(),
                _ => format!("from {least} to {most}"),
            };
            problems.push(problem(line, key, format!("it must be {bounds}, and is {value}")));
        }
        found.push((format!("governor.{key}"), value.to_string(), line));
    }
    if found.len() == 1 {
        problems.push(problem(1, "", "there is no setting in it: juice, over, slack, rest or budget".to_owned()));
    }
    if problems.is_empty() { Ok(found) } else { Err(problems) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_of_the_original_reads() {
        let page = "juice: 2000     # output tokens\nover: 300\nslack: 0.15\nrest: 5\nbudget: 10\n";
        let found = found(page).unwrap();
        let texts: Vec<&str> = found.iter().map(|(_, text, _)| text.as_str()).collect();
        assert_eq!(texts, ["reference", "2000", "300", "0.15", "5", "10"]);
        assert_eq!(found[3].2, 3);
    }

    #[test]
    fn bounds_and_keys_are_those_of_the_original() {
        for text in [
            "over: 9",
            "over: 3601",
            "slack: 1.1",
            "rest: 601",
            "budget: -1",
            "juice: 0",
            "juice: .nan",
            "jucie: 5",
            "",
        ] {
            assert!(found(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_its_reader_refuses_is_told_as_any_other_fault() {
        for (text, line, key) in [
            ("over: 60\njucie: 5\n", 2, "jucie"),
            ("juice: 5\nrest: 5\njuice: 6\n", 3, "juice"),
            ("slack: wide\n", 1, "slack"),
        ] {
            let problems = found(text).unwrap_err();
            assert_eq!((problems[0].line, problems[0].key.as_str()), (line, key), "{problems:?}");
            assert!(!problems[0].what.is_empty() && !problems[0].what.contains("line "), "{problems:?}");
        }
    }
}
