//! A result as a table for people: the best cells first, the chosen one marked, units under the names.
//!
//! Cells of one target stand together, by mean loss, or by their share on right rungs where there is no loss. Numbers are
//! rounded half away from zero, in integers. Shares of a window in band are never shown without the oracle's.

use std::fmt::Write as _;

use crate::engine::{Target, counted, one_or};
use crate::lab::metric::Metric;
use crate::lab::result::{CellResult, SweepResult};

/// As many rows as a screen holds.
pub const USUAL_ROWS: usize = 25;

/// The table, with at most `rows` cells in all, or every one; at least one row for each target.
#[must_use]
pub fn render(result: &SweepResult, rows: Option<usize>) -> String {
    let mut text = format!(
        "{}: {} of {} a cell, seed {}",
        result.scenario,
        counted(result.runs, "run"),
        counted(result.rounds, "round"),
        result.seed
    );
    if let Some(done) = result.runs_done {
        let _ = write!(text, "; stopped after {}, on which the figures rest", counted(done, "run"));
    }
    let band = tenths(i64::from(result.band.ppm()), 1000);
    let _ = writeln!(
        text,
        "\nright: within {band} % of the target or nearest to it; settled: {} in a row",
        counted(result.hold, "round")
    );
    let (shown, hidden) = shown(result, rows);
    let mut lines = vec![NAMES.map(str::to_owned).to_vec(), UNITS.map(str::to_owned).to_vec()];
    lines.extend(shown.iter().map(|place| line(result, *place)));
    text.push('\n');
    align(&lines, &mut text);
    if hidden > 0 {
        let _ = writeln!(text, "{} {} not shown", counted(hidden, "more cell"), one_or(hidden, "is", "are"));
    }
    for chosen in &result.chosen {
        let _ = write!(text, "\n* juice {}: {}\n", trimmed(chosen.juice.micros()), chosen.why);
    }
    text
}

const COLUMNS: usize = 14;
const NAMES: [&str; COLUMNS] = [
    "",
    "law",
    "juice",
    "over",
    "slack",
    "rest",
    "on rung",
    "+-",
    "reversals",
    "moves",
    "settle",
    "unsettled",
    "until then",
    "off rung",
];
const UNITS: [&str; COLUMNS] =
    ["", "", "tok/turn", "s", "%", "s", "% rounds", "points", "/100", "/100", "rounds", "% runs", "Mtok", "% tok"];

/// The places of the cells to show, in order, and how many are left out.
fn shown(result: &SweepResult, rows: Option<usize>) -> (Vec<usize>, usize) {
    let mut targets: Vec<Target> = Vec::new();
    for cell in &result.cells {
        if !targets.contains(&cell.cell.juice) {
            targets.push(cell.cell.juice);
        }
    }
    let each = rows.map_or(usize::MAX, |rows| (rows / targets.len().max(1)).max(1));
    let mut shown = Vec::new();
    for target in targets {
        let mut group: Vec<usize> =
            (0..result.cells.len()).filter(|place| result.cells[*place].cell.juice == target).collect();
        group.sort_by_key(|place| (rank(&result.cells[*place]), *place));
        let chosen = |place: &usize| result.chosen.iter().any(|chosen| chosen.cell == *place);
        // The chosen cell is shown whatever its rank.
        let left: Vec<usize> = group.iter().skip(each).copied().filter(chosen).collect();
        group.truncate(each.saturating_sub(left.len()));
        group.extend(left);
        shown.extend(group);
    }
    let hidden = result.cells.len() - shown.len();
    (shown, hidden)
}

/// Least first: the loss, else the share of rounds off the right rungs; cells with neither last.
fn rank(cell: &CellResult) -> i64 {
    let on_rung = || cell.mean(Metric::OnRung).map(i64::saturating_neg);
    cell.loss.map(|loss| loss.mean).or_else(on_rung).unwrap_or(i64::MAX)
}

fn line(result: &SweepResult, place: usize) -> Vec<String> {
    let result_of = &result.cells[place];
    let cell = &result_of.cell;
    let mark = if result.chosen.iter().any(|chosen| chosen.cell == place) { "*" } else { "" };
    let tenth = |metric, unit| show(result_of.mean(metric).map(|mean| tenths(mean, unit)));
    let half =
        result_of.figure(Metric::OnRung).and_then(|figure| figure.interval).map(|(lo, hi)| hi.saturating_sub(lo) / 2);
    let settle = result_of.settle;
    vec![
        mark.to_owned(),
        cell.law.name().to_owned(),
        trimmed(cell.juice.micros()),
        trimmed(cell.over.count().saturating_mul(1000)),
        trimmed(u64::from(cell.slack.ppm()) * 100),
        trimmed(cell.rest.count().saturating_mul(1000)),
        tenth(Metric::OnRung, 1000),
        show(half.map(|half| tenths(half, 1000))),
        tenth(Metric::Reversals, 100_000),
        tenth(Metric::Moves, 100_000),
        show(settle.map(|settle| tenths(settle.mean.mean, 100_000))),
        show(settle.map(|settle| tenths(settle.censored, 1000))),
        show(result_of.mean(Metric::SettleTokens).map(|tokens| hundredths(tokens, 10_000_000_000))),
        tenth(Metric::OffTokens, 1000),
    ]
}

