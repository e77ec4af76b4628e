//! From results to the data of pictures: which panels, which curves, which titles.
//!
//! It draws nothing and opens nothing: the shapes and the drawing are in [`plot`](super::plot), the files are the
//! caller's. Numbers come from the result; the burn fan alone needs runs, and governs its few cells again by tables.

pub mod changes;
pub mod conduct;
pub mod forest;

use super::ends::RunEnd;
use super::explain::silenced;
use super::fixed::{from_micros, ufloat};
use super::grid::Cell;
use super::metric::Metric;
use super::plot::{
    Better, Burn, BurnPanel, BurnPoint, Caption, Chart, ChartLine, ChartPanel, Heat, HeatCell, HeatPanel, HeatPlace,
    Legal, Num, Scale, Settle, SettleLine, SettleStep, Shade, Trace, TraceRound, Why,
};
use super::report::choice::flags;
use super::result::{CellResult, Figure, SweepResult};
use super::scenario::Scenario;
use super::simulate::{Once, Round, Simulated, simulate};
use super::special::normal_quantile;
use super::sweep::{CONFIDENCE, Engine, Finished, Governed, Job, Play, Tables, play};
use super::truth::Truth;
use crate::engine::{Band, LawKind, Millis, NoTrace, Over, Ratio, Target, counted};
use crate::lab::runlog::RunLog;
use crate::sim::AgentModel;

/// The original's memory, which the heat maps mark.
const MEMORY_MS: u64 = 300_000;
/// The most runs that a burn fan is drawn from: its quantiles do not need more.
const FAN_RUNS: u32 = 400;
/// The most curves and fans of one picture.
const MOST_CELLS: usize = 6;

fn caption(result: &SweepResult, title: String, law: String) -> Caption {
    Caption {
        title,
        scenario: result.scenario.clone(),
        law,
        runs: result.runs_done.unwrap_or(result.runs).into(),
        rounds: result.rounds.into(),
        seed: result.seed,
        ..Caption::default()
    }
}

fn tokens(juice: Target) -> f64 {
    from_micros(i64::try_from(juice.micros()).unwrap_or(i64::MAX))
}

fn share(slack: Ratio) -> f64 {
    f64::from(slack.ppm()) / 1e6
}

/// More values on an axis than this make a heat map that nobody can read.
pub const MOST_VALUES: usize = 40;

/// The heat maps of one law at one target and the first rest: window by slack. None where the grid has a single window
/// and a single slack.
#[must_use]
pub fn heat(job: &Job<'_>, result: &SweepResult, law: LawKind, juice: Target) -> Option<Heat> {
    let (mut overs, mut slacks) = (job.grid.overs().to_vec(), job.grid.slacks().to_vec());
    overs.sort_unstable();
    slacks.sort_unstable();
    let rest = *job.grid.rests().first()?;
    if overs.len() * slacks.len() < 2 || overs.len().max(slacks.len()) > MOST_VALUES {
        return None;
    }
    let find = |over: Millis, slack: Ratio| {
        let cell = Cell { law, juice, over, slack, rest };
        result.cells.iter().find(|result| result.cell == cell)
    };
    let cells = |value: fn(&CellResult) -> HeatCell| -> Vec<Vec<HeatCell>> {
        let row = |slack: &Ratio| overs.iter().map(|over| find(*over, *slack).map(value).unwrap_or_default()).collect();
        slacks.iter().map(row).collect()
    };
    let panel = |title: &str, unit: &str, better, decimals, cells| HeatPanel {
        title: title.to_owned(),
        unit: unit.to_owned(),
        better,
        scale: Scale::Linear,
        decimals,
        cells,
    };
    let on_rung = cells(|cell| value(cell.figure(Metric::OnRung), 1e4));
    let reversals = cells(|cell| value(cell.figure(Metric::Reversals), 1e6));
    let settle = cells(|cell| HeatCell {
        at_least: cell.settle.is_some_and(|settle| settle.censored > 0),
        ..value(cell.figure(Metric::SettleTokens), 1e12)
    });
    let chosen = result.chosen.iter().filter(|chosen| chosen.juice == juice).find_map(|chosen| {
        let cell = result.cell(chosen.cell).filter(|cell| cell.law == law && cell.rest == rest)?;
        let column = overs.iter().position(|over| *over == cell.over)?;
        Some(HeatPlace { column, row: slacks.iter().position(|slack| *slack == cell.slack)? })
    });
    let legal = job.scenario.derived_at(juice).legal_slack;
    Some(Heat {
        caption: caption(result, format!("How {law} does, by window and slack"), law.name().to_owned()),
        juice: tokens(juice).into(),
        over_ms: overs.iter().map(|over| over.count()).collect(),
        slack: slacks.iter().map(|slack| share(*slack).into()).collect(),
        memory_ms: Some(MEMORY_MS),
        legal: legal.map(|legal| Legal { low: legal.lo.into(), high: legal.hi.into() }),
        chosen,
        panels: vec![
            panel("on a right rung", "% of rounds", Better::High, 1, on_rung),
            panel("reversals", "per 100 rounds", Better::Low, 1, reversals),
            panel("spent before settling", "million output tokens", Better::Low, 2, settle),
        ],
    })
}

