//! What a law is shown after a round, and what it answers.
//!
//! A [`Law`] is a governor's rule and nothing else: it sees one [`Reading`] and returns one [`Decision`] with its reason
//! and its evidence. It neither clamps nor persists nor moves anything, has no clock and draws no random number, so the
//! same readings give the same decisions in the live loop, in the simulator and in the prefix tables of the lab. A law
//! may jump. What it remembers it saves and restores by name, in integers.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;

use super::band::{Band, Side};
use super::ladder::{Rung, Rungs};
use super::meter::{RoundSums, Sums};
use super::units::{Mean, Timestamp, Tokens};

/// What a law is shown after a round.
#[derive(Clone, Copy, Debug)]
pub struct Reading<'a> {
    /// The moment of the reading: the end of the round.
    pub now: Timestamp,
    /// Reports from here on are in `window`; one exactly at it is in.
    pub cutoff: Timestamp,
    /// Sums over the window.
    pub window: Sums,
    /// Sums over the round that just ended. Logarithms are there only for a law that [`reads_logs`](Law::reads_logs).
    pub round: RoundSums,
    /// The rung that the round ran at.
    pub rung: Rung,
    /// How many rungs there are.
    pub rungs: Rungs,
    /// The target and its edges.
    pub band: &'a Band,
    /// Output spent so far, over the whole life of the loop.
    pub spent: Tokens,
    /// What it may come to, if anything bounds it.
    pub budget: Option<Tokens>,
}

/// Why a law decided as it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Why {
    /// No turn with a count lies in the window: nothing to go on.
    NoTurns,
    /// The mean is zero, which in the original is "nothing to go on" too.
    ZeroMean,
    /// The reading lies in the band.
    WithinBand,
    /// The reading lies under the band: think harder.
    BelowBand,
    /// The reading lies over the band: think less.
    AboveBand,
    /// The law holds whatever it reads.
    Fixed,
    /// The law is told what is right, which only a simulation can.
    Told,
    /// The round had no turn to learn from.
    EmptyRound,
    /// The rung is the nearest to the target, as far as is known.
    Nearest,
    /// Another rung is nearer to the target, as far as is known.
    Nearer,
    /// Another rung is nearer, but by too little to move for.
    LittleGain,
    /// The target lies past the end of the ladder that the rung is at.
    PastEnd,
    /// The estimate is off the target by more than the slack, but it may be luck.
    Unsure,
    /// The reading lies outside the band, but not often enough in a row.
    Unconfirmed,
    /// The target lies between two rungs: this one makes up for what the other left.
    Between,
    /// The law would move, but moved too short a time ago.
    Cooldown,
    /// The loop is at an end of the ladder and wants to go on: one step back shows whether effort acts as it should.
    Probe,
    /// Effort seems to act the wrong way: after several moves the sizes went against what was asked for.
    Backwards,
}

impl Why {
    /// The stable word of a reason.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::NoTurns => "no-turns",
            Self::ZeroMean => "zero-mean",
            Self::WithinBand => "within-band",
            Self::BelowBand => "below-band",
            Self::AboveBand => "above-band",
            Self::Fixed => "fixed",
            Self::Told => "told",
            Self::EmptyRound => "empty-round",
            Self::Nearest => "nearest",
            Self::Nearer => "nearer",
            Self::LittleGain => "little-gain",
            Self::PastEnd => "past-end",
            Self::Unsure => "unsure",
            Self::Unconfirmed => "unconfirmed",
            Self::Between => "between",
            Self::Cooldown => "cooldown",
            Self::Probe => "probe",
            Self::Backwards => "backwards",
        }
    }

    /// Whether the reason asks for another rung. Where none follows, the ladder has no further one.
    #[must_use]
    pub const fn asks_to_move(self) -> bool {
        matches!(self, Self::BelowBand | Self::AboveBand | Self::Nearer | Self::PastEnd)
    }
}

/// What a decision rests on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Evidence {
    /// The mean that was read, if there was a turn.
    pub mean: Option<Mean>,
    /// Where it lay.
    pub side: Option<Side>,
    /// What a law that estimates has found out.
    pub belief: Option<Belief>,
}

