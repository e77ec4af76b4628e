//! The fields of a cell, in the one order and under the one set of names that JSON and CSV share.

use super::ends::column;
use crate::lab::ends::{EndFigures, SampleFigures, Share};
use crate::lab::fixed::ONE;
use crate::lab::grid::Cell;
use crate::lab::metric::Metric;
use crate::lab::result::{CellResult, Figure, SettleFigure};

/// One field of a cell's results.
pub(super) struct Column {
    /// Its name.
    pub(super) name: String,
    /// Its parts, `mean` first; nothing where it does not apply.
    pub(super) parts: Option<Vec<(&'static str, Option<i64>)>>,
    /// The names of the parts that it has where it applies.
    pub(super) part_names: &'static [&'static str],
}

const FIGURE: [&str; 3] = ["mean", "lo", "hi"];
const SHARE: [&str; 4] = ["mean", "lo", "hi", "count"];
const SAMPLE: [&str; 6] = ["mean", "lo", "hi", "p10", "p50", "p90"];
const SETTLE: [&str; 7] = ["mean", "lo", "hi", "median", "median_lo", "median_hi", "censored"];

/// The parameters of a cell as names and millionths; the law apart.
pub(super) fn parameters(cell: &Cell) -> [(&'static str, i64); 4] {
    let held = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
    [
        ("juice", held(cell.juice.micros())),
        ("over_s", held(cell.over.count().saturating_mul(1000))),
        ("slack", i64::from(cell.slack.ppm())),
        ("rest_s", held(cell.rest.count().saturating_mul(1000))),
    ]
}

/// All results of a cell, with `resettles` fields for settling again.
pub(super) fn columns(cell: &CellResult, resettles: usize) -> Vec<Column> {
    let mut columns = Vec::new();
    for metric in Metric::ALL {
        if metric == Metric::SettleRounds {
            columns.push(settle(metric.name().to_owned(), cell.settle.as_ref()));
        } else {
            columns.push(figure(metric.name(), cell.figure(metric)));
        }
        if metric == Metric::InBandMeasured {
            columns.push(figure("oracle_in_band_measured", cell.oracle_in_band_measured));
        }
    }
    for index in 0..resettles {
        let figure = cell.resettle.get(index).and_then(Option::as_ref);
        columns.push(settle(format!("resettle_rounds_{}", index + 1), figure));
    }
    columns.push(figure("loss", cell.loss));
    columns.extend(cell.ends.iter().flat_map(ends));
    columns
}

/// How runs ended.
fn ends(ends: &EndFigures) -> Vec<Column> {
    let stops = ends.stops.iter().map(|(control, stopped)| share(column(*control), *stopped));
    let mut columns: Vec<Column> = stops.collect();
    columns.push(share("done".to_owned(), ends.done()));
    columns.push(sample("stop_after_rounds", ends.rounds));
    columns.push(sample("done_rounds", ends.done_rounds));
    columns.push(sample("done_tokens", ends.done_tokens));
    columns.push(sample("done_cost", ends.done_cost));
    columns.push(figure("cost", ends.cost));
    columns.push(figure("tokens_per_done", ends.tokens_per_done));
    columns.push(figure("cost_per_done", ends.cost_per_done));
    columns
}

fn share(name: String, share: Share) -> Column {
    let mut parts = parts(share.share);
    parts.push(("count", Some(i64::try_from(share.count).unwrap_or(i64::MAX).saturating_mul(ONE))));
    Column { name, parts: Some(parts), part_names: &SHARE }
}

fn sample(name: &str, sample: Option<SampleFigures>) -> Column {
    let parts = sample.map(|SampleFigures { mean, p10, p50, p90 }| {
        let mut all = parts(mean);
        all.extend([("p10", Some(p10)), ("p50", Some(p50)), ("p90", Some(p90))]);
        all
    });
    Column { name: name.to_owned(), parts, part_names: &SAMPLE }
}

/// How many fields for settling again the cells need.
pub(super) fn resettles(cells: &[CellResult]) -> usize {
    cells.iter().map(|cell| cell.resettle.len()).max().unwrap_or(0)
}

pub(super) fn parts(figure: Figure) -> Vec<(&'static str, Option<i64>)> {
    let (lo, hi) = figure.interval.unzip();
    vec![("mean", Some(figure.mean)), ("lo", lo), ("hi", hi)]
}

fn figure(name: &str, figure: Option<Figure>) -> Column {
    Column { name: name.to_owned(), parts: figure.map(parts), part_names: &FIGURE }
}

fn settle(name: String, figure: Option<&SettleFigure>) -> Column {
    let parts = figure.map(|figure| {
        let (median_lo, median_hi) = figure.median_interval;
        let mut all = parts(figure.mean);
        all.extend([
            ("median", figure.median),
            ("median_lo", median_lo),
            ("median_hi", median_hi),
            ("censored", Some(figure.censored)),
        ]);
        all
    });
    Column { name, parts, part_names: &SETTLE }
}
