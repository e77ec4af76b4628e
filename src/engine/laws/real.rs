//! Floats of the laws: from counts, and back into integers.
//!
//! The only place of the engine where one becomes the other. Not for state or comparison of tokens, which are integers.
//! Functions beyond `+ - * /` and the square root come from `libm`, so that a law computes the same bits everywhere.

use crate::engine::band::Edge;
use crate::engine::law::{Belief, LawState};

/// A count as the nearest float.
#[must_use]
#[inline]
#[expect(clippy::cast_precision_loss, reason = "the nearest float is what is asked for")]
pub const fn real(count: u64) -> f64 {
    count as f64
}

/// A sum of logarithms in units of 2^-32 nats, as nats.
#[must_use]
#[inline]
#[expect(clippy::cast_precision_loss, reason = "the nearest float is what is asked for")]
pub const fn nats(sum: u128) -> f64 {
    match sum >> 64 {
        // far cheaper than the conversion of 128 bits, and never left by a real round
        0 => low_half(sum) as f64 / NAT,
        _ => sum as f64 / NAT,
    }
}

/// The low 64 bits: all of a number that is known to be that small.
#[expect(clippy::cast_possible_truncation, reason = "the caller has looked, and try_from is not const")]
const fn low_half(number: u128) -> u64 {
    number as u64
}

/// 2^32, exactly.
const NAT: f64 = 4_294_967_296.0;

/// A small place or count as a float, exactly.
#[must_use]
#[inline]
pub fn place(place: usize) -> f64 {
    f64::from(u32::try_from(place).unwrap_or(u32::MAX))
}

/// `value` in millionths, rounded to the nearest; held at the ends, and zero for what is no number.
#[must_use]
#[inline]
pub fn micros(value: f64) -> i64 {
    whole(value * 1e6)
}

/// Millionths as a number.
#[must_use]
#[inline]
pub fn from_micros(micros: u32) -> f64 {
    f64::from(micros) / 1e6
}

/// The nearest whole number, ties to even; held at the ends, and zero for what is no number.
#[must_use]
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "rounded first; `as` holds at the ends and maps NaN to zero")]
pub fn whole(value: f64) -> i64 {
    libm::rint(value) as i64
}

impl LawState {
    /// Sets a float, as its bits.
    pub fn set_real(&mut self, name: &str, value: f64) {
        self.set(name, value.to_bits());
    }

    /// A float, if it was set and is finite.
    #[must_use]
    pub fn real(&self, name: &str) -> Option<f64> {
        self.get(name).map(f64::from_bits).filter(|value| value.is_finite())
    }
}

impl Belief {
    /// An error and its standard deviation, in nats.
    #[must_use]
    pub fn new(error: f64, sd: f64) -> Self {
        Self { error: micros(error), sd: micros(sd), step: None, gain: None }
    }

    /// With the step of the ladder and the gain of a move, in nats.
    #[must_use]
    pub fn with(self, step: Option<f64>, gain: Option<f64>) -> Self {
        Self { step: step.map(micros), gain: gain.map(micros), ..self }
    }
}

impl Edge {
    /// The edge in tokens per turn, as the nearest float.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "laws that estimate look at the edge on the log scale")]
    pub fn tokens(&self) -> f64 {
        let (numerator, denominator) = self.fraction();
        numerator as f64 / denominator as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_or_too_large_is_held() {
        assert_eq!([whole(2.5), whole(-1.6), micros(0.25)], [2, -2, 250_000]);
        assert_eq!([micros(f64::NAN), micros(1e300), micros(-1e300)], [0, i64::MAX, i64::MIN]);
    }

    #[test]
    fn nats_are_the_same_by_either_way() {
        assert!((nats(3 << 31) - 1.5).abs() < 1e-12);
        assert!((nats(1 << 100) - libm::pow(2.0, 68.0)).abs() < 1.0);
        assert!(
            (place(7) - 7.0).abs() < 1e-12
                && (real(9) - 9.0).abs() < 1e-12
                && (from_micros(30_000) - 0.03).abs() < 1e-12
        );
    }
}
