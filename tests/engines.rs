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
        over: Some([60, 3600].map(Millis::from_secs).to_vec()),
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
        let tables = bytes(&scenario, &grid, 2, Engine::Tables, 1);
        assert!(tables == bytes(&scenario, &grid, 2, Engine::Machine, 2), "{}", scenario.name);
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
fn what_is_set_holds_in_both_engines() {
    let mut scenario = scenarios().into_iter().find(|scenario| scenario.name == "s04-coarse-mid-gap").unwrap();
    let plain = scenario.grid(axes()).unwrap();
    let before = bytes(&scenario, &plain, 3, Engine::Tables, 1);
    let tuning = &mut scenario.governor.tuning;
    (tuning.cooldown, tuning.slack_above) = (2, Some(Ratio::from_ppm(400_000)));
    tuning.set(LawKind::Stride, "dither", 1_000_000).unwrap();
    tuning.set(LawKind::Evidence, "z", 1_500_000).unwrap();
    let grid = scenario.grid(axes()).unwrap();
    let tables = bytes(&scenario, &grid, 3, Engine::Tables, 1);
    assert!(tables == bytes(&scenario, &grid, 3, Engine::Machine, 2) && tables != before);
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

#[test]
fn rounds_of_months_are_still_the_same_rounds() {
    // 0.001 tokens a second: a round lasts longer than 2^32 milliseconds
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/s02-typical.toml");
    let text = std::fs::read_to_string(path).unwrap().replace("tokens_per_second = 70", "tokens_per_second = 0.001");
    let scenario = Scenario::load(&text, "slow.toml").unwrap();
    let grid = scenario.grid(axes()).unwrap();
    assert!(bytes(&scenario, &grid, 3, Engine::Tables, 1) == bytes(&scenario, &grid, 3, Engine::Machine, 1));
}
