//! What a window is measured against: the same reports, summed in the plainest ways.
//!
//! Gaps between reports are random from 0 to 2 s, so that ties happen, and there are a million of them, so that no branch
//! predictor learns the pattern: with a short one every window looks two to three times faster than it is.

use std::collections::VecDeque;
use std::hint::black_box;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// Reports: the gap before each in milliseconds, and its tokens.
pub(crate) fn reports() -> Vec<(u32, u32)> {
    let mut rng = StdRng::seed_from_u64(20);
    (0..1_000_000).map(|_| (rng.random_range(0..=2000), rng.random_range(1..8000))).collect()
}

/// Reports between two readings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Every(pub(crate) usize);

/// The floor: a counter in memory goes up by one a report, and is looked at as often as a window is read.
pub(crate) fn counter(reports: &[(u32, u32)], every: Every) -> u64 {
    let (mut count, mut seen) = (0_u64, 0);
    for batch in reports.chunks(every.0) {
        for _ in batch {
            *black_box(&mut count) += 1;
        }
        seen ^= count;
    }
    seen
}

/// Two sums that never forget, and one division a reading.
pub(crate) fn plain(reports: &[(u32, u32)], every: Every) -> f64 {
    let (mut sums, mut last) = ((0_i64, 0_i64), 0.0);
    for batch in reports.chunks(every.0) {
        for &(_, tokens) in batch {
            let sums = black_box(&mut sums);
            sums.0 += i64::from(tokens);
            sums.1 += 1;
        }
        last = black_box(float(sums.0) / float(sums.1));
    }
    last
}

/// The original's deque of floats: trimmed at a reading and then gone through twice.
pub(crate) fn rescan(reports: &[(u32, u32)], every: Every, over_ms: u64) -> f64 {
    let over = f64::from(u32::try_from(over_ms).unwrap_or(u32::MAX));
    let (mut window, mut now, mut last) = (VecDeque::new(), 0.0, 0.0);
    for batch in reports.chunks(every.0) {
        for &(gap, tokens) in batch {
            now += f64::from(gap);
            window.push_back((now, f64::from(tokens)));
        }
        while window.front().is_some_and(|&(at, _)| at < now - over) {
            window.pop_front();
        }
        let count = window.iter().map(|_| 1.0).sum::<f64>();
        last = black_box(window.iter().map(|&(_, tokens)| tokens).sum::<f64>() / count);
    }
    last
}

#[expect(clippy::cast_precision_loss, reason = "sums of a million reports are far below 2^53")]
pub(crate) fn float(sum: i64) -> f64 {
    sum as f64
}
