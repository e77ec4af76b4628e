//! From sums to a result: statistics, choices, and the curves that pictures show.

use super::runner::{Finished, Job};
use crate::engine::Target;
use crate::lab::choose::{Candidate, ChooseError, Setting, choose};
use crate::lab::result::{CellResult, Chosen, Figure, SweepResult};

/// Confidence of every interval that is reported.
pub const CONFIDENCE: f64 = 0.95;

/// What a sweep found, with a choice for each target.
///
/// # Errors
/// [`ChooseError`] where not a single run was finished.
pub fn summarise(job: &Job<'_>, finished: &Finished) -> Result<SweepResult, ChooseError> {
    let cells: Vec<CellResult> = job
        .grid
        .cells()
        .enumerate()
        .map(|(index, cell)| {
            let losses = &finished.losses[index];
            let mut result = CellResult::new(cell, &finished.tallies[index], job.rounds, losses, CONFIDENCE);
            result.ends = finished.ends.get(index).and_then(|ends| ends.figures(CONFIDENCE));
            result.oracle_in_band_measured = finished.oracles[index].estimate(CONFIDENCE).map(Figure::from);
            result
        })
        .collect();
    let mut chosen = Vec::new();
    for &juice in job.grid.juices() {
        chosen.extend(choice(job, finished, &cells, juice)?);
    }
    Ok(SweepResult {
        scenario: job.scenario.name.clone(),
        seed: job.seed,
        runs: job.runs,
        rounds: job.rounds,
        band: job.scenario.evaluate.band,
        hold: job.scenario.evaluate.hold,
        cells,
        chosen,
        runs_done: (finished.runs < job.runs).then_some(finished.runs),
    })
}

/// The choice among the cells of one target.
fn choice(
    job: &Job<'_>,
    finished: &Finished,
    cells: &[CellResult],
    juice: Target,
) -> Result<Option<Chosen>, ChooseError> {
    let places: Vec<usize> = (0..cells.len()).filter(|&place| cells[place].cell.juice == juice).collect();
    let candidate = |&place: &usize| {
        let cell = &cells[place].cell;
        Candidate {
            law: cell.law.name(),
            over: Some(cell.over),
            slack: Some(cell.slack),
            tally: &finished.tallies[place],
            losses: &finished.losses[place],
        }
    };
    let candidates: Vec<Candidate<'_>> = places.iter().map(candidate).collect();
    let derived = job.scenario.derived_at(juice);
    #[expect(clippy::cast_precision_loss, reason = "a target is far below 2^53 millionths")]
    let target = juice.micros() as f64 / 1e6;
    let least = derived.means.iter().copied().fold(f64::INFINITY, f64::min);
    let most = derived.means.iter().copied().fold(0.0, f64::max);
    let setting =
        Setting { legal: derived.legal_slack, reachable: (least..=most).contains(&target), confidence: CONFIDENCE };
    Ok(Chosen::new(juice, &choose(&candidates, &setting)?, &places))
}
