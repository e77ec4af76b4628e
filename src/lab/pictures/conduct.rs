//! How a loop behaves once it has begun: where it is, how often it leaves the best rung, how it comes back.
//!
//! Three pictures, each with theory or a verdict beside the simulation. The first `SETTLING` rounds of a run are left out where the
//! long run is meant. It draws nothing, as [`pictures`](super) says. Units: percent of rounds, rounds, shares of one.

use super::{FAN_RUNS, each_run, name, share};
use crate::engine::{LawKind, Millis, Ratio, counted};
use crate::lab::explain::{Explanation, Footing, explain};
use crate::lab::fixed::{from_micros, micros, ufloat, whole};
use crate::lab::grid::Cell;
use crate::lab::metric::Metric;
use crate::lab::plot::{Bar, BarRow, Bars, Chart, ChartDots, ChartLine, ChartPanel};
use crate::lab::result::SweepResult;
use crate::lab::runlog::RunLog;
use crate::lab::stats::Moments;
use crate::lab::sweep::{CONFIDENCE, Job};

/// Rounds at the start that are no part of the long run; never more than a fifth of all.
const SETTLING: u32 = 20;
/// The most settings of one picture.
const MOST: usize = 3;
/// Rounds that a rung is compared over, and the longest stretch between two reversals that is told by itself.
const LAGS: usize = 24;

fn settling(rounds: u32) -> usize {
    usize::try_from(SETTLING.min(rounds / 5)).unwrap_or(0)
}

pub(super) fn facts(result: &SweepResult, runs: u64) -> Vec<String> {
    vec![
        result.scenario.clone(),
        format!("{} of {}", counted(runs, "run"), counted(result.rounds, "round")),
        format!("seed {}", result.seed),
    ]
}

fn runs_of(job: &Job<'_>, result: &SweepResult) -> u32 {
    result.runs_done.unwrap_or(result.runs).min(job.runs).min(FAN_RUNS)
}

/// The cells at these places, as many as one picture shows.
fn shown(result: &SweepResult, places: &[usize]) -> Vec<Cell> {
    places.iter().filter_map(|place| result.cell(*place)).take(MOST).copied().collect()
}

/// The share of rounds on each rung, and beside it the long run of the chain that the loop is, where it is one. None with no
/// cell, or where a run cannot be judged.
#[must_use]
pub fn occupancy(job: &Job<'_>, result: &SweepResult, places: &[usize]) -> Option<Bars> {
    let (cells, runs, efforts) = (shown(result, places), runs_of(job, result), job.scenario.ladder.efforts());
    let from = settling(job.rounds);
    let mut values: Vec<Vec<Moments>> = Vec::new();
    for cell in &cells {
        let mut by_rung = vec![Moments::default(); efforts.len()];
        each_run(job, cell, runs, &mut |log, _| {
            let rungs = log.rung.get(from..).unwrap_or_default();
            for (rung, moments) in by_rung.iter_mut().enumerate() {
                let on = rungs.iter().filter(|used| usize::from(**used) == rung).count() as u64;
                moments.add(micros(ufloat(on) / ufloat(rungs.len().max(1) as u64)));
            }
        })?;
        values.push(by_rung);
    }
    let names = cells.iter().map(|cell| name(cell, job.grid.juices().len()));
    let chain = |cell: &Cell| {
        let chain = explain(job.scenario, cell).ok()?.chain?;
        let how = if chain.footing == Footing::Exact { "exact" } else { "an estimate" };
        Some((chain.occupancy?, format!("the long run of {} by theory, {how}", name(cell, job.grid.juices().len()))))
    };
    let (theory, mark) = cells.iter().find_map(chain).unzip();
    let bar = |moments: &Moments| {
        let estimate = moments.estimate(CONFIDENCE)?;
        // a share has ends
        let interval = estimate.interval.map(|span| (100.0 * span.lo.max(0.0), 100.0 * span.hi.min(1.0)));
        Some(Bar::new(100.0 * estimate.mean, interval))
    };
    let row = |(rung, effort): (usize, &crate::engine::Effort)| BarRow {
        label: effort.word().to_owned(),
        values: values.iter().map(|by_rung| bar(&by_rung[rung]).unwrap_or_default()).collect(),
        mark: theory.as_ref().and_then(|theory: &Vec<f64>| theory.get(rung)).map(|share| 100.0 * share).into(),
    };
    (!cells.is_empty()).then(|| Bars {
        title: "Where the rounds are spent".to_owned(),
        facts: facts(result, runs.into()),
        note: format!(
            "Without the first {from} rounds of each run; 95 % intervals over runs. Rungs from the hardest down."
        ),
        x: "% of rounds".to_owned(),
        names: names.collect(),
        mark: mark.unwrap_or_default(),
        decimals: 1,
        rows: efforts.iter().enumerate().map(row).collect(),
        ..Bars::default()
    })
}

