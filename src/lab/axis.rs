//! Axis values as people write them: `300,5m,1h`, `0.15:0.4:0.05`, `reference,reset`.
//!
//! One reading for flags and for scenario files. Values are exact: a decimal is read digit by digit into millionths, a
//! duration into milliseconds, and a range steps in those integers, so that `0.15:0.4:0.05` holds exactly 0.3. It is not
//! the grid: it neither multiplies axes nor knows defaults.
//!
//! | axis | unit held | accepted | bounds |
//! |---|---|---|---|
//! | [`JUICE`] | millionth of a token per turn | `2048`, `1618.8` | above 0, up to a thousand million tokens |
//! | [`SLACK`] | part per million | `0.15` | 0 to 1 |
//! | [`OVER`] | millisecond | `300` (seconds), `300s`, `5m`, `1.5h`, `2d`, `250ms` | above 0, up to 30 days |
//! | [`REST`] | millisecond | the same | 0 to 30 days |
//!
//! A range `a:b:step` starts at `a` and ends at the last step that does not pass `b`.

use std::fmt;

use crate::engine::{Millis, Ratio, Target};

use crate::engine::laws::LawKind;

/// The most values that one axis may have.
pub const MAX_VALUES: usize = 1_000_000;

/// A thousand million tokens, in millionths.
const MAX_JUICE: u64 = 1_000_000_000_000_000;
/// Thirty days, in milliseconds.
const MAX_TIME: u64 = 30 * 24 * 3600 * 1000;

/// Where an axis was written, which item of it was at fault, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AxisError {
    /// The flag or the key, such as `--over` or `sweep.over`.
    pub origin: String,
    /// The item as written.
    pub item: String,
    /// What is wrong with it, and what to write instead.
    pub why: String,
}

impl fmt::Display for AxisError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {:?}: {}", self.origin, self.item, self.why)
    }
}

impl std::error::Error for AxisError {}

/// How the values of one axis are read, bounded and made.
#[derive(Debug)]
pub struct Axis<T> {
    read: fn(&str) -> Result<u64, String>,
    make: fn(u64) -> T,
    least: u64,
    most: u64,
    bounds: &'static str,
}

/// Targets, tokens per turn.
pub const JUICE: Axis<Target> = Axis {
    read: read_decimal,
    make: Target::from_micros,
    least: 1,
    most: MAX_JUICE,
    bounds: "it must be above 0 and at most 1000000000 tokens per turn",
};

/// Slacks, shares of the target.
pub const SLACK: Axis<Ratio> =
    Axis { read: read_decimal, make: ratio, least: 0, most: 1_000_000, bounds: "it must lie between 0 and 1" };

/// Windows.
pub const OVER: Axis<Millis> = Axis {
    read: read_duration,
    make: Millis::new,
    least: 1,
    most: MAX_TIME,
    bounds: "it must be above 0 and at most 30 days",
};

/// Rests between rounds.
pub const REST: Axis<Millis> =
    Axis { read: read_duration, make: Millis::new, least: 0, most: MAX_TIME, bounds: "it must be at most 30 days" };

/// Parts per million that passed the bounds of [`SLACK`], and so fit.
fn ratio(ppm: u64) -> Ratio {
    Ratio::from_ppm(u32::try_from(ppm).unwrap_or(u32::MAX))
}

impl<T> Axis<T> {
    /// A comma list of values and ranges, as a flag takes it; `origin` is the flag's name.
    ///
    /// # Errors
    /// [`AxisError`] naming the item: no number, out of bounds, an endless or backward range, too many values.
    pub fn list(&self, origin: &str, list: &str) -> Result<Vec<T>, AxisError> {
        let fault =
            |item: &str, why: String| AxisError { origin: origin.to_owned(), item: item.trim().to_owned(), why };
        let mut values = Vec::new();
        for item in list.split(',') {
            values.extend(self.item(item).map_err(|why| fault(item, why))?);
            if values.len() > MAX_VALUES {
                return Err(fault(item, format!("with it the list has more than {MAX_VALUES} values")));
            }
        }
        Ok(values)
    }

    /// One item: a value or a range.
    ///
    /// # Errors
    /// What is wrong with it, for people.
    pub fn item(&self, item: &str) -> Result<Vec<T>, String> {
        let parts: Vec<&str> = item.split(':').map(str::trim).collect();
        match parts.as_slice() {
            [value] => Ok(vec![(self.make)(self.bounded(value)?)]),
            [first, last, step] => self.range(first, last, step),
            [..] => Err("a range has three parts, `from:to:step`, such as 0.15:0.4:0.05".to_owned()),
        }
    }

