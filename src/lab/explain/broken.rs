//! What the estimated chain takes for granted, and whether a scenario grants it.
//!
//! Some of it is so far from true in some scenarios that there is no chain: that is said by [`chain`](super::chain). The
//! rest is here: the figures are given, with what is not true and how far off they were on the canonical scenarios of
//! which the same is not true. It corrects nothing. A test simulates all of them and holds the figures.

use serde::Serialize;

use super::reading::Reader;
use crate::lab::fixed::ufloat;
use crate::lab::scenario::{Controls, Scenario};

/// Points of rounds on a right rung, within which an estimated chain is of a simulation where nothing is [`Broken`].
pub const WITHIN: u32 = 4;

/// A share of the planned rounds in which it is not as it is taken to be, from which on it counts.
const SHARE: f64 = 0.1;
/// The same for turns that are few: one reading of them is off by little.
const FEW_SHARE: f64 = 0.25;
/// Fewer turns than these are few.
const FEW: f64 = 5.0;
/// The share of a turn's time that its tokens take, from which on large turns are slow ones.
const SLOW: f64 = 0.25;
/// The square of the coefficient of variation of a reading from which on its log is not nearly normal.
const UNEVEN: f64 = 0.25;

/// Something that the chain takes for granted and that is not so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Broken {
    /// Rounds are as long as the window at least.
    Overlap,
    /// A window holds many turns, or their sizes do not change how many.
    FewTurns,
    /// The mean of the turns in a window has a log that is nearly normal.
    Uneven,
    /// The turns of a round are alike from first to last.
    Trend,
    /// A turn does not hang on the one before.
    Memory,
    /// The ladder is known.
    Assumed,
    /// All planned rounds are run.
    Early,
}

impl Broken {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Overlap, Self::FewTurns, Self::Uneven, Self::Trend, Self::Memory, Self::Assumed, Self::Early];

    /// What is so instead.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Overlap => "many rounds are shorter than the window, so that a reading mixes what several made",
            Self::FewTurns => {
                "a reading holds fewer than five turns, and large ones are slow, so that even fewer fit the window"
            }
            Self::Uneven => "turns are so uneven that the mean of those in a window is far from lognormal",
            Self::Trend => {
                "the turns of a round grow or shrink from first to last, and a window that cuts a round does not see all of it"
            }
            Self::Memory => "the size or kind of a turn hangs on the one before",
            Self::Assumed => {
                "some rungs are assumed: each run draws where they lie, and the chain takes them at the middle"
            }
            Self::Early => "a run may end before its planned rounds, or rounds may come to nothing",
        }
    }

    /// By how many points of rounds on a right rung the chain was off at most, on the canonical scenarios of which this is
    /// so.
    #[must_use]
    pub const fn off(self) -> u32 {
        match self {
            Self::Overlap => 3,
            Self::FewTurns => 6,
            Self::Uneven => 8,
            Self::Trend => 5,
            Self::Memory | Self::Assumed => 15,
            Self::Early => 9,
        }
    }
}

/// What is not so. `planned` is the share of the planned rounds on each rung, hardest first.
pub(super) fn broken(scenario: &Scenario, reader: &Reader<'_>, planned: &[f64]) -> Vec<Broken> {
    let spec = scenario.agent.spec();
    let over = |counts: &dyn Fn(usize) -> f64| {
        planned.iter().enumerate().filter(|(_, share)| **share > 0.0).map(|(rung, share)| share * counts(rung)).sum()
    };
    let short: f64 = over(&|rung| reader.short(rung));
    let few: f64 = over(&|rung| {
        let few = reader.noise(rung).turns < FEW && reader.token_time(rung) > SLOW;
        if few { 1.0 } else { 0.0 }
    });
    let uneven: f64 = over(&|rung| {
        let noise = reader.noise(rung);
        noise.cv * noise.cv / noise.turns
    });
    let tokens: f64 = over(&|rung| reader.noise(rung).round_tokens);
    let spent = tokens * f64::from(scenario.plan.rounds);
    let budget = scenario.governor.budget.is_some_and(|budget| spent > 0.8 * ufloat(budget.count()));
    let early = budget || scenario.outcome.is_some() || scenario.controls != Controls::default();
    let so = |broken: &Broken| match broken {
        Broken::Overlap => short >= SHARE,
        Broken::FewTurns => few >= FEW_SHARE,
        Broken::Uneven => spec.turn.outliers.is_some() || uneven > UNEVEN,
        Broken::Trend => spec.session.trend != 0.0,
        Broken::Memory => spec.turn.rho != 0.0 || spec.turn.kind_rho != 0.0,
        Broken::Assumed => spec.rungs.iter().any(|rung| rung.shift.is_some()),
        Broken::Early => early,
    };
    Broken::ALL.into_iter().filter(so).collect()
}