/// A figure in units of so many millionths, with the half width of its interval.
fn value(figure: Option<Figure>, unit: f64) -> HeatCell {
    let Some(figure) = figure else { return HeatCell::default() };
    let scaled = |micros: i64| from_micros(micros) * 1e6 / unit;
    let half = figure.interval.map(|(lo, hi)| scaled(hi.saturating_sub(lo)) / 2.0);
    HeatCell { value: scaled(figure.mean).into(), half: half.into(), at_least: false }
}

/// The target in the middle of those swept.
#[must_use]
pub fn middle(job: &Job<'_>) -> Option<Target> {
    let mut juices = job.grid.juices().to_vec();
    juices.sort_unstable_by_key(|juice| juice.micros());
    juices.get((juices.len().max(1) - 1) / 2).copied()
}

/// How the share on right rungs goes with the target, a line for each of a few settings: where targets lie on a rung and
/// where between two. None with fewer than three targets.
#[must_use]
pub fn phase(job: &Job<'_>, result: &SweepResult) -> Option<Chart> {
    let mut juices = job.grid.juices().to_vec();
    juices.sort_unstable_by_key(|juice| juice.micros());
    if juices.len() < 3 {
        return None;
    }
    // the settings that were chosen for some target, each followed over all of them
    let mut shown: Vec<Cell> = Vec::new();
    for cell in notable(result).into_iter().filter_map(|place| result.cell(place)) {
        let same = |other: &Cell| Cell { juice: cell.juice, ..*other } == *cell;
        if shown.len() < MOST_CELLS && !shown.iter().any(same) {
            shown.push(*cell);
        }
    }
    let line = |(at, cell): (usize, &Cell), metric: Metric, unit: f64| {
        let point = |juice: &Target| {
            let wanted = Cell { juice: *juice, ..*cell };
            let found = result.cells.iter().find(|result| result.cell == wanted)?;
            Some((tokens(*juice), from_micros(found.mean(metric)?) * unit))
        };
        let colour = u8::try_from(at).unwrap_or(u8::MAX);
        ChartLine::new(&name(cell, 1), colour, at % 2 == 1, juices.iter().filter_map(point))
    };
    let panel = |title: &str, metric, unit: f64| ChartPanel {
        name: title.to_owned(),
        lines: shown.iter().enumerate().map(|cell| line(cell, metric, unit)).collect(),
        ..ChartPanel::default()
    };
    Some(Chart {
        title: "How the target's place between rungs matters".to_owned(),
        facts: vec![result.scenario.clone(), counted(result.runs, "run").to_string(), format!("seed {}", result.seed)],
        note: "On the left the share of rounds on a right rung, on the right how far blocks of 20 rounds stray from the target, in \
               percent (100 times nats)."
            .to_owned(),
        x: "target, output tokens per turn".to_owned(),
        y: "%".to_owned(),
        panels: vec![panel("on a right rung", Metric::OnRung, 100.0), panel("block error", Metric::BlockErr, 100.0)],
        ..Chart::default()
    })
}