    /// One value, no range.
    ///
    /// # Errors
    /// What is wrong with it, for people.
    pub fn value(&self, text: &str) -> Result<T, String> {
        self.bounded(text.trim()).map(self.make)
    }

    fn bounded(&self, text: &str) -> Result<u64, String> {
        let value = (self.read)(text)?;
        if value < self.least || value > self.most {
            return Err(self.bounds.to_owned());
        }
        Ok(value)
    }

    fn range(&self, first: &str, last: &str, step: &str) -> Result<Vec<T>, String> {
        let (first, last) = (self.bounded(first)?, self.bounded(last)?);
        let step = (self.read)(step)?;
        if step == 0 {
            return Err("the step of a range must be above 0".to_owned());
        }
        if first > last {
            return Err("the range runs backwards: write the smaller end first".to_owned());
        }
        let steps = usize::try_from((last - first) / step).unwrap_or(usize::MAX);
        if steps >= MAX_VALUES {
            return Err(format!("the range has more than {MAX_VALUES} values: take a larger step"));
        }
        // `first + n * step` never passes `last`, which fits.
        Ok(std::iter::successors(Some(first), |at| at.checked_add(step).filter(|next| *next <= last))
            .map(self.make)
            .collect())
    }
}

/// A comma list of laws, as a flag takes it.
///
/// # Errors
/// [`AxisError`] naming the word that is no law, with the nearest law.
pub fn laws(origin: &str, list: &str) -> Result<Vec<LawKind>, AxisError> {
    let one = |item: &str| {
        law(item.trim()).map_err(|why| AxisError { origin: origin.to_owned(), item: item.trim().to_owned(), why })
    };
    list.split(',').map(one).collect()
}

/// One law by its name.
///
/// # Errors
/// What is wrong with it and which laws there are.
pub fn law(name: &str) -> Result<LawKind, String> {
    name.parse().map_err(|_| {
        let known: Vec<&str> = LawKind::ALL.iter().map(|law| law.name()).collect();
        let near = nearest(name, &known).map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
        format!("no such law; {near}the laws are {}", known.join(", "))
    })
}

/// The known word that is nearest to `word`, if one is near at all.
pub(crate) fn nearest<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    // Comparing costs the product of the lengths; nobody misspells a key by hundreds of letters.
    if word.len() > 64 {
        return None;
    }
    let word = word.to_lowercase();
    let slips = (word.chars().count() / 3).max(1);
    let scored = known.iter().map(|known| (*known, strsim::jaro_winkler(&word, known)));
    let near = scored.filter(|(known, score)| *score >= 0.8 || strsim::osa_distance(&word, known) <= slips);
    near.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(known, _)| known)
}

fn read_decimal(text: &str) -> Result<u64, String> {
    millionths(text).map_err(|fault| fault.to_string())
}

fn read_duration(text: &str) -> Result<u64, String> {
    duration(text).map(Millis::count)
}

/// A length of time: `300` and `300s` are seconds, and there are `ms`, `m`, `h` and `d`; a fraction is fine where it
/// comes to whole milliseconds.
///
/// ```
/// use flyball::{engine::Millis, lab::axis::duration};
/// assert_eq!(duration("300"), Ok(Millis::from_secs(300)));
/// assert_eq!(duration("1.5m"), Ok(Millis::from_secs(90)));
/// assert!(duration("5 parsecs").is_err());
/// ```
///
/// # Errors
/// What is wrong with it, for people.
pub fn duration(text: &str) -> Result<Millis, String> {
    let text = text.trim();
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text.get(number.len()..).unwrap_or_default() {
        "ms" => 1,
        "s" | "" => 1000,
        "m" => 60 * 1000,
        "h" => 3600 * 1000,
        "d" => 24 * 3600 * 1000,
        _ => return Err("it is no duration: write 300, 300s, 5m, 1h or 250ms".to_owned()),
    };
    let micros = millionths(number.trim_end()).map_err(|fault| match fault {
        NumberFault::NotANumber => "it is no duration: write 300, 300s, 5m, 1h or 250ms".to_owned(),
        NumberFault::TooFine => too_short(),
        NumberFault::Negative | NumberFault::NotFinite | NumberFault::TooLarge => fault.to_string(),
    })?;
    let scaled = u128::from(micros) * unit;
    if scaled % 1_000_000 != 0 {
        return Err(too_short());
    }
    u64::try_from(scaled / 1_000_000).map(Millis::new).map_err(|_| NumberFault::TooLarge.to_string())
}

