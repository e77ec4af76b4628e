//! The laws, one a file, each with its page of theory.
//!
//! | law | rule |
//! |---|---|
//! | [`Fixed`] | holds |
//! | [`Reference`] | the original: one rung a round towards the band |
//! | [`Reset`] | the same on the turns since the last move |
//! | [`Confirm`] | the same after so many readings in a row |
//! | [`Integral`] | integrates the error |
//! | [`Cusum`] | one rung once summed evidence says that this one is a step off |
//! | [`Evidence`] | one rung once the rounds since the last move leave little doubt |
//! | [`Stride`] | estimates the level and the step, and goes to the nearest rung |
//! | [`Stride3`] | the same, with a rate of drift |
//! | [`Model`] | a belief about every rung; the nearest |
//! | [`Hybrid`] | the same, two rungs in turn where none is near |
//!
//! [`Cooldown`] holds any of them still for some rounds after a move; [`tuning`] has what can be set. From `integral` on all share the
//! reading of [`estimate`].

mod aim;
pub mod confirm;
pub mod cooldown;
pub mod cusum;
mod dither;
pub mod estimate;
pub mod evidence;
pub mod fixed;
mod guard;
pub mod hybrid;
pub mod integral;
mod ladder;
pub mod model;
pub mod real;
pub mod reference;
pub mod reset;
pub mod stride;
pub mod stride3;
#[cfg(test)]
mod testing;
mod track;
pub mod tuning;

use core::fmt;
use core::str::FromStr;

pub use confirm::Confirm;
pub use cooldown::Cooldown;
pub use cusum::Cusum;
pub use evidence::Evidence;
pub use fixed::Fixed;
pub use hybrid::Hybrid;
pub use integral::Integral;
pub use model::Model;
pub use reference::Reference;
pub use reset::Reset;
pub use stride::Stride;
pub use stride3::Stride3;
pub use tuning::{Knob, Tuning, TuningError};

use super::law::{Decision, Law, LawState, Memory, Reading};

/// The laws that settings can name, simplest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LawKind {
    /// [`Fixed`].
    Fixed,
    /// [`Reference`].
    Reference,
    /// [`Reset`].
    Reset,
    /// [`Confirm`].
    Confirm,
    /// [`Integral`].
    Integral,
    /// [`Cusum`].
    Cusum,
    /// [`Evidence`].
    Evidence,
    /// [`Stride`].
    Stride,
    /// [`Stride3`].
    Stride3,
    /// [`Model`].
    Model,
    /// [`Hybrid`].
    Hybrid,
}

impl LawKind {
    /// All of them, simplest first.
    pub const ALL: [Self; 11] = [
        Self::Fixed,
        Self::Reference,
        Self::Reset,
        Self::Confirm,
        Self::Integral,
        Self::Cusum,
        Self::Evidence,
        Self::Stride,
        Self::Stride3,
        Self::Model,
        Self::Hybrid,
    ];

    /// The law where nobody names one; why stands in the decision record on the default law.
    pub const DEFAULT: Self = Self::Stride;

