//! One group of sessions against what the agent makes of their design: figures with intervals, assumptions, a verdict.
//!
//! The interval of a recorded figure is the 2.5 % to 97.5 % range over samples of its sessions, drawn with replacement
//! (percentile bootstrap by cluster: Efron 1979, Davison and Hinkley 1997, 3.8). That of a simulated one is the same range
//! over simulated samples of the same design. Two figures are *apart* where their intervals do not touch, and *badly* apart
//! where moreover they differ by more than the figure's [tolerance](Statistic::tolerance).

use rayon::prelude::*;

use super::measure::{Assumption, Facts, Power, Statistic, Tolerance, Values, values};
use super::simulated::Sampler;
use super::{Settings, Verdict};
use crate::engine::Millis;
use crate::lab::fit::numeric::{quantile, sorted};
use crate::lab::fixed::ufloat;
use crate::sim::{Channel, Noise};

/// Keeps the draws of sessions apart from those of the simulated agent, whatever the seed.
const RESAMPLE: u64 = 0x5265_7361_6d70_6c65;
/// Simulated samples that the distribution of sizes is taken from.
const POOL: u32 = 20;
/// Shares at which the distribution of window means is kept: 0, 0.01, .. 1.
pub(super) const STEPS: u32 = 100;

/// A figure and its 95 % interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Range {
    /// The figure of the recorded sample; the mean over simulated ones. None where a sample says nothing of it.
    pub mean: Option<f64>,
    /// Lower end.
    pub lo: Option<f64>,
    /// Upper end.
    pub hi: Option<f64>,
}

impl Range {
    fn ends(&self) -> Option<(f64, f64)> {
        self.lo.zip(self.hi)
    }
}

/// One figure on both sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compared {
    /// Which.
    pub statistic: Statistic,
    /// Of the recorded sessions.
    pub real: Range,
    /// Of the simulated ones.
    pub simulated: Range,
}

impl Compared {
    /// Whether both intervals are there and do not touch. The distance of sizes has no lower side: it is apart where it is
    /// above the simulated interval.
    #[must_use]
    pub fn apart(&self) -> bool {
        if self.statistic == Statistic::SizeKs {
            return self.real.mean.zip(self.simulated.hi).is_some_and(|(real, most)| real > most);
        }
        let both = self.real.ends().zip(self.simulated.ends());
        both.is_some_and(|((lo, hi), (least, most))| hi < least || most < lo)
    }

    /// Whether they are apart and differ by more than the tolerance.
    #[must_use]
    pub fn badly(&self) -> bool {
        let Some((real, simulated)) = self.real.mean.zip(self.simulated.mean) else { return false };
        self.apart()
            && match self.statistic.tolerance() {
                Tolerance::Difference(most) => (real - simulated).abs() > most,
                Tolerance::Ratio(most) => (libm::log(real / simulated)).abs() > most,
            }
    }

    /// How far the recorded figure lies from the simulated mean, in half widths of the simulated interval on that side.
    #[must_use]
    pub fn distance(&self) -> Option<f64> {
        let (real, mean) = self.real.mean.zip(self.simulated.mean)?;
        self.scaled(real).map(|scaled| if real < mean { -scaled.abs() } else { scaled.abs() })
    }

    /// A value on the scale where the simulated mean is 0 and the ends of its interval are -1 and 1.
    #[must_use]
    pub fn scaled(&self, value: f64) -> Option<f64> {
        let (mean, (lo, hi)) = self.simulated.mean.zip(self.simulated.ends())?;
        let half = if value < mean { mean - lo } else { hi - mean };
        (half > 0.0).then(|| (value - mean) / half)
    }
}

/// How an assumption stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// None of its figures is apart.
    Holds,
    /// One is, by less than the tolerance.
    Off,
    /// One is badly.
    Fails,
}

impl Standing {
    /// The stable word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Off => "off",
            Self::Fails => "fails",
        }
    }
}

/// Distributions for the picture: the value at each of the shares 0, 0.01, .. 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spread {
    /// Window means over session means, recorded.
    pub real: Vec<f64>,
    /// The same simulated: lower end, middle and upper end over samples.
    pub simulated: Vec<[f64; 3]>,
}

/// One effort, compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The effort.
    pub effort: String,
    /// Whether the rung, or that of one of the fits, stands where a prior puts it.
    pub assumed: bool,
    /// Sessions looked at.
    pub sessions: usize,
    /// Sessions that are too short or too patchy.
    pub left_out: usize,
    /// Turns of the sessions looked at.
    pub turns: u64,
    /// All figures, in the order of [`Statistic::ALL`].
    pub figures: Vec<Compared>,
    /// How each assumption stands.
    pub standings: Vec<(Assumption, Standing)>,
    /// What came of it.
    pub verdict: Verdict,
    /// For the picture.
    pub spread: Spread,
}

impl Group {
    /// One figure.
    #[must_use]
    pub fn figure(&self, statistic: Statistic) -> Option<&Compared> {
        self.figures.iter().find(|figure| figure.statistic == statistic)
    }

