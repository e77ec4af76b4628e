//! The study of the laws: each law on each scenario, on a random family of loops, and on agents fitted to real logs.
//!
//! It is one table, made by one command, so that a claim about a law can be made again. It is not a choice of settings for
//! one agent: that is a sweep's. Every law has the settings that it is known to do well with ([`entries`]); all meet the same
//! luck. Means are over scenarios with equal weight; their intervals take scenarios for independent, which their seeds
//! make them. Units: percent of rounds, reversals per 100 rounds, rounds, nats.

mod loops;
mod markdown;

use std::sync::atomic::{AtomicBool, Ordering};

use thiserror::Error;

pub use loops::{on_all, scenario};
pub use markdown::render;

use super::family::member;
use super::grid::{Axes, GridError};
use super::metric::Metric;
use super::scenario::Scenario;
use super::stats::Estimate;
use super::sweep::{CONFIDENCE, Engine, Job, SweepError, sweep};
use super::tally::CellTally;
use crate::engine::laws::Tuning;
use crate::engine::{Law as _, LawKind, Millis, Ratio, Target};

/// What is shown of every law, in this order.
pub const SHOWN: [Metric; 10] = [
    Metric::OnRung,
    Metric::Reversals,
    Metric::SettleRounds,
    Metric::ExcessLog,
    Metric::BlockErr,
    Metric::OffTokens,
    Metric::Bias,
    Metric::SettleTokens,
    Metric::Settled,
    Metric::Moves,
];

/// A law and what it is set to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What it is called in the table.
    pub name: &'static str,
    /// The law.
    pub law: LawKind,
    /// Its window.
    pub over: Millis,
    /// Its slack.
    pub slack: Ratio,
    /// What else is set.
    pub tuning: Tuning,
}

/// Every law with the settings that the control study found for it.
#[must_use]
pub fn entries() -> Vec<Entry> {
    let entry = |law: LawKind, over, slack| Entry {
        name: law.name(),
        law,
        over: Millis::from_secs(over),
        slack: Ratio::from_ppm(slack),
        tuning: Tuning::USUAL,
    };
    let mut entries = vec![
        entry(LawKind::Fixed, 300, 150_000),
        entry(LawKind::Reference, 300, 150_000),
        entry(LawKind::Reset, 3600, 300_000),
        entry(LawKind::Confirm, 1800, 250_000),
    ];
    let estimating = LawKind::ALL.into_iter().filter(|law| law.build().reads_logs());
    entries.extend(estimating.map(|law| entry(law, 300, 250_000)));
    let mut dithered = entry(LawKind::Stride, 300, 250_000);
    dithered.name = "stride, dither";
    // a knob of this law, and a value within its bounds
    let _ = dithered.tuning.set(LawKind::Stride, "dither", 1_000_000);
    entries.push(dithered);
    entries
}

/// What is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Runs of each law on each scenario.
    pub runs: u32,
    /// Random families, by their seeds: their members and the luck of these come from it. What was tuned on one is judged on another.
    pub families: Vec<u64>,
    /// Members of each family, two runs each; 0 for none.
    pub loops: u32,
    /// Rounds of a run.
    pub rounds: u32,
    /// What all luck comes from on scenarios.
    pub seed: u64,
    /// Threads; 0 takes one for each core.
    pub threads: usize,
}

/// Runs of each member of the family.
const FAMILY_RUNS: u32 = 2;

/// What a law came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Line([Option<Estimate>; SHOWN.len()]);

impl Line {
    fn of(tally: &CellTally) -> Self {
        Self(SHOWN.map(|metric| tally.summary(metric, CONFIDENCE)))
    }

    /// One of what is [`SHOWN`].
    #[must_use]
    pub fn get(&self, metric: Metric) -> Option<Estimate> {
        let place = SHOWN.iter().position(|shown| *shown == metric)?;
        self.0.get(place).copied().flatten()
    }
}

