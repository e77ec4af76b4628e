//! Sizes of turns: checked distributions, their true means, and the one place where numbers become whole.
//!
//! It is not the agent: no session, drift or rung is known here. Every size is split into a *shape*, which the noise
//! alone decides, and *scales*, which a rung decides; rungs that share a shape share its draws, so that they differ by
//! their scale alone. Units: output tokens per turn; `cv` is standard deviation over mean; `mu`, `sigma` are of ln
//! tokens. A lognormal of mean m and cv c is exp(N(ln m - v/2, v)) with v = ln(1 + c^2): m is the arithmetic mean. Gamma
//! by Marsaglia and Tsang, "A simple method for generating gamma variables", ACM TOMS 26 (2000), with the attempts' own
//! uniforms by address, so that one turn's rejections shift no other's.

use std::fmt;
use std::sync::Arc;

use super::exp::{MOST_EXPONENT, bounded_exp_row};
use super::noise::{Channel, Noise};
use super::normal;

mod moments;

/// The largest mean: what a turn's tokens are held in.
const MOST_MEAN: f64 = 4_294_967_295.0;
/// The largest cv, sigma of ln tokens, or size of mu that is taken for meant.
const MOST_CV: f64 = 1000.0;
const MOST_SIGMA: f64 = 10.0;
const MOST_MU: f64 = 50.0;

/// One part of a mixture: its share of the turns, and the mean and standard deviation of its ln tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Component {
    /// Share of the turns, above 0 and at most 1; the two sum to 1.
    pub weight: f64,
    /// Mean of ln tokens.
    pub mu: f64,
    /// Standard deviation of ln tokens.
    pub sigma: f64,
}

impl Component {
    fn mean(&self) -> f64 {
        bounded_exp(self.mu + self.sigma * self.sigma / 2.0)
    }
}

/// Which components of a mixture a shift of the effort moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moves {
    /// The wide one: long answers.
    Wide,
    /// The narrow one: short answers.
    Narrow,
    /// Both.
    All,
}

/// A distribution of the output tokens of one turn. Made by its constructors alone, hence always sound.
///
/// ```
/// use flyball::sim::Size;
/// let size = Size::lognormal(2048.0, 1.0).unwrap();
/// assert_eq!(size.mean(), 2048.0);
/// assert!(Size::lognormal(-1.0, 1.0).is_err());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Size(Kind);

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Lognormal { mean: f64, cv: f64 },
    Gamma { mean: f64, cv: f64 },
    Mixture { narrow: Component, wide: Component, moves: Moves },
    Empirical { quantiles: Arc<[f64]>, mean: f64 },
}

impl Size {
    /// A lognormal of arithmetic mean `mean` and coefficient of variation `cv`; a `cv` of 0 is a constant.
    ///
    /// # Errors
    /// [`SizeError::Outside`] unless 0 < `mean` <= 4294967295 and 0 <= `cv` <= 1000.
    pub fn lognormal(mean: f64, cv: f64) -> Result<Self, SizeError> {
        positive("mean", mean, MOST_MEAN)?;
        at_least("cv", cv, 0.0, MOST_CV)?;
        Ok(Self(Kind::Lognormal { mean, cv }))
    }

    /// A gamma of mean `mean` and coefficient of variation `cv`: shape 1 / cv^2. Sums of it are exact, which is what
    /// it is here for.
    ///
    /// # Errors
    /// [`SizeError::Outside`] unless 0 < `mean` <= 4294967295 and 0.001 <= `cv` <= 1000.
    pub fn gamma(mean: f64, cv: f64) -> Result<Self, SizeError> {
        positive("mean", mean, MOST_MEAN)?;
        at_least("cv", cv, 0.001, MOST_CV)?;
        Ok(Self(Kind::Gamma { mean, cv }))
    }

