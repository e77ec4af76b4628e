//! The baseline: every integer of every row, a line each, so that a later run can be compared with it run by run.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde_json::{Value, json};

use super::report::name;
use super::{Counts, Held, Key, Row, Rows, Suite};
use crate::engine::{Millis, Ratio};

/// Why a text is no baseline.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BaselineError {
    /// The first line does not say what it is.
    #[error("line 1: it is no baseline of a gate, or of another format: {0}")]
    Header(String),
    /// A line cannot be read, or does not go with the others.
    #[error("line {line}: {why}")]
    Row {
        /// The line, from 1.
        line: usize,
        /// What is wrong, with its key.
        why: String,
    },
}

/// A baseline that was made with other numbers than the suite has: what could be compared would say nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it was made with {name} {baseline}, and the suite has {name} {suite}")]
pub struct Mismatch {
    /// Which number: `runs`, `rounds` or `seed`.
    pub name: &'static str,
    /// The baseline's.
    pub baseline: u64,
    /// The suite's.
    pub suite: u64,
}

/// Whether a baseline was made with the numbers of the suite.
///
/// # Errors
/// [`Mismatch`] with the first that differs.
pub fn check(baseline: &Rows, suite: &Suite) -> Result<(), Mismatch> {
    let all = [
        ("rounds", baseline.rounds.into(), suite.rounds.into()),
        ("runs", baseline.runs.into(), suite.runs.into()),
        ("seed", baseline.seed, suite.seed),
    ];
    let differs = all.into_iter().find(|(_, baseline, suite)| baseline != suite);
    differs.map_or(Ok(()), |(name, baseline, suite)| Err(Mismatch { name, baseline, suite }))
}