/// The cells that curves and fans are drawn of: the chosen ones, and the original's defaults at each target where the
/// grid has them. At most six.
#[must_use]
pub fn notable(result: &SweepResult) -> Vec<usize> {
    let mut places = Vec::new();
    for chosen in &result.chosen {
        let plain = |cell: &Cell| {
            cell.law == LawKind::Reference
                && cell.juice == chosen.juice
                && cell.over.count() == MEMORY_MS
                && cell.slack.ppm() == 150_000
        };
        places.push(chosen.cell);
        places.extend(result.cells.iter().position(|result| plain(&result.cell)));
    }
    let mut seen = Vec::new();
    places.retain(|place| {
        !seen.contains(place) && {
            seen.push(*place);
            true
        }
    });
    places.truncate(MOST_CELLS);
    places
}

fn name(cell: &Cell, juices: usize) -> String {
    let (over, slack) = (cell.over.count() / 1000, f64::from(cell.slack.ppm()) / 1e4);
    let juice = if juices > 1 { format!(" at {}", tokens(cell.juice)) } else { String::new() };
    format!("{} {over} s {slack} %{juice}", cell.law)
}

/// The settling curves of the cells at these places.
#[must_use]
pub fn settle(job: &Job<'_>, result: &SweepResult, finished: &Finished, places: &[usize]) -> Settle {
    let z = normal_quantile(0.5 + CONFIDENCE / 2.0).unwrap_or(0.0);
    let line = |&place: &usize| {
        let (cell, tally) = (result.cell(place)?, finished.tallies.get(place)?);
        let curve = tally.settling();
        let steps = curve.curve().into_iter().map(|step| SettleStep {
            round: step.round.into(),
            share: step.unsettled.into(),
            low: (step.unsettled - z * step.error).max(0.0).into(),
            high: (step.unsettled + z * step.error).min(1.0).into(),
        });
        let median = tally.settle_summary(job.rounds, CONFIDENCE).and_then(|summary| summary.median);
        Some(SettleLine {
            name: name(cell, job.grid.juices().len()),
            runs: curve.runs(),
            steps: steps.collect(),
            censored: curve.censored_by().iter().flat_map(|(at, runs)| (0..*runs).map(|_| u64::from(*at))).collect(),
            median: median.map(u64::from),
        })
    };
    Settle {
        caption: caption(result, "How soon runs settle on a right rung".to_owned(), String::new()),
        hold: result.hold.into(),
        band: share(result.band).into(),
        scale: Scale::Linear,
        lines: places.iter().filter_map(line).collect(),
    }
}

/// The burn fans of the cells at these places, from the sweep's first runs governed again.
#[must_use]
pub fn burn(job: &Job<'_>, result: &SweepResult, places: &[usize]) -> Burn {
    let runs = result.runs_done.unwrap_or(result.runs).min(FAN_RUNS);
    let budget = job.scenario.governor.budget;
    let panels = places.iter().filter_map(|place| {
        let cell = *result.cell(*place)?;
        Some(BurnPanel { name: name(&cell, job.grid.juices().len()), points: fan(job, &cell, runs)? })
    });
    let mut caption =
        caption(result, "What the rounds cost, and how much of it off the right rung".to_owned(), String::new());
    caption.runs = runs.into();
    Burn { caption, budget: budget.map(|tokens| ufloat(tokens.count())).into(), panels: panels.collect() }
}

