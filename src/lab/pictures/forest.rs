//! Forests: differences from one reference, paired by run, each with its interval, sorted, beside a line at zero.
//!
//! Every cell of a sweep meets the same luck, so that losses are taken apart run by run. It draws nothing, as
//! [`pictures`](super) says. The loss is that of the choice ([`choose`](crate::lab::choose)), and has no unit.

use super::conduct::facts;
use super::{middle, name, tokens};
use crate::engine::{LawKind, Millis, Target};
use crate::lab::grid::Cell;
use crate::lab::plot::{Bar, BarRow, Bars};
use crate::lab::result::SweepResult;
use crate::lab::stats::{Estimate, paired};
use crate::lab::sweep::{CONFIDENCE, Finished, Job};

/// The most rows of a forest: those that lose least.
const MOST_ROWS: usize = 30;

/// Each law and window at the middle target, against the original's defaults there, or where those were not swept the settings in
/// use. None where there is nothing to compare.
#[must_use]
pub fn settings(job: &Job<'_>, result: &SweepResult, finished: &Finished) -> Option<Bars> {
    let (juice, rest) = (middle(job)?, *job.grid.rests().first()?);
    let against = yardstick(job, result, juice, rest)?;
    let here = |place: &usize| result.cell(*place).is_some_and(|cell| cell.juice == juice && cell.rest == rest);
    let chosen = |place: usize| result.chosen.iter().any(|chosen| chosen.cell == place);
    let losses = |place: usize| finished.losses.get(place);
    let mut kept: Vec<(usize, Estimate)> = Vec::new();
    for place in (0..result.cells.len()).filter(here).filter(|place| *place != against) {
        let (Some(cell), Some(worse)) = (result.cell(place), worse(finished, place, against)) else { continue };
        // a law that a window or a slack means nothing to is one setting
        if kept.iter().any(|(other, _)| losses(*other) == losses(place)) {
            continue;
        }
        let same = |other: &Cell| (other.law, other.over) == (cell.law, cell.over);
        match kept.iter_mut().find(|(other, _)| result.cell(*other).is_some_and(same)) {
            Some(known) if chosen(place) || (!chosen(known.0) && worse.mean < known.1.mean) => *known = (place, worse),
            Some(_) => {}
            None => kept.push((place, worse)),
        }
    }
    let rows = kept.into_iter().filter_map(|(place, worse)| {
        let star = if chosen(place) { "recommended: " } else { "" };
        Some((format!("{star}{}", name(result.cell(place)?, 1)), worse))
    });
    let against = name(result.cell(against)?, 1);
    let note = "Of each law and window the slack that loses least, or the recommended one; the least of many looks a little better than it is.";
    let title = format!("What each setting loses against {against}");
    let mut bars = forest(result, &title, &against, note, rows.collect())?;
    bars.facts.insert(1, format!("target {} tokens per turn", tokens(juice)));
    Some(bars)
}

/// The setting that is recommended at each target, against the same at that target. None with fewer than two targets.
#[must_use]
pub fn targets(job: &Job<'_>, result: &SweepResult, finished: &Finished) -> Option<Bars> {
    let mut against = String::new();
    let mut rows = Vec::new();
    for chosen in &result.chosen {
        let cell = result.cell(chosen.cell)?;
        let reference = yardstick(job, result, cell.juice, cell.rest)?;
        against = name(result.cell(reference)?, 1);
        rows.push((name(cell, result.chosen.len()), worse(finished, chosen.cell, reference)?));
    }
    let title = format!("What the recommended setting loses at each target against {against}");
    let note = "Each at its own target; a row of 0 with no width is the reference itself.";
    let rows = (rows.len() > 1).then_some(rows)?;
    forest(result, &title, &against, note, rows)
}

