//! The recommended cell of each target, for people: its settings as flags, and what comes next. Why stands under the
//! table.

use std::fmt::Write as _;

use super::table::trimmed;
use crate::engine::counted;
use crate::lab::grid::Cell;
use crate::lab::result::{Figure, SweepResult};

/// The recommendations, a few lines for each target; empty where nothing was chosen.
#[must_use]
pub fn render(result: &SweepResult) -> String {
    let mut text = String::new();
    for chosen in &result.chosen {
        let Some(cell) = result.cell(chosen.cell) else { continue };
        let _ = writeln!(text, "\nrecommended for juice {}: {}", trimmed(chosen.juice.micros()), flags(cell));
        if let (Some(next), Some(difference)) =
            (chosen.runner_up.and_then(|place| result.cell(place)), chosen.difference)
        {
            let _ = writeln!(text, "  runner-up: {}: {}", flags(next), more(difference));
        }
    }
    if let Some(done) = result.runs_done {
        let _ = writeln!(text, "\nincomplete: {done} of {}", counted(result.runs, "run"));
    }
    text
}

/// A cell as the flags that ask for it.
#[must_use]
pub fn flags(cell: &Cell) -> String {
    format!(
        "--law {} --over {}s --slack {} --rest {}s",
        cell.law,
        trimmed(cell.over.count().saturating_mul(1000)),
        trimmed(cell.slack.ppm().into()),
        trimmed(cell.rest.count().saturating_mul(1000)),
    )
}

fn more(difference: Figure) -> String {
    let thousandths = |micros: i64| {
        let size = (micros.unsigned_abs() + 500) / 1000;
        let sign = if micros < 0 && size > 0 { "-" } else { "" };
        format!("{sign}{}.{:03}", size / 1000, size % 1000)
    };
    let mean = thousandths(difference.mean);
    match difference.interval {
        Some((lo, hi)) => format!("{mean} more loss (95 %: {} to {}, run by run)", thousandths(lo), thousandths(hi)),
        None => format!("{mean} more loss, run by run"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::report::table::tests::result;

    #[test]
    fn the_choice_and_the_runner_up_are_told() {
        let expected = "
recommended for juice 2048: --law reset --over 3600s --slack 0.3 --rest 5s
  runner-up: --law reference --over 300s --slack 0.15 --rest 5s: 0.700 more loss (95 %: 0.699 to 0.701, run by run)
";
        assert_eq!(render(&result()), expected);
    }

    #[test]
    fn what_is_missing_is_said() {
        let stopped = SweepResult { runs_done: Some(7), chosen: vec![], ..result() };
        assert_eq!(render(&stopped), "\nincomplete: 7 of 1000 runs\n");
        let one = Figure { mean: -1_600, interval: None };
        assert_eq!(more(one), "-0.002 more loss, run by run");
    }
}
