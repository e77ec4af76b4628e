//! The engine's meter on a row of reports, used as the governor uses it: reports land, the round closes, one window is
//! read, and what is too old is let go of.

use std::hint::black_box;

use flyball::engine::{Grade, Mark, Meter, Millis, Rung, Timestamp, Tokens};

/// Reads once in `every` reports; gives the last mean.
pub(crate) fn meter(reports: &[(u32, u32)], every: usize, over_ms: u64) -> f64 {
    let (mut meter, mut now, mut last) = (Meter::new(), Timestamp::EPOCH, 0.0);
    let (over, start) = (Millis::new(over_ms), Mark::default());
    for batch in reports.chunks(every) {
        meter.begin(Rung::default());
        for &(gap, tokens) in batch {
            now = now.after(Millis::new(u64::from(gap)));
            meter.push(now, Tokens::new(u64::from(tokens)), true, Grade::Known);
        }
        meter.close(false);
        let cutoff = now.before(over);
        if let Some(mean) = meter.read(cutoff, start).mean() {
            last = black_box(float(mean.total().count()) / float(mean.turns()));
        }
    }
    last
}

/// A sum as a float, through the signed number that converts in one instruction.
#[expect(clippy::cast_precision_loss, reason = "sums of a million reports are far below 2^53")]
fn float(sum: u64) -> f64 {
    i64::try_from(sum).unwrap_or(i64::MAX) as f64
}