fn too_short() -> String {
    "it is finer than a millisecond".to_owned()
}

/// Why a text is no number of millionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberFault {
    /// It is no decimal number.
    NotANumber,
    /// It is `nan` or `inf`.
    NotFinite,
    /// It is below zero.
    Negative,
    /// It has a digit past the sixth decimal.
    TooFine,
    /// It does not fit.
    TooLarge,
}

impl fmt::Display for NumberFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotANumber => "it is no number",
            Self::NotFinite => "it must be a finite number",
            Self::Negative => "it must not be below 0",
            Self::TooFine => "it has more than six decimals",
            Self::TooLarge => "it is too large",
        })
    }
}

/// Reads a decimal number exactly, in millionths: `0.15` is 150000. Underscores between digits and an exponent are
/// taken as TOML takes them.
///
/// # Errors
/// [`NumberFault`].
pub fn millionths(text: &str) -> Result<u64, NumberFault> {
    let body = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(body.to_ascii_lowercase().as_str(), "nan" | "inf" | "infinity") {
        return Err(NumberFault::NotFinite);
    }
    let (mantissa, exponent) = match body.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, read_exponent(exponent)?),
        None => (body, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).filter(|b| *b != b'_').collect();
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(NumberFault::NotANumber);
    }
    let before_point = whole.bytes().filter(|b| *b != b'_').count();
    let value = scale(&digits, i64::try_from(before_point).unwrap_or(i64::MAX).saturating_add(exponent))?;
    if value > 0 && text.starts_with('-') {
        return Err(NumberFault::Negative);
    }
    Ok(value)
}

fn read_exponent(text: &str) -> Result<i64, NumberFault> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit() || b == b'_') {
        return Err(NumberFault::NotANumber);
    }
    // Past this size the value is zero or too large whatever its digits are.
    let size = digits.replace('_', "").parse::<i64>().unwrap_or(i64::MAX).min(1_000_000_000);
    Ok(if text.starts_with('-') { -size } else { size })
}

