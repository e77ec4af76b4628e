//! What of the original can be put back, and how: other cutoffs, edges, charging and budget order for the one engine.

use std::collections::BTreeMap;
use std::fmt;

use super::record::{Config, Recording, RecordingError, nanos};
use crate::engine::{Band, BandError, Cutoff, Edge, Millis, Over, Target, Timestamp, Tokens};

/// One difference between the engine as it stands and the original.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PutBack {
    /// The memory of 300 s beside the newest report, and cutoffs computed in float64.
    Memory,
    /// Thresholds, of the band and of the budget, computed in float64.
    Edges,
    /// An interrupted round is not charged.
    Charging,
    /// A spent budget still allows one round.
    BudgetOrder,
}

impl PutBack {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Memory, Self::Edges, Self::Charging, Self::BudgetOrder];

    /// The stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Edges => "edges",
            Self::Charging => "charging",
            Self::BudgetOrder => "budget-order",
        }
    }

    const fn bit(self) -> u8 {
        match self {
            Self::Memory => 1,
            Self::Edges => 2,
            Self::Charging => 4,
            Self::BudgetOrder => 8,
        }
    }
}

/// A set of put-backs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PutBacks(u8);

impl PutBacks {
    /// The engine as it stands.
    pub const NONE: Self = Self(0);
    /// The original.
    pub const ALL: Self = Self(15);

    /// Whether it holds this one.
    #[must_use]
    pub const fn has(self, one: PutBack) -> bool {
        self.0 & one.bit() != 0
    }

    /// All sets, smallest first.
    #[must_use]
    pub fn by_size() -> Vec<Self> {
        let mut sets: Vec<Self> = (0..=15).map(Self).collect();
        sets.sort_by_key(|set| set.0.count_ones());
        sets
    }
}

impl fmt::Display for PutBacks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = PutBack::ALL.into_iter().filter(|&one| self.has(one)).map(PutBack::name).collect();
        f.pad(&names.join(" + "))
    }
}

/// A decimal number as a fraction: the shortest decimal that reads back as the float.
struct Decimal {
    digits: u128,
    scale: u128,
}

impl Decimal {
    fn of(key: &'static str, value: f64) -> Result<Self, RecordingError> {
        let text = value.to_string();
        let (whole, part) = text.split_once('.').unwrap_or((&text, ""));
        let scale = u32::try_from(part.len()).ok().and_then(|digits| 10u128.checked_pow(digits));
        let digits = format!("{whole}{part}").parse();
        match (digits, scale) {
            (Ok(digits), Some(scale)) if digits <= 1 << 80 && scale <= 1 << 60 => Ok(Self { digits, scale }),
            _ => Err(RecordingError::Number { key, value: text, what: "number of this kind" }),
        }
    }
}

/// The band of a recording: exact edges, or those of the original's float64 comparison.
pub(super) fn band(config: &Config, floats: bool) -> Result<Band, RecordingError> {
    let (juice, slack) = (Decimal::of("juice", config.juice)?, Decimal::of("slack", config.slack)?);
    let micros = juice.digits * 1_000_000 / juice.scale;
    let target = Target::from_micros(u64::try_from(micros).unwrap_or(u64::MAX));
    if floats {
        let low = float_edge(config.juice * (1.0 - config.slack), false)?;
        let high = float_edge(config.juice * (1.0 + config.slack), true)?;
        return Ok(Band::with_edges(target, low, high)?);
    }
    let unit = juice.scale * slack.scale;
    let edge = |share: u128| Edge::new(juice.digits * share, unit, true);
    Ok(Band::with_edges(target, edge(slack.scale.saturating_sub(slack.digits))?, edge(slack.scale + slack.digits)?)?)
}

/// The edge at which the float64 nearest to an exact mean starts to compare as beyond `threshold`.
///
/// The original divides and rounds to the nearest float64, then compares. The rounded mean lies beyond the threshold
/// exactly if the true mean lies beyond the middle between the threshold and its neighbour; a true mean exactly in that
/// middle goes to the one of even significand.
fn float_edge(threshold: f64, above: bool) -> Result<Edge, BandError> {
    if threshold <= 0.0 {
        return Edge::new(0, 1, true);
    }
    let neighbour = if above { threshold.next_up() } else { threshold.next_down() };
    let even = threshold.to_bits() & 1 == 0;
    let ((a, a_scale), (b, b_scale)) = (dyadic(threshold), dyadic(neighbour));
    let scale = a_scale.max(b_scale);
    if scale > 70 {
        return Edge::new(0, 1, true);
    }
    Edge::new((a << (scale - a_scale)) + (b << (scale - b_scale)), 1 << (scale + 1), even)
}

/// A positive float64 as integer / 2^scale, scale >= 0.
fn dyadic(value: f64) -> (u128, u32) {
    let bits = value.to_bits();
    let (exponent, fraction) = (bits >> 52, u128::from(bits & ((1 << 52) - 1)));
    let significand = if exponent == 0 { fraction } else { fraction | 1 << 52 };
    let power = i64::try_from(exponent.max(1)).unwrap_or(0) - 1075;
    match u32::try_from(-power) {
        Ok(scale) => {
            let spare = significand.trailing_zeros().min(scale);
            (significand >> spare, scale - spare)
        }
        Err(_) => (significand << u32::try_from(power).unwrap_or(0).min(70), 0),
    }
}

