//! The records of one file, held small.
//!
//! What a [`Book`](super::book) makes of rows is held as 72 bytes a call and its id's own text, with names told once; a
//! [`TurnRecord`] of it is made when somebody asks. Records that came otherwise (own traces, made up in a test) are held as they are.
//! So a gigabyte of log is held as a few megabytes until it is added up.
//!
//! It decides nothing: which row is of which call is the book's, which copy stands is [`join`](super::join())'s.
//!
//! Units: tokens, milliseconds of Unix time, millionths of a USD.

use std::sync::Arc;

use super::Format;
use super::log::{LogTurn, TurnKey};
use crate::engine::{Grade, MicroUsd, Timestamp, Tokens, TurnRecord};

/// A name, a count or a time that is not there.
const NO_COUNT: u32 = u32::MAX;
const NO_NAME: u32 = 0;
const NEVER: u64 = u64::MAX;

/// The records of one file, in its order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turns(Held);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Held {
    Calls(Box<Calls>),
    Whole(Vec<LogTurn>),
}

/// A key, borrowed; in the order of [`TurnKey`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum KeyRef<'a> {
    Message(&'a str),
    Totals(&'a [u64; 5]),
    Place { at: Timestamp, nth: usize },
}

impl<'a> From<&'a TurnKey> for KeyRef<'a> {
    fn from(key: &'a TurnKey) -> Self {
        match key {
            TurnKey::Message(id) => Self::Message(id),
            TurnKey::Totals(totals) => Self::Totals(totals),
            TurnKey::Place { at, nth } => Self::Place { at: *at, nth: *nth },
        }
    }
}

/// What putting records in order asks of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Facts {
    pub(super) counts_as_turn: bool,
    pub(super) grade: Grade,
    pub(super) output: Tokens,
    pub(super) start: Option<Timestamp>,
    pub(super) end: Timestamp,
    pub(super) cost: Option<MicroUsd>,
}

impl Default for Turns {
    fn default() -> Self {
        Self(Held::Whole(Vec::new()))
    }
}

impl From<Vec<LogTurn>> for Turns {
    fn from(turns: Vec<LogTurn>) -> Self {
        Self(Held::Whole(turns))
    }
}

impl FromIterator<LogTurn> for Turns {
    fn from_iter<I: IntoIterator<Item = LogTurn>>(turns: I) -> Self {
        turns.into_iter().collect::<Vec<_>>().into()
    }
}

/// Records of a file, one after the other.
#[derive(Clone, Debug)]
pub struct Iter<'a> {
    turns: &'a Turns,
    left: core::ops::Range<usize>,
}

impl Iterator for Iter<'_> {
    type Item = LogTurn;

    fn next(&mut self) -> Option<LogTurn> {
        self.left.next().map(|place| self.turns.at(place))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.left.size_hint()
    }
}

impl ExactSizeIterator for Iter<'_> {}

impl<'a> IntoIterator for &'a Turns {
    type Item = LogTurn;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

impl Turns {
    /// How many.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.0 {
            Held::Calls(calls) => calls.calls.len(),
            Held::Whole(turns) => turns.len(),
        }
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The record at a place.
    ///
    /// # Panics
    /// As an index does, where there is none.
    #[must_use]
    pub fn at(&self, place: usize) -> LogTurn {
        match &self.0 {
            Held::Calls(calls) => calls.turn(place),
            Held::Whole(turns) => turns[place].clone(),
        }
    }

    /// All of them, each made as it is asked for.
    #[must_use]
    pub fn iter(&self) -> Iter<'_> {
        Iter { turns: self, left: 0..self.len() }
    }

    pub(super) fn key(&self, place: usize) -> KeyRef<'_> {
        match &self.0 {
            Held::Calls(calls) => calls.key(place),
            Held::Whole(turns) => KeyRef::from(&turns[place].key),
        }
    }

    pub(super) fn session(&self, place: usize) -> Option<&Arc<str>> {
        match &self.0 {
            Held::Calls(calls) => calls.names.of(calls.calls[place].session),
            Held::Whole(turns) => turns[place].record.session.as_ref(),
        }
    }

    pub(super) fn model(&self, place: usize) -> Option<&Arc<str>> {
        match &self.0 {
            Held::Calls(calls) => calls.names.of(calls.calls[place].model),
            Held::Whole(turns) => turns[place].record.model.as_ref(),
        }
    }

    pub(super) fn facts(&self, place: usize) -> Facts {
        match &self.0 {
            Held::Calls(calls) => calls.facts(place),
            Held::Whole(turns) => {
                let TurnRecord { counts_as_turn, grade, output, start, end, cost, .. } = turns[place].record;
                Facts { counts_as_turn, grade, output, start, end, cost }
            }
        }
    }
}

