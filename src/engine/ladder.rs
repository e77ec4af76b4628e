//! The ladder: the efforts that a model takes, *hardest first*, and where a run starts on it.
//!
//! It is not the law: it neither knows a target nor moves. A rung is a place on one ladder, made by that ladder alone
//! and never stored; what is stored is the effort's own word, because a ladder may change between two runs. A *width
//! prefix* (in the original the word `swarm`) is kept apart: every effort is asked for with it, none is stored with it.
//! Source: the seed page on fixed juice, and the recorded runs.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use super::error::LadderError;

/// An effort's own word, which is what is stored and shown. Compared exactly, case included.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Effort(Arc<str>);

impl Effort {
    /// The word as it stands.
    #[must_use]
    pub fn new(word: &str) -> Self {
        Self(Arc::from(word))
    }

    /// The word.
    #[must_use]
    pub fn word(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Effort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A place on one ladder, counted from the hardest. Made by that ladder, never stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rung(u8);

impl Rung {
    /// The place counted from the hardest effort, which is 0.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The same as a small number, for compact records.
    #[must_use]
    pub const fn number(self) -> u8 {
        self.0
    }

    /// One place harder: towards the front. The hardest stays where it is.
    #[must_use]
    pub const fn harder(self) -> Self {
        Self(self.0.saturating_sub(1))
    }

    /// One place softer: towards the back. May name a place past the end; whoever owns the ladder clamps it.
    #[must_use]
    pub const fn softer(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

/// How many rungs a ladder has: enough to clamp a rung, without the words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rungs(u8);

impl Rungs {
    /// A ladder of `count` rungs, from 1 to [`Ladder::MAX`]; nothing where the count is outside that.
    #[must_use]
    pub fn new(count: usize) -> Option<Self> {
        let count = u8::try_from(count).ok()?;
        (count >= 1 && usize::from(count) <= Ladder::MAX).then_some(Self(count))
    }

    /// How many.
    #[must_use]
    pub const fn count(self) -> usize {
        self.0 as usize
    }

    /// The rung itself, or the softest where it lies past the end.
    #[must_use]
    pub fn clamp(self, rung: Rung) -> Rung {
        Rung(rung.0.min(self.0 - 1))
    }

    /// The rung at `index` from the hardest, or nothing past the end.
    #[must_use]
    pub fn rung(self, index: usize) -> Option<Rung> {
        let index = u8::try_from(index).ok()?;
        (index < self.0).then_some(Rung(index))
    }
}

/// The efforts a model takes, hardest first. Never empty, no word twice, at most [`Ladder::MAX`].
///
/// ```
/// use flyball::engine::Ladder;
/// let ladder = Ladder::new(["max", "high", "low"]).unwrap();
/// let start = ladder.start(None, "high");
/// assert_eq!(ladder.effort(start.rung).word(), "high");
/// assert_eq!(ladder.effort(start.rung.harder()).word(), "max");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ladder {
    efforts: Vec<Effort>,
    rungs: Rungs,
}

/// Where a run starts, and the prefix that every effort is asked for with (empty, or [`Ladder::WIDTH`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// The first rung.
    pub rung: Rung,
    /// The width prefix taken off the configured effort.
    pub prefix: &'static str,
}

impl Ladder {
    /// The most rungs that a ladder may have.
    pub const MAX: usize = 64;
    /// The width prefix: an effort configured as `swarm` + word runs every rung with it.
    pub const WIDTH: &'static str = "swarm";

    /// A ladder of these words, hardest first.
    ///
    /// # Errors
    /// [`LadderError`] where there is no word, an empty one, one with a control character, one twice, or more than [`Ladder::MAX`].
    pub fn new<'a>(words: impl IntoIterator<Item = &'a str>) -> Result<Self, LadderError> {
        let mut efforts: Vec<Effort> = Vec::new();
        for word in words {
            if word.is_empty() {
                return Err(LadderError::EmptyWord { index: efforts.len() });
            }
            if word.chars().any(char::is_control) {
                return Err(LadderError::Unprintable { index: efforts.len() });
            }
            if efforts.iter().any(|known| known.word() == word) {
                return Err(LadderError::Repeated { word: word.into() });
            }
            efforts.push(Effort::new(word));
        }
        if efforts.is_empty() {
            return Err(LadderError::NoRung);
        }
        let rungs = Rungs::new(efforts.len()).ok_or(LadderError::TooLong { count: efforts.len() })?;
        Ok(Self { efforts, rungs })
    }

    /// How many rungs.
    #[must_use]
    pub const fn rungs(&self) -> Rungs {
        self.rungs
    }

    /// The words, hardest first.
    #[must_use]
    pub fn efforts(&self) -> &[Effort] {
        &self.efforts
    }

    /// The word of a rung; of the softest where the rung lies past the end.
    #[must_use]
    pub fn effort(&self, rung: Rung) -> &Effort {
        &self.efforts[self.rungs.clamp(rung).index()]
    }

    /// The rung of exactly this word.
    #[must_use]
    pub fn find(&self, word: &str) -> Option<Rung> {
        let index = self.efforts.iter().position(|effort| effort.word() == word)?;
        self.rungs.rung(index)
    }

    /// The rung that a run starts on: the kept word if it is on the ladder, else the configured one without its width
    /// prefix (taken off once), else the middle, the later of two middles.
    #[must_use]
    pub fn start(&self, kept: Option<&str>, configured: &str) -> Start {
        let (prefix, word) = match configured.strip_prefix(Self::WIDTH) {
            Some(word) => (Self::WIDTH, word),
            None => ("", configured),
        };
        let rung = kept.and_then(|kept| self.find(kept)).or_else(|| self.find(word)).unwrap_or_else(|| self.middle());
        Start { rung, prefix }
    }

    /// The middle rung; the later of two middles.
    #[must_use]
    pub fn middle(&self) -> Rung {
        Rung(self.rungs.0 / 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::String;

    fn ladder() -> Ladder {
        Ladder::new(["max", "high", "low", "off"]).unwrap()
    }

    #[test]
    fn bad_ladders_are_named() {
        assert_eq!(Ladder::new([]), Err(LadderError::NoRung));
        assert_eq!(Ladder::new(["a", ""]), Err(LadderError::EmptyWord { index: 1 }));
        assert_eq!(Ladder::new(["a", "b\u{1b}[31m"]), Err(LadderError::Unprintable { index: 1 }));
        assert_eq!(Ladder::new(["a", "b", "a"]), Err(LadderError::Repeated { word: "a".into() }));
        let words: Vec<String> = (0..65).map(|i| format!("e{i}")).collect();
        assert_eq!(Ladder::new(words.iter().map(String::as_str)), Err(LadderError::TooLong { count: 65 }));
    }

    #[test]
    fn a_run_starts_on_the_kept_word_then_the_configured_then_the_middle() {
        let at = |kept, configured| ladder().start(kept, configured).rung.index();
        assert_eq!(at(Some("low"), "high"), 2);
        assert_eq!(at(Some("Low"), "high"), 1, "case counts");
        assert_eq!(at(None, "medium"), 2, "the later of two middles");
        assert_eq!(at(Some("swarmlow"), "high"), 1, "a kept word never carries the prefix");
    }

    #[test]
    fn the_width_prefix_is_taken_off_once() {
        let ladder = Ladder::new(["swarmhigh", "high"]).unwrap();
        assert_eq!(ladder.start(None, "swarmhigh"), Start { rung: Rung(1), prefix: "swarm" });
        assert_eq!(ladder.start(None, "swarmswarmhigh"), Start { rung: Rung(0), prefix: "swarm" });
        assert_eq!(ladder.start(None, "high"), Start { rung: Rung(1), prefix: "" });
    }

    #[test]
    fn both_ends_hold() {
        assert_eq!(Rung(0).harder(), Rung(0));
        assert_eq!(ladder().rungs().clamp(Rung(3).softer()), Rung(3));
        assert_eq!(ladder().effort(Rung(200)).word(), "off");
    }
}
