//! Several logs put together, each call once.
//!
//! The same session is stored many times, each copy longer; forks and resumed sessions copy their history under a session
//! of their own; what a run printed and what it wrote to disk tell the same calls. Calls are known again by message id, Codex's older ones by the
//! running totals within a family of sessions (those that name each other as ancestors). Of several copies the call's session is the one that
//! did not fork and has the longest history, so that a history stays in one piece; among copies of that session the best
//! count stands: known before estimated before unknown, then the larger; what it lacks (effort, start, model) the others lend. The order in which logs are given makes no difference.
//!
//! Then what logs state in sum is laid onto the calls that it counts, when the best copy of each is known.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::log::{Coverage, Log};
use super::turns::KeyRef;
use super::{Format, Health};
use crate::engine::{MicroUsd, Timestamp, TurnRecord};

mod best;
mod sums;

use best::Best;

/// All calls of several logs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Joined {
    /// Each record once, session after session by first call, in time within each; `round` numbers the sessions from 1.
    pub turns: Vec<TurnRecord>,
    /// Of which log each of them is, by its place among those given.
    pub files: Vec<usize>,
    /// How many sessions they belong to.
    pub sessions: u64,
    /// What was stated in sum, each statement once, and how much of it the calls of all logs tell.
    pub stated: Option<Coverage>,
    /// Results of whole runs, each once.
    pub results: u64,
    /// What the programs say it cost, where they do.
    pub cost: Option<MicroUsd>,
    /// The counts of all logs, with the calls met again in `duplicates`.
    pub health: Health,
}

/// By session, the name of its family.
type Families = BTreeMap<Arc<str>, Arc<str>>;

/// Within what a key means something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Scope<'a> {
    Everywhere,
    Family(&'a str),
    Session(&'a str),
    File(usize),
}

/// Puts logs together.
#[must_use]
pub fn join(logs: &[Log]) -> Joined {
    let (mut turns, mut files) = (Vec::new(), Vec::new());
    let joined = join_each(logs, &mut |turn, file| {
        turns.push(turn);
        files.push(file);
    });
    Joined { turns, files, ..joined }
}

/// The same, each record and the place of its log handed over in order and not held: for those who only add up.
pub fn join_each(logs: &[Log], each: &mut dyn FnMut(TurnRecord, usize)) -> Joined {
    let families = families(logs);
    let mut joined = Joined::default();
    logs.iter().for_each(|log| joined.health.absorb(&log.health));
    let mut best = Best::of(logs, &families);
    joined.health.duplicates += best.copies();
    let settled = sums::settle_all(logs, &families, &mut best);
    joined.health.duplicates += settled.copies;
    joined.stated = settled.stated;
    (joined.results, joined.cost) = closings(logs, &best);
    joined.sessions = in_order(&best, each);
    joined
}

fn scope<'a>(key: KeyRef<'_>, session: Option<&'a Arc<str>>, families: &'a Families, file: usize) -> Scope<'a> {
    match (key, session) {
        (KeyRef::Message(_), _) => Scope::Everywhere,
        (KeyRef::Totals(_) | KeyRef::Place { .. }, None) => Scope::File(file),
        (KeyRef::Totals(_), Some(session)) => Scope::Family(families.get(session).unwrap_or(session)),
        (KeyRef::Place { .. }, Some(session)) => Scope::Session(session),
    }
}