/// How often the plain rule leaves the best rung, by slack: the closed form and what was simulated. None without a rule that moves on
/// one reading, with fewer than two slacks, or where every window reads more than a round.
#[must_use]
pub fn false_moves(job: &Job<'_>, result: &SweepResult) -> Option<Chart> {
    let law = [LawKind::Reference, LawKind::Reset].into_iter().find(|law| job.grid.laws().contains(law))?;
    let (juice, rest) = (super::middle(job)?, *job.grid.rests().first()?);
    let (mut overs, mut slacks) = (job.grid.overs().to_vec(), job.grid.slacks().to_vec());
    overs.sort_unstable();
    slacks.sort_unstable();
    let cell = |over: Millis, slack: Ratio| Cell { law, juice, over, slack, rest };
    let told = |over, slack| explain(job.scenario, &cell(over, slack)).ok();
    let first = *slacks.first()?;
    overs.retain(|over| told(*over, first).is_some_and(|told| told.window.rounds <= 1.0));
    if slacks.len() < 2 || overs.is_empty() {
        return None;
    }
    let panels = spread(&overs).into_iter().map(|over| {
        let figure = |slack: &Ratio| {
            let found = result.cells.iter().find(|result| result.cell == cell(over, *slack))?;
            found.figure(Metric::FalseMove).map(|figure| (100.0 * share(*slack), figure))
        };
        let figures: Vec<_> = slacks.iter().filter_map(figure).collect();
        let percent = |micros: i64| 100.0 * from_micros(micros);
        let end = |end: fn((i64, i64)) -> i64| {
            figures.iter().filter_map(move |(x, figure)| Some((*x, percent(end(figure.interval?)))))
        };
        let theory = slacks.iter().filter_map(|slack| Some((100.0 * share(*slack), leaving(&told(over, *slack)?)?)));
        ChartPanel {
            name: format!("{law}, window of {} s", over.count() / 1000),
            lines: vec![
                ChartLine::new("closed form", 0, false, theory),
                ChartLine::new("95 % interval of what was simulated", 1, true, end(|(low, _)| low)),
                ChartLine::new("95 % interval of what was simulated", 1, true, end(|(_, high)| high)),
            ],
            dots: vec![ChartDots::new("simulated", 1, figures.iter().map(|(x, figure)| (*x, percent(figure.mean))))],
            ..ChartPanel::default()
        }
    });
    Some(Chart {
        title: "How often luck alone moves the loop off the best rung".to_owned(),
        facts: facts(result, result.runs_done.unwrap_or(result.runs).into()),
        note: "The closed form takes the log of a reading of one round as normal, and an assumed rung for what it is in the middle.".to_owned(),
        x: "slack, % of the target".to_owned(),
        y: "moves from the best rung, % of rounds on it".to_owned(),
        panels: panels.collect(),
        ..Chart::default()
    })
}

/// The chance, in percent, that a reading on the nearest rung asks for a move that the ladder has.
fn leaving(told: &Explanation) -> Option<f64> {
    let rung = told.rungs.get(told.nearest)?;
    let harder = if told.nearest > 0 { rung.below } else { 0.0 };
    let softer = if told.nearest + 1 < told.rungs.len() { rung.above } else { 0.0 };
    Some(100.0 * (harder + softer))
}

