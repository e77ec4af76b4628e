//! The baseline: every integer of every row, a line each, so that a later run can be compared with it run by run.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::{Counts, Held, Key, Row, Rows};
use crate::engine::{Millis, Ratio};

/// Why a text is no baseline.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BaselineError {
    /// The first line does not say what it is.
    #[error("line 1: it is no baseline of a gate, or of another format")]
    Header,
    /// A line cannot be read.
    #[error("line {0}: it is no row of a baseline")]
    Row(usize),
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
/// [`BaselineError`] with the line.
pub fn read(text: &str) -> Result<Rows, BaselineError> {
    let mut lines = text.lines();
    let header: Option<Value> = lines.next().and_then(|line| serde_json::from_str(line).ok());
    let number = |name: &str| header.as_ref()?.get(name)?.as_u64();
    let count = |name: &str| u32::try_from(number(name)?).ok();
    let (Some(1), Some(seed), Some(runs), Some(rounds)) =
        (number("gate"), number("seed"), count("runs"), count("rounds"))
    else {
        return Err(BaselineError::Header);
    };
    let mut rows = Vec::new();
    for (index, line) in lines.enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        rows.extend(row(line).ok_or(BaselineError::Row(index + 2))?);
    }
    Ok(Rows { seed, runs, rounds, rows })
}

/// A row; the inner nothing where its law is not known.
fn row(line: &str) -> Option<Option<Row>> {
    let value: Value = serde_json::from_str(line).ok()?;
    let Ok(law) = value.get("law")?.as_str()?.parse() else { return Some(None) };
    let over = value.get("over_ms")?.as_u64().map(Millis::new);
    let slack = value.get("slack_ppm")?.as_u64().and_then(|ppm| u32::try_from(ppm).ok()).map(Ratio::from_ppm);
    let key = Key { scenario: value.get("scenario")?.as_str()?.to_owned(), law, over, slack };
    let held = match (value.get("path"), value.get("runs")) {
        (Some(path), None) => Held::Path(path.as_str()?.to_owned()),
        (None, Some(runs)) => Held::Runs(runs.as_array()?.iter().map(counts).collect::<Option<_>>()?),
        _ => return None,
    };
    Some(Some(Row { key, held }))
}

fn counts(value: &Value) -> Option<Counts> {
    let numbers: Vec<u64> = value.as_array()?.iter().map(Value::as_u64).collect::<Option<_>>()?;
    let [right, moves, reversals, pinned, settle, tokens] = <[u64; 6]>::try_from(numbers).ok()?;
    Some(Counts { right, moves, reversals, pinned, settle, tokens })
}