/// Writes rows as a baseline.
///
/// # Errors
/// Those of `out`.
pub fn write(rows: &Rows, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", json!({ "gate": 1, "seed": rows.seed, "runs": rows.runs, "rounds": rows.rounds }))?;
    for row in &rows.rows {
        let Key { scenario, law, over, slack } = &row.key;
        let (over, slack) = (over.map(Millis::count), slack.map(Ratio::ppm));
        let line = match &row.held {
            Held::Path(path) => {
                json!({ "scenario": scenario, "law": law.name(), "over_ms": over, "slack_ppm": slack, "path": path })
            }
            Held::Runs(runs) => {
                let runs: Vec<_> = runs.iter().map(Counts::all).collect();
                json!({ "scenario": scenario, "law": law.name(), "over_ms": over, "slack_ppm": slack, "runs": runs })
            }
        };
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// Reads a baseline. Rows of laws that this program does not know are left out, and so count as gone.
///
/// # Errors
/// [`BaselineError`] with the line: a row that cannot be read, that has other runs than the first line says, or that stands twice.
pub fn read(text: &str) -> Result<Rows, BaselineError> {
    let mut lines = text.lines();
    let (seed, runs, rounds) = header(lines.next().unwrap_or_default()).map_err(BaselineError::Header)?;
    let (mut rows, mut seen) = (Vec::new(), BTreeMap::new());
    for (index, line) in lines.enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let line_number = index + 2;
        let wrong = |why: String| BaselineError::Row { line: line_number, why };
        let Some(row) = row(line).map_err(wrong)? else { continue };
        if let Held::Runs(held) = &row.held
            && u32::try_from(held.len()) != Ok(runs)
        {
            return Err(wrong(format!("runs: it has {}, and line 1 says {runs}", held.len())));
        }
        if let Some(first) = seen.insert(row.key.clone(), line_number) {
            return Err(wrong(format!("{} stands on line {first} already", name(&row.key))));
        }
        rows.push(row);
    }
    Ok(Rows { seed, runs, rounds, rows })
}

fn header(line: &str) -> Result<(u64, u32, u32), String> {
    let value: Value = serde_json::from_str(line).map_err(|_| "it is no JSON".to_owned())?;
    let number =
        |name: &str| value.get(name).and_then(Value::as_u64).ok_or_else(|| format!("{name} is no whole number"));
    let count =
        |name: &str| number(name).and_then(|count| u32::try_from(count).map_err(|_| format!("{name} is too large")));
    match number("gate")? {
        1 => Ok((number("seed")?, count("runs")?, count("rounds")?)),
        other => Err(format!("it has format {other}, and this program reads 1")),
    }
}

/// A row; nothing where its law is not known.
fn row(line: &str) -> Result<Option<Row>, String> {
    let value: Value = serde_json::from_str(line).map_err(|error| format!("it is no JSON: {error}"))?;
    let word = |name: &str| {
        value.get(name).and_then(Value::as_str).map(str::to_owned).ok_or_else(|| format!("{name}: it must be a text"))
    };
    // null stands for any
    let number = |name: &str| match value.get(name) {
        Some(Value::Null) => Ok(None),
        found => match found.and_then(Value::as_u64) {
            Some(number) => Ok(Some(number)),
            None => Err(format!("{name}: it must be a whole number, or null")),
        },
    };
    let Ok(law) = word("law")?.parse() else { return Ok(None) };
    let slack = number("slack_ppm")?.map(|ppm| u32::try_from(ppm).map(Ratio::from_ppm)).transpose();
    let slack = slack.map_err(|_| "slack_ppm: it is too large".to_owned())?;
    let key = Key { scenario: word("scenario")?, law, over: number("over_ms")?.map(Millis::new), slack };
    let held = match value.get("runs") {
        None => Held::Path(word("path")?),
        Some(_) if value.get("path").is_some() => return Err("it has both a path and runs".to_owned()),
        Some(runs) => {
            let runs = runs.as_array().ok_or("runs: it must be a list")?;
            let each = runs.iter().enumerate();
            let read = each
                .map(|(run, value)| counts(value).ok_or_else(|| format!("runs[{run}]: it must be six whole numbers")));
            Held::Runs(read.collect::<Result<_, _>>()?)
        }
    };
    Ok(Some(Row { key, held }))
}

fn counts(value: &Value) -> Option<Counts> {
    let numbers: Vec<u64> = value.as_array()?.iter().map(Value::as_u64).collect::<Option<_>>()?;
    let [right, moves, reversals, pinned, settle, tokens] = <[u64; 6]>::try_from(numbers).ok()?;
    Some(Counts { right, moves, reversals, pinned, settle, tokens })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = r#"{"gate":1,"rounds":9,"runs":2,"seed":7}"#;
    const ROW: &str =
        r#"{"law":"reset","over_ms":300000,"runs":[[1,2,3,4,5,6],[1,2,3,4,5,6]],"scenario":"one","slack_ppm":150000}"#;

    #[test]
    fn a_damage_is_told_with_its_line_and_key() {
        let sound = format!("{HEAD}\n{ROW}\n");
        assert_eq!(read(&sound).unwrap().rows.len(), 1);
        for (from, to, want) in [
            ("[1,2,3,4,5,6]]", "[1,2,3,x,5,6]]", "line 2: it is no JSON"),
            ("[1,2,3,4,5,6]]", "[1,2,3,-4,5,6]]", "line 2: runs[1]: it must be six whole numbers"),
            ("300000", "\"300\"", "line 2: over_ms: it must be a whole number, or null"),
            ("150000", "99999999999", "line 2: slack_ppm: it is too large"),
            ("\"one\"", "1", "line 2: scenario: it must be a text"),
            ("\"runs\":2", "\"runs\":1", "line 2: runs: it has 2, and line 1 says 1"),
            ("\"rounds\":9", "\"rounds\":-9", "line 1: it is no baseline of a gate, or of another format: rounds"),
        ] {
            let told = read(&sound.replacen(from, to, 1)).unwrap_err().to_string();
            assert!(told.starts_with(want), "{told}");
        }
        let twice = read(&format!("{sound}{ROW}\n")).unwrap_err().to_string();
        assert_eq!(twice, "line 3: one, reset over 300 s slack 15 % stands on line 2 already");
    }

    #[test]
    fn numbers_that_the_suite_has_otherwise_are_told() {
        let suite = "format = 1\nscenarios = [\"a\"]\nsettings = [{ over = 300, slack = 0.15 }]\nruns = 2\nrounds = 9\nseed = 7\n";
        let told = |from: &str, to: &str| {
            let suite = Suite::load(&suite.replace(from, to), "s").unwrap();
            check(&read(HEAD).unwrap(), &suite).map_err(|error| error.to_string())
        };
        assert_eq!(told("", ""), Ok(()));
        assert_eq!(
            told("rounds = 9", "rounds = 99").unwrap_err(),
            "it was made with rounds 9, and the suite has rounds 99"
        );
        assert!(told("runs = 2", "runs = 3").unwrap_err().contains("runs 2"));
        assert!(told("seed = 7", "seed = 8").unwrap_err().contains("seed 7"));
    }
}
