//! A result as JSON: one object, cells in the grid's order, a line each.

use std::io::{self, Write};

use super::columns::{columns, parameters, parts, resettles};
use super::decimal;
use crate::lab::choose::Relaxed;
use crate::lab::ends::CapFigures;
use crate::lab::grid::Cell;
use crate::lab::result::{CellResult, Chosen, Figure, SweepResult, VERSION};

/// Writes `result`.
///
/// # Errors
/// Those of `out`.
pub fn write(result: &SweepResult, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "{{\"version\":{},\"scenario\":{},", text(VERSION), text(&result.scenario))?;
    write!(out, "\"seed\":{},\"runs\":{},\"rounds\":{},", result.seed, result.runs, result.rounds)?;
    write!(out, "\"band\":{},\"hold\":{},", decimal(i64::from(result.band.ppm())), result.hold)?;
    match result.runs_done {
        Some(done) => write!(out, "\"incomplete\":{{\"runs_done\":{done}}},")?,
        None => write!(out, "\"incomplete\":null,")?,
    }
    if result.hangs_on_the_path() {
        write!(out, "\"engine\":\"machine\",")?;
    }
    let resettles = resettles(&result.cells);
    write!(out, "\"cells\":[")?;
    for (index, cell) in result.cells.iter().enumerate() {
        out.write_all(if index == 0 { b"\n" } else { b",\n" })?;
        write_cell(cell, resettles, out)?;
    }
    write!(out, "\n],\"chosen\":[")?;
    for (index, chosen) in result.chosen.iter().enumerate() {
        out.write_all(if index == 0 { b"\n" } else { b",\n" })?;
        write_chosen(result, chosen, out)?;
    }
    out.write_all(b"\n]}\n")
}

fn write_cell(cell: &CellResult, resettles: usize, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "{{{}", place(&cell.cell))?;
    for column in columns(cell, resettles) {
        write!(out, ",{}:", text(&column.name))?;
        match &column.parts {
            Some(parts) => out.write_all(object(parts).as_bytes())?,
            None => out.write_all(b"null")?,
        }
    }
    if let Some(ends) = &cell.ends {
        let caps: Vec<String> = ends.caps.iter().map(cap).collect();
        write!(out, ",\"caps\":[{}]", caps.join(","))?;
    }
    out.write_all(b"}")
}

/// What a cap on rounds would have come to.
fn cap(cap: &CapFigures) -> String {
    let figure = |figure: Option<Figure>| figure.map_or_else(|| "null".to_owned(), |figure| object(&parts(figure)));
    format!(
        "{{\"rounds\":{},\"done\":{},\"tokens\":{},\"cost\":{},\"saved\":{},\"tokens_per_done\":{},\"cost_per_done\":{}}}",
        cap.rounds,
        object(&parts(cap.done.share)),
        figure(cap.tokens),
        figure(cap.cost),
        figure(cap.saved),
        figure(cap.tokens_per_done),
        figure(cap.cost_per_done)
    )
}

fn write_chosen(result: &SweepResult, chosen: &Chosen, out: &mut dyn Write) -> io::Result<()> {
    let cell = |at: Option<usize>| match at.and_then(|at| result.cell(at)) {
        Some(cell) => format!("{{{}}}", place(cell)),
        None => "null".to_owned(),
    };
    match result.cell(chosen.cell) {
        Some(cell) => write!(out, "{{{}", place(cell))?,
        None => write!(out, "{{\"juice\":{}", decimal(i64::try_from(chosen.juice.micros()).unwrap_or(i64::MAX)))?,
    }
    let figure = |figure: Option<Figure>| figure.map_or_else(|| "null".to_owned(), |figure| object(&parts(figure)));
    let relaxed = match chosen.relaxed {
        None => "null",
        Some(Relaxed::Unreachable) => "\"unreachable\"",
        Some(Relaxed::NoneKeeps) => "\"none-keeps\"",
    };
    write!(out, ",\"loss\":{},\"best\":{},", figure(Some(chosen.loss)), cell(Some(chosen.best)))?;
    write!(out, "\"runner_up\":{},\"difference\":{},", cell(chosen.runner_up), figure(chosen.difference))?;
    write!(out, "\"compared\":{},\"as_good\":{},\"relaxed\":{relaxed},", chosen.compared, chosen.as_good)?;
    write!(out, "\"why\":{}}}", text(&chosen.why))
}

/// The parameters of a cell as the members of an object.
fn place(cell: &Cell) -> String {
    let numbers = parameters(cell).map(|(name, value)| format!(",\"{name}\":{}", decimal(value)));
    format!("\"law\":{}{}", text(cell.law.name()), numbers.concat())
}

