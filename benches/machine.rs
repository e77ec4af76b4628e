//! One run of the typical agent through the loop machine, event by event, beside the naive loop.

#[path = "peers/naive.rs"]
mod naive;
#[path = "ours/single.rs"]
mod single;
#[path = "ours/typical.rs"]
mod typical;

use std::error::Error;
use std::hint::black_box;

use criterion::Criterion;
use flyball::engine::Band;

fn main() -> Result<(), Box<dyn Error>> {
    let scenario = typical::scenario()?;
    let band = Band::new(scenario.governor.juice, scenario.governor.slack)?;
    let (agent, mut luck) = (naive::Agent::new()?, scenario.agent.luck(1, 0, typical::ROUNDS));
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("a run of 200 rounds");
    group.sample_size(30);
    let mut run = 0;
    group.bench_function("machine", |b| {
        b.iter(|| {
            run += 1;
            luck.restart(1, run, typical::ROUNDS);
            single::machine(&scenario, &mut luck, band)
        });
    });
    let mut seed = 0;
    group.bench_function("naive", |b| {
        b.iter(|| {
            seed += 1;
            black_box(agent.run(&naive::SETTINGS, seed, typical::ROUNDS)).figures()
        });
    });
    group.finish();
    criterion.final_summary();
    Ok(())
}
