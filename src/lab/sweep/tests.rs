//! The sweep as a whole: order, precision, threads.

use super::*;
use crate::engine::{LawKind, Millis, Ratio};
use crate::lab::grid::Axes;
use crate::lab::metric::Metric;
use crate::lab::scenario::Scenario;
use std::sync::atomic::AtomicBool;

#[test]
fn a_sweep_stops_where_its_figures_are_narrow_and_equals_one_of_so_many_runs() {
    let text = include_str!("../../../scenarios/s06-short-rounds.toml");
    let scenario = Scenario::load(text, "x.toml").unwrap();
    let axes = Axes {
        law: Some(vec![LawKind::Reference, LawKind::Reset]),
        over: Some(vec![Millis::from_secs(300)]),
        slack: Some(vec![Ratio::from_ppm(300_000)]),
        ..Axes::default()
    };
    let grid = scenario.grid(axes).unwrap();
    let of = |runs, threads| Job {
        scenario: &scenario,
        grid: &grid,
        runs,
        rounds: 40,
        seed: 2,
        threads,
        engine: Engine::Tables,
    };
    let never = AtomicBool::new(false);
    let to = |precision, threads| sweep_to(&of(400, threads), precision, &never, &|_| {}).unwrap();
    let half = |finished: &Finished| {
        let width = |tally: &crate::lab::tally::CellTally| {
            let interval = tally.summary(Metric::OnRung, CONFIDENCE).unwrap().interval.unwrap();
            (interval.hi - interval.lo) / 2.0
        };
        finished.tallies.iter().map(width).fold(0.0, f64::max)
    };
    let loose = to(500_000, 1);
    assert_eq!(loose.runs, 50);
    let fine = to(30_000, 2);
    assert!(fine.runs > 50 && fine.runs < 400 && half(&fine) <= 0.03, "{} {}", fine.runs, half(&fine));
    assert_eq!(to(30_000, 1).losses, fine.losses, "whatever the threads");
    let plain = sweep(&of(fine.runs, 1), &never, &|_| {}).unwrap();
    assert!(plain.tallies == fine.tallies && plain.losses == fine.losses);
    assert_eq!(to(1, 1).runs, 400, "all of them where that is not reached");
}
