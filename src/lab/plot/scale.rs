//! From values to pixels, and the ticks between.

use super::text;
use serde::{Deserialize, Serialize};

/// How an axis runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// Equal steps for equal differences.
    #[default]
    Linear,
    /// Equal steps for equal ratios. What is not above zero is drawn at the low end.
    Log,
}

/// A range of values, laid over a range of pixels.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    scale: Scale,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Axis {
    /// The range of `values`, widened to whole ticks; a linear axis includes zero. Without a value: 0 to 1 (1 to 10).
    pub(super) fn around(values: impl Iterator<Item = f64>, scale: Scale, ticks: u32) -> Self {
        let usable = values.filter(|v| v.is_finite() && (scale == Scale::Linear || *v > 0.0));
        let (low, high) = usable.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        let (low, high) = match (low.is_finite(), scale) {
            (false, Scale::Linear) => (0.0, 1.0),
            (false, Scale::Log) => (1.0, 10.0),
            (true, Scale::Linear) => {
                let (low, high) = (low.min(0.0), high.max(0.0));
                let high = if low < high { high } else { 1.0 };
                let step = step(high - low, ticks);
                ((low / step).floor() * step, (high / step - 1e-9).ceil() * step)
            }
            (true, Scale::Log) => {
                let pad = libm::pow(high / low, 0.06).max(1.15);
                (low / pad, high * pad)
            }
        };
        Self { scale, low, high, from: 0.0, to: 1.0 }
    }

    /// Exactly from `low` to `high`; a range that is none becomes one of width one.
    pub(super) fn exact(low: f64, high: f64) -> Self {
        let high = if low < high { high } else { low + 1.0 };
        Self { scale: Scale::Linear, low, high, from: 0.0, to: 1.0 }
    }

    /// A log axis from 1 to `high`.
    pub(super) fn log_from_one(high: f64) -> Self {
        Self { scale: Scale::Log, low: 1.0, high: high.max(2.0), from: 0.0, to: 1.0 }
    }

    /// The same values over these pixels; `from` is where the low end is.
    pub(super) fn over(&self, from: f64, to: f64) -> Self {
        Self { from, to, ..self.clone() }
    }

    /// The pixel of a value, never outside the axis.
    pub(super) fn at(&self, value: f64) -> f64 {
        self.from + self.share(value) * (self.to - self.from)
    }

    /// Where a value lies, 0 at the low end and 1 at the high.
    pub(super) fn share(&self, value: f64) -> f64 {
        let share = match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Log if value > 0.0 => libm::log(value / self.low) / libm::log(self.high / self.low),
            Scale::Log => 0.0,
        };
        share.clamp(0.0, 1.0)
    }

    /// About `want` values worth a tick, with what to print at each.
    pub(super) fn ticks(&self, want: u32) -> Vec<(f64, String)> {
        let values = match self.scale {
            Scale::Linear => self.even(want),
            Scale::Log => self.decades(want),
        };
        values.into_iter().map(|value| (value, text::short(value))).collect()
    }

    fn even(&self, want: u32) -> Vec<f64> {
        let step = step(self.high - self.low, want);
        let first = (self.low / step - 1e-9).ceil();
        (0..=want * 3)
            .map(|at| (first + f64::from(at)) * step)
            .take_while(|value| *value <= self.high + step * 1e-9)
            .collect()
    }

    fn decades(&self, want: u32) -> Vec<f64> {
        let spread = libm::log10(self.high / self.low);
        let room = f64::from(want);
        let marks: &[f64] = if spread * 7.0 <= room * 1.4 {
            &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0]
        } else if spread * 3.0 <= room.max(3.0) * 1.4 {
            &[1.0, 2.0, 5.0]
        } else {
            &[1.0]
        };
        let every = (spread / room).ceil().max(1.0);
        let mut decade = libm::floor(libm::log10(self.low));
        let mut values = Vec::new();
        while libm::pow(10.0, decade) <= self.high && values.len() < 200 {
            values.extend(marks.iter().map(|mark| mark * libm::pow(10.0, decade)));
            decade += every;
        }
        values.retain(|value| (self.low..=self.high).contains(value));
        values
    }
}

/// The smallest of 1, 2, 5 times a power of ten that cuts `span` into at most about `parts`.
fn step(span: f64, parts: u32) -> f64 {
    let least = span / f64::from(parts.max(1));
    if !least.is_finite() || least <= 0.0 {
        return 1.0;
    }
    let decade = libm::pow(10.0, libm::floor(libm::log10(least)));
    let nice = [1.0, 2.0, 5.0, 10.0].map(|mark| mark * decade);
    nice.into_iter().find(|step| *step >= least * (1.0 - 1e-9)).unwrap_or(nice[3])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn labels(axis: &Axis, want: u32) -> Vec<String> {
        axis.ticks(want).into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn linear_ticks_are_round() {
        let axis = Axis::around([3.0, 87.0].into_iter(), Scale::Linear, 5);
        assert_eq!(labels(&axis, 5), ["0", "20", "40", "60", "80", "100"]);
        assert_eq!(labels(&Axis::exact(1.0, 200.0), 4), ["50", "100", "150", "200"]);
    }

    #[test]
    fn log_ticks_are_ones_twos_and_fives() {
        let axis = Axis::around([120.0, 9000.0].into_iter(), Scale::Log, 6);
        assert_eq!(labels(&axis, 6), ["100", "200", "500", "1000", "2000", "5000", "10k"]);
        let narrow = Axis::around([600.0, 4000.0].into_iter(), Scale::Log, 6);
        assert_eq!(labels(&narrow, 6), ["700", "1000", "1500", "2000", "3000", "4000"]);
        let wide = Axis::around([1.0, 1e7].into_iter(), Scale::Log, 4);
        assert!(wide.ticks(4).len() <= 5, "{:?}", wide.ticks(4));
    }

    #[test]
    fn nothing_and_one_value_have_axes() {
        for scale in [Scale::Linear, Scale::Log] {
            for values in [vec![], vec![0.0], vec![5.0], vec![f64::NAN]] {
                let axis = Axis::around(values.iter().copied(), scale, 5).over(0.0, 100.0);
                assert!(axis.at(5.0).is_finite() && !axis.ticks(5).is_empty(), "{scale:?} {values:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn pixels_stay_inside_and_keep_order(
            values in proptest::collection::vec(-1e12_f64..1e12, 1..20), log in any::<bool>(), probe in -1e13_f64..1e13
        ) {
            let scale = if log { Scale::Log } else { Scale::Linear };
            let axis = Axis::around(values.iter().copied(), scale, 6).over(500.0, 20.0);
            prop_assert!((20.0..=500.0).contains(&axis.at(probe)));
            prop_assert!(axis.at(probe) >= axis.at(probe + 1.0));
            prop_assert!(axis.ticks(6).len() <= 40);
            for value in values.iter().filter(|v| scale == Scale::Linear || **v > 0.0) {
                prop_assert!((axis.share(*value) - 0.5).abs() <= 0.5);
            }
        }
    }
}
