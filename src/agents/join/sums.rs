//! What logs state in sum, laid onto the calls that it belongs to, once the best copy of each call is known.
//!
//! A sum that another copy of its log also states counts once. What it states beyond the known calls of its stretch is laid onto those that
//! are not known, in proportion to their start values, and they become estimated ([`settle`]). Known calls of the session that the log does not show (a
//! subagent's, in a file of its own) are taken to be counted in the sum. Where there is no such call what is left is a record
//! that is no turn: a summary, a failed try, an answer that no log shows.
//!
//! A log that has no call of a session at all (a run's printed total) gives way to the calls of the session in other logs; what these do not
//! tell stays. A thread that was resumed states its sum from the thread's beginning: what an earlier log of
//! the thread had stated is taken off.

use std::collections::{BTreeMap, BTreeSet};

use super::{Best, Families, Placed, Scope, Session, scope};
use crate::agents::Format;
use crate::agents::book::same_model;
use crate::agents::log::{Coverage, Log, Sum, TurnKey};
use crate::engine::settlement::{Part, settle};
use crate::engine::{Grade, Tokens, TurnRecord};

/// One sum, and the log that states it.
struct Stated<'a> {
    file: usize,
    nth: usize,
    sum: &'a Sum,
}

/// What settling came to.
#[derive(Debug, Default)]
pub(super) struct Settled {
    /// Sums that were copies, or gave way.
    pub copies: u64,
    /// What was stated, each statement once, and how much of it known calls tell.
    pub stated: Option<Coverage>,
}

/// Settles all sums.
pub(super) fn settle_all<'a>(logs: &'a [Log], families: &Families, best: &mut Best<'a>) -> Settled {
    let mut seen: BTreeSet<(Scope, &TurnKey)> = BTreeSet::new();
    let (mut with_calls, mut alone, mut settled) = (Vec::new(), Vec::new(), Settled::default());
    for (file, log) in logs.iter().enumerate() {
        let sessions: BTreeSet<&Session> = log.calls().map(|call| &call.record.session).collect();
        for (nth, sum) in log.sums.iter().enumerate() {
            if seen.insert((scope(&sum.key, sum.session.as_ref(), families, file), &sum.key)) {
                let calls = sessions.contains(&sum.session);
                if calls { &mut with_calls } else { &mut alone }.push(Stated { file, nth, sum });
            } else {
                settled.copies += 1;
            }
        }
    }
    let mut elsewhere = Elsewhere::of(best);
    for stated in with_calls {
        lay(&stated, logs, best, &mut elsewhere, &mut settled);
    }
    give_way(&alone, logs, best, &mut settled);
    settled
}

impl Settled {
    fn add(&mut self, counted: Tokens, stated: Tokens) {
        self.stated = Some(self.stated.unwrap_or_default().plus(Coverage { counted, stated }));
    }
}

/// Known calls that a log's sums may count though the log does not show them, such as a subagent's last answer: by session, those that no sum has
/// counted yet.
struct Elsewhere(BTreeMap<Session, BTreeSet<usize>>);

impl Elsewhere {
    fn of(best: &Best<'_>) -> Self {
        let mut calls: BTreeMap<Session, BTreeSet<usize>> = BTreeMap::new();
        for (at, Placed { record, .. }) in best.records.iter().enumerate() {
            if record.counts_as_turn && record.grade == Grade::Known && record.session.is_some() {
                calls.entry(record.session.clone()).or_default().insert(at);
            }
        }
        Self(calls)
    }

    /// Takes the calls of the session that the log does not show, of the sum's model, as far as they fit into `left`; what they tell.
    fn take(&mut self, stated: &Stated<'_>, best: &Best<'_>, left: Tokens) -> Tokens {
        let Some(calls) = self.0.get_mut(&stated.sum.session) else { return Tokens::ZERO };
        let mut told = Tokens::ZERO;
        calls.retain(|&at| {
            let placed = &best.records[at];
            let models = stated.sum.model.as_deref().zip(placed.record.model.as_deref());
            let model = stated.sum.model.is_none() || models.is_some_and(|(one, other)| same_model(one, other));
            let fits = placed.file != stated.file && model && told.plus(placed.record.output) <= left;
            told = if fits { told.plus(placed.record.output) } else { told };
            !fits
        });
        told
    }
}

