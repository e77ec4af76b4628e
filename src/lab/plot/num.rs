//! The number of a picture's data: finite, or missing.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Above this size six decimals are beyond what an `f64` resolves, so nothing is rounded.
const ROUNDED_BELOW: f64 = 1e9;

/// A number that may be missing, kept to six decimals.
///
/// NaN and the infinities are missing; JSON says `null`. Rounding to six decimals when made is what lets two platforms'
/// data be compared byte for byte.
///
/// ```
/// use flyball::lab::plot::Num;
/// assert_eq!(Num::from(f64::NAN), Num::MISSING);
/// assert_eq!(Num::from(0.1 + 0.2), Num::from(0.3));
/// assert_eq!(Num::whole(12).get(), Some(12.0));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Num(Option<f64>);

impl Num {
    /// No number.
    pub const MISSING: Self = Self(None);

    /// The number, where there is one; always finite.
    #[must_use]
    pub const fn get(self) -> Option<f64> {
        self.0
    }

    /// A count, as tokens or rounds; exact below 2^53 and the nearest `f64` above.
    #[must_use]
    pub fn whole(count: u64) -> Self {
        Self(Some(real(count)))
    }
}

impl From<f64> for Num {
    fn from(value: f64) -> Self {
        if !value.is_finite() {
            return Self::MISSING;
        }
        let kept = if value.abs() < ROUNDED_BELOW { (value * 1e6).round() / 1e6 } else { value };
        // Adding zero turns -0.0 into 0.0, which would otherwise print a sign.
        Self(Some(kept + 0.0))
    }
}

impl From<Option<f64>> for Num {
    fn from(value: Option<f64>) -> Self {
        value.map_or(Self::MISSING, Self::from)
    }
}

impl Serialize for Num {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Num {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::from(Option::<f64>::deserialize(deserializer)?))
    }
}

/// A count as `f64` without a cast: two exact halves, one rounding.
pub(super) fn real(count: u64) -> f64 {
    let high = u32::try_from(count >> 32).unwrap_or(u32::MAX);
    let low = u32::try_from(count & u64::from(u32::MAX)).unwrap_or(u32::MAX);
    f64::from(high) * 4_294_967_296.0 + f64::from(low)
}

/// A length or an index as `f64`.
pub(super) fn len(count: usize) -> f64 {
    real(u64::try_from(count).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_is_null_and_comes_back() {
        let all = [Num::from(f64::NAN), Num::from(f64::INFINITY), Num::from(1.25), Num::from(-0.0)];
        let text = serde_json::to_string(&all).unwrap();
        assert_eq!(text, "[null,null,1.25,0.0]");
        assert_eq!(serde_json::from_str::<[Num; 4]>(&text).unwrap(), all);
    }

    #[test]
    fn six_decimals_are_kept() {
        assert_eq!(Num::from(1.0 / 3.0).get(), Some(0.333_333));
        assert_eq!(Num::from(2.5e12 + 0.5).get(), Some(2.5e12 + 0.5));
    }

    #[test]
    fn counts_are_exact_to_two_to_the_fifty_three() {
        for (count, want) in
            [(0, 0.0), (u64::from(u32::MAX) + 1, 4_294_967_296.0), ((1 << 53) - 1, 9_007_199_254_740_991.0)]
        {
            assert_eq!(Num::whole(count).get(), Some(want));
        }
        assert_eq!(Num::from(len(7)), Num::from(7.0));
    }
}
