//! Several logs put together, each call once.
//!
//! The same session is stored many times, each copy longer; forks and resumed sessions copy their history under a session
//! of their own. Claude's calls are known again by message id, Codex's by the running totals within a family of
//! sessions (those that name each other as ancestors). Of several copies the call's session is the one that did not fork and has
//! the longest history, so that a history stays in one piece; among copies of that session the best
//! count stands: known before unknown, then the larger. The order in which logs are given makes no difference.
//!
//! It is not settlement: no total is laid onto turns here.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Health;
use super::log::{Log, LogTurn, TurnKey};
use crate::engine::{Grade, Timestamp, TurnRecord};

/// All calls of several logs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Joined {
    /// Each call once, session after session by first call, in time within each; `round` numbers the sessions from 1.
    pub turns: Vec<TurnRecord>,
    /// How many sessions they belong to.
    pub sessions: u64,
    /// The counts of all logs, with the calls met again in `duplicates`.
    pub health: Health,
}

type Session = Option<Arc<str>>;

/// Puts logs together.
#[must_use]
pub fn join(logs: &[Log]) -> Joined {
    let families = families(logs);
    // A message is known everywhere; totals mean something within a family of sessions only.
    let known = |turn: &'_ LogTurn| -> Option<Arc<str>> {
        let session = turn.record.session.as_ref()?;
        match turn.key {
            TurnKey::Message(_) => None,
            TurnKey::Totals(_) => Some(families.get(session).map_or_else(|| Arc::clone(session), Arc::clone)),
        }
    };
    let mut joined = Joined::default();
    let mut histories: BTreeMap<&Session, BTreeSet<&TurnKey>> = BTreeMap::new();
    for log in logs {
        joined.health.absorb(&log.health);
        for turn in &log.turns {
            histories.entry(&turn.record.session).or_default().insert(&turn.key);
        }
    }
    let mut best: BTreeMap<(Option<Arc<str>>, &TurnKey), Copied<'_>> = BTreeMap::new();
    for log in logs {
        for (place, turn) in log.turns.iter().enumerate() {
            let history = histories.get(&turn.record.session).map_or(0, BTreeSet::len);
            let copy = Copied { forked: log.forked, history, place, turn };
            match best.entry((known(turn), &turn.key)) {
                std::collections::btree_map::Entry::Vacant(free) => {
                    free.insert(copy);
                }
                std::collections::btree_map::Entry::Occupied(mut taken) => {
                    joined.health.duplicates += 1;
                    if copy.rank() < taken.get().rank() {
                        taken.insert(copy);
                    }
                }
            }
        }
    }
    order(best.into_values().collect(), &mut joined);
    joined
}

#[derive(Clone, Copy)]
struct Copied<'a> {
    forked: bool,
    history: usize,
    place: usize,
    turn: &'a LogTurn,
}

impl<'a> Copied<'a> {
    /// The smallest is the one to believe.
    #[expect(clippy::type_complexity, reason = "a key for sorting that nobody else sees")]
    fn rank(
        &self,
    ) -> (bool, Reverse<usize>, &'a Session, bool, Reverse<u64>, Reverse<Timestamp>, Option<Timestamp>, usize) {
        let record = &self.turn.record;
        let unknown = record.grade == Grade::Unknown;
        let output = Reverse(record.output.count());
        (
            self.forked,
            Reverse(self.history),
            &record.session,
            unknown,
            output,
            Reverse(record.end),
            record.start,
            self.place,
        )
    }
}

fn order(mut copies: Vec<Copied<'_>>, joined: &mut Joined) {
    let mut first: BTreeMap<&Session, Timestamp> = BTreeMap::new();
    for copy in &copies {
        let record = &copy.turn.record;
        let earliest = first.entry(&record.session).or_insert(record.end);
        *earliest = record.end.min(*earliest);
    }
    copies.sort_by_key(|copy| {
        let record = &copy.turn.record;
        (first.get(&record.session).copied(), &record.session, record.end, copy.place, &copy.turn.key)
    });
    let mut session: Option<&Session> = None;
    for copy in copies {
        if session != Some(&copy.turn.record.session) {
            session = Some(&copy.turn.record.session);
            joined.sessions += 1;
        }
        let mut record = copy.turn.record.clone();
        record.round = joined.sessions;
        joined.turns.push(record);
    }
}