/// One scenario at one target, every entry on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The scenario, and what was changed.
    pub name: String,
    /// What this row is.
    pub kind: Kind,
    /// A line for each entry.
    pub lines: Vec<Line>,
}

/// What a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One of the canonical scenarios, by its number; the bound of any law, percent of rounds in thousandths.
    Canonical(u32, Option<u32>),
    /// A fitted agent with the target on one of its rungs.
    OnRung,
    /// The same half way between two of its rungs.
    MidGap,
    /// Any other scenario.
    Other,
}

/// A member of the family: whether it drifts, and what each entry came to, in the order of [`SHOWN`].
#[derive(Clone, Debug, PartialEq)]
pub struct MemberRow {
    /// Whether its level moves.
    pub drifts: bool,
    /// Means over its runs, by entry.
    pub means: Vec<[f64; SHOWN.len()]>,
}

/// A random family.
#[derive(Clone, Debug, PartialEq)]
pub struct Family {
    /// Its seed.
    pub seed: u64,
    /// Its members.
    pub members: Vec<MemberRow>,
}

/// All of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Study {
    /// What was run.
    pub plan: Plan,
    /// The laws.
    pub entries: Vec<Entry>,
    /// The scenarios.
    pub rows: Vec<Row>,
    /// The random families.
    pub families: Vec<Family>,
}