/// The budget of a recording in output tokens: exact, or where the float64 comparison starts to hold.
pub(super) fn budget(config: &Config, floats: bool) -> Result<Option<Tokens>, RecordingError> {
    if config.budget == 0.0 {
        return Ok(None);
    }
    let exact = Decimal::of("budget", config.budget)?;
    let whole = (exact.digits * 1_000_000).div_ceil(exact.scale);
    let float = Decimal::of("budget", (config.budget * 1_000_000.0).ceil())?.digits;
    let tokens = if floats { float } else { whole };
    Ok(Some(Tokens::new(u64::try_from(tokens).unwrap_or(u64::MAX))))
}

/// The window of a recording: exact, or with the original's memory and float64 cutoffs.
pub(super) enum Window {
    /// Honoured whole.
    Exact(Over),
    /// As the original computed it.
    Original(FloatWindow),
}

impl Window {
    /// The window of a recording.
    pub(super) fn new(recording: &Recording, original: bool) -> Result<Self, RecordingError> {
        if original {
            return Ok(Self::Original(FloatWindow::new(recording)?));
        }
        Ok(Self::Exact(Over::new(Millis::new(nanos("over", recording.config.over)?))))
    }
}

/// Cutoffs in float64 seconds, over the moments of one recording.
pub(super) struct FloatWindow {
    over: f64,
    /// Seconds of each moment that the engine can ask about, by its nanoseconds.
    seconds: BTreeMap<u64, f64>,
    /// Times of reports in order, as nanoseconds and as seconds.
    reports: Vec<(u64, f64)>,
}

impl FloatWindow {
    /// How far back the original remembers beside its newest report, in seconds.
    const MEMORY: f64 = 300.0;

    fn new(recording: &Recording) -> Result<Self, RecordingError> {
        let (mut seconds, mut reports) = (BTreeMap::new(), Vec::new());
        for script in &recording.rounds {
            for report in &script.turns {
                let at = nanos("at", report.at)?;
                seconds.insert(at, report.at);
                reports.push((at, report.at));
            }
            if let Some(ended) = script.ended_at {
                seconds.insert(nanos("ended_at", ended)?, ended);
            }
        }
        Ok(Self { over: recording.config.over, seconds, reports })
    }

    fn seconds(&self, at: Timestamp) -> Option<f64> {
        self.seconds.get(&at.millis()).copied()
    }
}

impl Cutoff for Window {
    fn cutoff(&self, now: Timestamp, newest: Timestamp) -> Timestamp {
        let floats = match self {
            Self::Exact(over) => return over.cutoff(now, newest),
            Self::Original(floats) => floats,
        };
        let over = floats.seconds(now).map_or(f64::NEG_INFINITY, |now| now - floats.over);
        let memory = floats.seconds(newest).map_or(f64::NEG_INFINITY, |newest| newest - FloatWindow::MEMORY);
        let oldest = over.max(memory);
        let live = floats.reports.iter().find(|(_, seconds)| *seconds >= oldest);
        Timestamp::from_millis(live.map_or(u64::MAX, |(at, _)| *at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Mean, Side};
    use proptest::prelude::*;

    fn side(band: &Band, total: u64, turns: u64) -> Side {
        band.side(Mean::new(Tokens::new(total), turns).unwrap())
    }

    proptest! {
        /// The edges put back decide as float64 does, on the edge and beside it.
        #[test]
        fn float_edges_decide_as_floats_do(juice in 1u32..20_000, slack in 0u32..=100, turns in 1u64..60, near in -3i64..=3, high: bool) {
            let config = Config { juice: f64::from(juice), over: 1.0, slack: f64::from(slack) / 100.0, rest: 0.0, budget: 0.0 };
            let band = band(&config, true).unwrap();
            let (low, top) = (config.juice * (1.0 - config.slack), config.juice * (1.0 + config.slack));
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "small whole numbers")]
            let (total, mean) = {
                let aim = (if high { top } else { low }) * turns as f64;
                let total = (aim.round() as u64).saturating_add_signed(near);
                (total, total as f64 / turns as f64)
            };
            let want = if mean < low { Side::Below } else if mean > top { Side::Above } else { Side::Within };
            prop_assert_eq!(side(&band, total, turns), want);
        }
    }

    #[test]
    fn a_threshold_that_float64_misses_is_an_edge_of_its_own() {
        // 300 (1 + .18) is 354 exactly, and 354.00000000000000 or its neighbour in float64
        let config = Config { juice: 300.0, over: 1.0, slack: 0.18, rest: 0.0, budget: 0.0 };
        assert_eq!(side(&band(&config, false).unwrap(), 354, 1), Side::Within);
        assert_eq!(side(&band(&config, false).unwrap(), 246, 1), Side::Within);
        let floats = band(&config, true).unwrap();
        let want = |below: bool| if below { Side::Below } else { Side::Within };
        assert_eq!(side(&floats, 246, 1), want(246.0 < 300.0 * (1.0 - 0.18)));
    }

    #[test]
    fn sets_come_smallest_first_and_are_named() {
        let sets = PutBacks::by_size();
        assert_eq!((sets.len(), sets[0], sets[15]), (16, PutBacks::NONE, PutBacks::ALL));
        assert_eq!(sets[5].to_string(), "memory + edges");
    }
}