    /// Two lognormals, and which of them the effort moves. Long logs look like this: many short answers and a wide
    /// tail of long ones.
    ///
    /// # Errors
    /// [`SizeError::Outside`] for a weight outside (0, 1], a mu outside -50 to 50 or a sigma outside 0 to 10, and where
    /// the mean is more than 4294967295; [`SizeError::Weights`] where the weights miss 1 by more than 1e-6.
    pub fn mixture(narrow: Component, wide: Component, moves: Moves) -> Result<Self, SizeError> {
        for part in [narrow, wide] {
            positive("weight", part.weight, 1.0)?;
            at_least("mu", part.mu, -MOST_MU, MOST_MU)?;
            at_least("sigma", part.sigma, 0.0, MOST_SIGMA)?;
        }
        let sum = narrow.weight + wide.weight;
        if (sum - 1.0).abs() > 1e-6 {
            return Err(SizeError::Weights { sum });
        }
        let size = Self(Kind::Mixture { narrow, wide, moves });
        positive("mean", size.mean(), MOST_MEAN)?;
        Ok(size)
    }

    /// Tokens at evenly spaced probabilities from 0 to 1, straight lines between them.
    ///
    /// # Errors
    /// [`SizeError::TooFewQuantiles`] below two; [`SizeError::Outside`] for one outside 0 to 4294967295, and where all
    /// are zero; [`SizeError::Falling`] where one is less than the one before it.
    pub fn empirical(quantiles: Vec<f64>) -> Result<Self, SizeError> {
        let (Some(first), Some(last)) = (quantiles.first(), quantiles.last()) else {
            return Err(SizeError::TooFewQuantiles { count: 0 });
        };
        if quantiles.len() < 2 {
            return Err(SizeError::TooFewQuantiles { count: quantiles.len() });
        }
        let ends = (first + last) / 2.0;
        for (index, pair) in quantiles.windows(2).enumerate() {
            at_least("quantile", pair[0], 0.0, MOST_MEAN)?;
            at_least("quantile", pair[1], 0.0, MOST_MEAN)?;
            if pair[1] < pair[0] {
                return Err(SizeError::Falling { index: index + 1 });
            }
        }
        let mean = (quantiles.iter().sum::<f64>() - ends) / count(quantiles.len() - 1);
        positive("mean", mean, MOST_MEAN)?;
        Ok(Self(Kind::Empirical { quantiles: quantiles.into(), mean }))
    }

    /// The arithmetic mean, in tokens per turn, before rounding to whole tokens.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.shifted_mean(0.0)
    }

    /// The arithmetic mean where the effort moves this size by `shift` on the scale of ln tokens.
    #[must_use]
    pub fn shifted_mean(&self, shift: f64) -> f64 {
        let factor = bounded_exp(shift);
        match &self.0 {
            Kind::Lognormal { mean, .. } | Kind::Gamma { mean, .. } | Kind::Empirical { mean, .. } => mean * factor,
            Kind::Mixture { narrow, wide, moves } => {
                let [by_narrow, by_wide] = moves.factors(factor);
                // The weights may miss 1 by a rounding: what is drawn is a narrow turn below its weight, else a wide one.
                narrow.weight * narrow.mean() * by_narrow + (1.0 - narrow.weight) * wide.mean() * by_wide
            }
        }
    }

    /// The narrow and the wide component of a mixture, and which of them the effort moves; none of any other size.
    #[must_use]
    pub const fn components(&self) -> Option<(Component, Component, Moves)> {
        match self.0 {
            Kind::Mixture { narrow, wide, moves } => Some((narrow, wide, moves)),
            Kind::Lognormal { .. } | Kind::Gamma { .. } | Kind::Empirical { .. } => None,
        }
    }

    /// Whether its turns come from a gamma, behind whose draws stands no single normal.
    #[must_use]
    pub const fn is_gamma(&self) -> bool {
        matches!(self.0, Kind::Gamma { .. })
    }

    /// Whether its turns are of two kinds.
    #[must_use]
    pub const fn is_mixture(&self) -> bool {
        matches!(self.0, Kind::Mixture { .. })
    }

    /// What the noise alone decides.
    pub(super) fn shape(&self) -> Shape {
        match &self.0 {
            Kind::Lognormal { cv, .. } => Shape::Lognormal { sigma: log_sigma(*cv) },
            Kind::Gamma { cv, .. } => Shape::Gamma { shape: 1.0 / (cv * cv) },
            Kind::Mixture { narrow, wide, .. } => {
                Shape::Mixture { narrow: narrow.weight, sigma: [narrow.sigma, wide.sigma] }
            }
            Kind::Empirical { quantiles, .. } => Shape::Empirical(Arc::clone(quantiles)),
        }
    }

    /// What the shape is multiplied by, for the narrow component and for the wide one; the same where there is but one.
    pub(super) fn scales(&self, shift: f64) -> [f64; 2] {
        let factor = bounded_exp(shift);
        match &self.0 {
            Kind::Lognormal { mean, cv } => {
                let sigma = log_sigma(*cv);
                [mean * bounded_exp(-sigma * sigma / 2.0) * factor; 2]
            }
            Kind::Gamma { mean, .. } => [mean * factor; 2],
            Kind::Mixture { narrow, wide, moves } => {
                let [by_narrow, by_wide] = moves.factors(factor);
                [bounded_exp(narrow.mu) * by_narrow, bounded_exp(wide.mu) * by_wide]
            }
            Kind::Empirical { .. } => [factor; 2],
        }
    }
}