/// Why there is no study.
#[derive(Debug, Error)]
pub enum StudyError {
    /// A grid that is none.
    #[error("{0}")]
    Grid(#[from] GridError),
    /// A sweep that cannot be run.
    #[error("{0}")]
    Sweep(#[from] SweepError),
    /// An agent that cannot be.
    #[error("a made-up agent is at fault, which is a fault of this program")]
    Member,
    /// It was stopped.
    #[error("it was stopped before it was done")]
    Stopped,
}

/// Shares of rounds on a right rung, thousandths of a percent, that no law can pass who is not told where on the ladder
/// the target is: S01 to S17, from the control study's filter that knows noise, ladder and drift process.
const BOUNDS: [u32; 17] = [
    99_400, 99_000, 99_400, 99_500, 97_700, 98_000, 99_200, 98_700, 97_300, 95_100, 92_900, 99_500, 99_400, 98_700,
    99_100, 99_500, 98_500,
];

/// The same of the random family: noise, ladder and path of the drift known.
pub const FAMILY_BOUND: f64 = 94.5;

/// Runs every entry on every scenario and on the family. `done` is told how many of how many parts are done.
///
/// # Errors
/// [`StudyError`].
pub fn study(
    scenarios: &[Scenario],
    plan: &Plan,
    stop: &AtomicBool,
    done: &(dyn Fn(usize, usize) + Sync),
) -> Result<Study, StudyError> {
    let (entries, mut rows) = (entries(), Vec::new());
    let families: &[u64] = if plan.loops == 0 { &[] } else { &plan.families };
    let all = scenarios.len() + families.len();
    for (place, scenario) in scenarios.iter().enumerate() {
        rows.extend(rows_of(scenario, &entries, plan, place, stop)?);
        done(place + 1, all);
    }
    let mut found = Vec::new();
    for (place, &seed) in families.iter().enumerate() {
        // one after the other, because each sweep has threads of its own
        let members = (0..plan.loops).map(|index| member_row(seed, index, &entries, plan, stop));
        found.push(Family { seed, members: members.collect::<Result<_, _>>()? });
        done(scenarios.len() + place + 1, all);
    }
    Ok(Study { plan: plan.clone(), entries, rows, families: found })
}

/// The rows of one scenario: one, or where it is fitted to logs one for each target and for each way that effort may act.
fn rows_of(
    scenario: &Scenario,
    entries: &[Entry],
    plan: &Plan,
    place: usize,
    stop: &AtomicBool,
) -> Result<Vec<Row>, StudyError> {
    let seed = plan.seed.wrapping_add(place as u64);
    let row = |scenario: &Scenario, name: String, kind, juice| -> Result<Row, StudyError> {
        let tallies = tallies(scenario, entries, juice, (plan.runs, plan.rounds, seed, plan.threads), stop)?;
        Ok(Row { name, kind, lines: tallies.iter().map(Line::of).collect() })
    };
    if !scenario.has_assumed_rungs() {
        let kind = number(&scenario.name).map_or(Kind::Other, |number| {
            let bound = BOUNDS.get((number as usize).wrapping_sub(1)).copied();
            Kind::Canonical(number, bound)
        });
        return Ok(vec![row(scenario, scenario.name.clone(), kind, scenario.governor.juice)?]);
    }
    let mut rows = Vec::new();
    let all = on_all(scenario)?;
    for (scenario, what) in [(Some(scenario), "long turns"), (all.as_ref(), "all turns")] {
        let Some(scenario) = scenario else { continue };
        for (kind, juice) in targets(scenario) {
            rows.push(row(scenario, format!("{}, effort on {what}", scenario.name), kind, juice)?);
        }
    }
    Ok(rows)
}

/// The number of a canonical scenario, from a name such as `s07-long-rounds`.
fn number(name: &str) -> Option<u32> {
    let digits: String = name.strip_prefix('s')?.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// Every rung's mean inside the ladder, and half way between neighbours.
fn targets(scenario: &Scenario) -> Vec<(Kind, Target)> {
    let mut means = scenario.derived().means;
    means.sort_by(f64::total_cmp);
    let target = |tokens: f64| Target::from_micros(super::fixed::micros(tokens).unsigned_abs());
    let on = means.iter().map(|mean| (Kind::OnRung, target(*mean)));
    let between = means.windows(2).map(|pair| (Kind::MidGap, target((pair[0] * pair[1]).sqrt())));
    on.chain(between).collect()
}

/// Every entry on one scenario; those with the same settings together.
fn tallies(
    scenario: &Scenario,
    entries: &[Entry],
    juice: Target,
    (runs, rounds, seed, threads): (u32, u32, u64, usize),
    stop: &AtomicBool,
) -> Result<Vec<CellTally>, StudyError> {
    let mut tallies = vec![CellTally::default(); entries.len()];
    let mut left: Vec<usize> = (0..entries.len()).collect();
    while let Some(&first) = left.first() {
        let first = &entries[first];
        let alike = |place: &usize| {
            let entry = &entries[*place];
            (entry.over, entry.slack, entry.tuning) == (first.over, first.slack, first.tuning)
        };
        let (group, others): (Vec<usize>, Vec<usize>) = left.iter().partition(|place| alike(place));
        let mut scenario = scenario.clone();
        scenario.governor.tuning = first.tuning;
        let axes = Axes {
            law: Some(group.iter().map(|place| entries[*place].law).collect()),
            juice: Some(vec![juice]),
            over: Some(vec![first.over]),
            slack: Some(vec![first.slack]),
            ..Axes::default()
        };
        let grid = scenario.grid(axes)?;
        let job = Job { scenario: &scenario, grid: &grid, runs, rounds, seed, threads, engine: Engine::Tables };
        let finished = sweep(&job, stop, &|_| {})?;
        if stop.load(Ordering::Relaxed) {
            return Err(StudyError::Stopped);
        }
        for (place, tally) in group.iter().zip(finished.tallies) {
            tallies[*place] = tally;
        }
        left = others;
    }
    Ok(tallies)
}

fn member_row(
    family: u64,
    index: u32,
    entries: &[Entry],
    plan: &Plan,
    stop: &AtomicBool,
) -> Result<MemberRow, StudyError> {
    let member = member(family, index).map_err(|_| StudyError::Member)?;
    let (drifts, juice) = (member.drifts, member.target);
    let scenario = scenario(member, "family", plan.rounds, FAMILY_RUNS)?;
    // luck of its own for each member
    let seed = family.wrapping_add(u64::from(index) << 20);
    let threads = if plan.threads == 1 { 1 } else { FAMILY_RUNS as usize };
    let tallies = tallies(&scenario, entries, juice, (FAMILY_RUNS, plan.rounds, seed, threads), stop)?;
    let means = |tally: &CellTally| SHOWN.map(|metric| tally.summary(metric, CONFIDENCE).map_or(0.0, |one| one.mean));
    Ok(MemberRow { drifts, means: tallies.iter().map(means).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_law_is_in_it() {
        let entries = entries();
        assert!(LawKind::ALL.iter().all(|law| entries.iter().any(|entry| entry.law == *law)));
    }

    #[test]
    fn a_study_is_the_same_on_any_number_of_threads_and_its_page_has_every_row() {
        let text = include_str!("../../../scenarios/s02-typical.toml");
        let fitted = include_str!("../../../scenarios/gpt-5.5.toml");
        let scenarios =
            [Scenario::load(text, "s02-typical.toml").unwrap(), Scenario::load(fitted, "gpt-5.5.toml").unwrap()];
        let plan = |threads| Plan { runs: 4, families: vec![3, 8], loops: 6, rounds: 40, seed: 3, threads };
        let run = |threads| study(&scenarios, &plan(threads), &AtomicBool::new(false), &|_, _| {}).unwrap();
        let (one, two) = (run(1), run(2));
        assert_eq!((&one.rows, &one.families), (&two.rows, &two.families));
        assert_ne!(one.families[0].members, one.families[1].members);
        let page = render(&one, "flyball study");
        for needle in [
            "s02-typical",
            "stride3",
            "gpt-5.5, effort on all turns",
            "99.0",
            "## Random family 3",
            "## Random family 8",
        ] {
            assert!(page.contains(needle), "{needle}\n{page}");
        }
    }

    #[test]
    fn means_are_headed_by_the_scenarios_that_they_are_over() {
        let line = || Line([None; SHOWN.len()]);
        let headed = |numbers: &[u32]| {
            let entries = entries();
            let row = |&number: &u32| Row {
                name: format!("s{number:02}-one"),
                kind: Kind::Canonical(number, None),
                lines: entries.iter().map(|_| line()).collect(),
            };
            let rows = numbers.iter().map(row).collect();
            let plan = Plan { runs: 1, families: vec![], loops: 0, rounds: 1, seed: 1, threads: 1 };
            let page = render(&Study { plan, entries: entries.clone(), rows, families: vec![] }, "flyball study");
            let heads = page.lines().filter_map(|line| line.strip_prefix("## Means over ").map(str::to_owned));
            heads.collect::<Vec<_>>()
        };
        let all: Vec<u32> = (1..=18).chain([18]).collect();
        assert_eq!(headed(&all), ["S01 to S16", "S01 to S18"]);
        assert_eq!(headed(&all[..16]), ["S01 to S16"]);
        assert_eq!(headed(&[13]), ["s13-one"]);
        assert_eq!(headed(&[2, 17]), ["s02-one", "s02-one, s17-one"]);
        assert_eq!(headed(&[17]), ["s17-one"]);
    }

    #[test]
    fn effort_on_all_turns_moves_the_short_ones_as_far_as_the_long() {
        let fitted = Scenario::load(include_str!("../../../scenarios/gpt-5.5.toml"), "gpt-5.5.toml").unwrap();
        let all = on_all(&fitted).unwrap().unwrap();
        let of = |scenario: &Scenario, rung: usize| scenario.agent.spec().rungs[rung].size.components().unwrap();
        let ((narrow, wide, _), (other, same, moves)) = (of(&fitted, 3), of(&all, 3));
        assert_eq!((wide, moves), (same, crate::sim::Moves::All));
        assert!((narrow.mu - other.mu - 0.2).abs() < 1e-9, "{narrow:?} {other:?}");
        assert_eq!(of(&fitted, 0), of(&all, 0), "what was measured stays");
        assert!(
            on_all(&Scenario::load(include_str!("../../../scenarios/s02-typical.toml"), "s02-typical.toml").unwrap())
                .unwrap()
                .is_none()
        );
    }
}