/// Lays a sum onto its calls.
fn lay<'a>(stated: &Stated<'a>, logs: &[Log], best: &mut Best<'a>, elsewhere: &mut Elsewhere, settled: &mut Settled) {
    // in the order of the log: the odd token goes to the earlier call
    let (mut open, mut opened): (Vec<(usize, Tokens)>, BTreeSet<usize>) = (Vec::new(), BTreeSet::new());
    let mut counted: BTreeMap<usize, (Grade, Tokens)> = BTreeMap::new();
    for &(place, begun) in &stated.sum.calls {
        let Some(&at) = best.places.get(&(stated.file, place)) else { continue };
        let record = &best.records[at].record;
        match record.grade {
            Grade::Unknown => {
                if opened.insert(at) {
                    open.push((at, begun));
                }
            }
            Grade::Known | Grade::Estimated => {
                counted.insert(at, (record.grade, record.output));
            }
        }
        if let Some(calls) = elsewhere.0.get_mut(&record.session) {
            calls.remove(&at);
        }
    }
    let of = |grade: Option<Grade>| {
        let counted = counted.values().filter(|(own, _)| grade.is_none_or(|grade| grade == *own));
        counted.fold(Tokens::ZERO, |sum, &(_, output)| sum.plus(output))
    };
    let missing = stated.sum.output.minus(of(None));
    let hidden = if missing > Tokens::ZERO { elsewhere.take(stated, best, missing) } else { Tokens::ZERO };
    settled.add(of(Some(Grade::Known)).plus(hidden), stated.sum.output);
    let missing = missing.minus(hidden);
    let mut parts: Vec<Part> = open.iter().map(|&(_, output)| Part { output, grade: Grade::Unknown }).collect();
    let begun = parts.iter().fold(Tokens::ZERO, |sum, part| sum.plus(part.output));
    // start values are lower bounds; where they add up to more than is left, they are not even that
    if begun > missing {
        parts.iter_mut().for_each(|part| part.output = Tokens::ZERO);
    }
    let homeless = settle(&mut parts, missing).homeless;
    for (&(at, _), part) in open.iter().zip(&parts) {
        best.records[at].record.output = part.output;
        best.records[at].record.grade = Grade::Estimated;
    }
    put(stated, homeless, logs, best);
}

/// Adds tokens that no call can take: a record that is no turn.
fn put<'a>(stated: &Stated<'a>, output: Tokens, logs: &[Log], best: &mut Best<'a>) {
    if output == Tokens::ZERO {
        return;
    }
    let mut record = TurnRecord::new(1, stated.sum.at, output, logs[stated.file].format.name());
    record.counts_as_turn = false;
    record.session.clone_from(&stated.sum.session);
    record.model.clone_from(&stated.sum.model);
    best.records.push(Placed { file: stated.file, place: stated.nth, key: &stated.sum.key, record });
}

/// Adds the sums of logs without calls, as far as the calls of their sessions in other logs do not tell them.
fn give_way<'a>(alone: &[Stated<'a>], logs: &[Log], best: &mut Best<'a>, settled: &mut Settled) {
    let mut told: BTreeMap<Session, Tokens> = BTreeMap::new();
    for Placed { record, .. } in &best.records {
        let sum = told.entry(record.session.clone()).or_insert(Tokens::ZERO);
        *sum = sum.plus(record.output);
    }
    for stated in alone {
        let output = stated.sum.output.minus(before(stated, alone, logs));
        let told = told.get_mut(&stated.sum.session).filter(|_| stated.sum.session.is_some());
        let left = match told {
            Some(told) => {
                let left = output.minus(*told);
                settled.copies += u64::from(*told > Tokens::ZERO);
                *told = told.minus(output);
                left
            }
            None => output,
        };
        settled.add(output.minus(left), output);
        put(stated, left, logs, best);
    }
}

/// What other logs of the thread had already stated when this one began: the largest of their totals that its first lies beyond.
fn before(stated: &Stated<'_>, all: &[Stated<'_>], logs: &[Log]) -> Tokens {
    let (TurnKey::Totals(first), 0, Format::CodexExec, Some(session)) =
        (&stated.sum.key, stated.nth, logs[stated.file].format, &stated.sum.session)
    else {
        return Tokens::ZERO;
    };
    let earlier = all.iter().filter(|other| other.file != stated.file && other.sum.session.as_ref() == Some(session));
    let totals = earlier.filter_map(|other| match &other.sum.key {
        TurnKey::Totals(totals) => Some(totals),
        TurnKey::Message(_) | TurnKey::Place { .. } => None,
    });
    let beyond = totals.filter(|totals| *totals != first && totals.iter().zip(first).all(|(own, first)| own <= first));
    beyond.map(|totals| Tokens::new(totals[2])).max().unwrap_or(Tokens::ZERO)
}