/// Names, each once; their numbers count from 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Names(Vec<Arc<str>>);

impl Names {
    fn of(&self, number: u32) -> Option<&Arc<str>> {
        number.checked_sub(1).and_then(|place| self.0.get(place as usize))
    }

    /// Takes a name that it does not hold.
    pub(super) fn add(&mut self, name: Arc<str>) -> u32 {
        self.0.push(name);
        u32::try_from(self.0.len()).unwrap_or(NO_NAME)
    }
}

/// Calls as rows told them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Calls {
    calls: Vec<Call>,
    /// All message ids, one after the other.
    ids: String,
    totals: Vec<[u64; 5]>,
    pub(super) names: Names,
    format: Format,
    /// Where a call without a time stands.
    fallback: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Call {
    /// Of an id, where it begins; of totals, which; else the time by which it is told.
    key: u64,
    /// [`NEVER`] where there is none.
    start: u64,
    end: u64,
    cost: u64,
    /// Output, input, read from the cache, written to it, reasoning; [`NO_COUNT`] where not stated.
    counts: [u32; 5],
    /// The length of the id.
    length: u32,
    session: u32,
    model: u32,
    effort: u32,
    kind: Kind,
    last: bool,
    pub(super) side: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Message,
    Totals,
    Place,
}

impl Default for Calls {
    fn default() -> Self {
        Self {
            calls: Vec::new(),
            ids: String::new(),
            totals: Vec::new(),
            names: Names::default(),
            format: Format::Flyball,
            fallback: Timestamp::EPOCH,
        }
    }
}

impl Calls {
    pub(super) fn len(&self) -> usize {
        self.calls.len()
    }

    /// The id of a call, which has one.
    pub(super) fn id(&self, place: usize) -> &str {
        let call = &self.calls[place];
        let from = usize::try_from(call.key).unwrap_or(usize::MAX);
        self.ids.get(from..from.saturating_add(call.length as usize)).unwrap_or_default()
    }

    /// Opens a call; `at` is the time by which one is told that has no key.
    pub(super) fn open(&mut self, key: KeyRef<'_>, start: Option<Timestamp>) -> usize {
        let (kind, key, length) = match key {
            KeyRef::Message(id) => {
                let from = self.ids.len();
                self.ids.push_str(id);
                (Kind::Message, u64::try_from(from).unwrap_or(NEVER), u32::try_from(id.len()).unwrap_or(0))
            }
            KeyRef::Totals(totals) => {
                self.totals.push(*totals);
                (Kind::Totals, u64::try_from(self.totals.len() - 1).unwrap_or(NEVER), 0)
            }
            KeyRef::Place { at, .. } => (Kind::Place, at.millis(), 0),
        };
        self.calls.push(Call {
            key,
            start: start.map_or(NEVER, Timestamp::millis),
            end: NEVER,
            cost: NEVER,
            counts: [NO_COUNT; 5],
            length,
            session: NO_NAME,
            model: NO_NAME,
            effort: NO_NAME,
            kind,
            last: false,
            side: false,
        });
        self.calls.len() - 1
    }

    pub(super) fn call(&self, place: usize) -> &Call {
        &self.calls[place]
    }

    pub(super) fn call_mut(&mut self, place: usize) -> &mut Call {
        &mut self.calls[place]
    }

    /// Says to which session those belong that name none.
    pub(super) fn belong_to(&mut self, session: u32) {
        self.calls.iter_mut().filter(|call| call.session == NO_NAME).for_each(|call| call.session = session);
    }

    pub(super) fn session(&self, place: usize) -> Option<&Arc<str>> {
        self.names.of(self.calls[place].session)
    }

    pub(super) fn model(&self, place: usize) -> Option<&Arc<str>> {
        self.names.of(self.calls[place].model)
    }

    /// Says what wrote them, and where a call stands that has no time.
    pub(super) fn told(&mut self, format: Format, fallback: Timestamp) {
        (self.format, self.fallback) = (format, fallback);
    }