fn show(text: Option<String>) -> String {
    text.unwrap_or_else(|| "-".to_owned())
}

/// The columns padded to their widest: the law's to the left, numbers to the right.
fn align(lines: &[Vec<String>], text: &mut String) {
    let width = |column: usize| lines.iter().filter_map(|line| line.get(column)).map(|c| c.chars().count()).max();
    let widths: Vec<usize> = (0..COLUMNS).map(|column| width(column).unwrap_or(0)).collect();
    for line in lines {
        let mut row = String::new();
        for (column, (content, width)) in line.iter().zip(&widths).enumerate() {
            let gap = if column == 0 {
                ""
            } else if column == 1 {
                " "
            } else {
                "  "
            };
            let _ =
                if column < 2 { write!(row, "{gap}{content:<width$}") } else { write!(row, "{gap}{content:>width$}") };
        }
        text.push_str(row.trim_end());
        text.push('\n');
    }
}

/// `micros` over `unit`, rounded half away from zero.
fn rounded(micros: i64, unit: i64) -> i128 {
    let (value, unit) = (i128::from(micros), i128::from(unit.max(1)));
    (value.abs() * 2 + unit) / (unit * 2) * value.signum()
}

/// The number whose tenth is `unit` millionths, with one decimal.
pub(super) fn tenths(micros: i64, unit: i64) -> String {
    let value = rounded(micros, unit);
    let sign = if value < 0 { "-" } else { "" };
    format!("{sign}{}.{}", value.abs() / 10, value.abs() % 10)
}

/// The number whose hundredth is `unit` millionths, with two decimals.
pub(super) fn hundredths(micros: i64, unit: i64) -> String {
    let value = rounded(micros, unit);
    let sign = if value < 0 { "-" } else { "" };
    format!("{sign}{}.{:02}", value.abs() / 100, value.abs() % 100)
}