/// What a law that estimates believes after a round, in millionths of a nat (natural logarithm).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Belief {
    /// ln of the rung's tokens per turn over the target.
    pub error: i64,
    /// Standard deviation of that.
    pub sd: i64,
    /// ln of one rung harder over this one, where the law estimates it.
    pub step: Option<i64>,
    /// By how much nearer to the target the best other rung is expected to be, where the law predicts others; less than
    /// zero where it is farther.
    pub gain: Option<i64>,
}

impl Evidence {
    /// A mean and where it lay.
    #[must_use]
    pub const fn of(mean: Option<Mean>, side: Option<Side>) -> Self {
        Self { mean, side, belief: None }
    }

    /// What stands in a reading: its mean and where that lay.
    #[must_use]
    pub fn read(reading: &Reading<'_>) -> Self {
        let mean = reading.window.mean();
        Self::of(mean, mean.map(|mean| reading.band.side(mean)))
    }

    /// The same with what was found out.
    #[must_use]
    pub const fn believing(self, belief: Belief) -> Self {
        Self { belief: Some(belief), ..self }
    }
}

/// A law's answer: the rung to run at next, why, and on what evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The rung to run at next. May lie past the softest; whoever owns the ladder clamps it.
    pub to: Rung,
    /// Why.
    pub why: Why,
    /// On what.
    pub evidence: Evidence,
}

/// Which reports a law wants in its window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Memory {
    /// All that are young enough.
    #[default]
    Sliding,
    /// Those since the last real move, and young enough.
    SinceMove,
}

/// What a law remembers between rounds, by name. Floats are stored as their bits. It holds at most [`LawState::MOST`]
/// names, so that a law gone wrong cannot fill a disk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LawState(BTreeMap<Box<str>, u64>);

impl LawState {
    /// The most names: a covariance of the longest ladder, and as much again.
    pub const MOST: usize = 4096;

    /// Sets a value. A new name past the most is left out, as is one longer than 64 bytes.
    pub fn set(&mut self, name: &str, value: u64) {
        if let Some(known) = self.0.get_mut(name) {
            *known = value;
        } else if self.0.len() < Self::MOST && name.len() <= 64 {
            self.0.insert(name.into(), value);
        }
    }

    /// A value, if it was set.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<u64> {
        self.0.get(name).copied()
    }

    /// All names and values, in order of name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.0.iter().map(|(name, value)| (&**name, *value))
    }

    /// Whether nothing was set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A governor's rule. Open: bring your own.
///
/// ```
/// use flyball::engine::{Decision, Evidence, Law, Reading, Why};
///
/// /// Runs every round at the hardest rung.
/// struct AllOut;
///
/// impl Law for AllOut {
///     fn name(&self) -> &'static str {
///         "all-out"
///     }
///     fn decide(&mut self, reading: &Reading<'_>) -> Decision {
///         let hardest = reading.rungs.rung(0).unwrap_or(reading.rung);
///         Decision { to: hardest, why: Why::Fixed, evidence: Evidence::default() }
///     }
/// }
/// ```
pub trait Law {
    /// The stable name, as in settings and results.
    fn name(&self) -> &'static str;

    /// Which rung to run at next.
    fn decide(&mut self, reading: &Reading<'_>) -> Decision;

    /// Which reports the window holds.
    fn memory(&self) -> Memory {
        Memory::Sliding
    }

    /// Whether the law looks at the logarithms of [`RoundSums`], which are not summed for nothing.
    fn reads_logs(&self) -> bool {
        false
    }

    /// What it remembers.
    fn save(&self) -> LawState {
        LawState::default()
    }

    /// Takes up what it once saved. Names that it does not know are left alone; what is missing starts afresh.
    fn restore(&mut self, _state: &LawState) {}
}

impl<L: Law + ?Sized> Law for Box<L> {
    fn name(&self) -> &'static str {
        (**self).name()
    }
    fn decide(&mut self, reading: &Reading<'_>) -> Decision {
        (**self).decide(reading)
    }
    fn memory(&self) -> Memory {
        (**self).memory()
    }
    fn reads_logs(&self) -> bool {
        (**self).reads_logs()
    }
    fn save(&self) -> LawState {
        (**self).save()
    }
    fn restore(&mut self, state: &LawState) {
        (**self).restore(state);
    }
}
