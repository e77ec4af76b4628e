//! The ladder of a model, and what stands on a rung that nobody has measured.
//!
//! Which effort words a model takes is known by its family, as the programs accept them: Claude Code takes low to max, of
//! which older models lack xhigh (4.6) and max too (4.5), and 4.5 models below Opus take none; Codex takes low to xhigh
//! for gpt-5.5 and its elders, and max after it. `minimal` and `none` are left out: no public log has them. Any other model has the words that
//! were seen.
//!
//! A rung that was not measured stands as far from the nearest measured one as the prior says: for each step a range of the change of
//! ln tokens per call, acting on the wide component alone. The rung stands at the middle of the range, and half the range is the rung's
//! `shift`. Both add up outwards. Between two measured rungs the nearer counts, the harder one where both are as near.

use super::families::{Lognormal, Mixture};

/// The words that the prior knows, softest first.
pub const CHAIN: [&str; 5] = ["low", "medium", "high", "xhigh", "max"];

/// Whether a ladder stands softest first, as far as its words are known: two or more of [`CHAIN`], rising.
#[must_use]
pub fn is_backwards(efforts: &[String]) -> bool {
    let places: Vec<usize> = efforts.iter().filter_map(|effort| CHAIN.iter().position(|word| word == effort)).collect();
    places.len() >= 2 && places.windows(2).all(|pair| pair[0] < pair[1])
}

/// What one step of [`CHAIN`] adds to ln tokens per call of the wide component: the range.
///
/// From public runs at set efforts (gpt-6-luna on contest problems, features and bugs; gpt-5.6 on office tasks) and public logs of gpt-5.5
/// at three efforts: routine work at the low end, hard reasoning at the high end.
pub const WORTH: [(f64, f64); 4] = [(0.05, 0.35), (0.05, 0.95), (0.1, 0.65), (-0.1, 0.65)];

/// The name by which scenarios cite [`WORTH`].
pub const PRIOR: &str = "effort-worth-2026";

/// The efforts that a model takes, hardest first; empty where it takes none, or only those seen are known.
#[must_use]
pub fn words(model: &str) -> &'static [&'static str] {
    const FIVE: [&str; 5] = ["max", "xhigh", "high", "medium", "low"];
    const NO_XHIGH: [&str; 4] = ["max", "high", "medium", "low"];
    const NO_MAX: [&str; 4] = ["xhigh", "high", "medium", "low"];
    const THREE: [&str; 3] = ["high", "medium", "low"];
    if let Some(claude) = model.strip_prefix("claude-") {
        let is = |names: &[&str]| names.iter().any(|name| claude.starts_with(name));
        return if is(&["opus-4-5"]) {
            &THREE
        } else if is(&["sonnet-4-5", "haiku-4-5", "opus-4-1", "3-", "opus-4-2", "sonnet-4-2"]) {
            &[]
        } else if is(&["opus-4-6", "sonnet-4-6"]) {
            &NO_XHIGH
        } else {
            &FIVE
        };
    }
    let Some(version) = model.strip_prefix("gpt-") else { return &[] };
    if ["5-", "5.1", "5.2", "5.3", "5.4", "5.5"].iter().any(|old| version.starts_with(old)) || version == "5" {
        &NO_MAX
    } else {
        &FIVE
    }
}

/// What one rung was measured by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evidence {
    /// Sessions.
    pub sessions: u64,
    /// Calls of known size.
    pub calls: u64,
    /// How far the mixture lies from the data.
    pub ks_mixture: f64,
    /// How far one lognormal does.
    pub ks_lognormal: f64,
}

/// Where a rung's sizes come from.
#[derive(Clone, Debug, PartialEq)]
pub enum Origin {
    /// From calls at this effort.
    Measured(Evidence),
    /// From a measured rung and the prior.
    Assumed {
        /// The effort of that rung.
        from: String,
        /// Calls seen at this effort itself: too few.
        seen: u64,
        /// How far ln tokens may lie from what stands here, either way.
        shift: f64,
    },
}

/// One rung of a made scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct RungFit {
    /// The effort.
    pub effort: String,
    /// The sizes, without the session effect.
    pub sizes: Mixture,
    /// Where they come from.
    pub origin: Origin,
}

