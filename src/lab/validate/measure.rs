//! What is measured, on recorded and on simulated sessions alike: the same code over the same turn records.
//!
//! At the end of each turn the window is read as the governor reads it: through the engine's meter and its window rule, so
//! that a turn whose age is exactly `over` is in. The mean that is read is divided by the session's own mean, so that
//! sessions, and efforts, can be put together. *Time* is the cycle from the end of one turn to the end of the next, which is
//! what a window is filled by; cycles with an absence in them are left out. Units: tokens, seconds, ln tokens.

use super::sessions::absence;
use crate::engine::{Cutoff as _, Mark, Meter, Millis, Over, TurnRecord};
use crate::lab::fit::numeric::{deviation, mean, quantile, sorted};
use crate::lab::fixed::ufloat;

/// One figure of a sample of sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Statistic {
    /// Coefficient of variation of the window's mean over the session's own.
    WindowCv,
    /// Share of moments at which that is off 1 by more than 15 %.
    Off15,
    /// By more than 30 %.
    Off30,
    /// By more than 50 %.
    Off50,
    /// Mean output, tokens per turn.
    SizeMean,
    /// Its 10th percentile.
    SizeP10,
    /// Its median.
    SizeP50,
    /// Its 90th percentile.
    SizeP90,
    /// Distance of the sizes' distribution from the simulated one (Kolmogorov, Smirnov).
    SizeKs,
    /// Standard deviation between sessions of the mean of ln size.
    SessionSd,
    /// Correlation of ln size with that of the next turn, the session's mean taken off.
    LagOne,
    /// Median cycle, seconds.
    TimeP50,
    /// Its 90th percentile.
    TimeP90,
    /// Correlation of ln cycle with ln size.
    TimeSize,
    /// Turns in the window, 10th percentile.
    TurnsP10,
    /// Their median.
    TurnsP50,
    /// Their 90th percentile.
    TurnsP90,
}

/// What of the model a figure tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Assumption {
    /// The distribution of sizes.
    Size,
    /// How much sessions differ.
    Session,
    /// How a turn leans on the one before.
    Memory,
    /// Overhead and speed.
    Time,
    /// Tool time, and with it how many turns a window holds.
    Gaps,
}

impl Assumption {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Size, Self::Session, Self::Memory, Self::Time, Self::Gaps];

    /// The stable word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Size => "size",
            Self::Session => "session",
            Self::Memory => "memory",
            Self::Time => "time",
            Self::Gaps => "gaps",
        }
    }

    /// What it says, for people.
    #[must_use]
    pub const fn told(self) -> &'static str {
        match self {
            Self::Size => "sizes of turns follow the rung's distribution",
            Self::Session => "sessions differ by the fitted session effect",
            Self::Memory => "ln size leans on the turn before by the fitted correlation alone",
            Self::Time => "a turn takes an overhead and its tokens over the speed",
            Self::Gaps => "tool time is as fitted, so a window holds as many turns",
        }
    }
}

/// How far apart two values of a figure are, and from where on that is much.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// By their ratio, on the scale of ln.
    Ratio(f64),
    /// By their difference.
    Difference(f64),
}

impl Statistic {
    /// All of them, in the order of reports.
    pub const ALL: [Self; 17] = [
        Self::WindowCv,
        Self::Off15,
        Self::Off30,
        Self::Off50,
        Self::TurnsP10,
        Self::TurnsP50,
        Self::TurnsP90,
        Self::SizeMean,
        Self::SizeP10,
        Self::SizeP50,
        Self::SizeP90,
        Self::SizeKs,
        Self::SessionSd,
        Self::LagOne,
        Self::TimeP50,
        Self::TimeP90,
        Self::TimeSize,
    ];