/// The first, the middle and the last.
fn spread(overs: &[Millis]) -> Vec<Millis> {
    let mut places = vec![0, overs.len() / 2, overs.len().saturating_sub(1)];
    places.dedup();
    places.into_iter().filter_map(|place| overs.get(place)).copied().collect()
}

/// What the runs of one cell say of how it comes back.
#[derive(Default)]
struct Returns {
    /// Sum over runs of the correlation at each lag, from 0, and the runs that have one.
    alike: [f64; LAGS + 1],
    moved: u64,
    /// Stretches of so many rounds between two reversals; the last holds the longer ones too.
    halves: [u64; LAGS + 1],
}

impl Returns {
    fn add(&mut self, log: &RunLog, from: usize) {
        let rungs: Vec<f64> = log.rung.iter().skip(from).map(|rung| f64::from(*rung)).collect();
        let mean = rungs.iter().sum::<f64>() / ufloat(rungs.len().max(1) as u64);
        let apart = |lag: usize| {
            let later = rungs.iter().skip(lag);
            rungs.iter().zip(later).map(|(now, then)| (now - mean) * (then - mean)).sum::<f64>()
        };
        let variance = apart(0);
        if variance > 1e-9 {
            self.moved += 1;
            self.alike.iter_mut().enumerate().for_each(|(lag, sum)| *sum += apart(lag) / variance);
        }
        let (mut way, mut last): (_, Option<usize>) = (std::cmp::Ordering::Equal, None);
        for (round, pair) in log.rung.windows(2).enumerate() {
            let step = pair[1].cmp(&pair[0]);
            if step.is_ne() {
                if way.is_ne() && way != step {
                    if let Some(before) = last {
                        self.halves[(round - before).min(LAGS)] += 1;
                    }
                    last = Some(round);
                }
                way = step;
            }
        }
    }
}

