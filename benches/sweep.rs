//! Whole sweeps of the typical agent, scores and sums included, beside the naive loop on as many cells and runs.

#[path = "peers/naive.rs"]
mod naive;
#[path = "ours/swept.rs"]
mod swept;
#[path = "ours/typical.rs"]
mod typical;

use std::error::Error;

use criterion::{Criterion, Throughput};
use flyball::engine::LawKind;

fn main() -> Result<(), Box<dyn Error>> {
    let (scenario, agent) = (typical::scenario()?, naive::Agent::new()?);
    let mut criterion = Criterion::default().configure_from_args();
    for (cells, axes, runs) in [(10, [1, 10, 1], 20), (1000, [10, 10, 10], 2)] {
        let grid = swept::grid(&scenario, LawKind::Reference, axes)?;
        let mut group = criterion.benchmark_group(format!("{cells} cells"));
        group.sample_size(10);
        group.throughput(Throughput::Elements(cells * u64::from(runs)));
        group.bench_function("tables", |b| b.iter(|| swept::swept(&scenario, &grid, runs, 1).is_ok()));
        // the naive loop costs the same whatever else is run, so that a few of its runs tell the rate of all
        let some = 20;
        group.throughput(Throughput::Elements(some));
        group.bench_function("naive", |b| {
            b.iter(|| {
                let run = |seed| agent.run(&naive::SETTINGS, seed, typical::ROUNDS).figures();
                (0..some).map(run).map(|[tokens, _, _]| tokens).sum::<f64>()
            });
        });
        group.finish();
    }
    criterion.final_summary();
    Ok(())
}
