//! Units as types: what a number means is in its type, and only the sums that make sense compile.
//!
//! | type | unit | holds |
//! |---|---|---|
//! | [`Tokens`] | token | output tokens as the backend bills them |
//! | [`Timestamp`] | millisecond since the run's epoch | a moment; monotone, never calendar time |
//! | [`Millis`] | millisecond | a length of time |
//! | [`Ratio`] | part per million | slack and other shares, compared exactly |
//! | [`Target`] | millionth of a token | the size of an answer to hold |
//! | [`MicroUsd`] | millionth of a US dollar | cost as stated by a backend |
//! | [`Mean`] | token per turn, kept as a fraction | an average that is never divided |
//!
//! It is not a place for arithmetic of its own: no rounding happens here. Every constructor says its unit, and there is
//! no `From<u64>`, so that a second is never taken for a millisecond.

use core::fmt::{self, Write as _};
use core::num::NonZeroU64;

/// A count with its noun, for lines that people read: `1 round`, `2 rounds`.
///
/// ```
/// use flyball::engine::counted;
/// assert_eq!([0, 1, 2].map(|n| counted(n, "round").to_string()), ["0 rounds", "1 round", "2 rounds"]);
/// assert_eq!(counted("1.20M", "token").to_string(), "1.20M tokens");
/// ```
pub const fn counted<N: fmt::Display>(count: N, what: &str) -> Counted<'_, N> {
    Counted { count, what }
}

/// What [`counted`] gives.
#[derive(Clone, Copy, Debug)]
pub struct Counted<'a, N> {
    count: N,
    what: &'a str,
}

/// The first word of one, the second of any other count: a verb that goes with it.
///
/// ```
/// use flyball::engine::one_or;
/// assert_eq!([0, 1, 2].map(|n| one_or(n, "is", "are")), ["are", "is", "are"]);
/// ```
pub fn one_or<'a, N: fmt::Display>(count: N, one: &'a str, many: &'a str) -> &'a str {
    if is_one(&count) { one } else { many }
}

impl<N: fmt::Display> fmt::Display for Counted<'_, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}{}", self.count, self.what, one_or(&self.count, "", "s"))
    }
}

/// Whether a count is written `1`, whatever type it has.
fn is_one(count: &impl fmt::Display) -> bool {
    /// What was written so far, as far as that is the beginning of `1`.
    struct Written(Option<&'static str>);

    impl fmt::Write for Written {
        fn write_str(&mut self, part: &str) -> fmt::Result {
            self.0 = self.0.and_then(|left| left.strip_prefix(part));
            Ok(())
        }
    }
    let mut written = Written(Some("1"));
    write!(written, "{count}").is_ok() && written.0 == Some("")
}

/// One million: the whole of a [`Ratio`], and the grain of a [`Target`].
pub const MILLION: u64 = 1_000_000;

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident, $new:ident, $get:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u64);

        impl $name {
            /// Nothing.
            pub const ZERO: Self = Self(0);
            /// The largest that can be held; sums stop here instead of wrapping.
            pub const MAX: Self = Self(u64::MAX);

            /// From a count of the unit that the type's table names.
            #[must_use]
            pub const fn $new(count: u64) -> Self {
                Self(count)
            }

            /// The count, in the same unit.
            #[must_use]
            pub const fn $get(self) -> u64 {
                self.0
            }

            /// The sum, stopping at the largest value.
            #[must_use]
            pub const fn plus(self, other: Self) -> Self {
                Self(self.0.saturating_add(other.0))
            }

            /// The difference, stopping at zero.
            #[must_use]
            pub const fn minus(self, other: Self) -> Self {
                Self(self.0.saturating_sub(other.0))
            }
        }
    };
}

quantity!(
    /// Output tokens, as the backend bills them.
    Tokens,
    new,
    count
);
quantity!(
    /// A length of time in milliseconds.
    Millis,
    new,
    count
);
quantity!(
    /// Millionths of a US dollar, as the backend states them.
    MicroUsd,
    new,
    count
);

impl Millis {
    /// From whole seconds.
    #[must_use]
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs.saturating_mul(1000))
    }
}

/// A moment, in milliseconds since this run's epoch. Monotone, serialisable, never calendar time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(u64);

impl Timestamp {
    /// The run's epoch.
    pub const EPOCH: Self = Self(0);