    /// The stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::WindowCv => "window_cv",
            Self::Off15 => "off_15",
            Self::Off30 => "off_30",
            Self::Off50 => "off_50",
            Self::SizeMean => "size_mean",
            Self::SizeP10 => "size_p10",
            Self::SizeP50 => "size_p50",
            Self::SizeP90 => "size_p90",
            Self::SizeKs => "size_ks",
            Self::SessionSd => "session_sd",
            Self::LagOne => "lag_one",
            Self::TimeP50 => "time_p50",
            Self::TimeP90 => "time_p90",
            Self::TimeSize => "time_size",
            Self::TurnsP10 => "turns_p10",
            Self::TurnsP50 => "turns_p50",
            Self::TurnsP90 => "turns_p90",
        }
    }

    /// What it is, with its unit, for people.
    #[must_use]
    pub const fn told(self) -> &'static str {
        match self {
            Self::WindowCv => "cv of the window mean",
            Self::Off15 => "moments off by > 15 %",
            Self::Off30 => "moments off by > 30 %",
            Self::Off50 => "moments off by > 50 %",
            Self::SizeMean => "tokens per turn, mean",
            Self::SizeP10 => "tokens per turn, p10",
            Self::SizeP50 => "tokens per turn, median",
            Self::SizeP90 => "tokens per turn, p90",
            Self::SizeKs => "KS distance of sizes",
            Self::SessionSd => "sd between sessions, ln",
            Self::LagOne => "lag-one correlation, ln",
            Self::TimeP50 => "seconds per turn, median",
            Self::TimeP90 => "seconds per turn, p90",
            Self::TimeSize => "correlation of time and size",
            Self::TurnsP10 => "turns in window, p10",
            Self::TurnsP50 => "turns in window, median",
            Self::TurnsP90 => "turns in window, p90",
        }
    }

    /// Which assumption it tests; none for what follows from all of them together.
    #[must_use]
    pub const fn tests(self) -> Option<Assumption> {
        match self {
            Self::WindowCv | Self::Off15 | Self::Off30 | Self::Off50 => None,
            Self::SizeMean | Self::SizeP10 | Self::SizeP50 | Self::SizeP90 | Self::SizeKs => Some(Assumption::Size),
            Self::SessionSd => Some(Assumption::Session),
            Self::LagOne => Some(Assumption::Memory),
            Self::TimeP50 | Self::TimeSize => Some(Assumption::Time),
            Self::TimeP90 | Self::TurnsP10 | Self::TurnsP50 | Self::TurnsP90 => Some(Assumption::Gaps),
        }
    }

    /// From how far apart on two values of it are badly apart: half as much again, or by the stated difference.
    #[must_use]
    pub const fn tolerance(self) -> Tolerance {
        match self {
            Self::SizeKs => Tolerance::Difference(0.1),
            Self::SessionSd => Tolerance::Difference(0.25),
            Self::LagOne => Tolerance::Difference(0.2),
            Self::TimeSize => Tolerance::Difference(0.3),
            Self::Off15 | Self::Off30 | Self::Off50 => Tolerance::Difference(0.2),
            Self::WindowCv
            | Self::SizeMean
            | Self::SizeP10
            | Self::SizeP50
            | Self::SizeP90
            | Self::TimeP50
            | Self::TimeP90
            | Self::TurnsP10
            | Self::TurnsP50
            | Self::TurnsP90 => Tolerance::Ratio(0.405_465),
        }
    }

    pub(super) const fn place(self) -> usize {
        self as usize
    }
}

/// The values of a sample, by [`Statistic`]; not a number where a sample says nothing of it.
pub(super) type Values = [f64; Statistic::ALL.len()];

/// Count, sum and sum of squares: enough for a coefficient of variation of many samples put together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Power(f64, f64, f64);

impl Power {
    pub(super) const fn plus(self, other: Self) -> Self {
        Self(self.0 + other.0, self.1 + other.1, self.2 + other.2)
    }

