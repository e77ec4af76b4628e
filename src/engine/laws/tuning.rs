//! What of a law can be set, with its bounds and what it is where nobody sets it.
//!
//! Numbers are millionths, so that settings compare exactly and are written as decimals. It is not a law, and knows none
//! of their mathematics: each law's file says what its knobs do.

use core::fmt;

use super::LawKind;
use super::real::from_micros;
use crate::engine::band::Band;
use crate::engine::error::BandError;
use crate::engine::units::{Ratio, Target};

/// One number of a law that can be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Knob {
    /// Its key in settings.
    pub name: &'static str,
    /// What it does, in a line.
    pub about: &'static str,
    /// What it is where nobody sets it, in millionths.
    pub usual: u32,
    /// The least that it may be.
    pub least: u32,
    /// The most.
    pub most: u32,
    /// Nothing between two whole numbers: a count, or a switch.
    pub whole: bool,
}

impl Knob {
    /// Whether it only turns something on, with 1, or off, with 0.
    #[must_use]
    pub const fn is_switch(&self) -> bool {
        self.whole && self.least == 0 && self.most == ONE
    }
}

/// One, in millionths.
const ONE: u32 = 1_000_000;

/// The most knobs that a law has.
pub const MOST_KNOBS: usize = 6;

/// The values of a law's knobs, in the order of [`LawKind::knobs`], in millionths.
pub type Values = [u32; MOST_KNOBS];

/// What can be set beside target, window and slack: the knobs of every law, and what any law takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tuning {
    /// Rounds after a move in which there is no other.
    pub cooldown: u32,
    /// The slack under the target, where it is another than the slack.
    pub slack_below: Option<Ratio>,
    /// The slack over the target, likewise.
    pub slack_above: Option<Ratio>,
    knobs: [Values; LawKind::ALL.len()],
}

/// Why a knob cannot be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TuningError {
    /// The law has no knob of this name.
    Unknown(LawKind),
    /// It has, and the value is outside its bounds.
    Outside(Knob),
    /// It has, and the value lies between two of those that it can have.
    Between(Knob),
}

impl fmt::Display for TuningError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(law) if law.knobs().is_empty() => write!(f, "{law} has nothing to set"),
            Self::Unknown(law) => {
                write!(f, "{law} has no such setting; it has")?;
                for (place, knob) in law.knobs().iter().enumerate() {
                    write!(f, "{} {}", if place == 0 { "" } else { "," }, knob.name)?;
                }
                Ok(())
            }
            Self::Outside(knob) | Self::Between(knob) if knob.is_switch() => {
                write!(f, "{} is a switch: write 1 for on or 0 for off", knob.name)
            }
            Self::Between(Knob { name, least, most, .. }) => {
                write!(f, "{name} is a whole number from {} to {}", from_micros(*least), from_micros(*most))
            }
            Self::Outside(Knob { name, least, most, .. }) => {
                write!(f, "{name} goes from {} to {}", from_micros(*least), from_micros(*most))
            }
        }
    }
}

impl core::error::Error for TuningError {}

impl Default for Tuning {
    fn default() -> Self {
        Self::USUAL
    }
}

impl Tuning {
    /// What holds where nobody sets anything.
    pub const USUAL: Self = {
        let mut knobs = [[0; MOST_KNOBS]; LawKind::ALL.len()];
        let mut law = 0;
        while law < LawKind::ALL.len() {
            let known = LawKind::ALL[law].knobs();
            let mut knob = 0;
            while knob < known.len() {
                knobs[law][knob] = known[knob].usual;
                knob += 1;
            }
            law += 1;
        }
        Self { cooldown: 0, slack_below: None, slack_above: None, knobs }
    };

    /// The values of a law's knobs.
    #[must_use]
    pub const fn values(&self, law: LawKind) -> &Values {
        &self.knobs[law as usize]
    }

    /// The value of one knob, in millionths.
    #[must_use]
    pub fn get(&self, law: LawKind, name: &str) -> Option<u32> {
        let place = law.knobs().iter().position(|knob| knob.name == name)?;
        self.knobs[law as usize].get(place).copied()
    }

    /// Sets one knob, in millionths.
    ///
    /// # Errors
    /// [`TuningError`].
    pub fn set(&mut self, law: LawKind, name: &str, value: u32) -> Result<(), TuningError> {
        let known = law.knobs().iter().zip(&mut self.knobs[law as usize]);
        let (knob, slot) = known.into_iter().find(|(knob, _)| knob.name == name).ok_or(TuningError::Unknown(law))?;
        if value < knob.least || value > knob.most {
            return Err(TuningError::Outside(*knob));
        }
        if knob.whole && !value.is_multiple_of(ONE) {
            return Err(TuningError::Between(*knob));
        }
        *slot = value;
        Ok(())
    }