    /// From milliseconds since the epoch.
    #[must_use]
    pub const fn from_millis(ms: u64) -> Self {
        Self(ms)
    }

    /// Milliseconds since the epoch.
    #[must_use]
    pub const fn millis(self) -> u64 {
        self.0
    }

    /// The moment `span` later.
    #[must_use]
    pub const fn after(self, span: Millis) -> Self {
        Self(self.0.saturating_add(span.0))
    }

    /// The moment `span` earlier, or the epoch where that lies before it.
    #[must_use]
    pub const fn before(self, span: Millis) -> Self {
        Self(self.0.saturating_sub(span.0))
    }

    /// The time from `earlier` to here, or nothing where that is the later one.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Millis {
        Millis(self.0.saturating_sub(earlier.0))
    }
}

/// A share in parts per million, so that two of them compare exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ratio(u32);

impl Ratio {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// From parts per million.
    #[must_use]
    pub const fn from_ppm(ppm: u32) -> Self {
        Self(ppm)
    }

    /// Parts per million.
    #[must_use]
    pub const fn ppm(self) -> u32 {
        self.0
    }

    /// So much of a count, rounded down.
    #[must_use]
    pub fn of(self, count: u64) -> u64 {
        let part = u128::from(count) * u128::from(self.0) / 1_000_000;
        u64::try_from(part).unwrap_or(u64::MAX)
    }
}

/// The size of an answer to hold: millionths of an output token per turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Target(u64);

impl Target {
    /// From whole tokens per turn.
    #[must_use]
    pub const fn from_tokens(tokens: u64) -> Self {
        Self(tokens.saturating_mul(MILLION))
    }

    /// From millionths of a token per turn.
    #[must_use]
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// Millionths of a token per turn.
    #[must_use]
    pub const fn micros(self) -> u64 {
        self.0
    }
}

/// Output over a count of turns: a mean that is never divided in the engine.
///
/// ```
/// use flyball::engine::{Mean, Tokens};
/// assert!(Mean::new(Tokens::new(10), 0).is_none());
/// assert_eq!(Mean::new(Tokens::new(10), 4).unwrap().to_string(), "2.5");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mean {
    total: Tokens,
    turns: NonZeroU64,
}

impl Mean {
    /// The mean of `total` over `turns`, or nothing where there were none.
    #[must_use]
    pub const fn new(total: Tokens, turns: u64) -> Option<Self> {
        match NonZeroU64::new(turns) {
            Some(turns) => Some(Self { total, turns }),
            None => None,
        }
    }

    /// The tokens on top of the fraction.
    #[must_use]
    pub const fn total(self) -> Tokens {
        self.total
    }

    /// The turns below it.
    #[must_use]
    pub const fn turns(self) -> u64 {
        self.turns.get()
    }
}

/// Tokens per turn with up to three decimals, rounded down: for people, not for comparing.
impl fmt::Display for Mean {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let milli = u128::from(self.total.count()) * 1000 / u128::from(self.turns.get());
        let (whole, rest) = (milli / 1000, milli % 1000);
        if rest == 0 {
            return write!(f, "{whole}");
        }
        let (mut rest, mut width) = (rest, 3);
        while rest % 10 == 0 {
            rest /= 10;
            width -= 1;
        }
        write!(f, "{whole}.{rest:0width$}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_stop_at_the_ends() {
        assert_eq!(Tokens::MAX.plus(Tokens::new(1)), Tokens::MAX);
        assert_eq!(Tokens::ZERO.minus(Tokens::new(1)), Tokens::ZERO);
        assert_eq!(Timestamp::from_millis(3).before(Millis::new(5)), Timestamp::EPOCH);
        assert_eq!(Timestamp::from_millis(3).since(Timestamp::from_millis(5)), Millis::ZERO);
        assert_eq!(Timestamp::from_millis(3).after(Millis::from_secs(1)).millis(), 1003);
    }

    #[test]
    fn a_mean_prints_without_trailing_zeros() {
        let show = |total, turns| Mean::new(Tokens::new(total), turns).unwrap().to_string();
        assert_eq!(show(10, 5), "2");
        assert_eq!(show(10, 3), "3.333");
        assert_eq!(show(1, 20), "0.05");
    }
}