    /// Standard deviation over mean.
    pub(super) fn variation(self) -> f64 {
        let mean = self.1 / self.0;
        ((self.2 / self.0 - mean * mean).max(0.0) * self.0 / (self.0 - 1.0)).sqrt() / mean
    }
}

/// What one session comes to.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    /// The window's mean over the session's own, at each turn's end.
    pub(super) ratios: Vec<f64>,
    turns: Vec<f64>,
    pub(super) sizes: Vec<f64>,
    cycles: Vec<f64>,
    pub(super) power: Power,
    ln_mean: f64,
    lag: (f64, f64),
    /// Sums of ln size, ln cycle, their squares and their product, after their count.
    both: [f64; 6],
}

impl Facts {
    /// Of turns in time; their mean is above zero.
    pub(super) fn of(turns: &[TurnRecord], over: Millis) -> Self {
        let mut facts =
            Self { sizes: turns.iter().map(|turn| ufloat(turn.output.count())).collect(), ..Self::default() };
        facts.windows(turns, over);
        let logs: Vec<f64> = facts.sizes.iter().filter(|size| **size > 0.0).map(|size| libm::log(*size)).collect();
        facts.ln_mean = mean(&logs);
        for log in &logs {
            facts.lag.1 += (log - facts.ln_mean) * (log - facts.ln_mean);
        }
        for pair in logs.windows(2) {
            facts.lag.0 += (pair[0] - facts.ln_mean) * (pair[1] - facts.ln_mean);
        }
        for pair in turns.windows(2).filter(|pair| absence(&pair[0], &pair[1]).is_none()) {
            let (cycle, size) = (ufloat(pair[1].end.since(pair[0].end).count()), ufloat(pair[1].output.count()));
            facts.cycles.push(cycle / 1000.0);
            if cycle > 0.0 && size > 0.0 {
                let (x, y) = (libm::log(size), libm::log(cycle));
                for (sum, part) in facts.both.iter_mut().zip([1.0, x, y, x * x, y * y, x * y]) {
                    *sum += part;
                }
            }
        }
        facts
    }

    /// Reads the window at each turn's end.
    fn windows(&mut self, turns: &[TurnRecord], over: Millis) {
        let own = mean(&self.sizes);
        let (window, mut meter) = (Over::new(over), Meter::new());
        for turn in turns {
            meter.report(turn);
            meter.close(false);
            let newest = meter.newest();
            let sums = meter.read(window.cutoff(newest, newest), Mark::default());
            let Some(read) = sums.mean() else { continue };
            let ratio = ufloat(read.total().count()) / ufloat(read.turns()) / own;
            self.ratios.push(ratio);
            self.turns.push(ufloat(read.turns()));
            self.power = self.power.plus(Power(1.0, ratio, ratio * ratio));
        }
    }
}

