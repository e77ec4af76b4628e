//! Moments of Unix time as they stand in files and names.

use crate::engine::Timestamp;

/// A moment as ISO 8601 in UTC with milliseconds, as all programs write it. Years beyond 9999 do not arise from records.
///
/// By Hinnant's `civil_from_days`: days since 0000-03-01 in eras of 146097 days.
#[must_use]
pub fn iso(moment: Timestamp) -> String {
    let (days, rest) = (moment.millis() / 86_400_000, moment.millis() % 86_400_000);
    let days = days.saturating_add(719_468);
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let in_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * in_year + 2) / 153;
    let date = in_year - (153 * month + 2) / 5 + 1;
    let (month, turn) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = year + 400 * era + turn;
    let (hours, minutes, seconds, millis) = (rest / 3_600_000, rest / 60_000 % 60, rest / 1000 % 60, rest % 1000);
    format!("{year:04}-{month:02}-{date:02}T{hours:02}:{minutes:02}:{seconds:02}.{millis:03}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_that_calendars_get_wrong() {
        let at = |millis| iso(Timestamp::from_millis(millis));
        assert_eq!(at(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(at(951_782_399_999), "2000-02-28T23:59:59.999Z");
        assert_eq!(at(951_782_400_001), "2000-02-29T00:00:00.001Z");
        assert_eq!(at(4_107_542_399_999), "2100-02-28T23:59:59.999Z");
        assert_eq!(at(4_107_542_400_000), "2100-03-01T00:00:00.000Z");
        assert!(at(u64::MAX).ends_with('Z'));
    }
}
