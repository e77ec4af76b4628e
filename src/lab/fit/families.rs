//! Families of sizes: what one rung's output per call looks like.
//!
//! Three are fitted by maximum likelihood, on positive counts of tokens: one lognormal, a mixture of two, a gamma. Public logs
//! of agents follow the mixture best nearly everywhere: a narrow body of short tool calls and a wide one of answers with
//! thought. A fit is deterministic: no draws, fixed starts, sums in order.
//!
//! Units: `mu` and `sigma` are of ln tokens; gamma's scale is in tokens. Source of the mixture's fit: Dempster, Laird and Rubin 1977 (EM).

use super::numeric::{anderson_darling, deviation, digamma, distance, float, len, mean, quantile, trigamma};
use crate::lab::special::{gamma_tails, normal_cdf};

/// The smallest spread of ln tokens that a fit may have: a component on one value would have endless likelihood.
pub const SIGMA_FLOOR: f64 = 0.05;

/// A lognormal of tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lognormal {
    /// The mean of ln tokens.
    pub mu: f64,
    /// The standard deviation of ln tokens.
    pub sigma: f64,
}

impl Lognormal {
    /// The most likely one for sorted ln tokens.
    #[must_use]
    pub fn fit(logs: &[f64]) -> Self {
        Self { mu: mean(logs), sigma: deviation(logs, 0.0).max(SIGMA_FLOOR) }
    }

    /// The mean, in tokens.
    #[must_use]
    pub fn mean(&self) -> f64 {
        libm::exp(self.mu + 0.5 * self.sigma * self.sigma)
    }

    /// The share below, by ln tokens.
    #[must_use]
    pub fn cdf_of_log(&self, log: f64) -> f64 {
        normal_cdf((log - self.mu) / self.sigma)
    }

    /// The same mean with `taken` off the variance of ln tokens, at most three quarters of it.
    #[must_use]
    pub fn narrowed(&self, taken: f64) -> Self {
        let whole = self.sigma * self.sigma;
        let left = (whole - taken).max(0.25 * whole);
        Self { mu: self.mu + 0.5 * (whole - left), sigma: left.sqrt() }
    }

    /// The density of ln tokens.
    #[must_use]
    pub fn density_of_log(&self, log: f64) -> f64 {
        let z = (log - self.mu) / self.sigma;
        libm::exp(-0.5 * z * z) / (self.sigma * (2.0 * core::f64::consts::PI).sqrt())
    }
}

/// Two lognormals: `narrow` the one of the smaller mean, short tool calls; `wide` the other, where effort acts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mixture {
    /// The share of calls that are of the narrow kind.
    pub weight: f64,
    /// The narrow kind.
    pub narrow: Lognormal,
    /// The wide kind.
    pub wide: Lognormal,
}

/// Where the climbs start: the share of the sorted values that is taken for the lower kind.
const SPLITS: [f64; 6] = [0.1, 0.25, 0.4, 0.55, 0.7, 0.85];
/// The most steps of one climb.
const STEPS: u32 = 5000;
/// A climb ends when a step gains less than this in mean log likelihood.
const GAIN: f64 = 1e-10;

impl Mixture {
    /// The most likely one for sorted ln tokens: the best of several climbs.
    #[must_use]
    pub fn fit(logs: &[f64]) -> Self {
        let one = Lognormal::fit(logs);
        let around = |factor: f64| Lognormal { mu: one.mu, sigma: (one.sigma * factor).max(SIGMA_FLOOR) };
        let nested = Self { weight: 0.5, narrow: around(0.4), wide: around(1.4) };
        let splits = SPLITS.iter().map(|&share| {
            let (low, high) = logs.split_at(split_at(logs, share));
            Self { weight: share, narrow: Lognormal::fit(low), wide: Lognormal::fit(high) }
        });
        let mut best = (f64::NEG_INFINITY, nested);
        for start in core::iter::once(nested).chain(splits) {
            let (likelihood, found) = start.climb(logs);
            // The margin keeps the first of two climbs to one peak, whatever their last bits.
            if likelihood > best.0 + 1e-9 || best.0 == f64::NEG_INFINITY {
                best = (likelihood, found);
            }
        }
        best.1.in_order()
    }