/// The digits with the point after `point` of them, in millionths.
fn scale(digits: &[u8], point: i64) -> Result<u64, NumberFault> {
    let zeros = digits.iter().take_while(|b| **b == b'0').count();
    let digits = &digits[zeros..];
    if digits.is_empty() {
        return Ok(0);
    }
    let keep = point.saturating_sub(i64::try_from(zeros).unwrap_or(i64::MAX)).saturating_add(6);
    if keep > 20 {
        return Err(NumberFault::TooLarge);
    }
    let keep = usize::try_from(keep).map_err(|_| NumberFault::TooFine)?;
    if digits.iter().skip(keep).any(|b| *b != b'0') {
        return Err(NumberFault::TooFine);
    }
    let padded = digits.iter().copied().chain(std::iter::repeat(b'0')).take(keep);
    padded.map(|b| u64::from(b - b'0')).try_fold(0_u64, |sum, digit| {
        sum.checked_mul(10).and_then(|sum| sum.checked_add(digit)).ok_or(NumberFault::TooLarge)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ppm(list: &str) -> Vec<u32> {
        SLACK.list("--slack", list).unwrap().into_iter().map(Ratio::ppm).collect()
    }

    #[test]
    fn decimals_are_exact() {
        let cases = [
            ("0.15", Ok(150_000)),
            (".3", Ok(300_000)),
            ("2.", Ok(2_000_000)),
            ("+1_000.5", Ok(1_000_500_000)),
            ("5.24288e3", Ok(5_242_880_000)),
            ("1e-6", Ok(1)),
            ("10e-7", Ok(1)),
            ("0e999999999999999999999", Ok(0)),
            ("-0", Ok(0)),
            ("18446744073709.551615", Ok(u64::MAX)),
            ("18446744073709.551616", Err(NumberFault::TooLarge)),
            ("1e999999999999999999999", Err(NumberFault::TooLarge)),
            ("1e-7", Err(NumberFault::TooFine)),
            ("1e-999999999999999999999", Err(NumberFault::TooFine)),
            ("0.1234567", Err(NumberFault::TooFine)),
            ("-1", Err(NumberFault::Negative)),
            ("nan", Err(NumberFault::NotFinite)),
            ("-inf", Err(NumberFault::NotFinite)),
            ("", Err(NumberFault::NotANumber)),
            (".", Err(NumberFault::NotANumber)),
            ("1e", Err(NumberFault::NotANumber)),
            ("0x10", Err(NumberFault::NotANumber)),
            ("1.2.3", Err(NumberFault::NotANumber)),
            ("--1", Err(NumberFault::NotANumber)),
            ("٣", Err(NumberFault::NotANumber)),
        ];
        for (text, expected) in cases {
            assert_eq!(millionths(text), expected, "{text:?}");
        }
    }

    #[test]
    fn ranges_hold_their_ends_exactly() {
        assert_eq!(ppm("0.15:0.4:0.05"), [150_000, 200_000, 250_000, 300_000, 350_000, 400_000]);
        assert_eq!(ppm("0:1:0.4"), [0, 400_000, 800_000], "no value past the end");
        assert_eq!(ppm("0.1, 0.3:0.3:0.1,0.2"), [100_000, 300_000, 200_000], "the order is kept");
    }

    #[test]
    fn durations_take_their_units() {
        let cases = [("300", 300_000), ("300s", 300_000), ("5m", 300_000), ("1h", 3_600_000), ("250ms", 250)];
        for (text, ms) in cases.into_iter().chain([("1.5h", 5_400_000), ("0.25", 250), ("2 d", 172_800_000)]) {
            assert_eq!(duration(text), Ok(Millis::new(ms)), "{text}");
        }
        for text in ["", "s", "5x", "5M", "nan", "inf", "-5s", "0.0001s", "0.5ms", "1e30h", "1m30s", "300 s s", "5µs"]
        {
            assert!(duration(text).is_err(), "{text:?} passed");
        }
        let over = OVER.list("--over", "60s:3m:60").unwrap();
        assert_eq!(over, [60, 120, 180].map(Millis::from_secs));
    }

    #[test]
    fn faults_name_the_flag_and_the_item() {
        let over = |text| OVER.list("--over", text).unwrap_err().to_string();
        assert_eq!(over("300, 5x"), "--over: \"5x\": it is no duration: write 300, 300s, 5m, 1h or 250ms");
        assert!(over("0").contains("above 0"));
        assert!(over("31d").contains("30 days"));
        assert!(over("300,").contains("\"\""));
        let slack = |text| SLACK.list("--slack", text).unwrap_err().to_string();
        assert!(slack("1.1").contains("between 0 and 1"));
        assert!(slack("0.4:0.1:0.1").contains("backwards"));
        assert!(slack("0.1:0.4:0").contains("step"));
        assert!(slack("0.1:0.4").contains("from:to:step"));
        assert!(slack("inf").contains("finite"));
        assert!(slack("0:1:0.000001").contains("more than 1000000 values"));
        assert!(JUICE.list("--juice", "0").unwrap_err().why.contains("above 0"));
        assert!(JUICE.list("--juice", "1000000000.000001").is_err());
        assert_eq!(REST.list("--rest", "0"), Ok(vec![Millis::ZERO]));
    }

    #[test]
    fn laws_are_named_or_the_nearest_is() {
        assert_eq!(laws("--law", "reset, reference"), Ok(vec![LawKind::Reset, LawKind::Reference]));
        let error = laws("--law", "reset,referense").unwrap_err().to_string();
        assert!(error.starts_with("--law: \"referense\"") && error.contains("`reference`"), "{error}");
        assert!(!laws("--law", "zzz").unwrap_err().why.contains("did you mean"));
    }

    proptest! {
        #[test]
        fn nothing_panics_and_every_value_is_in_bounds(text in "[-+0-9.:,eE_msh naif]{0,24}|\\PC{0,12}") {
            if let Ok(values) = SLACK.list("--slack", &text) {
                prop_assert!(values.iter().all(|v| v.ppm() <= 1_000_000));
            }
            if let Ok(values) = OVER.list("--over", &text) {
                prop_assert!(values.iter().all(|v| (1..=MAX_TIME).contains(&v.count())));
            }
            let _ = laws("--law", &text);
        }

        #[test]
        fn a_printed_decimal_reads_back(micros in 0_u64..=MAX_JUICE) {
            let text = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
            prop_assert_eq!(millionths(&text), Ok(micros));
        }

        #[test]
        fn a_range_is_its_arithmetic(first in 0_u64..1000, steps in 0_u64..50, step in 1_u64..1000) {
            let last = first + steps * step;
            let text = format!("{first}ms:{last}ms:{step}ms");
            let expected: Vec<Millis> = (0..=steps).map(|i| Millis::new(first + i * step)).collect();
            prop_assert_eq!(REST.list("--rest", &text), Ok(expected));
        }
    }
}