impl RungFit {
    /// Whether it was measured.
    #[must_use]
    pub const fn is_measured(&self) -> bool {
        matches!(self.origin, Origin::Measured(_))
    }
}

/// The rung of `effort`, as far as the prior tells it from the `measured` ones; `seen` calls were too few.
pub(super) fn assumed(effort: &str, seen: u64, measured: &[RungFit]) -> Option<RungFit> {
    let place = |word: &str| CHAIN.iter().position(|known| *known == word);
    let here = place(effort)?;
    let near = measured.iter().filter_map(|rung| place(&rung.effort).map(|there| (there, rung)));
    let (there, from) = near.min_by_key(|&(there, _)| (there.abs_diff(here), usize::MAX - there))?;
    let steps = &WORTH[here.min(there)..here.max(there)];
    let middle: f64 = steps.iter().map(|(low, high)| 0.5 * (low + high)).sum();
    let shift: f64 = steps.iter().map(|(low, high)| 0.5 * (high - low)).sum();
    let wide = from.sizes.wide;
    let mu = if here > there { wide.mu + middle } else { wide.mu - middle };
    let sizes = Mixture { wide: Lognormal { mu, ..wide }, ..from.sizes };
    Some(RungFit {
        effort: effort.to_owned(),
        sizes,
        origin: Origin::Assumed { from: from.effort.clone(), seen, shift },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(effort: &str, mu: f64) -> RungFit {
        let sizes =
            Mixture { weight: 0.4, narrow: Lognormal { mu: 5.0, sigma: 0.4 }, wide: Lognormal { mu, sigma: 1.2 } };
        let evidence = Evidence { sessions: 3, calls: 100, ks_mixture: 0.02, ks_lognormal: 0.08 };
        RungFit { effort: effort.to_owned(), sizes, origin: Origin::Measured(evidence) }
    }

    #[test]
    fn the_prior_adds_up_outwards_from_the_nearest_measured_rung() {
        for (effort, mu, half) in [
            ("medium", 6.0 - 0.5, 0.45),
            ("low", 6.0 - 0.5 - 0.2, 0.45 + 0.15),
            ("xhigh", 6.0 + 0.375, 0.275),
            ("max", 6.0 + 0.375 + 0.275, 0.275 + 0.375),
        ] {
            let rung = assumed(effort, 7, &[measured("high", 6.0)]).unwrap();
            assert!((rung.sizes.wide.mu - mu).abs() < 1e-12, "{effort} at {}", rung.sizes.wide.mu);
            assert_eq!(rung.sizes.narrow, measured("high", 6.0).sizes.narrow);
            let Origin::Assumed { from, seen, shift } = rung.origin else { panic!("{effort} was never measured") };
            assert!((from.as_str(), seen) == ("high", 7) && (shift - half).abs() < 1e-12, "{effort}: {shift}");
        }
    }

    #[test]
    fn the_nearest_counts_and_the_harder_of_two() {
        let both = [measured("xhigh", 7.0), measured("medium", 5.0)];
        let from = |effort: &str| match assumed(effort, 0, &both).unwrap().origin {
            Origin::Assumed { from, .. } => from,
            Origin::Measured(_) => panic!("{effort} was never measured"),
        };
        assert_eq!([from("max"), from("high"), from("low")], ["xhigh", "xhigh", "medium"]);
        assert!(assumed("ultra", 0, &both).is_none());
        assert!(assumed("low", 0, &[]).is_none());
        assert!(assumed("low", 0, &[measured("ultra", 5.0)]).is_none());
    }

    #[test]
    fn each_family_has_its_words() {
        assert_eq!(words("claude-sonnet-5"), ["max", "xhigh", "high", "medium", "low"]);
        assert_eq!(words("claude-opus-4-6"), ["max", "high", "medium", "low"]);
        assert_eq!(words("gpt-5.5"), ["xhigh", "high", "medium", "low"]);
        assert_eq!(words("gpt-5.3-codex-spark").len(), 4);
        assert_eq!(words("gpt-6-luna")[0], "max");
        assert!(words("claude-haiku-4-5-20251001").is_empty() && words("gemini-3-pro").is_empty());
    }
}