/// The name of the family of each session that has relatives: its first member.
fn families(logs: &[Log]) -> BTreeMap<Arc<str>, Arc<str>> {
    let mut groups: Vec<BTreeSet<Arc<str>>> = Vec::new();
    for log in logs {
        let mut family = log.lineage.clone();
        groups.retain(|group| {
            let apart = group.is_disjoint(&family);
            if !apart {
                family.extend(group.iter().cloned());
            }
            apart
        });
        groups.push(family);
    }
    let mut names = BTreeMap::new();
    for group in groups {
        if let Some(name) = group.first() {
            names.extend(group.iter().map(|member| (Arc::clone(member), Arc::clone(name))));
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::Format;
    use crate::engine::Tokens;

    fn turn(session: &str, key: TurnKey, end: u64, output: Option<u64>) -> LogTurn {
        let mut record = TurnRecord::new(1, Timestamp::from_millis(end), Tokens::new(output.unwrap_or(0)), "test");
        record.session = Some(session.into());
        record.grade = if output.is_some() { Grade::Known } else { Grade::Unknown };
        LogTurn { key, record }
    }

    fn log(lineage: &[&str], forked: bool, turns: Vec<LogTurn>) -> Log {
        let lineage = lineage.iter().map(|&name| name.into()).collect();
        Log { format: Format::ClaudeSession, lineage, forked, turns, health: Health::default() }
    }

    fn message(session: &str, id: &str, end: u64, output: Option<u64>) -> LogTurn {
        turn(session, TurnKey::Message(id.into()), end, output)
    }

    fn totals(session: &str, sum: u64, end: u64, output: u64) -> LogTurn {
        turn(session, TurnKey::Totals([0, 0, sum, 0, sum]), end, Some(output))
    }

    fn shown(joined: &Joined) -> Vec<(u64, &str, u64, u64)> {
        let show = |turn: &'_ TurnRecord| (turn.round, turn.end.millis(), turn.output.count());
        joined
            .turns
            .iter()
            .map(|turn| (show(turn), turn.session.as_deref().unwrap()))
            .map(|((a, b, c), s)| (a, s, b, c))
            .collect()
    }

    #[test]
    fn checkpoints_and_forks_count_once_and_the_longest_history_keeps_its_calls() {
        let early = log(&["a"], false, vec![message("a", "1", 10, Some(5)), message("a", "2", 20, None)]);
        let late = log(
            &["a"],
            false,
            vec![message("a", "1", 10, Some(5)), message("a", "2", 25, Some(7)), message("a", "3", 30, Some(9))],
        );
        let fork = log(&["b"], false, vec![message("b", "1", 10, Some(5)), message("b", "4", 15, Some(11))]);
        let joined = join(&[early.clone(), late.clone(), fork.clone()]);
        assert_eq!(shown(&joined), [(1, "a", 10, 5), (1, "a", 25, 7), (1, "a", 30, 9), (2, "b", 15, 11)]);
        assert_eq!((joined.sessions, joined.health.duplicates), (2, 3));
        assert_eq!(joined, join(&[fork, late, early]));
    }

    #[test]
    fn running_totals_tell_copies_within_a_family_only() {
        let parent = log(&["p"], false, vec![totals("p", 5, 10, 5), totals("p", 9, 20, 4)]);
        // Longer, and with new times on the copied history: the parent's own times stand all the same.
        let child =
            log(&["c", "p"], true, vec![totals("c", 5, 99, 5), totals("c", 9, 99, 4), totals("c", 20, 110, 11)]);
        let stranger = log(&["x"], false, vec![totals("x", 5, 50, 5)]);
        let joined = join(&[child.clone(), stranger.clone(), parent.clone()]);
        assert_eq!(shown(&joined), [(1, "p", 10, 5), (1, "p", 20, 4), (2, "x", 50, 5), (3, "c", 110, 11)]);
        assert_eq!(joined, join(&[parent, stranger, child]));
    }

    #[test]
    fn grandchildren_belong_to_the_family() {
        let logs = [
            log(&["c", "g"], true, vec![totals("g", 5, 30, 5)]),
            log(&["p"], false, vec![totals("p", 5, 10, 5)]),
            log(&["c", "p"], true, vec![totals("c", 5, 20, 5)]),
        ];
        assert_eq!(shown(&join(&logs)), [(1, "p", 10, 5)]);
    }
}
