//! The averaging path: a report in, a mean out; beside plain sums, a counter, and the original's deque gone through anew.

#[path = "ours/window.rs"]
mod ours;
#[path = "peers/window.rs"]
mod peers;

use criterion::{BenchmarkId, Criterion, Throughput};
use peers::Every;

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let reports = peers::reports();
    for every in [20, 1] {
        let mut group = criterion.benchmark_group(format!("a mean in {every} pushes"));
        group.sample_size(10).throughput(Throughput::Elements(reports.len() as u64));
        group.bench_function("counter", |b| b.iter(|| peers::counter(&reports, Every(every))));
        group.bench_function("plain sums", |b| b.iter(|| peers::plain(&reports, Every(every))));
        for occupancy in [64, 1024, 16_384] {
            let meter = BenchmarkId::new("meter", occupancy);
            group.bench_function(meter, |b| b.iter(|| ours::meter(&reports, every, 1000 * occupancy)));
        }
        // a tenth of a million, but no more: it goes through the whole window at every reading
        let few = &reports[..100_000];
        group.throughput(Throughput::Elements(few.len() as u64));
        for occupancy in [64, 1024] {
            let rescan = BenchmarkId::new("deque gone through", occupancy);
            group.bench_function(rescan, |b| b.iter(|| peers::rescan(few, Every(every), 1000 * occupancy)));
        }
        group.finish();
    }
    criterion.final_summary();
}
