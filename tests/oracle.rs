//! The oracle is the ceiling: always right, and never worse than anything.
#![cfg(feature = "lab")]

use std::path::Path;
use std::sync::atomic::AtomicBool;

use flyball::engine::{LawKind, Millis, Ratio};
use flyball::lab::grid::Axes;
use flyball::lab::metric::Metric;
use flyball::lab::scenario::Scenario;
use flyball::lab::sweep::{Engine, Job, sweep};

#[test]
fn nothing_beats_the_oracle() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    for entry in std::fs::read_dir(folder).unwrap() {
        let scenario = Scenario::read(&entry.unwrap().path()).unwrap();
        let axes = Axes {
            law: Some(LawKind::ALL.to_vec()),
            over: Some([300, 3600].map(Millis::from_secs).to_vec()),
            slack: Some([150_000, 300_000].map(Ratio::from_ppm).to_vec()),
            ..Axes::default()
        };
        let grid = scenario.grid(axes).unwrap();
        // a debug build asserts inside that each oracle's run scores an on-rung share of one
        let job =
            Job { scenario: &scenario, grid: &grid, runs: 10, rounds: 80, seed: 9, threads: 0, engine: Engine::Tables };
        let finished = sweep(&job, &AtomicBool::new(false), &|_| {}).unwrap();
        for tally in &finished.tallies {
            let mean = |metric| tally.summary(metric, 0.95).unwrap().mean;
            assert!(mean(Metric::ExcessLog) >= 0.0, "{}", scenario.name);
            assert!((0.0..=1.0).contains(&mean(Metric::OnRung)), "{}", scenario.name);
        }
    }
}