    /// Hands them over.
    pub(super) fn close(mut self) -> Turns {
        self.calls.shrink_to_fit();
        self.ids.shrink_to_fit();
        Turns(Held::Calls(Box::new(self)))
    }

    fn key(&self, place: usize) -> KeyRef<'_> {
        let call = &self.calls[place];
        match call.kind {
            Kind::Message => KeyRef::Message(self.id(place)),
            Kind::Totals => {
                let totals = usize::try_from(call.key).ok().and_then(|at| self.totals.get(at));
                KeyRef::Totals(totals.unwrap_or(&[0; 5]))
            }
            Kind::Place => KeyRef::Place { at: Timestamp::from_millis(call.key), nth: place },
        }
    }

    pub(super) fn facts(&self, place: usize) -> Facts {
        let call = &self.calls[place];
        let known = call.output().filter(|_| call.last);
        let end = call.end().unwrap_or(self.fallback);
        Facts {
            counts_as_turn: true,
            grade: if known.is_some() { Grade::Known } else { Grade::Unknown },
            output: Tokens::new(known.unwrap_or(0)),
            start: time(call.start).filter(|&start| call.end().is_some() && start <= end),
            end,
            cost: call.cost(),
        }
    }

    pub(super) fn turn(&self, place: usize) -> LogTurn {
        let (call, facts) = (&self.calls[place], self.facts(place));
        let mut record = TurnRecord::new(1, facts.end, facts.output, self.format.name());
        let key = match self.key(place) {
            KeyRef::Message(id) => TurnKey::Message(id.into()),
            KeyRef::Totals(totals) => TurnKey::Totals(*totals),
            KeyRef::Place { at, nth } => TurnKey::Place { at, nth },
        };
        record.id = match &key {
            TurnKey::Message(id) => Some(Arc::clone(id)),
            TurnKey::Totals(_) | TurnKey::Place { .. } => None,
        };
        record.grade = facts.grade;
        record.session = self.names.of(call.session).cloned();
        record.start = facts.start;
        record.model = self.names.of(call.model).cloned();
        record.effort_confirmed = self.names.of(call.effort).cloned();
        let [_, input, cache_read, cache_write, reasoning] = call.counts.map(|count| stated(count).map(Tokens::new));
        (record.input, record.cache_read, record.cache_write) = (input, cache_read, cache_write);
        (record.reasoning, record.cost) = (reasoning, facts.cost);
        LogTurn { key, record }
    }
}

impl Call {
    /// The largest output of its rows, final or not.
    pub(super) fn output(&self) -> Option<u64> {
        stated(self.counts[0])
    }

    pub(super) fn end(&self) -> Option<Timestamp> {
        time(self.end)
    }

    fn cost(&self) -> Option<MicroUsd> {
        (self.cost != NEVER).then_some(MicroUsd::new(self.cost))
    }

    /// Takes what a row states: names stand as last told, counts as the largest, the end as the latest.
    pub(super) fn take(&mut self, [session, model, effort]: [Option<u32>; 3], end: Option<Timestamp>, last: bool) {
        self.session = session.unwrap_or(self.session);
        self.model = model.unwrap_or(self.model);
        self.effort = effort.unwrap_or(self.effort);
        let end = self.end().max(end);
        self.end = end.map_or(NEVER, |end| end.millis().min(NEVER - 1));
        self.last |= last;
    }

    /// Takes a count, the how many-eth of output, input, cache read, cache written, reasoning.
    pub(super) fn count(&mut self, which: usize, count: Option<u64>) {
        let most = stated(self.counts[which]).max(count);
        self.counts[which] = most.map_or(NO_COUNT, |count| u32::try_from(count).unwrap_or(NO_COUNT - 1));
    }

    /// Takes what it cost.
    pub(super) fn paid(&mut self, cost: Option<MicroUsd>) {
        let most = self.cost().max(cost);
        self.cost = most.map_or(NEVER, |cost| cost.count().min(NEVER - 1));
    }
}

fn stated(count: u32) -> Option<u64> {
    (count != NO_COUNT).then_some(u64::from(count))
}

fn time(millis: u64) -> Option<Timestamp> {
    (millis != NEVER).then_some(Timestamp::from_millis(millis))
}