impl Moves {
    const fn factors(self, factor: f64) -> [f64; 2] {
        match self {
            Self::Wide => [1.0, factor],
            Self::Narrow => [factor, 1.0],
            Self::All => [factor, factor],
        }
    }
}

/// A size without its scale: what rungs may share.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    Lognormal { sigma: f64 },
    Gamma { shape: f64 },
    Mixture { narrow: f64, sigma: [f64; 2] },
    Empirical(Arc<[f64]>),
}

impl Shape {
    /// Values of the turns of `round`, one for each of `normals`; for a mixture also whether each is a wide one. `kinds` are
    /// the normals behind the turns' kinds where these lean on each other, and nothing where they do not.
    pub(super) fn draw(
        &self,
        noise: &Noise,
        round: u32,
        [normals, kinds]: [&[f64]; 2],
        values: &mut Vec<f64>,
        wide: &mut Vec<bool>,
    ) {
        values.clear();
        wide.clear();
        match self {
            Self::Lognormal { sigma } => {
                values.extend(normals.iter().map(|z| sigma * z));
                bounded_exp_row(values);
            }
            Self::Gamma { shape } => {
                values.extend((0_u32..).zip(normals).map(|(turn, _)| gamma(*shape, noise, round, turn)));
            }
            Self::Mixture { narrow, sigma } => {
                values.resize(normals.len(), 0.0);
                if kinds.is_empty() {
                    noise.fill(Channel::Component, round, values);
                    wide.extend(values.iter().map(|u| u >= narrow));
                } else {
                    let edge = normal::inverse_cdf(*narrow);
                    wide.extend(kinds.iter().map(|kind| *kind >= edge));
                }
                for ((value, z), wide) in values.iter_mut().zip(normals).zip(wide.iter()) {
                    *value = sigma[usize::from(*wide)] * z;
                }
                bounded_exp_row(values);
            }
            Self::Empirical(quantiles) => {
                values.extend(normals.iter().map(|z| between(quantiles, normal::cdf(*z))));
            }
        }
    }
}

/// A gamma of this shape and mean one: the turn's own attempts, each with its own normal and its own acceptance.
fn gamma(shape: f64, noise: &Noise, round: u32, turn: u32) -> f64 {
    let boosted = shape < 1.0;
    let d = if boosted { shape + 1.0 } else { shape } - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    let mut value = d;
    for attempt in 0..=u16::MAX {
        let (first, second) = noise.pair(Channel::GammaAttempt, attempt, round, turn);
        let x = normal::inverse_cdf(first);
        let root = 1.0 + c * x;
        if root <= 0.0 {
            continue;
        }
        let v = root * root * root;
        if libm::log(second) < 0.5 * x * x + d - d * v + d * libm::log(v) {
            value = d * v;
            break;
        }
    }
    if boosted {
        value *= bounded_exp(libm::log(noise.uniform(Channel::GammaBoost, round, turn)) / shape);
    }
    value / shape
}

