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
//! Source: the seed page on fixed juice, and the flow's own checks.

use serde::Deserialize;

use crate::cli::error::{Failure, Outcome};

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
/// A text that is no such file, or a value out of its bounds.
pub fn read(text: &str, file: &str) -> Outcome<Vec<(String, String, usize)>> {
    let wrong = |why: String| Failure::said(why).while_(format!("cannot use the settings {file}"));
    let read: Option<Juice> = serde_saphyr::from_str(text).map_err(|error| wrong(error.to_string()))?;
    let read = read.unwrap_or_default();
    let mut found = Vec::new();
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
            return Err(wrong(format!("{file}:{line}: {key}: it must be {bounds}, and is {value}")));
        }
        found.push((format!("governor.{key}"), value.to_string(), line));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_of_the_original_reads() {
        let page = "juice: 2000     # output tokens\nover: 300\nslack: 0.15\nrest: 5\nbudget: 10\n";
        let found = read(page, "juice.yaml").unwrap();
        let texts: Vec<&str> = found.iter().map(|(_, text, _)| text.as_str()).collect();
        assert_eq!(texts, ["2000", "300", "0.15", "5", "10"]);
        assert_eq!(found[2].2, 3);
        assert!(read("", "juice.yaml").unwrap().is_empty());
    }

    #[test]
    fn bounds_and_keys_are_those_of_the_original() {
        for text in
            ["over: 9", "over: 3601", "slack: 1.1", "rest: 601", "budget: -1", "juice: 0", "juice: .nan", "jucie: 5"]
        {
            assert!(read(text, "juice.yaml").is_err(), "{text}");
        }
    }
}