/// Quantiles over runs of what had been spent after each of a few dozen rounds; none where there is no band.
fn fan(job: &Job<'_>, cell: &Cell, runs: u32) -> Option<Vec<BurnPoint>> {
    let rounds = job.rounds as usize;
    let every = rounds.div_ceil(50).max(1);
    let marks: Vec<usize> =
        (1..=rounds).filter(|round| *round == 1 || *round == rounds || round % every == 0).collect();
    let mut spent: Vec<[Vec<u64>; 2]> = vec![Default::default(); marks.len()];
    each_run(job, cell, runs, &mut |log, truth| {
        let (mut off, mut round) = (0_u64, 0);
        for (mark, spent) in marks.iter().zip(&mut spent) {
            while round < (*mark).min(log.rounds()) {
                let right = truth.acceptable(round) >> log.rung[round] & 1 == 1;
                off += if right { 0 } else { log.tokens[round + 1] - log.tokens[round] };
                round += 1;
            }
            spent[0].push(off);
            spent[1].push(log.tokens[round]);
        }
    })?;
    let point = |(round, spent): (&usize, [Vec<u64>; 2])| {
        let [off, total] = spent.map(quantiles);
        BurnPoint { round: u64::try_from(*round).unwrap_or(u64::MAX), off, total }
    };
    Some(marks.iter().zip(spent).map(point).collect())
}

/// Governs the first runs of the sweep again, of this cell, and shows each with what was right in it; none where there is no band.
fn each_run(job: &Job<'_>, cell: &Cell, runs: u32, show: &mut dyn FnMut(&RunLog, &Truth)) -> Option<()> {
    let (scenario, rounds) = (job.scenario, job.rounds as usize);
    let tuning = &scenario.governor.tuning;
    let band = tuning.band(cell.juice, cell.slack).ok()?;
    let seen = Band::new(cell.juice, scenario.evaluate.band).ok()?;
    let budget = scenario.governor.budget;
    let (over, start) = (Over::new(cell.over), scenario.plan.start);
    let governed = Governed { band: &band, seen: &seen, over, rest: cell.rest, budget, start };
    let (mut tables, mut truth, mut log) = (Tables::default(), Truth::default(), RunLog::default());
    let (mut scratch, mut end) = (Default::default(), RunEnd::default());
    let mut luck = scenario.agent.luck(job.seed, 0, job.rounds);
    let logs = crate::engine::Law::reads_logs(&cell.law.build());
    for run in 0..runs {
        luck.restart(job.seed, run, job.rounds);
        if job.engine() == Engine::Tables {
            tables.fill(&mut luck, scenario.agent.rungs(), logs);
            tables.govern(&governed, cell.law.tuned(tuning), &mut scratch, &mut log);
        } else {
            let played = Play { scenario, seed: job.seed, run };
            play(&played, &mut luck, &governed, cell.law.tuned(tuning), &mut log, &mut end);
        }
        let ln_mean = |rung, round| luck.ln_mean(rung, u32::try_from(round).unwrap_or(u32::MAX));
        truth.fill(rounds, scenario.agent.rungs(), cell.juice, scenario.evaluate.band, ln_mean).ok()?;
        show(&log, &truth);
    }
    Some(())
}

/// The 5, 25, 50, 75 and 95 % points: the value at the nearest rank, so that it is one that was seen.
fn quantiles(mut values: Vec<u64>) -> [Num; 5] {
    values.sort_unstable();
    let at = |percent: usize| {
        let rank = (values.len() * percent).div_ceil(100).max(1) - 1;
        values.get(rank).map_or(Num::MISSING, |value| Num::whole(*value))
    };
    [at(5), at(25), at(50), at(75), at(95)]
}

