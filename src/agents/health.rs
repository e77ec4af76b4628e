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
    /// Failed requests and runs that the log tells of.
    pub errors: u64,
    /// The first few kinds of those, and how often each came.
    pub error_kinds: BTreeMap<String, u64>,
    /// Times that the program made room by summing its history up.
    pub compactions: u64,
    /// Running totals that fell: a process began anew, or a total was lowered.
    pub falls: u64,
    /// Output tokens counted call by call beyond what was stated in sum for them.
    pub surplus: u64,
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
        add(&mut self.unknown_names, name, 1);
    }

    /// Counts a failure of this kind.
    pub fn error(&mut self, kind: &str) {
        self.errors += 1;
        add(&mut self.error_kinds, if kind.is_empty() { "unknown" } else { kind }, 1);
    }

    /// Adds the counts of another log.
    pub fn absorb(&mut self, other: &Self) {
        self.lines += other.lines;
        self.unreadable += other.unreadable;
        self.half_last += other.half_last;
        self.too_long += other.too_long;
        self.not_utf8 += other.not_utf8;
        self.unknown_types += other.unknown_types;
        for (name, &times) in &other.unknown_names {
            add(&mut self.unknown_names, name, times);
        }
        for (name, &times) in &other.error_kinds {
            add(&mut self.error_kinds, name, times);
        }
        self.compactions += other.compactions;
        self.falls += other.falls;
        self.surplus += other.surplus;
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

/// Counts under a name, as long as there is room for names; a name of a line's length is none.
fn add(names: &mut BTreeMap<String, u64>, name: &str, times: u64) {
    if let Some(count) = names.get_mut(name) {
        *count += times;
    } else if names.len() < NAMES_KEPT && name.len() <= 100 {
        names.insert(name.to_owned(), times);
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