    /// The assumption whose figure is the furthest out among those that do not hold; where all hold, none.
    #[must_use]
    pub fn culprit(&self) -> Option<Assumption> {
        let apart = self.figures.iter().filter(|figure| figure.apart() && figure.statistic.tests().is_some());
        let far = |figure: &&Compared| figure.distance().map_or(0.0, f64::abs);
        apart.max_by(|a, b| far(a).total_cmp(&far(b))).and_then(|figure| figure.statistic.tests())
    }
}

/// A group before it is told: its figures, and for each sample what is needed to put groups together.
pub(super) struct Weighed {
    pub(super) figures: Vec<Compared>,
    pub(super) spread: Spread,
    pub(super) real: Power,
    pub(super) resampled: Vec<Power>,
    pub(super) simulated: Vec<Power>,
}

/// Weighs the recorded sessions of the group with this number against the sampler's.
pub(super) fn weigh(number: u32, real: &[Facts], sampler: &Sampler, over: Millis, settings: &Settings) -> Weighed {
    // one session drawn again and again has no spread, and says nothing of any
    let drawn = if real.len() < 2 { 0 } else { settings.samples };
    let resampled: Vec<(Values, Power)> =
        (0..drawn).into_par_iter().map(|sample| resample(number, real, settings.seed, sample)).collect();
    let pool = (0..POOL).into_par_iter().flat_map(|sample| sizes(&facts(sampler, settings.seed, sample, over)));
    let pool = sorted(pool.collect());
    let simulated: Vec<(Values, Power, Vec<f64>)> = (POOL..POOL.saturating_add(settings.samples))
        .into_par_iter()
        .map(|sample| {
            let made = facts(sampler, settings.seed, sample, over);
            let mut all = values(made.iter());
            all[Statistic::SizeKs.place()] = apart(&sorted(sizes(&made)), &pool);
            (all, power(&made), steps(&made))
        })
        .collect();
    let mut own = values(real.iter());
    own[Statistic::SizeKs.place()] = apart(&sorted(sizes(real)), &pool);
    let figures = Statistic::ALL.map(|statistic| {
        let at = statistic.place();
        let drawn = if statistic == Statistic::SizeKs {
            Vec::new()
        } else {
            resampled.iter().map(|(all, _)| all[at]).collect()
        };
        let made: Vec<f64> = simulated.iter().map(|(all, ..)| all[at]).filter(|value| value.is_finite()).collect();
        let mean = (!made.is_empty()).then(|| crate::lab::fit::numeric::mean(&made));
        Compared {
            statistic,
            real: range(Some(own[at]).filter(|value| value.is_finite()), drawn),
            simulated: range(mean, made),
        }
    });
    Weighed {
        figures: figures.into(),
        spread: Spread { real: steps(real), simulated: if pool.is_empty() { Vec::new() } else { middle(&simulated) } },
        real: power(real),
        resampled: resampled.into_iter().map(|(_, power)| power).collect(),
        simulated: simulated.into_iter().map(|(_, power, _)| power).collect(),
    }
}

/// A figure with the 95 % range of these values of it.
pub(super) fn range(mean: Option<f64>, mut values: Vec<f64>) -> Range {
    values.retain(|value| value.is_finite());
    let values = sorted(values);
    let end = |share| (!values.is_empty()).then(|| quantile(&values, share));
    Range { mean, lo: end(0.025), hi: end(0.975) }
}

/// As many of the sessions, drawn with replacement.
fn resample(group: u32, real: &[Facts], seed: u64, sample: u32) -> (Values, Power) {
    let noise = Noise::new(seed ^ RESAMPLE, sample);
    let draws =
        (0..).zip(real).map(|(place, _)| &real[index(noise.uniform(Channel::Session, group, place), real.len())]);
    let drawn: Vec<&Facts> = draws.collect();
    let power = drawn.iter().fold(Power::default(), |sum, facts| sum.plus(facts.power));
    (values(drawn.iter().copied()), power)
}

/// The place that a uniform falls on among so many.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from zero to the count, which is a usize")]
fn index(uniform: f64, count: usize) -> usize {
    ((uniform * ufloat(count as u64)) as usize).min(count.saturating_sub(1))
}

fn facts(sampler: &Sampler, seed: u64, sample: u32, over: Millis) -> Vec<Facts> {
    sampler.sample(seed, sample).iter().map(|turns| Facts::of(turns, over)).collect()
}

fn sizes(facts: &[Facts]) -> Vec<f64> {
    facts.iter().flat_map(|facts| &facts.sizes).copied().collect()
}

fn power(facts: &[Facts]) -> Power {
    facts.iter().fold(Power::default(), |sum, facts| sum.plus(facts.power))
}

/// The distribution of window means at its shares.
fn steps(facts: &[Facts]) -> Vec<f64> {
    let ratios = sorted(facts.iter().flat_map(|facts| &facts.ratios).copied().collect());
    (0..=STEPS).map(|step| quantile(&ratios, f64::from(step) / f64::from(STEPS))).collect()
}