/// The value at probability `p` of evenly spaced quantiles.
fn between(quantiles: &[f64], p: f64) -> f64 {
    let last = quantiles.len() - 1;
    let place = p * count(last);
    let below = usize::try_from(nearest(place - 0.5, 0)).unwrap_or(last).min(last - 1);
    let (low, high) = (quantiles[below], quantiles[below + 1]);
    low + (high - low) * (place - count(below))
}

/// Standard deviation of the logarithm of a lognormal with this cv.
pub(super) fn log_sigma(cv: f64) -> f64 {
    libm::log1p(cv * cv).sqrt()
}

/// e to the `x`, with `x` held within 700 of zero.
#[inline]
pub(super) fn bounded_exp(x: f64) -> f64 {
    libm::exp(x.clamp(-MOST_EXPONENT, MOST_EXPONENT))
}

/// The nearest whole number (of two, the even one) from `least` to 4294967295; what is no number gives `least`.
///
/// This is the one place where a size or a time becomes whole. Adding 2^52 leaves the whole number in the low bits.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the low half holds the whole number, which is below 2^32")]
pub(super) fn nearest(x: f64, least: u32) -> u32 {
    let floor = f64::from(least);
    let above = if x > floor { x } else { floor };
    let held = if above < MOST_MEAN { above } else { MOST_MEAN };
    (held + 4_503_599_627_370_496.0).to_bits() as u32
}

/// A length as a float; exact below 2^32, and no table is longer.
fn count(length: usize) -> f64 {
    f64::from(u32::try_from(length).unwrap_or(u32::MAX))
}

/// Why numbers make no distribution of sizes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SizeError {
    /// A number is outside its range, or is none.
    Outside {
        /// Which one.
        what: &'static str,
        /// What it was.
        got: f64,
        /// The least it may be.
        least: f64,
        /// The most it may be.
        most: f64,
        /// Whether the least itself is too little.
        open: bool,
    },
    /// The weights of a mixture do not sum to one.
    Weights {
        /// Their sum.
        sum: f64,
    },
    /// Fewer than two quantiles.
    TooFewQuantiles {
        /// How many.
        count: usize,
    },
    /// The quantile at this place, counted from 0, is less than the one before it.
    Falling {
        /// The place.
        index: usize,
    },
}

impl fmt::Display for SizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Outside { what, got, least, most, open } => {
                let from = if *open { "above" } else { "from" };
                write!(f, "{what} is {got}, and must be {from} {least} to {most}")
            }
            Self::Weights { sum } => write!(f, "the weights sum to {sum}, and must sum to 1"),
            Self::TooFewQuantiles { count } => write!(f, "{count} quantiles, and at least 2 are needed"),
            Self::Falling { index } => write!(f, "quantile {index} is less than the one before it"),
        }
    }
}

impl std::error::Error for SizeError {}

fn positive(what: &'static str, got: f64, most: f64) -> Result<(), SizeError> {
    let fine = got > 0.0 && got <= most;
    if fine { Ok(()) } else { Err(SizeError::Outside { what, got, least: 0.0, most, open: true }) }
}

fn at_least(what: &'static str, got: f64, least: f64, most: f64) -> Result<(), SizeError> {
    let fine = (least..=most).contains(&got);
    if fine { Ok(()) } else { Err(SizeError::Outside { what, got, least, most, open: false }) }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "pinned values are the same bits or are wrong")]
mod tests {
    use super::*;
    use statrs::distribution::{ContinuousCDF, Gamma, LogNormal};

    const DRAWS: usize = 100_000;

    fn part(weight: f64, mu: f64, sigma: f64) -> Component {
        Component { weight, mu, sigma }
    }

    /// Draws of a size, not yet whole, from a run of its own.
    fn draws(size: &Size, run: u32) -> Vec<f64> {
        let noise = Noise::new(77, run);
        let (mut normals, mut values, mut wide) = (vec![0.0; DRAWS], Vec::new(), Vec::new());
        noise.fill(Channel::Size, 0, &mut normals);
        normal::invert(&mut normals);
        size.shape().draw(&noise, 0, [&normals, &[]], &mut values, &mut wide);
        let scales = size.scales(0.0);
        wide.resize(DRAWS, false);
        values.iter().zip(&wide).map(|(value, wide)| value * scales[usize::from(*wide)]).collect()
    }