    /// The mean, in tokens.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.weight * self.narrow.mean() + (1.0 - self.weight) * self.wide.mean()
    }

    /// The share below, by ln tokens.
    #[must_use]
    pub fn cdf_of_log(&self, log: f64) -> f64 {
        self.weight * self.narrow.cdf_of_log(log) + (1.0 - self.weight) * self.wide.cdf_of_log(log)
    }

    /// The density of ln tokens.
    #[must_use]
    pub fn density_of_log(&self, log: f64) -> f64 {
        self.weight * self.narrow.density_of_log(log) + (1.0 - self.weight) * self.wide.density_of_log(log)
    }

    fn in_order(self) -> Self {
        if self.narrow.mean() <= self.wide.mean() {
            self
        } else {
            Self { weight: 1.0 - self.weight, narrow: self.wide, wide: self.narrow }
        }
    }

    /// Expectation and maximisation by turns: mean log likelihood and where it led.
    fn climb(mut self, logs: &[f64]) -> (f64, Self) {
        let mut before = f64::NEG_INFINITY;
        let mut narrow_share = vec![0.0; logs.len()];
        for _ in 0..STEPS {
            let mut likelihood = 0.0;
            for (&log, share) in logs.iter().zip(&mut narrow_share) {
                let narrow = self.weight * self.narrow.density_of_log(log);
                let sum = (narrow + (1.0 - self.weight) * self.wide.density_of_log(log)).max(f64::MIN_POSITIVE);
                *share = narrow / sum;
                likelihood += libm::log(sum);
            }
            likelihood /= len(logs).max(1.0);
            if likelihood - before < GAIN {
                return (likelihood, self);
            }
            before = likelihood;
            let whole = len(logs);
            let weight = narrow_share.iter().sum::<f64>() / whole;
            // Less than two calls are no kind of their own.
            if weight * whole < 2.0 || (1.0 - weight) * whole < 2.0 {
                return (likelihood, self);
            }
            self.weight = weight;
            self.narrow = weighted(logs, &narrow_share, |share| share);
            self.wide = weighted(logs, &narrow_share, |share| 1.0 - share);
        }
        (before, self)
    }
}

/// The place that leaves `share` below it, and at least one value on both sides where there are two.
fn split_at(logs: &[f64], share: f64) -> usize {
    let below = logs.partition_point(|&log| log <= quantile(logs, share));
    below.clamp(usize::from(logs.len() > 1), logs.len().saturating_sub(1).max(usize::from(logs.len() > 1)))
}

fn weighted(logs: &[f64], shares: &[f64], of: impl Fn(f64) -> f64) -> Lognormal {
    let (mut weight, mut sum) = (0.0, 0.0);
    for (log, &share) in logs.iter().zip(shares) {
        weight += of(share);
        sum += of(share) * log;
    }
    let mu = sum / weight;
    let squares: f64 = logs.iter().zip(shares).map(|(log, &share)| of(share) * (log - mu) * (log - mu)).sum();
    Lognormal { mu, sigma: (squares / weight).sqrt().max(SIGMA_FLOOR) }
}

/// A gamma of tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gamma {
    /// The shape; one over the squared coefficient of variation.
    pub shape: f64,
    /// The scale, in tokens.
    pub scale: f64,
}

impl Gamma {
    /// The most likely one for positive tokens.
    #[must_use]
    pub fn fit(tokens: &[f64]) -> Self {
        let centre = mean(tokens).max(f64::MIN_POSITIVE);
        let logs = tokens.iter().map(|&value| libm::log(value)).sum::<f64>() / len(tokens).max(1.0);
        // Nothing to be told apart: as narrow as the floor of the others.
        let excess = (libm::log(centre) - logs).max(0.5 * SIGMA_FLOOR * SIGMA_FLOOR);
        let mut shape = (3.0 - excess + ((excess - 3.0) * (excess - 3.0) + 24.0 * excess).sqrt()) / (12.0 * excess);
        for _ in 0..50 {
            let step = (libm::log(shape) - digamma(shape) - excess) / (1.0 / shape - trigamma(shape));
            shape = (shape - step).max(shape * 0.1);
            if step.abs() <= shape * 1e-12 {
                break;
            }
        }
        Self { shape, scale: centre / shape }
    }

