//! Several logs put together, each call once.
//!
//! The same session is stored many times, each copy longer; forks and resumed sessions copy their history under a session
//! of their own; what a run printed and what it wrote to disk tell the same calls. Calls are known again by message id, Codex's older ones by the
//! running totals within a family of sessions (those that name each other as ancestors). Of several copies the call's session is the one that
//! did not fork and has the longest history, so that a history stays in one piece; among copies of that session the best
//! count stands: known before estimated before unknown, then the larger; what it lacks (effort, start, model) the others lend. The order in which logs are given makes no difference.
//!
//! Then what logs state in sum is laid onto the calls that it counts, when the best copy of each is known.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::log::{Coverage, Log, LogTurn, TurnKey};
use super::{Format, Health};
use crate::engine::{Grade, MicroUsd, Timestamp, TurnRecord};

mod sums;

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

type Session = Option<Arc<str>>;
/// By session, the name of its family.
type Families = BTreeMap<Arc<str>, Arc<str>>;

/// Within what a key means something.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Scope {
    Everywhere,
    Family(Arc<str>),
    Session(Arc<str>),
    File(usize),
}

/// Puts logs together.
#[must_use]
pub fn join(logs: &[Log]) -> Joined {
    let families = families(logs);
    let mut joined = Joined::default();
    let mut histories: BTreeMap<&Session, BTreeSet<&TurnKey>> = BTreeMap::new();
    for log in logs {
        joined.health.absorb(&log.health);
        for turn in &log.turns {
            histories.entry(&turn.record.session).or_default().insert(&turn.key);
        }
    }
    let mut copies: BTreeMap<(Scope, &TurnKey), Vec<Copied<'_>>> = BTreeMap::new();
    for (file, log) in logs.iter().enumerate() {
        for (place, turn) in log.turns.iter().enumerate() {
            let history = histories.get(&turn.record.session).map_or(0, BTreeSet::len);
            let copy = Copied { forked: log.forked, history, file, place, turn };
            let scope = scope(&turn.key, turn.record.session.as_ref(), &families, file);
            copies.entry((scope, &turn.key)).or_default().push(copy);
        }
    }
    let mut best = Best { records: Vec::with_capacity(copies.len()), places: BTreeMap::new() };
    for mut same in copies.into_values() {
        joined.health.duplicates += u64::try_from(same.len() - 1).unwrap_or(u64::MAX);
        same.sort_by(|a, b| a.rank().cmp(&b.rank()));
        let mut record = same[0].turn.record.clone();
        same[1..].iter().for_each(|other| lend(&mut record, &other.turn.record));
        best.places.extend(same.iter().map(|copy| ((copy.file, copy.place), best.records.len())));
        best.records.push(Placed { file: same[0].file, place: same[0].place, key: &same[0].turn.key, record });
    }
    let settled = sums::settle_all(logs, &families, &mut best);
    joined.health.duplicates += settled.copies;
    joined.stated = settled.stated;
    order(best.records, &mut joined);
    (joined.results, joined.cost) = closings(logs, &joined.turns);
    joined
}

fn scope(key: &TurnKey, session: Option<&Arc<str>>, families: &Families, file: usize) -> Scope {
    match (key, session) {
        (TurnKey::Message(_), _) => Scope::Everywhere,
        (TurnKey::Totals(_) | TurnKey::Place { .. }, None) => Scope::File(file),
        (TurnKey::Totals(_), Some(session)) => {
            Scope::Family(families.get(session).map_or_else(|| Arc::clone(session), Arc::clone))
        }
        (TurnKey::Place { .. }, Some(session)) => Scope::Session(Arc::clone(session)),
    }
}

#[derive(Clone, Copy)]
struct Copied<'a> {
    forked: bool,
    history: usize,
    file: usize,
    place: usize,
    turn: &'a LogTurn,
}

