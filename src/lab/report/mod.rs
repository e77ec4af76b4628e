//! Reports: a finished result as JSON, as CSV, as a table for people. They print and do not compute.
//!
//! The same numbers under the same names everywhere: a metric's own name for its mean, and `lo` and `hi` for the ends of
//! its interval. Numbers have six decimals and come from integers, so that the bytes are the same on every machine. What
//! does not apply is `null` in JSON and an empty field in CSV.

pub mod choice;
pub mod csv;
pub mod ends;
pub mod json;
pub mod table;

mod columns;

/// A number of millionths with six decimals.
///
/// ```
/// use flyball::lab::report::decimal;
/// assert_eq!(decimal(-1_234_567), "-1.234567");
/// assert_eq!(decimal(5), "0.000005");
/// ```
#[must_use]
pub fn decimal(micros: i64) -> String {
    let size = micros.unsigned_abs();
    let sign = if micros < 0 { "-" } else { "" };
    format!("{sign}{}.{:06}", size / 1_000_000, size % 1_000_000)
}
