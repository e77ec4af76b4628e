//! A result as CSV: one row a cell, the names of the JSON flattened (`on_rung`, `on_rung_lo`, `on_rung_hi`, ...).
//!
//! What is not of one cell is repeated in each row where it is needed to read the row alone: scenario, seed, runs, rounds.

use std::io::Write;

use super::columns::{Column, columns, parameters, resettles};
use super::decimal;
use crate::lab::result::{CellResult, SweepResult};

/// Writes `result`; no row but the header's where there is no cell.
///
/// # Errors
/// Those of `out`.
pub fn write(result: &SweepResult, out: &mut dyn Write) -> Result<(), csv::Error> {
    let resettles = resettles(&result.cells);
    let mut table = csv::WriterBuilder::new().flexible(false).from_writer(out);
    let Some(first) = result.cells.first() else {
        table.write_record(HEAD)?;
        return Ok(table.flush()?);
    };
    let head = HEAD.map(str::to_owned).into_iter().chain(parameters(&first.cell).map(|(name, _)| name.to_owned()));
    table.write_record(head.chain(columns(first, resettles).iter().flat_map(names)).chain(["chosen".to_owned()]))?;
    for (index, cell) in result.cells.iter().enumerate() {
        table.write_record(row(result, index, cell, resettles))?;
    }
    Ok(table.flush()?)
}

const HEAD: [&str; 6] = ["scenario", "seed", "runs", "runs_done", "rounds", "law"];

fn row(result: &SweepResult, index: usize, cell: &CellResult, resettles: usize) -> Vec<String> {
    let mut row = vec![
        result.scenario.clone(),
        result.seed.to_string(),
        result.runs.to_string(),
        result.runs_done.unwrap_or(result.runs).to_string(),
        result.rounds.to_string(),
        cell.cell.law.name().to_owned(),
    ];
    row.extend(parameters(&cell.cell).map(|(_, value)| decimal(value)));
    row.extend(columns(cell, resettles).iter().flat_map(values));
    row.push(u8::from(result.chosen.iter().any(|chosen| chosen.cell == index)).to_string());
    row
}

fn names(column: &Column) -> Vec<String> {
    let name = |part: &&str| {
        if *part == "mean" { column.name.clone() } else { format!("{}_{part}", column.name) }
    };
    column.part_names.iter().map(name).collect()
}

fn values(column: &Column) -> Vec<String> {
    match &column.parts {
        Some(parts) => parts.iter().map(|(_, value)| value.map(decimal).unwrap_or_default()).collect(),
        None => vec![String::new(); column.part_names.len()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::report::table::tests::{ending, result};
    use std::collections::BTreeMap;

    fn rows(result: &SweepResult) -> Vec<BTreeMap<String, String>> {
        let mut bytes = Vec::new();
        write(result, &mut bytes).unwrap();
        let mut reader = csv::Reader::from_reader(bytes.as_slice());
        let head = reader.headers().unwrap().clone();
        let named =
            |row: csv::StringRecord| head.iter().map(str::to_owned).zip(row.iter().map(str::to_owned)).collect();
        reader.records().map(|row| named(row.unwrap())).collect()
    }

    #[test]
    fn one_row_a_cell_under_flattened_names() {
        let rows = rows(&result());
        assert_eq!(rows.len(), 3);
        let expected = [
            ("scenario", "s\"02"),
            ("seed", "18446744073709551615"),
            ("runs_done", "1000"),
            ("law", "reset"),
            ("juice", "2048.000000"),
            ("over_s", "3600.000000"),
            ("slack", "0.300000"),
            ("on_rung", "0.911000"),
            ("on_rung_lo", "0.909000"),
            ("on_rung_hi", "0.913000"),
            ("bias", "-0.012500"),
            ("bias_lo", ""),
            ("settle_rounds", "10.100000"),
            ("settle_rounds_median", "3.000000"),
            ("settle_rounds_median_hi", ""),
            ("settle_rounds_censored", "0.010000"),
            ("resettle_rounds_1", "4.500000"),
            ("budget_over", ""),
            ("chosen", "1"),
        ];
        for (name, value) in expected {
            assert_eq!(rows[1][name], value, "{name}");
        }
        assert_eq!((rows[0]["chosen"].as_str(), rows[0]["resettle_rounds_1_censored"].as_str()), ("0", ""));
    }

    #[test]
    fn how_runs_end_has_columns_where_it_hangs_on_the_path() {
        let (plain, ending) = (rows(&result()), rows(&ending()));
        assert!(!plain[0].contains_key("stop_rounds") && plain[0].len() + 101 == ending[0].len());
        assert_eq!(
            (ending[0]["stop_rounds"].as_str(), ending[0]["stop_rounds_count"].as_str()),
            ("0.333333", "1.000000")
        );
        assert_eq!(
            (ending[0]["done_rounds_p50"].as_str(), ending[0]["stop_kill_on_count"].as_str()),
            ("1.000000", "0.000000")
        );
    }

    #[test]
    fn no_cell_is_a_header() {
        assert!(rows(&SweepResult { cells: vec![], chosen: vec![], ..result() }).is_empty());
    }
}