/// How alike the rung is some rounds later, and how many rounds lie between two reversals: a loop that goes round shows in both.
/// None with no cell, or where a run cannot be judged.
#[must_use]
pub fn returns(job: &Job<'_>, result: &SweepResult, places: &[usize]) -> Option<Chart> {
    let (cells, runs, from) = (shown(result, places), runs_of(job, result), settling(job.rounds));
    let (mut alike, mut halves) = (Vec::new(), Vec::new());
    let mut told = Vec::new();
    for (at, cell) in (0_u8..).zip(&cells) {
        let mut returns = Returns::default();
        each_run(job, cell, runs, &mut |log, _| returns.add(log, from))?;
        let (name, dashed) = (name(cell, job.grid.juices().len()), at > 0);
        let of = |count: u64| ufloat(count.max(1));
        let lag = |lag: usize| ufloat(lag as u64);
        let all: u64 = returns.halves.iter().sum();
        let correlations = returns.alike.iter().enumerate().map(|(at, sum)| (lag(at), sum / of(returns.moved)));
        alike.push(ChartLine::new(&name, at, dashed, correlations));
        let shares = returns.halves.iter().enumerate().skip(1).map(|(at, count)| (lag(at), ufloat(*count) / of(all)));
        halves.push(ChartLine::new(&name, at, dashed, shares));
        let share = |metric: Metric| {
            let found = result.cells.iter().find(|result| result.cell == *cell)?;
            Some(whole(100.0 * from_micros(found.mean(metric)?)))
        };
        let cycles = share(Metric::LimitCycle).zip(share(Metric::Chatter));
        told.extend(cycles.map(|(cycle, chatter)| format!("{name}: {cycle} % of runs cycle, {chatter} % chatter.")));
    }
    let panel = |name: &str, lines| ChartPanel { name: name.to_owned(), lines, ..ChartPanel::default() };
    (!cells.is_empty()).then(|| Chart {
        title: "Whether the loop goes round".to_owned(),
        facts: facts(result, runs.into()),
        note: format!(
            "Left: correlation of the rung with itself, without the first {from} rounds, of runs that moved. Right: share of the \
             stretches between two reversals; {LAGS} stands for longer ones too. {}",
            told.join(" ")
        ),
        x: "rounds".to_owned(),
        y: "correlation, or share".to_owned(),
        panels: vec![panel("the rung, so many rounds later", alike), panel("rounds between reversals", halves)],
        ..Chart::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::pictures::{notable, tests::with};

    #[test]
    fn shares_of_rungs_add_up_and_stand_beside_the_chain() {
        with(|job, result, _| {
            let bars = occupancy(job, result, &notable(result)).unwrap();
            assert_eq!((bars.rows.len(), bars.names.len()), (6, 2));
            for place in 0..2 {
                let sum: f64 = bars.rows.iter().filter_map(|row| row.values[place].value.get()).sum();
                assert!((sum - 100.0).abs() < 0.01, "{sum}");
            }
            let (plain, marks): (Vec<f64>, Vec<f64>) =
                bars.rows.iter().map(|row| (row.values[1].value.get().unwrap(), row.mark.get().unwrap())).unzip();
            assert!(bars.mark.contains("reference 300 s 15 %"), "{}", bars.mark);
            assert!((marks.iter().sum::<f64>() - 100.0).abs() < 0.01);
            // twenty runs of forty rounds: a few points of luck, on rungs between 3 and 50 %
            for (share, mark) in plain.iter().zip(&marks) {
                assert!((share - mark).abs() < 6.0, "{plain:?} {marks:?}");
            }
        });
    }

    #[test]
    fn the_closed_form_falls_with_the_slack_and_meets_the_simulation() {
        with(|job, result, _| {
            let chart = false_moves(job, result).unwrap();
            assert_eq!(chart.panels.len(), 1, "an hour reads more than a round");
            let panel = &chart.panels[0];
            let points =
                |line: &ChartLine| -> Vec<f64> { line.points.iter().filter_map(|point| point[1].get()).collect() };
            let theory = points(&panel.lines[0]);
            assert_eq!(theory.len(), 2);
            assert!(theory[0] > theory[1] && theory[1] > 10.0, "{theory:?}");
            let (low, high) = (points(&panel.lines[1]), points(&panel.lines[2]));
            for (at, [_, simulated]) in panel.dots[0].points.iter().enumerate() {
                let simulated = simulated.get().unwrap();
                assert!(low[at] < simulated && simulated < high[at]);
                assert!((simulated - theory[at]).abs() < 8.0, "{simulated} {theory:?}");
            }
        });
    }

    #[test]
    fn a_cycle_shows_in_both_halves_of_the_picture() {
        // four rounds up and four down, for ever
        let rung: Vec<u8> = (0..80).map(|round| [0, 1, 2, 3, 4, 3, 2, 1][round % 8]).collect();
        let mut returns = Returns::default();
        returns.add(&RunLog { rung, ..RunLog::default() }, 16);
        assert_eq!((returns.moved, returns.halves[4], returns.halves.iter().sum::<u64>()), (1, 18, 18));
        assert!((returns.alike[0] - 1.0).abs() < 1e-12 && returns.alike[8] > 0.8 && returns.alike[4] < -0.8);
        let mut still = Returns::default();
        still.add(&RunLog { rung: vec![2; 40], ..RunLog::default() }, 8);
        assert_eq!((still.moved, still.halves.iter().sum::<u64>()), (0, 0));
        with(|job, result, _| {
            let chart = super::returns(job, result, &notable(result)).unwrap();
            assert_eq!(chart.panels.len(), 2);
            assert!(chart.note.contains("% of runs cycle"), "{}", chart.note);
            let shares: f64 = chart.panels[1].lines[1].points.iter().filter_map(|point| point[1].get()).sum();
            assert!((shares - 1.0).abs() < 1e-5, "{shares}");
        });
    }
}
