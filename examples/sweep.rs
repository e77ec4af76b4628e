//! A sweep from code: read a scenario, choose the axes, run, and read the cells.
#![expect(clippy::print_stdout, reason = "an example shows what happens")]
use std::error::Error;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use flyball::engine::{LawKind, Millis, Ratio};
use flyball::lab::grid::Axes;
use flyball::lab::metric::Metric;
use flyball::lab::scenario::Scenario;
use flyball::lab::sweep::{Engine, Job, summarise, sweep};

fn main() -> Result<(), Box<dyn Error>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/s02-typical.toml");
    let scenario = Scenario::read(&path)?;
    let grid = scenario.grid(Axes {
        law: Some(vec![LawKind::Reference, LawKind::Reset]),
        over: Some([300, 900, 3600].map(Millis::from_secs).to_vec()),
        slack: Some([150_000, 300_000].map(Ratio::from_ppm).to_vec()),
        ..Axes::default()
    })?;
    let job =
        Job { scenario: &scenario, grid: &grid, runs: 100, rounds: 200, seed: 1, threads: 0, engine: Engine::Tables };
    let result = summarise(&job, &sweep(&job, &AtomicBool::new(false), &|_| {})?)?;
    for cell in &result.cells {
        let share = cell.mean(Metric::OnRung).map_or(0, |millionths| millionths / 10_000);
        let (law, over, slack) = (cell.cell.law.name(), cell.cell.over.count() / 1000, cell.cell.slack.ppm() / 10_000);
        println!("{law:>9} over {over:>4} s, slack {slack:>2} %: on the right rung in {share} % of rounds");
    }
    for chosen in &result.chosen {
        println!("{}", chosen.why);
    }
    Ok(())
}