/// The staircase of one simulated run.
#[must_use]
pub fn staircase(once: &Once<'_>, run: &Simulated) -> Trace {
    let scenario: &Scenario = once.scenario;
    Trace {
        caption: Caption {
            title: format!("One run of {}, round by round", once.cell.law),
            scenario: scenario.name.clone(),
            law: flags(&once.cell),
            runs: 1,
            rounds: once.rounds.into(),
            seed: once.seed,
            note: format!("run {}", once.run),
            ..Caption::default()
        },
        rungs: scenario.ladder.efforts().iter().map(|effort| effort.word().to_owned()).collect(),
        acceptable: shades(&run.right, scenario.agent.rungs()),
        target: tokens(once.cell.juice).into(),
        slack: share(once.cell.slack).into(),
        scale: Scale::Log,
        rounds: run.rounds.iter().map(step).collect(),
        stop: Some(run.stop.name().to_owned()),
    }
}

/// The staircase of the same run without its noise: every turn as large and as long as its mean, no drift and no faults. None
/// where it cannot be made.
#[must_use]
pub fn still(once: &Once<'_>) -> Option<Trace> {
    // a scenario that was sound is sound without its scatter
    let agent = silenced(once.scenario.agent.spec()).and_then(|spec| AgentModel::new(spec).ok())?;
    let scenario = Scenario { agent, ..once.scenario.clone() };
    let once = Once { scenario: &scenario, ..*once };
    let mut trace = staircase(&once, &simulate(&once, &mut NoTrace).ok()?);
    trace.caption.title = format!("The same run of {} without noise", once.cell.law);
    trace.caption.note = "Every turn as large and as long as its mean; no drift, no faults.".to_owned();
    Some(trace)
}

fn step(round: &Round) -> TraceRound {
    let (verdict, mean) = (round.verdict, round.verdict.decision.evidence.mean);
    let why = match verdict.to.cmp(&verdict.from) {
        std::cmp::Ordering::Less => Why::Harder,
        std::cmp::Ordering::Greater => Why::Softer,
        std::cmp::Ordering::Equal if verdict.pinned => Why::Pinned,
        std::cmp::Ordering::Equal if mean.is_none() => Why::NoTurn,
        std::cmp::Ordering::Equal => Why::Hold,
    };
    let reading = mean.map(|mean| ufloat(mean.total().count()) / ufloat(mean.turns()));
    TraceRound { rung: verdict.from.index(), reading: reading.into(), why }
}

