//! Second moments of sizes: how far turns scatter, and how two turns of a session go together.
//!
//! For estimates of what a sample will be worth; no run is made with them. Of two turns the normals behind them have the
//! stated correlation, and whether each is narrow or wide is drawn for each alone. Units: squared tokens. Source: moments of
//! the lognormal (Aitchison and Brown 1957); Gebelein 1941 for the bound.

use super::{Component, Kind, Size, SizeError, bounded_exp};

impl Size {
    /// The variance, in squared tokens.
    #[must_use]
    pub fn variance(&self) -> f64 {
        let mean = self.mean();
        match &self.0 {
            Kind::Lognormal { cv, .. } | Kind::Gamma { cv, .. } => cv * cv * mean * mean,
            Kind::Mixture { narrow, wide, .. } => {
                let square = |mu: f64, sigma: f64| bounded_exp(2.0 * (mu + sigma * sigma));
                let squares = narrow.weight * square(narrow.mu, narrow.sigma)
                    + (1.0 - narrow.weight) * square(wide.mu, wide.sigma);
                (squares - mean * mean).max(0.0)
            }
            Kind::Empirical { quantiles, .. } => {
                let piece = |pair: &[f64]| (pair[0] * pair[0] + pair[0] * pair[1] + pair[1] * pair[1]) / 3.0;
                let (sum, pieces) =
                    quantiles.windows(2).fold((0.0, 0.0), |(sum, pieces), pair| (sum + piece(pair), pieces + 1.0));
                (sum / pieces - mean * mean).max(0.0)
            }
        }
    }

    /// The same size with its mean times `factor` and its scatter times `noise`: the coefficient of variation of a lognormal
    /// or a gamma, that of each component of a mixture about its own mean; of quantiles, their logs' distances.
    ///
    /// ```
    /// use flyball::sim::Size;
    /// let size = Size::lognormal(1000.0, 0.8).unwrap().resized(1.5, 2.0).unwrap();
    /// assert_eq!(size, Size::lognormal(1500.0, 1.6).unwrap());
    /// ```
    ///
    /// # Errors
    /// [`SizeError`] where that is no size.
    pub fn resized(&self, factor: f64, noise: f64) -> Result<Self, SizeError> {
        match &self.0 {
            Kind::Lognormal { mean, cv } => Self::lognormal(mean * factor, cv * noise),
            Kind::Gamma { mean, cv } => Self::gamma(mean * factor, cv * noise),
            Kind::Mixture { narrow, wide, moves } => {
                let part = |part: &Component| {
                    let variance = part.sigma * part.sigma;
                    let wider = libm::log1p(noise * noise * libm::expm1(variance.min(super::MOST_EXPONENT)));
                    let mu = part.mu + (variance - wider) / 2.0 + libm::log(factor);
                    Component { mu, sigma: wider.sqrt(), ..*part }
                };
                Self::mixture(part(narrow), part(wide), *moves)
            }
            Kind::Empirical { quantiles, mean } => {
                let spread: Vec<f64> = quantiles.iter().map(|tokens| libm::pow(*tokens, noise)).collect();
                let middle = Self::empirical(spread.clone())?.mean();
                Self::empirical(spread.into_iter().map(|tokens| tokens / middle * mean * factor).collect())
            }
        }
    }

