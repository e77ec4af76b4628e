//! Second moments of sizes: how far turns scatter, and how two turns of a session go together.
//!
//! For estimates of what a sample will be worth; no run is made with them. Of two turns the normals behind their sizes have one
//! stated correlation, and those behind their kinds, narrow or wide, another. Units: squared tokens. Source: moments of
//! the lognormal (Aitchison and Brown 1957); Gebelein 1941 for the bound.

use super::{Kind, Size, bounded_exp};
use crate::sim::normal;

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

    /// The covariance of two turns whose normals have this correlation, and those of whose kinds `kinds`, in squared tokens. For
    /// an empirical size it is the most that it can be in size, the correlation of the normals; a gamma has no normal behind
    /// it, and none.
    #[must_use]
    pub fn covariance(&self, correlation: f64, kinds: f64) -> f64 {
        match &self.0 {
            Kind::Lognormal { mean, cv } => {
                let variance = libm::log1p(cv * cv);
                mean * mean * libm::expm1(variance * correlation)
            }
            Kind::Mixture { narrow, wide, .. } => {
                let parts = [(narrow.weight, narrow), (1.0 - narrow.weight, wide)];
                // of two turns, how much likelier than by chance it is that both are narrow, or both wide
                let alike =
                    normal::both_below(normal::inverse_cdf(narrow.weight), kinds) - narrow.weight * narrow.weight;
                let (mut sum, mut more) = (0.0, 0.0);
                for (share, one) in parts {
                    for (other_share, other) in parts {
                        let both = libm::expm1((one.sigma * other.sigma * correlation).min(super::MOST_EXPONENT));
                        sum += share * other_share * one.mean() * other.mean() * both;
                        let sign = if std::ptr::eq(one, other) { 1.0 } else { -1.0 };
                        more += sign * one.mean() * other.mean() * (1.0 + both);
                    }
                }
                if kinds == 0.0 { sum } else { sum + alike * more }
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

    /// Mean, variance and covariance of neighbours over many turns that the agent makes.
    fn drawn(size: &Size, rho: f64, kind_rho: f64) -> [f64; 3] {
        let mut spec = AgentSpec::new(vec![RungModel::new(size.clone())]);
        (spec.turn.rho, spec.turn.kind_rho) = (rho, kind_rho);
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
            (Size::lognormal(500.0, 0.8).unwrap(), 0.5, 0.0, 0.04),
            (mixture(), 0.4, 0.0, 0.04),
            (mixture(), 0.2, 0.9, 0.04),
            (mixture(), 0.0, -0.7, 0.04),
            (Size::gamma(500.0, 0.7).unwrap(), 0.0, 0.0, 0.02),
            (Size::empirical(steps).unwrap(), 0.0, 0.0, 0.02),
        ];
        for (size, rho, kinds, off) in sizes {
            let [mean, variance, covariance] = drawn(&size, rho, kinds);
            assert!((mean / size.mean() - 1.0).abs() < 0.01, "{size:?} {mean}");
            assert!((variance / size.variance() - 1.0).abs() < off, "{size:?} {variance} {}", size.variance());
            let far = (covariance - size.covariance(rho, kinds)).abs() / size.variance();
            assert!(far < off, "{size:?} {covariance} {}", size.covariance(rho, kinds));
        }
    }

    #[test]
    fn a_lognormal_with_itself_has_its_variance_and_with_a_stranger_none() {
        let size = Size::lognormal(300.0, 1.5).unwrap();
        assert!((size.covariance(1.0, 0.0) / size.variance() - 1.0).abs() < 1e-12);
        assert!(size.covariance(0.0, 0.0).abs() < 1e-9 && size.covariance(-0.5, 0.0) < 0.0);
        assert!(mixture().covariance(1.0, 0.0) < mixture().variance(), "kinds are drawn apart");
        assert!((mixture().covariance(1.0, 1.0) / mixture().variance() - 1.0).abs() < 1e-6);
    }
}
