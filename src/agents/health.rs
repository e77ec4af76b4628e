//! What was odd in a log, counted: no oddity stops a reader, and none is passed over in silence.

use std::collections::BTreeMap;

use super::lines::LineCounts;

/// How many different unknown line types are kept by name.
const NAMES_KEPT: usize = 20;

/// Counts of one log, or of several added up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// Lines that are not blank.
    pub lines: u64,
    /// Lines that are not JSON objects, last half lines left out.
    pub unreadable: u64,
    /// A last line that was cut in the middle: the program was killed, or is still writing.
    pub half_last: u64,
    /// Lines longer than [`MAX_LINE`](super::lines::MAX_LINE).
    pub too_long: u64,
    /// Lines that are not UTF-8.
    pub not_utf8: u64,
    /// Lines whose type this reader has never heard of.
    pub unknown_types: u64,
    /// The first few of those types, and how often each came.
    pub unknown_names: BTreeMap<String, u64>,
    /// Calls whose output count is a placeholder or missing.
    pub placeholders: u64,
    /// Messages that the program made up itself: no call to a model.
    pub synthetic: u64,
    /// Failed requests that the log tells of.
    pub errors: u64,
    /// Lines that repeat usage already told within one file.
    pub repeats: u64,
    /// Calls that another file, or an earlier copy, had already told.
    pub duplicates: u64,
    /// Counts that were negative, fractional, text or absurd, and were refused.
    pub bad_numbers: u64,
    /// Calls without a readable time; they stand at the last time read.
    pub bad_times: u64,
}

impl Health {
    /// Takes over what the line splitter passed over.
    pub const fn take_lines(&mut self, counts: LineCounts) {
        self.lines = counts.lines;
        self.too_long = counts.too_long;
        self.not_utf8 = counts.not_utf8;
    }

    /// Counts a line of unknown type.
    pub fn unknown(&mut self, name: &str) {
        self.unknown_types += 1;
        if let Some(times) = self.unknown_names.get_mut(name) {
            *times += 1;
        } else if self.unknown_names.len() < NAMES_KEPT && name.len() <= 100 {
            self.unknown_names.insert(name.to_owned(), 1);
        }
    }

    /// Adds the counts of another log.
    pub fn absorb(&mut self, other: &Self) {
        self.lines += other.lines;
        self.unreadable += other.unreadable;
        self.half_last += other.half_last;
        self.too_long += other.too_long;
        self.not_utf8 += other.not_utf8;
        self.unknown_types += other.unknown_types;
        for (name, times) in &other.unknown_names {
            if self.unknown_names.len() < NAMES_KEPT || self.unknown_names.contains_key(name) {
                *self.unknown_names.entry(name.clone()).or_default() += times;
            }
        }
        self.placeholders += other.placeholders;
        self.synthetic += other.synthetic;
        self.errors += other.errors;
        self.repeats += other.repeats;
        self.duplicates += other.duplicates;
        self.bad_numbers += other.bad_numbers;
        self.bad_times += other.bad_times;
    }

    /// Lines that said nothing because they could not be read at all.
    #[must_use]
    pub const fn lost_lines(&self) -> u64 {
        self.unreadable + self.half_last + self.too_long + self.not_utf8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_bounded_and_counts_are_not() {
        let mut health = Health::default();
        for at in 0..50 {
            health.unknown(&format!("type-{at}"));
            health.unknown("type-0");
        }
        assert_eq!((health.unknown_types, health.unknown_names.len()), (100, NAMES_KEPT));
        assert_eq!(health.unknown_names["type-0"], 51);
        let mut sum = health.clone();
        sum.absorb(&health);
        assert_eq!((sum.unknown_types, sum.unknown_names["type-0"]), (200, 102));
    }
}
