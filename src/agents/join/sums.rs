//! What logs state in sum, laid onto the calls that it belongs to, once the best copy of each call is known.
//!
//! A sum that another copy of its log also states counts once. What it states beyond the known calls of its stretch is laid onto those that
//! are not known, in proportion to their start values, and they become estimated ([`settle`]). Where there is no such call it is a record
//! that is no turn: a summary, a failed try, an answer that the log does not show.
//!
//! A log that has no call of a session at all (a run's printed total) gives way to the calls of the session in other logs; what these do not
//! tell stays. A thread that was resumed states its sum from the thread's beginning: what an earlier log of
//! the thread had stated is taken off.

use std::collections::{BTreeMap, BTreeSet};

use super::{Best, Families, Placed, Scope, Session, scope};
use crate::agents::Format;
use crate::agents::log::{Log, Sum, TurnKey};
use crate::engine::settlement::{Part, settle};
use crate::engine::{Grade, Tokens, TurnRecord};

/// One sum, and the log that states it.
struct Stated<'a> {
    file: usize,
    nth: usize,
    sum: &'a Sum,
}

/// Settles all sums; how many were copies, or gave way.
pub(super) fn settle_all<'a>(logs: &'a [Log], families: &Families, best: &mut Best<'a>) -> u64 {
    let mut seen: BTreeSet<(Scope, &TurnKey)> = BTreeSet::new();
    let (mut with_calls, mut alone, mut copies) = (Vec::new(), Vec::new(), 0);
    for (file, log) in logs.iter().enumerate() {
        for (nth, sum) in log.sums.iter().enumerate() {
            let calls = log.calls().any(|call| call.record.session == sum.session);
            if seen.insert((scope(&sum.key, sum.session.as_ref(), families, file), &sum.key)) {
                if calls { &mut with_calls } else { &mut alone }.push(Stated { file, nth, sum });
            } else {
                copies += 1;
            }
        }
    }
    for stated in with_calls {
        lay(&stated, logs, best);
    }
    copies + give_way(&alone, logs, best)
}

/// Lays a sum onto its calls.
fn lay<'a>(stated: &Stated<'a>, logs: &[Log], best: &mut Best<'a>) {
    let mut open: BTreeMap<usize, Tokens> = BTreeMap::new();
    let mut counted: BTreeMap<usize, Tokens> = BTreeMap::new();
    for &(place, begun) in &stated.sum.calls {
        let Some(&at) = best.places.get(&(stated.file, place)) else { continue };
        match best.records[at].record.grade {
            Grade::Unknown => open.insert(at, begun),
            Grade::Known | Grade::Estimated => counted.insert(at, best.records[at].record.output),
        };
    }
    let told = counted.values().fold(Tokens::ZERO, |sum, &output| sum.plus(output));
    let missing = stated.sum.output.minus(told);
    let mut parts: Vec<Part> = open.values().map(|&output| Part { output, grade: Grade::Unknown }).collect();
    let begun = parts.iter().fold(Tokens::ZERO, |sum, part| sum.plus(part.output));
    // start values are lower bounds; where they add up to more than is left, they are not even that
    if begun > missing {
        parts.iter_mut().for_each(|part| part.output = Tokens::ZERO);
    }
    let homeless = settle(&mut parts, missing).homeless;
    for (&at, part) in open.keys().zip(&parts) {
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

/// Adds the sums of logs without calls, as far as the calls of their sessions in other logs do not tell them; how many were told at least in part.
fn give_way<'a>(alone: &[Stated<'a>], logs: &[Log], best: &mut Best<'a>) -> u64 {
    let mut told: BTreeMap<Session, Tokens> = BTreeMap::new();
    for Placed { record, .. } in &best.records {
        let sum = told.entry(record.session.clone()).or_insert(Tokens::ZERO);
        *sum = sum.plus(record.output);
    }
    let mut gave_way = 0;
    for stated in alone {
        let output = stated.sum.output.minus(before(stated, alone, logs));
        let told = told.get_mut(&stated.sum.session).filter(|_| stated.sum.session.is_some());
        let left = match told {
            Some(told) => {
                let left = output.minus(*told);
                gave_way += u64::from(*told > Tokens::ZERO);
                *told = told.minus(output);
                left
            }
            None => output,
        };
        put(stated, left, logs, best);
    }
    gave_way
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