    /// sqrt(n) times the distance of Kolmogorov and Smirnov; 1.95 is passed once in a thousand.
    fn distance(mut values: Vec<f64>, cdf: impl Fn(f64) -> f64) -> f64 {
        values.sort_by(f64::total_cmp);
        let n = count(values.len());
        let gaps = (0_u32..).map(f64::from).zip(&values).map(|(rank, value)| {
            let p = cdf(*value);
            (p - rank / n).abs().max(((rank + 1.0) / n - p).abs())
        });
        n.sqrt() * gaps.fold(0.0, f64::max)
    }

    fn fits(size: &Size, cdf: impl Fn(f64) -> f64) {
        for run in 0..2 {
            let values = draws(size, run);
            let mean = values.iter().sum::<f64>() / count(DRAWS);
            let second = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count(DRAWS);
            let error = (second / count(DRAWS)).sqrt();
            assert!((mean - size.mean()).abs() < 4.5 * error, "mean {mean} +- {error} of {size:?}");
            let far = distance(values, &cdf);
            assert!(far < 1.95, "{far} for {size:?}");
        }
    }

    #[test]
    fn lognormals_fit() {
        for cv in [0.3, 1.0, 1.8] {
            let sigma = libm::log(1.0 + cv * cv).sqrt();
            let known = LogNormal::new(libm::log(2048.0) - sigma * sigma / 2.0, sigma).unwrap();
            fits(&Size::lognormal(2048.0, cv).unwrap(), |x| known.cdf(x));
        }
    }

    #[test]
    fn gammas_fit() {
        for shape in [0.44, 1.0, 2.78] {
            let cv = 1.0 / f64::sqrt(shape);
            let known = Gamma::new(shape, shape / 2048.0).unwrap();
            fits(&Size::gamma(2048.0, cv).unwrap(), |x| known.cdf(x));
        }
    }

    #[test]
    fn mixtures_fit() {
        let (narrow, wide) = (LogNormal::new(5.16, 0.46).unwrap(), LogNormal::new(6.14, 1.30).unwrap());
        let size = Size::mixture(part(0.42, 5.16, 0.46), part(0.58, 6.14, 1.30), Moves::Wide).unwrap();
        fits(&size, |x| 0.42 * narrow.cdf(x) + 0.58 * wide.cdf(x));
    }

    #[test]
    fn empirical_sizes_lie_on_their_lines() {
        let size = Size::empirical(vec![10.0, 20.0, 20.0, 100.0]).unwrap();
        assert_eq!(size.mean(), (15.0 + 20.0 + 60.0) / 3.0);
        let values = draws(&size, 0);
        let share = |x: f64| count(values.iter().filter(|value| **value <= x).count()) / count(DRAWS);
        for (x, p) in [(10.0, 0.0), (15.0, 1.0 / 6.0), (19.999, 1.0 / 3.0), (20.0, 2.0 / 3.0), (60.0, 5.0 / 6.0)] {
            assert!((share(x) - p).abs() < 0.006, "{x}: {}", share(x));
        }
        assert!((values.iter().sum::<f64>() / count(DRAWS) - size.mean()).abs() < 0.35);
        assert_eq!(between(&[10.0, 20.0, 20.0, 100.0], 1.0), 100.0);
        assert_eq!(between(&[10.0, 20.0, 20.0, 100.0], 0.0), 10.0);
    }

    #[test]
    fn a_shift_moves_what_the_effort_moves() {
        let two = libm::log(2.0);
        let [narrow, wide] = [part(0.5, 5.0, 0.5), part(0.5, 7.0, 1.0)];
        let (low, high) = (0.5 * narrow.mean(), 0.5 * wide.mean());
        for (moves, mean) in
            [(Moves::Wide, low + 2.0 * high), (Moves::Narrow, 2.0 * low + high), (Moves::All, 2.0 * (low + high))]
        {
            let size = Size::mixture(narrow, wide, moves).unwrap();
            assert!((size.shifted_mean(two) / mean - 1.0).abs() < 1e-14);
            let (before, after) = (size.scales(0.0), size.scales(two));
            let ratios = [after[0] / before[0], after[1] / before[1]];
            let expected = moves.factors(2.0);
            assert!(ratios.iter().zip(expected).all(|(ratio, factor)| (ratio - factor).abs() < 1e-14));
        }
        for size in [Size::lognormal(300.0, 1.0), Size::gamma(300.0, 1.0), Size::empirical(vec![0.0, 600.0])] {
            assert!((size.unwrap().shifted_mean(two) - 600.0).abs() < 1e-10);
        }
    }