    /// Every knob that is set otherwise than it stands, in the order of laws.
    pub fn changes(&self) -> impl Iterator<Item = (LawKind, &'static Knob, u32)> + '_ {
        LawKind::ALL.into_iter().flat_map(|law| {
            let values = law.knobs().iter().zip(self.values(law));
            values.filter(|(knob, value)| knob.usual != **value).map(move |(knob, value)| (law, knob, *value))
        })
    }

    /// The same, with nothing set of other laws than this one.
    #[must_use]
    pub fn only(&self, law: LawKind) -> Self {
        let mut own = Self { knobs: Self::USUAL.knobs, ..*self };
        own.knobs[law as usize] = self.knobs[law as usize];
        own
    }

    /// The band around `target`: `slack` on both sides, save where a side has its own.
    ///
    /// # Errors
    /// As [`Band::new`].
    pub fn band(&self, target: Target, slack: Ratio) -> Result<Band, BandError> {
        Band::uneven(target, self.slack_below.unwrap_or(slack), self.slack_above.unwrap_or(slack))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_of_other_laws_can_be_let_go() {
        let mut tuning = Tuning { cooldown: 2, ..Tuning::USUAL };
        tuning.set(LawKind::Stride, "drift", 600_000).unwrap();
        assert_eq!(tuning.only(LawKind::Stride), tuning);
        assert_eq!(tuning.only(LawKind::Cusum), Tuning { cooldown: 2, ..Tuning::USUAL });
    }

    #[test]
    fn usual_values_lie_within_their_bounds_and_names_are_told_apart() {
        for law in LawKind::ALL {
            assert!(law.knobs().len() <= MOST_KNOBS);
            for (place, knob) in law.knobs().iter().enumerate() {
                assert!(knob.least <= knob.usual && knob.usual <= knob.most, "{law} {}", knob.name);
                assert_eq!(Tuning::USUAL.get(law, knob.name), Some(knob.usual));
                assert!(law.knobs()[..place].iter().all(|other| other.name != knob.name));
            }
        }
    }

    #[test]
    fn a_knob_is_set_within_its_bounds_alone() {
        let mut tuning = Tuning::USUAL;
        assert_eq!(tuning.set(LawKind::Stride, "drift", 40_000), Ok(()));
        assert_eq!(tuning.get(LawKind::Stride, "drift"), Some(40_000));
        assert_eq!(tuning.get(LawKind::Stride3, "drift"), Tuning::USUAL.get(LawKind::Stride3, "drift"));
        let outside = tuning.set(LawKind::Stride, "drift", 4_000_000).unwrap_err();
        assert_eq!(outside.to_string(), "drift goes from 0 to 1");
        let unknown = tuning.set(LawKind::Evidence, "drift", 1).unwrap_err();
        assert_eq!(unknown.to_string(), "evidence has no such setting; it has z");
        assert_eq!(tuning.set(LawKind::Fixed, "z", 1).unwrap_err().to_string(), "fixed has nothing to set");
    }

    #[test]
    fn a_switch_is_on_or_off_and_a_count_is_whole() {
        let mut tuning = Tuning::USUAL;
        let switches = LawKind::ALL.into_iter().flat_map(|law| law.knobs().iter().map(move |knob| (law, knob)));
        let switches: Vec<_> = switches.filter(|(_, knob)| knob.is_switch()).collect();
        assert_eq!(switches.len(), 5, "dither and amend of both strides, reset of confirm");
        for (law, knob) in switches {
            for value in [1, 400_000, 500_000, 999_999, 2_000_000] {
                let told = tuning.set(law, knob.name, value).unwrap_err().to_string();
                assert!(told.contains("is a switch: write 1 for on or 0 for off"), "{told}");
            }
            assert_eq!((tuning.set(law, knob.name, 0), tuning.set(law, knob.name, ONE)), (Ok(()), Ok(())));
        }
        let told = tuning.set(LawKind::Confirm, "readings", 2_500_000).unwrap_err().to_string();
        assert!(told.starts_with("readings is a whole number from 1 to "), "{told}");
    }

    #[test]
    fn a_side_of_its_own_goes_before_the_slack() {
        let (target, slack) = (Target::from_tokens(1000), Ratio::from_ppm(100_000));
        assert_eq!(Tuning::USUAL.band(target, slack), Band::new(target, slack));
        let tuning = Tuning { slack_above: Some(Ratio::from_ppm(300_000)), ..Tuning::USUAL };
        let band = tuning.band(target, slack).unwrap();
        assert!((band.low().tokens() - 900.0).abs() < 1e-9 && (band.high().tokens() - 1300.0).abs() < 1e-9);
    }
}