/// The range over samples at each share.
fn middle(samples: &[(Values, Power, Vec<f64>)]) -> Vec<[f64; 3]> {
    let at = |step: usize| sorted(samples.iter().map(|(_, _, steps)| steps[step]).collect());
    (0..=STEPS as usize).map(|step| [0.025, 0.5, 0.975].map(|share| quantile(&at(step), share))).collect()
}

/// The largest distance between two distributions of sorted values (Smirnov 1939).
fn apart(left: &[f64], right: &[f64]) -> f64 {
    let (mut at, mut other, mut largest) = (0, 0, 0.0_f64);
    while at < left.len() && other < right.len() {
        let value = left[at].min(right[other]);
        at += left[at..].iter().take_while(|size| **size <= value).count();
        other += right[other..].iter().take_while(|size| **size <= value).count();
        largest = largest.max(
            (ufloat(at as u64) / ufloat(left.len() as u64) - ufloat(other as u64) / ufloat(right.len() as u64)).abs(),
        );
    }
    largest
}

/// How each assumption stands by its figures.
pub(super) fn standings(figures: &[Compared]) -> Vec<(Assumption, Standing)> {
    let of = |assumption: Assumption| {
        let own = figures.iter().filter(|figure| figure.statistic.tests() == Some(assumption));
        let worst = own.map(|figure| match (figure.apart(), figure.badly()) {
            (_, true) => Standing::Fails,
            (true, false) => Standing::Off,
            (false, false) => Standing::Holds,
        });
        (assumption, worst.max().unwrap_or(Standing::Holds))
    };
    Assumption::ALL.map(of).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(statistic: Statistic, real: [f64; 3], simulated: [f64; 3]) -> Compared {
        let range = |[lo, mean, hi]: [f64; 3]| Range { mean: Some(mean), lo: Some(lo), hi: Some(hi) };
        Compared { statistic, real: range(real), simulated: range(simulated) }
    }

    #[test]
    fn intervals_that_touch_are_not_apart() {
        let cv = |real, simulated| compared(Statistic::WindowCv, real, simulated);
        assert!(!cv([0.1, 0.2, 0.5], [0.5, 0.6, 0.7]).apart());
        assert!(cv([0.1, 0.2, 0.49], [0.5, 0.6, 0.7]).apart());
        assert!(cv([0.71, 0.8, 0.9], [0.5, 0.6, 0.7]).apart() && !cv([0.71, 0.8, 0.9], [0.5, 0.6, 0.7]).badly());
        assert!(cv([0.71, 0.95, 0.99], [0.5, 0.6, 0.7]).badly());
        assert!(!Compared { real: Range::default(), ..cv([9.0; 3], [1.0; 3]) }.apart());
    }

    #[test]
    fn the_distance_counts_half_widths_of_the_side_it_lies_on() {
        let figure = compared(Statistic::LagOne, [0.0, 0.7, 1.0], [0.1, 0.3, 0.5]);
        assert!((figure.distance().unwrap() - 2.0).abs() < 1e-12);
        let below = compared(Statistic::LagOne, [0.0, 0.2, 1.0], [0.1, 0.3, 0.9]);
        assert!((below.distance().unwrap() + 0.5).abs() < 1e-12);
        assert_eq!(compared(Statistic::LagOne, [0.0; 3], [0.3; 3]).distance(), None);
    }

    #[test]
    fn an_assumption_stands_as_its_worst_figure() {
        let figures = [
            compared(Statistic::TimeP50, [5.0, 6.0, 7.0], [5.0, 6.0, 7.0]),
            compared(Statistic::TimeSize, [0.9, 0.9, 0.9], [0.1, 0.1, 0.1]),
            compared(Statistic::LagOne, [0.2, 0.2, 0.2], [0.1, 0.1, 0.1]),
        ];
        let found = standings(&figures);
        assert!(
            found.contains(&(Assumption::Time, Standing::Fails))
                && found.contains(&(Assumption::Memory, Standing::Off))
        );
        assert!(found.contains(&(Assumption::Size, Standing::Holds)));
    }

    #[test]
    fn the_distance_of_two_samples_is_that_of_their_staircases() {
        let near = |got: f64, want: f64| (got - want).abs() < 1e-12;
        assert!(near(apart(&[1.0, 2.0, 3.0], &[1.0, 2.0, 3.0]), 0.0));
        assert!(near(apart(&[1.0, 2.0], &[3.0, 4.0]), 1.0));
        assert!(near(apart(&[1.0, 1.0, 2.0, 3.0], &[1.0, 3.0, 3.0, 3.0]), 0.5));
        assert!(near(apart(&[], &[1.0]), 0.0));
    }

    #[test]
    fn draws_fall_on_every_place_and_on_no_other() {
        assert_eq!([0.0, 0.24, 0.25, 0.999_999].map(|uniform| index(uniform, 4)), [0, 0, 1, 3]);
        assert_eq!(index(0.5, 0), 0);
    }
}