    /// The stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::Reference => "reference",
            Self::Reset => "reset",
            Self::Confirm => "confirm",
            Self::Evidence => "evidence",
            Self::Cusum => "cusum",
            Self::Integral => "integral",
            Self::Stride => "stride",
            Self::Stride3 => "stride3",
            Self::Model => "model",
            Self::Hybrid => "hybrid",
        }
    }

    /// Whether it decides by what the window holds; others learn from rounds, and `over` is nothing to them.
    #[must_use]
    pub const fn reads_window(self) -> bool {
        matches!(self, Self::Reference | Self::Reset | Self::Confirm)
    }

    /// Whether the slack of the band is anything to it.
    #[must_use]
    pub const fn reads_slack(self) -> bool {
        self.reads_window() || matches!(self, Self::Evidence | Self::Hybrid)
    }

    /// What can be set.
    #[must_use]
    pub const fn knobs(self) -> &'static [Knob] {
        match self {
            Self::Fixed | Self::Reference | Self::Reset => &[],
            Self::Confirm => &confirm::KNOBS,
            Self::Evidence => &evidence::KNOBS,
            Self::Cusum => &cusum::KNOBS,
            Self::Integral => &integral::KNOBS,
            Self::Stride => &stride::KNOBS,
            Self::Stride3 => &stride3::KNOBS,
            Self::Model => &model::KNOBS,
            Self::Hybrid => &hybrid::KNOBS,
        }
    }

    /// A fresh law of this kind, with nothing set.
    #[must_use]
    pub fn build(self) -> AnyLaw {
        self.set(&Tuning::USUAL)
    }

    /// A fresh law of this kind with its knobs as set, but without a cooldown.
    #[must_use]
    pub fn set(self, tuning: &Tuning) -> AnyLaw {
        let values = tuning.values(self);
        match self {
            Self::Fixed => AnyLaw::Fixed(Fixed),
            Self::Reference => AnyLaw::Reference(Reference),
            Self::Reset => AnyLaw::Reset(Reset),
            Self::Confirm => AnyLaw::Confirm(Confirm::new(values)),
            Self::Evidence => AnyLaw::Evidence(Evidence::new(values)),
            Self::Cusum => AnyLaw::Cusum(Cusum::new(values)),
            Self::Integral => AnyLaw::Integral(Integral::new(values)),
            Self::Stride => AnyLaw::Stride(Stride::new(values)),
            Self::Stride3 => AnyLaw::Stride3(Stride3::new(values)),
            Self::Model => AnyLaw::Model(Model::new(values)),
            Self::Hybrid => AnyLaw::Hybrid(Hybrid::new(values)),
        }
    }

    /// A fresh law of this kind, with all that is set.
    #[must_use]
    pub fn tuned(self, tuning: &Tuning) -> Cooldown<AnyLaw> {
        Cooldown::new(self.set(tuning), tuning.cooldown)
    }
}

impl fmt::Display for LawKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that no law has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownLaw;

