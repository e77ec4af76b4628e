//! Figures as people read them: tokens, dollars, lengths of time, sizes of texts.
//!
//! For lines that people read, never for what is compared or stored. Rounded where that is said.

use crate::engine::{Caps, MicroUsd, Millis, Tokens, counted};

/// Bytes that a token is taken for where nobody counts them.
pub const BYTES_A_TOKEN: usize = 4;

/// Tokens in millions, to the hundredth below; under ten thousand, whole.
///
/// ```
/// use flyball::{engine::Tokens, run::figures::millions};
/// assert_eq!((millions(Tokens::new(9_999)), millions(Tokens::new(10_000_000))), ("9999".into(), "10.00M".into()));
/// ```
#[must_use]
pub fn millions(tokens: Tokens) -> String {
    match tokens.count() {
        count if count < 10_000 => count.to_string(),
        count => format!("{}.{:02}M", count / 1_000_000, count / 10_000 % 100),
    }
}

/// Dollars and cents, to the nearest cent.
///
/// ```
/// use flyball::{engine::MicroUsd, run::figures::usd};
/// assert_eq!(usd(MicroUsd::new(1_234_999)), "$1.23");
/// ```
#[must_use]
pub fn usd(cost: MicroUsd) -> String {
    let cents = cost.count().saturating_add(5_000) / 10_000;
    format!("${}.{:02}", cents / 100, cents % 100)
}

/// A length of time in its two largest units, rounded down.
///
/// ```
/// use flyball::{engine::Millis, run::figures::span};
/// assert_eq!((span(Millis::from_secs(3_725)), span(Millis::new(900))), ("1h02m".into(), "900 ms".into()));
/// ```
#[must_use]
pub fn span(span: Millis) -> String {
    let seconds = span.count() / 1000;
    match seconds {
        0 => format!("{} ms", span.count()),
        1..60 => format!("{seconds} s"),
        60..3600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h{:02}m", seconds / 3600, seconds / 60 % 60),
    }
}

/// A count of rounds.
///
/// ```
/// use flyball::run::figures::rounds;
/// assert_eq!((rounds(1), rounds(2)), ("1 round".into(), "2 rounds".into()));
/// ```
#[must_use]
pub fn rounds(count: u64) -> String {
    counted(count, "round").to_string()
}

/// Each cap that there is: rounds, output, tokens, cost, time.
///
/// ```
/// use flyball::{engine::{Caps, Millis}, run::figures::caps};
/// let both = Caps { rounds: Some(4), wall: Some(Millis::from_secs(3_725)), ..Caps::default() };
/// assert_eq!(caps(&both), ["4 rounds", "1h02m of time"]);
/// ```
#[must_use]
pub fn caps(caps: &Caps) -> Vec<String> {
    let each = [
        caps.rounds.map(rounds),
        caps.budget.map(|tokens| counted(millions(tokens), "output token").to_string()),
        caps.tokens.map(|tokens| format!("{} of all kinds", counted(millions(tokens), "token"))),
        caps.cost.map(usd),
        caps.wall.map(|time| format!("{} of time", span(time))),
    ];
    each.into_iter().flatten().collect()
}

/// The size of a text: its bytes, and about how many tokens they are.
///
/// ```
/// use flyball::run::figures::size;
/// assert_eq!(size("twelve bytes"), "12 bytes, about 3 tokens (estimated at 4 bytes a token)");
/// assert_eq!(size("x"), "1 byte, about 1 token (estimated at 4 bytes a token)");
/// ```
#[must_use]
pub fn size(text: &str) -> String {
    let bytes = text.len();
    let tokens = bytes.div_ceil(BYTES_A_TOKEN);
    let (bytes, tokens) = (counted(bytes, "byte"), counted(tokens, "token"));
    format!("{bytes}, about {tokens} (estimated at {BYTES_A_TOKEN} bytes a token)")
}
