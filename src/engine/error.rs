//! What can be wrong with what the engine is built from: one small enum per constructor. A running machine cannot fail.

use alloc::boxed::Box;
use core::fmt;

/// Why a list of words is no ladder.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LadderError {
    /// There was no word at all.
    NoRung,
    /// The word at this place, counted from 0, is empty.
    EmptyWord {
        /// The place.
        index: usize,
    },
    /// The word at this place has a character that cannot be shown on a line.
    Unprintable {
        /// The place.
        index: usize,
    },
    /// This word stands twice.
    Repeated {
        /// The word.
        word: Box<str>,
    },
    /// More rungs than a ladder may have.
    TooLong {
        /// How many there were.
        count: usize,
    },
}

impl fmt::Display for LadderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRung => f.write_str("a ladder needs at least one rung"),
            Self::EmptyWord { index } => write!(f, "rung {index} has an empty word"),
            Self::Unprintable { index } => write!(f, "the word of rung {index} has a control character"),
            Self::Repeated { word } => write!(f, "the rung {word:?} stands twice"),
            Self::TooLong { count } => write!(f, "{count} rungs, and a ladder has at most 64"),
        }
    }
}

impl core::error::Error for LadderError {}

/// Why a target and a slack make no band.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BandError {
    /// The target is zero.
    ZeroTarget,
    /// The slack is more than the whole target.
    SlackAboveOne,
    /// An edge has a denominator of zero.
    ZeroDenominator,
    /// The lower edge lies above the upper one.
    Crossed,
}

impl fmt::Display for BandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ZeroTarget => "the target must be above zero",
            Self::SlackAboveOne => "the slack must lie between 0 and 1",
            Self::ZeroDenominator => "an edge of the band has a denominator of zero",
            Self::Crossed => "the lower edge of the band lies above the upper one",
        })
    }
}

impl core::error::Error for BandError {}
