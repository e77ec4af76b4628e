//! `cargo bench --bench ratios`: the figures that are asked for, as ratios inside one process, side by side with what was
//! measured. Peers and engine do the same work, in turns, and the least of several repetitions counts. First it is checked
//! that the peers agree with the engine; ends with 1 where they do not, or where a gate fails.
#![expect(clippy::print_stdout, reason = "a table is what this program is for")]
#![expect(clippy::disallowed_methods, reason = "it measures time")]

mod agree;
mod counted;
mod gate;
mod python;
mod race;
mod whole;

#[path = "../peers/naive.rs"]
mod naive;
#[path = "../ours/window.rs"]
mod ours;
#[path = "../peers/window.rs"]
mod peers;
#[path = "../ours/single.rs"]
mod single;
#[path = "../ours/steady.rs"]
mod steady;
#[path = "../ours/swept.rs"]
mod swept;
#[path = "../ours/typical.rs"]
mod typical;

use std::error::Error;
use std::hint::black_box;
use std::process::ExitCode;

use flyball::engine::{Band, LawKind};
use flyball::lab::scenario::Scenario;
use gate::Gate;
use naive::{Agent, SETTINGS};
use peers::Every;
use race::{Contestant, race};
use steady::Steady;
use swept::{grid, swept};
use typical::ROUNDS;

/// Repetitions of each contestant.
const TIMES: usize = 25;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    if std::env::args().any(|word| word == whole::ALONE) {
        println!("{}", whole::alone()?);
        return Ok(ExitCode::SUCCESS);
    }
    let scenario = typical::scenario()?;
    if counted::asked(&scenario)? {
        return Ok(ExitCode::SUCCESS);
    }
    let agreed = agreement(&scenario)?;
    println!("\n{}", gate::head());
    let mut passed = agreed;
    for part in [windows as fn(&Scenario) -> Part, sweeps, estimating, steadiness, whole_grid, counted::gates] {
        for gate in part(&scenario)? {
            println!("{}", gate.line());
            passed &= gate.passes() != Some(false);
        }
    }
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

type Part = Result<Vec<Gate>, Box<dyn Error>>;

/// Whether both peers agree with the tables.
fn agreement(scenario: &Scenario) -> Result<bool, Box<dyn Error>> {
    let (agent, mut tables) = (Agent::new()?, Steady::new(scenario, ROUNDS)?);
    let ours: Vec<_> = (0..2000).map(|run| tables.figures(1, run)).collect();
    let naive: Vec<_> = (0..2000).map(|seed| agent.run(&SETTINGS, seed, ROUNDS).figures()).collect();
    let ours = agree::means(&ours);
    let mut agreed = true;
    let python = python::lean(100, 1).map(|told| told.figures);
    for (name, peer) in [("naive Rust", Some(naive)), ("lean Python", python)] {
        let Some(peer) = peer.map(|runs| agree::means(&runs)) else {
            println!("{name}: skipped, there is no python3");
            continue;
        };
        let apart = agree::apart(ours, peer);
        for (figure, word) in agree::FIGURES.iter().enumerate() {
            let fine = apart[figure] <= agree::TOLERANCE;
            agreed &= fine;
            println!(
                "{name:<12} {word:<21} {:>9.3}, tables {:>9.3}: {:.1} standard errors apart, {} allowed{}",
                peer[figure].0,
                ours[figure].0,
                apart[figure],
                agree::TOLERANCE,
                if fine { "" } else { "  DISAGREES" }
            );
        }
    }
    Ok(agreed)
}

/// The averaging path.
fn windows(_: &Scenario) -> Part {
    let reports = &peers::reports();
    let meter = |every: usize, occupancy: u64| -> Contestant<'_> {
        Box::new(move || pushed(ours::meter(reports, every, 1000 * occupancy), reports))
    };
    let [by_20, plain, counter] = race(
        TIMES,
        [
            meter(20, 64),
            Box::new(|| pushed(peers::plain(reports, Every(20)), reports)),
            Box::new(|| {
                black_box(peers::counter(reports, Every(20)));
                pushed(0.0, reports)
            }),
        ],
    );
    let [each_64, each_1k, each_16k] = race(TIMES, [meter(1, 64), meter(1, 1024), meter(1, 16_384)]);
    let few = &reports[..50_000];
    let [rescan] = race(3, [Box::new(|| pushed(peers::rescan(few, Every(1), 1_024_000), few))]);
    Ok(vec![
        Gate::at_most("push x 20 and a mean, a push, over plain sums", 4.0, 2.7, "x", Some(by_20 / plain)),
        Gate::at_most("the same over a counter in memory", 10.0, 6.0, "x", Some(by_20 / counter)),
        Gate::at_most("push and a mean at every push, over a counter", 25.0, 18.0, "x", Some(each_64 / counter)),
        Gate::at_most("the same with 16384 reports in the window, over 64", 1.3, 1.05, "x", Some(each_16k / each_64)),
        Gate::at_least("the same with 1024 reports, against going through them", 40.0, 100.0, Some(rescan / each_1k)),
    ])
}

/// Reports done.
fn pushed(mean: f64, reports: &[(u32, u32)]) -> f64 {
    black_box(mean);
    reports.iter().map(|_| 1.0).sum()
}