    #[test]
    fn numbers_become_whole_here() {
        let table = [(0.2, 1), (1.5, 2), (2.5, 2), (2.500_000_1, 3), (1e12, u32::MAX), (f64::NAN, 1), (-4.0, 1)];
        for (x, whole) in table {
            assert_eq!(nearest(x, 1), whole, "{x}");
        }
        assert_eq!(nearest(0.4, 0), 0);
        assert_eq!(nearest(f64::INFINITY, 1), u32::MAX);
        assert_eq!(nearest(4_294_967_294.6, 1), u32::MAX);
        assert_eq!(nearest(4_294_967_294.4, 1), u32::MAX - 1);
    }

    #[test]
    fn unsound_numbers_are_named() {
        let what = |made: Result<Size, SizeError>| {
            let error = made.unwrap_err();
            let SizeError::Outside { what, .. } = error else { panic!("{error}") };
            what
        };
        for mean in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e10] {
            assert_eq!(what(Size::lognormal(mean, 1.0)), "mean");
            assert_eq!(what(Size::gamma(mean, 1.0)), "mean");
        }
        for cv in [-0.1, f64::NAN, f64::INFINITY] {
            assert_eq!(what(Size::lognormal(5.0, cv)), "cv");
            assert_eq!(what(Size::gamma(5.0, cv)), "cv");
        }
        assert_eq!(what(Size::gamma(5.0, 0.0)), "cv");
        assert!(Size::lognormal(5.0, 0.0).is_ok());
        let mixture = |narrow, wide| Size::mixture(narrow, wide, Moves::All);
        assert_eq!(what(mixture(part(0.0, 5.0, 1.0), part(1.0, 5.0, 1.0))), "weight");
        assert_eq!(what(mixture(part(0.5, f64::NAN, 1.0), part(0.5, 5.0, 1.0))), "mu");
        assert_eq!(what(mixture(part(0.5, 5.0, 1.0), part(0.5, 5.0, -1.0))), "sigma");
        assert_eq!(what(mixture(part(0.5, 5.0, 1.0), part(0.5, 50.0, 9.0))), "mean");
        let sum = mixture(part(0.4, 5.0, 1.0), part(0.5, 5.0, 1.0));
        assert!(matches!(sum, Err(SizeError::Weights { .. })));
        assert_eq!(Size::empirical(vec![]), Err(SizeError::TooFewQuantiles { count: 0 }));
        assert_eq!(Size::empirical(vec![3.0]), Err(SizeError::TooFewQuantiles { count: 1 }));
        assert_eq!(Size::empirical(vec![3.0, 5.0, 4.0]), Err(SizeError::Falling { index: 2 }));
        assert_eq!(what(Size::empirical(vec![3.0, f64::NAN])), "quantile");
        assert_eq!(what(Size::empirical(vec![-3.0, 4.0])), "quantile");
        assert_eq!(what(Size::empirical(vec![0.0, 0.0])), "mean");
    }

    /// Draws of the least and most likely sizes stay numbers.
    #[test]
    fn extremes_stay_finite() {
        let noise = Noise::new(3, 3);
        for size in [
            Size::gamma(1.0, MOST_CV).unwrap(),
            Size::gamma(MOST_MEAN, 0.001).unwrap(),
            Size::lognormal(MOST_MEAN, MOST_CV).unwrap(),
        ] {
            let (mut values, mut wide) = (Vec::new(), Vec::new());
            size.shape().draw(&noise, 0, [&[-8.3, -1.0, 0.0, 1.0, 8.3], &[]], &mut values, &mut wide);
            assert!(values.iter().all(|value| value.is_finite()), "{values:?}");
            assert!(size.scales(20.0).iter().all(|scale| scale.is_finite()));
        }
    }
}
