//! The band: how far off the target is still fine, compared exactly.
//!
//! An edge is a fraction of tokens per turn and is compared with a mean by cross-multiplication, so that 15 % means 15 %
//! and a tie is a tie. Both edges belong to the band. It is not the law: it says on which side a mean lies, not what
//! follows from that. A host that must reproduce another arithmetic gives its own [`Edge`]s.

use super::error::BandError;
use super::units::{MILLION, Mean, Ratio, Target};

/// On which side of the band a mean lies; as a number, from below up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// Under the lower edge.
    Below,
    /// In the band, edges included.
    Within,
    /// Over the upper edge.
    Above,
}

/// One edge of the band: a fraction of tokens per turn, and whether a mean exactly on it is still inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    numerator: u128,
    denominator: u128,
    /// Both, where 64 bits hold them: nearly always.
    narrow: Option<(u64, u64)>,
    inside: bool,
}

impl Edge {
    /// The edge `numerator / denominator`, in lowest terms. `inside`: a mean exactly on it belongs to the band.
    ///
    /// # Errors
    /// [`BandError::ZeroDenominator`].
    pub const fn new(numerator: u128, denominator: u128, inside: bool) -> Result<Self, BandError> {
        if denominator == 0 {
            return Err(BandError::ZeroDenominator);
        }
        let common = gcd(numerator, denominator);
        let (numerator, denominator) = (numerator / common, denominator / common);
        let fits = numerator >> 64 == 0 && denominator >> 64 == 0;
        let narrow = if fits { Some((low_half(numerator), low_half(denominator))) } else { None };
        Ok(Self { numerator, denominator, narrow, inside })
    }

    /// Numerator and denominator, in lowest terms.
    #[must_use]
    pub const fn fraction(&self) -> (u128, u128) {
        (self.numerator, self.denominator)
    }

    /// Whether the mean lies under this edge, and whether over it; on one that is not inside it does both. Products past
    /// 128 bits compare by their whole parts first, so that the answer is exact whatever the numbers.
    #[inline]
    fn outside(&self, mean: Mean) -> (bool, bool) {
        let (total, turns) = (u128::from(mean.total().count()), u128::from(mean.turns()));
        let Some((numerator, denominator)) = self.narrow else {
            return self.outside_wide(total, turns);
        };
        // two numbers of 64 bits: no product can overflow, nor can it by one more
        let (left, right, on) =
            (total * u128::from(denominator), u128::from(numerator) * turns, u128::from(!self.inside));
        (left < right + on, right < left + on)
    }

    /// The same for an edge that 64 bits do not hold.
    #[cold]
    fn outside_wide(&self, total: u128, turns: u128) -> (bool, bool) {
        let order = match (total.checked_mul(self.denominator), self.numerator.checked_mul(turns)) {
            (Some(left), Some(right)) => left.cmp(&right),
            _ => compare_fractions(total, turns, self.numerator, self.denominator),
        };
        let on = order.is_eq() && !self.inside;
        (order.is_lt() || on, order.is_gt() || on)
    }
}

/// `a / b` against `c / d` by continued fractions: no product is formed, so nothing can overflow.
fn compare_fractions(mut a: u128, mut b: u128, mut c: u128, mut d: u128) -> core::cmp::Ordering {
    let mut flipped = false;
    loop {
        let order = (a / b).cmp(&(c / d));
        let (rest_left, rest_right) = (a % b, c % d);
        let order = match order {
            core::cmp::Ordering::Equal => match (rest_left, rest_right) {
                (0, 0) => return core::cmp::Ordering::Equal,
                (0, _) => core::cmp::Ordering::Less,
                (_, 0) => core::cmp::Ordering::Greater,
                (_, _) => {
                    (a, b, c, d) = (b, rest_left, d, rest_right);
                    flipped = !flipped;
                    continue;
                }
            },
            order @ (core::cmp::Ordering::Less | core::cmp::Ordering::Greater) => order,
        };
        return if flipped { order.reverse() } else { order };
    }
}

/// The low 64 bits: all of a number that is known to be that small.
#[expect(clippy::cast_possible_truncation, reason = "the caller has looked, and try_from is not const")]
const fn low_half(number: u128) -> u64 {
    number as u64
}

const fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// A target and the edges around it.
///
/// ```
/// use flyball::engine::{Band, Mean, Ratio, Side, Target, Tokens};
/// let band = Band::new(Target::from_tokens(2000), Ratio::from_ppm(150_000)).unwrap();
/// let side = |total, turns| band.side(Mean::new(Tokens::new(total), turns).unwrap());
/// assert_eq!(side(1700, 1), Side::Within); // exactly on the edge
/// assert_eq!(side(3399, 2), Side::Below);
/// assert_eq!(side(2301, 1), Side::Above);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Band {
    target: Target,
    low: Edge,
    high: Edge,
}

impl Band {
    /// The band of `slack` to both sides of `target`, edges included.
    ///
    /// # Errors
    /// [`BandError::ZeroTarget`]; [`BandError::SlackAboveOne`].
    pub fn new(target: Target, slack: Ratio) -> Result<Self, BandError> {
        Self::uneven(target, slack, slack)
    }