fn object(parts: &[(&str, Option<i64>)]) -> String {
    let member = |(name, value): &(&str, Option<i64>)| {
        format!("\"{name}\":{}", value.map_or_else(|| "null".to_owned(), decimal))
    };
    format!("{{{}}}", parts.iter().map(member).collect::<Vec<_>>().join(","))
}

/// A text in quotes, escaped.
fn text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::report::table::tests::{ending, result};
    use serde_json::Value;

    fn printed(result: &SweepResult) -> String {
        let mut bytes = Vec::new();
        write(result, &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn names_and_numbers_are_those_agreed() {
        let text = printed(&result());
        let json: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(json["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(json["scenario"], "s\"02");
        assert_eq!((json["seed"].as_u64(), json["runs"].as_u64()), (Some(u64::MAX), Some(1000)));
        assert_eq!((json["rounds"].as_u64(), json["hold"].as_u64()), (Some(200), Some(10)));
        assert_eq!(json["incomplete"], Value::Null);
        let cell = &json["cells"][1];
        assert_eq!((cell["law"].as_str(), cell["juice"].as_f64()), (Some("reset"), Some(2048.0)));
        assert_eq!((cell["over_s"].as_f64(), cell["slack"].as_f64()), (Some(3600.0), Some(0.3)));
        assert_eq!(cell["rest_s"].as_f64(), Some(5.0));
        assert_eq!(cell["on_rung"]["mean"].as_f64(), Some(0.911));
        assert_eq!((cell["on_rung"]["lo"].as_f64(), cell["on_rung"]["hi"].as_f64()), (Some(0.909), Some(0.913)));
        assert_eq!(cell["settle_rounds"]["median"].as_f64(), Some(3.0));
        assert_eq!(cell["settle_rounds"]["median_hi"], Value::Null);
        assert_eq!(cell["settle_rounds"]["censored"].as_f64(), Some(0.01));
        assert_eq!(cell["resettle_rounds_1"]["mean"].as_f64(), Some(4.5));
        assert_eq!(json["cells"][0]["resettle_rounds_1"], Value::Null);
        assert_eq!(cell["budget_over"], Value::Null);
        assert_eq!(cell["bias"]["mean"].as_f64(), Some(-0.0125));
        assert_eq!(cell["bias"]["lo"], Value::Null);
        assert_eq!(json["chosen"][0]["law"], "reset");
        assert_eq!(json["chosen"][0]["runner_up"]["law"], "reference");
        assert!(json["chosen"][0]["why"].as_str().unwrap().contains("least loss"));
        assert!(text.contains("\"on_rung\":{\"mean\":0.911000,\"lo\":0.909000,\"hi\":0.913000}"));
    }

    #[test]
    fn every_metric_has_its_name_in_every_cell() {
        let json: Value = serde_json::from_str(&printed(&result())).unwrap();
        for cell in json["cells"].as_array().unwrap() {
            for metric in crate::lab::metric::Metric::ALL {
                assert!(cell.get(metric.name()).is_some(), "{}", metric.name());
            }
        }
    }

    #[test]
    fn how_runs_end_is_told_where_it_hangs_on_the_path() {
        let plain = printed(&result());
        assert!(!plain.contains("stop_rounds") && !plain.contains("\"engine\"") && !plain.contains("\"caps\""));
        let json: Value = serde_json::from_str(&printed(&ending())).unwrap();
        assert_eq!(json["engine"], "machine");
        let cell = &json["cells"][0];
        assert_eq!(cell["stop_oracle_passed"]["count"].as_f64(), Some(2.0));
        assert_eq!(cell["done"]["mean"], cell["stop_oracle_passed"]["mean"]);
        assert_eq!(cell["done_tokens"]["p90"].as_f64(), Some(3_000_000.0));
        // 1, 3 and 4 million were spent for two that were done
        assert_eq!(cell["tokens_per_done"]["mean"].as_f64(), Some(4_000_000.0));
        let rounds: Vec<_> =
            cell["caps"].as_array().unwrap().iter().map(|cap| cap["rounds"].as_u64().unwrap()).collect();
        assert_eq!(rounds, [1, 2, 4]);
        assert_eq!(cell["caps"][1]["saved"]["mean"].as_f64(), Some(1_000_000.0));
    }

    #[test]
    fn a_stop_is_told() {
        let json: Value = serde_json::from_str(&printed(&SweepResult { runs_done: Some(412), ..result() })).unwrap();
        assert_eq!(json["incomplete"]["runs_done"], 412);
    }

    #[test]
    fn nothing_at_all_is_still_json() {
        let json: Value =
            serde_json::from_str(&printed(&SweepResult { cells: vec![], chosen: vec![], ..result() })).unwrap();
        assert_eq!(json["cells"], Value::Array(vec![]));
    }
}
