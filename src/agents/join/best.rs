//! The best copy of each record, by where it stands: which copies are one record, which of them is believed, what the others lend it.
//!
//! Copies are put in order by their keys and not copied themselves: eight bytes a copy and four a record. A record is made
//! when it is asked for.

use core::cmp::Ordering;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Families, scope};
use crate::agents::log::{Log, TurnKey};
use crate::agents::turns::{Facts, KeyRef};
use crate::engine::{Grade, Tokens, TurnRecord};

/// Where a copy of a record stands: in which log, and where in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Seat {
    pub(super) file: u32,
    pub(super) place: u32,
}

/// A record that no log has as such: tokens that no call can take.
#[derive(Debug)]
struct Extra<'a> {
    seat: Seat,
    key: &'a TurnKey,
    record: TurnRecord,
}

/// The best copy of each record, by number; in the order of their keys, with those that no log has as such at the end.
#[derive(Debug)]
pub(super) struct Best<'a> {
    logs: &'a [Log],
    /// All copies; those of a record together, the best of them first.
    seats: Vec<Seat>,
    /// Where the copies of each record begin.
    records: Vec<u32>,
    /// What settling laid onto a record.
    laid: BTreeMap<usize, (Grade, Tokens)>,
    extra: Vec<Extra<'a>>,
}

fn whole(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}

fn session_of(logs: &[Log], seat: Seat) -> Option<&Arc<str>> {
    logs[seat.file as usize].turns.session(seat.place as usize)
}

fn key_of(logs: &[Log], seat: Seat) -> KeyRef<'_> {
    logs[seat.file as usize].turns.key(seat.place as usize)
}

/// Two sessions in order; those of one log share their text.
fn by_session(one: Option<&Arc<str>>, other: Option<&Arc<str>>) -> Ordering {
    match (one, other) {
        (Some(one), Some(other)) if Arc::ptr_eq(one, other) => Ordering::Equal,
        _ => one.cmp(&other),
    }
}

impl<'a> Best<'a> {
    pub(super) fn of(logs: &'a [Log], families: &Families) -> Self {
        let mut seats: Vec<Seat> = Vec::with_capacity(logs.iter().map(|log| log.turns.len()).sum());
        for (file, log) in logs.iter().enumerate() {
            seats.extend((0..log.turns.len()).map(|place| Seat { file: whole(file), place: whole(place) }));
        }
        let histories = histories(logs, &mut seats);
        let place = |seat: &Seat| {
            let key = key_of(logs, *seat);
            (scope(key, session_of(logs, *seat), families, seat.file as usize), key)
        };
        seats.sort_unstable_by(|a, b| place(a).cmp(&place(b)).then(a.cmp(b)));
        let mut records = Vec::new();
        let mut from = 0;
        while from < seats.len() {
            let own = place(&seats[from]);
            let length = seats[from..].iter().take_while(|seat| place(seat) == own).count();
            if length > 1 {
                let rank = |seat: &Seat| rank(logs, &histories, *seat);
                seats[from..from + length].sort_by(|a, b| rank(a).cmp(&rank(b)));
            }
            records.push(whole(from));
            from += length;
        }
        Self { logs, seats, records, laid: BTreeMap::new(), extra: Vec::new() }
    }

    /// How many records.
    pub(super) const fn len(&self) -> usize {
        self.records.len() + self.extra.len()
    }

    /// How many copies were met beyond one of each.
    pub(super) fn copies(&self) -> u64 {
        u64::try_from(self.seats.len() - self.records.len()).unwrap_or(u64::MAX)
    }

    /// The copies of a record, the best first; none of one that no log has.
    fn of_record(&self, at: usize) -> &[Seat] {
        let Some(&from) = self.records.get(at) else { return &[] };
        let until = self.records.get(at + 1).map_or(self.seats.len(), |until| *until as usize);
        &self.seats[from as usize..until]
    }