    /// The band from `below` under `target` to `above` over it, edges included.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn uneven(target: Target, below: Ratio, above: Ratio) -> Result<Self, BandError> {
        if target.micros() == 0 {
            return Err(BandError::ZeroTarget);
        }
        let (one, below, above) = (u128::from(MILLION), u128::from(below.ppm()), u128::from(above.ppm()));
        if below > one || above > one {
            return Err(BandError::SlackAboveOne);
        }
        let (aim, unit) = (u128::from(target.micros()), one * one);
        let low = Edge::new(aim * (one - below), unit, true)?;
        let high = Edge::new(aim * (one + above), unit, true)?;
        Ok(Self { target, low, high })
    }

    /// A band with edges of one's own.
    ///
    /// # Errors
    /// [`BandError::Crossed`] where the lower edge lies above the upper one.
    pub fn with_edges(target: Target, low: Edge, high: Edge) -> Result<Self, BandError> {
        let order = compare_fractions(low.numerator, low.denominator, high.numerator, high.denominator);
        if order == core::cmp::Ordering::Greater {
            return Err(BandError::Crossed);
        }
        Ok(Self { target, low, high })
    }

    /// The target.
    #[must_use]
    pub const fn target(&self) -> Target {
        self.target
    }

    /// The lower edge.
    #[must_use]
    pub const fn low(&self) -> Edge {
        self.low
    }

    /// The upper edge.
    #[must_use]
    pub const fn high(&self) -> Edge {
        self.high
    }

    /// On which side of the band the mean lies.
    #[must_use]
    #[inline]
    pub fn side(&self, mean: Mean) -> Side {
        // both are worked out whatever the first says, and what they say is looked up: which it is cannot be predicted
        const SIDES: [Side; 4] = [Side::Within, Side::Above, Side::Below, Side::Below];
        let ((below, _), (_, above)) = (self.low.outside(mean), self.high.outside(mean));
        SIDES[usize::from(below) * 2 + usize::from(above)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Tokens;
    use core::cmp::Ordering;
    use proptest::prelude::*;

    fn mean(total: u64, turns: u64) -> Mean {
        Mean::new(Tokens::new(total), turns).unwrap()
    }

    #[test]
    fn both_edges_belong_to_the_band() {
        let band = Band::new(Target::from_tokens(1500), Ratio::from_ppm(150_000)).unwrap();
        let cases = [
            (1275, 1, Side::Within),
            (1274, 1, Side::Below),
            (12_749, 10, Side::Below),
            (1725, 1, Side::Within),
            (1726, 1, Side::Above),
            (17_251, 10, Side::Above),
        ];
        for (total, turns, side) in cases {
            assert_eq!(band.side(mean(total, turns)), side, "{total}/{turns}");
        }
    }

    #[test]
    fn an_open_edge_does_not() {
        let edge = |tokens, inside| Edge::new(tokens, 1, inside).unwrap();
        let band = Band::with_edges(Target::from_tokens(2), edge(1, false), edge(3, false)).unwrap();
        assert_eq!(band.side(mean(1, 1)), Side::Below);
        assert_eq!(band.side(mean(3, 1)), Side::Above);
        assert_eq!(band.side(mean(2, 1)), Side::Within);
    }

    #[test]
    fn a_slack_of_all_or_nothing_works() {
        let none = Band::new(Target::from_tokens(10), Ratio::ZERO).unwrap();
        assert_eq!(none.side(mean(10, 1)), Side::Within);
        assert_eq!(none.side(mean(u64::MAX, u64::MAX)), Side::Below);
        let all = Band::new(Target::from_tokens(10), Ratio::from_ppm(1_000_000)).unwrap();
        assert_eq!(all.side(mean(0, 7)), Side::Within);
        assert_eq!(all.side(mean(21, 1)), Side::Above);
    }

    #[test]
    fn bad_bands_are_named() {
        assert_eq!(Band::new(Target::from_tokens(0), Ratio::ZERO), Err(BandError::ZeroTarget));
        assert_eq!(Band::new(Target::from_tokens(1), Ratio::from_ppm(1_000_001)), Err(BandError::SlackAboveOne));
        assert_eq!(Edge::new(1, 0, true), Err(BandError::ZeroDenominator));
        let edge = |tokens| Edge::new(tokens, 1, true).unwrap();
        assert_eq!(Band::with_edges(Target::from_tokens(1), edge(2), edge(1)), Err(BandError::Crossed));
    }

    proptest! {
        #[test]
        fn fractions_compare_as_their_cross_products(a in 0u128..1 << 60, b in 1u128..1 << 60, c in 0u128..1 << 60, d in 1u128..1 << 60) {
            prop_assert_eq!(compare_fractions(a, b, c, d), (a * d).cmp(&(c * b)));
        }

        #[test]
        fn equal_fractions_are_equal(a in 0u128..1 << 40, b in 1u128..1 << 40, k in 1u128..1 << 40) {
            prop_assert_eq!(compare_fractions(a, b, a * k, b * k), Ordering::Equal);
        }

        #[test]
        fn a_side_is_that_of_rational_arithmetic(target in 1u64..1 << 50, slack in 0u32..=1_000_000, total: u64, turns in 1u64..1 << 40) {
            let band = Band::new(Target::from_micros(target), Ratio::from_ppm(slack)).unwrap();
            // total/turns against target (1 -+ slack), in units of 1e-12 token, by 256-bit products split in halves
            let wide = |x: u128, y: u128| { let (hi, lo) = ((x >> 64) * y, (x & u128::from(u64::MAX)) * y); (hi + (lo >> 64), lo & u128::from(u64::MAX)) };
            let left = wide(u128::from(total) * 1_000_000, 1_000_000);
            let edge = |share: u32| wide(u128::from(target) * u128::from(share), u128::from(turns));
            let want = if left < edge(1_000_000 - slack) { Side::Below } else if left > edge(1_000_000 + slack) { Side::Above } else { Side::Within };
            prop_assert_eq!(band.side(mean(total, turns)), want);
        }
    }
}