/// The values of sessions put together; the distance of sizes is not among them.
pub(super) fn values<'a>(sessions: impl Iterator<Item = &'a Facts> + Clone) -> Values {
    let mut out = [f64::NAN; Statistic::ALL.len()];
    let mut set = |statistic: Statistic, value: f64| out[statistic.place()] = value;
    let gather = |part: fn(&Facts) -> &Vec<f64>| sorted(sessions.clone().flat_map(part).copied().collect());
    let power = sessions.clone().fold(Power::default(), |sum, facts| sum.plus(facts.power));
    set(Statistic::WindowCv, power.variation());
    let off = |limit: f64| {
        let count =
            |facts: &Facts| ufloat(facts.ratios.iter().filter(|ratio| (*ratio - 1.0).abs() > limit).count() as u64);
        sessions.clone().map(count).sum::<f64>() / power.0
    };
    set(Statistic::Off15, off(0.15));
    set(Statistic::Off30, off(0.3));
    set(Statistic::Off50, off(0.5));
    let sizes = gather(|facts| &facts.sizes);
    set(Statistic::SizeMean, mean(&sizes));
    let (cycles, turns) = (gather(|facts| &facts.cycles), gather(|facts| &facts.turns));
    let quantiles = [
        (Statistic::SizeP10, &sizes, 0.1),
        (Statistic::SizeP50, &sizes, 0.5),
        (Statistic::SizeP90, &sizes, 0.9),
        (Statistic::TimeP50, &cycles, 0.5),
        (Statistic::TimeP90, &cycles, 0.9),
        (Statistic::TurnsP10, &turns, 0.1),
        (Statistic::TurnsP50, &turns, 0.5),
        (Statistic::TurnsP90, &turns, 0.9),
    ];
    for (statistic, values, share) in quantiles {
        set(statistic, if values.is_empty() { f64::NAN } else { quantile(values, share) });
    }
    let means: Vec<f64> = sessions.clone().map(|facts| facts.ln_mean).collect();
    set(Statistic::SessionSd, if means.len() < 2 { f64::NAN } else { deviation(&means, 1.0) });
    let lag = sessions.clone().fold((0.0, 0.0), |sum, facts| (sum.0 + facts.lag.0, sum.1 + facts.lag.1));
    set(Statistic::LagOne, lag.0 / lag.1);
    let mut both = [0.0; 6];
    for facts in sessions {
        both.iter_mut().zip(facts.both).for_each(|(sum, part)| *sum += part);
    }
    set(Statistic::TimeSize, correlation(both));
    out
}

fn correlation([n, x, y, xx, yy, xy]: [f64; 6]) -> f64 {
    (n * xy - x * y) / ((n * xx - x * x) * (n * yy - y * y)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Timestamp, Tokens};

    fn turns(list: &[(u64, u64)]) -> Vec<TurnRecord> {
        list.iter()
            .map(|&(end, output)| TurnRecord::new(1, Timestamp::from_millis(end), Tokens::new(output), "test"))
            .collect()
    }

    fn near(got: f64, want: f64) -> bool {
        (got - want).abs() < 1e-12
    }

    #[test]
    fn a_turn_whose_age_is_exactly_the_window_is_in() {
        let at = |last| Facts::of(&turns(&[(1000, 100), (5000, 200), (last, 600)]), Millis::new(10_000)).turns;
        assert_eq!(at(11_000), [1.0, 2.0, 3.0]);
        assert_eq!(at(11_001), [1.0, 2.0, 2.0]);
    }

    #[test]
    fn the_window_mean_is_told_in_means_of_its_session() {
        let facts = Facts::of(&turns(&[(0, 100), (1000, 300), (5000, 200)]), Millis::new(2000));
        assert_eq!(facts.ratios, [0.5, 1.0, 1.0]);
        let all = values([&facts, &facts].into_iter());
        assert!(near(all[Statistic::Off15.place()], 1.0 / 3.0) && near(all[Statistic::Off50.place()], 0.0), "{all:?}");
        let cv = crate::lab::fit::numeric::variation(&[0.5, 1.0, 1.0, 0.5, 1.0, 1.0]);
        assert!(near(all[Statistic::WindowCv.place()], cv), "{all:?}");
        assert!(near(all[Statistic::TimeP50.place()], 2.5) && near(all[Statistic::SizeMean.place()], 200.0));
        assert!(near(all[Statistic::SessionSd.place()], 0.0));
    }

    #[test]
    fn every_statistic_has_a_place_and_a_name_of_its_own() {
        let mut places: Vec<usize> = Statistic::ALL.iter().map(|statistic| statistic.place()).collect();
        places.sort_unstable();
        assert_eq!(places, (0..Statistic::ALL.len()).collect::<Vec<_>>());
        let mut names: Vec<&str> = Statistic::ALL.iter().map(|statistic| statistic.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Statistic::ALL.len());
        for assumption in Assumption::ALL {
            assert!(Statistic::ALL.iter().any(|statistic| statistic.tests() == Some(assumption)), "{assumption:?}");
        }
    }
}
