//! What a governor sees at constant effort: the mean over the last seconds, beside the session's own.
//!
//! At each answer the mean size of the answers of the last `over` milliseconds, over the mean of the whole stretch. It would be one at
//! all times if answers were alike; by how much it is not is what slack and window have to bear. Only stretches of
//! [`STRETCH_FLOOR`] answers of known size count.

use super::calls::Sessions;
use super::numeric::{deviation, float, len, mean, sorted};
use crate::engine::TurnRecord;

/// The fewest answers of a stretch whose own mean is worth comparing with.
pub const STRETCH_FLOOR: usize = 30;
/// The window that logs and simulation are compared by, ms.
pub const OVER: u64 = 300_000;

/// The ratios of one effort, rising.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ratios(pub Vec<f64>);

impl Ratios {
    /// Those of all stretches of `model` at `effort`, for windows of `over` milliseconds.
    #[must_use]
    pub fn of(records: &[TurnRecord], model: &str, effort: &str, over: u64) -> Self {
        let mut ratios = Vec::new();
        for session in Sessions::of(records, model).0 {
            let known = session.iter().filter(|call| call.effort == Some(effort));
            let stretch: Vec<(u64, f64)> = known.filter_map(|call| Some((call.end, float(call.output?)))).collect();
            let whole = mean(&stretch.iter().map(|call| call.1).collect::<Vec<_>>());
            if stretch.len() < STRETCH_FLOOR || whole <= 0.0 {
                continue;
            }
            let (mut from, mut sum, mut held) = (0, 0.0, 0.0);
            for &(end, output) in &stretch {
                sum += output;
                held += 1.0;
                while stretch[from].0 + over < end {
                    sum -= stretch[from].1;
                    held -= 1.0;
                    from += 1;
                }
                ratios.push(sum / held / whole);
            }
        }
        Self(sorted(ratios))
    }

    /// Standard deviation over one, the mean that the ratios would have.
    #[must_use]
    pub fn spread(&self) -> f64 {
        deviation(&self.0, 0.0)
    }

    /// The share that is off by more than `slack`.
    #[must_use]
    pub fn off(&self, slack: f64) -> f64 {
        let off = self.0.iter().filter(|ratio| (*ratio - 1.0).abs() > slack).count();
        len(&vec![(); off]) / len(&self.0).max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::fit::tests::record;

    #[test]
    fn windows_hold_what_is_exactly_so_old() {
        // an answer every hundred seconds, sizes 1 and 3 by turns: windows of 300 s hold up to four
        let records: Vec<TurnRecord> =
            (0..40).map(|at| record("m", "high", 1, 1000 + at * 100_000, 1 + at % 2 * 2)).collect();
        let ratios = Ratios::of(&records, "m", "high", OVER);
        assert_eq!(ratios.0.len(), 40);
        let near = |value: f64| ratios.0.iter().filter(|ratio| (*ratio - value).abs() < 1e-12).count();
        assert_eq!([near(0.5), near(5.0 / 6.0), near(1.0)], [1, 1, 38], "{ratios:?}");
        assert!((ratios.off(0.15) - 0.05).abs() < 1e-12 && ratios.spread() < 0.1);
        assert!(Ratios::of(&records[..29], "m", "high", OVER).0.is_empty());
    }
}