/// Hands the records over, session after session by first call, in time within each; how many sessions.
fn in_order(best: &Best<'_>, each: &mut dyn FnMut(TurnRecord, usize)) -> u64 {
    let mut first: BTreeMap<Option<&str>, (Timestamp, u32)> = BTreeMap::new();
    for at in 0..best.len() {
        let end = best.facts(at).end;
        let earliest = first.entry(best.session(at).map(AsRef::as_ref)).or_insert((end, 0));
        earliest.0 = end.min(earliest.0);
    }
    let mut sessions: Vec<_> = first.iter_mut().collect();
    sessions.sort_by(|(a, (one, _)), (b, (other, _))| one.cmp(other).then(a.cmp(b)));
    (1..).zip(&mut sessions).for_each(|(number, (_, (_, place)))| *place = number);
    let count = sessions.len();
    let number = |at: u32| first.get(&best.session(at as usize).map(AsRef::as_ref)).map_or(0, |(_, number)| *number);
    let mut order: Vec<(u32, u32)> =
        (0..u32::try_from(best.len()).unwrap_or(u32::MAX)).map(|at| (number(at), at)).collect();
    let within = |at: u32| {
        let facts = best.facts(at as usize);
        (facts.end, !facts.counts_as_turn, best.lead(at as usize).place, best.key(at as usize))
    };
    order.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| within(a.1).cmp(&within(b.1))));
    for (number, at) in order {
        let mut record = best.record(at as usize);
        record.round = u64::from(number);
        each(record, best.lead(at as usize).file as usize);
    }
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// Results of whole runs, and what they and the turns cost: each statement once, by its id, else by its place among those of its session.
///
/// A session's own note of its cost, the results of its runs and the prices of its turns tell the same money: the largest of the three stands.
fn closings(logs: &[Log], best: &Best<'_>) -> (u64, Option<MicroUsd>) {
    let mut seen = BTreeSet::new();
    let mut results = 0;
    let mut costs: BTreeMap<Option<&str>, [MicroUsd; 3]> = BTreeMap::new();
    for (file, log) in logs.iter().enumerate() {
        for (nth, closing) in log.closings.iter().enumerate() {
            let note = log.format == Format::ClaudeSession;
            let known = match (&closing.id, &closing.session) {
                (Some(id), _) => (Some(id), None, 0, None),
                (None, Some(session)) => (None, Some(session), nth, closing.output),
                (None, None) => (None, None, file, closing.output),
            };
            if !note && !seen.insert((known, log.format)) {
                continue;
            }
            results += u64::from(closing.result);
            let Some(cost) = closing.cost else { continue };
            let [noted, paid, _] = costs.entry(closing.session.as_deref()).or_default();
            if note {
                *noted = (*noted).max(cost);
            } else {
                *paid = paid.plus(cost);
            }
        }
    }
    for at in 0..best.len() {
        let Some(cost) = best.facts(at).cost else { continue };
        let [_, _, priced] = costs.entry(best.session(at).map(AsRef::as_ref)).or_default();
        *priced = priced.plus(cost);
    }
    (results, costs.into_values().filter_map(|ways| ways.into_iter().max()).reduce(MicroUsd::plus))
}

/// The name of the family of each session that has relatives: its first member.
fn families(logs: &[Log]) -> Families {
    let mut groups: Vec<BTreeSet<Arc<str>>> = Vec::new();
    // only a rollout names other sessions because it descends from them
    for log in logs.iter().filter(|log| log.format == Format::CodexRollout) {
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
    use crate::agents::log::{LogTurn, TurnKey};
    use crate::engine::{Grade, Tokens};

    fn turn(session: &str, key: TurnKey, end: u64, output: Option<u64>) -> LogTurn {
        let mut record = TurnRecord::new(1, Timestamp::from_millis(end), Tokens::new(output.unwrap_or(0)), "test");
        record.session = Some(session.into());
        record.grade = if output.is_some() { Grade::Known } else { Grade::Unknown };
        LogTurn { key, record }
    }

    fn log(lineage: &[&str], forked: bool, turns: Vec<LogTurn>) -> Log {
        let lineage = lineage.iter().map(|&name| name.into()).collect();
        Log { lineage, forked, turns: turns.into(), ..Log::new(Format::CodexRollout) }
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
        assert_eq!(joined.turns, join(&[fork, late, early]).turns);
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
        assert_eq!(joined.turns, join(&[parent, stranger, child]).turns);
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