/// Millionths without zeros at the end.
pub(super) fn trimmed(micros: u64) -> String {
    let text = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::engine::laws::LawKind;
    use crate::engine::{Control, MicroUsd, Millis, Ratio};
    use crate::lab::choose::Relaxed;
    use crate::lab::ends::{EndTally, RunEnd};
    use crate::lab::grid::Cell;
    use crate::lab::metric::METRICS;
    use crate::lab::result::{Chosen, Figure, SettleFigure};
    use crate::lab::runlog::{RunLog, Seen};

    fn figure(mean: i64, half: i64) -> Figure {
        Figure { mean, interval: Some((mean - half, mean + half)) }
    }

    fn cell(law: LawKind, over: u64, slack: u32, on_rung: i64, loss: i64) -> CellResult {
        let mut figures = [None; METRICS];
        figures[Metric::OnRung.index()] = Some(figure(on_rung, 2000));
        figures[Metric::Reversals.index()] = Some(figure(6_750_000, 1));
        figures[Metric::Moves.index()] = Some(figure(6_740_000, 1));
        figures[Metric::SettleTokens.index()] = Some(figure(225_000_000_000, 1));
        figures[Metric::Bias.index()] = Some(Figure { mean: -12_500, interval: None });
        let settle = |mean| SettleFigure {
            mean: figure(mean, 500_000),
            median: Some(3_000_000),
            median_interval: (Some(2_000_000), None),
            censored: 10_000,
        };
        CellResult {
            cell: Cell {
                law,
                juice: Target::from_tokens(2048),
                over: Millis::from_secs(over),
                slack: Ratio::from_ppm(slack),
                rest: Millis::from_secs(5),
            },
            figures,
            oracle_in_band_measured: Some(figure(297_000, 1)),
            settle: Some(settle(10_100_000)),
            resettle: if law == LawKind::Reset { vec![Some(settle(4_500_000))] } else { vec![] },
            loss: Some(figure(loss, 1000)),
            ends: None,
        }
    }

    /// The same where three runs ended: one done after a round, one after three, one never; each round makes a million tokens.
    pub(in crate::lab::report) fn ending() -> SweepResult {
        let mut tally = EndTally::default();
        for (rounds, control) in [(1, Control::OraclePassed), (3, Control::OraclePassed), (4, Control::Rounds)] {
            let (mut log, mut end) = (RunLog::default(), RunEnd::default());
            log.begin(4, None);
            end.begin();
            for round in 0..rounds {
                log.push(0, Seen::Nothing, round, 1_000_000, 1);
                end.push(MicroUsd::ZERO);
            }
            log.finish(rounds);
            end.control = Some(control);
            tally.add(&end, &log);
        }
        let mut result = result();
        result.cells.iter_mut().for_each(|cell| cell.ends = tally.figures(0.95));
        result
    }

    /// A result of three cells, the second of them chosen.
    pub(in crate::lab::report) fn result() -> SweepResult {
        SweepResult {
            scenario: "s\"02".to_owned(),
            seed: u64::MAX,
            runs: 1000,
            rounds: 200,
            band: Ratio::from_ppm(150_000),
            hold: 10,
            cells: vec![
                cell(LawKind::Reference, 300, 150_000, 504_000, 900_000),
                cell(LawKind::Reset, 3600, 300_000, 911_000, 200_000),
                cell(LawKind::Reset, 300, 225_000, 600_000, 700_000),
            ],
            chosen: vec![Chosen {
                juice: Target::from_tokens(2048),
                cell: 1,
                best: 1,
                runner_up: Some(0),
                loss: figure(200_000, 1000),
                difference: Some(figure(700_000, 1000)),
                compared: 3,
                as_good: 1,
                relaxed: Some(Relaxed::NoneKeeps),
                why: "It has the least loss.".to_owned(),
            }],
            runs_done: None,
        }
    }

    #[test]
    fn the_best_cell_comes_first_and_is_marked() {
        let text = render(&result(), Some(USUAL_ROWS));
        let expected = "\
s\"02: 1000 runs of 200 rounds a cell, seed 18446744073709551615
right: within 15.0 % of the target or nearest to it; settled: 10 rounds in a row

  law           juice  over  slack  rest   on rung      +-  reversals  moves  settle  unsettled  until then  off rung
             tok/turn     s      %     s  % rounds  points       /100   /100  rounds     % runs        Mtok     % tok
* reset          2048  3600     30     5      91.1     0.2        6.8    6.7    10.1        1.0        0.23         -
  reset          2048   300   22.5     5      60.0     0.2        6.8    6.7    10.1        1.0        0.23         -
  reference      2048   300     15     5      50.4     0.2        6.8    6.7    10.1        1.0        0.23         -

* juice 2048: It has the least loss.
";
        assert_eq!(text, expected);
    }

    #[test]
    fn hidden_rows_are_counted_and_the_chosen_one_is_never_hidden() {
        let mut result = result();
        result.chosen[0].cell = 0;
        let text = render(&result, Some(2));
        let marks: Vec<&str> = text.lines().filter(|l| l.starts_with("* ref") || l.starts_with("  reset")).collect();
        assert_eq!(marks.len(), 2, "{text}");
        assert!(marks[0].contains("3600") && marks[1].starts_with("* reference"), "{text}");
        assert!(text.contains("\n1 more cell is not shown\n"), "{text}");
        assert!(!render(&result, None).contains("not shown"));
    }

    #[test]
    fn each_target_has_its_rows() {
        let mut result = result();
        result.cells[0].cell.juice = Target::from_micros(1_500_250_000);
        let text = render(&result, Some(1));
        assert!(text.contains("1500.25") && text.contains("\n1 more cell "), "{text}");
    }

    #[test]
    fn without_a_loss_the_share_on_rung_ranks() {
        let mut result = result();
        result.cells.iter_mut().for_each(|cell| cell.loss = None);
        result.cells[2].figures[Metric::OnRung.index()] = None;
        let (shown, hidden) = shown(&result, None);
        assert_eq!((shown, hidden), (vec![1, 0, 2], 0));
        assert!(render(&SweepResult { runs_done: Some(7), ..result }, None).contains("stopped after 7 runs"));
    }

    #[test]
    fn numbers_are_rounded_half_away_from_zero() {
        assert_eq!([tenths(1_250, 100), tenths(-1_250, 100), tenths(149, 100)], ["1.3", "-1.3", "0.1"]);
        assert_eq!([hundredths(0, 10), hundredths(-5, 10)], ["0.00", "-0.01"]);
        assert_eq!([trimmed(0), trimmed(100_000_000), trimmed(1_500_000)], ["0", "100", "1.5"]);
        assert_eq!(tenths(i64::MIN, 1), format!("-{}.8", i64::MAX / 10));
    }
}