    fn no_call(&self, at: usize) -> Option<&Extra<'a>> {
        at.checked_sub(self.records.len()).map(|at| &self.extra[at])
    }

    /// Where the best copy stands.
    pub(super) fn lead(&self, at: usize) -> Seat {
        self.no_call(at).map_or_else(|| self.of_record(at)[0], |extra| extra.seat)
    }

    pub(super) fn key(&self, at: usize) -> KeyRef<'_> {
        self.no_call(at).map_or_else(|| key_of(self.logs, self.of_record(at)[0]), |extra| KeyRef::from(extra.key))
    }

    pub(super) fn session(&self, at: usize) -> Option<&Arc<str>> {
        match self.no_call(at) {
            Some(extra) => extra.record.session.as_ref(),
            None => session_of(self.logs, self.of_record(at)[0]),
        }
    }

    /// The model that the best copy that names one names.
    pub(super) fn model(&self, at: usize) -> Option<&Arc<str>> {
        match self.no_call(at) {
            Some(extra) => extra.record.model.as_ref(),
            None => self
                .of_record(at)
                .iter()
                .find_map(|seat| self.logs[seat.file as usize].turns.model(seat.place as usize)),
        }
    }

    /// What is known of a record, the start left as its best copy has it.
    pub(super) fn facts(&self, at: usize) -> Facts {
        if let Some(Extra { record, .. }) = self.no_call(at) {
            let TurnRecord { counts_as_turn, grade, output, start, end, cost, .. } = *record;
            return Facts { counts_as_turn, grade, output, start, end, cost };
        }
        let of = |seat: &Seat| self.logs[seat.file as usize].turns.facts(seat.place as usize);
        let [first, others @ ..] = self.of_record(at) else { unreachable!("a record has a copy") };
        let mut facts = of(first);
        facts.cost = facts.cost.or_else(|| others.iter().find_map(|seat| of(seat).cost));
        if let Some(&(grade, output)) = self.laid.get(&at) {
            (facts.grade, facts.output) = (grade, output);
        }
        facts
    }

    /// The record itself; its round is 1.
    pub(super) fn record(&self, at: usize) -> TurnRecord {
        if let Some(extra) = self.no_call(at) {
            return extra.record.clone();
        }
        let mut copies =
            self.of_record(at).iter().map(|seat| self.logs[seat.file as usize].turns.at(seat.place as usize).record);
        let Some(mut record) = copies.next() else { unreachable!("a record has a copy") };
        copies.for_each(|other| lend(&mut record, &other));
        if let Some(&(grade, output)) = self.laid.get(&at) {
            (record.grade, record.output) = (grade, output);
        }
        record
    }

    /// Lays an estimate onto a record.
    pub(super) fn lay(&mut self, at: usize, output: Tokens) {
        self.laid.insert(at, (Grade::Estimated, output));
    }

    /// Adds a record that no log has as such.
    pub(super) fn add(&mut self, file: usize, place: usize, key: &'a TurnKey, record: TurnRecord) {
        self.extra.push(Extra { seat: Seat { file: whole(file), place: whole(place) }, key, record });
    }

    /// Which record each place of a log became.
    pub(super) fn places(&self, file: usize) -> Vec<usize> {
        let mut places = vec![usize::MAX; self.logs[file].turns.len()];
        for at in 0..self.records.len() {
            for seat in self.of_record(at).iter().filter(|seat| seat.file as usize == file) {
                places[seat.place as usize] = at;
            }
        }
        places
    }
}

/// How many records each session has, over all logs.
fn histories<'a>(logs: &'a [Log], seats: &mut [Seat]) -> BTreeMap<Option<&'a str>, usize> {
    let mut histories: BTreeMap<Option<&str>, usize> = BTreeMap::new();
    // one log has no copies to choose from
    if logs.len() > 1 {
        let place = |seat: &Seat| (session_of(logs, *seat), key_of(logs, *seat));
        seats.sort_unstable_by(|a, b| {
            let ((one, of_one), (other, of_other)) = (place(a), place(b));
            by_session(one, other).then_with(|| of_one.cmp(&of_other))
        });
        for (at, seat) in seats.iter().enumerate() {
            if at == 0 || place(&seats[at - 1]) != place(seat) {
                *histories.entry(session_of(logs, *seat).map(AsRef::as_ref)).or_default() += 1;
            }
        }
    }
    histories
}

/// The smallest is the one to believe.
fn rank<'a>(logs: &'a [Log], histories: &BTreeMap<Option<&str>, usize>, seat: Seat) -> impl Ord + use<'a> {
    let log = &logs[seat.file as usize];
    let (facts, session) = (log.turns.facts(seat.place as usize), session_of(logs, seat));
    let doubt = match facts.grade {
        Grade::Known => 0,
        Grade::Estimated => 1,
        Grade::Unknown => 2,
    };
    let history = histories.get(&session.map(AsRef::as_ref)).copied().unwrap_or(0);
    (
        (log.forked, session.is_none()),
        Reverse(history),
        session,
        doubt,
        Reverse(facts.output.count()),
        facts.start.is_none(),
        Reverse(facts.end),
        facts.start,
        seat.place,
    )
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