impl fmt::Display for UnknownLaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no such law; the laws are")?;
        for (index, kind) in LawKind::ALL.iter().enumerate() {
            write!(f, "{} {kind}", if index == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

impl core::error::Error for UnknownLaw {}

impl FromStr for LawKind {
    type Err = UnknownLaw;

    fn from_str(name: &str) -> Result<Self, UnknownLaw> {
        Self::ALL.into_iter().find(|kind| kind.name() == name).ok_or(UnknownLaw)
    }
}

/// Any of the laws that settings can name.
#[derive(Clone, Debug)]
pub enum AnyLaw {
    /// [`Fixed`].
    Fixed(Fixed),
    /// [`Reference`].
    Reference(Reference),
    /// [`Reset`].
    Reset(Reset),
    /// [`Confirm`].
    Confirm(Confirm),
    /// [`Evidence`].
    Evidence(Evidence),
    /// [`Cusum`].
    Cusum(Cusum),
    /// [`Integral`].
    Integral(Integral),
    /// [`Stride`].
    Stride(Stride),
    /// [`Stride3`].
    Stride3(Stride3),
    /// [`Model`].
    Model(Model),
    /// [`Hybrid`].
    Hybrid(Hybrid),
}

macro_rules! each {
    ($any:expr, $law:ident => $call:expr) => {
        match $any {
            AnyLaw::Fixed($law) => $call,
            AnyLaw::Reference($law) => $call,
            AnyLaw::Reset($law) => $call,
            AnyLaw::Confirm($law) => $call,
            AnyLaw::Evidence($law) => $call,
            AnyLaw::Cusum($law) => $call,
            AnyLaw::Integral($law) => $call,
            AnyLaw::Stride($law) => $call,
            AnyLaw::Stride3($law) => $call,
            AnyLaw::Model($law) => $call,
            AnyLaw::Hybrid($law) => $call,
        }
    };
}

impl Law for AnyLaw {
    fn name(&self) -> &'static str {
        each!(self, law => law.name())
    }
    #[inline]
    fn decide(&mut self, reading: &Reading<'_>) -> Decision {
        each!(self, law => law.decide(reading))
    }
    fn memory(&self) -> Memory {
        each!(self, law => law.memory())
    }
    fn reads_logs(&self) -> bool {
        each!(self, law => law.reads_logs())
    }
    fn save(&self) -> LawState {
        each!(self, law => law.save())
    }
    fn restore(&mut self, state: &LawState) {
        each!(self, law => law.restore(state));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Band, Ladder, Ratio, RoundSums, Sums, Target, Timestamp, Tokens, Why};
    use proptest::prelude::*;

    fn decide(kind: LawKind, at: &str, turns: u64, output: u64) -> (usize, Why) {
        let ladder = Ladder::new(["max", "high", "low"]).unwrap();
        let band = Band::new(Target::from_tokens(2000), Ratio::from_ppm(150_000)).unwrap();
        let reading = Reading {
            now: Timestamp::EPOCH,
            cutoff: Timestamp::EPOCH,
            window: Sums { turns, output: Tokens::new(output) },
            round: RoundSums::default(),
            rung: ladder.find(at).unwrap(),
            rungs: ladder.rungs(),
            band: &band,
            spent: Tokens::ZERO,
            budget: None,
        };
        let decision = kind.build().decide(&reading);
        (ladder.rungs().clamp(decision.to).index(), decision.why)
    }

    #[test]
    fn the_reference_table() {
        for kind in [LawKind::Reference, LawKind::Reset] {
            assert_eq!(decide(kind, "high", 0, 0), (1, Why::NoTurns));
            assert_eq!(decide(kind, "high", 0, 500), (1, Why::NoTurns), "tokens without a turn");
            assert_eq!(decide(kind, "high", 3, 0), (1, Why::ZeroMean));
            assert_eq!(decide(kind, "high", 2, 3399), (0, Why::BelowBand));
            assert_eq!(decide(kind, "high", 2, 3400), (1, Why::WithinBand));
            assert_eq!(decide(kind, "high", 2, 4600), (1, Why::WithinBand));
            assert_eq!(decide(kind, "high", 2, 4601), (2, Why::AboveBand));
            assert_eq!(decide(kind, "max", 1, 1), (0, Why::BelowBand));
            assert_eq!(decide(kind, "low", 1, 9000), (2, Why::AboveBand));
        }
    }

    #[test]
    fn fixed_holds() {
        assert_eq!(decide(LawKind::Fixed, "low", 1, 9000), (2, Why::Fixed));
        assert_eq!(decide(LawKind::Fixed, "low", 0, 0), (2, Why::Fixed));
    }

    #[test]
    fn names_read_back() {
        for kind in LawKind::ALL {
            assert_eq!(kind.name().parse(), Ok(kind));
            assert_eq!(kind.build().name(), kind.name());
        }
        assert_eq!("Reference".parse::<LawKind>(), Err(UnknownLaw));
        assert_eq!(
            UnknownLaw.to_string(),
            "no such law; the laws are fixed, reference, reset, confirm, integral, cusum, evidence, stride, stride3, model, hybrid"
        );
    }

    proptest! {
        /// Saved after every round and taken up by a fresh law, each decides as if nothing had been, save that one that is taken up may be less sure.
        #[test]
        fn what_is_saved_is_all_there_is(
            rounds in prop::collection::vec((0usize..4, prop::collection::vec(0u64..9000, 0..6)), 1..20), cut in 0usize..20
        ) {
            for kind in LawKind::ALL {
                let mut bench = testing::Bench::new(kind, 4, 2048);
                for (place, (at, turns)) in rounds.iter().enumerate() {
                    bench.round(*at, turns);
                    if place == cut {
                        let state = bench.law.save();
                        let mut fresh = kind.build();
                        fresh.restore(&state);
                        prop_assert_eq!(fresh.save(), state, "{}", kind);
                        prop_assert!(fresh.save().iter().count() < 200);
                    }
                }
            }
        }

        /// A state that no law wrote, under the names that laws use.
        #[test]
        fn any_state_is_taken_up_without_a_panic(bits in prop::collection::vec(any::<u64>(), 64), small in any::<bool>(), rungs in 1usize..9) {
            for kind in LawKind::ALL {
                let mut bench = testing::Bench::new(kind, 5, 2048);
                (0..9).for_each(|round| bench.past(round % 5, &[700, 900]));
                let mut state = LawState::default();
                for ((name, _), bits) in bench.law.save().iter().zip(&bits) {
                    state.set(name, if small { bits % 9 } else { *bits });
                }
                let mut bench = testing::Bench::new(kind, rungs, 2048);
                bench.law.restore(&state);
                for round in 0..4 {
                    let (next, _) = bench.round(round % rungs, &[500, 600, 700]);
                    prop_assert!(next < rungs);
                }
            }
        }
    }
}