/// The original's defaults at this target, where they were swept; else the settings in use.
fn yardstick(job: &Job<'_>, result: &SweepResult, juice: Target, rest: Millis) -> Option<usize> {
    let plain = |cell: &Cell| {
        cell.law == LawKind::Reference && cell.over.count() == super::MEMORY_MS && cell.slack.ppm() == 150_000
    };
    let used = job.scenario.base();
    let used = |cell: &Cell| (cell.law, cell.over, cell.slack) == (used.law, used.over, used.slack);
    let find = |is: &dyn Fn(&Cell) -> bool| {
        let mut cells = result.cells.iter().map(|result| result.cell);
        cells.position(|cell| cell.juice == juice && cell.rest == rest && is(&cell))
    };
    find(&plain).or_else(|| find(&used))
}

fn worse(finished: &Finished, place: usize, against: usize) -> Option<Estimate> {
    paired(finished.losses.get(place)?, finished.losses.get(against)?, CONFIDENCE)
}

/// The picture, its rows from the one that loses least down.
fn forest(result: &SweepResult, title: &str, against: &str, note: &str, rows: Vec<(String, Estimate)>) -> Option<Bars> {
    let mut rows = rows;
    rows.sort_by(|one, next| one.1.mean.total_cmp(&next.1.mean).then_with(|| one.0.cmp(&next.0)));
    let all = rows.len();
    rows.truncate(MOST_ROWS);
    let left_out =
        if all > MOST_ROWS { format!(" Of {all} rows the {MOST_ROWS} that lose least.") } else { String::new() };
    let row = |(label, worse): (String, Estimate)| BarRow {
        label,
        values: vec![Bar::new(worse.mean, worse.interval.map(|interval| (interval.lo, interval.hi)))],
        ..BarRow::default()
    };
    (!rows.is_empty()).then(|| Bars {
        title: title.to_owned(),
        facts: facts(result, result.runs_done.unwrap_or(result.runs).into()),
        note: format!(
            "Differences run by run on the same luck, with 95 % intervals, each for itself; left of 0 is better. Loss: how far \
             answers stray, bias, reversals and tokens before settling. {note}{left_out}"
        ),
        x: format!("loss above that of {against}"),
        names: vec!["difference".to_owned()],
        dots: true,
        decimals: 3,
        rows: rows.into_iter().map(row).collect(),
        ..Bars::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::pictures::tests::{swept, with};

    #[test]
    fn settings_stand_sorted_against_the_original_as_paired_differences() {
        with(|job, result, finished| {
            let bars = settings(job, result, finished).unwrap();
            let means: Vec<f64> = bars.rows.iter().filter_map(|row| row.values[0].value.get()).collect();
            assert!(means.is_sorted() && bars.dots && bars.x.ends_with("reference 300 s 15 %"), "{means:?} {}", bars.x);
            // two laws and two windows, of which one is where the reference itself stands with its other slack
            assert_eq!((bars.rows.len(), bars.names.len()), (4, 1));
            assert!(bars.rows.iter().filter(|row| row.label.starts_with("recommended: ")).count() == 1);
            let plain = yardstick(job, result, middle(job).unwrap(), job.grid.rests()[0]).unwrap();
            let chosen = result.chosen[0].cell;
            let runs = finished.losses[chosen].iter().zip(&finished.losses[plain]);
            let sum: i64 = runs.map(|(one, other)| one - other).sum();
            let mean = crate::lab::fixed::from_micros(sum) / 20.0;
            let row = bars.rows.iter().find(|row| row.label.starts_with("recommended: ")).unwrap();
            assert!((row.values[0].value.get().unwrap() - mean).abs() < 1e-5, "{row:?} {mean}");
            assert!(row.values[0].low.get().unwrap() < mean && mean < row.values[0].high.get().unwrap());
            assert!(
                bars.facts.iter().any(|fact| fact == "seed 1")
                    && bars.svg().contains("target 2048 tokens per turn  ·  20 runs of 60 rounds")
            );
            assert_eq!(targets(job, result, finished), None, "one target");
        });
    }

    #[test]
    fn each_target_has_a_row() {
        swept(Some(vec![Target::from_tokens(1500), Target::from_tokens(2048)]), |job, result, finished| {
            let bars = targets(job, result, finished).unwrap();
            assert_eq!(bars.rows.len(), 2);
            assert!(bars.rows.iter().all(|row| row.label.contains(" at ")), "{:?}", bars.rows);
        });
    }
}
