//! What lines of logs are made of: times as text, ids that are always the same, and the calls of a session.

use core::fmt::Write;

use serde_json::Value;

use super::Session;
use crate::engine::{Grade, Timestamp, TurnRecord};

/// An id of 20 hexadecimal digits that follows from its words alone (FNV-1a, twice).
#[must_use]
pub fn digest(words: &str) -> String {
    let hash = |seed: u64| {
        words.bytes().fold(0xcbf2_9ce4_8422_2325 ^ seed, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        })
    };
    format!("{:016x}{:04x}", hash(0), hash(0x9e37) & 0xffff)
}

/// The same in the shape of a UUID.
#[must_use]
pub fn uuid(words: &str) -> String {
    let text = [digest(words), digest(&format!("{words}+"))].concat();
    format!("{}-{}-4{}-8{}-{}", &text[..8], &text[8..12], &text[13..16], &text[17..20], &text[20..32])
}

/// A call as the writers need it: each has a start, and an id.
#[derive(Clone, Debug)]
pub(super) struct Call<'a> {
    pub(super) record: &'a TurnRecord,
    pub(super) id: String,
    pub(super) start: Timestamp,
    /// The effort, the model: of the call where it says, else of the session.
    pub(super) effort: &'a str,
    pub(super) model: &'a str,
    /// The last of its session.
    pub(super) last: bool,
}

impl<'a> Call<'a> {
    /// The calls of a session; what has no start begins where the one before it ended.
    pub(super) fn all(session: &'a Session) -> Vec<Self> {
        let turns: Vec<&TurnRecord> = session.calls.iter().filter(|record| record.counts_as_turn).collect();
        let mut before = session.began;
        let mut calls = Vec::with_capacity(turns.len());
        for (place, &record) in turns.iter().enumerate() {
            let id = record
                .id
                .as_deref()
                .map_or_else(|| format!("msg_{}", digest(&format!("{} {place}", session.id))), str::to_owned);
            calls.push(Self {
                record,
                id,
                start: record.start.unwrap_or(before).min(record.end),
                effort: record
                    .effort_confirmed
                    .as_deref()
                    .or(record.effort_asked.as_deref())
                    .unwrap_or(&session.effort),
                model: record.model.as_deref().unwrap_or(&session.model),
                last: place + 1 == turns.len(),
            });
            before = record.end;
        }
        calls
    }

    /// The output count, where it is known.
    pub(super) fn output(&self) -> Option<u64> {
        (self.record.grade == Grade::Known).then(|| self.record.output.count())
    }

    /// Into how many blocks the answer falls: one to three, by its size.
    pub(super) fn blocks(&self) -> u64 {
        1 + self.record.output.count() % 3
    }

    /// When block `at` of `of` was complete; the last at the end.
    pub(super) fn moment(&self, at: u64, of: u64) -> Timestamp {
        let lasted = self.record.end.millis() - self.start.millis();
        let left = u128::from(lasted) * u128::from(of - at) / u128::from(of.max(1));
        Timestamp::from_millis(self.record.end.millis() - u64::try_from(left).unwrap_or(0))
    }
}

/// Adds a value as a line.
pub(super) fn push(text: &mut String, line: &Value) {
    // writing to a string does not fail
    let _ = writeln!(text, "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_differ_and_stay() {
        assert_eq!(digest("a"), digest("a"));
        assert_ne!(digest("a"), digest("b"));
        assert_eq!((digest("a").len(), uuid("a").len()), (20, 36));
    }
}
