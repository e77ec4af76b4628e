//! Fixed point: results are integers, in millionths, so that sums do not depend on their order.
//!
//! The only places of the lab's scoring where a float becomes an integer or back. Not for stored state: units have
//! their own types in the engine.

/// One, in millionths.
pub const ONE: i64 = 1_000_000;

/// `value` in millionths, rounded to the nearest, ties to even; held at the ends, and zero for what is no number.
///
/// ```
/// use flyball::lab::fixed::micros;
/// assert_eq!(micros(-0.1234567), -123_457);
/// assert_eq!(micros(f64::INFINITY), i64::MAX);
/// assert_eq!(micros(f64::NAN), 0);
/// ```
#[must_use]
#[inline]
pub fn micros(value: f64) -> i64 {
    whole(value * 1e6)
}

/// The nearest whole number, ties to even; held at the ends, and zero for what is no number.
#[must_use]
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "rounded first; `as` holds at the ends and maps NaN to zero")]
pub fn whole(value: f64) -> i64 {
    libm::rint(value) as i64
}

/// Millionths as a number. Exact up to 2^53 millionths, the nearest beyond.
#[must_use]
#[inline]
pub fn from_micros(micros: i64) -> f64 {
    float(i128::from(micros)) / 1e6
}

/// An integer as the nearest float.
#[must_use]
#[inline]
#[expect(clippy::cast_precision_loss, reason = "the nearest float is what is asked for")]
pub fn float(value: i128) -> f64 {
    value as f64
}

/// An unsigned integer as the nearest float.
#[must_use]
#[inline]
#[expect(clippy::cast_precision_loss, reason = "the nearest float is what is asked for")]
pub fn ufloat(value: u64) -> f64 {
    value as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_is_to_the_nearest_and_never_panics() {
        assert_eq!([whole(0.5), whole(1.5), whole(-0.5), whole(2.4)], [0, 2, 0, 2]);
        assert_eq!([micros(1e300), micros(-1e300), micros(f64::NAN)], [i64::MAX, i64::MIN, 0]);
        assert!((from_micros(-1_500_000) + 1.5).abs() < 1e-15);
        assert!((float(i128::from(u64::MAX)) - ufloat(u64::MAX)).abs() < 1.0);
    }
}
