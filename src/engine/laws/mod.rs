//! The laws, one a file, each with its page of theory.
//!
//! | law | rule |
//! |---|---|
//! | [`Reference`] | the original: one rung a round towards the band |
//! | [`Reset`] | the same on the turns since the last move |
//! | [`Fixed`] | holds |

pub mod fixed;
pub mod reference;
pub mod reset;

use core::fmt;
use core::str::FromStr;

pub use fixed::Fixed;
pub use reference::Reference;
pub use reset::Reset;

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
}

impl LawKind {
    /// All of them, simplest first.
    pub const ALL: [Self; 3] = [Self::Fixed, Self::Reference, Self::Reset];

    /// The stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::Reference => "reference",
            Self::Reset => "reset",
        }
    }

    /// A fresh law of this kind.
    #[must_use]
    pub const fn build(self) -> AnyLaw {
        match self {
            Self::Fixed => AnyLaw::Fixed(Fixed),
            Self::Reference => AnyLaw::Reference(Reference),
            Self::Reset => AnyLaw::Reset(Reset),
        }
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

/// Any of the laws that settings can name, without an allocation.
#[derive(Clone, Copy, Debug)]
pub enum AnyLaw {
    /// [`Fixed`].
    Fixed(Fixed),
    /// [`Reference`].
    Reference(Reference),
    /// [`Reset`].
    Reset(Reset),
}

macro_rules! each {
    ($any:expr, $law:ident => $call:expr) => {
        match $any {
            AnyLaw::Fixed($law) => $call,
            AnyLaw::Reference($law) => $call,
            AnyLaw::Reset($law) => $call,
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
        assert_eq!(UnknownLaw.to_string(), "no such law; the laws are fixed, reference, reset");
    }
}