impl<'a> Copied<'a> {
    /// The smallest is the one to believe.
    #[expect(clippy::type_complexity, reason = "a key for sorting that nobody else sees")]
    fn rank(
        &self,
    ) -> ((bool, bool), Reverse<usize>, &'a Session, u8, Reverse<u64>, bool, Reverse<Timestamp>, Option<Timestamp>, usize)
    {
        let record = &self.turn.record;
        let doubt = match record.grade {
            Grade::Known => 0,
            Grade::Estimated => 1,
            Grade::Unknown => 2,
        };
        let output = Reverse(record.output.count());
        (
            (self.forked, record.session.is_none()),
            Reverse(self.history),
            &record.session,
            doubt,
            output,
            record.start.is_none(),
            Reverse(record.end),
            record.start,
            self.place,
        )
    }
}

/// Fills what a record lacks from a copy of it.
fn lend(record: &mut TurnRecord, other: &TurnRecord) {
    fn fill<T: Clone>(own: &mut Option<T>, other: Option<&T>) {
        if own.is_none() {
            *own = other.cloned();
        }
    }
    fill(&mut record.model, other.model.as_ref());
    fill(&mut record.effort_confirmed, other.effort_confirmed.as_ref());
    fill(&mut record.effort_asked, other.effort_asked.as_ref());
    fill(&mut record.start, other.start.as_ref().filter(|&&start| start <= record.end));
    fill(&mut record.input, other.input.as_ref());
    fill(&mut record.cache_read, other.cache_read.as_ref());
    fill(&mut record.cache_write, other.cache_write.as_ref());
    fill(&mut record.reasoning, other.reasoning.as_ref());
    fill(&mut record.cost, other.cost.as_ref());
}

/// The best copy of each record.
struct Best<'a> {
    records: Vec<Placed<'a>>,
    /// Which of them a log's record became, by file and place.
    places: BTreeMap<(usize, usize), usize>,
}

/// A record, and where it stood.
struct Placed<'a> {
    file: usize,
    place: usize,
    key: &'a TurnKey,
    record: TurnRecord,
}

fn order(mut records: Vec<Placed<'_>>, joined: &mut Joined) {
    let mut first: BTreeMap<Session, Timestamp> = BTreeMap::new();
    for Placed { record, .. } in &records {
        let earliest = first.entry(record.session.clone()).or_insert(record.end);
        *earliest = record.end.min(*earliest);
    }
    records.sort_by(|a, b| {
        let session = |placed: &Placed<'_>| first.get(&placed.record.session).copied();
        let (one, two) = (&a.record, &b.record);
        (session(a), &one.session, one.end, !one.counts_as_turn, a.place, a.key).cmp(&(
            session(b),
            &two.session,
            two.end,
            !two.counts_as_turn,
            b.place,
            b.key,
        ))
    });
    let mut session: Option<Session> = None;
    for Placed { file, mut record, .. } in records {
        if session.as_ref() != Some(&record.session) {
            session = Some(record.session.clone());
            joined.sessions += 1;
        }
        record.round = joined.sessions;
        joined.turns.push(record);
        joined.files.push(file);
    }
}

/// Results of whole runs, and what they and the turns cost: each statement once, by its id, else by its place among those of its session.
///
/// A session's own note of its cost, the results of its runs and the prices of its turns tell the same money: the largest of the three stands.
fn closings(logs: &[Log], turns: &[TurnRecord]) -> (u64, Option<MicroUsd>) {
    let mut seen = BTreeSet::new();
    let mut results = 0;
    let mut costs: BTreeMap<&Session, [MicroUsd; 3]> = BTreeMap::new();
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
            let [noted, paid, _] = costs.entry(&closing.session).or_default();
            if note {
                *noted = (*noted).max(cost);
            } else {
                *paid = paid.plus(cost);
            }
        }
    }
    for turn in turns {
        let Some(cost) = turn.cost else { continue };
        let [_, _, priced] = costs.entry(&turn.session).or_default();
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
        Log { lineage, forked, turns, ..Log::new(Format::CodexRollout) }
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
