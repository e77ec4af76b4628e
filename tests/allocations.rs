//! Once its buffers are warm, the inner loop of a sweep allocates nothing: it draws, lays down, governs, scores and adds
//! up in what it has.
#![cfg(feature = "lab")]

use std::path::Path;

use flyball::lab::scenario::Scenario;
use steady::Steady;

#[path = "../benches/ours/steady.rs"]
mod steady;

#[test]
fn a_run_allocates_nothing_once_buffers_are_warm() {
    for name in ["s02-typical", "s08-heavy-tails", "s18b-lump-fed-public-log"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios").join(format!("{name}.toml"));
        let scenario = Scenario::read(&path).unwrap();
        let mut steady = Steady::new(&scenario, 200).unwrap();
        for run in 0..40 {
            steady.run(1, run, 10).unwrap();
        }
        let counted = allocation_counter::measure(|| {
            for run in 40..140 {
                steady.run(1, run, 10).unwrap();
                steady.figures(1, run);
            }
        });
        assert_eq!(counted.count_total, 0, "{name}: {} bytes", counted.bytes_total);
    }
}

#[test]
fn an_allocation_would_be_counted() {
    let counted = allocation_counter::measure(|| drop(std::hint::black_box(vec![1_u8; 100])));
    assert_eq!(counted.count_total, 1);
}