/// Stretches of rounds in which each rung was right.
fn shades(right: &[u64], rungs: usize) -> Vec<Shade> {
    let mut shades = Vec::new();
    for rung in 0..rungs {
        let mut from = None;
        let ends = right.iter().map(|bits| bits >> rung & 1 == 1).chain([false]);
        for (round, is_right) in (1_u64..).zip(ends) {
            match (from, is_right) {
                (None, true) => from = Some(round),
                (Some(first), false) => {
                    shades.push(Shade { rung, from: first, to: round - 1 });
                    from = None;
                }
                (None, false) | (Some(_), true) => {}
            }
        }
    }
    shades
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::grid::{Axes, Grid};
    use crate::lab::sweep::{Engine, summarise, sweep};
    use std::sync::atomic::AtomicBool;

    pub(super) fn with(check: impl Fn(&Job<'_>, &SweepResult, &Finished)) {
        swept(None, check);
    }

    /// A small sweep of two laws, two windows and two slacks, at these targets or the scenario's.
    pub(super) fn swept(juice: Option<Vec<Target>>, check: impl Fn(&Job<'_>, &SweepResult, &Finished)) {
        let text = include_str!("../../scenarios/s02-typical.toml");
        let scenario = Scenario::load(text, "s02-typical.toml").unwrap();
        let axes = Axes {
            juice,
            over: Some(vec![Millis::from_secs(3600), Millis::from_secs(300)]),
            slack: Some(vec![Ratio::from_ppm(150_000), Ratio::from_ppm(300_000)]),
            ..Axes::default()
        };
        let grid: Grid = scenario.grid(axes).unwrap();
        let (scenario, grid) = (&scenario, &grid);
        let job = Job { scenario, grid, runs: 20, rounds: 60, seed: 1, threads: 1, engine: Engine::Tables };
        let finished = sweep(&job, &AtomicBool::new(false), &|_| {}).unwrap();
        check(&job, &summarise(&job, &finished).unwrap(), &finished);
    }

    #[test]
    fn a_heat_map_holds_the_cells_in_rising_order() {
        with(|job, result, _| {
            let heat = heat(job, result, LawKind::Reset, middle(job).unwrap()).unwrap();
            assert_eq!(heat.over_ms, [300_000, 3_600_000]);
            let cell = result.cells.iter().find(|r| {
                r.cell.law == LawKind::Reset && r.cell.over.count() == 3_600_000 && r.cell.slack.ppm() == 150_000
            });
            let expected = from_micros(cell.unwrap().mean(Metric::OnRung).unwrap()) * 100.0;
            assert!((heat.panels[0].cells[0][1].value.get().unwrap() - expected).abs() < 1e-5);
            assert_eq!(heat.panels.len(), 3);
            assert!(heat.legal.is_some());
        });
    }

    #[test]
    fn curves_and_fans_are_of_the_chosen_cell_and_the_defaults() {
        with(|job, result, finished| {
            let places = notable(result);
            assert_eq!(places.len(), 2);
            assert_eq!(places[0], result.chosen[0].cell);
            let settle = settle(job, result, finished, &places);
            assert_eq!((settle.lines.len(), settle.lines[0].runs), (2, 20));
            for (line, place) in settle.lines.iter().zip(&places) {
                let unsettled = 20 - finished.tallies[*place].settling().histogram().iter().sum::<u64>();
                assert_eq!(line.censored.len() as u64, unsettled);
            }
            let burn = burn(job, result, &places);
            let last = burn.panels[0].points.last().unwrap();
            assert_eq!(last.round, 60);
            // the fan is made of the very runs of the sweep: its spread holds their mean
            let mean = from_micros(result.cells[places[0]].mean(Metric::Tokens).unwrap());
            let (low, high) = (last.total[0].get().unwrap(), last.total[4].get().unwrap());
            assert!(low < mean && mean < high, "{low} {mean} {high}");
            assert!(last.off[2].get().unwrap() <= last.total[2].get().unwrap());
        });
    }

    #[test]
    fn quantiles_are_values_that_were_seen() {
        let whole = |n| Num::whole(n);
        assert_eq!(quantiles((1..=100).rev().collect()), [5, 25, 50, 75, 95].map(whole));
        assert_eq!(quantiles(vec![7]), [7; 5].map(whole));
        assert_eq!(quantiles(vec![]), [Num::MISSING; 5]);
    }

    #[test]
    fn stretches_of_right_rungs_are_shaded() {
        let shade = |rung, from, to| Shade { rung, from, to };
        assert_eq!(shades(&[0b01, 0b11, 0b10, 0b01], 2), [shade(0, 1, 2), shade(0, 4, 4), shade(1, 2, 3)]);
    }

    #[test]
    fn a_staircase_tells_each_round() {
        with(|job, _, _| {
            let cell = job.scenario.base();
            let once = Once { scenario: job.scenario, cell, run: 0, rounds: 30, seed: 1 };
            let run = simulate(&once, &mut NoTrace).unwrap();
            let trace = staircase(&once, &run);
            assert_eq!((trace.rounds.len(), trace.rungs.len()), (30, 6));
            for pair in trace.rounds.windows(2) {
                let moved = pair[1].rung.cmp(&pair[0].rung);
                assert_eq!(moved == std::cmp::Ordering::Less, pair[0].why == Why::Harder);
                assert_eq!(moved == std::cmp::Ordering::Greater, pair[0].why == Why::Softer);
            }
            let still = still(&once).unwrap();
            assert_eq!(still.rounds.len(), 30);
            assert_ne!(trace.rounds[0].reading, still.rounds[0].reading);
            // no seed changes what has no luck
            assert_eq!(still.rounds, super::still(&Once { seed: 9, run: 3, ..once }).unwrap().rounds);
        });
    }
}
