//! The two engines of a sweep must come to the same bytes, on every scenario and any number of threads.
#![cfg(feature = "lab")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::Path;
use std::sync::atomic::AtomicBool;

use flyball::engine::{LawKind, Millis, Ratio};
use flyball::lab::grid::{Axes, Grid};
use flyball::lab::report::json;
use flyball::lab::scenario::Scenario;
use flyball::lab::sweep::{Engine, Job, summarise, sweep};

fn scenarios() -> Vec<Scenario> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| Scenario::read(path).unwrap()).collect()
}

fn axes() -> Axes {
    Axes {
        law: Some(LawKind::ALL.to_vec()),
        over: Some([60, 300, 3600].map(Millis::from_secs).to_vec()),
        slack: Some([150_000, 300_000].map(Ratio::from_ppm).to_vec()),
        ..Axes::default()
    }
}

fn bytes(scenario: &Scenario, grid: &Grid, runs: u32, engine: Engine, threads: usize) -> String {
    let job = Job { scenario, grid, runs, rounds: 60, seed: 7, threads, engine };
    let finished = sweep(&job, &AtomicBool::new(false), &|_| {}).unwrap();
    let mut bytes = Vec::new();
    json::write(&summarise(&job, &finished).unwrap(), &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn tables_and_machine_agree_on_every_scenario() {
    for scenario in scenarios() {
        let grid = scenario.grid(axes()).unwrap();
        let tables = bytes(&scenario, &grid, 3, Engine::Tables, 1);
        assert!(tables == bytes(&scenario, &grid, 3, Engine::Machine, 2), "{}", scenario.name);
    }
}

#[test]
fn a_budget_stops_both_engines_in_the_same_round() {
    for mut scenario in scenarios() {
        scenario.governor.budget = Some(flyball::engine::Tokens::new(400_000));
        let grid = scenario.grid(axes()).unwrap();
        let tables = bytes(&scenario, &grid, 2, Engine::Tables, 1);
        assert!(tables == bytes(&scenario, &grid, 2, Engine::Machine, 1), "{}", scenario.name);
    }
}

#[test]
fn threads_change_nothing() {
    let scenario = &scenarios()[1];
    let grid = scenario.grid(axes()).unwrap();
    let one = bytes(scenario, &grid, 40, Engine::Tables, 1);
    for threads in [2, 5] {
        assert!(one == bytes(scenario, &grid, 40, Engine::Tables, threads), "{threads} threads");
    }
}