    /// The share below, by tokens.
    #[must_use]
    pub fn cdf(&self, tokens: f64) -> f64 {
        gamma_tails(self.shape, tokens / self.scale).0
    }

    /// The density of ln tokens.
    #[must_use]
    pub fn density_of_log(&self, log: f64) -> f64 {
        let x = libm::exp(log) / self.scale;
        libm::exp(self.shape * libm::log(x) - x - libm::lgamma(self.shape))
    }
}

/// All families fitted to one rung, and how far each lies from the data (Kolmogorov, Smirnov).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Families {
    /// One lognormal.
    pub lognormal: Lognormal,
    /// Two lognormals.
    pub mixture: Mixture,
    /// A gamma.
    pub gamma: Gamma,
    /// Its distance from the lognormal.
    pub ks_lognormal: f64,
    /// Its distance from the mixture.
    pub ks_mixture: f64,
    /// Its distance from the gamma.
    pub ks_gamma: f64,
    /// The same by Anderson and Darling, who weigh the tails: from the lognormal.
    pub ad_lognormal: f64,
    /// From the mixture.
    pub ad_mixture: f64,
    /// From the gamma.
    pub ad_gamma: f64,
}

impl Families {
    /// Fits all to the positive ones among counts of tokens, in any order; `None` where there are none.
    #[must_use]
    pub fn fit(tokens: &[u64]) -> Option<Self> {
        let mut ordered: Vec<u64> = tokens.iter().copied().filter(|&count| count > 0).collect();
        ordered.sort_unstable();
        ordered.first()?;
        let values: Vec<f64> = ordered.iter().map(|&count| float(count)).collect();
        let logs: Vec<f64> = values.iter().map(|&value| libm::log(value)).collect();
        let (lognormal, mixture, gamma) = (Lognormal::fit(&logs), Mixture::fit(&logs), Gamma::fit(&values));
        Some(Self {
            lognormal,
            mixture,
            gamma,
            ks_lognormal: distance(&logs, |log| lognormal.cdf_of_log(log)),
            ks_mixture: distance(&logs, |log| mixture.cdf_of_log(log)),
            ks_gamma: distance(&values, |value| gamma.cdf(value)),
            ad_lognormal: anderson_darling(&logs, |log| lognormal.cdf_of_log(log)),
            ad_mixture: anderson_darling(&logs, |log| mixture.cdf_of_log(log)),
            ad_gamma: anderson_darling(&values, |value| gamma.cdf(value)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::fit::numeric::sorted;
    use proptest::prelude::*;

    /// The values whose ranks are evenly spaced: a sample without luck.
    fn grid(count: u32, cdf: impl Fn(f64) -> f64) -> Vec<f64> {
        let solve = |share: f64| {
            let (mut low, mut high) = (-5.0, 20.0);
            for _ in 0..80 {
                let middle = 0.5 * (low + high);
                if cdf(middle) < share { low = middle } else { high = middle }
            }
            low
        };
        (0..count).map(|at| solve((f64::from(at) + 0.5) / f64::from(count))).collect()
    }

    const KNOWN: Mixture = Mixture {
        weight: 0.42,
        narrow: Lognormal { mu: 5.16, sigma: 0.46 },
        wide: Lognormal { mu: 6.14, sigma: 1.30 },
    };

    #[test]
    fn a_known_mixture_is_found_again() {
        let found = Mixture::fit(&grid(4000, |log| KNOWN.cdf_of_log(log)));
        let pairs = [
            (found.weight, KNOWN.weight, 0.02),
            (found.narrow.mu, KNOWN.narrow.mu, 0.02),
            (found.narrow.sigma, KNOWN.narrow.sigma, 0.02),
            (found.wide.mu, KNOWN.wide.mu, 0.03),
            (found.wide.sigma, KNOWN.wide.sigma, 0.02),
        ];
        for (ours, true_value, within) in pairs {
            assert!((ours - true_value).abs() < within, "{found:?}");
        }
    }

    #[test]
    fn drawn_at_random_it_is_found_as_well() {
        // Knuth's multiplier; Box and Muller.
        let mut state = 1_u64;
        let mut uniform = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (float(state >> 11) + 0.5) / 9_007_199_254_740_992.0
        };
        let logs = sorted(
            (0..5000)
                .map(|_| {
                    let part = if uniform() < 0.3 {
                        Lognormal { mu: 4.3, sigma: 0.27 }
                    } else {
                        Lognormal { mu: 5.9, sigma: 0.8 }
                    };
                    let normal =
                        (-2.0 * libm::log(uniform())).sqrt() * libm::cos(2.0 * core::f64::consts::PI * uniform());
                    part.mu + part.sigma * normal
                })
                .collect(),
        );
        let found = Mixture::fit(&logs);
        assert!((found.weight - 0.3).abs() < 0.04 && (found.narrow.mu - 4.3).abs() < 0.05, "{found:?}");
        assert!((found.wide.mu - 5.9).abs() < 0.08 && (found.wide.sigma - 0.8).abs() < 0.05, "{found:?}");
    }

    #[test]
    fn the_narrow_kind_is_the_one_of_the_smaller_mean() {
        let swapped = Mixture { weight: 0.58, narrow: KNOWN.wide, wide: KNOWN.narrow };
        assert_eq!(swapped.in_order().narrow, KNOWN.narrow);
        assert!((swapped.in_order().mean() - KNOWN.mean()).abs() < 1e-9);
    }

    #[test]
    fn a_gamma_is_found_again() {
        let truth = Gamma { shape: 2.5, scale: 120.0 };
        let values: Vec<f64> = grid(3000, |log| truth.cdf(libm::exp(log))).iter().map(|&log| libm::exp(log)).collect();
        let found = Gamma::fit(&values);
        assert!((found.shape - 2.5).abs() < 0.02 && (found.scale - 120.0).abs() < 1.5, "{found:?}");
    }

    #[test]
    fn zeros_have_no_family() {
        assert_eq!(Families::fit(&[0, 0]), None);
        assert_eq!(Families::fit(&[0, 7, 9]), Families::fit(&[9, 7]));
    }

    #[test]
    fn narrowing_keeps_the_mean() {
        let narrowed = KNOWN.wide.narrowed(0.4);
        assert!((narrowed.mean() - KNOWN.wide.mean()).abs() < 1e-9);
        assert!((narrowed.sigma * narrowed.sigma - (1.69 - 0.4)).abs() < 1e-12);
        assert!((KNOWN.narrow.narrowed(9.0).sigma - 0.23).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn any_counts_give_finite_fits(tokens in proptest::collection::vec(prop_oneof![0_u64..5, 0_u64..10_000_000], 0..60)) {
            prop_assume!(tokens.iter().any(|&count| count > 0));
            let found = Families::fit(&tokens).unwrap();
            let Mixture { weight, narrow, wide } = found.mixture;
            let numbers = [weight, narrow.mu, narrow.sigma, wide.mu, wide.sigma, found.gamma.shape, found.gamma.scale,
                           found.lognormal.mu, found.lognormal.sigma, found.ks_gamma, found.ks_lognormal, found.ks_mixture,
                           found.ad_gamma, found.ad_lognormal, found.ad_mixture];
            prop_assert!(numbers.iter().all(|number| number.is_finite()), "{found:?}");
            prop_assert!((0.0..=1.0).contains(&weight) && narrow.sigma >= SIGMA_FLOOR && wide.sigma >= SIGMA_FLOOR);
        }
    }
}
