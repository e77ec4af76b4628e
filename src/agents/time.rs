//! Moments as logs write them: RFC 3339 with an offset, given back as milliseconds of Unix time.
//!
//! It knows no clock and no zone: a moment without an offset is none.
//!
//! Source of the civil date formula: H. Hinnant, "chrono-compatible low-level date algorithms" (`days_from_civil`).

use crate::engine::Timestamp;

/// Reads an RFC 3339 moment, such as `2026-07-28T18:20:46.283Z`, cut to milliseconds; years 1970 to 2199.
///
/// ```
/// use flyball::agents::time::parse_time;
/// assert_eq!(parse_time("2026-07-28T18:20:46.283Z").unwrap().millis(), 1_785_262_846_283);
/// assert_eq!(parse_time("1970-01-01T01:00:00+01:00").unwrap().millis(), 0);
/// assert!(parse_time("yesterday").is_none());
/// ```
#[must_use]
pub fn parse_time(text: &str) -> Option<Timestamp> {
    let bytes = text.as_bytes();
    let (year, month, day) = (digits(bytes, 0, 4)?, digits(bytes, 5, 2)?, digits(bytes, 8, 2)?);
    let (hour, minute, second) = (digits(bytes, 11, 2)?, digits(bytes, 14, 2)?, digits(bytes, 17, 2)?);
    let marks = [(4, b'-'), (7, b'-'), (13, b':'), (16, b':')];
    let shaped = marks.iter().all(|&(at, mark)| bytes[at] == mark) && matches!(bytes[10], b'T' | b't' | b' ');
    let plausible =
        (1970..2200).contains(&year) && (1..=12).contains(&month) && (1..=month_days(year, month)).contains(&day);
    // Second 60 is a leap second; it counts as the first of the next minute.
    if !shaped || !plausible || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let (millis, rest) = fraction(bytes.get(19..)?)?;
    let seconds = days_from_civil(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset(rest)?;
    let millis = seconds.checked_mul(1000)?.checked_add(millis)?;
    u64::try_from(millis).ok().map(Timestamp::from_millis)
}

fn digits(bytes: &[u8], at: usize, len: usize) -> Option<i64> {
    bytes
        .get(at..at + len)?
        .iter()
        .try_fold(0_i64, |sum, byte| byte.is_ascii_digit().then(|| sum * 10 + i64::from(byte - b'0')))
}

/// Milliseconds of a fraction of a second, and what follows it.
fn fraction(bytes: &[u8]) -> Option<(i64, &[u8])> {
    let Some(rest) = bytes.strip_prefix(b".") else { return Some((0, bytes)) };
    let len = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if len == 0 {
        return None;
    }
    let millis = (0..3).fold(0, |sum, at| sum * 10 + if at < len { i64::from(rest[at] - b'0') } else { 0 });
    Some((millis, &rest[len..]))
}

/// Seconds east of UTC.
fn offset(bytes: &[u8]) -> Option<i64> {
    match bytes {
        b"Z" | b"z" => Some(0),
        [sign @ (b'+' | b'-'), _, _, b':', _, _] => {
            let (hours, minutes) = (digits(bytes, 1, 2)?, digits(bytes, 4, 2)?);
            let seconds = (hours <= 23 && minutes <= 59).then_some(hours * 3600 + minutes * 60)?;
            Some(if *sign == b'+' { seconds } else { -seconds })
        }
        _ => None,
    }
}

const fn month_days(year: i64, month: i64) -> i64 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01 to a date of the Gregorian calendar.
const fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year / 400;
    let of_era = year - era * 400;
    let of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn times() {
        let millis = |text| parse_time(text).map(Timestamp::millis);
        assert_eq!(millis("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(millis("2000-02-29T23:59:59.9Z"), Some(951_868_799_900));
        assert_eq!(millis("2026-06-18T07:41:33.518999Z"), Some(1_781_768_493_518));
        assert_eq!(millis("2026-06-18T05:41:33.5-02:00"), Some(1_781_768_493_500));
        for bad in [
            "",
            "Z",
            "2026-06-18",
            "2026-06-18T07:41:33",
            "2026-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-06-18T24:00:00Z",
            "2026-06-18T07:41:33.Z",
            "2026-06-18T07:41:33+1:00",
            "1969-12-31T23:59:59Z",
            "1970-01-01T00:00:00+01:00",
            "9999-01-01T00:00:00Z",
            "2026-06-1éT07:41:33Z",
        ] {
            assert_eq!(millis(bad), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "\\PC{0,40}") {
            let _ = parse_time(&text);
        }

        #[test]
        fn days_follow_each_other(year in 1970_i64..2199, month in 1_i64..=12) {
            let days = month_days(year, month);
            let (next_year, next_month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
            prop_assert_eq!(days_from_civil(year, month, 1) + days, days_from_civil(next_year, next_month, 1));
        }
    }
}