    /// The covariance of two turns whose normals have this correlation, in squared tokens. For an empirical size it is the
    /// most that it can be in size, the correlation of the normals; a gamma has no normal behind it, and none.
    #[must_use]
    pub fn covariance(&self, correlation: f64) -> f64 {
        match &self.0 {
            Kind::Lognormal { mean, cv } => {
                let variance = libm::log1p(cv * cv);
                mean * mean * libm::expm1(variance * correlation)
            }
            Kind::Mixture { narrow, wide, .. } => {
                let parts = [(narrow.weight, narrow), (1.0 - narrow.weight, wide)];
                let mut sum = 0.0;
                for (share, one) in parts {
                    for (other_share, other) in parts {
                        let both = libm::expm1((one.sigma * other.sigma * correlation).min(super::MOST_EXPONENT));
                        sum += share * other_share * one.mean() * other.mean() * both;
                    }
                }
                sum
            }
            Kind::Empirical { .. } => self.variance() * correlation,
            Kind::Gamma { .. } => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::sim::{AgentModel, AgentSpec, Component, Moves, RoundDraw, RungModel, Size, TurnCount};

    fn mixture() -> Size {
        let part = |weight, mu, sigma| Component { weight, mu, sigma };
        Size::mixture(part(0.4, 5.0, 0.3), part(0.6, 6.0, 0.8), Moves::Wide).unwrap()
    }

    #[test]
    fn resizing_keeps_what_it_does_not_change() {
        let empirical = Size::empirical(vec![10.0, 20.0, 60.0, 400.0]).unwrap();
        for size in [mixture(), empirical, Size::gamma(300.0, 0.7).unwrap(), Size::lognormal(300.0, 0.7).unwrap()] {
            let cv = |size: &Size| size.variance().sqrt() / size.mean();
            let (same, moved, wider) =
                (size.resized(1.0, 1.0).unwrap(), size.resized(1.7, 1.0).unwrap(), size.resized(1.0, 1.5).unwrap());
            assert!((same.mean() / size.mean() - 1.0).abs() < 1e-9 && (cv(&same) / cv(&size) - 1.0).abs() < 1e-9);
            assert!((moved.mean() / size.mean() - 1.7).abs() < 1e-9 && (cv(&moved) / cv(&size) - 1.0).abs() < 1e-9);
            assert!((wider.mean() / size.mean() - 1.0).abs() < 1e-9 && cv(&wider) > 1.2 * cv(&size), "{wider:?}");
        }
        assert!(mixture().resized(-1.0, 1.0).is_err() && mixture().resized(f64::NAN, 1.0).is_err());
    }

    /// Mean, variance and covariance of neighbours over many turns that the agent makes.
    fn drawn(size: &Size, rho: f64) -> [f64; 3] {
        let mut spec = AgentSpec::new(vec![RungModel::new(size.clone())]);
        spec.turn.rho = rho;
        spec.turns = TurnCount { mean: 1000.0, cv: 0.0, min: 1, max: None };
        let model = AgentModel::new(spec).unwrap();
        let (mut luck, mut draw) = (model.luck(5, 0, 400), RoundDraw::default());
        let mut sums = [0.0; 3];
        let centre = size.mean();
        for round in 0..400 {
            luck.realise(0, round, &mut draw);
            let off: Vec<f64> = draw.tokens.iter().map(|&tokens| f64::from(tokens) - centre).collect();
            sums[0] += off.iter().sum::<f64>() / 400_000.0;
            sums[1] += off.iter().map(|off| off * off).sum::<f64>() / 400_000.0;
            sums[2] += off.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>() / (400.0 * 999.0);
        }
        [centre + sums[0], sums[1], sums[2]]
    }

    #[test]
    fn moments_are_those_of_what_is_drawn() {
        let steps: Vec<f64> = (0..=50).map(|at| f64::from(at * at)).collect();
        let sizes = [
            (Size::lognormal(500.0, 0.8).unwrap(), 0.5, 0.04),
            (mixture(), 0.4, 0.04),
            (Size::gamma(500.0, 0.7).unwrap(), 0.0, 0.02),
            (Size::empirical(steps).unwrap(), 0.0, 0.02),
        ];
        for (size, rho, off) in sizes {
            let [mean, variance, covariance] = drawn(&size, rho);
            assert!((mean / size.mean() - 1.0).abs() < 0.01, "{size:?} {mean}");
            assert!((variance / size.variance() - 1.0).abs() < off, "{size:?} {variance} {}", size.variance());
            let far = (covariance - size.covariance(rho)).abs() / size.variance();
            assert!(far < off, "{size:?} {covariance} {}", size.covariance(rho));
        }
    }

    #[test]
    fn a_lognormal_with_itself_has_its_variance_and_with_a_stranger_none() {
        let size = Size::lognormal(300.0, 1.5).unwrap();
        assert!((size.covariance(1.0) / size.variance() - 1.0).abs() < 1e-12);
        assert!(size.covariance(0.0).abs() < 1e-9 && size.covariance(-0.5) < 0.0);
        assert!(mixture().covariance(1.0) < mixture().variance(), "kinds are drawn apart");
    }
}