/// Sweeps and single runs against the peers, in nanoseconds for one turn of one cell.
fn sweeps(scenario: &Scenario) -> Part {
    let (agent, band) = (Agent::new()?, Band::new(scenario.governor.juice, scenario.governor.slack)?);
    let reference = |sizes| grid(scenario, LawKind::Reference, sizes);
    let (thousand, ten) = (reference([10, 10, 10])?, reference([1, 10, 1])?);
    let turns = |runs: u32| -> f64 {
        let luck = (0..runs).map(|run| scenario.agent.luck(1, run, ROUNDS));
        luck.map(|luck| (0..ROUNDS).map(|round| f64::from(luck.turns(0, round))).sum::<f64>()).sum()
    };
    let (eight, ten_runs) = (turns(8), turns(10));
    let (mut seed, mut luck, mut tables) = (0, scenario.agent.luck(1, 0, ROUNDS), Steady::new(scenario, ROUNDS)?);
    // small pieces: on a machine that others use, few of them are interrupted
    let [large, small, machine, alone, naive] = race(
        TIMES,
        [
            Box::new(|| done(swept(scenario, &thousand, 8, 1).is_ok(), 1000.0 * eight)),
            Box::new(|| done(swept(scenario, &ten, 10, 1).is_ok(), 10.0 * ten_runs)),
            Box::new(|| {
                for run in 0..10 {
                    luck.restart(1, run, ROUNDS);
                    black_box(single::machine(scenario, &mut luck, band));
                }
                ten_runs
            }),
            Box::new(|| {
                (0..10).for_each(|run| {
                    black_box(tables.figures(1, run));
                });
                ten_runs
            }),
            Box::new(|| {
                seed += 1;
                let of = |run: u64| black_box(agent.run(&SETTINGS, seed * 1000 + run, ROUNDS)).turns;
                (0..50).map(of).sum::<f64>()
            }),
        ],
    );
    let (grid, job) = (&thousand, scenario);
    let threads =
        |threads| -> Contestant<'_> { Box::new(move || done(swept(job, grid, 8, threads).is_ok(), 1000.0 * eight)) };
    let [single_thread, two] = race(5, [threads(1), threads(2)]);
    let python = python::lean(5, 5).map(|told| told.ns_per_turn);
    println!(
        "ns for a turn of a cell: sweep of 1000 cells {large:.2}, of 10 cells {small:.1}, one cell from \
         tables {alone:.1}, machine {machine:.1}, naive {naive:.1}, lean Python {:.0}",
        python.unwrap_or(f64::NAN)
    );
    let best = alone.min(machine);
    Ok(vec![
        Gate::at_least("sweep of 1000 cells, a core, against naive Rust", 15.0, 30.0, Some(naive / large)),
        Gate::at_least("the same against lean Python", 500.0, 1500.0, python.map(|python| python / large)),
        Gate::at_least("sweep of 10 cells against naive Rust", 3.0, 6.0, Some(naive / small)),
        Gate::at_least("single run against naive Rust", 1.4, 2.0, Some(naive / best)),
        Gate::at_least("single run against lean Python", 50.0, 95.0, python.map(|python| python / best)),
        Gate::at_least("two threads against one (judge on a quiet machine)", 1.5, 1.85, Some(single_thread / two)),
    ])
}

/// Laws that estimate against the original's, each over 1000 cells on one core, scores and sums included.
fn estimating(scenario: &Scenario) -> Part {
    let laws = [LawKind::Reference, LawKind::Stride, LawKind::Stride3, LawKind::Evidence, LawKind::Model];
    let mut grids = Vec::new();
    for law in laws {
        grids.push(grid(scenario, law, [10, 10, 10])?);
    }
    let rounds = 1000.0 * 4.0 * f64::from(ROUNDS);
    let contestant = |law: usize| -> Contestant<'_> {
        let grid = &grids[law];
        Box::new(move || done(swept(scenario, grid, 4, 1).is_ok(), rounds))
    };
    let [reference, stride, stride3, evidence, model] = race(TIMES / 3, std::array::from_fn(contestant));
    println!(
        "ns for a round of a cell: reference {reference:.0}, stride {stride:.0}, stride3 {stride3:.0}, evidence \
         {evidence:.0}, model {model:.0}"
    );
    Ok(vec![
        Gate::at_least("sweep of 1000 cells by stride, over reference", 1.0 / 6.0, 0.25, Some(reference / stride)),
        Gate::at_least("the same by stride3", 1.0 / 6.0, 0.25, Some(reference / stride3)),
    ])
}

/// Units done, or none where it failed, which no gate survives.
fn done(fine: bool, units: f64) -> f64 {
    if fine { units } else { 0.0 }
}

/// Allocations of a run once buffers are warm.
fn steadiness(scenario: &Scenario) -> Part {
    let mut steady = Steady::new(scenario, ROUNDS)?;
    for run in 0..20 {
        steady.run(1, run, 20)?;
    }
    let mut outcome = Ok(());
    let counted = allocation_counter::measure(|| outcome = (20..120).try_for_each(|run| steady.run(1, run, 20)));
    outcome?;
    let count = f64::from(u32::try_from(counted.count_total)?) / 100.0;
    Ok(vec![Gate::at_most("allocations of a run after a warm-up", 0.0, 0.0, "", Some(count))])
}

/// The whole of it: 1000 cells, 1000 runs, 200 rounds, 20 turns.
fn whole_grid(_: &Scenario) -> Part {
    let whole::Told { seconds, cpu, peak } = whole::measure(2)?;
    println!("the whole grid took {:.1} s of processor time on both threads together", cpu.unwrap_or(f64::NAN));
    Ok(vec![
        Gate::at_most("4e9 turns (1000 cells x 1000 runs) on two threads", 8.0, 3.0, " s", seconds),
        Gate::at_most("peak memory of that", 64.0, 16.0, " MB", peak),
    ])
}
