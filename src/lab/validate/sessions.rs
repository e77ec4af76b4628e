//! Sessions at one effort: what is compared.
//!
//! A *stretch* is all turns of one session at one effort, in time; turns of the session at another effort are left out as
//! if they had not been. Its *absences* are the gaps between turns that are too long for a tool: those of a person who is
//! away, which no fit describes. They are facts about the person and not about the agent, so the simulated side gets
//! the same ones at the same places. Units: milliseconds, tokens.

use std::collections::BTreeMap;

use crate::engine::{Grade, TurnRecord};
use crate::lab::fit::timing::GAP_LIMIT;
use crate::lab::recorded::{effort_of, model_of};

/// The fewest turns of a stretch that is looked at.
pub const TURNS_FLOOR: usize = 30;

/// One session at one effort.
#[derive(Clone, Debug, PartialEq)]
pub struct Stretch {
    /// The session's number among the records.
    pub session: u64,
    /// Its turns of known output, in time.
    pub turns: Vec<TurnRecord>,
}

/// A long gap: before the turn at this place, of so many milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Absence {
    /// The place of the turn that it is before.
    pub before: usize,
    /// How long it is.
    pub millis: u64,
}

impl Stretch {
    /// Output of all turns.
    #[must_use]
    pub fn output(&self) -> u64 {
        self.turns.iter().fold(0, |sum, turn| sum.saturating_add(turn.output.count()))
    }

    /// Its long gaps, from the end of a turn to the start of the next (or to its end, where the start is not known).
    #[must_use]
    pub fn absences(&self) -> Vec<Absence> {
        let pairs = self.turns.windows(2).enumerate();
        pairs
            .filter_map(|(at, pair)| absence(&pair[0], &pair[1]).map(|millis| Absence { before: at + 1, millis }))
            .collect()
    }
}

/// The gap between two turns, where it is too long for a tool.
pub(super) fn absence(before: &TurnRecord, after: &TurnRecord) -> Option<u64> {
    let gap = after.start.unwrap_or(after.end).since(before.end).count();
    (crate::lab::fixed::ufloat(gap) > 1000.0 * GAP_LIMIT).then_some(gap)
}

/// The stretches of `model`, by effort, of at least `floor` turns each; and how many shorter ones were left out, by
/// effort too. A stretch in which more than a tenth of the turns has no known output is left out as well.
#[must_use]
pub fn stretches(records: &[TurnRecord], model: &str, floor: usize) -> BTreeMap<String, (Vec<Stretch>, usize)> {
    let mut all: BTreeMap<(&str, u64), (Vec<TurnRecord>, usize)> = BTreeMap::new();
    for record in records.iter().filter(|record| record.counts_as_turn && model_of(record) == model) {
        let Some(effort) = effort_of(record) else { continue };
        let (turns, unknown) = all.entry((effort, record.round)).or_default();
        if record.grade == Grade::Known {
            turns.push(record.clone());
        } else {
            *unknown += 1;
        }
    }
    let mut out: BTreeMap<String, (Vec<Stretch>, usize)> = BTreeMap::new();
    for ((effort, session), (mut turns, unknown)) in all {
        let (kept, left_out) = out.entry(effort.to_owned()).or_default();
        turns.sort_by_key(|turn| turn.end);
        let stretch = Stretch { session, turns };
        if stretch.turns.len() >= floor.max(2) && unknown * 9 <= stretch.turns.len() && stretch.output() > 0 {
            kept.push(stretch);
        } else {
            *left_out += 1;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Timestamp, Tokens};

    fn turn(session: u64, effort: &str, start: u64, end: u64) -> TurnRecord {
        let mut turn = TurnRecord::new(session, Timestamp::from_millis(end), Tokens::new(100), "test");
        turn.model = Some("m".into());
        turn.effort_confirmed = Some(effort.into());
        turn.start = Some(Timestamp::from_millis(start));
        turn
    }

    #[test]
    fn stretches_are_by_effort_and_short_or_patchy_ones_are_counted() {
        let mut records: Vec<_> = (0..40).map(|at| turn(1, "high", at * 10_000, at * 10_000 + 5000)).collect();
        records.extend((0..29).map(|at| turn(2, "high", at * 10_000, at * 10_000 + 5000)));
        records.extend((0..31).map(|at| turn(1, "low", at * 10_000, at * 10_000 + 5000)));
        records.extend((0..44).map(|at| turn(3, "high", at * 10_000, at * 10_000 + 5000)));
        for record in records.iter_mut().rev().take(5) {
            record.grade = Grade::Unknown;
        }
        let found = stretches(&records, "m", TURNS_FLOOR);
        let shown: Vec<_> = found.iter().map(|(effort, (kept, out))| (effort.as_str(), kept.len(), *out)).collect();
        assert_eq!(shown, [("high", 1, 2), ("low", 1, 0)]);
        assert!(stretches(&records, "other", TURNS_FLOOR).is_empty());
    }

    #[test]
    fn an_absence_is_longer_than_any_tool() {
        let turns =
            vec![turn(1, "high", 0, 5000), turn(1, "high", 125_000, 130_000), turn(1, "high", 250_001, 260_000)];
        let stretch = Stretch { session: 1, turns };
        assert_eq!(stretch.absences(), [Absence { before: 2, millis: 120_001 }]);
    }
}
