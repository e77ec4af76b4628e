//! How long calls take, and what lies between them.
//!
//! An answer takes an overhead and a time in proportion to its tokens: `seconds = overhead + tokens / speed`. The speed is that
//! of a robust line, since a few calls of minutes (approvals, stalls) spoil least squares; the overhead is what is left of each
//! call, never below zero, the top hundredth cut to the value below it. The gap from an answer to the next request
//! is tool time. Gaps over [`GAP_LIMIT`] are left out: a tool call is given up after about as long by default, and longer ones are
//! mostly a person who is away. Shorter waits for a person cannot be told from tools and stay in.
//!
//! Units: seconds and tokens per second.

use super::calls::{Sessions, count};
use super::numeric::{float, mean, quantile, robust_line, sorted, variation};

/// The longest gap that is taken for tool time, in seconds.
pub const GAP_LIMIT: f64 = 120.0;

/// The time model of one model's calls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timing {
    /// Calls that it was fitted to.
    pub calls: u64,
    /// Median seconds of a call.
    pub median: f64,
    /// The robust line's own intercept, seconds.
    pub intercept: f64,
    /// Tokens per second.
    pub speed: f64,
    /// Mean overhead, seconds.
    pub overhead: f64,
    /// Its coefficient of variation.
    pub overhead_cv: f64,
    /// Gaps that were taken for tool time.
    pub gaps: u64,
    /// Gaps that were left out as too long.
    pub long_gaps: u64,
    /// Mean tool time, seconds.
    pub tool: f64,
    /// Its coefficient of variation.
    pub tool_cv: f64,
}

impl Timing {
    /// Fits the calls, where at least `floor` of them have a start and take longer the more they say.
    pub(super) fn of(sessions: &Sessions<'_>, floor: u64) -> Option<Self> {
        let mut points = Vec::new();
        for call in sessions.calls() {
            let taken = call.start.and_then(|start| seconds(start, call.end));
            points.extend(call.output.zip(taken).map(|(output, taken)| (float(output), taken)));
        }
        if count(points.len()) < floor {
            return None;
        }
        let (intercept, slope) = robust_line(&points).filter(|&(_, slope)| slope > 0.0)?;
        let rest = sorted(points.iter().map(|&(tokens, seconds)| (seconds - slope * tokens).max(0.0)).collect());
        let top = quantile(&rest, 0.99);
        let overheads: Vec<f64> = rest.into_iter().map(|value| value.min(top)).collect();
        let (tools, long_gaps) = gaps(sessions);
        Some(Self {
            calls: count(points.len()),
            median: quantile(&sorted(points.iter().map(|point| point.1).collect()), 0.5),
            intercept,
            speed: 1.0 / slope,
            overhead: mean(&overheads),
            overhead_cv: variation(&overheads),
            gaps: count(tools.len()),
            long_gaps,
            tool: mean(&tools),
            tool_cv: variation(&tools),
        })
    }
}

fn seconds(from: u64, to: u64) -> Option<f64> {
    to.checked_sub(from).map(|millis| float(millis) / 1000.0)
}

/// Gaps within sessions up to the limit, and how many were longer. Calls that overlap have none.
fn gaps(sessions: &Sessions<'_>) -> (Vec<f64>, u64) {
    let (mut short, mut long) = (Vec::new(), 0);
    for session in &sessions.0 {
        for (before, after) in session.iter().zip(session.iter().skip(1)) {
            match after.start.and_then(|start| seconds(before.end, start)) {
                Some(gap) if gap <= GAP_LIMIT => short.push(gap),
                Some(_) => long += 1,
                None => {}
            }
        }
    }
    (short, long)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Timestamp, TurnRecord};
    use crate::lab::fit::tests::record;

    fn series(calls: u64, length: impl Fn(u64) -> u64, gap: impl Fn(u64) -> u64) -> Vec<TurnRecord> {
        let mut now = 1_000_000;
        (0..calls)
            .map(|at| {
                let tokens = 50 + (at * 7919) % 1000;
                let mut record = record("m", "high", 1, now + length(tokens) + at % 3 * 500, tokens);
                record.start = Some(Timestamp::from_millis(now));
                now = record.end.millis() + gap(at);
                record
            })
            .collect()
    }

    #[test]
    fn overhead_speed_and_gaps_are_found_again() {
        // 2 s and 80 tokens per second, 0 to 1 s on top; 4 s of tools, and a person every twentieth time.
        let records =
            series(400, |tokens| 2000 + tokens * 25 / 2, |at| if at.is_multiple_of(20) { 900_000 } else { 4000 });
        let found = Timing::of(&Sessions::of(&records, "m"), 30).unwrap();
        assert!((found.speed - 80.0).abs() < 0.5, "{found:?}");
        assert!((found.overhead - 2.5).abs() < 0.05 && (found.overhead_cv - 0.408 / 2.5).abs() < 0.02, "{found:?}");
        assert_eq!((found.calls, found.gaps, found.long_gaps), (400, 379, 20));
        assert!((found.tool - 4.0).abs() < 1e-9 && found.tool_cv < 1e-9);
    }

    #[test]
    fn stalls_do_not_spoil_it_and_too_little_says_nothing() {
        let stalled = |tokens: u64| if tokens.is_multiple_of(30) { 600_000 } else { 2000 + tokens * 25 / 2 };
        let found = Timing::of(&Sessions::of(&series(400, stalled, |_| 0), "m"), 30).unwrap();
        assert!((found.speed - 80.0).abs() < 3.0, "{found:?}");
        assert!(Timing::of(&Sessions::of(&series(29, |_| 10, |_| 0), "m"), 30).is_none());
        assert!(Timing::of(&Sessions::of(&series(90, |tokens| 9000 - tokens, |_| 0), "m"), 30).is_none());
    }
}
